"""How is an impact written as JSON, piece by piece: by single differences, or by groups?

A group can hold a hundred million cells. So nothing is made whole: each entry is written before the next is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from aclweb.acl.authorizer import WriteList, whole_list
from aclweb.acl.model import AclBinding
from aclweb.acl.simulate.axes import NameClass, TextAxis
from aclweb.acl.simulate.impact import LISTS, Group, Impact, Side
from aclweb.acl.simulate.sets import runs_of

Item = TypeVar("Item")
Written = TypeVar("Written")


def entries_as_json(impact: Impact, head: Mapping[str, object] | None = None) -> Iterator[str]:
    """Yield the pieces of one JSON object: what `Impact.as_dict` returns, entry by entry. head: keys before these."""
    side = SharedSides()
    yield "{"
    for key, value in (head or {}).items():
        yield f"{json.dumps(key)}: {json.dumps(value)}, "
    for change in LISTS:
        yield f'"{change}": '
        yield from _array(effect.as_dict(side.as_dict) for effect in getattr(impact, change))
        yield ", "
    yield from _rest(impact)


def groups_as_json(impact: Impact) -> Iterator[str]:
    """Yield the pieces of one JSON object with `groups` in place of the four lists."""
    sides = SharedSides()
    yield '{"groups": '
    yield from _array(group_as_dict(impact, group, sides=sides) for group in impact.groups)
    yield ", "
    yield from _rest(impact)


def group_as_dict(
    impact: Impact, group: Group, write_list: WriteList = whole_list, sides: SharedSides | None = None
) -> dict[str, object]:
    """Return a group with everything that it holds spelled out.

    write_list: what writes each list that can be as long as a cluster has names; beside one that it cuts is
    the whole length. sides: what writes the two sides, in place of `write_list`.
    """
    axes = impact.axes
    axis = axes.names[group.resource_type]
    exact = group.names & axis.all_exact
    existing = [name for start, end in runs_of(exact) for name in axis.exact[start:end]]
    patterns = tuple(axis.classes(group.names ^ exact))

    def side_as_dict(side: Side) -> dict[str, object]:
        return sides.as_dict(side) if sides is not None else _side_as_dict(side, write_list)

    answer: dict[str, object] = {
        "category": group.change,
        "principals": _set_as_dict(axes.principals, group.principals, write_list),
        "hosts": _set_as_dict(axes.hosts, group.hosts, write_list),
        "operations": [operation.name for operation in group.operations],
        "resource_type": group.resource_type.name,
        "names": {
            **_list_as_dict("existing", existing, str, write_list),
            **_list_as_dict("patterns", patterns, _class_as_dict, write_list),
        },
        "before": None if group.before is None else side_as_dict(group.before),
        "after": side_as_dict(group.after),
    }
    if group.reason is not None:
        answer["reason"] = group.reason
    return answer | {"cells": impact.cells_in(group)}


def digest_of_groups(impact: Impact) -> str:
    """Return the SHA-256 of all that `group_as_dict` can say of each group, in the order of the groups."""
    axes = impact.axes
    texts = [
        [axes.principals.texts, axes.principals.classes_of_others],
        [axes.hosts.texts, axes.hosts.classes_of_others],
        [[kind.name, *axis.classes(axis.all)] for kind, axis in axes.names.items()],
    ]
    digest = _sha256(texts)
    sides: dict[int, bytes] = {id(None): b""}
    for group in impact.groups:
        operations = [operation.name for operation in group.operations]
        digest.update(_sha256([group.change, group.resource_type.name, operations, group.reason]).digest())
        for side in (group.before, group.after):
            if id(side) not in sides and side is not None:
                sides[id(side)] = _sha256(side.as_dict()).digest()
            digest.update(sides[id(side)])
        names = group.compact_names.dense
        digest.update(b"%x %x %x %x" % (group.principals, group.hosts, names.members, names.offset))
    return digest.hexdigest()


def _sha256(value: object) -> hashlib._Hash:
    return hashlib.sha256(json.dumps(value).encode("ascii"))


_MOST_ACLS_KEPT = 20_000


class SharedSides:
    """Writes sides as dictionaries, and keeps the last ones: entries that follow each other share them."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Side, dict[str, object]]] = {}
        self._acls = 0

    def as_dict(self, side: Side) -> dict[str, object]:
        """Return a side as a dictionary, the same for the same side while it is kept."""
        found = self._made.get(id(side))
        if found is None:
            self._acls += len(side.determining) + 1
            if self._acls > _MOST_ACLS_KEPT:
                self._made.clear()
                self._acls = len(side.determining) + 1
            found = self._made[id(side)] = (side, side.as_dict())
        return found[1]


def _set_as_dict(axis: TextAxis, members: int, write_list: WriteList) -> dict[str, object]:
    is_rest, texts = axis.described(members)
    return _list_as_dict("not_in" if is_rest else "in", texts, str, write_list)


def _class_as_dict(names: NameClass) -> dict[str, str]:
    kind, text = names
    return {"kind": kind, "text": text}


def _side_as_dict(side: Side, write_list: WriteList) -> dict[str, object]:
    return {
        "result": side.result.value,
        "basis": side.basis.value,
        **_list_as_dict("determining", side.determining, AclBinding.as_dict, write_list),
    }


def _list_as_dict(
    key: str, items: Sequence[Item], as_json: Callable[[Item], Written], write_list: WriteList
) -> dict[str, object]:
    """Return a list under its key, and beside one that is cut its whole length."""
    kept = write_list(key, items, as_json)
    return {key: kept} if len(kept) == len(items) else {key: kept, f"{key}_total": len(items)}


def _array(values: Iterable[object]) -> Iterator[str]:
    before = "["
    for value in values:
        yield before
        yield json.dumps(value)
        before = ", "
    yield "[]" if before == "[" else "]"


def _rest(impact: Impact) -> Iterator[str]:
    yield f'"unchanged": {impact.unchanged}, "resources": '
    yield from _array(resource.as_dict() for resource in impact.resources)
    yield f', "warnings": {json.dumps(list(impact.warnings))}}}'
