"""Which rights do ACLs give on the names that exist, and which of them were used?

A right is one operation on one name. Only what an ACL names counts, so Describe beside Read is none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.logged.proposal import Used
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PermissionType,
    ResourceType,
    operations_of,
)


@dataclass(frozen=True, slots=True)
class Rights:
    """How many rights there are on existing names: today, and how many of them would go."""

    today: int
    removed: int


@dataclass(frozen=True, slots=True)
class HeldRight:
    """One operation on one name that ACLs give. lines: the logged requests that it allows."""

    resource_type: ResourceType
    name: str
    operation: Operation
    lines: int


def held_rights(
    bindings: Iterable[AclBinding],
    used: Iterable[Used],
    existing: Mapping[ResourceType, SortedNames],
    settings: AuthorizerSettings,
) -> tuple[HeldRight, ...]:
    """Return each right that these ALLOWs give on a name that exists or was used: by type, name and operation.

    A request counts for the right of its operation, and for one that brings this along.
    """
    lines: dict[tuple[ResourceType, str, Operation], int] = {}
    names: dict[ResourceType, set[str]] = {}
    for each in used:
        request = each.request
        if request.resource_name is None:
            continue
        names.setdefault(request.resource_type, set()).add(request.resource_name)
        for operation in (request.operation, *_BRINGING.get(request.operation, ())):
            place = request.resource_type, request.resource_name, operation
            lines[place] = lines.get(place, 0) + each.lines
    known = {
        kind: SortedNames((*(existing[kind].names if kind in existing else ()), *names.get(kind, ())))
        for kind in {*existing, *names}
    }
    found = [
        HeldRight(kind, name, operation, lines.get((kind, name, operation), 0))
        for (kind, name), mask in _masks(bindings, known, settings).items()
        for operation in operations_of(kind, settings)
        if mask >> operation.code & 1
    ]
    return tuple(sorted(found, key=lambda each: (each.resource_type.code, each.name, each.operation.code)))


_BRINGING: dict[Operation, tuple[Operation, ...]] = {}
for _wide, _narrow in IMPLIED.items():
    _BRINGING[_narrow] = (*_BRINGING.get(_narrow, ()), _wide)


def rights_of(
    before: Iterable[AclBinding],
    after: Iterable[AclBinding],
    existing: Mapping[ResourceType, SortedNames],
    settings: AuthorizerSettings,
) -> Rights:
    """Return the rights that some ALLOWs give, and those of them that others no longer do."""
    old, new = _masks(before, existing, settings), _masks(after, existing, settings)
    return Rights(
        today=sum(mask.bit_count() for mask in old.values()),
        removed=sum((mask & ~new.get(place, 0)).bit_count() for place, mask in old.items()),
    )


def _masks(
    bindings: Iterable[AclBinding],
    existing: Mapping[ResourceType, SortedNames],
    settings: AuthorizerSettings,
) -> dict[tuple[ResourceType, str], int]:
    """Return for each existing name the operations that the ALLOWs name, as bits."""
    found: dict[tuple[ResourceType, str], int] = {}
    for binding in bindings:
        names = existing.get(binding.resource_type)
        if names is None or binding.permission_type is not PermissionType.ALLOW:
            continue
        operations = (
            operations_of(binding.resource_type, settings)
            if binding.operation is Operation.ALL
            else (binding.operation,)
        )
        bits = sum(1 << operation.code for operation in operations)
        for name in names.under(binding.pattern, settings):
            place = binding.resource_type, name
            found[place] = found.get(place, 0) | bits
    return found
