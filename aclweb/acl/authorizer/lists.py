"""How is a list of an answer written: whole, or as much of it as fits?

An answer can name every ACL of a cluster. Whoever writes it for JSON says what becomes of
each list, by its name; the default is the whole list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from aclweb.acl.model import AclBinding

Item = TypeVar("Item")
Written = TypeVar("Written")


class WriteList(Protocol):
    """Writes the items of one list, all of them or the first ones."""

    def __call__(
        self, name: str, items: Sequence[Item], as_json: Callable[[Item], Written], /
    ) -> list[Written]: ...


def whole_list(_name: str, items: Sequence[Item], as_json: Callable[[Item], Written]) -> list[Written]:
    """Return every item as JSON has it."""
    return list(map(as_json, items))


def written_acl(binding: AclBinding) -> dict[str, object]:
    """Return an ACL as JSON has it."""
    return {**binding.as_dict()}
