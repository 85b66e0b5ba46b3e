"""What is an impact: every answer that differs between two worlds of ACLs, and how is it passed on?

An impact holds each class of names once with what becomes of it. Names that the same ACLs cover
share their outcomes, so its size follows what differs in kind; each single difference (`Effect`)
is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import overload

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import AclBinding, Operation, Resource, ResourceType
from tests.cell_by_cell.classes import EXACT, Spot

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
    names_text: as `kind` and `text` of a `Spot`; only EXACT has a `resource_name`. before: None
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
class Part:
    """An effect without its names, so that all names of one coverage can share it."""

    outcome: Outcome
    operation: Operation
    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    cells: int


Parts = tuple[Part, ...]


class Effects(Sequence[Effect]):
    """The effects of one list, in the order of the names; each is made when it is asked for."""

    def __init__(self, places: Sequence[tuple[Spot, Parts]], change: str) -> None:
        self._places, self._change = places, change
        self._length = -1

    def __len__(self) -> int:
        if self._length < 0:
            counts: dict[int, int] = {}
            for _, parts in self._places:
                if id(parts) not in counts:
                    counts[id(parts)] = sum(part.outcome.change == self._change for part in parts)
            self._length = sum(counts[id(parts)] for _, parts in self._places)
        return self._length

    def __iter__(self) -> Iterator[Effect]:
        for spot, parts in self._places:
            for part in parts:
                if part.outcome.change == self._change:
                    yield _effect(spot, part)

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


@dataclass(frozen=True)
class Impact:
    """Everything that differs between the two worlds.

    gains, loses: refused before and allowed after, and the reverse. recovered: allowed on
    both sides, but by ACLs of which none is the same, or on another basis. depends: cells
    that cannot be told on one side, each with the reason. unchanged: the number of all
    other cells. resources: the given names that an added or removed pattern covers.
    places: the same differences by class of names, as they were found.
    """

    gains: Sequence[Effect]
    loses: Sequence[Effect]
    recovered: Sequence[Effect]
    depends: Sequence[Effect]
    unchanged: int
    resources: tuple[Resource, ...]
    warnings: tuple[str, ...]
    places: Sequence[tuple[Spot, Parts]] = field(default=(), repr=False, compare=False)

    @classmethod
    def found(
        cls,
        places: Sequence[tuple[Spot, Parts]],
        *,
        unchanged: int,
        resources: tuple[Resource, ...],
        warnings: tuple[str, ...],
    ) -> Impact:
        """Return the impact that consists of these places."""
        lists: Mapping[str, Effects] = {name: Effects(places, name) for name in LISTS}
        return cls(**lists, unchanged=unchanged, resources=resources, warnings=warnings, places=places)

    @property
    def is_empty(self) -> bool:
        """Whether no answer to any question would differ."""
        return not (self.gains or self.loses or self.recovered or self.depends)

    def as_dict(self) -> dict[str, object]:
        """Return the promised keys, ready for JSON; effects with the same side share its dictionary."""
        made: dict[int, dict[str, object]] = {}

        def side_as_dict(side: Side) -> dict[str, object]:
            found = made.get(id(side))
            if found is None:
                found = made[id(side)] = side.as_dict()
            return found

        return {
            "gains": [effect.as_dict(side_as_dict) for effect in self.gains],
            "loses": [effect.as_dict(side_as_dict) for effect in self.loses],
            "recovered": [effect.as_dict(side_as_dict) for effect in self.recovered],
            "depends": [effect.as_dict(side_as_dict) for effect in self.depends],
            "unchanged": self.unchanged,
            "resources": [
                {"resource_type": resource.resource_type.name, "resource_name": resource.name}
                for resource in self.resources
            ],
            "warnings": list(self.warnings),
        }


def _effect(spot: Spot, part: Part) -> Effect:
    return Effect(
        principal=part.principal,
        host=part.host,
        except_principals=part.except_principals,
        except_hosts=part.except_hosts,
        operation=part.operation,
        resource_type=spot.resource_type,
        resource_name=spot.text if spot.kind == EXACT else None,
        names_kind=spot.kind,
        names_text=spot.text,
        before=part.outcome.before,
        after=part.outcome.after,
        reason=part.outcome.reason,
        cells=part.cells,
    )
