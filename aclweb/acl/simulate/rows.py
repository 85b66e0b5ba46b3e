"""How do one session's answers on a class of names differ, from every host?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from aclweb.acl.matching import in_range, matching_of, range_within
from aclweb.acl.model import WILDCARD, AclBinding, Operation
from aclweb.acl.simulate.axes import TextAxis, set_of
from aclweb.acl.simulate.budget import Meter
from aclweb.acl.simulate.cover import Cover
from aclweb.acl.simulate.impact import Outcome
from aclweb.acl.simulate.outcomes import depends_on_address, has_own_cell, outcome_of
from aclweb.acl.simulate.worlds import Worlds

# What work costs, in comparisons of one answer before and after.
_ROW_STEPS = 15
_HOSTS_READ_A_STEP = 25


def steps_of_a_row(hosts: int, operations: int) -> int:
    """Return what it costs to compare one session on one set of names, from so many hosts."""
    return _ROW_STEPS + hosts * (operations + 1)


@dataclass(frozen=True, slots=True)
class Standing:
    """One session on a class of names: the bindings for it that cover them, and what else settles its answers.

    principal: None for all that have no class of their own. old, new: the bindings before and after.
    is_new: whether the names come with the edit.
    """

    principal: str | None
    old: list[AclBinding]
    new: list[AclBinding]
    before: Cover
    after: Cover
    is_new: bool


class Rows:
    """Works out sessions' outcomes, host by host."""

    def __init__(self, worlds: Worlds, hosts: TextAxis, meter: Meter) -> None:
        self.worlds, self.hosts, self._meter = worlds, hosts, meter

    def of(self, at: Standing, operations: Sequence[Operation]) -> Iterator[tuple[Operation, Outcome, int]]:
        """Yield each outcome of each operation, with the set of hosts from which it is met."""
        universe, old, new, before, after = self.worlds.universe, at.old, at.new, at.before, at.after
        hosts = {binding.host for bindings in (old, new) for binding in bindings}
        hosts.discard(WILDCARD)
        if not hosts:
            yield from self._from_anywhere(at, operations)
            return
        hosts -= self.worlds.unmet
        if universe.matching.host_globs(hosts):
            hosts = set(universe.hosts)
        ranges = sorted(host for host in hosts if self.is_range(host))
        for text in ranges:
            hosts |= self.hosts_inside(text)
        other = universe.other_address
        read = (len(hosts) + len(ranges) + 1) * (len(old) + len(new)) // _HOSTS_READ_A_STEP
        self._meter.spend(steps_of_a_row(len(hosts) + len(ranges) + 1, len(operations)) + read)
        columns = {
            host: (
                before.masks_inside(old, host, other),
                after.masks_inside(new, host, other),
            )
            if self._stands_for_its_addresses(host)
            else (
                before.masks_at(old, universe.address(host)),
                after.masks_at(new, universe.address(host)),
            )
            for host in hosts
        }
        outside = (before.masks_outside(old, other), after.masks_outside(new, other))
        inside = [
            (before.masks_inside(old, text, other), after.masks_inside(new, text, other)) for text in ranges
        ]
        for operation in operations:
            elsewhere = outcome_of(at.principal, before, after, outside, operation, is_new=at.is_new)
            by_host = {
                host: outcome_of(at.principal, before, after, readings, operation, is_new=at.is_new)
                for host, readings in columns.items()
            }
            in_ranges = [
                outcome_of(at.principal, before, after, readings, operation, is_new=at.is_new)
                for readings in inside
            ]
            own_cells = [by_host[text] for text in ranges]
            if elsewhere is None and all(map(has_own_cell, in_ranges, own_cells)):
                in_ranges = []
            if any(outcome != elsewhere for outcome in in_ranges):
                self._meter.spend(len(universe.hosts))
                by_host = {host: by_host.get(host, elsewhere) for host in universe.hosts}
                within = dict(zip(ranges, inside, strict=True))
                elsewhere = depends_on_address(
                    at.principal, before, after, outside, operation, within, is_new=at.is_new
                )
            for outcome, members in self._sets(elsewhere, by_host):
                yield operation, outcome, members

    def _from_anywhere(
        self, at: Standing, operations: Sequence[Operation]
    ) -> Iterator[tuple[Operation, Outcome, int]]:
        """Do what `of` does where no binding names a host."""
        self._meter.spend(steps_of_a_row(1, len(operations)))
        before, after = at.before, at.after
        readings = (before.join_masks(at.old), after.join_masks(at.new))
        for operation in operations:
            outcome = outcome_of(at.principal, before, after, readings, operation, is_new=at.is_new)
            if outcome is not None:
                yield operation, outcome, self.hosts.all

    def _sets(
        self, elsewhere: Outcome | None, by_host: dict[str, Outcome | None]
    ) -> Iterator[tuple[Outcome, int]]:
        """Yield each outcome with the set of its hosts."""
        if not by_host:
            if elsewhere is not None:
                yield elsewhere, self.hosts.all
            return
        places: dict[Outcome | None, list[int]] = {}
        for host, outcome in by_host.items():
            if outcome != elsewhere:
                places.setdefault(outcome, []).append(self.hosts.places[host])
        found = {outcome: set_of(own) for outcome, own in places.items()}
        if elsewhere is not None:
            unlike = 0
            for members in found.values():
                unlike |= members
            yield elsewhere, self.hosts.all & ~unlike
        yield from ((outcome, members) for outcome, members in found.items() if outcome is not None)

    def is_range(self, host: str) -> bool:
        return self.worlds.universe.matching.range_of(host) is not None

    def _stands_for_its_addresses(self, host: str) -> bool:
        """Whether a named host is a range in both worlds; its cell is for its addresses that nobody names.

        Elsewhere its cell is for its text, which a change of settings can turn into a range, or back.
        """
        both = map(matching_of, (self.worlds.settings, self.worlds.after_settings))
        return all(each.is_nested and each.range_of(host) is not None for each in both)

    def hosts_inside(self, range_text: str) -> set[str]:
        """Return the named hosts that lie in a range."""
        if range_text not in self._hosts_inside:
            self._hosts_inside[range_text] = {
                host
                for host in self.worlds.universe.hosts
                if in_range(range_text, host)
                or (self._stands_for_its_addresses(host) and range_within(host, range_text))
            }
        return self._hosts_inside[range_text]

    @cached_property
    def _hosts_inside(self) -> dict[str, set[str]]:
        return {}
