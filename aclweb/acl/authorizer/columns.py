"""How are very many ACLs held without making a value of each?

Column by column: a text that occurs is held once, and what an ACL has of it is a number. The ACLs stand by pattern,
those of one pattern beside each other, so that the ACLs of a name are found by its place among the sorted names. An
`AclBinding` is made when somebody asks for it, and kept then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain, compress, count, islice, pairwise, repeat
from operator import ne
from typing import Any, Self, TypeAlias, overload

from aclweb.acl.matching import PrefixChain
from aclweb.acl.model import (
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    computed_once,
)

Codes: TypeAlias = "array[int]"
Row = tuple[Any, ...]
"""The number of an ACL, its resource type, name, pattern type, principal, host, operation and permission.

Words as Kafka's enums are called. What was seen later has a higher number.
"""

_ROWS_AT_ONCE = 5000
# Fewer than all divided by this are made one by one.
_MANY_OF_ALL = 8
# Whoever asks for more of them one after the other will have all of them made at once, which is faster.
_MADE_ONE_BY_ONE = 200


@dataclass(frozen=True, slots=True)
class Block:
    """The patterns of one resource type and pattern type: their names, sorted, and the number of the first."""

    resource_type: ResourceType
    pattern_type: PatternType
    names: tuple[str, ...]
    first: int

    @property
    def end(self) -> int:
        return self.first + len(self.names)

    def number_of(self, name: str) -> int:
        """Return the number of the pattern with this name, -1 if there is none."""
        place = bisect_left(self.names, name)
        return self.first + place if place < len(self.names) and self.names[place] == name else -1


class AclColumns:
    """ACLs that differ, by pattern; a place is that of an ACL in this order.

    order: the places of the ACLs in first-seen order. numbers: the number of each ACL in this order, ascending. starts:
    for each pattern the place of its first ACL, and at the end how many ACLs there are. chains: by the first number of
    a block, those of its names, where they are known. made: by place the ACLs that are made already.
    """

    def __init__(
        self,
        *,
        blocks: Sequence[Block],
        acts: Sequence[tuple[Operation, PermissionType]],
        principals: Sequence[str],
        hosts: Sequence[str],
        order: Codes,
        numbers: Codes,
        starts: Codes,
        act: Codes,
        principal: Codes,
        host: Codes,
        chains: dict[int, PrefixChain] | None = None,
        made: list[AclBinding | None] | None = None,
    ) -> None:
        self.blocks, self.acts = tuple(blocks), tuple(acts)
        self.principals, self.hosts = tuple(principals), tuple(hosts)
        self.order, self.numbers, self.starts = order, numbers, starts
        self.act, self.principal, self.host = act, principal, host
        self._chains = chains if chains is not None else {}
        self._firsts = [block.first for block in self.blocks]
        self.made: list[AclBinding | None] = made if made is not None else [None] * len(order)
        self._all_made = False
        # Whether nearly all of them were made here, and not for the columns that these were made of.
        self.made_its_own = False
        # Surrounds the making of all ACLs, which are then kept; takes how many they are.
        self.making_all: Callable[[int], AbstractContextManager[None]] = _nothing_around

    def __len__(self) -> int:
        return len(self.order)

    @classmethod
    def of_rows(cls, rows: Iterable[Row], read: Callable[[str], str] = str) -> Self:
        """Return the ACLs of rows that differ, by ascending number.

        read: what makes a name, principal or host of what a row has.
        """
        names: list[str] = []
        numbers = array("Q")
        kind, act, principal, host = array("B"), array("H"), array("I"), array("I")
        kinds, acts, principals, hosts = _Codes(_as_is), _Codes(_as_is), _Codes(read), _Codes(read)
        waiting = iter(rows)
        while some := list(islice(waiting, _ROWS_AT_ONCE)):
            numbered, types, called, pattern_types, whos, froms, operations, permissions = zip(
                *some, strict=True
            )
            numbers.extend(numbered)
            names += called
            kind.extend(map(kinds.__getitem__, zip(types, pattern_types, strict=True)))
            act.extend(map(acts.__getitem__, zip(operations, permissions, strict=True)))
            principal.extend(map(principals.__getitem__, whos))
            host.extend(map(hosts.__getitem__, froms))
        if any("\\" in name for name in names):
            texts = _Texts(read)
            names = [texts[name] if "\\" in name else name for name in names]
        blocks, starts, row = _sorted_by_pattern(names, kind, kinds.of)
        return cls(
            blocks=blocks,
            acts=[(Operation[word], PermissionType[other]) for word, other in acts.of],
            principals=list(principals.of),
            hosts=list(hosts.of),
            order=inverse(row),
            numbers=narrowed(numbers, numbers[-1] if numbers else 0),
            starts=starts,
            act=_moved(act, row),
            principal=_moved(principal, row),
            host=_moved(host, row),
        )

    @classmethod
    def of(cls, bindings: Iterable[AclBinding]) -> Self:
        """Return the columns of bindings that differ."""
        return cls.of_rows(map(_row, count(1), bindings))

    def at(self, place: int) -> AclBinding:
        """Return the ACL at a place."""
        made = self.made[place]
        return made if made is not None else self._make(place, *self.pattern_at(place))

    def pattern_at(self, place: int) -> tuple[Block, int]:
        """Return the pattern of the ACL at a place, as its block and its number."""
        number = bisect_right(self.starts, place) - 1
        return self.blocks[bisect_right(self._firsts, number) - 1], number

    def count_of_pattern(self, number: int) -> int:
        """Return how many ACLs one pattern has."""
        return self.starts[number + 1] - self.starts[number]

    def of_pattern(self, block: Block, number: int) -> list[AclBinding]:
        """Return the ACLs of one pattern, in first-seen order."""
        kept = self.made
        return [
            kept[place] or self._make(place, block, number)
            for place in range(self.starts[number], self.starts[number + 1])
        ]

    def all_at(self, places: Sequence[int]) -> AclsAt:
        """Return the ACLs at these places, each of which is made when it is asked for."""
        return AclsAt(self, places)

    def list_at(self, places: Iterable[int]) -> list[AclBinding]:
        """Return the ACLs at these places."""
        made, at = self.made, self.at
        return [made[place] or at(place) for place in places]

    def bindings(self) -> tuple[AclBinding, ...]:
        """Return all ACLs, in first-seen order."""
        self.make_all()
        return tuple(map(self.made.__getitem__, self.order))  # type: ignore[arg-type]

    def make_all(self) -> None:
        """Make all ACLs that are not made yet."""
        if self._all_made:
            return
        with self.making_all(len(self)):
            self._make_all()
        self._all_made = True

    def _make_all(self) -> None:
        kept = self.made
        missing = kept.count(None)
        if missing * _MANY_OF_ALL < len(kept):
            for place in [place for place, made in enumerate(kept) if made is None]:
                self.at(place)
            return
        self.made_its_own = True
        for block in self.blocks:
            lowest, end = self.starts[block.first], self.starts[block.end]
            names = chain.from_iterable(map(repeat, block.names, self._lengths(block)))
            made = map(
                AclBinding,
                repeat(block.resource_type),
                names,
                repeat(block.pattern_type),
                map(self.principals.__getitem__, self.principal[lowest:end]),
                map(self.hosts.__getitem__, self.host[lowest:end]),
                *zip(*map(self.acts.__getitem__, self.act[lowest:end]), strict=True),
            )
            kept[lowest:end] = [old or new for old, new in zip(kept[lowest:end], made, strict=True)]

    def span(self, blocks: Sequence[Block]) -> tuple[int, int]:
        """Return the places of blocks that stand beside each other, as start and end (excluded)."""
        return self.starts[blocks[0].first], self.starts[blocks[-1].end]

    def seen_within(self, start: int, end: int) -> Codes:
        """Return the places from `start` to before `end`, in first-seen order."""
        if end - start == len(self.order):
            return self.order
        return array("I", (place for place in self.order if start <= place < end))

    def chain_of(self, block: Block) -> PrefixChain:
        """Return the chain of the names of a block, but for the empty one."""
        found = self.known_chain(block)
        if found is None:
            names = block.names[1:] if block.names[0] == "" else block.names
            found = self._chains[block.first] = PrefixChain.of_sorted(names)
        return found

    def known_chain(self, block: Block) -> PrefixChain | None:
        """Return the same where it was made already."""
        return self._chains.get(block.first)

    def by_principal(self, places: Iterable[int]) -> dict[str, Codes]:
        """Return principal -> its places among these, each in their order."""
        groups: dict[int, Codes] = {}
        principal = self.principal
        for place in places:
            code = principal[place]
            group = groups.get(code)
            if group is None:
                groups[code] = array("I", (place,))
            else:
                group.append(place)
        return {self.principals[code]: group for code, group in groups.items()}

    @computed_once
    def places_of_principals(self) -> dict[str, Codes]:
        """principal -> the places of its ACLs, in first-seen order."""
        return self.by_principal(self.order)

    def count_by_principal(self, permission: PermissionType | None = None) -> Counter[str]:
        """Return how many ACLs name each principal, of all or of one permission."""
        codes: Iterable[int] = self.principal
        if permission is not None:
            wanted = {code for code, (_, other) in enumerate(self.acts) if other is permission}
            codes = (who for who, act in zip(self.principal, self.act, strict=True) if act in wanted)
        return Counter({self.principals[code]: count for code, count in Counter(codes).items()})

    def count_by_group(
        self,
        blocks: Iterable[Block],
        permission: PermissionType,
        groups: Callable[[Sequence[str], PatternType], Iterable[str]],
    ) -> Counter[tuple[str, str]]:
        """Return how many ACLs of these blocks and a permission name each principal, by the group of their names.

        groups: returns the group of each of some names, which are sorted, of patterns of one type.
        """
        wanted = [other is permission for _, other in self.acts]
        codes: dict[str, int] = {}
        found: Counter[tuple[int, int]] = Counter()
        for block in blocks:
            lowest, end = self.starts[block.first], self.starts[block.end]
            of_names = (
                codes.setdefault(each, len(codes)) for each in groups(block.names, block.pattern_type)
            )
            each_group = chain.from_iterable(map(repeat, of_names, self._lengths(block)))
            is_wanted = map(wanted.__getitem__, self.act[lowest:end])
            found.update(compress(zip(self.principal[lowest:end], each_group, strict=True), is_wanted))
        called = list(codes)
        return Counter(
            {(self.principals[who], called[code]): number for (who, code), number in found.items()}
        )

    def _lengths(self, block: Block) -> Iterator[int]:
        """Return how many ACLs each pattern of a block has."""
        return (after - before for before, after in pairwise(self.starts[block.first : block.end + 1]))

    def _make(self, place: int, block: Block, number: int) -> AclBinding:
        made = self.made[place] = AclBinding(
            block.resource_type,
            block.names[number - block.first],
            block.pattern_type,
            self.principals[self.principal[place]],
            self.hosts[self.host[place]],
            *self.acts[self.act[place]],
        )
        return made


class AclsAt(Sequence[AclBinding]):
    """The ACLs at some places of columns, in the order of these places; equal to any list of equal ones."""

    def __init__(self, columns: AclColumns, places: Sequence[int]) -> None:
        self._columns, self._places = columns, places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[AclBinding]:
        yield from map(self._columns.at, self._places[:_MADE_ONE_BY_ONE])
        if len(self._places) * _MANY_OF_ALL > len(self._columns):
            self._columns.make_all()
        yield from self._columns.list_at(self._places[_MADE_ONE_BY_ONE:])

    @overload
    def __getitem__(self, place: int) -> AclBinding: ...

    @overload
    def __getitem__(self, place: slice) -> AclsAt: ...

    def __getitem__(self, place: int | slice) -> AclBinding | AclsAt:
        if isinstance(place, slice):
            return AclsAt(self._columns, self._places[place])
        return self._columns.at(self._places[place])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AclsAt | tuple | list):
            return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _nothing_around(_: int) -> AbstractContextManager[None]:
    return nullcontext()


class _Texts(dict[str, str]):
    """What a row has -> its text, which is read once."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read

    def __missing__(self, stored: str) -> str:
        text = self[stored] = self._read(stored)
        return text


class _Codes(dict[Any, int]):
    """What a column holds -> its number; what is new gets the next one."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read
        self.of: dict[Any, int] = {}

    def __missing__(self, stored: Any) -> int:
        code = self[stored] = self.of.setdefault(self._read(stored), len(self.of))
        return code


def _as_is(words: tuple[str, str]) -> tuple[str, str]:
    return words


def _row(number: int, binding: AclBinding) -> Row:
    return (
        number,
        binding.resource_type._name_,
        binding.resource_name,
        binding.pattern_type._name_,
        binding.principal,
        binding.host,
        binding.operation._name_,
        binding.permission_type._name_,
    )


def _sorted_by_pattern(
    names: Sequence[str], kind: Codes, kinds: Mapping[tuple[str, str], int]
) -> tuple[list[Block], Codes, Codes]:
    """Return the blocks, where the ACLs of each pattern start, and the row of the ACL at each place.

    names, kind: of each row. kinds: the code of a resource type with a pattern type. Those of one resource type stand
    beside each other.
    """
    blocks: list[Block] = []
    starts, row = array("I"), array("I")
    patterns = 0
    for type_and_pattern, code in sorted(kinds.items()):
        rows = sorted(compress(count(), map(code.__eq__, kind)), key=names.__getitem__)
        called = list(map(names.__getitem__, rows))
        is_first = list(map(ne, called, chain((None,), called)))
        distinct = tuple(compress(called, is_first))
        starts.extend(compress(count(len(row)), is_first))
        row.extend(rows)
        word, other = type_and_pattern
        blocks.append(Block(ResourceType[word], PatternType[other], distinct, patterns))
        patterns += len(distinct)
    starts.append(len(row))
    return blocks, starts, row


def inverse(row: Codes) -> Codes:
    """Return the place of each row, or the row of each place."""
    order = array("I", bytes(4 * len(row)))
    for place, number in enumerate(row):
        order[number] = place
    return order


def _moved(column: Codes, row: Codes) -> Codes:
    """Return a column with what the row of each place has there."""
    return narrowed(map(column.__getitem__, row), max(column, default=0))


def narrowed(codes: Iterable[int], most: int) -> Codes:
    """Return codes in as few bytes each as the largest of them needs."""
    width = "B" if most < 1 << 8 else "H" if most < 1 << 16 else "I" if most < 1 << 32 else "Q"
    return array(width, codes)
