"""Which operations do some ACLs of one resource type treat alike?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT
from aclweb.acl.model import Operation, is_never_asked
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

    @cached_property
    def all(self) -> list[OperationClass]:
        """The operations, once each, with those that no ACL of either world tells apart."""
        kinds: set[tuple[int, int]] = set()
        for shelf in (self._coverage.shelf, self._coverage.added):
            if shelf is not None:
                kinds |= shelf.kinds
        operations = self._worlds.universe.operations(self._coverage.resource_type)
        return [_joined(alike) for alike in self._apart(operations, [mask_of_parts(kind) for kind in kinds])]

    def told_apart_by(self, masks: frozenset[int]) -> list[tuple[OperationClass, ...]]:
        """Return them in sets that ACLs with these masks, and what brokers ask for, do not tell apart."""
        found = self._known.get(masks)
        if found is None:
            by_first = {each.first: each for each in self.all}
            apart = self._apart(by_first, masks)
            found = self._known[masks] = [tuple(by_first[each] for each in alike) for alike in apart]
        return found

    def _apart(self, operations: Iterable[Operation], masks: Collection[int]) -> Iterable[list[Operation]]:
        classes: dict[tuple[object, ...], list[Operation]] = {}
        for operation in operations:
            code = operation._value_
            votes = [mask >> code + shift & 1 for mask in masks for shift in _FIELDS]
            classes.setdefault((self._never_asked[code], *votes), []).append(operation)
        return classes.values()

    @cached_property
    def _never_asked(self) -> Mapping[int, tuple[bool, bool]]:
        """Whether brokers never ask for an operation before, and after, by its code."""
        kind, worlds = self._coverage.resource_type, self._worlds
        return {
            operation._value_: (
                is_never_asked(kind, operation, worlds.settings),
                is_never_asked(kind, operation, worlds.after_settings),
            )
            for operation in worlds.universe.operations(kind)
        }


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
