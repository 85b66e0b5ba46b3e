"""How do one session's answers about one operation differ on a class of names, from every host?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.model import WILDCARD, Operation
from aclweb.acl.simulate.axes import TextAxis
from aclweb.acl.simulate.budget import STEPS_OF_A_ROW, STEPS_OF_A_SET_OF_HOSTS, Meter
from aclweb.acl.simulate.cover import Cover, JoinedMasks
from aclweb.acl.simulate.hosts import Admitting, HostClasses, Hosts
from aclweb.acl.simulate.impact import Outcome
from aclweb.acl.simulate.outcomes import (
    OutcomeKey,
    are_alike,
    depends_on_address,
    has_own_cell,
    key_of,
    outcome_of,
)
from aclweb.acl.simulate.patterns import NO_UNKNOWN, Entry, UnknownPatterns
from aclweb.acl.simulate.worlds import Worlds


@dataclass(slots=True)
class Row:
    """One session on a class of names: the bindings for it that cover them, and what else settles its answers.

    principal: None for all that have no class of their own. entries, unknown: the bindings, and those whose
    pattern is unknown. is_new: whether the names come with the edit.
    """

    principal: str | None
    operation: Operation
    entries: list[Entry]
    unknown: UnknownPatterns
    before: Cover
    after: Cover
    is_new: bool

    @property
    def hosts(self) -> set[str]:
        """The hosts that the bindings name, without `*`."""
        hosts = {entry.host for entry in self.entries}
        if self.unknown is not NO_UNKNOWN:
            hosts.update(binding.host for binding in (*self.unknown.before, *self.unknown.after))
        hosts.discard(WILDCARD)
        return hosts

    def outcome(self, masks: JoinedMasks) -> Outcome | None:
        """Return what becomes of the answer where the bindings come to these masks."""
        return outcome_of(self.principal, self.before, self.after, masks, self.operation, is_new=self.is_new)


class Rows:
    """Works out the outcomes of rows, by sets of hosts."""

    def __init__(self, worlds: Worlds, axis: TextAxis, meter: Meter) -> None:
        self.unmet, self._axis, self._meter = worlds.unmet, axis, meter
        self.hosts = Hosts(worlds, axis)

    def of(self, row: Row) -> Iterable[tuple[Outcome, int]]:
        """Return each outcome of a row with the set of hosts from which it is met."""
        entries, unknown = row.entries, row.unknown
        before = after = 0
        for _, host, own_before, own_after, _, _ in entries:
            if host != WILDCARD:
                break
            before |= own_before
            after |= own_after
        else:
            if unknown is NO_UNKNOWN:
                self._meter.spend(STEPS_OF_A_ROW)
                outcome = row.outcome(JoinedMasks(before, after, entries, FROM_ANYWHERE, unknown))
                return () if outcome is None else ((outcome, self._axis.all),)
        hosts = row.hosts
        return self._by_host(row, frozenset(hosts - self.unmet if self.unmet else hosts))

    def _by_host(self, row: Row, hosts: frozenset[str]) -> Iterable[tuple[Outcome, int]]:
        classes = self.hosts.classes(hosts)
        count = len(classes.named) + len(classes.ranges)
        self._meter.spend(STEPS_OF_A_ROW + count * STEPS_OF_A_SET_OF_HOSTS)
        at = _ByHost(row)
        sets: dict[OutcomeKey, tuple[Outcome, int]] = {}
        for members, admitting in classes.named:
            outcome = at.outcome(admitting)
            if outcome is not None:
                _add(sets, outcome, members)
        elsewhere, answered = at.outcome(classes.outside), classes.all_named
        if classes.ranges and _depends_on_range(at, classes, elsewhere):
            _add(sets, _depending(row, at, classes), self._axis.others)
            answered |= self._axis.others
        if elsewhere is not None:
            _add(sets, elsewhere, self._axis.all & ~answered)
        return sets.values()


FROM_ANYWHERE = (frozenset((WILDCARD,)), frozenset((WILDCARD,)))


def _add(sets: dict[OutcomeKey, tuple[Outcome, int]], outcome: Outcome, members: int) -> None:
    if members:
        key = key_of(outcome)
        there = sets.get(key)
        sets[key] = (outcome, members if there is None else there[1] | members)


def _depends_on_range(at: _ByHost, classes: HostClasses, elsewhere: Outcome | None) -> bool:
    """Whether answers to addresses that nobody names differ by a range whose class is not for them."""
    if all(are_alike(at.outcome(inside), elsewhere) for _, inside, _ in classes.ranges):
        return False
    return elsewhere is not None or not all(
        has_own_cell(at.outcome(inside), at.outcome(own)) for _, inside, own in classes.ranges
    )


def _depending(row: Row, at: _ByHost, classes: HostClasses) -> Outcome:
    return depends_on_address(
        row.principal,
        row.before,
        row.after,
        at.masks(classes.outside),
        row.operation,
        {text: at.masks(inside) for text, inside, _ in classes.ranges},
        is_new=row.is_new,
    )


class _ByHost:
    """The outcomes of a row, by the hosts of ACLs that admit an address; each is worked out once."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._outcomes: dict[Admitting, Outcome | None] = {}
        self._filed = _by_host(row.entries) if len(row.entries) > _FEW else None

    def outcome(self, admitting: Admitting) -> Outcome | None:
        """Return the outcome where these admit the address on either side."""
        if admitting in self._outcomes:
            return self._outcomes[admitting]
        found = self._outcomes[admitting] = self._row.outcome(self.masks(admitting))
        return found

    def masks(self, admitting: Admitting) -> JoinedMasks:
        """Return the joined masks of the bindings that match the address."""
        entries = self._row.entries
        if self._filed is not None:
            before, after = admitting
            entries = [entry for host in before | after for entry in self._filed.get(host, ())]
        return JoinedMasks.of(entries, admitting, self._row.unknown)


_FEW = 16
"""So few bindings are looked through for each set of hosts sooner than filed by host."""


def _by_host(entries: list[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.host, []).append(entry)
    return found
