"""How is a parsed pattern run, step by step?

A program is a list of instructions, each naming the next one, laid out so that Java's own
order of attempts is kept: which loops Java runs by counting backwards, where it forgets to
put a group back, when it gives up on a turn that took nothing.

`forgets` marks a program with a group whose captures Java leaves behind when it goes back.
What such a program captures depends on everything tried before, so no attempt may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aclweb.acl.principals.java_regex import characters
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.parser import Parsed
from aclweb.acl.principals.java_regex.tree import (
    Again,
    Ahead,
    At,
    Atomic,
    Character,
    Choice,
    Greed,
    Group,
    LineBreak,
    Maybe,
    Node,
    Place,
    Repeat,
    Sequence,
)

_CR, _LF = characters.any_of("\r"), characters.any_of("\n")
_LINE_ENDS = characters.any_of("\n\x0b\f\r\x85\u2028\u2029")


@dataclass(frozen=True, slots=True)
class Loop:
    """A repeated group that Java runs turn by turn; `begin` is where its turn's start is kept."""

    number: int
    begin: int
    least: int
    most: int | None
    is_lazy: bool
    # Beyond this a further turn makes no difference.
    counted_up_to: int
    # Whether the number of turns, or a turn that took nothing, decides how it goes on.
    has_state: bool
    # Java tries no further turn where one has failed before.
    remembers_failures: bool


@dataclass(frozen=True, slots=True)
class Accept:
    """The end of the program, or of a part that runs by itself."""


@dataclass(frozen=True, slots=True)
class Take:
    """Take one character of a set."""

    characters: CharacterSet
    next: int


@dataclass(frozen=True, slots=True)
class Stand:
    """Go on if this is such a place."""

    place: Place
    next: int


@dataclass(frozen=True, slots=True)
class Try:
    """Try these ways, in this order; `loops` are the ones whose turns this is in."""

    ways: tuple[int, ...]
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Note where a group begins."""

    begin: int
    next: int


@dataclass(frozen=True, slots=True)
class Close:
    """Capture from where the group began."""

    begin: int
    group: int | None
    next: int


@dataclass(slots=True)
class Enter:
    """Begin the first turn of a loop, or pass it by."""

    loop: Loop
    body: int
    next: int
    more: int
    loops: tuple[Loop, ...]


@dataclass(slots=True)
class Turn:
    """After a turn of a loop: take another one or go on. `body` is set when it is known."""

    loop: Loop
    next: int
    loops: tuple[Loop, ...]
    body: int = -1
    more: int = -1


@dataclass(slots=True)
class More:
    """One further turn of a lazy loop, the first one if `is_first`."""

    loop: Loop
    is_first: bool
    body: int = -1


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one set, as many as the quantifier takes."""

    characters: CharacterSet
    least: int
    most: int | None
    greed: Greed
    next: int
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Something that has at most one way to match at a place, repeated.

    `group` is the group around it, set as the chain goes. `is_group`: the part is a group, which
    Java matches once more where a turn is not as long as the one before.
    """

    body: int
    least: int
    most: int | None
    greed: Greed
    group: int | None
    is_group: bool
    next: int
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """A part that is run by itself and keeps its first way; optional if `may_fail`."""

    body: int
    may_fail: bool
    next: int


@dataclass(frozen=True, slots=True)
class Look:
    """Go on if a part matches from here, or does not, without taking what it takes."""

    body: int
    is_negative: bool
    next: int


@dataclass(frozen=True, slots=True)
class Compare:
    """Take again what a group took."""

    group: int
    ignores_case: bool
    next: int


Instruction = (
    Accept | Take | Stand | Try | Open | Close | Enter | Turn | More | Run | Chain | Once | Look | Compare
)


@dataclass(slots=True)
class Program:
    """Instructions, with where to start and how much state a run needs."""

    instructions: list[Instruction] = field(default_factory=list)
    start: int = 0
    group_count: int = 0
    begin_count: int = 0
    loop_count: int = 0
    forgets: bool = False
    has_supplementary: bool = False


def compiled(parsed: Parsed) -> Program:
    """Return the program for a pattern."""
    return _Compiler(parsed).compile()


class _Compiler:
    """A writer of one program, from the end of the pattern to its start."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._program = Program(group_count=parsed.group_count, has_supplementary=parsed.has_supplementary)
        self._loops: tuple[Loop, ...] = ()
        self._is_in_quantifier = False
        self._has_references = _has_any(parsed.tree, lambda node: isinstance(node, Again))

    def compile(self) -> Program:
        self._program.start = self._write(self._parsed.tree, self._add(Accept()))
        return self._program

    def _add(self, instruction: Instruction) -> int:
        self._program.instructions.append(instruction)
        return len(self._program.instructions) - 1

    def _write(self, node: Node, following: int) -> int:
        """Write a node that goes on at `following`; return where it starts."""
        match node:
            case Character(characters):
                return self._add(Take(characters, following))
            case LineBreak():
                return self._write_line_break(following)
            case At(place):
                return self._add(Stand(place, following))
            case Sequence(parts):
                return self._write_sequence(parts, following)
            case Choice(alternatives):
                ways = tuple(self._write(way, following) for way in alternatives)
                return self._add(Try(ways, self._loops))
            case Group():
                return self._write_group(node, following)
            case Maybe():
                with self._quantifier(node.body):
                    return self._write_maybe(node, following)
            case Repeat():
                return self._write_repeat(node, following)
            case Atomic(body):
                return self._add(Once(self._alone(body), False, following))
            case Ahead(body, is_negative):
                return self._add(Look(self._alone(body), is_negative, following))
            case Again(group, ignores_case):
                # What was captured decides, so no attempt is like another.
                self._program.forgets = True
                return self._add(Compare(group, ignores_case, following))

    def _alone(self, body: Node) -> int:
        """Write a part that runs by itself; what it captures stays when Java goes back."""
        if _has_any(body, _captures):
            self._program.forgets = True
        loops, self._loops = self._loops, ()
        start = self._write(body, self._add(Accept()))
        self._loops = loops
        return start

    @contextmanager
    def _quantifier(self, body: Node) -> Iterator[None]:
        """Write `body` with a quantifier; one around (?>...) or (?=...) changes nothing for the loops inside."""
        was_in_quantifier = self._is_in_quantifier
        self._is_in_quantifier |= isinstance(body, Group)
        yield
        self._is_in_quantifier = was_in_quantifier

    def _new_begin(self) -> int:
        self._program.begin_count += 1
        return self._program.begin_count - 1

    def _write_line_break(self, following: int) -> int:
        # Both ways are tried, and yet Java takes it that there is one.
        two = self._add(Take(_CR, self._add(Take(_LF, following))))
        return self._add(Try((two, self._add(Take(_LINE_ENDS, following))), self._loops))

    def _write_sequence(self, parts: tuple[Node, ...], following: int) -> int:
        for part in reversed(parts):
            following = self._write(part, following)
        return following

    def _write_group(self, group: Group, following: int) -> int:
        if group.number is None:
            return self._write(group.body, following)
        begin = self._new_begin()
        return self._add(
            Open(begin, self._write(group.body, self._add(Close(begin, group.number, following))))
        )

    def _write_maybe(self, node: Maybe, following: int) -> int:
        if node.greed is Greed.POSSESSIVE:
            return self._add(Once(self._alone(node.body), True, following))
        # An optional line break is not gone back into, so that it keeps CR LF.
        part = Atomic(node.body) if isinstance(node.body, LineBreak) else node.body
        body = self._write(part, following)
        ways = (following, body) if node.greed is Greed.LAZY else (body, following)
        return self._add(Try(ways, self._loops))

    def _write_repeat(self, node: Repeat, following: int) -> int:
        body = node.body
        if isinstance(body, Character):
            return self._add(Run(body.characters, node.least, node.most, node.greed, following, self._loops))
        if not isinstance(body, Group) or node.greed is Greed.POSSESSIVE:
            return self._write_chain(node, body, None, False, following)
        if _has_one_way(body.body):
            return self._write_chain(node, body.body, body.number, True, following)
        return self._write_loop(node, body, following)

    def _write_chain(
        self, node: Repeat, body: Node, group: int | None, is_group: bool, following: int
    ) -> int:
        with self._quantifier(node.body):
            start = self._alone(body)
        return self._add(
            Chain(start, node.least, node.most, node.greed, group, is_group, following, self._loops)
        )

    def _write_loop(self, node: Repeat, group: Group, following: int) -> int:
        begin = self._new_begin()
        up_to = node.most if node.most is not None else max(node.least, 1)
        is_lazy = node.greed is Greed.LAZY
        has_state = up_to > 1 or _may_take_nothing(group.body)
        remembers = (
            node.most is None and not is_lazy and not self._is_in_quantifier and not self._has_references
        )
        loop = Loop(
            self._program.loop_count, begin, node.least, node.most, is_lazy, up_to, has_state, remembers
        )
        self._program.loop_count += 1
        around = self._loops
        self._loops = (*around, loop) if has_state else around
        turn = Turn(loop, following, self._loops)
        close = self._add(Close(begin, group.number, self._add(turn)))
        with self._quantifier(group):
            body = self._add(Open(begin, self._write(group.body, close)))
        self._loops = around
        turn.body = body
        turn.more = self._add(More(loop, False, body))
        return self._add(Enter(loop, body, following, self._add(More(loop, True, body)), around))


def _has_any(node: Node, is_wanted: Callable[[Node], bool]) -> bool:
    """Return whether `node` or a part of it is wanted."""
    if is_wanted(node):
        return True
    match node:
        case Sequence(parts) | Choice(parts):
            return any(_has_any(part, is_wanted) for part in parts)
        case Group(body) | Repeat(body) | Maybe(body) | Atomic(body) | Ahead(body):
            return _has_any(body, is_wanted)
        case _:
            return False


def _captures(node: Node) -> bool:
    return isinstance(node, Group) and node.number is not None


def _has_one_way(node: Node) -> bool:
    """Return whether Java takes it that `node` has at most one way to match at a place."""
    match node:
        case Sequence(parts):
            return all(map(_has_one_way, parts))
        case Choice() | Maybe():
            return False
        case Repeat(body, least, most):
            return least == most and _has_one_way(body)
        case Group(body) | Atomic(body):
            return _has_one_way(body)
        case _:
            return True


def _may_take_nothing(node: Node) -> bool:
    """Return whether `node` can match without taking a character."""
    match node:
        case Character() | LineBreak():
            return False
        case Sequence(parts):
            return all(map(_may_take_nothing, parts))
        case Choice(alternatives):
            return any(map(_may_take_nothing, alternatives))
        case Group(body) | Atomic(body):
            return _may_take_nothing(body)
        case Repeat(body, least):
            return least == 0 or _may_take_nothing(body)
        case _:
            return True
