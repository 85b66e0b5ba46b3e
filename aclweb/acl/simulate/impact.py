"""What is an impact: which groups of answers differ between two worlds of ACLs?

A group is a set of principals, one of hosts, one of operations and one of names, of which every
combination (a cell) has the same answer before, and the same after, settled by the same ACLs. Groups do
not overlap, and together they are exactly the cells that differ. So the size of an impact follows
what differs in kind; each single difference (`Effect`) is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import overload

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import WILDCARD, AclBinding, Operation, Resource, ResourceType
from aclweb.acl.simulate.axes import EXACT, Compact, NameAxis, TextAxis, places_in

GAINS, LOSES, RECOVERED, DEPENDS = LISTS = ("gains", "loses", "recovered", "depends")


@dataclass(frozen=True, slots=True)
class Side:
    """The answer in one of the two worlds, and the bindings that settle it."""

    result: Result
    basis: Basis
    determining: tuple[AclBinding, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "result": self.result.value,
            "basis": self.basis.value,
            "determining": [binding.as_dict() for binding in self.determining],
        }


@dataclass(frozen=True, slots=True)
class Effect:
    """One difference; it holds for every cell that it covers.

    principal, host: a text, or `*` for everyone and anywhere, less `except_principals` and
    `except_hosts`; a range is for those of its addresses that nobody names. names_kind,
    names_text: kind and text of a `NameClass`; only EXACT has a `resource_name`. before: None
    for a new name. cells: how many it covers.
    """

    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    operation: Operation
    resource_type: ResourceType
    resource_name: str | None
    names_kind: str
    names_text: str
    before: Side | None
    after: Side
    reason: str | None = None
    cells: int = 1

    def as_dict(self, side_as_dict: Callable[[Side], dict[str, object]] = Side.as_dict) -> dict[str, object]:
        answer: dict[str, object] = {"principal": self.principal, "host": self.host}
        if self.except_principals or self.except_hosts:
            answer["except"] = {
                "principals": list(self.except_principals),
                "hosts": list(self.except_hosts),
            }
        answer |= {
            "operation": self.operation.name,
            "resource_type": self.resource_type.name,
            "resource_name": self.resource_name,
            "names": {"kind": self.names_kind, "text": self.names_text},
            "before": None if self.before is None else side_as_dict(self.before),
            "after": side_as_dict(self.after),
        }
        if self.reason is not None:
            answer["reason"] = self.reason
        return answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one cell becomes; `change` is the list of `Impact` that it belongs to."""

    change: str
    before: Side | None
    after: Side
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """All cells of these principals, hosts, operations and names, which change alike.

    principals, hosts, names: sets of places on the axes of the impact. before: None for new names.
    """

    change: str
    resource_type: ResourceType
    operations: tuple[Operation, ...]
    principals: int
    hosts: int
    compact_names: Compact
    before: Side | None
    after: Side
    reason: str | None = None

    @property
    def names(self) -> int:
        """The set of their names."""
        return self.compact_names.whole

    @property
    def cells(self) -> int:
        """How many cells these are."""
        callers = self.principals.bit_count() * self.hosts.bit_count()
        return callers * len(self.operations) * self.compact_names.members.bit_count()


@dataclass(frozen=True)
class Axes:
    """What the places in the sets of an impact mean."""

    names: Mapping[ResourceType, NameAxis]
    principals: TextAxis
    hosts: TextAxis


class Effects(Sequence[Effect]):
    """The effects of one list, group by group; each is made when it is asked for."""

    def __init__(self, impact: Impact, change: str) -> None:
        self._impact = impact
        self.groups = tuple(group for group in impact.groups if group.change == change)

    @cached_property
    def _length(self) -> int:
        axes = self._impact.axes
        return sum(
            _entries(axes.principals, group.principals)
            * _entries(axes.hosts, group.hosts)
            * len(group.operations)
            * group.compact_names.members.bit_count()
            for group in self.groups
        )

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return bool(self.groups)

    def __iter__(self) -> Iterator[Effect]:
        for group in self.groups:
            yield from self._impact.effects_of(group)

    @overload
    def __getitem__(self, place: int) -> Effect: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Effect, ...]: ...

    def __getitem__(self, place: int | slice) -> Effect | tuple[Effect, ...]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return tuple(self)[place] if step < 0 else tuple(islice(self, start, stop, step))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return next(islice(self, place % len(self), None))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Effects | tuple | list):
            return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


ShownAcl = Callable[[ResourceType, int, bool], AclBinding]
"""The ACL that is shown where no ACL allows: of a type, the class of names at a place, and before or after."""


@dataclass(frozen=True)
class Impact:
    """Everything that differs between the two worlds.

    groups: of each list of `LISTS`, in its order. Gains and loses are refused before and allowed
    after, and the reverse. recovered: allowed on both sides, but by ACLs of which none is the same, or
    on another basis. depends: cells that cannot be told on one side, each with the reason.
    unchanged: the number of all other cells. covered: the given names that an added or removed
    pattern covers, by type. shown_acl: what single differences show where no ACL allows.
    """

    groups: tuple[Group, ...]
    axes: Axes
    unchanged: int
    covered: Mapping[ResourceType, int]
    warnings: tuple[str, ...]
    shown_acl: ShownAcl | None = field(default=None, repr=False, compare=False)

    @cached_property
    def gains(self) -> Sequence[Effect]:
        """Single differences: cells that are refused before and allowed after."""
        return Effects(self, GAINS)

    @cached_property
    def loses(self) -> Sequence[Effect]:
        """Single differences: cells that are allowed before and refused after."""
        return Effects(self, LOSES)

    @cached_property
    def recovered(self) -> Sequence[Effect]:
        """Single differences: cells that are allowed by other ACLs than before."""
        return Effects(self, RECOVERED)

    @cached_property
    def depends(self) -> Sequence[Effect]:
        """Single differences: cells without a certain answer on one side."""
        return Effects(self, DEPENDS)

    @property
    def resources(self) -> Sequence[Resource]:
        """The given names that an added or removed pattern covers."""
        return tuple(
            Resource(kind, name)
            for kind, names in self.covered.items()
            for _, name in self.axes.names[kind].classes(names)
        )

    @property
    def is_empty(self) -> bool:
        """Whether no answer to any question would differ."""
        return not self.groups

    def effects_of(self, group: Group) -> Iterator[Effect]:
        """Yield the single differences of a group, name by name."""
        axis = self.axes.names[group.resource_type]
        callers = list(
            product(
                entries_of(self.axes.principals, group.principals), entries_of(self.axes.hosts, group.hosts)
            )
        )
        for place in places_in(group.names):
            kind, text = axis.name_class(place)
            before, after = self._sides(group, place)
            for operation in group.operations:
                for (principal, less, principals), (host, less_hosts, hosts) in callers:
                    yield Effect(
                        principal=principal,
                        host=host,
                        except_principals=less,
                        except_hosts=less_hosts,
                        operation=operation,
                        resource_type=group.resource_type,
                        resource_name=text if kind == EXACT else None,
                        names_kind=kind,
                        names_text=text,
                        before=before,
                        after=after,
                        reason=group.reason,
                        cells=principals * hosts,
                    )

    def _sides(self, group: Group, place: int) -> tuple[Side | None, Side]:
        before, after = group.before, group.after
        if self.shown_acl is not None:
            if before is not None and before.basis is Basis.NO_ALLOW_ACL:
                before = replace(before, determining=(self.shown_acl(group.resource_type, place, True),))
            if after.basis is Basis.NO_ALLOW_ACL:
                after = replace(after, determining=(self.shown_acl(group.resource_type, place, False),))
        return before, after

    def as_dict(self) -> dict[str, object]:
        """Return the promised keys, ready for JSON; effects with the same side share its dictionary."""
        made: dict[int, tuple[Side, dict[str, object]]] = {}

        def side_as_dict(side: Side) -> dict[str, object]:
            found = made.get(id(side))
            if found is None:
                found = made[id(side)] = (side, side.as_dict())
            return found[1]

        return {
            **{name: [effect.as_dict(side_as_dict) for effect in getattr(self, name)] for name in LISTS},
            "unchanged": self.unchanged,
            "resources": [
                {"resource_type": resource.resource_type.name, "resource_name": resource.name}
                for resource in self.resources
            ],
            "warnings": list(self.warnings),
        }


def _entries(axis: TextAxis, members: int) -> int:
    """Return how many single differences a set of principals or hosts makes."""
    return 1 if members & axis.others else members.bit_count()


def entries_of(axis: TextAxis, members: int) -> list[tuple[str, tuple[str, ...], int]]:
    """Return text, exceptions and number of cells of each single difference that a set makes."""
    is_rest, texts = axis.described(members)
    if is_rest:
        return [(WILDCARD, texts, members.bit_count())]
    return [(text, (), 1) for text in texts]
