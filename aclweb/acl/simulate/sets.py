"""How is a set of places one integer, and how does a set with large gaps take little room?

A set is an integer with a bit for each member. Sets of a hundred thousand names then cost
microseconds to join, to cut and to compare, and a set that is met twice is one key of a dictionary.
Sets that are kept take the least room (`least`): a few names far from one another are kept by the ends of their runs.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

_FEW = 8

_SPARSE = 4_096
"""Of so many places at least for each member, each is taken out sooner than all are written down."""

Run = tuple[int, int]
"""Neighbouring places: the first, and the one behind the last."""


def run(start: int, end: int) -> int:
    """Return the set of all places from `start` to before `end`."""
    return (1 << end - start) - 1 << start if end > start else 0


def places_in(members: int) -> Iterator[int]:
    """Yield the places of a set in ascending order."""
    for start, end in runs_of(members):
        yield from range(start, end)


def runs_of(members: int, offset: int = 0) -> Iterator[Run]:
    """Yield start and end of each run of neighbouring members, in ascending order. offset: what the place 0 is."""
    count = members.bit_count()
    if count <= _FEW or count * _SPARSE <= members.bit_length():
        yield from _runs_of_few(members, offset)
        return
    digits = f"{members:b}"  # the last is of the place 0
    last = len(digits) - 1 + offset
    one = digits.rfind("1")
    while one >= 0:
        zero = digits.rfind("0", 0, one)
        yield last - one, last - zero
        one = digits.rfind("1", 0, zero) if zero > 0 else -1


def _runs_of_few(members: int, offset: int) -> list[Run]:
    runs: list[Run] = []
    start = end = -1
    while members:
        # From the highest on, so that what is left gets smaller.
        place = members.bit_length() - 1
        members ^= 1 << place
        if place != start - 1:
            if start >= 0:
                runs.append((start + offset, end + offset))
            end = place + 1
        start = place
    if start >= 0:
        runs.append((start + offset, end + offset))
    runs.reverse()
    return runs


def set_of(places: Iterable[int]) -> int:
    """Return the set of these places."""
    found = list(places)
    if len(found) <= _FEW:
        members = 0
        for place in found:
            members |= 1 << place
        return members
    octets = bytearray((max(found) >> 3) + 1)
    for place in found:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


_DIGITS = bytes.maketrans(b"\0\1", b"01")


def set_of_flags(flags: Iterable[int]) -> int:
    """Return the set of the places whose flag is set, the first of which is that of the place 0."""
    digits = bytes(flags)[::-1].translate(_DIGITS)
    return int(digits, 2) if digits else 0


def flags_of(members: int, size: int) -> bytes:
    """Return for each of so many places whether a set holds it, in the order of the places."""
    return f"{members:0{size}b}"[::-1].encode("ascii").translate(_FLAGS)


_FLAGS = bytes.maketrans(b"01", b"\0\1")


class Windowed:
    """A large set, of which small parts are cut out at the cost of the part alone."""

    def __init__(self, members: int) -> None:
        self.members = members
        self._octets = members.to_bytes((members.bit_length() + 7) // 8, "little")

    def part(self, start: int, length: int) -> int:
        """Return so many places from one on, as if that was the place 0; perhaps with some more behind them."""
        first = start >> 3
        return int.from_bytes(self._octets[first : first + (length >> 3) + 2], "little") >> (start & 7)

    def holds(self, place: int) -> bool:
        """Whether a place is a member."""
        octet = place >> 3
        return octet < len(self._octets) and bool(self._octets[octet] >> (place & 7) & 1)


class Compact(NamedTuple):
    """A set of places that takes little room where they are few, or near one another in two parts.

    The names that begin with a text are such: single names, and far behind them PREFIX classes. low, tail:
    the two parts, each as a set of places from its own offset. There is no tail where `low` holds all.
    """

    low: int
    offset: int
    tail: int = 0
    tail_offset: int = 0

    @classmethod
    def of(cls, members: int) -> Compact:
        """Return a set in this form, which is the same for equal sets."""
        offset = _first(members)
        low = members >> offset if offset else members
        if low.bit_length() <= _LONG:
            return cls(low, offset)
        gap = low.to_bytes((low.bit_length() + 7) // 8, "little").find(_GAP)
        if gap < 0:
            return cls(low, offset)
        tail = low >> gap * 8
        first = _first(tail)
        return cls(low & (1 << gap * 8) - 1, offset, tail >> first, offset + gap * 8 + first)

    @classmethod
    def of_runs(cls, runs: Sequence[tuple[int, int]]) -> Compact:
        """Return the same set as `of` does of all places in runs that are in ascending order."""
        first = runs[0][0] if runs else 0
        return cls.of(set_of_runs((start - first, end - first) for start, end in runs)).moved(first)

    @classmethod
    def cut(cls, members: int, low: tuple[int, int], tail: tuple[int, int]) -> Compact:
        """Return those of a set that are in one of two runs of places, the first before the second."""
        return cls.of_parts(_between(members, *low), low[0], _between(members, *tail), tail[0])

    @classmethod
    def of_parts(cls, low: int, offset: int, tail: int, tail_offset: int) -> Compact:
        """Return the set of two parts; its form may be another than that of `of`."""
        if not low:
            low, offset, tail = tail, tail_offset, 0
        if not low & 1:
            first = _first(low)
            low, offset = low >> first, offset + first
        if not tail:
            return cls(low, offset)
        if not tail & 1:
            first = _first(tail)
            tail, tail_offset = tail >> first, tail_offset + first
        return cls(low, offset, tail, tail_offset)

    @property
    def members(self) -> int:
        """The set as if the offset was the place 0."""
        return self.low | self.tail << self.tail_offset - self.offset if self.tail else self.low

    @property
    def whole(self) -> int:
        """The set itself."""
        return self.low << self.offset | self.tail << self.tail_offset

    @property
    def size(self) -> int:
        """How many places these are."""
        return self.low.bit_count() + self.tail.bit_count()

    @property
    def is_single(self) -> bool:
        """Whether this is one place."""
        return self.low == 1 and not self.tail

    @property
    def octets(self) -> int:
        """About how many bytes this takes."""
        return (self.low.bit_length() + self.tail.bit_length()) // 8

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each run of neighbouring places, in ascending order."""
        first = runs_of(self.low, self.offset)
        return chain(first, runs_of(self.tail, self.tail_offset)) if self.tail else first

    def within(self, others: int) -> Compact:
        """Return those that a set holds too; the same object if these are all. Its form may be another."""
        low, offset, tail, tail_offset = self
        if low == 1 and not tail:
            return self if others >> offset & 1 else _NONE
        inside = low & (others >> offset if offset else others)
        if not tail:
            return self if inside == low else Compact(inside, offset)
        behind = tail & others >> tail_offset
        if inside == low and behind == tail:
            return self
        return Compact(inside, offset, behind, tail_offset)

    def within_windowed(self, others: Windowed) -> Compact:
        """Return the same as `within` does, at the cost of this set alone."""
        low, offset, tail, tail_offset = self
        if low == 1 and not tail:
            return self if others.holds(offset) else _NONE
        inside = low & others.part(offset, low.bit_length())
        if not tail:
            return self if inside == low else Compact(inside, offset)
        behind = tail & others.part(tail_offset, tail.bit_length())
        if inside == low and behind == tail:
            return self
        return Compact(inside, offset, behind, tail_offset)

    def less(self, others: Compact) -> Compact:
        """Return those that are not among some of them, which `within` gave. Its form may be another."""
        if others is self:
            return _NONE
        if not others:
            return self
        return Compact(self.low ^ others.low, self.offset, self.tail ^ others.tail, self.tail_offset)

    @property
    def by_runs(self) -> Places:
        """The same set, in little room where it is in few runs; its form may be another than that of `least`."""
        return self if self.octets <= _FEW else Scattered.of(self.runs())

    @property
    def canonical(self) -> Compact:
        """The same set in the form of `of`."""
        low, offset, tail, tail_offset = self
        if low & 1 and not tail and low.bit_length() <= _LONG:
            return Compact(low, offset) if tail_offset else self
        if low & 1 and tail & 1 and low.bit_length() <= _LONG // 2 and tail_offset - offset > _LONG:
            return self
        found = Compact.of(self.members)
        return found.moved(self.offset)

    @property
    def dense(self) -> Compact:
        """The same set."""
        return self

    @property
    def least(self) -> Places:
        """The same set in the form of `least`."""
        if self.is_single:
            return Compact(1, self.offset) if self.tail_offset else self
        found = self.canonical
        last = found.tail_offset + found.tail.bit_length() if found.tail else 0
        span = max(last, found.offset + found.low.bit_length()) - found.offset
        if span > _SHORT:
            # The highest of each run.
            count = (found.low & ~(found.low >> 1)).bit_count() + (
                found.tail & ~(found.tail >> 1)
            ).bit_count()
            if _are_scattered(count, span):
                return Scattered.of(found.runs())
        return found

    def moved(self, places: int) -> Compact:
        """Return the same set so many places further."""
        low, offset, tail, tail_offset = self
        return Compact(low, offset + places, tail, tail_offset + places if tail else 0)

    def __bool__(self) -> bool:
        return bool(self.low or self.tail)


class Scattered(NamedTuple):
    """A set of places in few runs that are far from one another. ends: start and end of each, four bytes each."""

    ends: bytes

    @classmethod
    def of(cls, runs: Iterable[tuple[int, int]]) -> Scattered:
        """Return the set of all places in runs in ascending order, with gaps between them."""
        return cls(array("I", chain.from_iterable(runs)).tobytes())

    @property
    def all_ends(self) -> array[int]:
        """Start and end of each run, in ascending order."""
        found = array("I")
        found.frombytes(self.ends)
        return found

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each run of neighbouring places, in ascending order."""
        ends = iter(self.all_ends)
        return zip(ends, ends, strict=True)

    @property
    def whole(self) -> int:
        """The set itself."""
        return set_of_runs(self.runs())

    @property
    def dense(self) -> Compact:
        """The same set, of which parts can be cut out."""
        return Compact.of(self.whole)

    @property
    def least(self) -> Scattered:
        """The same set."""
        return self

    @property
    def size(self) -> int:
        """How many places these are."""
        ends = self.all_ends
        return sum(ends[1::2]) - sum(ends[::2])

    @property
    def octets(self) -> int:
        """About how many bytes this takes."""
        return len(self.ends)

    @property
    def offset(self) -> int:
        """The first place."""
        return self.all_ends[0]

    @property
    def is_single(self) -> bool:
        """Whether this is one place: it is not."""
        return False


Places = Compact | Scattered
"""A set that is kept, in the form that takes the least room. Equal sets have the same form."""


class InOrder:
    """A set, to be put in order with others. It is unfolded when it is compared: all at once take much room."""

    __slots__ = ("_names",)

    def __init__(self, names: Places) -> None:
        self._names = names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InOrder) and self._names == other._names

    def __lt__(self, other: InOrder) -> bool:
        return self._names.dense < other._names.dense

    __hash__ = None  # type: ignore[assignment]


def least(members: int) -> Places:
    """Return a set in the form that takes the least room."""
    return Compact.of(members).least


def least_of_runs(runs: Iterable[tuple[int, int]]) -> Places:
    """Return the set of all places in runs in ascending order of their starts."""
    joined = list(_apart(runs))
    if joined and _are_scattered(len(joined), joined[-1][1] - joined[0][0]):
        return Scattered.of(joined)
    return Compact.of_runs(joined)


def joined_of(parts: Sequence[Places]) -> Places:
    """Return all that some sets hold which do not overlap, in the form that takes the least room.

    Of a set that comes with others that lie within it, these are left out: what an odd number of them holds is held.
    """
    if len(parts) == 1:
        return parts[0].least
    widest: Sequence[int] = ()
    ends = set[int]()
    dense = 0
    for part in parts:
        if isinstance(part, Scattered):
            own: Sequence[int] = part.all_ends
            if len(own) > len(widest):
                own, widest = widest, own
            ends.symmetric_difference_update(own)
        elif part.is_single:
            ends ^= {part.offset, part.offset + 1}
        elif part.octets > _SHORT // 8 and not _are_scattered(part.size, part.octets * 8):
            dense ^= part.whole
        else:
            ends.symmetric_difference_update(chain.from_iterable(part.runs()))
    found = _turned(widest, ends)
    return least(dense ^ set_of_runs(_in_pairs(found))) if dense else _least_of_ends(found)


_SEARCHED = 8
"""Of so many numbers for each, one is searched sooner than all are sorted."""


def _turned(ends: Sequence[int], others: set[int]) -> Sequence[int]:
    """Return those of some numbers in order and of some others that are in one of both, in order."""
    if len(ends) < len(others) * _SEARCHED:
        return sorted(others.symmetric_difference(ends))
    found = array("I", ends)
    for end in others:
        place = bisect_left(found, end)
        if place < len(found) and found[place] == end:
            del found[place]
        else:
            found.insert(place, end)
    return found


def _least_of_ends(ends: Sequence[int]) -> Places:
    """Return the set of all places in runs, whose ends these are, in order, in the form of `least`."""
    if ends and _are_scattered(len(ends) // 2, ends[-1] - ends[0]):
        return Scattered(array("I", ends).tobytes())
    return Compact.of_runs(_in_pairs(ends))


def of_places(places: Iterable[int]) -> Places:
    """Return the set of these places, by its runs; its form may be another than that of `least`."""
    own = set(places)
    ends = own.symmetric_difference([place + 1 for place in own])
    return Scattered(array("I", sorted(ends)).tobytes())


def _in_pairs(ends: Sequence[int]) -> list[Run]:
    return list(zip(ends[::2], ends[1::2], strict=True))


def whole_of(parts: Iterable[Places]) -> int:
    """Return all that some sets hold, as one integer."""
    members, runs = 0, set[tuple[int, int]]()
    for part in parts:
        if part.is_single:
            runs.add((part.offset, part.offset + 1))
        elif isinstance(part, Compact):
            members |= part.whole
        else:
            runs.update(part.runs())
    return members | set_of_runs(_apart(sorted(runs)))


def _apart(runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield runs in the order of their starts, those together that overlap or are neighbours."""
    first = last = -1
    for start, end in runs:
        if start > last:
            if last > first:
                yield first, last
            first, last = start, end
        elif end > last:
            last = end
    if last > first:
        yield first, last


def _are_scattered(count: int, span: int) -> bool:
    """Whether so many runs take at most half the room of all places from the first to the last."""
    return span > _SHORT and count * 128 <= span


_SHORT = 1 << 12
"""Sets within so few places take little room however they are kept."""

_LONG = 1 << 13
"""Sets of fewer places are not searched for gaps."""

_GAP = bytes(1 << 9)
"""What parts the two parts of a set, eight places in each byte: half of `_LONG`."""


def _between(members: int, start: int, end: int) -> int:
    """Return those of a set from one place to before another, as if the first was the place 0."""
    return members >> start & (1 << end - start) - 1 if end > start else 0


def _first(members: int) -> int:
    """Return the first place of a set."""
    return (members & -members).bit_length() - 1 if members else 0


_NONE = Compact(0, 0)


def set_of_runs(runs: Iterable[tuple[int, int]]) -> int:
    """Return the set of all places in runs that are given in ascending order and do not overlap."""
    found = [each for each in runs if each[0] < each[1]]
    if len(found) <= 2:
        members = 0
        for start, end in found:
            members |= run(start, end)
        return members
    octets = bytearray((found[-1][1] + 7) // 8)
    for start, end in found:
        first, last = start >> 3, end - 1 >> 3
        if first == last:
            octets[first] |= (1 << end - start) - 1 << (start & 7)
            continue
        octets[first] |= 0xFF << (start & 7) & 0xFF
        octets[last] |= 0xFF >> (-end & 7)
        if last - first > 1:
            octets[first + 1 : last] = b"\xff" * (last - first - 1)
    return int.from_bytes(octets, "little")
