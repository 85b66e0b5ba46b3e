"""What did aclweb itself write that no stored snapshot has shown so far?

Rooms above this one write to clusters. They register, so that a sync tells their edits from others', also where a
scheduled sync finds an edit first because the worker that wrote it was lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aclweb.acl.model import AclBinding, Delta
from aclweb.inventory.models import Cluster


@dataclass(frozen=True)
class Written:
    """What aclweb itself added and removed; what it added and took back again is in both."""

    added: frozenset[AclBinding] = frozenset()
    removed: frozenset[AclBinding] = frozenset()

    def __or__(self, other: Written) -> Written:
        return Written(self.added | other.added, self.removed | other.removed)

    def lacks(self, delta: Delta) -> int:
        """Return how many ACLs of the delta aclweb did not write."""
        return len(set(delta.add) - self.added) + len(set(delta.remove) - self.removed)


_writers: list[Callable[[Cluster], Written]] = []


def register_writer(written: Callable[[Cluster], Written]) -> None:
    """Have a sync ask `written` what of aclweb's own edits it may be the first to find."""
    if written not in _writers:
        _writers.append(written)


def written_by_aclweb(row: Cluster, expected: Delta | None) -> Written:
    """Return what aclweb itself wrote, or may have, and no stored snapshot has shown so far.

    expected: what the caller has just written, and no writer may know of yet.
    """
    known = expected or Delta()
    found = Written(frozenset(known.add), frozenset(known.remove))
    for written in _writers:
        found |= written(row)
    return found
