"""Which operations do all ACLs of one resource type treat alike?"""

from __future__ import annotations

from collections.abc import Iterator
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


def alike_operations(worlds: Worlds, coverage: Coverage) -> Iterator[OperationClass]:
    """Yield the operations of a type, once each, with those that no ACL of either world tells apart."""
    kinds: set[tuple[int, int]] = set()
    for shelf in (coverage.shelf, coverage.added):
        if shelf is not None:
            kinds |= shelf.kinds
    masks = [mask_of_parts(kind) for kind in kinds]
    classes: dict[tuple[object, ...], list[Operation]] = {}
    for operation in worlds.universe.operations(coverage.resource_type):
        never = [
            is_never_asked(coverage.resource_type, operation, settings)
            for settings in (worlds.settings, worlds.after_settings)
        ]
        code = operation._value_
        votes = [mask >> code + shift & 1 for mask in masks for shift in _FIELDS]
        classes.setdefault((*never, *votes), []).append(operation)
    for alike in classes.values():
        codes = sum(1 << operation._value_ for operation in alike)
        yield OperationClass(alike[0], 1 << alike[0]._value_, codes)
