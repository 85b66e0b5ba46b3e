"""How many rights do ACLs give on the names that exist?

A right is one operation on one name. Only what an ACL names counts, so Describe beside Read is none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
