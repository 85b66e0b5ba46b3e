"""About how many answers does each ACL of an edit make to look at?"""

from __future__ import annotations

from collections.abc import Iterator

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT, ResourceShelf, mask_of
from aclweb.acl.model import ANY_USER, OPERATIONS, AclBinding, split_principal
from tests.cell_by_cell.classes import EXACT, Spot
from tests.cell_by_cell.coverage import Coverage
from tests.cell_by_cell.rows import Rows
from tests.cell_by_cell.worlds import Worlds

_SAMPLES, _ACLS_SAMPLED = 4, 10_000
"""On how many of an ACL's names its cost is estimated, in an edit of at most so many ACLs."""


def weights(worlds: Worlds, coverage: Coverage, rows: Rows) -> Iterator[tuple[int, AclBinding]]:
    """Yield for each ACL of the edit about how many answers it makes to look at."""
    is_short = len(worlds.touching) <= _ACLS_SAMPLED
    for binding in worlds.touching:
        kind = binding.resource_type
        if kind not in OPERATIONS or split_principal(binding.principal) is None:
            continue
        mask = mask_of(binding.operation, binding.permission_type)
        mask |= mask >> MAYBE_SHIFT
        mask |= mask >> DENY_SHIFT
        operations = sum(bool(mask & 1 << op._value_) for op in worlds.universe.operations(kind))
        names, samples = worlds.universe.covered(binding, _SAMPLES if is_short else 0)
        if kind in coverage.near:
            names = min(names, 1 + sum(map(_patterns, (coverage.near[kind], worlds.added.shelf(kind)))))
        callers = 1.0
        for name in samples:
            own = coverage.covers(Spot(kind, EXACT, name, name))[0]
            for_all = binding.principal == ANY_USER
            callers += sum(1 for _ in (own.bindings if for_all else own.own(binding.principal))) / len(
                samples
            )
        hosts = len(rows.hosts_inside(binding.host)) if rows.is_range(binding.host) else 0
        yield int(names * operations * (callers + hosts)), binding


def _patterns(shelf: ResourceShelf | None) -> int:
    """Return into at most how many classes the patterns of a shelf sort names, less one."""
    return 0 if shelf is None else len(shelf.literals) + len(shelf.prefixed)
