"""How is an impact written as JSON, piece by piece: by single differences, or by groups?

A group can hold a hundred million cells. So nothing is made whole: each entry is written before the next is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from aclweb.acl.simulate.axes import EXACT, TextAxis
from aclweb.acl.simulate.impact import LISTS, Group, Impact, Side


def entries_as_json(impact: Impact) -> Iterator[str]:
    """Yield the pieces of one JSON object: what `Impact.as_dict` returns, entry by entry."""
    side = SharedSides()
    yield "{"
    for change in LISTS:
        yield f'"{change}": '
        yield from _array(effect.as_dict(side.as_dict) for effect in getattr(impact, change))
        yield ", "
    yield from _rest(impact)


def groups_as_json(impact: Impact) -> Iterator[str]:
    """Yield the pieces of one JSON object with `groups` in place of the four lists."""
    side = SharedSides()
    yield '{"groups": '
    yield from _array(group_as_dict(impact, group, side) for group in impact.groups)
    yield ", "
    yield from _rest(impact)


def group_as_dict(impact: Impact, group: Group, side: SharedSides) -> dict[str, object]:
    """Return a group with everything that it holds spelled out."""
    axes = impact.axes
    existing: list[str] = []
    patterns: list[dict[str, str]] = []
    for kind, text in axes.names[group.resource_type].classes(group.names):
        if kind == EXACT:
            existing.append(text)
        else:
            patterns.append({"kind": kind, "text": text})
    answer: dict[str, object] = {
        "category": group.change,
        "principals": _set_as_dict(axes.principals, group.principals),
        "hosts": _set_as_dict(axes.hosts, group.hosts),
        "operations": [operation.name for operation in group.operations],
        "resource_type": group.resource_type.name,
        "names": {"existing": existing, "patterns": patterns},
        "before": None if group.before is None else side.as_dict(group.before),
        "after": side.as_dict(group.after),
    }
    if group.reason is not None:
        answer["reason"] = group.reason
    return answer | {"cells": group.cells}


_MOST_KEPT = 10_000


class SharedSides:
    """Writes each side as a dictionary once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Side, dict[str, object]]] = {}

    def as_dict(self, side: Side) -> dict[str, object]:
        """Return a side as a dictionary, the same for the same side."""
        found = self._made.get(id(side))
        if found is None:
            if len(self._made) > _MOST_KEPT:
                self._made.clear()
            found = self._made[id(side)] = (side, side.as_dict())
        return found[1]


def _set_as_dict(axis: TextAxis, members: int) -> dict[str, object]:
    is_rest, texts = axis.described(members)
    return {"not_in" if is_rest else "in": list(texts)}


def _array(values: Iterable[object]) -> Iterator[str]:
    before = "["
    for value in values:
        yield before
        yield json.dumps(value)
        before = ", "
    yield "[]" if before == "[" else "]"


def _rest(impact: Impact) -> Iterator[str]:
    yield f'"unchanged": {impact.unchanged}, "resources": '
    yield from _array(
        {"resource_type": resource.resource_type.name, "resource_name": resource.name}
        for resource in impact.resources
    )
    yield f', "warnings": {json.dumps(list(impact.warnings))}}}'
