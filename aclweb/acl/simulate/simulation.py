"""What would an edit, a new topic, group or transactional id, or other settings change, and for whom?

`simulate` compares two worlds over every question that can be asked in them, and is
complete for LITERAL and PREFIXED patterns, because names, principals and hosts fall into
classes that get one answer (see `classes`). Under the GLOB proposal it is exact for the names
that exist and that ACLs spell out, and beyond them tries one example for each glob.

It goes session by session (see `sessions`): those that an added or removed binding names, or everybody
where one is for `User:*`, or where a default that allows gives way to ACLs or comes back. The patterns
of a session's own bindings sort the names that can differ into a few sets (see `patterns`), and each
set is compared once (see `differing`), however many names it holds. So the cost follows the patterns near the edit,
and `unchanged` is not counted but computed: all cells of the universe less those reported.
"""

from __future__ import annotations

from dataclasses import replace

from aclweb.acl.authorizer import AclIndex, in_scan_order
from aclweb.acl.model import OPERATIONS, AclBinding, AuthorizerSettings, Delta, ResourceType
from aclweb.acl.simulate.axes import NameAxis, TextAxis
from aclweb.acl.simulate.budget import KNOWN_A_STEP, Budget, Meter, Watch
from aclweb.acl.simulate.classes import Names
from aclweb.acl.simulate.collecting import without_cycle_search
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.differing import DifferingCells
from aclweb.acl.simulate.estimate import cost_of_names, costs
from aclweb.acl.simulate.impact import LISTS, Axes, Group, Impact, Side
from aclweb.acl.simulate.rows import Rows
from aclweb.acl.simulate.warnings import CoverChanges, Warnings
from aclweb.acl.simulate.worlds import Worlds


@without_cycle_search
def simulate(
    delta: Delta,
    index: AclIndex,
    names: Names | None = None,
    settings: AuthorizerSettings | None = None,
    after_settings: AuthorizerSettings | None = None,
    *,
    merge_equal_hosts: bool = False,
    met_only: bool = False,
    with_acls: bool = True,
    budget: Budget | None = None,
    watch: Watch | None = None,
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
    with_acls: whether the answers have the ACLs that settle them. Without these, two clusters that share no ACL differ
    in a tenth of the groups; a warning says that they are left out.
    budget: raise TooCostly rather than work out more than this. watch: is told how far it is, where there is a budget.
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
        with_acls=with_acls,
    )
    return _Simulation(worlds, Meter(budget, watch)).run()


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
        if self._meter.is_limited:
            weighed = costs(worlds, widest_first=not self._meter.names_costliest)
            self._meter.foresee(weighed, cost_of_names(worlds))
            self._meter.spend(1 + worlds.universe.size // KNOWN_A_STEP)
        changes = CoverChanges()
        groups: list[Group] = []
        covered: dict[ResourceType, int] = {}
        axes: dict[ResourceType, NameAxis] = {}
        unmet: dict[ResourceType, int] = {}
        for resource_type in OPERATIONS:
            can_differ = self._can_differ(resource_type)
            if not can_differ and not worlds.asks_about(resource_type):
                continue
            coverage = Coverage(worlds, resource_type)
            names = worlds.asked_names(resource_type, coverage.joined)
            if not names and not can_differ:
                continue
            axes[resource_type] = coverage.axis
            if names:
                covered[resource_type] = names
            differing = DifferingCells(
                worlds, coverage, self._rows, self._principals, self._meter, self._sides
            )
            groups += differing.groups()
            unmet[resource_type] = differing.left_out
            _note(changes, coverage, ~differing.left_out)
        groups.sort(key=_Places(self._principals.others).of)
        impact = Impact(
            groups=tuple(groups),
            axes=Axes(axes, self._principals, self._hosts),
            unchanged=0,
            covered=covered,
            warnings=tuple(dict.fromkeys(Warnings(worlds, changes).said())),
            starts={kind: worlds.starts(kind) for kind in axes},
            unmet=unmet,
            shown_acl=None if worlds.merge_equal_hosts or not worlds.with_acls else ShownAcls(worlds).of,
        )
        return replace(impact, unchanged=worlds.universe.cells() - sum(map(impact.cells_in, groups)))

    def _can_differ(self, resource_type: ResourceType) -> bool:
        worlds = self.worlds
        return (
            not worlds.same_settings
            or worlds.touching.shelf(resource_type) is not None
            or bool(worlds.universe.new(resource_type))
        )


def _note(changes: CoverChanges, coverage: Coverage, wanted: int) -> None:
    """Keep for which wanted names it changes whether any ACL covers them, and which new ones none covers."""
    axis = coverage.axis
    flips = (coverage.before ^ coverage.after) & ~axis.new & wanted
    reread = flips & (coverage.kept_before | coverage.kept_after)
    changes.note(
        coverage,
        opened=flips & coverage.before & ~reread,
        closed=flips & coverage.after & ~reread,
        no_longer_read=reread & coverage.before,
        newly_read=reread & coverage.after,
        bare=axis.new & ~coverage.after,
    )


class _Places:
    """Where groups come: by list, for everyone first; in the same order in every process."""

    def __init__(self, others: int) -> None:
        """others: the place of all principals without a class of their own."""
        self._others = others
        self._lists = {change: place for place, change in enumerate(LISTS)}
        # By identity: many groups share one set, or one tuple of operations.
        self._principals: dict[int, tuple[bool, int]] = {}
        self._operations: dict[int, list[int]] = {}

    def of(self, group: Group) -> tuple[object, ...]:
        """Return what the place of a group follows from."""
        principals, operations = group.principals, group.operations
        first = self._principals.get(id(principals))
        if first is None:
            first = (not principals & self._others, principals & -principals)
            self._principals[id(principals)] = first
        codes = self._operations.get(id(operations))
        if codes is None:
            codes = self._operations[id(operations)] = [operation._value_ for operation in operations]
        return (
            self._lists[group.change],
            first[0],
            group.resource_type._value_,
            first[1],
            codes,
            principals,
            group.hosts,
            group.names_in_order,
        )


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
