"""About how much work does each ACL of an edit make, known before any of it is done?"""

from __future__ import annotations

from collections.abc import Iterator

from aclweb.acl.authorizer import ResourceShelf
from aclweb.acl.model import ANY_USER, OPERATIONS, WILDCARD, AclBinding, PatternType, split_principal
from aclweb.acl.simulate.patterns import operations_of_binding
from aclweb.acl.simulate.rows import steps_of_a_row
from aclweb.acl.simulate.worlds import Worlds


def weights(worlds: Worlds) -> Iterator[tuple[int, AclBinding]]:
    """Yield for each ACL of the edit about how many steps it takes to compare what it matches."""
    for binding in worlds.touching:
        if binding.resource_type not in OPERATIONS or split_principal(binding.principal) is None:
            continue
        codes = operations_of_binding(binding)
        operations = sum(
            bool(codes & 1 << op._value_) for op in worlds.universe.operations(binding.resource_type)
        )
        shelf = worlds.shelves[binding.resource_type][0]
        rows = 1 + (_rows(worlds, shelf, binding) if shelf is not None else 0)
        yield rows * steps_of_a_row(1, operations), binding


def _rows(worlds: Worlds, shelf: ResourceShelf, binding: AclBinding) -> int:
    """Return into how many rows the patterns near an ACL sort the names that it covers, session by session."""
    matching = worlds.universe.matching
    is_for_many = binding.principal == ANY_USER or matching.is_principal_glob(binding.principal)
    if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD:
        return len(shelf.covering(binding.resource_name, worlds.settings)) if is_for_many else 1
    if is_for_many:
        return len(shelf.bindings) + len(shelf.by_principal)
    return sum(len(shelf.by_principal.get(principal, ())) for principal in (binding.principal, ANY_USER))
