"""On which examples is a claim tried? Values are drawn by plain functions of a seeded random generator.

    @given(texts, one=integers(0, 9))
    def test_a_claim_of_every_text(text, one): ...

Each example has a seed of its own, the same one in each run; with ACLWEB_TEST_SCALE=full there are a hundred times
as many, and new ones each time, which ACLWEB_TEST_SEED repeats. Of the examples that fail, the shortest is reported.
Claims about ACLs take far less time than Hypothesis takes to draw an example, so it is not used for them.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

from tests.random_cases import SCALE

T = TypeVar("T")
U = TypeVar("U")

FULL = SCALE > 1
EXAMPLES = 20_000 if FULL else 200
SEED = os.environ.get("ACLWEB_TEST_SEED") or (str(time.time_ns() % 1_000_000) if FULL else "")

_MOST_UNSUITABLE = 20
"""So many times the wanted number of examples may be drawn and found unsuitable."""
_MORE_WHERE_ONE_FAILS = 200


class Unsuitable(Exception):
    """An example that the claim says nothing about."""


def assume(holds: object) -> None:
    """Give up an example that the claim says nothing about; another one is drawn."""
    if not holds:
        raise Unsuitable


@dataclass(frozen=True)
class Draw(Generic[T]):
    """How one value is drawn."""

    from_: Callable[[Random], T]

    def __call__(self, rng: Random) -> T:
        return self.from_(rng)

    def map(self, change: Callable[[T], U]) -> Draw[U]:
        return Draw(lambda rng: change(self.from_(rng)))

    def filter(self, suits: Callable[[T], object]) -> Draw[T]:
        def draw(rng: Random) -> T:
            for _ in range(100):
                value = self.from_(rng)
                if suits(value):
                    return value
            raise Unsuitable

        return Draw(draw)

    def flatmap(self, then: Callable[[T], Draw[U]]) -> Draw[U]:
        return Draw(lambda rng: then(self.from_(rng)).from_(rng))


def just(value: T) -> Draw[T]:
    return Draw(lambda rng: value)


def sampled_from(values: Sequence[T]) -> Draw[T]:
    return Draw(lambda rng: rng.choice(values))


def one_of(*draws: Draw[Any]) -> Draw[Any]:
    return Draw(lambda rng: rng.choice(draws).from_(rng))


def booleans() -> Draw[bool]:
    return sampled_from((False, True))


def integers(least: int, most: int) -> Draw[int]:
    """Draw any number of a range, and now and then its least or its greatest."""

    def draw(rng: Random) -> int:
        return rng.choice((least, most)) if rng.random() < 0.05 else rng.randint(least, most)

    return Draw(draw)


def lists(draw: Draw[T], *, least: int = 0, most: int = 8) -> Draw[list[T]]:
    return Draw(lambda rng: [draw.from_(rng) for _ in range(rng.randint(least, most))])


def tuples(*draws: Draw[Any]) -> Draw[tuple[Any, ...]]:
    return Draw(lambda rng: tuple([draw.from_(rng) for draw in draws]))


def builds(make: Callable[..., T], *draws: Draw[Any], **named: Draw[Any]) -> Draw[T]:
    """Draw arguments and call `make` with them."""
    return Draw(
        lambda rng: make(
            *[draw.from_(rng) for draw in draws], **{name: draw.from_(rng) for name, draw in named.items()}
        )
    )


def binary(least: int, most: int) -> Draw[bytes]:
    return Draw(lambda rng: rng.randbytes(rng.randint(least, most)))


_SPANS = (
    (0x20, 0x7E),
    (0x20, 0x7E),
    (0x00, 0x9F),
    (0xA0, 0x2FF),
    (0x300, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x10000, 0x10FFFF),
)
characters = Draw(lambda rng: chr(rng.randint(*rng.choice(_SPANS))))
"""Any character but half a one; half of them are ASCII or near."""


def strings(letters: str | Draw[str] = characters, *, least: int = 0, most: int) -> Draw[str]:
    """Draw texts of some characters."""
    letter = sampled_from(letters) if isinstance(letters, str) else letters
    return lists(letter, least=least, most=most).map("".join)


def given(
    *draws: Draw[Any], count: int = EXAMPLES, first: Sequence[tuple[Any, ...]] = (), **named: Draw[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a claim on so many examples, which are its last arguments or those of these names.

    The examples of `first` are tried before. Raises what the claim raises of the shortest example that fails.
    """

    def decorated(claim: Callable[..., None]) -> Callable[..., None]:
        parameters = list(inspect.signature(claim).parameters.values())
        last = [parameter.name for parameter in parameters[len(parameters) - len(draws) :]]
        drawn = {**dict(zip(last, draws, strict=True)), **named}

        @functools.wraps(claim)
        def tried(**others: Any) -> None:
            tries = _Tries(functools.partial(claim, **others))
            for values in first:
                tries.of(dict(zip(drawn, values, strict=True)))
            tries.of_drawn(drawn, f"{SEED} {claim.__qualname__}", count)
            tries.report()

        tried.__signature__ = inspect.Signature([one for one in parameters if one.name not in drawn])  # type: ignore[attr-defined]
        return tried

    return decorated


class _Tries:
    """The examples of one claim that failed."""

    def __init__(self, claim: Callable[..., None]) -> None:
        self._claim = claim
        self._failed: list[tuple[str, Exception]] = []

    def of(self, arguments: dict[str, Any]) -> bool:
        """Try one example; return whether the claim says anything about it."""
        try:
            self._claim(**arguments)
        except Unsuitable:
            return False
        except Exception as error:
            self._failed.append((", ".join(f"{name}={value!r}" for name, value in arguments.items()), error))
        return True

    def of_drawn(self, drawn: dict[str, Draw[Any]], seed: str, count: int) -> None:
        left = count
        for number in range(_MOST_UNSUITABLE * count):
            if not left:
                return
            rng = Random(f"{seed} {number}")
            try:
                arguments = {name: draw.from_(rng) for name, draw in drawn.items()}
            except Unsuitable:
                continue
            left -= self.of(arguments)
            if self._failed:
                left = min(left, _MORE_WHERE_ONE_FAILS)
        assert not left, f"Of {_MOST_UNSUITABLE * count} examples too few suit the claim: {left} are missing."

    def report(self) -> None:
        """Raise the error of the shortest example that failed, with the example."""
        if self._failed:
            example, error = min(self._failed, key=lambda failed: len(failed[0]))
            seed = f" with ACLWEB_TEST_SEED={SEED}" if SEED else ""
            print(f"{len(self._failed)} examples fail{seed}, such as {example}", file=sys.stderr)
            raise error
