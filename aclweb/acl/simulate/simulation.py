"""What would an edit, a new topic, group or transactional id, or other settings change, and for whom?

`simulate` compares two worlds over every question that can be asked in them, and is
complete for LITERAL and PREFIXED patterns, because names, principals and hosts fall into
classes that get one answer (see `classes`). Under the GLOB proposal it is exact for the names
that exist and that ACLs spell out, and beyond them tries one example for each glob.

It goes session by session (see `callers`): those that an added or removed binding names, or everybody
where one is for `User:*`, or where a default that allows gives way to ACLs or comes back. The patterns
of a session's own bindings sort the names that can differ into a few sets (see `patterns`), and each
set is compared once, however many names it holds. So the cost follows the patterns near the edit,
and `unchanged` is not counted but computed: all cells of the universe less those reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from aclweb.acl.authorizer import AclIndex, in_scan_order
from aclweb.acl.model import (
    OPERATIONS,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    ResourceType,
)
from aclweb.acl.simulate.axes import NameAxis, TextAxis
from aclweb.acl.simulate.budget import Budget, Meter
from aclweb.acl.simulate.callers import ALL_OPERATIONS, Caller, Callers
from aclweb.acl.simulate.classes import Names
from aclweb.acl.simulate.cover import Cover
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.estimate import weights
from aclweb.acl.simulate.impact import LISTS, Axes, Group, Impact, Side
from aclweb.acl.simulate.merging import Cells, Gathered, joined_by_names
from aclweb.acl.simulate.patterns import CoveredNames, sorted_by_patterns
from aclweb.acl.simulate.rows import Rows, Standing
from aclweb.acl.simulate.warnings import CoverChanges, Warnings
from aclweb.acl.simulate.worlds import Worlds


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


class _Simulation:
    """Two worlds, and the questions whose answers differ between them."""

    def __init__(self, worlds: Worlds, meter: Meter) -> None:
        self.worlds, self._meter = worlds, meter
        universe = worlds.universe
        self._principals = TextAxis(sorted(universe.principals))
        self._hosts = TextAxis(sorted(universe.hosts))
        self._rows = Rows(worlds, self._hosts, meter)
        self._sides: dict[tuple[object, ...], Side] = {}

    def run(self) -> Impact:
        worlds = self.worlds
        self._meter.foresee(weights(worlds))
        changes = CoverChanges()
        groups: list[Group] = []
        covered: dict[ResourceType, int] = {}
        axes: dict[ResourceType, NameAxis] = {}
        for resource_type in OPERATIONS:
            coverage = Coverage(worlds, resource_type)
            names = worlds.asked_names(resource_type, coverage.joined)
            if not names and not self._can_differ(resource_type):
                continue
            axes[resource_type] = coverage.axis
            if names:
                covered[resource_type] = names
            differences = _Differences(self, coverage)
            groups += differences.groups()
            differences.note(changes)
        rest = self._principals.others
        groups.sort(key=lambda group: (LISTS.index(group.change), not group.principals & rest))
        return Impact(
            groups=tuple(groups),
            axes=Axes(axes, self._principals, self._hosts),
            unchanged=worlds.universe.cells() - sum(group.cells for group in groups),
            covered=covered,
            warnings=tuple(dict.fromkeys(Warnings(worlds, changes).said())),
            shown_acl=None if worlds.merge_equal_hosts else ShownAcls(worlds).of,
        )

    def _can_differ(self, resource_type: ResourceType) -> bool:
        worlds = self.worlds
        return (
            not worlds.same_settings
            or worlds.touching.shelf(resource_type) is not None
            or bool(worlds.universe.new(resource_type))
        )


class _Differences:
    """What differs on the names of one resource type."""

    def __init__(self, of: _Simulation, coverage: Coverage) -> None:
        self.worlds, self.coverage, self._rows = of.worlds, coverage, of._rows
        self._principals, self._meter, self._sides = of._principals, of._meter, of._sides
        self.callers = Callers(self.worlds, coverage)
        self._gathered = Gathered(coverage.resource_type)
        self._operations = self.worlds.universe.operations(coverage.resource_type)
        self._covers: dict[tuple[bool, bool], Cover] = {}

    def groups(self) -> Iterator[Group]:
        """Yield the groups of cells that differ."""
        alike = self._principals.all
        rest: list[Cells] = []
        for caller in self.callers.touched(without=self._left_out):
            if caller.principal is None:
                found = self._differing(caller, self.callers.others, caller.region, caller.everywhere)
                rest = joined_by_names(found)
                continue
            member = self._principals.one(caller.principal)
            if caller.is_super:
                alike &= ~member
                continue
            principals = self.callers.principals_for(caller.principal)
            everything = self.coverage.axis.all
            own = everything if caller.is_turned else self.callers.names_of_its_own(caller, principals)
            if not own:
                continue
            alike &= ~member
            for cells in self._differing(caller, principals, caller.region & own, caller.everywhere & own):
                self._gather(member, cells)
            for cells in rest:
                if names := cells.names ^ (cells.names & own):
                    self._gather(member, Cells(cells.hosts, cells.operations, names, cells.outcome))
        for cells in rest:
            self._gather(alike, cells)
        return self._gathered.groups()

    def _gather(self, members: int, cells: Cells) -> None:
        self._meter.spend(1, self._gathered.add(members, cells))

    def note(self, changes: CoverChanges) -> None:
        """Tell for which names it changes whether any ACL covers them, and which new ones none covers."""
        coverage, axis = self.coverage, self.coverage.axis
        flips = (coverage.before ^ coverage.after) & ~axis.new & ~self._left_out
        reread = flips & (coverage.kept_before | coverage.kept_after)
        changes.note(
            coverage,
            opened=flips & coverage.before & ~reread,
            closed=flips & coverage.after & ~reread,
            no_longer_read=reread & coverage.before,
            newly_read=reread & coverage.after,
            bare=axis.new & ~coverage.after,
        )

    @cached_property
    def _left_out(self) -> int:
        """The classes of which nothing can have a name, where only what clients can meet is wanted."""
        if not self.worlds.met_only:
            return 0
        return self.worlds.without_resource(self.coverage.resource_type, self.coverage.near)

    def _differing(
        self, caller: Caller, principals: Sequence[str], region: int, everywhere: int
    ) -> Iterator[Cells]:
        """Yield what differs for a session: on one part of the names for what changes, on another for anything."""
        if everywhere:
            for found in sorted_by_patterns(self.callers.patterns(principals, ALL_OPERATIONS), everywhere):
                yield from self._on_names(caller, principals, found, self._operations)
        if region:
            unknown = self.callers.unknown_operations(principals)
            changed = self.callers.operations_changed(principals)
            for found in sorted_by_patterns(self.callers.patterns(principals, changed), region):
                codes = unknown
                for pattern in (*found.before, *found.after):
                    if pattern.changed & found.names:
                        codes |= pattern.operations
                operations = tuple(op for op in self._operations if codes & 1 << op._value_)
                if operations:
                    yield from self._on_names(caller, principals, found, operations)

    def _on_names(
        self,
        caller: Caller,
        principals: Sequence[str],
        found: CoveredNames,
        operations: tuple[Operation, ...],
    ) -> Iterator[Cells]:
        old = [binding for pattern in found.before for binding in pattern.old]
        new = [binding for pattern in found.after for binding in pattern.new]
        if self.callers.unknown_old or self.callers.unknown_new:
            own = set(principals)
            old += [binding for binding in self.callers.unknown_old if binding.principal in own]
            new += [binding for binding in self.callers.unknown_new if binding.principal in own]
        old, new = self.callers.read_for(caller.principal, old, new)
        for names, was, comes, is_new in self._by_cover(found.names):
            before, after = (
                self._cover(is_after=False, covered=was),
                self._cover(is_after=True, covered=comes),
            )
            standing = Standing(caller.principal, old, new, before, after, is_new)
            for operation, outcome, hosts in self._rows.of(standing, operations):
                yield Cells(hosts, 1 << operation._value_, names, outcome)

    def _by_cover(self, names: int) -> Iterator[tuple[int, bool, bool, bool]]:
        """Yield the same names by whether any ACL covers them before, and after, and whether they are new."""
        new = names & self.coverage.axis.new
        for is_new, some in ((True, new), (False, names ^ new)):
            if not some:
                continue
            before = some & self.coverage.before
            for was, half in ((True, before), (False, some ^ before)):
                if not half:
                    continue
                after = half & self.coverage.after
                for comes, part in ((True, after), (False, half ^ after)):
                    if part:
                        yield part, was, comes, is_new

    def _cover(self, *, is_after: bool, covered: bool) -> Cover:
        key = (is_after, covered)
        found = self._covers.get(key)
        if found is None:
            found = self._covers[key] = Cover(
                self.coverage.resource_type,
                self.worlds.after_settings if is_after else self.worlds.settings,
                covered=covered,
                unknown_patterns=self.callers.unknown_new if is_after else self.callers.unknown_old,
                sides=self._sides,
            )
        return found


class ShownAcls:
    """The first ACL that covers a name: what a single difference shows where ACLs cover it and none allows."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self._known: dict[tuple[ResourceType, int, bool], AclBinding] = {}

    def of(self, resource_type: ResourceType, place: int, is_before: bool) -> AclBinding:
        """Return the first ACL in scan order that covers the class of names at a place."""
        key = (resource_type, place, is_before)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._first(resource_type, place, is_before)
        return found

    def _first(self, resource_type: ResourceType, place: int, is_before: bool) -> AclBinding:
        worlds = self.worlds
        name = worlds.universe.sample(resource_type, place)
        shelf, added = worlds.shelves[resource_type]
        settings = worlds.settings if is_before else worlds.after_settings
        covering = shelf.covering(name, settings) if shelf is not None else []
        if is_before:
            return covering[0]
        covering = [binding for binding in covering if binding not in worlds.removed]
        if added is not None:
            covering = in_scan_order((*covering[:1], *added.covering(name, worlds.after_settings)))
        return covering[0]
