"""What is an impact: which groups of answers differ between two worlds of ACLs?

A group is a set of principals, one of hosts, one of operations and one of names, of which every
combination (a cell) has the same answer before, and the same after, settled by the same ACLs. Groups do
not overlap, and together they are exactly the cells that differ. So the size of an impact follows
what differs in kind; each single difference (`Effect`) is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import WILDCARD, AclBinding, Operation, Resource, ResourceType, computed_once
from aclweb.acl.simulate.axes import EXACT, NameAxis, TextAxis
from aclweb.acl.simulate.on_demand import OnDemand
from aclweb.acl.simulate.sets import InOrder, Places, least, places_in, whole_of

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
    compact_names: Places
    before: Side | None
    after: Side
    reason: str | None = None

    @property
    def names(self) -> int:
        """The set of their names."""
        return self.compact_names.whole

    @property
    def names_in_order(self) -> InOrder:
        """The set of their names, to be put in order with those of other groups."""
        return InOrder(self.compact_names)

    def narrowed(self, *, principals: int, names: int) -> Group | None:
        """Return the cells of these principals and names alone; None where there are none."""
        principals, names = self.principals & principals, self.names & names
        if not principals or not names:
            return None
        return replace(self, principals=principals, compact_names=least(names))

    @property
    def names_count(self) -> int:
        """How many classes of names these are."""
        return self.compact_names.size


@dataclass(frozen=True)
class Axes:
    """What the places in the sets of an impact mean."""

    names: Mapping[ResourceType, NameAxis]
    principals: TextAxis
    hosts: TextAxis


class Effects(OnDemand[Effect]):
    """The effects of one list, group by group."""

    def __init__(self, impact: Impact, change: str) -> None:
        self._impact, self._change = impact, change

    def __len__(self) -> int:
        return self._impact.counts[self._change]

    def _between(self, start: int, stop: int) -> Iterator[Effect]:
        """Yield the effects of some places without making those of earlier groups."""
        for group in self._impact.groups:
            if group.change != self._change:
                continue
            if stop <= 0:
                return
            count = self._impact.effects_in(group)
            if start < count:
                yield from islice(self._impact.effects_of(group), max(start, 0), stop)
            start, stop = start - count, stop - count


class CoveredResources(OnDemand[Resource]):
    """Names of an impact, type by type."""

    def __init__(self, axes: Mapping[ResourceType, NameAxis], covered: Mapping[ResourceType, int]) -> None:
        self._axes, self._covered = axes, covered

    def __len__(self) -> int:
        return sum(names.bit_count() for names in self._covered.values())

    def _between(self, start: int, stop: int) -> Iterator[Resource]:
        every = (
            Resource(kind, name)
            for kind, names in self._covered.items()
            for _, name in self._axes[kind].classes(names)
        )
        return islice(every, start, stop)


ShownAcl = Callable[[ResourceType, int, bool], AclBinding]
"""The ACL that is shown where no ACL allows: of a type, the class of names at a place, and before or after."""


@dataclass(frozen=True)
class Impact:
    """Everything that differs between the two worlds.

    groups: of each list of `LISTS`, in its order. Gains and loses are refused before and allowed
    after, and the reverse. recovered: allowed on both sides, but by ACLs of which none is the same, or
    on another basis. depends: cells that cannot be told on one side, each with the reason.
    unchanged: the number of all other cells. covered: the given names that an added or removed
    pattern covers, by type. starts: with what the names of changed PREFIXED patterns begin, by type;
    `""` where all names can change. unmet: the classes of which nothing can have a name, where these
    were left out. shown_acl: what single differences show where no ACL allows.
    """

    groups: tuple[Group, ...]
    axes: Axes
    unchanged: int
    covered: Mapping[ResourceType, int]
    warnings: tuple[str, ...]
    starts: Mapping[ResourceType, tuple[str, ...]] = field(default_factory=dict)
    unmet: Mapping[ResourceType, int] = field(default_factory=dict)
    memo: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    shown_acl: ShownAcl | None = field(default=None, repr=False, compare=False)

    @property
    def gains(self) -> Sequence[Effect]:
        """Single differences: cells that are refused before and allowed after."""
        return Effects(self, GAINS)

    @property
    def loses(self) -> Sequence[Effect]:
        """Single differences: cells that are allowed before and refused after."""
        return Effects(self, LOSES)

    @property
    def recovered(self) -> Sequence[Effect]:
        """Single differences: cells that are allowed by other ACLs than before."""
        return Effects(self, RECOVERED)

    @property
    def depends(self) -> Sequence[Effect]:
        """Single differences: cells without a certain answer on one side."""
        return Effects(self, DEPENDS)

    @computed_once
    def without_memo(self) -> Impact:
        """The same impact, for what is kept in `memo`: in a circle with it, that would outlive the impact."""
        return replace(self)

    @computed_once
    def counts(self) -> Mapping[str, int]:
        """How many single differences each list has."""
        counts = dict.fromkeys(LISTS, 0)
        for group in self.groups:
            counts[group.change] += self.effects_in(group)
        return counts

    def principals_of(self, changes: Collection[str]) -> int:
        """Return the set of the principals that some group of these lists holds."""
        members = 0
        for group in self.groups:
            if group.change in changes:
                members |= group.principals
        return members

    def differing_names(self, changes: Collection[str]) -> dict[ResourceType, int]:
        """Return the set of the names that some group of these lists holds, by type."""
        found: dict[ResourceType, dict[int, Places]] = {}
        for group in self.groups:
            if group.change in changes:
                # Thousands of groups share one set.
                found.setdefault(group.resource_type, {})[id(group.compact_names)] = group.compact_names
        return {kind: whole_of(sets.values()) for kind, sets in found.items()}

    def effects_in(self, group: Group) -> int:
        """Return how many single differences a group makes."""
        axes = self.axes
        sessions = _entries(axes.principals, group.principals) * _entries(axes.hosts, group.hosts)
        return sessions * len(group.operations) * group.names_count

    def cells_in(self, group: Group) -> int:
        """Return how many cells a group has."""
        axes = self.axes
        sessions = axes.principals.count(group.principals) * axes.hosts.count(group.hosts)
        return sessions * len(group.operations) * group.names_count

    @computed_once
    def resources(self) -> Sequence[Resource]:
        """The given names that an added or removed pattern covers."""
        return CoveredResources(self.axes.names, self.covered)

    @property
    def weight(self) -> int:
        """About how many bytes of memory this takes."""
        sides = {id(side): side for group in self.groups for side in (group.before, group.after) if side}
        names = sum(axis.size for axis in self.axes.names.values())
        texts = len(self.axes.principals.texts) + len(self.axes.hosts.texts)
        texts_told = {id(each): each for group in self.groups for each in (group.principals, group.hosts)}
        names_told = {id(group.compact_names): group.compact_names for group in self.groups}
        octets = sum(members.bit_length() // 8 for members in texts_told.values())
        octets += sum(200 + members.octets for members in names_told.values())
        return (
            400 * len(self.groups)
            + octets
            + sum(200 + 400 * len(side.determining) for side in sides.values())
            + 120 * (names + texts)
        )

    @property
    def is_empty(self) -> bool:
        """Whether no answer to any question would differ."""
        return not self.groups

    def effects_of(self, group: Group) -> Iterator[Effect]:
        """Yield the single differences of a group, name by name."""
        axis = self.axes.names[group.resource_type]
        principals_told = entries_of(self.axes.principals, group.principals)
        hosts_told = entries_of(self.axes.hosts, group.hosts)
        for place in places_in(group.names):
            kind, text = axis.name_class(place)
            before, after = self._sides(group, place)
            for operation in group.operations:
                # Their product is never held whole: it can be a thousand times the group.
                callers = product(principals_told, hosts_told)
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
            "resources": [resource.as_dict() for resource in self.resources],
            "warnings": list(self.warnings),
        }


def _entries(axis: TextAxis, members: int) -> int:
    """Return how many single differences a set of principals or hosts makes."""
    return 1 if members & axis.others else members.bit_count()


def entries_of(axis: TextAxis, members: int) -> list[tuple[str, tuple[str, ...], int]]:
    """Return text, exceptions and number of cells of each single difference that a set makes."""
    is_rest, texts = axis.described(members)
    if is_rest:
        return [(WILDCARD, texts, axis.count(members))]
    return [(text, (), 1) for text in texts]
