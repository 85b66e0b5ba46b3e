"""How do columns of ACLs become those after an edit, without making them of all rows anew?

What the edit leaves alone is copied in pieces, so it costs a small part of that, and what an ACL was made of before is
kept. Equal to columns of the rows after the edit; those before it stay as they were.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from aclweb.acl.authorizer.columns import AclColumns, Block, Codes, Row, inverse, narrowed
from aclweb.acl.matching import PrefixChain
from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType

# To look for one number in a column takes about a tenth of what a set of all of them does, where it is not there.
_LOOKED_FOR_ONE_BY_ONE = 4
_Kind = tuple[str, str]
_Step = tuple[int, int]
"""A place with -1 where what is there goes, or with which of what comes is put before it."""
_Column = TypeVar("_Column", "array[int]", "list[AclBinding | None]")


def columns_after(
    before: AclColumns, *, gone: Iterable[int], come: Iterable[Row], read: Callable[[str], str] = str
) -> AclColumns:
    """Return the columns without the ACLs of these numbers, and with those of these rows, which differ from the others.

    Raises ValueError where one that goes is not there, or one that comes has a number that is. read: as of `of_rows`.
    """
    edit = _Edit.of(before, gone, come, read)
    blocks, starts, chains = _patterns(before, edit)
    columns: dict[str, Codes] = {}
    texts: dict[str, Sequence[Any]] = {}
    for name, known in (("act", before.acts), ("principal", before.principals), ("host", before.hosts)):
        column: Codes = getattr(before, name)
        codes: dict[Any, int] = {text: code for code, text in enumerate(known)}
        new = [codes.setdefault(getattr(acl, name), len(codes)) for acl in edit.come]
        spliced = _spliced(_wide_enough(column, len(codes) - 1), edit.steps, new)
        perhaps = {column[place] for place in edit.gone}
        columns[name], texts[name] = _without_unused(spliced, list(codes), perhaps)
    order, numbers = _order(before, edit)
    return AclColumns(
        blocks=blocks,
        acts=texts["act"],
        principals=texts["principal"],
        hosts=texts["host"],
        order=order,
        numbers=numbers,
        starts=starts,
        chains=chains,
        made=_spliced(before.made, edit.steps, [None] * len(edit.come)),
        **columns,
    )


@dataclass(frozen=True, slots=True)
class _Come:
    """An ACL that comes. before: the place of the ACL before which it will stand."""

    kind: _Kind
    name: str
    number: int
    act: tuple[Operation, PermissionType]
    principal: str
    host: str
    before: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """rows_gone, gone: the places of the ACLs that go, in first-seen order and by pattern.

    come: in the order in which they will stand by pattern. steps: by pattern, ascending.
    """

    rows_gone: Sequence[int]
    gone: Sequence[int]
    come: Sequence[_Come]
    steps: Sequence[_Step]

    @classmethod
    def of(
        cls, before: AclColumns, gone: Iterable[int], come: Iterable[Row], read: Callable[[str], str]
    ) -> _Edit:
        rows_gone = [_row_of(before.numbers, number) for number in set(gone)]
        places_gone = [before.order[row] for row in rows_gone]
        made = _in_place_order(before, list(come), read)
        steps = [(acl.before, each) for each, acl in enumerate(made)] + [(place, -1) for place in places_gone]
        return cls(rows_gone, places_gone, made, sorted(steps, key=_come_first))


def _row_of(numbers: Codes, number: int) -> int:
    row = bisect_left(numbers, number)
    if row == len(numbers) or numbers[row] != number:
        raise ValueError(f"The ACL with the number {number} is to go, and is not there.")
    return row


def _in_place_order(before: AclColumns, rows: Sequence[Row], read: Callable[[str], str]) -> list[_Come]:
    if not rows:
        return []
    blocks = {_kind_of(block): block for block in before.blocks}
    made: list[_Come] = []
    row_at: Codes | None = None
    for number, kind, name, pattern_type, principal, host, operation, permission in rows:
        row = bisect_left(before.numbers, number)
        if row < len(before.numbers) and before.numbers[row] == number:
            raise ValueError(f"An ACL with the number {number} is to come, and is there.")
        called, key = read(name), (kind, pattern_type)
        act = (Operation[operation], PermissionType[permission])
        # Among the ACLs of its pattern those stand first that were seen first.
        lowest, end = _places(before, blocks, key, called)
        place = end
        if lowest < end and row < len(before):
            row_at = row_at if row_at is not None else inverse(before.order)
            place = bisect_left(row_at, row, lowest, end)
        made.append(_Come(key, called, number, act, read(principal), read(host), place))
    return sorted(made, key=lambda acl: (acl.kind, acl.name, acl.number))


def _places(before: AclColumns, blocks: dict[_Kind, Block], kind: _Kind, name: str) -> tuple[int, int]:
    """Return the places of the ACLs of a pattern, as start and end (excluded)."""
    block = blocks.get(kind)
    if block is None:
        first = next((block.first for other, block in sorted(blocks.items()) if other > kind), None)
        place = before.starts[first] if first is not None else len(before)
        return place, place
    number = block.first + bisect_left(block.names, name)
    is_there = block.number_of(name) >= 0
    return before.starts[number], before.starts[number + is_there]


def _kind_of(block: Block) -> _Kind:
    return block.resource_type._name_, block.pattern_type._name_


def _patterns(before: AclColumns, edit: _Edit) -> tuple[list[Block], Codes, dict[int, PrefixChain]]:
    """Return the blocks afterwards, where the ACLs of each pattern start, and the chains of names that stay."""
    more: defaultdict[_Kind, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for acl in edit.come:
        more[acl.kind][acl.name] += 1
    for place in edit.gone:
        block, number = before.pattern_at(place)
        more[_kind_of(block)][block.names[number - block.first]] -= 1
    old = {_kind_of(block): block for block in before.blocks}
    patterns = len(before.starts) - 1
    blocks: list[Block] = []
    starts, chains = array("I"), dict[int, PrefixChain]()
    shift = first = seen = 0
    for kind in sorted(old.keys() | more.keys()):
        block = old.get(kind) or Block(ResourceType[kind[0]], PatternType[kind[1]], (), seen)
        names, shift = _with_counts(block, before.starts, sorted(more.get(kind, {}).items()), starts, shift)
        seen = block.end
        if not names:
            continue
        blocks.append(replace(block, names=names, first=first))
        if names is block.names and (known := before.known_chain(block)) is not None:
            chains[first] = known
        first += len(names)
    starts.append(before.starts[patterns] + shift)
    return blocks, starts, chains


def _with_counts(
    block: Block, starts: Codes, changes: Sequence[tuple[str, int]], after: Codes, shift: int
) -> tuple[tuple[str, ...], int]:
    """Return the names of a block that have ACLs afterwards, and by how many ACLs what is behind it moves.

    changes: how many more ACLs each name has, sorted. after: takes where the ACLs of each name start. shift: by how
    many ACLs the block itself moves.
    """
    names: list[str] = []
    done = block.first

    def take(end: int) -> None:
        nonlocal names
        names += block.names[done - block.first : end - block.first]
        after.extend(map(shift.__add__, starts[done:end]) if shift else starts[done:end])

    for name, by in changes:
        number = block.first + bisect_left(block.names, name)
        is_there = block.number_of(name) >= 0
        take(number)
        if (starts[number + 1] - starts[number] if is_there else 0) + by:
            names.append(name)
            after.append(starts[number] + shift)
        done, shift = number + is_there, shift + by
    take(block.end)
    same = len(names) == len(block.names) and all(block.number_of(name) >= 0 for name, _ in changes)
    return block.names if same else tuple(names), shift


def _spliced(column: _Column, steps: Iterable[_Step], new: Sequence[Any]) -> _Column:
    """Return a column without what goes, and with what is new of each ACL that comes."""
    added: Any = array(column.typecode, new) if isinstance(column, array) else new
    after: Any = column[:0]
    done = 0
    for place, number in steps:
        after += column[done:place]
        after += added[number : number + 1]
        done = place + (number < 0)
    after += column[done:]
    return after  # type: ignore[no-any-return]


def _come_first(step: _Step) -> tuple[int, bool, int]:
    """What comes before a place is put there before what is in it goes."""
    place, number = step
    return place, number < 0, number


def _wide_enough(column: Codes, most: int) -> Codes:
    wider = narrowed((), most)
    return column if column.itemsize >= wider.itemsize else array(wider.typecode, column)


def _without_unused(
    column: Codes, texts: Sequence[Any], perhaps: Collection[int]
) -> tuple[Codes, Sequence[Any]]:
    """Return a column and what its numbers mean without what none of them means; only these perhaps do not."""
    if len(perhaps) <= _LOOKED_FOR_ONE_BY_ONE and all(code in column for code in perhaps):
        return column, texts
    used = sorted(set(column))
    if len(used) == len(texts):
        return column, texts
    new = dict(zip(used, range(len(used)), strict=True))
    return narrowed(map(new.__getitem__, column), len(used)), [texts[code] for code in used]


def _order(before: AclColumns, edit: _Edit) -> tuple[Codes, Codes]:
    """Return the places of the ACLs in first-seen order afterwards, and their numbers."""
    place_of, come_to = _new_places(len(before), edit.steps)
    by_number = sorted(range(len(edit.come)), key=lambda each: edit.come[each].number)
    numbers = [edit.come[each].number for each in by_number]
    steps = [(bisect_left(before.numbers, number), each) for each, number in enumerate(numbers)]
    steps += [(row, -1) for row in edit.rows_gone]
    steps.sort(key=_come_first)
    wide = _wide_enough(before.numbers, max(numbers, default=0))
    # What comes has places behind all others, until all have their new ones.
    order = _spliced(before.order, steps, [len(before) + each for each in by_number])
    place_of.extend(come_to)
    return array("I", map(place_of.__getitem__, order)), _spliced(wide, steps, numbers)


def _new_places(count: int, steps: Sequence[_Step]) -> tuple[Codes, Sequence[int]]:
    """Return for each place before the one afterwards, and the places of what comes; one that goes has any."""
    places, come = array("I"), list[int]()
    done = shift = 0
    for place, number in steps:
        places.extend(range(done + shift, place + shift))
        if number < 0:
            places.append(0)
            done, shift = place + 1, shift - 1
        else:
            come.append(place + shift)
            done, shift = place, shift + 1
    places.extend(range(done + shift, count + shift))
    return places, come
