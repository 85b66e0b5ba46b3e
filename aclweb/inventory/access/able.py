"""How many principals may do one operation with a resource: with one, or with each of the names of a type?

Of one resource the rows of its matrix are counted. Of fifty thousand names each principal's ACLs are laid over the
sorted names once, and pieces that ACLs of the same shape cover are decided together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple, Self

from aclweb.acl.model import (
    ANY_USER,
    AclBinding,
    Operation,
    Resource,
    ResourceType,
    split_principal,
)
from aclweb.inventory.access.cells import AccessRow
from aclweb.inventory.access.covered_names import cut
from aclweb.inventory.access.matrix import NOTHING, Joined, Matrix, concerns
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists import every_name, list_of


@dataclass(frozen=True, slots=True)
class Able:
    """How many principals may do an operation, from at least one host.

    count: those that an ACL on the resource names, without super users; not counted where any user may. any_user: ""
    where not any user may, else the state of that answer: "allowed", "default" or "some-hosts". unsure: whether that
    is unknown of somebody.
    """

    count: int = 0
    any_user: str = ""
    unsure: bool = False

    @property
    def words(self) -> str:
        """It for a cell of a table: `12`, `12 or more`, `any user`, `any user, from some hosts`; empty for unknown."""
        if self.any_user:
            return "any user, from some hosts" if self.any_user == "some-hosts" else "any user"
        if self.unsure:
            return f"{self.count:,} or more" if self.count else ""
        return f"{self.count:,}"

    @property
    def rank(self) -> tuple[int, int]:
        """What sorts by it: any user before any number, and what is unknown after all."""
        kind = 2 if self.any_user == "some-hosts" else 3 if self.any_user else int(bool(self.words))
        return kind, self.count


def allowed_rows(named: Iterable[AccessRow], operation: Operation) -> list[AccessRow]:
    """Return the rows of those who may, from at least one host."""
    return [row for row in named if (verdict := row.verdict(operation)) and verdict.is_allowed_somewhere]


def is_unsure(rows: Iterable[AccessRow], operation: Operation) -> bool:
    """Whether it is unknown of one of these principals whether they may."""
    verdicts = (row.verdict(operation) for row in rows)
    return any(verdict is not None and verdict.state == "unknown" for verdict in verdicts)


def able_with(view: ClusterView, resource: Resource, operations: Sequence[Operation]) -> tuple[Able, ...]:
    """Return how many principals may do each of these operations with one resource."""
    matrix = Matrix(view)
    kind = resource.resource_type
    shelf = view.index.shelf(kind)
    unknown = shelf.unknown_patterns if shelf is not None else ()
    covering = (*view.index.affecting(resource, view.settings), *unknown)
    return tuple(
        _able(matrix, resource, operation, covering, _through_all(view, kind, operation))
        for operation in operations
    )


def able_with_each(view: ClusterView, kind: ResourceType, operation: Operation) -> Mapping[str, Able]:
    """Return the same of each of `lists.every_name` of a type; worked out once for a list and its settings."""
    return view.loaded.remember(
        ("able", kind, operation, view.settings, list_of(view, kind)),
        lambda: _each(Matrix(view), view, kind, operation),
        lasting=True,
    )


class _ThroughAll:
    """The ACLs for all names of a type, which count alike for each name; on large clusters they are hundreds.

    own: by principal. for_all: those for any user.
    """

    def __init__(self, bindings: Iterable[AclBinding], operation: Operation) -> None:
        groups = _by_principal(bindings, operation)
        self.for_all = groups.pop(ANY_USER, [])
        self.own = {principal: Joined.of(group) for principal, group in groups.items()}
        self._states: dict[_Shape, dict[str, str]] = {}

    def states(
        self, matrix: Matrix, resource: Resource, operation: Operation, for_all: Joined
    ) -> dict[str, str]:
        """Return the answer to each principal that they name, with these ACLs for any user on the resource."""
        shape = _Shape.of(for_all, covers=True)
        if shape not in self._states:
            if len(self._states) >= _MOST_SHAPES:
                self._states.clear()
            self._states[shape] = {
                principal: matrix.row(principal, resource, (operation,), joined, for_all).verdicts[0].state
                for principal, joined in self.own.items()
                if _may_count(matrix, principal)
            }
        return self._states[shape]


def _through_all(view: ClusterView, kind: ResourceType, operation: Operation) -> _ThroughAll:
    shelf = view.index.shelf(kind)
    return view.loaded.remember(
        ("through all", kind, operation, view.settings),
        lambda: _ThroughAll(shelf.wildcard if shelf is not None else (), operation),
    )


def _able(
    matrix: Matrix,
    resource: Resource,
    operation: Operation,
    covering: Sequence[AclBinding],
    through_all: _ThroughAll,
) -> Able:
    near = _by_principal((binding for binding in covering if not binding.has_wildcard_pattern), operation)
    is_wide = any(binding.has_wildcard_pattern for binding in covering)
    for_all = Joined.of([*near.pop(ANY_USER, ()), *(through_all.for_all if is_wide else ())])
    anybody = matrix.any_user(resource, (operation,), for_all).verdicts[0]
    if anybody.is_allowed_somewhere:
        return _counted(0, anybody.state, False)
    wide = through_all.own if is_wide else {}
    states = dict(through_all.states(matrix, resource, operation, for_all)) if is_wide else {}
    for principal, group in near.items():
        if _may_count(matrix, principal):
            joined = Joined.of(group) + wide.get(principal, NOTHING)
            states[principal] = (
                matrix.row(principal, resource, (operation,), joined, for_all).verdicts[0].state
            )
    count = Counter(states.values())
    return _counted(sum(count[state] for state in _ALLOWED), "", "unknown" in (anybody.state, *count))


class _Shape(NamedTuple):
    """All of some ACLs on which an answer depends: two groups of the same shape have the same answers."""

    by_host: tuple[tuple[str, int], ...]
    covers: bool
    unknown_patterns: tuple[AclBinding, ...]

    @classmethod
    def of(cls, joined: Joined, *, covers: bool) -> Self:
        return cls(tuple(joined.by_host.items()), covers, joined.unknown_patterns)


class _Piece(NamedTuple):
    """A part of the names that ACLs of the same shape for any user cover, from `start` on."""

    start: int
    joined: Joined
    shape: _Shape
    anybody: str


@dataclass(slots=True)
class _Alike:
    """Principals whose own ACLs on the same names are alike: one of them, its ACLs, and how many they are."""

    principal: str
    joined: Joined
    number: int = 0


def _each(matrix: Matrix, view: ClusterView, kind: ResourceType, operation: Operation) -> Mapping[str, Able]:
    names = every_name(view, kind)
    if not names:
        return {}
    shelf = view.index.shelf(kind)
    own = _by_principal(shelf.unsorted if shelf is not None else (), operation)
    pieces = list(_pieces_for_any_user(matrix, view, kind, operation, own.pop(ANY_USER, [])))
    ends = [*(piece.start for piece in pieces[1:]), len(names)]
    # How many more may from each name on than at the one before, and of how many more it is unknown.
    able, unknown = [0] * (len(names) + 1), [0] * (len(names) + 1)
    states: dict[tuple[_Shape, _Shape], str] = {}
    for (start, end, shape), alike in _alike(matrix, names, own).items():
        place = bisect_right(ends, start)
        while place < len(pieces) and pieces[place].start < end:
            piece = pieces[place]
            first, after = max(start, piece.start), min(end, ends[place])
            question = shape, piece.shape
            if question not in states:
                resource = Resource(kind, names[first])
                row = matrix.row(alike.principal, resource, (operation,), alike.joined, piece.joined)
                states[question] = row.verdicts[0].state
            state = states[question]
            if state in _ALLOWED or state == "unknown":
                changes = unknown if state == "unknown" else able
                changes[first] += alike.number
                changes[after] -= alike.number
            place += 1
    counts, unsure = list(accumulate(able)), list(accumulate(unknown))
    found: dict[str, Able] = {}
    for piece, end in zip(pieces, ends, strict=True):
        for place in range(piece.start, end):
            found[names[place]] = (
                _counted(0, piece.anybody, False)
                if piece.anybody in _ALLOWED
                else _counted(counts[place], "", piece.anybody == "unknown" or bool(unsure[place]))
            )
    return found


def _pieces_for_any_user(
    matrix: Matrix, view: ClusterView, kind: ResourceType, operation: Operation, for_all: Sequence[AclBinding]
) -> Iterator[_Piece]:
    names, settings = every_name(view, kind), view.settings
    shelf = view.index.shelf(kind)
    # Only then does it matter whether any ACL at all covers a name.
    open_by_default = settings.allow_everyone or "allow_everyone" in settings.undeclared
    for start, end, covering in cut(names, for_all, settings):
        joined = Joined.of(covering)
        place = start
        by_whether: Iterable[tuple[bool, Sequence[str]]] = [(True, names[start:end])]
        if open_by_default and not joined.covers:
            by_whether = (
                (is_covered, list(part))
                for is_covered, part in groupby(
                    names[start:end],
                    key=lambda name: shelf is not None and shelf.is_covered(name, settings),
                )
            )
        for is_covered, part in by_whether:
            if part:
                anybody = matrix.any_user(Resource(kind, part[0]), (operation,), joined).verdicts[0].state
                yield _Piece(place, joined, _Shape.of(joined, covers=is_covered), anybody)
                place += len(part)


def _alike(
    matrix: Matrix, names: tuple[str, ...], own: Mapping[str, Sequence[AclBinding]]
) -> Mapping[tuple[int, int, _Shape], _Alike]:
    """Return the principals by a part of the names, as start and end (excluded), and the shape of their ACLs on it."""
    found: dict[tuple[int, int, _Shape], _Alike] = {}
    for principal, group in own.items():
        if not _may_count(matrix, principal):
            continue
        for start, end, covering in cut(names, group, matrix.settings):
            if start < end and _may_allow(covering):
                joined = Joined.of(covering)
                key = start, end, _Shape.of(joined, covers=joined.covers)
                if key not in found:
                    found[key] = _Alike(principal, joined)
                found[key].number += 1
    return found


def _by_principal(bindings: Iterable[AclBinding], operation: Operation) -> dict[str, list[AclBinding]]:
    """Return the ACLs that may change an answer about this operation, by principal."""
    found: dict[str, list[AclBinding]] = {}
    for binding in bindings:
        if concerns(binding, operation):
            found.setdefault(binding.principal, []).append(binding)
    return found


def _may_count(matrix: Matrix, principal: str) -> bool:
    """Whether somebody may be counted: no super user, whom no ACL concerns, and nobody whom Kafka cannot name."""
    return principal not in matrix.settings.super_users and split_principal(principal) is not None


def _may_allow(bindings: Iterable[AclBinding]) -> bool:
    return any(not binding.is_deny for binding in bindings)


_MOST_SHAPES = 1_000
_ALLOWED = ("allowed", "default", "some-hosts")
# The same few values for all names of a large cluster.
_counted = lru_cache(maxsize=4096)(Able)
