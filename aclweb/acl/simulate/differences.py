"""An impact as it is kept, shown and compared: differences by kind, with the operations and names that share them.

Reads like the JSON of `python -m aclweb.acl whatif`, whose entries are made one by one when they
are asked for: an ACL for every topic differs on each of fifty thousand in the same way, and that
is one row here. `packed` and `unpacked` keep it in a database.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar, overload

from aclweb.acl.model import AclBinding, AclError, ResourceType
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.simulate.axes import EXACT, NameAxis, NameClass, NameSet, Renumbering, runs_of, set_of_runs
from aclweb.acl.simulate.impact import LISTS, Group, Impact, Side, entries_of
from aclweb.acl.simulate.meaning import Answer, Meaning, Met

FORMAT = 2
_FORMAT_BY_NAME = 1

_T = TypeVar("_T")

Name = NameClass
KeptSide = tuple[str, str, tuple[int, ...]]  # result, basis, and the places of the determining ACLs
_FIELDS = tuple(AclBinding.__slots__)


class Row(NamedTuple):
    """What differs alike for several operations and names. before: -1 for new names; sides by place."""

    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    operations: tuple[str, ...]
    resource_type: str
    names: NameSet
    before: int
    after: int
    reason: str | None

    @property
    def cells(self) -> int:
        return len(self.operations) * len(self.names)


class Listed(Sequence[_T], Generic[_T]):
    """A sequence whose length is known and whose members are made when they are asked for."""

    def __init__(self, length: int, members: Callable[[], Iterator[_T]]) -> None:
        self._length, self._members = length, members

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[_T]:
        return self._members()

    @overload
    def __getitem__(self, place: int) -> _T: ...

    @overload
    def __getitem__(self, place: slice) -> list[_T]: ...

    def __getitem__(self, place: int | slice) -> _T | list[_T]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._length)
            return list(islice(self, start, stop, step))
        if not -self._length <= place < self._length:
            raise IndexError(place)
        return next(islice(self, place % self._length, None))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Listed | list | tuple):
            return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Differences(Mapping[str, Any]):
    """An impact by kinds of difference. As a mapping it has the keys of the what-if's JSON.

    rows: for each list of the impact. acls: each determining ACL once. resources: type and name.
    """

    def __init__(
        self,
        *,
        rows: Mapping[str, Sequence[Row]],
        sides: Sequence[KeptSide],
        acls: Sequence[Mapping[str, str]],
        unchanged: int,
        resources: Sequence[Name],
        warnings: Sequence[str],
    ) -> None:
        self.rows, self.sides, self.acls = rows, sides, acls
        self.unchanged, self.resources, self.warnings = unchanged, resources, tuple(warnings)
        # What readers worked out of it, to be kept as long as it is.
        self.memo: dict[Any, Any] = {}
        self.counts: Mapping[str, int] = {name: sum(row.cells for row in rows[name]) for name in LISTS}

    @classmethod
    def of(cls, impact: Impact) -> Differences:
        """Return the groups of an impact, over the names alone on which something differs."""
        table, axes = _Table(), impact.axes
        named = _NameSets(impact)
        rows: dict[str, list[Row]] = {name: [] for name in LISTS}
        for group in impact.groups:
            names = named.of(group)
            operations = table.shared(tuple(operation.name for operation in group.operations))
            for principal, less, _ in entries_of(axes.principals, group.principals):
                for host, less_hosts, _ in entries_of(axes.hosts, group.hosts):
                    rows[group.change].append(
                        Row(
                            principal,
                            host,
                            less,
                            less_hosts,
                            operations,
                            group.resource_type.name,
                            names,
                            -1 if group.before is None else table.side(group.before),
                            table.side(group.after),
                            group.reason,
                        )
                    )
        return cls(
            rows=rows,
            sides=table.sides,
            acls=table.acls,
            unchanged=impact.unchanged,
            resources=[(resource.resource_type.name, resource.name) for resource in impact.resources],
            warnings=impact.warnings,
        )

    @classmethod
    def of_entries(cls, told: Mapping[str, Any]) -> Differences:
        """Return what the JSON of a what-if says, as older versions of aclweb stored it."""
        table = _Table()
        alike: dict[tuple[Any, ...], list[Name]] = {}
        for change in LISTS:
            for entry in told.get(change, ()):
                excepted = entry.get("except") or {}
                before = entry["before"]
                key = (
                    change,
                    entry["principal"],
                    entry["host"],
                    tuple(excepted.get("principals", ())),
                    tuple(excepted.get("hosts", ())),
                    entry["operation"],
                    entry["resource_type"],
                    -1 if before is None else table.side_in_words(before),
                    table.side_in_words(entry["after"]),
                    entry.get("reason"),
                )
                alike.setdefault(key, []).append((entry["names"]["kind"], entry["names"]["text"]))
        rows: dict[str, list[Row]] = {change: [] for change in LISTS}
        sets = _spelled_out([(key[6], names) for key, names in alike.items()])
        for key, names in zip(alike, sets, strict=True):
            change, who, where, less, less_hosts, operation, kind, before, after, reason = key
            row = Row(who, where, less, less_hosts, (operation,), kind, names, before, after, reason)
            rows[change].append(row)
        return cls(
            rows=rows,
            sides=table.sides,
            acls=table.acls,
            unchanged=told.get("unchanged", 0),
            resources=[(each["resource_type"], each["resource_name"]) for each in told.get("resources", ())],
            warnings=told.get("warnings", ()),
        )

    @property
    def weight(self) -> int:
        """About how many bytes of memory this takes."""
        rows = [row for found in self.rows.values() for row in found]
        names = {id(row.names): row.names for row in rows}.values()
        axes = {id(each.axis): each.axis for each in names}.values()
        return (
            300 * (len(rows) + len(self.acls))
            + sum(each.weight for each in names)
            + 120 * (sum(axis.size for axis in axes) + len(self.resources))
        )

    # The JSON of a what-if.

    def __getitem__(self, key: str) -> Any:
        if key in self.rows:
            return Listed(self.counts[key], lambda: self._entries(key))
        if key == "unchanged":
            return self.unchanged
        if key == "resources":
            return Listed(len(self.resources), self._resources)
        if key == "warnings":
            return list(self.warnings)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter((*LISTS, "unchanged", "resources", "warnings"))

    def __len__(self) -> int:
        return len(LISTS) + 3

    def side(self, place: int) -> dict[str, Any] | None:
        """Return one answer in the words of the JSON; None for the place of none."""
        if place < 0:
            return None
        result, basis, acls = self.sides[place]
        return {"result": result, "basis": basis, "determining": [dict(self.acls[acl]) for acl in acls]}

    def bindings(self, place: int, most: int) -> tuple[tuple[AclBinding, ...], int]:
        """Return the first determining ACLs of an answer, and how many there are."""
        acls = self.sides[place][2]
        return tuple(binding_from_dict(self.acls[acl]) for acl in acls[:most]), len(acls)

    def _entries(self, change: str) -> Iterator[dict[str, Any]]:
        sides: dict[int, dict[str, Any] | None] = {}
        for row in self.rows[change]:
            for place in (row.before, row.after):
                if place not in sides:
                    sides[place] = self.side(place)
            for kind, text in row.names:
                for operation in row.operations:
                    yield self._entry(row, kind, text, operation, sides)

    def _entry(
        self, row: Row, kind: str, text: str, operation: str, sides: Mapping[int, dict[str, Any] | None]
    ) -> dict[str, Any]:
        entry: dict[str, Any] = {"principal": row.principal, "host": row.host}
        if row.except_principals or row.except_hosts:
            entry["except"] = {"principals": list(row.except_principals), "hosts": list(row.except_hosts)}
        entry |= {
            "operation": operation,
            "resource_type": row.resource_type,
            "resource_name": text if kind == EXACT else None,
            "names": {"kind": kind, "text": text},
            "before": sides[row.before],
            "after": sides[row.after],
        }
        if row.reason is not None:
            entry["reason"] = row.reason
        return entry

    def _resources(self) -> Iterator[dict[str, str]]:
        return ({"resource_type": kind, "resource_name": name} for kind, name in self.resources)

    # Comparing two.

    def meaning(self, changes: Iterable[str]) -> Meaning:
        """Return which answers differ, equal for impacts that mean the same. changes: the lists that count."""
        return Meaning(
            Met(
                Answer(
                    change,
                    operation,
                    row.resource_type,
                    None if row.before < 0 else self.sides[row.before][0],
                    self.sides[row.after][0],
                ),
                row.principal,
                row.host,
                row.except_principals,
                row.except_hosts,
                row.names,
            )
            for change in changes
            for row in self.rows[change]
            for operation in row.operations
        )

    def digest(self, changes: Iterable[str]) -> str:
        """Return the SHA-256 of what the impact means."""
        return self.meaning(changes).digest()

    # Keeping it.

    def packed(self) -> bytes:
        """Return this as compressed JSON in ASCII, which any database can hold."""
        axes: dict[int, tuple[int, NameAxis]] = {}
        names: dict[int, tuple[int, object]] = {}
        rows: dict[str, list[list[object]]] = {change: [] for change in self.rows}
        for change, found in self.rows.items():
            for row in found:
                own = row.names
                if id(own) not in names:
                    axis, _ = axes.setdefault(id(own.axis), (len(axes), own.axis))
                    names[id(own)] = (len(names), [axis, *_steps(own.members)])
                rows[change].append([*row[:6], names[id(own)][0], *row[7:]])
        told = {
            "format": FORMAT,
            "rows": rows,
            "axes": [
                [list(axis.exact), list(axis.prefixes), list(axis.patterns), axis.has_any_other]
                for _, axis in axes.values()
            ],
            "names": [steps for _, steps in names.values()],
            "sides": self.sides,
            "acls": [[acl[field] for field in _FIELDS] for acl in self.acls],
            "unchanged": self.unchanged,
            "resources": self.resources,
            "warnings": self.warnings,
        }
        return zlib.compress(json.dumps(told, separators=(",", ":")).encode("ascii"), 4)

    @classmethod
    def unpacked(cls, data: bytes) -> Differences:
        """Return what `packed` was made of, now or by an older version. Raises AclError for another format."""
        told = json.loads(zlib.decompress(data))
        if told.get("format") not in (FORMAT, _FORMAT_BY_NAME):
            raise AclError(
                f"This impact was stored in format {told.get('format')!r}, and this version of aclweb reads "
                f"{FORMAT}; it was written by a newer one."
            )
        names = _names_by_name(told) if told["format"] == _FORMAT_BY_NAME else _names_by_place(told)
        operations: dict[tuple[str, ...], tuple[str, ...]] = {}
        rows = {
            change: [
                Row(
                    row[0],
                    row[1],
                    tuple(row[2]),
                    tuple(row[3]),
                    operations.setdefault(tuple(row[4]), tuple(row[4])),
                    row[5],
                    names[row[6]],
                    row[7],
                    row[8],
                    row[9],
                )
                for row in told["rows"][change]
            ]
            for change in LISTS
        }
        return cls(
            rows=rows,
            sides=[(result, basis, tuple(acls)) for result, basis, acls in told["sides"]],
            acls=[dict(zip(_FIELDS, acl, strict=True)) for acl in told["acls"]],
            unchanged=told["unchanged"],
            resources=[(kind, name) for kind, name in told["resources"]],
            warnings=told["warnings"],
        )


def _steps(members: int) -> Iterator[int]:
    """Yield how far it is from the end of one run of a set to the start of the next, and to its end, in turn."""
    at = 0
    for start, end in runs_of(members):
        yield start - at
        yield end - start
        at = end


def _set_by_steps(steps: Sequence[int]) -> int:
    runs, at = [], 0
    for gap, length in zip(steps[::2], steps[1::2], strict=True):
        start = at + gap
        at = start + length
        runs.append((start, at))
    return set_of_runs(runs)


def _names_by_place(told: Mapping[str, Any]) -> list[NameSet]:
    axes = [NameAxis(exact, prefixes, patterns, other) for exact, prefixes, patterns, other in told["axes"]]
    return [NameSet(axes[axis], _set_by_steps(steps)) for axis, *steps in told["names"]]


def _names_by_name(told: Mapping[str, Any]) -> list[NameSet]:
    """Return the sets of names as versions of aclweb before 1.0 stored them, each name spelled out."""
    types = {row[6]: row[5] for rows in told["rows"].values() for row in rows}
    return _spelled_out([(types[place], group) for place, group in enumerate(told["names"])])


def _spelled_out(named: Sequence[tuple[str, Iterable[Sequence[str]]]]) -> list[NameSet]:
    """Return sets of names from kinds and texts, given with their resource types."""
    found = [(kind, {(each[0], each[1]) for each in names}) for kind, names in named]
    joined: dict[str, set[Name]] = {}
    for kind, names in found:
        joined.setdefault(kind, set()).update(names)
    axes = {kind: NameAxis.of(names) for kind, names in joined.items()}
    return [NameSet(axes[kind], axes[kind].set_of(names)) for kind, names in found]


class _NameSets:
    """The sets of names of an impact, equal ones once, over the names alone that are in any."""

    def __init__(self, impact: Impact) -> None:
        kept: dict[ResourceType, int] = {}
        for group in impact.groups:
            kept[group.resource_type] = kept.get(group.resource_type, 0) | group.names
        self._axes = {kind: impact.axes.names[kind].cut_to(names) for kind, names in kept.items()}
        self._numbers = {kind: Renumbering(names) for kind, names in kept.items()}
        self._made: dict[tuple[ResourceType, int], NameSet] = {}

    def of(self, group: Group) -> NameSet:
        """Return the names of a group."""
        key = (group.resource_type, group.names)
        found = self._made.get(key)
        if found is None:
            members = self._numbers[group.resource_type].of(group.names)
            found = self._made[key] = NameSet(self._axes[group.resource_type], members)
        return found


class _Table:
    """Numbers each side and each ACL once."""

    def __init__(self) -> None:
        self.sides: list[KeptSide] = []
        self.acls: list[Mapping[str, str]] = []
        self._sides: dict[Side, int] = {}
        self._told: dict[str, int] = {}
        self._acls: dict[tuple[str, ...], int] = {}
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def shared(self, operations: tuple[str, ...]) -> tuple[str, ...]:
        return self._shared.setdefault(operations, operations)

    def side(self, side: Side) -> int:
        found = self._sides.get(side)
        if found is None:
            found = self._sides[side] = len(self.sides)
            acls = tuple(self._acl(binding.as_dict()) for binding in side.determining)
            self.sides.append((side.result.value, side.basis.value, acls))
        return found

    def side_in_words(self, side: Mapping[str, Any]) -> int:
        text = json.dumps(side, sort_keys=True)
        found = self._told.get(text)
        if found is None:
            found = self._told[text] = len(self.sides)
            self.sides.append((side["result"], side["basis"], tuple(map(self._acl, side["determining"]))))
        return found

    def _acl(self, acl: Mapping[str, str]) -> int:
        key = tuple(acl[field] for field in _FIELDS)
        found = self._acls.get(key)
        if found is None:
            found = self._acls[key] = len(self.acls)
            self.acls.append(dict(acl))
        return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
