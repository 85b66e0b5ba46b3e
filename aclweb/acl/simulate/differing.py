"""Which cells of one resource type differ, session by session?

What holds for all sessions without a class of their own is worked out first. Of each other session only the
names are looked at on which bindings tell it from those; on all other names it is like them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclweb.acl.model import computed_once
from aclweb.acl.simulate.at_once import AtOnce
from aclweb.acl.simulate.axes import TextAxis
from aclweb.acl.simulate.budget import LOOKED_AT_A_STEP, STEPS_OF_A_KIND, Meter
from aclweb.acl.simulate.cover import Covers
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.impact import Group, Side
from aclweb.acl.simulate.merging import Cells, Gathered, joined_by_names
from aclweb.acl.simulate.operations import OperationClass, Operations, joined
from aclweb.acl.simulate.patterns import OwnNames, Patterns, names_apart, names_of
from aclweb.acl.simulate.rows import Row, Rows
from aclweb.acl.simulate.sessions import AskedSession, Sessions
from aclweb.acl.simulate.sets import Compact, Places, Windowed, of_places, places_in, set_of
from aclweb.acl.simulate.sorting_names import (
    CoveredNames,
    PatternTree,
    SharedPatterns,
    are_few,
    sorted_by_patterns,
    split_by,
)
from aclweb.acl.simulate.worlds import Worlds

_FEW_NAMES = 8
"""Cells on so few names are found by each of these."""

_FEW_OCTETS = 64
"""A set that takes no more room is copied sooner than kept by what it lacks."""

_SEVERAL_NAMES = 512
"""Cells on so many names are found by each of these where single names are looked for."""


@dataclass(slots=True)
class _Rest:
    """Cells of all sessions without a class of their own, on names. alike: principals of which they hold too.

    names: theirs, of which parts can be cut out; size: how many these are.
    """

    cells: Cells
    names: Compact
    size: int
    alike: int


class _OfOthers:
    """The cells of all sessions without a class of their own, for operations that get one answer."""

    def __init__(self, cells: list[Cells], alike: int) -> None:
        self.all = [_Rest(each, each.names.dense, each.names.size, alike) for each in cells]
        self._large: list[_Rest] = []
        self._small: list[_Rest] = []
        self._by_place: dict[int, list[_Rest]] = {}  # the small ones, by the place of each name
        for each in self.all:
            if each.size > _FEW_NAMES:
                self._large.append(each)
                continue
            self._small.append(each)
            for place in places_in(each.names.whole):
                self._by_place.setdefault(place, []).append(each)
        self._small_names = set_of(self._by_place)

    @property
    def looked_at(self) -> int:
        """How many are looked at for each session."""
        return len(self._large)

    def on(self, names: int) -> Iterator[_Rest]:
        """Yield those that may be on some of these names; of those on few names only those that are."""
        yield from self._large
        inside = names & self._small_names
        if inside == self._small_names:
            yield from self._small
        elif inside:
            found = {id(each): each for place in places_in(inside) for each in self._by_place[place]}
            yield from found.values()

    def on_places(self, places: Collection[int]) -> Iterator[tuple[_Rest, set[int]]]:
        """Yield those that are on some of these names, with the places of these names."""
        for each, windowed in self._windows:
            if inside := set(filter(windowed.holds, places)):
                yield each, inside
        found: dict[int, tuple[_Rest, set[int]]] = {}
        by_place = self._by_each_place
        for place in places:
            for each in by_place.get(place, ()):
                found.setdefault(id(each), (each, set()))[1].add(place)
        yield from found.values()

    @computed_once
    def _by_each_place(self) -> dict[int, list[_Rest]]:
        """All but those on very many names, by the place of each name."""
        found = {place: own.copy() for place, own in self._by_place.items()}
        for each in self._large:
            if each.size <= _SEVERAL_NAMES:
                for place in places_in(each.names.whole):
                    found.setdefault(place, []).append(each)
        return found

    @computed_once
    def _windows(self) -> list[tuple[_Rest, Windowed]]:
        """Those on very many names, of which it is looked up whether they hold a name."""
        return [(each, Windowed(each.names.whole)) for each in self._large if each.size > _SEVERAL_NAMES]


class DifferingCells:
    """What differs on the names of one resource type."""

    def __init__(
        self,
        worlds: Worlds,
        coverage: Coverage,
        rows: Rows,
        principals: TextAxis,
        meter: Meter,
        sides: dict[tuple[object, ...], Side],
    ) -> None:
        """sides: those made so far, so that equal ones are one."""
        self.worlds, self.coverage = worlds, coverage
        self._rows, self._principals, self._meter = rows, principals, meter
        self.left_out = 0
        if worlds.met_only:
            self.left_out = worlds.without_resource(coverage.resource_type, coverage.near)
        self._wanted = coverage.axis.all & ~self.left_out if self.left_out else coverage.axis.all
        self.sessions = Sessions(worlds, coverage, self._wanted)
        self._operations = Operations(worlds, coverage)
        self._gathered = Gathered(coverage.resource_type)
        self._covers = Covers(worlds, self.sessions, sides)
        self._at_once = (
            None
            if worlds.with_acls
            else AtOnce(self.sessions, self._operations, rows, self._covers, meter, self._wanted)
        )
        self._shared_names: dict[tuple[int, int], list[CoveredNames]] = {}

    def groups(self) -> Iterator[Group]:
        """Yield the groups of cells that differ."""
        settings, after_settings = self.worlds.settings, self.worlds.after_settings
        alike = self._principals.all
        for principal in settings.super_users | after_settings.super_users:
            alike &= ~(1 << self._principals.places.get(principal, len(self._principals.texts) + 1))
        is_for_all = self.sessions.is_for_all
        rest: dict[int, _OfOthers] = {}  # by the bit of the operations
        for classes in self._alike(self.sessions.others):
            cells = joined_by_names(self._of_others(classes[0])) if is_for_all else []
            for operation in classes:
                own = [each._replace(operations=operation.codes) for each in cells]
                rest[operation.bit] = _OfOthers(own, alike)
        for session in self.sessions.asked():
            by_name = self.sessions.by_name(session)
            if by_name is not None:
                self._take_by_name(session, by_name, rest)
                continue
            if self._at_once is not None and self.sessions.can_be_taken_at_once(session):
                self._take_at_once(session, self._at_once, rest)
                continue
            codes, apart = self.sessions.codes_changed(session), self.sessions.codes_apart(session)
            for classes in self._alike(session):
                bit = classes[0].bit
                if not apart & bit:
                    continue
                of_others = [rest[each.bit] for each in classes if rest[each.bit].all]
                if of_others or codes & bit or self.sessions.shared(session, bit).region:
                    self._take(session, joined(classes), of_others)
        for each in (each for of_others in rest.values() for each in of_others.all):
            if each.alike:
                self._gather(each.alike, each.cells)
        return self._gathered.groups()

    def _alike(self, session: AskedSession) -> list[tuple[OperationClass, ...]]:
        """Return the operations in sets that no binding for a session tells apart, nor one that it lacks."""
        masks = self.sessions.masks(session)
        return (
            [(each,) for each in self._operations.all]
            if masks is None
            else self._operations.told_apart_by(masks)
        )

    def _gather(self, members: int, cells: Cells) -> None:
        self._gather_on(members, cells, (cells.names,))

    def _gather_on(self, members: int, cells: Cells, names: Sequence[Places]) -> None:
        weight = self._gathered.add_on(members, cells, names)
        self._meter.spend(STEPS_OF_A_KIND if weight else 1, weight)

    def _part_on_places(self, member: int, places: Collection[int], of_others: Iterable[_OfOthers]) -> None:
        """Do the same where these names are few, by the places of all that count."""
        for of_class in of_others:
            for each, inside in of_class.on_places(places):
                each.alike &= ~member
                if len(inside) < each.size:
                    self._gather_less(member, each, of_places(inside))

    def _gather_less(self, members: int, rest: _Rest, names: Places) -> None:
        """Take the cells of others for these principals, but for those on some of their names.

        What others have is not unfolded for each session.
        """
        self._gather_on(members, rest.cells, (rest.cells.names, names))

    def _of_others(self, operation: OperationClass) -> Iterator[Cells]:
        """Yield what differs for sessions without a class of their own."""
        session = self.sessions.others
        shared = self.sessions.shared(session, operation.bit)
        tree = shared.tree if shared.losing else shared.gaining_tree
        is_anywhere = self.sessions.unknown_patterns(session).changed & operation.bit
        for found in tree.anywhere if is_anywhere else tree.in_region:
            yield from self._on_names(session, found, operation)

    def _take(self, session: AskedSession, operation: OperationClass, of_others: Sequence[_OfOthers]) -> None:
        """Gather what differs for a session with a class of its own. of_others: for each of the operations."""
        assert session.principal is not None
        own = self.sessions.own(session, operation.bit)
        looked_at = len(own) + sum(each.looked_at for each in of_others)
        self._meter.spend(1 + looked_at // LOOKED_AT_A_STEP)
        told = OwnNames.of(own.values())
        if session.is_turned or self.sessions.tells_by_unknown_patterns(session):
            own_names = self._wanted
        else:
            lacked = names_of(self.sessions.lacked(session, operation.bit)) if session.lacked else 0
            own_names = (told.all | lacked) & self._wanted
        if not own_names:
            return
        member = self._principals.one(session.principal)
        if of_others:
            self._part_from_others(member, own_names, of_others)
        for found in self._own_rows(session, own, told._replace(all=own_names), operation):
            for cells in self._on_names(session, found, operation):
                self._gather(member, cells)

    def _take_at_once(self, session: AskedSession, at_once: AtOnce, rest: Mapping[int, _OfOthers]) -> None:
        """Gather what differs for a session for all operations at once, whatever ACLs settle it."""
        assert session.principal is not None
        own = self.sessions.own_filed(session)
        self._meter.spend(1 + len(own) // LOOKED_AT_A_STEP)
        member = self._principals.one(session.principal)
        cells = at_once.cells(session)
        apart = self.sessions.codes_apart(session)
        for classes in self._alike(session):
            operation = joined(classes)
            if not apart & operation.bit:
                continue
            of_others = [rest[each.bit] for each in classes if rest[each.bit].all]
            if of_others:
                self._meter.spend(1 + sum(each.looked_at for each in of_others) // LOOKED_AT_A_STEP)
                told = names_apart(filed for filed in own if filed.operations & operation.bit)
                if told.others:
                    self._part_from_others(member, told.all & self._wanted, of_others)
                else:
                    self._part_on_places(member, told.places, of_others)
            for (hosts, own_codes, _, outcome), names in cells:
                if own_codes & operation.bit:
                    self._gather_on(member, Cells(hosts, operation.codes, names[0], outcome), names)

    def _part_from_others(self, member: int, own_names: int, of_others: Iterable[_OfOthers]) -> None:
        """Take a session from those without a class of their own on some names, and leave it among them on others."""
        windowed = Windowed(own_names)
        for each in (each for of_class in of_others for each in of_class.on(own_names)):
            if own_names == self._wanted:
                each.alike &= ~member
                continue
            names = each.names
            inside = names.within_windowed(windowed)
            if inside:
                each.alike &= ~member
                if inside is names:
                    continue
                if names.octets <= _FEW_OCTETS:
                    self._gather_on(member, each.cells, (names.less(inside),))
                else:
                    self._gather_less(member, each, inside.by_runs)

    def _take_by_name(
        self, session: AskedSession, own: Sequence[CoveredNames], rest: Mapping[int, _OfOthers]
    ) -> None:
        """Gather what differs for a session of which no binding changes, on the few names that count.

        own: these names, by the bindings for this session alone. rest: what differs for others, by operation.
        """
        assert session.principal is not None
        member = self._principals.one(session.principal)
        masks = frozenset(entry.before for _, entries in own for entry in entries)
        for classes in self._operations.told_apart_by(self.sessions.masks_beside(session, masks)):
            operation = joined(classes)
            bit = operation.bit
            parts = [
                CoveredNames(names, about)
                for names, entries in own
                if (about := [entry for entry in entries if entry.operations & bit])
            ]
            shared = self.sessions.shared(session, bit)
            if not parts or not shared.region:
                continue
            of_others = [rest[each.bit] for each in classes if rest[each.bit].all]
            self._meter.spend(
                1 + (len(parts) + sum(each.looked_at for each in of_others)) // LOOKED_AT_A_STEP
            )
            if of_others:
                self._part_from_others(member, _names_of(parts), of_others)
            for names, entries in parts:
                left = self.sessions.settled.left_by(entries, bit, shared.losing, names.whole)
                for found in self._shared_on(shared, left):
                    with_own = CoveredNames(found.names, entries + found.entries)
                    for cells in self._on_names(session, with_own, operation):
                        self._gather(member, cells)

    def _shared_on(self, shared: SharedPatterns, names: int) -> list[CoveredNames]:
        """Return those of a few names on which an answer to everybody can differ, by the patterns that all share."""
        key = (id(shared), names)
        found = self._shared_names.get(key)
        if found is None:
            region = names & shared.region & ~shared.tree.settled
            if not shared.losing:
                region &= ~shared.gaining_tree.settled
            found = self._shared_names[key] = list(sorted_by_patterns(shared.patterns.values(), region))
        return found

    def _own_rows(
        self, session: AskedSession, own: Patterns, names: OwnNames, operation: OperationClass
    ) -> Iterator[CoveredNames]:
        """Yield the names on which bindings tell a session from others and an answer can differ.

        names: of the session's own patterns; all of them: those on which bindings tell it from others.
        """
        shared = self.sessions.shared(session, operation.bit)
        is_all = session.is_turned or self.sessions.unknown_patterns(session).changed & operation.bit
        region = names.all & (self._wanted if is_all else shared.region | names.changed)
        tree = shared.tree
        if not session.is_turned:
            losing = shared.losing | names.losing
            settled = self.sessions.settled
            region &= ~(
                tree.settled
                | settled.denied(names)
                | (shared.gaining_tree.settled | settled.allowed(names)) & ~losing
            )
            if not losing:
                tree = shared.gaining_tree
        if not region:
            return iter(())
        if are_few(len(own) + len(shared.patterns), region):
            return sorted_by_patterns((*own.values(), *shared.patterns.values()), region)
        return _sorted(own, tree, region)

    def _on_names(
        self, session: AskedSession, found: CoveredNames, operation: OperationClass
    ) -> Iterator[Cells]:
        unknown = self.sessions.unknown_patterns(session)
        entries = self.sessions.read_for(session.principal, found.entries)
        for names, was, comes, is_new in self.coverage.by_cover(
            found.names, is_kept=found.is_covered_by_one_that_stays
        ):
            row = Row(
                session.principal,
                operation.first,
                entries,
                unknown,
                self._covers.of(is_after=False, covered=was),
                self._covers.of(is_after=True, covered=comes),
                is_new,
            )
            for outcome, hosts in self._rows.of(row):
                yield Cells(hosts, operation.codes, names, outcome)


def _names_of(parts: Iterable[CoveredNames]) -> int:
    found = 0
    for names, _ in parts:
        found |= names.whole
    return found


def _sorted(own: Patterns, tree: PatternTree, region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region by the patterns of a session's own that cover them, and by shared ones.

    Near the session's LITERALs and prefixes these are sorted anew. Elsewhere only its other patterns, as
    LITERAL `*`, can cover a name, and the shared ones are sorted already.
    """
    wide = [pattern for pattern in own.values() if pattern.covers.is_wide]
    local_names = names_of(pattern for pattern in own.values() if not pattern.covers.is_wide)
    if near := region & local_names:
        here = {key: pattern for key, pattern in own.items() if pattern.covers.touches(near)}
        local = [pattern for pattern in here.values() if not pattern.covers.is_wide]
        for pattern in tree.neighbours.near(local):
            key = pattern.covers.key
            here[key] = here[key].joined_with(pattern) if key in here else pattern
        yield from sorted_by_patterns(here.values(), near)
    if beyond := region ^ near:
        windowed = Windowed(beyond)
        for names, entries in tree.in_region if not beyond & ~tree.region else tree.anywhere:
            inside = names.within_windowed(windowed)
            if inside.low or inside.tail:
                part = CoveredNames(inside, entries)
                if wide:
                    yield from split_by(part, wide)
                else:
                    yield part
