"""How does a page take a CSV file whose rows are then all that there are?

It is read, and shown as what it would change; what that page holds is sent back, and stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from django.http import HttpRequest

from aclweb.accounts.models import User
from aclweb.acl.model import NotationError
from aclweb.inventory.models import Cluster
from aclweb.web.shell.uploads import uploaded_text

MOST_FAULTS = 20
"""So many bad lines of a file are told at once."""
_OF_FORM = "form"
"""Stands in messages where the name of a file would: `form:2: …`, which the page says as `Line 2: …`."""
PREVIEWED = 20
MOST_BYTES = 1024 * 1024
"""Of a file; the page that shows what it would change holds it until it is loaded."""


class Change(Protocol):
    """What a file would change, or has changed. examples: as (add, change or remove; of what; what is said of it)."""

    @property
    def is_empty(self) -> bool: ...

    @property
    def sentence(self) -> str: ...

    @property
    def examples(self) -> Sequence[tuple[str, str, str]]: ...


Rows = TypeVar("Rows")


@dataclass(frozen=True)
class CsvFile(Generic[Rows]):
    """One kind of file. text_field: the field of the form that holds its text. command: what takes a larger one.

    read: returns the rows of a text, with the word that names it in messages; raises NotationError. preview: returns
    what rows would change. store: changes it.
    """

    text_field: str
    command: str
    read: Callable[[str, str], Rows]
    preview: Callable[[Cluster, Rows], Change]
    store: Callable[[User, Cluster, Rows], Change]


@dataclass(frozen=True)
class Loaded:
    """What became of a file. stored: what it changed, as a sentence; else what the page shows of it, and its status."""

    stored: str = ""
    shown: dict[str, Any] = field(default_factory=dict)
    status: int = 200


def load(request: HttpRequest, cluster: Cluster, kind: CsvFile[Rows]) -> Loaded:
    """Read the file of a form and say what it would change; with `store`, change it.

    Nothing is stored of a file with a bad line.
    """
    instead = f"more by `manage.py {kind.command}`"
    text, fault = uploaded_text(request, "file", most_bytes=MOST_BYTES, instead=instead)
    text = request.POST.get(kind.text_field, "").replace("\r\n", "\n") if text is None else text
    try:
        if fault:
            raise NotationError(fault)
        rows = kind.read(text, _OF_FORM)
    except NotationError as error:
        faults = [message.replace(f"{_OF_FORM}:", "Line ", 1) for message in error.messages[:MOST_FAULTS]]
        told = {"faults": faults, "more_faults": len(error.messages[MOST_FAULTS:])}
        return Loaded(shown={"text": text, **told}, status=422)
    if "store" in request.POST:
        assert isinstance(request.user, User)  # login_required
        return Loaded(stored=f"Loaded: {kind.store(request.user, cluster, rows).sentence}.")
    found = kind.preview(cluster, rows)
    changes = found.examples
    return Loaded(
        shown={
            "text": text,
            "found": found,
            "changes": changes[:PREVIEWED],
            "more_changes": len(changes[PREVIEWED:]),
        }
    )
