"""Which operations do some ACLs of one resource type treat alike?"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT
from aclweb.acl.model import Operation, computed_once
from aclweb.acl.simulate.cover import never_asked
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.patterns import mask_of_parts
from aclweb.acl.simulate.worlds import Worlds

_FIELDS = (0, DENY_SHIFT, MAYBE_SHIFT, MAYBE_SHIFT + DENY_SHIFT)


class OperationClass(NamedTuple):
    """Operations that get one answer. first: any of them; bit: its code as a set; codes: all of them."""

    first: Operation
    bit: int
    codes: int


class Operations:
    """The operations of one resource type, sorted by the ACLs that tell them apart."""

    def __init__(self, worlds: Worlds, coverage: Coverage) -> None:
        self._worlds, self._coverage = worlds, coverage
        self._known: dict[frozenset[int], list[tuple[OperationClass, ...]]] = {}

    @computed_once
    def all(self) -> list[OperationClass]:
        """The operations, once each, with those that no ACL of either world tells apart."""
        kinds: set[tuple[int, int]] = set()
        for shelf in (self._coverage.shelf, self._coverage.added):
            if shelf is not None:
                kinds |= shelf.kinds
        operations = self._worlds.universe.operations(self._coverage.resource_type)
        masks = frozenset(map(mask_of_parts, kinds))
        return [_joined(alike) for alike in _apart(tuple(operations), masks, *self._never_asked)]

    def told_apart_by(self, masks: frozenset[int]) -> list[tuple[OperationClass, ...]]:
        """Return them in sets that ACLs with these masks, and what brokers ask for, do not tell apart."""
        found = self._known.get(masks)
        if found is None:
            by_first = {each.first: each for each in self.all}
            apart = _apart(tuple(by_first), masks, *self._never_asked)
            found = self._known[masks] = [tuple(by_first[each] for each in alike) for alike in apart]
        return found

    @computed_once
    def _never_asked(self) -> tuple[int, int]:
        """The operations for which brokers never ask before, and after, by their codes."""
        kind, worlds = self._coverage.resource_type, self._worlds
        return never_asked(kind, worlds.settings), never_asked(kind, worlds.after_settings)


@lru_cache(maxsize=1024)
def _apart(
    operations: tuple[Operation, ...], masks: frozenset[int], never_before: int, never_after: int
) -> list[list[Operation]]:
    """Return operations in lists that ACLs with these masks, and what brokers ask for, do not tell apart."""
    classes: dict[tuple[int, ...], list[Operation]] = {}
    for operation in operations:
        code = operation._value_
        votes = [mask >> code + shift & 1 for mask in masks for shift in _FIELDS]
        key = (never_before >> code & 1, never_after >> code & 1, *votes)
        classes.setdefault(key, []).append(operation)
    return list(classes.values())


def joined(classes: tuple[OperationClass, ...]) -> OperationClass:
    """Return several classes as one."""
    if len(classes) == 1:
        return classes[0]
    codes = 0
    for each in classes:
        codes |= each.codes
    return classes[0]._replace(codes=codes)


def _joined(alike: list[Operation]) -> OperationClass:
    codes = sum(1 << operation._value_ for operation in alike)
    return OperationClass(alike[0], 1 << alike[0]._value_, codes)
