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

from aclweb.acl.model import AclBinding, AclError
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.simulate.classes import EXACT
from aclweb.acl.simulate.impact import LISTS, Impact, Part, Side

FORMAT = 1

_T = TypeVar("_T")

Name = tuple[str, str]  # kind and text, as of a `Spot`
Answer = tuple[str, str, tuple[int, ...]]  # result, basis, and the places of the determining ACLs
_FIELDS = tuple(AclBinding.__slots__)


class Row(NamedTuple):
    """What differs alike for several operations and names. before: -1 for new names; sides by place."""

    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    operations: tuple[str, ...]
    resource_type: str
    names: tuple[Name, ...]
    before: int
    after: int
    reason: str | None

    @property
    def cells(self) -> int:
        return len(self.operations) * len(self.names)


class Decision(NamedTuple):
    """One kind of answer that differs, without which ACLs give it."""

    change: str
    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    operation: str
    resource_type: str
    before: str | None
    after: str


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
        sides: Sequence[Answer],
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
        """Return the impact with operations and names that have equal outcomes put together."""
        table = _Table()
        sharing: dict[int, tuple[tuple[Part, ...], str, list[Name]]] = {}
        for spot, parts in impact.places:
            found = sharing.get(id(parts))
            if found is None:
                found = sharing[id(parts)] = (parts, spot.resource_type.name, [])
            found[2].append((spot.kind, spot.text))
        rows: dict[str, list[Row]] = {name: [] for name in LISTS}
        for parts, resource_type, names in sharing.values():
            alike: dict[tuple[object, ...], list[Part]] = {}
            for part in parts:
                outcome = part.outcome
                key = (
                    outcome.change,
                    part.principal,
                    part.host,
                    part.except_principals,
                    part.except_hosts,
                    id(outcome.before),
                    id(outcome.after),
                    outcome.reason,
                )
                alike.setdefault(key, []).append(part)
            shared = tuple(names)
            for same in alike.values():
                first, outcome = same[0], same[0].outcome
                rows[outcome.change].append(
                    Row(
                        first.principal,
                        first.host,
                        first.except_principals,
                        first.except_hosts,
                        table.shared(tuple(part.operation.name for part in same)),
                        resource_type,
                        shared,
                        -1 if outcome.before is None else table.side(outcome.before),
                        table.side(outcome.after),
                        outcome.reason,
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
        rows: dict[str, list[Row]] = {}
        for change in LISTS:
            alike: dict[tuple[object, ...], tuple[list[str], list[Name]]] = {}
            for entry in told.get(change, ()):
                excepted = entry.get("except") or {}
                before = entry["before"]
                key = (
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
                found = alike.setdefault(key, ([], []))
                found[1].append((entry["names"]["kind"], entry["names"]["text"]))
            rows[change] = [
                Row(key[0], key[1], key[2], key[3], (key[4],), key[5], tuple(names), key[6], key[7], key[8])  # type: ignore[arg-type]
                for key, (_, names) in alike.items()
            ]
        return cls(
            rows=rows,
            sides=table.sides,
            acls=table.acls,
            unchanged=told.get("unchanged", 0),
            resources=[(each["resource_type"], each["resource_name"]) for each in told.get("resources", ())],
            warnings=told.get("warnings", ()),
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

    def decisions(self, changes: Iterable[str]) -> dict[Decision, frozenset[Name]]:
        """Return on which names each kind of answer differs: equal for impacts that mean the same."""
        named: dict[Decision, dict[int, tuple[Name, ...]]] = {}
        for change in changes:
            for row in self.rows[change]:
                for operation in row.operations:
                    decision = Decision(
                        change,
                        row.principal,
                        row.host,
                        row.except_principals,
                        row.except_hosts,
                        operation,
                        row.resource_type,
                        None if row.before < 0 else self.sides[row.before][0],
                        self.sides[row.after][0],
                    )
                    named.setdefault(decision, {})[id(row.names)] = row.names
        joined: dict[tuple[int, ...], frozenset[Name]] = {}
        answer = {}
        for decision, parts in named.items():
            key = tuple(parts)
            if key not in joined:
                joined[key] = frozenset().union(*parts.values())
            answer[decision] = joined[key]
        return answer

    def digest(self, changes: Iterable[str]) -> str:
        """Return the SHA-256 of the decisions, whatever order and rows they stand in."""
        of_names: dict[int, str] = {}
        lines = []
        for decision, names in self.decisions(changes).items():
            if id(names) not in of_names:
                of_names[id(names)] = _sha256(json.dumps(sorted(names)))
            lines.append(json.dumps([*decision, of_names[id(names)]]))
        return _sha256("\n".join(sorted(lines)))

    # Keeping it.

    def packed(self) -> bytes:
        """Return this as compressed JSON in ASCII, which any database can hold."""
        names: dict[int, tuple[int, tuple[Name, ...]]] = {}  # by identity: they are long, and shared
        rows = {
            change: [
                [*row[:6], names.setdefault(id(row.names), (len(names), row.names))[0], *row[7:]]
                for row in found
            ]
            for change, found in self.rows.items()
        }
        told = {
            "format": FORMAT,
            "rows": rows,
            "names": [shared for _, shared in names.values()],
            "sides": self.sides,
            "acls": [[acl[field] for field in _FIELDS] for acl in self.acls],
            "unchanged": self.unchanged,
            "resources": self.resources,
            "warnings": self.warnings,
        }
        return zlib.compress(json.dumps(told, separators=(",", ":")).encode("ascii"), 4)

    @classmethod
    def unpacked(cls, data: bytes) -> Differences:
        """Return what `packed` was made of. Raises AclError for another format."""
        told = json.loads(zlib.decompress(data))
        if told.get("format") != FORMAT:
            raise AclError(
                f"This impact was stored in format {told.get('format')!r}, and this version of aclweb reads "
                f"{FORMAT}; it was written by a newer one."
            )
        names = [tuple((kind, text) for kind, text in group) for group in told["names"]]
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


class _Table:
    """Numbers each side and each ACL once."""

    def __init__(self) -> None:
        self.sides: list[Answer] = []
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
