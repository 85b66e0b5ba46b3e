"""How is an impact kept: in memory without what it does not need, and in a database as bytes?

`packed` is compressed JSON in ASCII, which any database can hold. `unpacked` reads it, and what
older versions of aclweb stored: entries by name (format 1), and the JSON of a what-if (`of_entries`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import WILDCARD, AclBinding, AclError, Operation, ResourceType
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.simulate.axes import EXACT, NameAxis, NameClass, Renumbering, TextAxis
from aclweb.acl.simulate.collecting import without_cycle_search
from aclweb.acl.simulate.impact import LISTS, Axes, Group, Impact, Side
from aclweb.acl.simulate.sets import Places, least, least_of_runs, runs_of, set_of, set_of_runs

FORMAT = 2
_FORMAT_BY_NAME = 1

_FIELDS = tuple(AclBinding.__slots__)

_Set = TypeVar("_Set", int, Places)


@without_cycle_search
def trimmed(impact: Impact) -> Impact:
    """Return the same impact over the names, principals and hosts alone that it tells apart or needs to be described.

    Kept of the names are those that differ, those that an ACL of the edit covers, and those that begin
    as the names of its PREFIXED patterns do. All principals, or hosts, that no group tells from those
    without a class of their own are counted with these.
    """
    axes = impact.axes
    differing = impact.differing_names(LISTS)
    kept = {kind: _kept_names(impact, kind, differing.get(kind, 0)) for kind in axes.names}
    numbers = {kind: Renumbering(names) for kind, names in kept.items()}
    principals = _told_apart(axes.principals, (group.principals for group in impact.groups))
    hosts = _told_apart(axes.hosts, (group.hosts for group in impact.groups))
    new_principals, new_hosts = _renumbered(principals), _renumbered(hosts)
    new_names = {kind: _once(numbers[kind].compact) for kind in numbers}
    return Impact(
        groups=tuple(
            Group(
                group.change,
                group.resource_type,
                group.operations,
                new_principals(group.principals),
                new_hosts(group.hosts),
                new_names[group.resource_type](group.compact_names),
                group.before,
                group.after,
                group.reason,
            )
            for group in impact.groups
        ),
        axes=Axes(
            {kind: axis.cut_to(kept[kind]) for kind, axis in axes.names.items() if kept[kind]},
            axes.principals.cut_to(principals),
            axes.hosts.cut_to(hosts),
        ),
        unchanged=impact.unchanged,
        covered={kind: numbers[kind].of(names) for kind, names in impact.covered.items()},
        warnings=impact.warnings,
        starts=impact.starts,
    )


def _renumbered(kept: int) -> Callable[[int], int]:
    """Return what gives those of a set of principals, or of hosts, that are kept, by their new places."""
    numbers = Renumbering(kept)
    return _once(lambda members: numbers.of(members & kept))


def _once(function: Callable[[_Set], _Set]) -> Callable[[_Set], _Set]:
    """Return the same function, which works out equal sets once."""
    known: dict[_Set, _Set] = {}
    objects: dict[int, tuple[_Set, _Set]] = {}  # Large sets take long to compare; most are one object.

    def found(members: _Set) -> _Set:
        there = objects.get(id(members))
        if there is None:
            if members not in known:
                known[members] = function(members)
            there = objects[id(members)] = (members, known[members])
        return there[1]

    return found


def _kept_names(impact: Impact, kind: ResourceType, differing: int) -> int:
    """Return the names to keep of a type, of which these differ."""
    axis = impact.axes.names[kind]
    near = 0
    for start in impact.starts.get(kind, ()) if differing else ():
        near |= axis.beginning_with(start)
    return impact.covered.get(kind, 0) | near & ~impact.unmet.get(kind, 0) | differing


def _told_apart(axis: TextAxis, sets: Iterable[int]) -> int:
    """Return the places of those that some set tells from all others, and the place of all others."""
    apart = axis.others
    for members in set(sets):
        apart |= axis.all & ~members if members & axis.others else members
    return apart


@without_cycle_search
def packed(impact: Impact) -> bytes:
    """Return a trimmed impact as bytes."""
    table, sets = _Table(), _Sets()
    axes = impact.axes
    kinds = [kind for kind in ResourceType if kind in axes.names]
    place_of_kind = {kind: place for place, kind in enumerate(kinds)}
    place_of_list = {change: place for place, change in enumerate(LISTS)}
    operations: dict[tuple[Operation, ...], list[str]] = {}
    groups = [
        [
            place_of_list[group.change],
            place_of_kind[group.resource_type],
            operations.get(group.operations)
            or operations.setdefault(group.operations, [each.name for each in group.operations]),
            sets.place(group.principals),
            sets.place(group.hosts),
            sets.place(group.compact_names),
            -1 if group.before is None else table.side(group.before),
            table.side(group.after),
            group.reason,
        ]
        for group in impact.groups
    ]
    told = {
        "format": FORMAT,
        "groups": groups,
        "types": [
            {
                "type": kind.name,
                "exact": list(axes.names[kind].exact),
                "prefixes": list(axes.names[kind].prefixes),
                "patterns": list(axes.names[kind].patterns),
                "has_any_other": axes.names[kind].has_any_other,
                "given": _steps(axes.names[kind].given),
                "new": _steps(axes.names[kind].new),
                "covered": _steps(impact.covered.get(kind, 0)),
                "starts": impact.starts.get(kind, ()),
            }
            for kind in kinds
        ],
        "principals": [list(axes.principals.texts), axes.principals.classes_of_others],
        "hosts": [list(axes.hosts.texts), axes.hosts.classes_of_others],
        "sets": sets.told,
        "sides": table.sides,
        "acls": table.acls,
        "unchanged": impact.unchanged,
        "warnings": impact.warnings,
    }
    return zlib.compress(json.dumps(told, separators=(",", ":")).encode("ascii"), 6)


@without_cycle_search
def unpacked(data: bytes) -> Impact:
    """Return the impact that was packed, now or by an older version. Raises AclError for another format."""
    told = json.loads(zlib.decompress(data))
    found = told.get("format")
    if found == _FORMAT_BY_NAME:
        return _of_rows(_rows_by_name(told), told["unchanged"], told["resources"], told["warnings"])
    if found != FORMAT:
        raise AclError(
            f"This impact was stored in format {found!r}, and this version of aclweb reads "
            f"{FORMAT}; it was written by a newer one."
        )
    kinds = [ResourceType[each["type"]] for each in told["types"]]
    names = {group[5] for group in told["groups"]}
    texts = {place for group in told["groups"] for place in group[3:5]}
    sets: dict[int, int] = {}
    compact: dict[int, Places] = {}
    for place, steps in enumerate(told["sets"]):
        if place in texts:
            sets[place] = _set_by_steps(steps)
        if place in names:
            compact[place] = least_of_runs(_runs_by_steps(steps))
        told["sets"][place] = None  # thousands of runs take more room as a list than as a set
    sides = _sides_of(told)
    groups = tuple(
        Group(
            LISTS[change],
            kinds[kind],
            tuple(Operation[name] for name in operations),
            sets[principals],
            sets[hosts],
            compact[own_names],
            None if before < 0 else sides[before],
            sides[after],
            reason,
        )
        for change, kind, operations, principals, hosts, own_names, before, after, reason in told["groups"]
    )
    return Impact(
        groups=groups,
        axes=Axes(
            {
                kind: NameAxis(
                    tuple(each["exact"]),
                    tuple(each["prefixes"]),
                    tuple(each["patterns"]),
                    each["has_any_other"],
                    given=_set_by_steps(each["given"]),
                    new=_set_by_steps(each["new"]),
                )
                for kind, each in zip(kinds, told["types"], strict=True)
            },
            _text_axis(told["principals"]),
            _text_axis(told["hosts"]),
        ),
        unchanged=told["unchanged"],
        covered={
            kind: _set_by_steps(each["covered"])
            for kind, each in zip(kinds, told["types"], strict=True)
            if each["covered"]
        },
        warnings=tuple(told["warnings"]),
        starts={kind: tuple(each["starts"]) for kind, each in zip(kinds, told["types"], strict=True)},
    )


def _text_axis(told: tuple[list[str], int]) -> TextAxis:
    texts, classes_of_others = told
    return TextAxis(tuple(texts), classes_of_others)


def of_entries(told: Mapping[str, Any]) -> Impact:
    """Return what the JSON of a what-if says, as the first versions of aclweb stored it."""
    sides: dict[str, Side] = {}

    def side_of(words: Mapping[str, Any]) -> Side:
        text = json.dumps(words, sort_keys=True)
        if text not in sides:
            sides[text] = _side(words["result"], words["basis"], map(binding_from_dict, words["determining"]))
        return sides[text]

    resources = [(each["resource_type"], each["resource_name"]) for each in told.get("resources", ())]
    rows = (
        _Row(
            change,
            entry["principal"],
            entry["host"],
            tuple((entry.get("except") or {}).get("principals", ())),
            tuple((entry.get("except") or {}).get("hosts", ())),
            (entry["operation"],),
            entry["resource_type"],
            ((entry["names"]["kind"], entry["names"]["text"]),),
            None if entry["before"] is None else side_of(entry["before"]),
            side_of(entry["after"]),
            entry.get("reason"),
        )
        for change in LISTS
        for entry in told.get(change, ())
    )
    return _of_rows(list(rows), told.get("unchanged", 0), resources, told.get("warnings", ()))


class _Row(NamedTuple):
    """What differs alike for several operations and names; `*` is everybody, or every host, less those excepted."""

    change: str
    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    operations: tuple[str, ...]
    resource_type: str
    names: Sequence[NameClass]
    before: Side | None
    after: Side
    reason: str | None


def _rows_by_name(told: Mapping[str, Any]) -> list[_Row]:
    sides = _sides_of(told)
    names = [[(kind, text) for kind, text in each] for each in told["names"]]
    return [
        _Row(
            change,
            row[0],
            row[1],
            tuple(row[2]),
            tuple(row[3]),
            tuple(row[4]),
            row[5],
            names[row[6]],
            None if row[7] < 0 else sides[row[7]],
            sides[row[8]],
            row[9],
        )
        for change in LISTS
        for row in told["rows"][change]
    ]


def _of_rows(
    rows: Sequence[_Row], unchanged: int, resources: Sequence[Sequence[str]], warnings: Iterable[str]
) -> Impact:
    """Return an impact of these rows, those alike but for their names as one group.

    Which names exist was not stored: all that an ACL of the edit covers count as existing.
    """
    classes: dict[str, set[NameClass]] = {}
    for row in rows:
        classes.setdefault(row.resource_type, set()).update(row.names)
    covered: dict[str, set[NameClass]] = {}
    for kind, name in resources:
        covered.setdefault(kind, set()).add((EXACT, name))
    axes = {
        kind: NameAxis.of(classes.get(kind, set()) | covered.get(kind, set()))
        for kind in (*classes, *(kind for kind in covered if kind not in classes))
    }
    new = {
        (row.resource_type, each)
        for row in rows
        if row.before is None
        for each in row.names
        if each[0] == EXACT
    }
    principals = _axis_of((row.principal, *row.except_principals) for row in rows)
    hosts = _axis_of((row.host, *row.except_hosts) for row in rows)
    gathered: dict[tuple[object, ...], tuple[_Row, set[NameClass]]] = {}
    for row in rows:
        alike = gathered.setdefault((row[:7], row.before, row.after, row.reason), (row, set()))
        alike[1].update(row.names)
    groups = tuple(
        Group(
            row.change,
            ResourceType[row.resource_type],
            tuple(Operation[name] for name in row.operations),
            _members(principals, row.principal, row.except_principals),
            _members(hosts, row.host, row.except_hosts),
            least(axes[row.resource_type].set_of(names)),
            row.before,
            row.after,
            row.reason,
        )
        for row, names in gathered.values()
    )
    return Impact(
        groups=groups,
        axes=Axes(
            {
                ResourceType[kind]: replace(
                    axis,
                    given=axis.all_exact & ~axis.set_of(each for own, each in new if own == kind),
                    new=axis.set_of(each for own, each in new if own == kind),
                )
                for kind, axis in axes.items()
            },
            principals,
            hosts,
        ),
        unchanged=unchanged,
        covered={ResourceType[kind]: axes[kind].set_of(names) for kind, names in covered.items()},
        warnings=tuple(warnings),
    )


def _axis_of(texts: Iterable[tuple[str, ...]]) -> TextAxis:
    return TextAxis(sorted({text for own in texts for text in own} - {WILDCARD}))


def _members(axis: TextAxis, text: str, less: Iterable[str]) -> int:
    if text != WILDCARD:
        return axis.one(text)
    return axis.all & ~set_of(axis.places[each] for each in less)


def _sides_of(told: Mapping[str, Any]) -> list[Side]:
    acls = [binding_from_dict(dict(zip(_FIELDS, acl, strict=True))) for acl in told["acls"]]
    return [_side(result, basis, (acls[place] for place in own)) for result, basis, own in told["sides"]]


def _side(result: str, basis: str, determining: Iterable[AclBinding]) -> Side:
    return Side(Result(result), Basis(basis), tuple(determining))


class _Sets:
    """Numbers each set of places once."""

    def __init__(self) -> None:
        self.told: list[list[int]] = []
        self._places: dict[Places, int] = {}
        self._objects: dict[int, tuple[int | Places, int]] = {}

    def place(self, members: int | Places) -> int:
        """Return the number of a set, which is not unfolded."""
        there = self._objects.get(id(members))
        if there is None:
            compact = least(members) if isinstance(members, int) else members
            found = self._places.get(compact)
            if found is None:
                found = self._places[compact] = len(self.told)
                self.told.append(list(_each_step(compact.runs())))
            there = self._objects[id(members)] = (members, found)
        return there[1]


class _Table:
    """Numbers each side and each ACL once."""

    def __init__(self) -> None:
        self.sides: list[tuple[str, str, list[int]]] = []
        self.acls: list[list[str]] = []
        self._sides: dict[Side, int] = {}
        self._objects: dict[int, tuple[Side, int]] = {}
        self._acls: dict[AclBinding, int] = {}

    def side(self, side: Side) -> int:
        there = self._objects.get(id(side))
        if there is None:
            found = self._sides.get(side)
            if found is None:
                found = self._sides[side] = len(self.sides)
                acls = list(map(self._acl, side.determining))
                self.sides.append((side.result.value, side.basis.value, acls))
            there = self._objects[id(side)] = (side, found)
        return there[1]

    def _acl(self, binding: AclBinding) -> int:
        found = self._acls.get(binding)
        if found is None:
            found = self._acls[binding] = len(self.acls)
            told = binding.as_dict()
            self.acls.append([told[field] for field in _FIELDS])
        return found


def _steps(members: int) -> list[int]:
    """Return how far it is from the end of one run of a set to the start of the next, and to its end, in turn."""
    return list(_each_step(runs_of(members)))


def _each_step(runs: Iterable[tuple[int, int]]) -> Iterator[int]:
    at = 0
    for start, end in runs:
        yield start - at
        yield end - start
        at = end


def _set_by_steps(steps: Sequence[int]) -> int:
    return set_of_runs(_runs_by_steps(steps))


def _runs_by_steps(steps: Sequence[int]) -> list[tuple[int, int]]:
    runs, at = [], 0
    for gap, length in zip(steps[::2], steps[1::2], strict=True):
        start = at + gap
        at = start + length
        runs.append((start, at))
    return runs
