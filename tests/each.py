"""How is a claim tried on many values in one test? A test of its own for each value often costs more than the claim."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(names: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a claim on every one of these values; the report of a failure names the value.

    names: of one argument, or of several with commas between, as for `pytest.mark.parametrize`.
    """
    wanted = names.replace(" ", "").split(",")

    def decorated(claim: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(claim)
        def tried(**others: Any) -> None:
            for value in values:
                arguments = dict(zip(wanted, value if len(wanted) > 1 else (value,), strict=True))
                try:
                    claim(**arguments, **others)
                except Exception as error:
                    said = ", ".join(f"{name}={own!r}" for name, own in arguments.items())
                    error.add_note(f"It was tried on {said}.")
                    raise

        parameters = inspect.signature(claim).parameters
        tried.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one for name, one in parameters.items() if name not in wanted]
        )
        return tried

    return decorated
