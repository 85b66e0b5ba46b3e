"""Which rights do ACLs give on the names that exist, and which of them were used?

A right is one operation on one name. Only what an ACL names counts, so Describe beside Read is none of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.logged.proposal import Used
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PermissionType,
    ResourceType,
    computed_once,
    operations_of,
)


@dataclass(frozen=True, slots=True)
class Rights:
    """How many rights there are on existing names: today, and how many of them would go."""

    today: int
    removed: int


@dataclass(frozen=True, slots=True)
class HeldRight:
    """One operation on one name that ACLs give. lines: the logged requests that it allows."""

    resource_type: ResourceType
    name: str
    operation: Operation
    lines: int


class HeldRights:
    """The rights that some ALLOWs give on names that exist or were used, in order: by type, name and operation.

    A right is made when it is asked for, because a principal may have hundreds of thousands.
    """

    def __init__(
        self,
        masks: Mapping[ResourceType, _Masks],
        lines: Mapping[_Place, int],
        places: Mapping[ResourceType, Sequence[tuple[int, _Place]]],
    ) -> None:
        self._masks = [masks[kind] for kind in sorted(masks, key=lambda kind: kind.code)]
        self._lines = lines
        self._held: list[_Place] = []
        for each in self._masks:
            self._held += each.held(places.get(each.kind, ()))

    @computed_once
    def used(self) -> tuple[HeldRight, ...]:
        """Those that logged requests used."""
        held = (HeldRight(*place, self._lines[place]) for place in self._held)
        return tuple(sorted(held, key=_in_order))

    def __len__(self) -> int:
        return sum(each.total for each in self._masks)

    def __iter__(self) -> Iterator[HeldRight]:
        for each in self._masks:
            kind = each.kind
            bits = [(operation, 1 << operation.code) for operation in each.operations]
            for name, mask in each:
                for operation, bit in bits:
                    if mask & bit:
                        yield HeldRight(kind, name, operation, self._lines.get((kind, name, operation), 0))

    @property
    def unused(self) -> Iterator[HeldRight]:
        """Those that no logged request used."""
        return (each for each in self if not each.lines)

    @property
    def unused_number(self) -> int:
        return len(self) - len(self._held)


class LoggedRights:
    """Which rights on names some logged requests use, filed once to be asked of several sets of ALLOWs.

    A request counts for the right of its operation, and for one that brings this along.
    """

    def __init__(
        self,
        used: Iterable[Used],
        existing: Mapping[ResourceType, SortedNames],
        settings: AuthorizerSettings,
    ) -> None:
        lines: dict[_Place, int] = {}
        names: dict[ResourceType, set[str]] = {}
        for each in used:
            request = each.request
            if request.resource_name is None:
                continue
            names.setdefault(request.resource_type, set()).add(request.resource_name)
            for operation in (request.operation, *_BRINGING.get(request.operation, ())):
                place = request.resource_type, request.resource_name, operation
                lines[place] = lines.get(place, 0) + each.lines
        self._settings, self._lines = settings, lines
        self._known = {
            kind: _with(existing.get(kind, _NO_NAMES), names.get(kind, ())) for kind in {*existing, *names}
        }
        self._places: dict[ResourceType, list[tuple[int, _Place]]] = {}
        for (kind, name, operation), number in lines.items():
            if number:
                place = kind, name, operation
                self._places.setdefault(kind, []).append((self._known[kind].place_of(name), place))

    def of(self, bindings: Iterable[AclBinding]) -> HeldRights:
        """Return each right that these ALLOWs give on a name that exists or was used."""
        masks = _masks_by_type(bindings, self._known, self._settings)
        return HeldRights(masks, self._lines, self._places)


_Place = tuple[ResourceType, str, Operation]
_NO_NAMES = SortedNames(())


def _with(names: SortedNames, more: Collection[str]) -> SortedNames:
    """Return names with more of them; the same ones where these are all among them."""
    new = [name for name in more if name not in names]
    return SortedNames((*names, *new)) if new else names


def _in_order(right: HeldRight) -> tuple[int, str, int]:
    return right.resource_type.code, right.name, right.operation.code


_BRINGING: dict[Operation, tuple[Operation, ...]] = {}
for _wide, _narrow in IMPLIED.items():
    _BRINGING[_narrow] = (*_BRINGING.get(_narrow, ()), _wide)


def rights_of(
    before: Iterable[AclBinding],
    after: Iterable[AclBinding],
    existing: Mapping[ResourceType, SortedNames],
    settings: AuthorizerSettings,
) -> Rights:
    """Return the rights that some ALLOWs give, and those of them that others no longer do."""
    old, new = (_masks_by_type(bindings, existing, settings) for bindings in (before, after))
    return Rights(
        today=sum(each.every for each in old.values()),
        removed=sum(each.without(new[kind]) for kind, each in old.items()),
    )


class _Masks:
    """For each name of a type the operations that some ALLOWs name, as bits.

    Names of the same bits beside each other are one stretch: few ACLs make few of these, however many names there are.
    """

    def __init__(self, kind: ResourceType, names: SortedNames, settings: AuthorizerSettings) -> None:
        self.kind, self.operations = kind, sorted(operations_of(kind, settings), key=lambda each: each.code)
        self._names, self._settings = names, settings
        self._asked = sum(1 << operation.code for operation in self.operations)
        # Where the bits of an ALLOW begin to count, and where they end.
        self._begins: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}

    def add(self, binding: AclBinding) -> None:
        """Take what one ALLOW names."""
        bits = self._asked if binding.operation is Operation.ALL else 1 << binding.operation.code
        for start, end in _stretches(self._names.places_under(binding, self._settings)):
            self._begins.setdefault(start, []).append(bits)
            self._ends.setdefault(end, []).append(bits)

    @computed_once
    def _steps(self) -> tuple[list[int], list[int]]:
        """The places at which stretches begin, in order, and the bits of each stretch up to the next; 0 before all."""
        starts = sorted({*self._begins, *self._ends})
        counting: Counter[int] = Counter()
        masks = []
        for start in starts:
            counting.update(self._begins.get(start, ()))
            counting.subtract(self._ends.get(start, ()))
            masks.append(reduce(or_, (bits for bits, number in counting.items() if number), 0))
        return starts, masks

    def _stretched(self) -> Iterator[tuple[int, int, int]]:
        """Yield start, end and bits of each stretch that has any."""
        starts, masks = self._steps
        for (start, end), mask in zip(pairwise(starts), masks, strict=False):
            if mask:
                yield start, end, mask

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield the names with any bits, in order, and these."""
        for start, end, mask in self._stretched():
            for place in range(start, end):
                yield self._names.names[place], mask

    def held(self, places: Iterable[tuple[int, _Place]]) -> list[_Place]:
        """Return those of these rights, each with where its name is, that they name and brokers ask for."""
        bits = {operation: 1 << operation.code for operation in self.operations}
        return [right for place, right in places if self._at(place) & bits.get(right[2], 0)]

    def _at(self, place: int) -> int:
        starts, masks = self._steps
        step = bisect_right(starts, place) - 1
        return masks[step] if step >= 0 else 0

    @property
    def total(self) -> int:
        """How many rights there are, of operations that brokers ask for."""
        return sum((mask & self._asked).bit_count() * (end - start) for start, end, mask in self._stretched())

    @property
    def every(self) -> int:
        """How many rights there are."""
        return sum(mask.bit_count() * (end - start) for start, end, mask in self._stretched())

    def without(self, others: _Masks) -> int:
        """Return how many of the rights others of the same names lack."""
        starts = sorted({*self._steps[0], *others._steps[0]})
        return sum(
            (self._at(start) & ~others._at(start)).bit_count() * (end - start)
            for start, end in pairwise(starts)
        )


def _stretches(places: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return where places beside each other begin and end (excluded); places: in order."""
    if not places:
        return ()
    if isinstance(places, range):
        return ((places.start, places.stop),)
    begins = (place for before, place in pairwise((-2, *places)) if before + 1 < place)
    ends = (before + 1 for before, place in pairwise((*places, places[-1] + 2)) if before + 1 < place)
    return zip(begins, ends, strict=True)


def _masks_by_type(
    bindings: Iterable[AclBinding],
    existing: Mapping[ResourceType, SortedNames],
    settings: AuthorizerSettings,
) -> dict[ResourceType, _Masks]:
    """Return for each type the operations that the ALLOWs name on each existing name."""
    found = {kind: _Masks(kind, names, settings) for kind, names in existing.items()}
    for binding in bindings:
        if binding.permission_type is PermissionType.ALLOW and binding.resource_type in found:
            found[binding.resource_type].add(binding)
    return found
