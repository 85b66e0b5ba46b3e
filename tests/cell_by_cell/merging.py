"""Into how few parts do equal outcomes of callers and hosts go?"""

from __future__ import annotations

from collections.abc import Iterator

from aclweb.acl.model import WILDCARD, Operation
from tests.cell_by_cell.classes import Universe
from tests.cell_by_cell.impact import Part
from tests.cell_by_cell.rows import SAME_ROW, Row


def merged(universe: Universe, operation: Operation, rows: dict[str, Row], others: Row) -> Iterator[Part]:
    """Yield as few parts as hold all outcomes: equal callers and hosts become `*` with exceptions."""
    if others != SAME_ROW:
        rows = {caller: row for caller, row in rows.items() if row != others}
        everyone = len(universe.principals) + 1 - len(rows)
        yield from _merged_hosts(universe, operation, WILDCARD, tuple(rows), others, everyone)
    for caller, row in rows.items():
        yield from _merged_hosts(universe, operation, caller, (), row, 1)


def _merged_hosts(
    universe: Universe, operation: Operation, principal: str, less: tuple[str, ...], row: Row, callers: int
) -> Iterator[Part]:
    if row.elsewhere is not None:
        less_hosts = tuple(sorted(row.by_host))
        cells = callers * (len(universe.hosts) + 1 - len(less_hosts))
        yield Part(row.elsewhere, operation, principal, WILDCARD, less, less_hosts, cells)
    for host in sorted(row.by_host):
        outcome = row.by_host[host]
        if outcome is not None:
            yield Part(outcome, operation, principal, host, less, (), callers)
