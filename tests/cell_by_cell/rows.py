"""How do one caller's answers on a class of names differ, from every host?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT
from aclweb.acl.matching import in_range, matching_of, range_within
from aclweb.acl.model import ANY_USER, WILDCARD, Operation
from tests.cell_by_cell.budget import Meter
from tests.cell_by_cell.classes import Spot
from tests.cell_by_cell.cover import Cover
from tests.cell_by_cell.impact import Outcome
from tests.cell_by_cell.outcomes import are_alike, depends_on_address, has_own_cell, outcome_of
from tests.cell_by_cell.worlds import Worlds

# What work costs, in comparisons of one answer before and after.
_CALLER_STEPS = 3
_HOSTS_READ_A_STEP = 25


@dataclass(frozen=True, slots=True)
class Row:
    """One caller's outcomes: on every host that is not named here, and on those that differ."""

    elsewhere: Outcome | None
    by_host: dict[str, Outcome | None]


SAME_ROW = Row(None, {})


class Rows:
    """Works out callers' outcomes, host by host."""

    def __init__(self, worlds: Worlds, meter: Meter) -> None:
        self.worlds, self._meter = worlds, meter

    def of(
        self, spot: Spot, caller: str | None, before: Cover, after: Cover, operations: Iterable[Operation]
    ) -> dict[Operation, Row]:
        """Return one caller's outcomes by operation, without operations on which nothing differs."""
        universe = self.worlds.universe
        session = universe.session(caller)
        old, new = before.own(session), after.own(session)
        hosts = {binding.host for binding in (*old, *new)} - {WILDCARD} - self.worlds.unmet
        if universe.matching.host_globs(hosts):
            hosts = set(universe.hosts)
        ranges = sorted(host for host in hosts if self.is_range(host))
        for text in ranges:
            hosts |= self.hosts_inside(text)
        other = universe.other_address
        operations = tuple(operations)
        read = (len(hosts) + len(ranges) + 1) * (len(old) + len(new)) // _HOSTS_READ_A_STEP
        self._meter.spend(_CALLER_STEPS + (len(hosts) + len(ranges) + 1) * (len(operations) + 1) + read)
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
        # A range whose class is for its addresses leaves nothing to depend on.
        ranges = [text for text in ranges if not self._stands_for_its_addresses(text)]
        inside = [
            (before.masks_inside(old, text, other), after.masks_inside(new, text, other)) for text in ranges
        ]

        rows: dict[Operation, Row] = {}
        for operation in operations:
            elsewhere = outcome_of(spot, caller, before, after, outside, operation)
            by_host = {
                host: outcome_of(spot, caller, before, after, readings, operation)
                for host, readings in columns.items()
            }
            in_ranges = [outcome_of(spot, caller, before, after, readings, operation) for readings in inside]
            own_cells = [by_host[text] for text in ranges]
            if elsewhere is None and all(map(has_own_cell, in_ranges, own_cells)):
                in_ranges = []
            if not all(are_alike(outcome, elsewhere) for outcome in in_ranges):
                self._meter.spend(len(self.worlds.universe.hosts))
                by_host = {host: by_host.get(host, elsewhere) for host in self.worlds.universe.hosts}
                within = dict(zip(ranges, inside, strict=True))
                elsewhere = depends_on_address(spot, caller, before, after, outside, operation, within)
            differing = {host: outcome for host, outcome in by_host.items() if outcome != elsewhere}
            if elsewhere is not None or differing:
                rows[operation] = Row(elsewhere, differing)
        return rows

    def unlike(
        self,
        others: dict[Operation, Row],
        spot: Spot,
        callers: Iterable[str],
        before: Cover,
        after: Cover,
        operations: Sequence[Operation],
    ) -> dict[str, dict[Operation, Row]]:
        """Return the rows of each caller, those worked out that are not plain to see.

        Where no binding of its own bears on an operation, a caller's row is that of all others.
        Where one that stays settles it from every host, nothing differs.
        """
        stay = set(map(id, after.groups))
        kept = [group for group in before.groups if id(group) in stay]
        groups = [*kept, *(group for cover in (before, after) for group in cover.groups if group not in kept)]
        supers = self.worlds.settings.super_users | self.worlds.after_settings.super_users
        everybody = everywhere = 0
        for group in groups:
            everybody |= group.masks.get(ANY_USER, 0)
        for group in kept:
            everywhere |= group.masks_anywhere.get(ANY_USER, 0)
        fields = [(operation, 1 << operation._value_) for operation in operations]
        rows: dict[str, dict[Operation, Row]] = {}
        for caller in sorted(callers):
            if caller in supers or any(caller in group.with_ranges for group in groups):
                rows[caller] = self.of(spot, caller, before, after, operations)
                continue
            own, always = 0, everywhere
            for group in groups:
                own |= group.masks.get(caller, 0)
            for group in kept:
                always |= group.masks_anywhere.get(caller, 0)
            denied = own | everybody
            denied = (denied | denied >> MAYBE_SHIFT) >> DENY_SHIFT
            same = always >> DENY_SHIFT | always & ~denied
            own |= own >> MAYBE_SHIFT
            own |= own >> DENY_SHIFT
            unclear = [operation for operation, bit in fields if own & bit and not same & bit]
            row = self.of(spot, caller, before, after, unclear) if unclear else {}
            row |= {
                operation: found for operation, found in others.items() if not own & 1 << operation._value_
            }
            rows[caller] = row
        return rows

    def is_range(self, host: str) -> bool:
        return self.worlds.universe.matching.range_of(host) is not None

    def _stands_for_its_addresses(self, host: str) -> bool:
        """Whether the cell of a named host is for the addresses of a range that nobody names."""
        both = [matching_of(each) for each in (self.worlds.settings, self.worlds.after_settings)]
        is_range = any(each.range_of(host) is not None for each in both)
        return is_range and all(each.is_nested for each in both)

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
