"""Store the requests of a result: only those that are new, totals that changed, and days that changed.

The result is read twice, a batch of requests at a time: the first time to store requests and totals and to learn
which days differ from those of the load before, the second time to store the days that do.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from aclweb.insights.denial_groups import Groups
from aclweb.insights.models import DaySet, Load, LoggedRequest, RequestDay, RequestTotals
from aclweb.insights.requests import NEWEST_DAYS, key_of, principal_key, requests_of, resource_key
from aclweb.insights.result import Result, in_utc
from aclweb.insights.staging import close, step
from aclweb.inventory.store import insert

WINDOWS = (7, 30, 90)
"""Days, up to the last one of the log, of which the lines are kept as a total."""

_REQUESTS_AT_ONCE = 5_000
_DAY_ROWS_AT_ONCE = 20_000  # some hundredths of a second of SQLite's lock
_KEYS_AT_ONCE = 500
_NAMES = ("principal", "host", "operation", "resource_type", "resource_name", "allowed")
_COLUMNS = (*_NAMES, "lines", "first_at", "last_at", "api_names", "days", "sample", "decided_now")
_REQUEST_FIELDS = ("cluster", "key", *_NAMES, "principal_key", "resource_key")
_TOTALS_FIELDS = (
    *("cluster", "request", "added_in", "digest", "lines"),
    *(f"lines_{days}" for days in WINDOWS),
    *("first_at", "last_at", "api_names", "sample", "decided_now"),
)

_MOST_SUMS = 2_000_000  # of a group and a day, in memory
_EPOCH = date(1970, 1, 1)

# (day, lines), in order
Days = list[tuple[str, int]]


@dataclass
class Learned:
    """What the requests tell beside themselves.

    groups: of the denials. acl_days: by the key of an ACL, how many requests it settled on each day.
    """

    groups: Groups = field(default_factory=Groups)
    acl_days: Mapping[str, Days] = field(default_factory=dict)


def store_requests(fresh: Load, result: Result, *, base: Load | None) -> Learned:
    """Store what the requests of a result have that `base`, the load before, has not; return what they tell."""
    return _Storing(fresh, result, base).run()


class _Storing:
    """One load of the requests of one result."""

    def __init__(self, fresh: Load, result: Result, base: Load | None) -> None:
        self._fresh, self._result, self._base = fresh, result, base
        self._numbers = dict(
            LoggedRequest.objects.filter(cluster=fresh.cluster_id).values_list("key", "pk").iterator()
        )
        # By the number of a request: the row of its totals and their digest.
        self._before: dict[int, tuple[int, int]] = {}
        if base is not None:
            rows = requests_of(base).values_list("request_id", "pk", "digest")
            self._before = {request: (pk, digest) for request, pk, digest in rows.iterator()}
        self._order = array("q")  # the number of each request of the result
        self._closed: list[int] = []
        self._days = _DayDigests()
        self._uses = _UsesByDay()
        self._learned = Learned()

    def run(self) -> Learned:
        available = set(self._columns())
        asked = [name for name in (*_COLUMNS, "determining") if name in available]
        for batch in self._result.batches("requests", _REQUESTS_AT_ONCE, asked):
            self._add(batch)
        self._closed += [pk for pk, _ in self._before.values()]
        close(self._fresh, self._closed)
        self._store_days()
        self._learned.acl_days = self._uses.by_acl()
        return self._learned

    def _columns(self) -> Sequence[str]:
        return self._result.columns("requests")

    # --- Requests and totals ---

    def _add(self, batch: Any) -> None:
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names if name != "days"}
        numbers = self._numbered(columns)
        self._order.extend(numbers)
        exploded = _Exploded.of(batch, self._fresh.last_at)
        self._days.add(exploded, numbers)
        if "determining" in columns:
            self._uses.add(exploded, columns)
        self._add_denials(columns, exploded)
        self._store_totals(numbers, columns, exploded)

    def _numbered(self, columns: Mapping[str, list[Any]]) -> list[int]:
        """Return the number of each request of a batch; those that are new are stored."""
        names = list(zip(*(columns[name] for name in _NAMES), strict=True))
        keys = [key_of(*each) for each in names]
        new = {key: each for key, each in zip(keys, names, strict=True) if key not in self._numbers}
        if new:
            cluster = self._fresh.cluster_id
            rows = [
                (cluster, key, *each, principal_key(each[0]), resource_key(each[3], each[4]))
                for key, each in new.items()
            ]
            with step(self._fresh):
                insert(LoggedRequest, _REQUEST_FIELDS, rows)
            wanted = list(new)
            for start in range(0, len(wanted), _KEYS_AT_ONCE):
                some = LoggedRequest.objects.filter(
                    cluster=cluster, key__in=wanted[start : start + _KEYS_AT_ONCE]
                )
                self._numbers.update(some.values_list("key", "pk"))
        return [self._numbers[key] for key in keys]

    def _store_totals(
        self, numbers: list[int], columns: Mapping[str, list[Any]], exploded: _Exploded
    ) -> None:
        """Store the totals of a batch that are not as they were."""
        windows = [exploded.lines_of_last(days) for days in WINDOWS]
        rows = []
        told = zip(
            numbers,
            columns["allowed"],
            columns["lines"],
            *windows,
            columns["first_at"],
            columns["last_at"],
            columns["api_names"],
            columns["sample"],
            columns["decided_now"],
            strict=True,
        )
        for number, allowed, *facts, first_at, last_at, api_names, sample, decided_now in told:
            # Of a permit nobody asks for the record.
            values = (*facts, in_utc(first_at), in_utc(last_at), api_names, "" if allowed else sample or "")
            values = (*values, decided_now)
            digest = _digest(values)
            pk, before = self._before.pop(number, (None, None))
            if before == digest:
                continue
            if pk is not None:
                self._closed.append(pk)
            rows.append((self._fresh.cluster_id, number, self._fresh.pk, digest, *values))
        if rows:
            with step(self._fresh):
                insert(RequestTotals, _TOTALS_FIELDS, rows)

    def _add_denials(self, columns: Mapping[str, list[Any]], exploded: _Exploded) -> None:
        denied = [place for place, allowed in enumerate(columns["allowed"]) if not allowed]
        days = exploded.days_of(denied)
        for place in denied:
            self._learned.groups.add(
                tuple(columns[name][place] for name in ("principal", *_NAMES[2:5])),
                host=columns["host"][place],
                lines=columns["lines"][place],
                first_at=in_utc(columns["first_at"][place]),
                last_at=in_utc(columns["last_at"][place]),
                days=days.get(place, ()),
            )

    # --- Days ---

    def _store_days(self) -> None:
        digests = self._days.digests()
        kept: dict[int, int] = {}
        if self._base is not None:
            for pk, day, digest in self._base.day_sets.values_list("pk", "day", "digest"):
                number = (day - _EPOCH).days
                if digests.get(number) == digest:
                    kept[number] = pk
        changed = [day for day in digests if day not in kept]
        with step(self._fresh):
            made = [
                DaySet.objects.create(
                    cluster_id=self._fresh.cluster_id, day=_EPOCH + timedelta(days=day), digest=digests[day]
                )
                for day in changed
            ]
            self._fresh.day_sets.add(*kept.values(), *made)
        if not changed:
            return
        for rows in self._rows_of({day: each.pk for day, each in zip(changed, made, strict=True)}):
            with step(self._fresh):
                insert(RequestDay, ("day_set", "request", "lines"), rows)

    def _rows_of(self, sets: Mapping[int, int]) -> Iterator[list[tuple[int, int, int]]]:
        """Yield the rows of these days, so many as one transaction stores."""
        waiting: list[tuple[int, int, int]] = []
        begun = 0
        for batch in self._result.batches("requests", _REQUESTS_AT_ONCE, ["days"]):
            numbers = self._order[begun : begun + batch.num_rows]
            begun += batch.num_rows
            exploded = _Exploded.of(batch, self._fresh.last_at).only(list(sets))
            for day, of_day, lines in exploded.by_day(numbers):
                waiting += zip([sets[day]] * len(of_day), of_day.to_pylist(), lines.to_pylist(), strict=True)
                if len(waiting) >= _DAY_ROWS_AT_ONCE:
                    yield waiting
                    waiting = []
        if waiting:
            yield waiting


class _Exploded:
    """A row for each request of a batch and day: the place of the request, the day, and the lines.

    Days are counted from 1970 on; `_word_of` turns them into text.
    """

    def __init__(self, table: Any, count: int, last: date | None) -> None:
        self._table, self._count, self._last = table, count, last

    @classmethod
    def of(cls, batch: Any, log_end: datetime | None) -> _Exploded:
        """Return the rows of the last days of the log; without a time there is none."""
        import pyarrow as pa  # noqa: PLC0415 - the site has no pyarrow
        import pyarrow.compute as pc  # noqa: PLC0415

        days = batch.column("days")
        flat = pc.list_flatten(days)
        last = log_end.date() if log_end else None
        table = pa.table(
            {
                "place": pc.list_parent_indices(days),
                "day": pc.struct_field(flat, "day").cast(pa.date32()).cast(pa.int32()),
                "lines": pc.struct_field(flat, "lines"),
            }
        )
        is_kept = (pc.field("day") >= _begin(last, NEWEST_DAYS)) & (pc.field("day") < _begin(last, 0))
        return cls(table.filter(is_kept), batch.num_rows, last)

    def only(self, days: Collection[int]) -> _Exploded:
        """Return the rows of these days."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        wanted = pc.is_in(self._table["day"], pa.array(days, pa.int32()))
        return _Exploded(self._table.filter(wanted), self._count, self._last)

    def lines_of_last(self, days: int) -> list[int]:
        """Return the lines of each request in so many last days."""
        import pyarrow.compute as pc  # noqa: PLC0415

        lately = self._table.filter(pc.field("day") >= _begin(self._last, days))
        sums = lately.group_by("place").aggregate([("lines", "sum")])
        found = [0] * self._count
        for place, lines in zip(sums["place"].to_pylist(), sums["lines_sum"].to_pylist(), strict=True):
            found[place] = lines
        return found

    def days_of(self, places: Sequence[int]) -> dict[int, Days]:
        """Return the days of these requests."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        if not places:
            return {}
        wanted = pc.is_in(self._table["place"], pa.array(places, self._table["place"].type))
        table = self._table.filter(wanted)
        found: dict[int, Days] = defaultdict(list)
        for place, day, lines in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
            found[place].append((_word_of(day), lines))
        return found

    def by_day(self, numbers: Sequence[int]) -> Iterator[tuple[int, Any, Any]]:
        """Yield each day with the numbers of its requests and with their lines, two arrays in the same order."""
        table = self._with("number", numbers).sort_by([("day", "ascending"), ("place", "ascending")])
        begun = 0
        for each in table["day"].value_counts().to_pylist():
            rows = table.slice(begun, each["counts"])
            begun += each["counts"]
            yield each["values"], rows["number"].combine_chunks(), rows["lines"].combine_chunks()

    def by_group(self, groups: Sequence[int | None]) -> Any:
        """Return a table of the lines of each group of requests and day; groups: that of each, None for none."""
        import pyarrow.compute as pc  # noqa: PLC0415

        table = self._with("group", groups).filter(pc.field("group").is_valid())
        return _summed(table)

    def _with(self, name: str, of_requests: Sequence[int | None]) -> Any:
        """Return the rows with one more column, what is given for their requests."""
        import pyarrow as pa  # noqa: PLC0415

        values = pa.array(of_requests, pa.int64())
        return self._table.append_column(name, values.take(self._table["place"].combine_chunks()))


class _DayDigests:
    """What is on each day, as a word that is the same while the rows of the day are."""

    def __init__(self) -> None:
        self._hashes: dict[int, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=16))

    def add(self, exploded: _Exploded, numbers: Sequence[int]) -> None:
        for day, of_day, lines in exploded.by_day(numbers):
            for values in (of_day, lines):
                _, data = values.buffers()
                width = values.type.bit_width // 8
                begin = values.offset * width
                self._hashes[day].update(memoryview(data)[begin : begin + len(values) * width])

    def digests(self) -> dict[int, str]:
        """Return the word of each day, in order."""
        return {day: found.hexdigest() for day, found in sorted(self._hashes.items())}


class _UsesByDay:
    """How many requests each ACL settled on each day: requests that the same ACLs settle are added first."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, ...], int] = {}
        self._tables: list[Any] = []

    def add(self, exploded: _Exploded, columns: Mapping[str, list[Any]]) -> None:
        told = zip(columns["determining"], columns["allowed"], columns["decided_now"], strict=True)
        groups: list[int | None] = []
        for determining, allowed, decided_now in told:
            # Where the ACLs answer otherwise than the log, they have changed since, and settled nothing then.
            settled = determining and (decided_now == "ALLOWED") == allowed
            group = self._groups.setdefault(tuple(determining), len(self._groups)) if settled else None
            groups.append(group)
        self._tables.append(exploded.by_group(groups))
        if sum(table.num_rows for table in self._tables) > _MOST_SUMS:
            self._tables = [self._whole()]

    def by_acl(self) -> dict[str, Days]:
        """Return the days of each ACL, in order."""
        if not self._tables:
            return {}
        of_acl: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        keys = list(self._groups)
        table = self._whole()
        for group, day, lines in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
            for key in keys[group]:
                of_acl[key][day] += lines
        return {
            key: [(_word_of(day), lines) for day, lines in sorted(days.items())]
            for key, days in of_acl.items()
        }

    def _whole(self) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        return _summed(pa.concat_tables(self._tables))


def _summed(table: Any) -> Any:
    """Return group, day and lines of a table with the lines of each group and day added."""
    sums = table.group_by(["group", "day"]).aggregate([("lines", "sum")])
    return sums.rename_columns(["group", "day", "lines"])


def _begin(last: date | None, days: int) -> int:
    """Return the first of so many days up to the last one; without a last one no day is in any window."""
    return ((last or date.max) - _EPOCH).days - days + 1


@cache
def _word_of(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def _digest(values: tuple[Any, ...]) -> int:
    told = repr(values).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big", signed=True)
