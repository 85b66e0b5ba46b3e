"""What do the ACLs answer to each of millions of requests?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aclweb.acl.authorizer import (
    DENY_SHIFT,
    MAYBE_SHIFT,
    AclIndex,
    Basis,
    Cover,
    MaskTable,
    Slot,
    decide,
    settle_known,
)
from aclweb.acl.matching import SortedNames, empty_prefix_covers, matching_of, wildcard_covers
from aclweb.acl.model import ANY_USER, WILDCARD, AuthorizerSettings, computed_once
from aclweb.pipeline.batch.columns import CODES, Answers, Column, Masks, Places, Requests

_PATTERNS_A_ROW = 4  # with more patterns than this for each row, rows are decided one by one


def decide_all(requests: Requests, index: AclIndex, settings: AuthorizerSettings) -> Answers:
    """Return the answers that `decide` gives."""
    bases = np.full(len(requests), CODES[Basis.DEFAULT_DENY], np.uint8)
    principals, names = requests.principals, requests.names
    is_super = _flags(principals, [value in settings.super_users for value in principals.values])
    by_type = _flags(names, [value is None for value in names.values])
    bases[is_super] = CODES[Basis.SUPER_USER]
    one_by_one = [np.flatnonzero(by_type & ~is_super)]
    for code, resource_type in enumerate(requests.resource_types.values):
        rows = np.flatnonzero((requests.resource_types.codes == code) & ~by_type & ~is_super)
        table = index.table_for(resource_type, settings)
        if table is None:
            _, basis = settle_known(denied=False, allowed=False, covered=False, settings=settings)
            bases[rows] = CODES[basis]
        elif table.unknown_patterns or not isinstance(table, MaskTable):
            one_by_one.append(rows)
        elif len(rows):
            asked = _Asked(requests, rows)
            chosen = _Chosen(table, asked, settings)
            if len(rows) * _PATTERNS_A_ROW < chosen.patterns:
                one_by_one.append(rows)
            else:
                bases[asked.rows], unknown = chosen.bases()
                one_by_one.append(asked.rows[unknown])
    _decide_each(requests, np.concatenate(one_by_one), index, settings, bases)
    return Answers(bases)


class _Asked:
    """The rows of one resource type, sorted by principal and name."""

    def __init__(self, requests: Requests, rows: Places) -> None:
        names = requests.names
        used = np.zeros(len(names.values), np.bool_)
        used[names.codes[rows]] = True
        texts = [names.values[code] for code in np.flatnonzero(used)]
        self.names = SortedNames(texts)
        self.place = dict(zip(self.names, range(len(self.names)), strict=True))
        ranks = np.zeros(len(names.values), np.int64)
        ranks[used] = list(map(self.place.__getitem__, texts))
        unsorted = ranks[names.codes[rows]]
        by_principal = requests.principals.codes[rows] * len(self.names) + unsorted
        order = np.argsort(by_principal)
        self.rows = rows[order]
        self.ranks = unsorted[order]
        self.principals, self.hosts = requests.principals.values, requests.hosts.values
        self.principal_codes = requests.principals.codes[self.rows]
        self.host_codes = requests.hosts.codes[self.rows]
        operations = requests.operations
        bits = np.array([1 << operation.code for operation in operations.values], np.uint64)
        self.bits = bits[operations.codes[self.rows]]


class _Chosen:
    """The slots of one MaskTable that count for the principals who are asked about."""

    def __init__(self, table: MaskTable, asked: _Asked, settings: AuthorizerSettings) -> None:
        self.table, self.asked, self.settings = table, asked, settings
        self.slots: list[Slot] = []
        self.numbers: dict[int, int] = {}
        everyone = table.slots.get(ANY_USER, {}).get(WILDCARD)
        self.for_everyone = self._number(everyone) if everyone is not None else -1
        self.passes = list(self._passes())

    @property
    def patterns(self) -> int:
        """How many patterns there are to lay out."""
        return sum(len(slot.literals) + len(slot.prefixes) for slot in self.slots)

    def bases(self) -> tuple[NDArray[np.uint8], Places]:
        """Return the code of each row's basis, and the rows of which this is unknown here."""
        asked, table = self.asked, self.table
        flat = _Flat(self.slots, asked, self.settings)
        masks = flat.of_one(self.for_everyone)[asked.ranks]
        for rows, numbers in self.passes:
            masks[rows] |= flat.of_many(numbers, asked.ranks[rows])
        bits = asked.bits
        denied = masks >> np.uint64(DENY_SHIFT) & bits != 0
        allowed = masks & bits != 0
        covered = flat.covered(table.covered)[asked.ranks]
        # Every combination is settled once by the core; the rows look it up.
        settled = [
            settle_known(
                denied=bool(case & 4), allowed=bool(case & 2), covered=bool(case & 1), settings=self.settings
            )
            for case in range(8)
        ]
        bases = np.array([CODES[basis] for _, basis in settled], np.uint8)
        bases = bases[denied * np.uint8(4) + allowed * np.uint8(2) + covered]
        return bases, np.flatnonzero(masks >> np.uint64(MAYBE_SHIFT) != 0)

    def _passes(self) -> Iterator[tuple[Places, Places]]:
        """Yield rows with the number of a slot that counts for each of them."""
        asked = self.asked
        hosts = {host: code for code, host in enumerate(asked.hosts)}
        principals = {principal: code for code, principal in enumerate(asked.principals)}
        on_any_host = np.full(len(principals), -1, np.int64)
        for_any_user = np.full(len(hosts), -1, np.int64)
        pairs: dict[int, list[int]] = {}
        for principal, by_host in self.table.slots.items():
            if principal not in principals and principal != ANY_USER:
                continue
            for host, slot in by_host.items():
                if principal == ANY_USER and host in hosts:
                    for_any_user[hosts[host]] = self._number(slot)
                if principal in principals and host == WILDCARD:
                    on_any_host[principals[principal]] = self._number(slot)
                elif principal in principals and host in hosts:
                    pairs[principals[principal] * len(hosts) + hosts[host]] = [self._number(slot)]
        yield _where_any(on_any_host[asked.principal_codes])
        yield _where_any(for_any_user[asked.host_codes])
        asked_pairs = asked.principal_codes * len(hosts) + asked.host_codes
        for pair, slot in self._in_ranges(asked_pairs):
            pairs.setdefault(pair, []).append(self._number(slot))
        while pairs:
            keys = np.array(sorted(pairs), np.int64)
            numbers = np.array([pairs[key].pop() for key in keys.tolist()], np.int64)
            places = np.minimum(np.searchsorted(keys, asked_pairs), len(keys) - 1)
            rows = np.flatnonzero(keys[places] == asked_pairs)
            yield rows, numbers[places[rows]]
            pairs = {pair: left for pair, left in pairs.items() if left}

    def _in_ranges(self, asked_pairs: Places) -> Iterator[tuple[int, Slot]]:
        """Yield each asked principal and host with the slots of the address ranges that hold the host."""
        ranges = self.table.ranges if matching_of(self.settings).reads_ranges else {}
        if not ranges:
            return
        hosts = self.asked.hosts
        everyone = ranges.get(ANY_USER)
        for pair in np.unique(asked_pairs).tolist():
            own = ranges.get(self.asked.principals[pair // len(hosts)])
            for table in {id(found): found for found in (own, everyone) if found is not None}.values():
                for slot in table.holding(hosts[pair % len(hosts)]):
                    yield pair, slot

    def _number(self, slot: Slot) -> int:
        number = self.numbers.get(id(slot))
        if number is None:
            number = self.numbers[id(slot)] = len(self.slots)
            self.slots.append(slot)
        return number


class _Flat:
    """Slots side by side: slot number and place of a name together are one number to look up."""

    def __init__(self, slots: Sequence[Slot], asked: _Asked, settings: AuthorizerSettings) -> None:
        self.names, self.settings, self.size = asked.names, settings, len(asked.names)
        self.place = asked.place
        self.slots = slots
        self.wild = np.array([slot.wild for slot in slots], np.uint64)
        self.empty = np.array([slot.empty for slot in slots], np.uint64)
        self._make_literals()
        self._make_runs()

    def of_many(self, numbers: Places, ranks: Places) -> Masks:
        """Return the mask that each of these slots has for a name."""
        masks: Masks = self.run_masks[
            np.searchsorted(self.run_keys, numbers * (self.size + 1) + ranks, side="right") - 1
        ]
        if len(self.literal_keys):
            keys = numbers * self.size + ranks
            places = np.minimum(np.searchsorted(self.literal_keys, keys), len(self.literal_keys) - 1)
            masks = masks | np.where(
                self.literal_keys[places] == keys, self.literal_masks[places], np.uint64(0)
            )
        if self.wild.any():
            masks |= np.where(self.under_wildcard[ranks], self.wild[numbers], np.uint64(0))
        if self.empty.any():
            masks |= np.where(self.under_empty_prefix[ranks], self.empty[numbers], np.uint64(0))
        return masks

    def of_one(self, number: int) -> Masks:
        """Return a slot's mask for every name."""
        if number < 0:
            return np.zeros(self.size, np.uint64)
        return self.of_many(np.full(self.size, number, np.int64), np.arange(self.size))

    def covered(self, cover: Cover) -> NDArray[np.bool_]:
        """Return for every name whether a pattern covers it."""
        if len(cover.prefixes) > self.size:
            return np.fromiter(
                (cover.covers(name, self.settings) for name in self.names), np.bool_, self.size
            )
        found = np.fromiter(map(cover.literals.__contains__, self.names), np.bool_, self.size)
        for prefix in cover.prefixes:
            start, end = self.names.range_of(prefix)
            found[start:end] = True
        if cover.wild:
            found |= self.under_wildcard
        if cover.empty:
            found |= self.under_empty_prefix
        return found

    @computed_once
    def under_wildcard(self) -> NDArray[np.bool_]:
        return np.fromiter((wildcard_covers(name, self.settings) for name in self.names), np.bool_, self.size)

    @computed_once
    def under_empty_prefix(self) -> NDArray[np.bool_]:
        return np.fromiter(
            (empty_prefix_covers(name, self.settings) for name in self.names), np.bool_, self.size
        )

    def _make_literals(self) -> None:
        texts: list[str] = []
        given: list[int] = []
        for slot in self.slots:
            texts += slot.literals
            given += slot.literals.values()
        lengths = [len(slot.literals) for slot in self.slots]
        numbers = np.repeat(np.arange(len(self.slots)), lengths)
        places = np.array([self.place.get(text, -1) for text in texts], np.int64)
        known = places >= 0
        keys = (numbers * self.size + places)[known]
        order = np.argsort(keys)
        self.literal_keys = keys[order]
        self.literal_masks = np.array(given, np.uint64)[known][order]

    def _make_runs(self) -> None:
        """Make of each slot's nested ranges the places where its mask changes, from place 0 on."""
        prefixes: list[str] = []
        given: list[int] = []
        above: list[int] = []
        for slot in self.slots:
            prefixes += slot.prefixes
            given += slot.masks
            above += slot.parents
        lengths = [len(slot.prefixes) for slot in self.slots]
        numbers = np.repeat(np.arange(len(self.slots)), lengths)
        offsets = np.repeat(np.cumsum([0, *lengths])[:-1], lengths)
        known = {prefix: self.names.range_of(prefix) for prefix in set(prefixes)}
        ends = np.array([known[prefix] for prefix in prefixes], np.int64).reshape(-1, 2)
        masks, parents = np.array(given, np.uint64), np.array(above, np.int64)
        outside = np.where(parents >= 0, masks[parents + offsets], np.uint64(0)) if len(masks) else masks
        holds = ends[:, 0] < ends[:, 1]
        base = numbers[holds] * (self.size + 1)
        # Of several changes at one place the last one counts: ranges end before others begin, the
        # inner ones first, and begin with the outer ones first.
        keys = np.concatenate(
            [
                np.arange(len(self.slots)) * (self.size + 1),
                (base + ends[holds, 1])[::-1],
                base + ends[holds, 0],
            ]
        )
        values = np.concatenate([np.zeros(len(self.slots), np.uint64), outside[holds][::-1], masks[holds]])
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        self.run_keys, self.run_masks = keys[last], values[last]


def _flags(column: Column, values: Sequence[bool]) -> NDArray[np.bool_]:
    """Return for each row what holds for its value."""
    return np.array(values, np.bool_)[column.codes] if any(values) else np.zeros(len(column), np.bool_)


def _where_any(numbers: Places) -> tuple[Places, Places]:
    rows = np.flatnonzero(numbers >= 0)
    return rows, numbers[rows]


def _decide_each(
    requests: Requests, rows: Places, index: AclIndex, settings: AuthorizerSettings, bases: NDArray[np.uint8]
) -> None:
    """Ask `decide` about these rows, once for equal ones."""
    known: dict[tuple[int, ...], int] = {}
    columns = (
        requests.principals,
        requests.hosts,
        requests.operations,
        requests.resource_types,
        requests.names,
    )
    for place, *codes in zip(
        rows.tolist(), *(column.codes[rows].tolist() for column in columns), strict=True
    ):
        key = tuple(codes)
        code = known.get(key)
        if code is None:
            code = known[key] = CODES[decide(requests.row(place), index, settings)[1]]
        bases[place] = code
