"""What would an edit, a new topic, group or transactional id, or other settings change, and for whom?

`simulate` compares two worlds over every question that can be asked in them, and is
complete for LITERAL and PREFIXED patterns, because names, principals and hosts fall into
classes that get one answer (see `classes`). Under the GLOB proposal it is exact for the names
that exist and that ACLs spell out, and beyond them tries one example for each glob.

Only classes of names that the edit can touch are looked at, and in each only the callers
that it can touch: those that an added or removed binding names, or everybody where one is
for `User:*`, or where a default that allows gives way to ACLs or comes back. So `unchanged`
is not counted but computed: all cells of the universe less those reported.
"""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AuthorizerSettings, Delta
from tests.cell_by_cell.budget import Budget, Meter
from tests.cell_by_cell.classes import Names, Spot
from tests.cell_by_cell.cover import Cover
from tests.cell_by_cell.coverage import Coverage
from tests.cell_by_cell.estimate import weights
from tests.cell_by_cell.impact import Impact, Parts
from tests.cell_by_cell.merging import merged
from tests.cell_by_cell.rows import SAME_ROW, Rows
from tests.cell_by_cell.touched import Touched
from tests.cell_by_cell.warnings import CoverChanges, Warnings
from tests.cell_by_cell.worlds import Worlds

# What work costs, in comparisons of one answer before and after.
_COVERAGE_STEPS = 15
_PARTS_A_STEP = 200


def simulate(
    delta: Delta,
    index: AclIndex,
    names: Names | None = None,
    settings: AuthorizerSettings | None = None,
    after_settings: AuthorizerSettings | None = None,
    *,
    merge_equal_hosts: bool = False,
    met_only: bool = False,
    budget: Budget | None = None,
) -> Impact:
    """Return what differs once `delta` is written, and once `after_settings` hold if they are given.

    merge_equal_hosts: hosts that only ACLs for other principals name, and whose outcome is that of any
    unnamed address, are merged with those. Otherwise an address range may bring hundreds of lines for each
    name and operation. Where no ACL allows something, none of those that match the name is shown for it,
    so that all such names are one line.
    met_only: nothing is told of what no client can ever meet. A host that is no client's address
    before or after has no class of its own, so its answers are not counted at all, not even as
    unchanged; a name that no resource can have counts as unchanged. Without it the texts of ACLs
    are told of whatever they are. So the warnings of pages and the API leave out names that those
    of the command line have; else the same edit has the same warnings, in whatever order it is given.
    budget: raise TooCostly rather than work out more than this.
    """
    settings = settings or AuthorizerSettings()
    worlds = Worlds(
        delta,
        index,
        names or Names(),
        settings,
        after_settings or settings,
        merge_equal_hosts=merge_equal_hosts,
        met_only=met_only,
    )
    return _Simulation(worlds, Meter(budget)).run()


@dataclass(frozen=True, slots=True)
class _ClassResult:
    """What becomes of one class of names, and whether it had and has any ACL.

    reread: whether these differ although the ACL stays, because the settings read its pattern differently.
    """

    parts: Parts
    covered_before: bool
    covered_after: bool
    reread: bool


class _Simulation:
    """Two worlds, and the questions whose answers differ between them."""

    def __init__(self, worlds: Worlds, meter: Meter) -> None:
        self.worlds, self._meter = worlds, meter
        self._coverage = Coverage(worlds, meter)
        self._touched, self._rows = Touched(worlds), Rows(worlds, meter)

    def run(self) -> Impact:
        self._meter.foresee(weights(self.worlds, self._coverage, self._rows))
        places: list[tuple[Spot, Parts]] = []
        known: dict[object, tuple[_ClassResult, int]] = {}
        changes = CoverChanges()
        changed = 0
        for spot in self.worlds.touched():
            if self.worlds.met_only and self.worlds.is_no_resource(spot):
                continue
            covered = self._coverage.is_covered_near(spot)
            key = self._coverage.key(spot, covered)
            found = known.get(key)
            if found is None:
                verdict = self._compare(spot, *self._coverage.covers(spot, covered))
                found = known[key] = (verdict, sum(part.cells for part in verdict.parts))
            verdict, cells = found
            self._meter.spend(1 + len(verdict.parts) // _PARTS_A_STEP, 1)
            changes.note(
                spot, before=verdict.covered_before, after=verdict.covered_after, reread=verdict.reread
            )
            if verdict.parts:
                changed += cells
                places.append((spot, verdict.parts))
        return Impact.found(
            places,
            unchanged=self.worlds.universe.cells() - changed,
            resources=tuple(self.worlds.resources()),
            warnings=tuple(dict.fromkeys(Warnings(self.worlds, changes).said())),
        )

    def _compare(self, spot: Spot, before: Cover, after: Cover) -> _ClassResult:
        callers, everyone, operations = self._touched.differing(spot, before, after)
        self._meter.spend(_COVERAGE_STEPS + len(callers) * len(operations))
        others = self._rows.of(spot, None, before, after, operations) if everyone else {}
        rows = (
            {caller: self._rows.of(spot, caller, before, after, operations) for caller in sorted(callers)}
            if not everyone
            or spot.is_new
            or self.worlds.asks_otherwise(spot.resource_type)
            or not self.worlds.universe.matching.is_nested
            or before.unknown_patterns
            or after.unknown_patterns
            else self._rows.unlike(others, spot, callers, before, after, operations)
        )
        parts = tuple(
            part
            for operation in operations
            for part in merged(
                self.worlds.universe,
                operation,
                {caller: row.get(operation, SAME_ROW) for caller, row in rows.items()},
                others.get(operation, SAME_ROW),
            )
        )
        self._meter.spend(0, len(parts))
        covered, stays_covered = bool(before), bool(after)
        reread = covered != stays_covered and any(
            binding in self.worlds.index and binding not in self.worlds.removed
            for binding in (*before.bindings, *after.bindings)
        )
        return _ClassResult(parts, covered, stays_covered, reread)
