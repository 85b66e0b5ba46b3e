"""Into which classes do the hosts of a few ACLs sort all hosts?

A host that is one address admits itself. An address range, or a glob under the GLOB proposal, admits
many; it is called wide here. Hosts that the same wide ones admit get the same answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aclweb.acl.matching import Matching, matching_of, range_within, read_address, read_range
from aclweb.acl.model import WILDCARD, computed_once
from aclweb.acl.simulate.axes import TextAxis
from aclweb.acl.simulate.sets import set_of
from aclweb.acl.simulate.worlds import Worlds

Admitting = tuple[frozenset[str], frozenset[str]]
"""The hosts of ACLs that admit an address, before and after."""


@dataclass(frozen=True, slots=True)
class HostClasses:
    """How some hosts of ACLs sort all hosts.

    named: sets of hosts with a class of their own, by what admits them; together `all_named`. Those that are
    in none are admitted like an address in no range, which is `outside`. ranges: for each address range whose
    class is not for its addresses, what admits one of these that nobody names, and what admits the class.
    """

    named: tuple[tuple[int, Admitting], ...]
    all_named: int
    ranges: tuple[tuple[str, Admitting, Admitting], ...]
    outside: Admitting


class Hosts:
    """The hosts of two worlds, sorted by the wide ones among them."""

    def __init__(self, worlds: Worlds, axis: TextAxis) -> None:
        self.axis, self._universe = axis, worlds.universe
        self._sides = (matching_of(worlds.settings), matching_of(worlds.after_settings))
        self._known: dict[frozenset[str], HostClasses] = {}
        self._split: dict[frozenset[str], list[tuple[int, Admitting]]] = {}
        self._admitted: dict[tuple[bool, str], int] = {}
        self._wide: dict[str, bool] = {}

    @computed_once
    def named(self) -> int:
        """The set of all hosts with a class of their own."""
        return self.axis.all ^ self.axis.others

    def is_wide(self, host: str) -> bool:
        """Whether a host of an ACL is an address range or a glob in one of the worlds."""
        found = self._wide.get(host)
        if found is None:
            matching = self._universe.matching
            found = self._wide[host] = matching.range_of(host) is not None or matching.is_host_glob(host)
        return found

    def classes(self, hosts: frozenset[str]) -> HostClasses:
        """Return how these hosts of ACLs, beside `*`, sort all hosts."""
        found = self._known.get(hosts)
        if found is None:
            found = self._known[hosts] = self._classes(hosts)
        return found

    def _classes(self, hosts: frozenset[str]) -> HostClasses:
        wide = frozenset(host for host in hosts if self.is_wide(host))
        parts = self._parts(wide)
        outside = self._outside(wide)
        named: list[tuple[int, Admitting]] = []
        answered = 0
        for host in sorted(hosts - wide):
            own = 1 << self.axis.places[host]
            before, after = _admitting(parts, own)
            named.append((own, (before | {host}, after | {host})))
            answered |= own
        for members, admitting in parts:
            rest = members & ~answered
            if rest and admitting != outside:
                named.append((rest, admitting))
                answered |= rest
        ranges = sorted(text for text in wide if self._is_range_as_text(text))
        return HostClasses(
            tuple(named),
            answered,
            tuple(
                (text, self._inside(text, wide), _admitting(parts, self.axis.one(text))) for text in ranges
            ),
            outside,
        )

    def _parts(self, wide: frozenset[str]) -> list[tuple[int, Admitting]]:
        """Return sets of the hosts with a class of their own, by which of these admit them."""
        found = self._split.get(wide)
        if found is not None:
            return found
        for_all = frozenset((WILDCARD,))
        parts: list[tuple[int, Admitting]] = [(self.named, (for_all, for_all))]
        for text in sorted(wide):
            for side in (0, 1):
                admitted = self._admitted_by(side, text)
                split: list[tuple[int, Admitting]] = []
                for members, admitting in parts:
                    if inside := members & admitted:
                        more = (admitting[0] | {text}, admitting[1])
                        split.append((inside, more if side == 0 else (admitting[0], admitting[1] | {text})))
                    if members != inside:
                        split.append((members ^ inside, admitting))
                parts = split
        self._split[wide] = parts
        return parts

    def _outside(self, wide: Iterable[str]) -> Admitting:
        return self._on_both_sides(
            lambda side: frozenset((WILDCARD, *(host for host in wide if self._is_anywhere(side, host))))
        )

    def _on_both_sides(self, admitting: Callable[[Matching], frozenset[str]]) -> Admitting:
        """Return what admits an address before and after, which is worked out once where both sides read alike."""
        before, after = self._sides
        found = admitting(before)
        return found, found if after is before else admitting(after)

    def _inside(self, text: str, wide: Iterable[str]) -> Admitting:
        """Return what admits an address of a range that nobody names and that lies in no narrower one."""
        return self._on_both_sides(
            lambda side: frozenset(
                (WILDCARD, *(host for host in wide if self._admits_range(side, host, text)))
            )
        )

    def _admits_range(self, side: Matching, host: str, text: str) -> bool:
        return self._is_anywhere(side, host) or (side.reads_ranges and range_within(text, host))

    def _is_anywhere(self, side: Matching, host: str) -> bool:
        """Whether a host of an ACL admits addresses that nobody names; a glob is judged by one of them."""
        if host == WILDCARD:
            return True
        other = self._universe.other_address
        return not side.is_nested and side.is_host_glob(host) and side.comes_from(host, other)

    def _admitted_by(self, side: int, host: str) -> int:
        """Return the set of the named hosts that a wide host of an ACL admits."""
        # A plain comparison of both is enough: where they read alike they are one object.
        key = (self._sides[side] is self._sides[0], host)
        found = self._admitted.get(key)
        if found is None:
            reads = self._sides[side]
            texts = self._maybe_inside(host)
            found = set_of(self.axis.places[text] for text in texts if self._admits(reads, host, text))
            self._admitted[key] = found
        return found

    def _admits(self, side: Matching, host: str, text: str) -> bool:
        if self.stands_for_its_addresses(text):
            return self._admits_range(side, host, text)
        return side.comes_from(host, self._universe.address(text))

    def stands_for_its_addresses(self, host: str) -> bool:
        """Whether the class of a named host is for the addresses of a range that nobody names.

        So it is where one of the worlds reads ranges: no client's address is the text of one. Under the GLOB
        proposal the class is for the text, because a glob can match a part of a range.
        """
        is_range = self._universe.matching.range_of(host) is not None
        return is_range and all(side.is_nested for side in self._sides)

    def _is_range_as_text(self, host: str) -> bool:
        is_range = self._universe.matching.range_of(host) is not None
        return is_range and not self.stands_for_its_addresses(host)

    def _maybe_inside(self, host: str) -> Iterable[str]:
        """Return the named hosts that a wide one may admit; of a range these are found by their numbers."""
        network = read_range(host)
        if network is None or self._universe.matching.is_host_glob(host):
            return self.axis.texts
        bits, start, length = network
        low = start >> bits - length << bits - length
        first = bisect_left(self._by_number, (bits, low, ""))
        end = bisect_left(self._by_number, (bits, low + (1 << bits - length), ""))
        inside = [text for _, _, text in self._by_number[first:end]]
        return {*inside, host} if host in self.axis.places else inside

    @computed_once
    def _by_number(self) -> list[tuple[int, int, str]]:
        """The named addresses and ranges, by their family and their (first) number."""
        found = []
        for text in self.axis.texts:
            number = read_range(text) or read_address(self._universe.address(text))
            if number is not None:
                found.append((number[0], number[1], text))
        return sorted(found)


def _admitting(parts: list[tuple[int, Admitting]], host: int) -> Admitting:
    """Return what admits one of the hosts that are sorted into these parts."""
    return next(admitting for members, admitting in parts if members & host)
