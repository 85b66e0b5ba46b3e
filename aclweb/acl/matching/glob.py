"""Which names does a pattern with `?` and `*` match, and does one glob match all that another matches?

`?` is exactly one character (code point), `*` is any number of them, and everything else is
itself: there is no escape and there are no character classes. This is the pattern type of the
GLOB proposal; no released Kafka has it.

A `Shape` is a pattern as tokens, so that a prefix or an exact name, in which both characters
are ordinary, can be compared with a glob. Nothing here backtracks: matching one name takes
time linear in the name (times the length of a part that holds `?`, in machine words), and
comparing two shapes is bounded by work counted, not hoped for.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from aclweb.acl.model import computed_once

ONE = "?"
MANY = "*"

SEARCHED_BY_RE = 1 << 15
"""Up to this many comparisons (part times name) a part with `?` is looked for by `re`, above it bit by bit."""

SHORT_PART = 32
"""A part with `?` of so many characters is looked for by `re` in names of any length: bit by bit costs as much."""

STEPS_TRIED = 200_000
"""After so many steps a comparison of two shapes is given up; shapes that people write need hundreds."""


@dataclass(frozen=True)
class Shape:
    """A pattern as parts: the texts before, between and after its `*`s.

    parts: at least one; each a tuple of characters, None for exactly one character, whatever it
    is. Between two parts is a `*`, so one part alone is a pattern of fixed length.
    """

    parts: tuple[tuple[str | None, ...], ...]

    @computed_once
    def shortest(self) -> int:
        """The length of the shortest names that match."""
        return sum(map(len, self.parts))

    @computed_once
    def is_open(self) -> bool:
        """Whether names of any length from `shortest` on may match."""
        return len(self.parts) > 1

    @computed_once
    def head(self) -> str:
        """The characters with which every matching name begins."""
        return _plain_start(self.parts[0])

    @computed_once
    def literal_count(self) -> int:
        """How many characters are given: the specificity by which explanations are ordered."""
        return sum(character is not None for part in self.parts for character in part)

    @computed_once
    def longest_run(self) -> str:
        """The longest text that every matching name holds; the first of several, "" if there is none."""
        return max(self.runs, key=len, default="")

    @computed_once
    def runs(self) -> tuple[str, ...]:
        """The texts between wildcards, each once; every matching name holds them all."""
        return tuple(dict.fromkeys(text for part in self.parts for _, text in _pieces(part)))

    @computed_once
    def characters(self) -> frozenset[str]:
        """The characters that the pattern names."""
        return frozenset(character for part in self.parts for character in part if character is not None)

    @computed_once
    def exact(self) -> str | None:
        """The only name that matches, None if there are several."""
        if self.is_open or None in self.parts[0]:
            return None
        return "".join(self.parts[0])  # type: ignore[arg-type]

    def matches(self, name: str) -> bool:
        """Whether the whole name matches."""
        return self._matcher.matches(name)

    @computed_once
    def _matcher(self) -> _Matcher:
        return _Matcher(self.parts)


def shape_of_glob(text: str) -> Shape:
    """Return the shape of a GLOB pattern. The empty pattern means every name, as `*` does."""
    if not text:
        return EVERYTHING
    pieces = text.split(MANY)
    # `**` and `*?*` say what `*` and `?*` say: the `?`s of a run of wildcards all go before its `*`.
    parts: list[list[str | None]] = [_characters(pieces[0])]
    for piece in pieces[1:-1]:
        if piece.strip(ONE):
            parts.append(_characters(piece))
        else:
            parts[-1] += [None] * len(piece)
    if len(pieces) > 1:
        parts.append(_characters(pieces[-1]))
    return _settled(parts)


def shape_of_prefix(text: str) -> Shape:
    """Return the shape of a PREFIXED pattern, in which `?` and `*` are ordinary characters."""
    return Shape((tuple(text), ()))


def shape_of_name(text: str) -> Shape:
    """Return the shape that matches this one name; for the literal `*` see EVERYTHING."""
    return Shape((tuple(text),))


EVERYTHING = Shape(((), ()))


def matches(glob: str, name: str) -> bool:
    """Whether a GLOB pattern matches the whole name."""
    return shape_of_glob(glob).matches(name)


def is_glob(text: str) -> bool:
    """Whether a text holds a character that a GLOB pattern does not read as itself."""
    return ONE in text or MANY in text


class Verdict(enum.Enum):
    """The answer to "does the wide shape cover the narrow one?"."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"  # given up after STEPS_TRIED; never a guess


@dataclass(frozen=True, slots=True)
class Cover:
    """Whether one shape matches all that another matches; `counterexample` is a name of the other for NO."""

    verdict: Verdict
    counterexample: str | None = None

    def __bool__(self) -> bool:
        return self.verdict is Verdict.YES


def covers(wide: Shape, narrow: Shape, *, steps: int = STEPS_TRIED) -> Cover:
    """Return whether `wide` matches every name that `narrow` matches, with a counterexample if not.

    A character that neither pattern names is the hardest to match, so only names that have it
    in the place of each wildcard of `narrow` need to be tried. What is left to vary is how many
    stand for a `*`: one by one, until a further one changes nothing.
    """
    stranger = stranger_to(wide.characters | narrow.characters)
    machine = Places(wide)
    # Of the sets of places where `wide` may stand, only those that hold no smaller set matter:
    # whatever a smaller set goes on to match, a larger one matches too.
    front: dict[int, str] = {machine.start: ""}
    spent = 0
    for number, part in enumerate(narrow.parts):
        if number:
            reached: dict[int, str] = {}
            for start, name_there in front.items():
                places, name = start, name_there
                while places not in reached:
                    reached[places] = name
                    places, name = machine.after(places, stranger), name + stranger
                    spent += 1
                    if spent > steps:
                        return Cover(Verdict.UNKNOWN)
            front = reached
        for character in part:
            taken = stranger if character is None else character
            front = {machine.after(places, taken): name + taken for places, name in front.items()}
            spent += len(front)
        spent += len(front) ** 2
        if spent > steps:
            return Cover(Verdict.UNKNOWN)
        front = _smallest(front)
    for places, name in front.items():
        if not machine.is_end(places):
            return Cover(Verdict.NO, name)
    return Cover(Verdict.YES)


def sample_of(shape: Shape, filling: str) -> str:
    """Return a name that the shape matches, with `filling` in place of each of its wildcards."""
    return filling.join(
        "".join(filling if character is None else character for character in part) for part in shape.parts
    )


def stranger_to(characters: Iterable[str]) -> str:
    """Return a readable character that is not among these."""
    taken = set(characters)
    for character in "xyzqwvkjabcdefghilmnoprstu0123456789":
        if character not in taken:
            return character
    code = 0x4E00
    while chr(code) in taken:
        code += 1
    return chr(code)


class _Matcher:
    """Finds the parts of one shape in a name: the first at its start, the last at its end, the others
    between them, each as far left as it goes, which leaves most room for the next.
    """

    def __init__(self, parts: tuple[tuple[str | None, ...], ...]) -> None:
        self._found = [_Part(part) for part in parts]
        self._shortest = sum(map(len, parts))

    def matches(self, name: str) -> bool:
        found = self._found
        if len(found) == 1:
            return len(name) == self._shortest and found[0].is_at(name, 0)
        if len(name) < self._shortest:
            return False
        last_place = len(name) - found[-1].length
        if not found[0].is_at(name, 0) or not found[-1].is_at(name, last_place):
            return False
        place = found[0].length
        for part in found[1:-1]:
            place = part.find(name, place, last_place)
            if place < 0:
                return False
            place += part.length
        return place <= last_place


class _Part:
    """One part of a shape: a text with holes."""

    def __init__(self, part: tuple[str | None, ...]) -> None:
        self.length = len(part)
        self._part = part
        self._text = None if None in part else "".join(part)  # type: ignore[arg-type]
        self._pieces = tuple(_pieces(part))

    def is_at(self, name: str, place: int) -> bool:
        return all(name.startswith(text, place + offset) for offset, text in self._pieces)

    def find(self, name: str, start: int, end: int) -> int:
        """Return the first place from `start` where the part is before `end`, -1 if nowhere."""
        if self._text is not None:
            return name.find(self._text, start, end)
        if not self._pieces:
            return start if start + self.length <= end else -1
        if self.length <= SHORT_PART or self.length * (end - start) <= SEARCHED_BY_RE:
            found = self._pattern.search(name, start, end)
            return found.start() if found is not None else -1
        return self._find_bit_by_bit(name, start, end)

    def _find_bit_by_bit(self, name: str, start: int, end: int) -> int:
        """Shift-and: bit i tells whether the first i + 1 characters of the part end here."""
        masks, holes = self._masks
        last = 1 << self.length - 1
        state = 0
        for place in range(start, end):
            state = (state << 1 | 1) & masks.get(name[place], holes)
            if state & last:
                return place - self.length + 1
        return -1

    @computed_once
    def _pattern(self) -> re.Pattern[str]:
        written = "".join("." if character is None else re.escape(character) for character in self._part)
        return re.compile(written, re.DOTALL)

    @computed_once
    def _masks(self) -> tuple[dict[str, int], int]:
        return _masks_of(self._part)


class Places:
    """A shape as places to stand: before each character, with `*` as a place where one may stay.

    A set of places is an integer with a bit for each.
    """

    def __init__(self, shape: Shape) -> None:
        tokens: list[str | None] = []
        stays = 0
        for number, part in enumerate(shape.parts):
            if number:
                stays |= 1 << len(tokens)
            tokens += part
        self.start = 1
        self.stays = stays
        self._end = 1 << len(tokens)
        self._masks, self._holes = _masks_of(tokens)

    def after(self, places: int, character: str) -> int:
        """Return where one may stand after this character."""
        return (places & self._masks.get(character, self._holes)) << 1 | places & self.stays

    def is_end(self, places: int) -> bool:
        return bool(places & self._end)


def _masks_of(tokens: Sequence[str | None]) -> tuple[dict[str, int], int]:
    """Return for each character the places that take it, and the places that take any character."""
    holes = sum(1 << place for place, token in enumerate(tokens) if token is None)
    masks: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token is not None:
            masks[token] = masks.get(token, holes) | 1 << place
    return masks, holes


def _smallest(front: dict[int, str]) -> dict[int, str]:
    """Leave out each set of places that holds another one."""
    kept: dict[int, str] = {}
    for places in sorted(front, key=int.bit_count):
        if not any(smaller & places == smaller for smaller in kept):
            kept[places] = front[places]
    return kept


def _characters(text: str) -> list[str | None]:
    return [None if character == ONE else character for character in text]


def _settled(parts: list[list[str | None]]) -> Shape:
    """Move the `?`s that begin the part after a `*` before it, so that equal patterns have equal shapes."""
    for before, part in pairwise(parts):
        holes = next((place for place, token in enumerate(part) if token is not None), len(part))
        before.extend(part[:holes])
        del part[:holes]
    return Shape(tuple(tuple(part) for part in parts))


def _plain_start(part: tuple[str | None, ...]) -> str:
    runs = next(iter(_pieces(part)), (1, ""))
    return runs[1] if runs[0] == 0 else ""


def _pieces(part: tuple[str | None, ...]) -> Iterator[tuple[int, str]]:
    """Yield each run of given characters in a part with its offset."""
    start = 0
    for place in range(len(part) + 1):
        if place == len(part) or part[place] is None:
            if place > start:
                yield start, "".join(part[start:place])  # type: ignore[arg-type]
            start = place + 1
