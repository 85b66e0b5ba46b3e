"""Where does a program match in a text, and what do its groups capture?

The machine tries the ways that Java tries, in Java's order, with its own stack instead of
Java's calls. Where an attempt can only fail as it did before, at the same place of the
program and of the text, it is left out: so the work grows with the length of the text, and
not with the number of ways through it. In a program that `forgets` nothing may be left
out. Either way the steps are counted, and CannotTell ends a question that takes too many.

Positions are counted in UTF-16 units, as Java's are; a pair of surrogates is one character.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aclweb.acl.principals.java_regex.java_text import NO_SPAN, Span, Text
from aclweb.acl.principals.java_regex.places import place_holds
from aclweb.acl.principals.java_regex.problems import CannotTell
from aclweb.acl.principals.java_regex.program import (
    Accept,
    Chain,
    Close,
    Compare,
    Enter,
    Instruction,
    Look,
    Loop,
    More,
    Once,
    Open,
    Program,
    Run,
    Stand,
    Take,
    Try,
    Turn,
)
from aclweb.acl.principals.java_regex.tree import Greed

MOST_STEPS = 500_000
"""The work for one question: about half a second."""

FAILED = -1

# What is on the stack: ways to go on, and what to put back before trying them.
(
    _WAY,
    _CHAIN_WAY,
    _RUN_WAYS,
    _LAZY_RUN,
    _LAZY_CHAIN,
    _GROUP_WAS,
    _BEGIN_WAS,
    _COUNT_WAS,
    _CHAIN_TOOK,
    _FAILS,
) = range(10)


Way = tuple[int, int]
"""An instruction and a position to go on at."""


@dataclass(slots=True)
class _Attempts:
    """What one run has tried, and what it can still try."""

    tried: set[object]
    lowest: dict[object, int] = field(default_factory=dict)
    stack: list[tuple[Any, ...]] = field(default_factory=list)


class Machine:
    """One program on one text, for any number of questions with one budget of steps."""

    def __init__(self, program: Program, text: Text, *, steps: int | None = None) -> None:
        self._program = program
        self._text = text
        self._length = len(text)
        self._budget = self._steps = MOST_STEPS if steps is None else steps
        self._is_whole = False
        self._last_end = -1
        self._reset()

    @property
    def steps_taken(self) -> int:
        """How much work was done so far."""
        return self._budget - self._steps

    def _reset(self) -> None:
        self._groups = [NO_SPAN] * (self._program.group_count + 1)
        self._begins = [-1] * self._program.begin_count
        self._counts = [0] * self._program.loop_count
        self._tried: set[object] = set()
        self._ends: dict[tuple[int, int], int] = {}
        self._failed: set[tuple[int, int]] = set()
        self._runs: dict[int, Span] = {}

    def matches(self) -> list[Span] | None:
        """Return what the groups took if the whole text matches."""
        self._reset()
        self._is_whole, self._last_end = True, 0
        end = self._run(self._program.start, 0, is_outermost=True)
        return None if end == FAILED else [(0, end), *self._groups[1:]]

    def find_all(self) -> list[list[Span]]:
        """Return what the groups took in every match, as Java's find gives one after the other."""
        found: list[list[Span]] = []
        start, self._last_end = 0, -1
        while start <= self._length:
            spans = self._find(start)
            if spans is None:
                break
            found.append(spans)
            first, end = spans[0]
            start = end + (first == end)
            self._last_end = end
        return found

    def find(self, start: int = 0) -> list[Span] | None:
        """Return what the groups took in the first match at or after `start`."""
        self._last_end = -1
        return self._find(start)

    def _find(self, start: int) -> list[Span] | None:
        self._reset()
        self._is_whole = False
        if self._last_end < 0:
            self._last_end = start
        for at in range(start, self._length + 1):
            if (
                self._text.has_pairs
                and self._program.has_supplementary
                and at > start
                and self._text.is_inside_of_pair(at)
            ):
                continue
            end = self._run(self._program.start, at, is_outermost=True)
            if end != FAILED:
                return [(at, end), *self._groups[1:]]
        return None

    def _run(self, at: int, position: int, *, is_outermost: bool = False) -> int:
        """Run from one instruction to the next Accept; return where it ended, or FAILED.

        Captures of a run that ended well stay, those of one that failed are put back.
        """
        instructions, points, after = self._program.instructions, self._text.points, self._text.after
        length = len(points)
        attempts = _Attempts(self._tried if is_outermost else set())
        while True:
            self._spend(1)
            step = instructions[at]
            way: Way | None = None
            if type(step) is Take:
                if position < length and step.characters[points[position]]:
                    way = step.next, after[position]
            elif type(step) is Accept:
                if not (is_outermost and self._is_whole and position != length):
                    self._capture_again(attempts)
                    return position
            elif self._program.forgets or self._is_new(attempts, step, at, position):
                way = _STEPS[type(step)](self, step, at, position, attempts)
            if way is None:
                way = self._next_way(attempts)
                if way is None:
                    return FAILED
            at, position = way

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise CannotTell(
                "This pattern has so many ways to match this text that trying them was given up; "
                "a broker may take very long too."
            )

    def _is_new(self, attempts: _Attempts, step: Instruction, at: int, position: int) -> bool:
        """Return whether this step has not been tried here before, and note that it is."""
        loops = getattr(step, "loops", None)
        if loops is None:
            return True
        attempt = (at, position, *self._turns(loops, position))
        if attempt in attempts.tried:
            return False
        attempts.tried.add(attempt)
        return True

    def _turns(self, loops: tuple[Loop, ...], position: int) -> Iterator[tuple[int, bool]]:
        """Yield what of the loops around decides how it goes on."""
        for loop in loops:
            yield self._counts[loop.number], self._begins[loop.begin] < position

    def _end_of(self, body: int, position: int) -> int:
        """Return where a part that runs by itself ends, or FAILED."""
        if self._program.forgets:
            return self._run(body, position)
        end = self._ends.get((body, position))
        if end is None:
            end = self._ends[body, position] = self._run(body, position)
        return end

    # One method for each kind of step: the way on from here, or None for the next one on the stack.

    def _stand(self, step: Stand, _at: int, position: int, _attempts: _Attempts) -> Way | None:
        holds = place_holds(step.place, self._text, position, last_match_end=self._last_end)
        return (step.next, position) if holds else None

    def _try(self, step: Try, _at: int, position: int, attempts: _Attempts) -> Way | None:
        attempts.stack += [(_WAY, way, position) for way in step.ways[:0:-1]]
        return step.ways[0], position

    def _open(self, step: Open, _at: int, position: int, attempts: _Attempts) -> Way | None:
        attempts.stack.append((_BEGIN_WAS, step.begin, self._begins[step.begin]))
        self._begins[step.begin] = position
        return step.next, position

    def _close(self, step: Close, _at: int, position: int, attempts: _Attempts) -> Way | None:
        if step.group is not None:
            self._remember_group(step.group, attempts)
            self._groups[step.group] = (self._begins[step.begin], position)
        return step.next, position

    def _remember_group(self, group: int, attempts: _Attempts) -> None:
        attempts.stack.append((_GROUP_WAS, group, self._groups[group]))

    def _count_turn(self, loop: Loop, turns: int, attempts: _Attempts) -> None:
        attempts.stack.append((_COUNT_WAS, loop.number, self._counts[loop.number]))
        self._counts[loop.number] = min(turns, loop.counted_up_to)

    def _enter(self, step: Enter, _at: int, position: int, attempts: _Attempts) -> Way | None:
        loop = step.loop
        if loop.least == 0:
            if loop.most == 0:
                return step.next, position
            if loop.is_lazy:
                attempts.stack.append((_WAY, step.more, position))
                return step.next, position
            attempts.stack.append((_WAY, step.next, position))
        self._count_turn(loop, 1, attempts)
        return step.body, position

    def _more(self, step: More, _at: int, position: int, attempts: _Attempts) -> Way | None:
        turns = 1 if step.is_first else self._counts[step.loop.number] + 1
        self._count_turn(step.loop, turns, attempts)
        return step.body, position

    def _turn(self, step: Turn, _at: int, position: int, attempts: _Attempts) -> Way | None:
        loop = step.loop
        if position <= self._begins[loop.begin]:
            # A turn that took nothing ends the loop, however many were to come.
            return step.next, position
        turns = self._counts[loop.number]
        if turns >= loop.least:
            if loop.most is not None and turns >= loop.most:
                return step.next, position
            if loop.is_lazy:
                attempts.stack.append((_WAY, step.more, position))
                return step.next, position
            attempts.stack.append((_WAY, step.next, position))
            if loop.remembers_failures and self._program.forgets:
                if (loop.number, position) in self._failed:
                    return None
                attempts.stack.append((_FAILS, loop.number, position))
        self._count_turn(loop, turns + 1, attempts)
        return step.body, position

    def _run_of(self, step: Run, at: int, position: int, attempts: _Attempts) -> Way | None:
        if step.greed is Greed.LAZY:
            position, _lowest = self._run_end(step, at, position, step.least)
            if position == FAILED:
                return None
            attempts.stack.append((_LAZY_RUN, step, position, step.least))
            return step.next, position
        end, lowest = self._run_end(step, at, position, step.most)
        if end == FAILED:
            return None
        if step.greed is Greed.POSSESSIVE or end == lowest:
            return step.next, end
        run: object = None
        if step.most is None and not self._program.forgets:
            if any(self._begins[loop.begin] == lowest for loop in step.loops):
                # Where a turn of a loop has taken nothing, it goes on in its own way.
                attempts.stack.append((_WAY, step.next, lowest))
                lowest = self._text.after[lowest]
            # Other ways are shared by runs that end at the same place.
            run = (at, end, *(self._counts[loop.number] for loop in step.loops))
        attempts.stack.append((_RUN_WAYS, step.next, end, lowest, run))
        return None

    def _run_end(self, step: Run, at: int, position: int, most: int | None) -> Span:
        """Return where a run of at most so many characters ends, and where it has its least ones."""
        first, last = NO_SPAN
        if most is None and not self._text.has_pairs:
            # Where the last run of this step was, this one need not look again.
            first, last = self._runs.get(at, NO_SPAN)
            if first <= position and step.least <= last - position:
                return last, position + step.least
        points, after, length, wanted = self._text.points, self._text.after, self._length, step.characters
        start, count, lowest = position, 0, position
        while (most is None or count < most) and position < length and wanted[points[position]]:
            if position == first and count >= step.least:
                position = last
                break
            position = after[position]
            count += 1
            if count == step.least:
                lowest = position
        self._spend(count // 8)
        if most is None:
            self._runs[at] = (start, position)
        return (FAILED, FAILED) if count < step.least else (position, lowest)

    def _chain(self, step: Chain, _at: int, position: int, attempts: _Attempts) -> Way | None:
        if step.group is not None:
            self._remember_group(step.group, attempts)
        for _turn in range(step.least):
            end = self._end_of(step.body, position)
            if end == FAILED:
                return None
            self._capture(step, (position, end))
            position = end
        if step.greed is Greed.LAZY:
            attempts.stack.append((_LAZY_CHAIN, step, position, step.least))
            return step.next, position
        if step.greed is Greed.POSSESSIVE:
            return step.next, self._last_turn(step, position)
        attempts.stack += [(_CHAIN_WAY, step, *turn) for turn in self._turns_of(step, position)]
        return None

    def _last_turn(self, step: Chain, position: int) -> int:
        """Return where a possessive chain ends."""
        count = step.least
        while step.most is None or count < step.most:
            end = self._end_of(step.body, position)
            if end in (FAILED, position):
                break
            position = end
            count += 1
        return position

    def _turns_of(self, step: Chain, position: int) -> list[tuple[int, Span, bool]]:
        """Return the way on after each turn of a greedy chain: its place, the group, whether that is captured again.

        Java runs turns of one length together. At a turn of another length it begins anew: a group is matched
        there once more, and nothing is captured again on the way back.
        """
        span = NO_SPAN if step.group is None else self._groups[step.group]
        ways = [(position, span, False)]
        count, size = step.least, 0
        while step.most is None or count < step.most:
            end = self._end_of(step.body, position)
            if end == FAILED:
                break
            is_new_length = size not in (0, end - position)
            size = 0 if is_new_length else end - position
            if is_new_length and step.is_group:
                ways.append((position, span, False))
                continue
            if end == position and not is_new_length:
                break
            position, span = end, (position, end)
            # The next turn may refer back to it.
            self._capture(step, span)
            ways.append((position, span, True))
            count += 1
        return ways

    def _capture_again(self, attempts: _Attempts) -> None:
        """Let every chain capture once more, the first one last: Java does so on its way back from a match."""
        for kind, *about in reversed(attempts.stack):
            if kind == _CHAIN_TOOK:
                self._capture(*about)

    def _capture(self, step: Chain, span: Span) -> None:
        if step.group is not None:
            self._groups[step.group] = span

    def _once(self, step: Once, _at: int, position: int, _attempts: _Attempts) -> Way | None:
        end = self._end_of(step.body, position)
        if end == FAILED:
            return (step.next, position) if step.may_fail else None
        return step.next, end

    def _look(self, step: Look, _at: int, position: int, _attempts: _Attempts) -> Way | None:
        is_there = self._end_of(step.body, position) != FAILED
        return None if is_there is step.is_negative else (step.next, position)

    def _compare(self, step: Compare, _at: int, position: int, _attempts: _Attempts) -> Way | None:
        first, last = self._groups[step.group] if step.group < len(self._groups) else NO_SPAN
        if first < 0:
            return None
        size = last - first
        if size > self._length - position:
            return None
        self._spend(size // 8)
        units = self._text.units
        wanted, found = units[first:last], units[position : position + size]
        if not step.ignores_case:
            is_same = wanted == found
        elif self._text.has_pairs:
            is_same = self._is_same_but_for_case(first, position, size)
        else:
            is_same = list(map(_ascii_lower, wanted)) == list(map(_ascii_lower, found))
        return (step.next, position + size) if is_same else None

    def _is_same_but_for_case(self, there: int, here: int, size: int) -> bool:
        """Return whether `size` units at both places are the same characters but for the case of ASCII letters.

        Raises CannotTell where Javas differ. Before Java 19 (JDK-8281315) one takes `size` for the number
        of characters, and so looks beyond the group, and beyond the end of the text.
        """
        points, after = self._text.points, self._text.after
        end = here + size
        for _character in range(size):
            is_beyond = here >= end
            if is_beyond and max(here, there) >= self._length:
                raise _differs_between_javas()
            if _ascii_lower(points[here]) != _ascii_lower(points[there]):
                if is_beyond:
                    raise _differs_between_javas()
                return False
            here, there = after[here], after[there]
        return True

    # The stack.

    def _next_way(self, attempts: _Attempts) -> Way | None:
        """Return the next way to try, after putting back what is to be put back; None if there is none."""
        stack = attempts.stack
        while stack:
            kind, *about = stack.pop()
            if kind == _WAY:
                return about[0], about[1]
            if kind == _GROUP_WAS:
                self._groups[about[0]] = about[1]
            elif kind == _BEGIN_WAS:
                self._begins[about[0]] = about[1]
            elif kind == _COUNT_WAS:
                self._counts[about[0]] = about[1]
            elif kind == _CHAIN_WAY:
                step, position, span, captures_again = about
                self._capture(step, span)
                if step.group is not None and captures_again:
                    stack.append((_CHAIN_TOOK, step, span))
                return step.next, position
            elif kind == _FAILS:
                self._failed.add((about[0], about[1]))
            elif kind == _CHAIN_TOOK:
                continue
            else:
                further: Way | None = _FURTHER[kind](self, attempts, *about)
                if further is not None:
                    return further
        return None

    def _fewer(
        self, attempts: _Attempts, following: int, position: int, lowest: int, run: object
    ) -> Way | None:
        """Return the way after a run that takes less."""
        if run is not None:
            tried_down_to = attempts.lowest.get(run)
            if tried_down_to is not None and position >= tried_down_to:
                position = self._before(tried_down_to)
            if position < lowest:
                return None
            attempts.lowest[run] = position
        if position > lowest:
            attempts.stack.append((_RUN_WAYS, following, max(self._before(position), lowest), lowest, run))
        return following, position

    def _before(self, position: int) -> int:
        return position - (2 if self._text.has_pairs and self._text.is_inside_of_pair(position - 1) else 1)

    def _one_more(self, attempts: _Attempts, step: Run, position: int, count: int) -> Way | None:
        """Return the way after a lazy run that takes one character more."""
        if step.most is not None and count >= step.most:
            return None
        if position >= self._length or not step.characters[self._text.points[position]]:
            return None
        position = self._text.after[position]
        attempts.stack.append((_LAZY_RUN, step, position, count + 1))
        return step.next, position

    def _one_more_turn(self, attempts: _Attempts, step: Chain, position: int, count: int) -> Way | None:
        """Return the way after a lazy chain that takes one turn more."""
        if step.most is not None and count >= step.most:
            return None
        end = self._end_of(step.body, position)
        if end in (FAILED, position):
            return None
        self._capture(step, (position, end))
        attempts.stack.append((_LAZY_CHAIN, step, end, count + 1))
        return step.next, end


def _differs_between_javas() -> CannotTell:
    return CannotTell(
        "Whether a reference back to a group matches without regard to case depends on the broker's version of "
        "Java where the group holds characters beyond U+FFFF."
    )


def _ascii_lower(unit: int) -> int:
    return unit + 32 if 65 <= unit <= 90 else unit


_STEPS: dict[type[Instruction], Any] = {
    Stand: Machine._stand,
    Try: Machine._try,
    Open: Machine._open,
    Close: Machine._close,
    Enter: Machine._enter,
    More: Machine._more,
    Turn: Machine._turn,
    Run: Machine._run_of,
    Chain: Machine._chain,
    Once: Machine._once,
    Look: Machine._look,
    Compare: Machine._compare,
}
_FURTHER: dict[int, Any] = {
    _RUN_WAYS: Machine._fewer,
    _LAZY_RUN: Machine._one_more,
    _LAZY_CHAIN: Machine._one_more_turn,
}
