"""What becomes of a session's answers about all operations at once, where the ACLs that settle them are left out?

Then all that counts of the ACLs on a set of names is what they come to together, from each host: what they allow and
deny before and after, and what one that stays allows. Few such sums are met, however many sets of names there are.
So the outcomes of each are worked out once, and the names that only ACLs for everybody part are one set for each sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aclweb.acl.authorizer import ALL_BITS, DENY_SHIFT, MAYBE_SHIFT
from aclweb.acl.model import WILDCARD, computed_once
from aclweb.acl.simulate.budget import STEPS_OF_A_ROW, STEPS_OF_A_SET_OF_HOSTS, Meter
from aclweb.acl.simulate.cover import Cover, Covers, JoinedMasks
from aclweb.acl.simulate.hosts import Admitting
from aclweb.acl.simulate.impact import Outcome
from aclweb.acl.simulate.merging import Cells
from aclweb.acl.simulate.operations import Operations
from aclweb.acl.simulate.outcomes import OutcomeKey, key_of, outcome_of
from aclweb.acl.simulate.patterns import (
    NO_UNKNOWN,
    Entry,
    FiledPattern,
    Pattern,
    PatternKey,
    Patterns,
    PatternWithBindings,
    names_of,
)
from aclweb.acl.simulate.rows import FROM_ANYWHERE, Rows
from aclweb.acl.simulate.sessions import AskedSession, Sessions
from aclweb.acl.simulate.sets import Compact, Places, Windowed, whole_of
from aclweb.acl.simulate.sorting_names import CoveredNames, Neighbours, sorted_by_patterns, split_by

_Sum = tuple[int, int, int]
"""What some ACLs come to, as masks: those that are there before, after, and on both sides."""

_NOTHING: _Sum = (0, 0, 0)

_Told = tuple[tuple[Outcome, int], ...]
"""Outcomes with the operations of each, by their codes."""

_Differing = list[tuple[Outcome, int, int]]
"""Outcomes with the hosts and the operations of each."""

_SHIFTS = (0, DENY_SHIFT, MAYBE_SHIFT, MAYBE_SHIFT + DENY_SHIFT)


class _Piece(NamedTuple):
    """Names that the same ACLs cover. was, comes: whether any ACL covers them before, and after.

    less: those of the names that are left out.
    """

    names: Places
    entries: list[Entry]
    was: bool
    comes: bool
    is_new: bool
    less: Places | None = None


class _Alike(NamedTuple):
    """A piece of what all sessions share. names: its names, of which parts can be cut out."""

    piece: _Piece
    names: Compact


class CellsAtOnce(NamedTuple):
    """Cells of one session: their hosts, their operations and what becomes of them, on several sets of names."""

    cells: Cells
    names: list[Places]


class AtOnce:
    """The outcomes of the sessions of one resource type that `Sessions.can_be_taken_at_once`."""

    def __init__(
        self,
        sessions: Sessions,
        operations: Operations,
        rows: Rows,
        covers: Covers,
        meter: Meter,
        wanted: int,
    ) -> None:
        """wanted: the classes of names that count."""
        self._sessions, self._operations, self._rows = sessions, operations, rows
        self._covers, self._meter, self._wanted = covers, meter, wanted
        self._coverage = sessions.coverage
        self._shared: dict[tuple[str, ...], _SharedAtOnce] = {}
        self._known: dict[tuple[_Sum, bool, bool, bool], _Told] = {}
        self._differing: dict[tuple[object, ...], _Differing] = {}
        self._outcomes: dict[OutcomeKey, Outcome] = {}  # so that equal ones are one

    def cells(self, session: AskedSession) -> list[CellsAtOnce]:
        """Return what differs for a session where its own patterns tell it from sessions without a class.

        Of operations with one answer either all are among those of some cells, or none is.
        """
        pieces = list(self._pieces(session))
        self._meter.spend(STEPS_OF_A_ROW * len(pieces))
        alike: dict[int, tuple[_Differing, list[Places]]] = {}
        for piece in pieces:
            differing = self._of(piece)
            if not differing:
                continue
            there = alike.get(id(differing))
            if there is None:
                there = alike[id(differing)] = (differing, [])
            there[1].append(piece.names)
            if piece.less is not None:
                there[1].append(piece.less)
        found: dict[tuple[int, int, int], CellsAtOnce] = {}
        for differing, names in alike.values():
            for outcome, hosts, codes in differing:
                key = (id(outcome), hosts, codes)
                same = found.get(key)
                if same is None:
                    found[key] = CellsAtOnce(Cells(hosts, codes, names[0], outcome), names.copy())
                else:
                    same.names.extend(names)
        return list(found.values())

    # Which names.

    def _pieces(self, session: AskedSession) -> Iterator[_Piece]:
        """Yield the names of a session's own patterns, once each, by the patterns that cover them."""
        shared, own = self._shared_by(session), self._sessions.own_alone(session)
        wide = [pattern for pattern in own.values() if pattern.covers.is_wide]
        local = {key: pattern for key, pattern in own.items() if not pattern.covers.is_wide} if wide else own
        near = names_of(local.values()) & self._wanted
        if near:
            yield from self._near(shared, local, wide, near)
        beyond = names_of(wide) & self._wanted & ~near
        if beyond:
            yield from self._beyond(shared, wide, beyond, near)

    def _near(
        self,
        shared: _SharedAtOnce,
        local: Mapping[PatternKey, FiledPattern],
        wide: Iterable[FiledPattern],
        near: int,
    ) -> Iterator[_Piece]:
        """Yield the names near a session's LITERALs and prefixes, where what all share is sorted anew."""
        here: dict[PatternKey, PatternWithBindings] = {**local}
        here.update((pattern.covers.key, pattern) for pattern in wide)
        for pattern in shared.neighbours.near(local.values()):
            own = here.get(key := pattern.covers.key)
            here[key] = pattern if own is None else Pattern(pattern.covers, own.entries + pattern.entries)
        everywhere, parting = _parted(here.values(), near)
        for names, entries in sorted_by_patterns(parting, near):
            found = CoveredNames(names, everywhere + entries) if everywhere else CoveredNames(names, entries)
            yield from self._by_cover(found)

    def _beyond(
        self, shared: _SharedAtOnce, wide: Sequence[FiledPattern], beyond: int, near: int
    ) -> Iterator[_Piece]:
        """Yield all other names that a session's patterns cover, which no LITERAL or prefix of its own does."""
        everywhere, parting = _parted(wide, beyond)
        codes = 0
        for pattern in wide:
            for entry in pattern.entries:
                codes |= entry.operations
        if not parting and beyond ^ near == self._wanted:
            yield from self._all_but(near, everywhere, self._alike(shared, codes))
            return
        windowed = Windowed(beyond)
        for (_, entries, was, comes, is_new, _), names in self._alike(shared, codes):
            inside = names.within_windowed(windowed)
            if inside:
                part = CoveredNames(inside, everywhere + entries)
                for each in split_by(part, parting) if parting else (part,):
                    yield _Piece(*each, was, comes, is_new)

    def _all_but(self, near: int, everywhere: list[Entry], alike: Iterable[_Alike]) -> Iterator[_Piece]:
        """Yield all names but some. Those of each piece are not copied for each session."""
        windowed = Windowed(near)
        for (kept, entries, was, comes, is_new, _), names in alike:
            inside = names.within_windowed(windowed)
            if inside is not names:
                less = inside.by_runs if inside else None
                yield _Piece(kept, everywhere + entries, was, comes, is_new, less)

    def _by_cover(self, found: CoveredNames) -> Iterable[_Piece]:
        names, entries = found
        if self._coverage.is_evenly_covered(names):
            return (_Piece(names, entries, True, True, False),)
        parts = self._coverage.by_cover(names, is_kept=found.is_covered_by_one_that_stays)
        return [_Piece(part, entries, was, comes, is_new) for part, was, comes, is_new in parts]

    def _shared_by(self, session: AskedSession) -> _SharedAtOnce:
        found = self._shared.get(session.shared)
        if found is None:
            found = self._shared[session.shared] = _SharedAtOnce(
                self._sessions.shared(session, ALL_BITS).patterns
            )
        return found

    def _alike(self, shared: _SharedAtOnce, codes: int) -> list[_Alike]:
        """Return all names that count, as one set where the shared ACLs come to the same for some operations."""
        found = shared.alike.get(codes)
        if found is None:
            found = shared.alike[codes] = list(self._joined_alike(shared.about(codes), codes))
        return found

    def _joined_alike(self, patterns: Sequence[Pattern], codes: int) -> Iterator[_Alike]:
        fields = sum(codes << shift for shift in _SHIFTS)
        sets: dict[tuple[object, ...], tuple[_Piece, list[Places]]] = {}
        for covered in sorted_by_patterns(patterns, self._wanted):
            entries = summed(covered.entries, fields)
            for piece in self._by_cover(covered):
                key = (frozenset(each[1:4] for each in entries), piece.was, piece.comes, piece.is_new)
                sets.setdefault(key, (piece._replace(entries=entries), []))[1].append(piece.names)
        for piece, parts in sets.values():
            names = Compact.of(whole_of(parts))
            yield _Alike(piece._replace(names=names.least), names)

    # What becomes of them.

    def _of(self, piece: _Piece) -> _Differing:
        """Return what differs on a piece; the same object for pieces on which ACLs say the same."""
        _, entries, was, comes, is_new, _ = piece
        key = (*[entry[1:5] for entry in entries], was, comes, is_new)
        found = self._differing.get(key)
        if found is None:
            found = self._differing[key] = self._worked_out(piece)
        return found

    def _worked_out(self, piece: _Piece) -> _Differing:
        """Return outcomes with the hosts and the operations of each, of those operations that tell the session."""
        before = after = kept = codes = 0
        for _, host, own_before, own_after, operations, _ in piece.entries:
            if host != WILDCARD:
                return self._by_host(piece)
            before |= own_before
            after |= own_after
            kept |= own_before & own_after
            codes |= operations
        told = self._told(piece, FROM_ANYWHERE, (before, after, kept))
        everywhere = self._rows.hosts.axis.all
        return [(outcome, everywhere, own & codes) for outcome, own in told if own & codes]

    def _by_host(self, piece: _Piece) -> _Differing:
        sums: dict[str, _Sum] = {}
        codes = 0
        for _, host, own_before, own_after, operations, _ in piece.entries:
            before, after, kept = sums.get(host, _NOTHING)
            sums[host] = (before | own_before, after | own_after, kept | own_before & own_after)
            codes |= operations
        hosts = self._rows.hosts
        classes = hosts.classes(frozenset(sums.keys() - {WILDCARD} - self._rows.unmet))
        assert not classes.ranges, "a range has a class of its own where no glob can match a part of it"
        self._meter.spend(len(classes.named) * STEPS_OF_A_SET_OF_HOSTS)
        sets: dict[tuple[int, int], tuple[Outcome, int, int]] = {}  # by outcome and operation
        rest = (hosts.axis.all & ~classes.all_named, classes.outside)
        for members, admitting in (*classes.named, rest):
            for outcome, own in self._told(piece, admitting, _sum_of(sums, admitting)):
                for operation in self._operations.all:
                    if own & codes & operation.bit:
                        key = (id(outcome), operation.bit)
                        there = sets.get(key, (outcome, 0, 0))
                        sets[key] = (outcome, there[1] | members, operation.codes)
        return _joined_by_operations(sets.values())

    def _told(self, piece: _Piece, admitting: Admitting, own: _Sum) -> _Told:
        """Return the outcomes where the ACLs whose host matches come to a sum."""
        key = (own, piece.was, piece.comes, piece.is_new)
        found = self._known.get(key)
        if found is None:
            masks = JoinedMasks(own[0], own[1], piece.entries, admitting, NO_UNKNOWN)
            found = self._known[key] = self._outcomes_of(piece, masks)
        return found

    def _outcomes_of(self, piece: _Piece, masks: JoinedMasks) -> _Told:
        before, after = self._covers_of(piece)
        codes: dict[int, int] = {}
        outcomes: dict[int, Outcome] = {}
        for operation in self._operations.all:
            # None of those asked is a super user, so that the principal does not count.
            found = outcome_of(None, before, after, masks, operation.first, is_new=piece.is_new)
            if found is not None:
                outcome = self._once(found)
                outcomes[id(outcome)] = outcome
                codes[id(outcome)] = codes.get(id(outcome), 0) | operation.codes
        return tuple((outcome, codes[key]) for key, outcome in outcomes.items())

    def _covers_of(self, piece: _Piece) -> tuple[Cover, Cover]:
        return (
            self._covers.of(is_after=False, covered=piece.was),
            self._covers.of(is_after=True, covered=piece.comes),
        )

    def _once(self, outcome: Outcome) -> Outcome:
        return self._outcomes.setdefault(key_of(outcome), outcome)


def _sum_of(sums: Mapping[str, _Sum], admitting: Admitting) -> _Sum:
    """Return what the ACLs come to whose hosts admit an address, by what those of each host do."""
    hosts_before, hosts_after = admitting
    before = after = kept = 0
    for host, own in sums.items():
        if host in hosts_before:
            before |= own[0]
            if host in hosts_after:
                kept |= own[2]
        if host in hosts_after:
            after |= own[1]
    return before, after, kept


def _joined_by_operations(found: Iterable[tuple[Outcome, int, int]]) -> _Differing:
    """Return the same with the operations together that have an outcome from the same hosts."""
    joined: dict[tuple[int, int], tuple[Outcome, int, int]] = {}
    for outcome, hosts, codes in found:
        there = joined.get((id(outcome), hosts), (outcome, hosts, 0))
        joined[id(outcome), hosts] = (outcome, hosts, there[2] | codes)
    return [each for each in joined.values() if each[1]]


class _SharedAtOnce:
    """The patterns of what many sessions share, whose bindings count as about no operation.

    So the operations of the bindings on a name are those that tell a session from others. alike: the names
    by what the bindings come to for some operations, by the codes of these.
    """

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        self.alike: dict[int, list[_Alike]] = {}

    @computed_once
    def neighbours(self) -> Neighbours[Pattern]:
        """The patterns, to be found by the names that they share with others."""
        return Neighbours([_untelling(pattern, pattern.entries) for pattern in self._patterns.values()])

    def about(self, codes: int) -> list[Pattern]:
        """Return the patterns of bindings about one of these operations, with these bindings alone."""
        found: list[Pattern] = []
        for pattern in self._patterns.values():
            entries = [entry for entry in pattern.entries if entry.operations & codes]
            if entries:
                found.append(_untelling(pattern, entries))
        return found


def _untelling(pattern: Pattern, entries: Iterable[Entry]) -> Pattern:
    return Pattern(pattern.covers, [entry._replace(operations=0) for entry in entries])


def _parted(
    patterns: Iterable[PatternWithBindings], names: int
) -> tuple[list[Entry], list[PatternWithBindings]]:
    """Return what the bindings come to whose patterns cover all of some names, and all other patterns."""
    everywhere: list[Entry] = []
    parting: list[PatternWithBindings] = []
    for pattern in patterns:
        covers = pattern.covers
        if covers.is_wide and covers.own_after is covers.own_before and not names & ~covers.own_before:
            everywhere += pattern.entries
        else:
            parting.append(pattern)
    return summed(everywhere), parting


def summed(entries: Iterable[Entry], fields: int = -1) -> list[Entry]:
    """Return as few bindings that come to the same: from each host one that stays, comes, or goes.

    fields: the part of the masks that counts; bindings that say nothing there are left out.
    """
    found: dict[tuple[str, bool, bool], Entry] = {}
    for entry in entries:
        before, after = entry.before & fields, entry.after & fields
        if not before and not after:
            continue
        key = (entry.host, bool(before), bool(after))
        there = found.get(key)
        if there is not None:
            before, after = before | there.before, after | there.after
            operations = entry.operations | there.operations
            found[key] = there._replace(before=before, after=after, operations=operations)
        else:
            found[key] = entry._replace(before=before, after=after)
    return list(found.values())
