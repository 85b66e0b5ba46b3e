"""What differs between two recordings, apart from words that were changed on purpose?"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.facts import book

ARROW, BOTH = "=>", "<=>"
_PAIR = re.compile(rf"(.+?) ({BOTH}|{ARROW})(?: (.*))?")
_WORD = re.compile(r"\w+")
# So much of a long line is shown, around the place where it differs.
WIDTH = 240
# Of more lines it is told which are only in one text, not where: that would take minutes.
MOST_LINES = 20_000


class WordsError(ValueError):
    """A list of words that cannot be used; the message says which line."""


@dataclass(frozen=True)
class Pair:
    """An expression for what was said before, and what is said now; `both`: the same is read in both recordings."""

    old: re.Pattern[str]
    new: str
    both: bool

    def __str__(self) -> str:
        return f"{self.old.pattern} {BOTH if self.both else ARROW} {self.new}"


@dataclass
class Words:
    """Texts that were changed on purpose, and how often each was met."""

    pairs: list[Pair] = field(default_factory=list)
    used: Counter[Pair] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Words:
        r"""Read lines of `OLD => NEW` or `OLD <=> NEW`; empty ones and those that begin with # are for people.

        OLD is a regular expression, NEW may hold \1, and \n in either is a line's end.
        """
        found = cls()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            said = _PAIR.fullmatch(line)
            if said is None:
                raise WordsError(f"{path}:{number}: {line!r} is not OLD {ARROW} NEW.")
            try:
                old = re.compile(said[1], re.MULTILINE)
            except re.error as error:
                raise WordsError(
                    f"{path}:{number}: {said[1]!r} is no regular expression: {error}."
                ) from error
            found.pairs.append(Pair(old, said[3] or "", said[2] == BOTH))
        return found

    def agree(self, old: str, new: str) -> tuple[str, str]:
        """Return two texts without what differs on purpose; words are changed only in lines that differ."""
        for pair in self.pairs:
            if pair.both:
                new, count = pair.old.subn(pair.new, new)
                self.used[pair] += count
        left, right = self._changed(old, both=True).splitlines(), new.splitlines()
        told: list[str] = []
        if max(len(left), len(right)) > MOST_LINES:
            return self._changed("\n".join(left), both=False), "\n".join(right)
        for what, start, end, *_ in difflib.SequenceMatcher(None, left, right).get_opcodes():
            lines = left[start:end]
            told += lines if what == "equal" else self._changed("\n".join(lines), both=False).splitlines()
        return "\n".join(told), "\n".join(right)

    def name(self, name: str) -> str:
        """Return the name of a fact as it is now."""
        return self._changed(name, both=False)

    def _changed(self, text: str, *, both: bool) -> str:
        for pair in self.pairs:
            if pair.both is both:
                text, count = pair.old.subn(pair.new, text)
                self.used[pair] += count
        return text


@dataclass(frozen=True)
class Difference:
    group: str
    name: str
    lines: tuple[str, ...]  # of a unified diff

    @property
    def kind(self) -> tuple[object, ...]:
        """What facts that differ in the same way have in common: the words that went and those that came."""
        went = Counter(
            word for line in self.lines if line.startswith("-") for word in _WORD.findall(line[1:])
        )
        came = Counter(
            word for line in self.lines if line.startswith("+") for word in _WORD.findall(line[1:])
        )
        words = frozenset(went - came), frozenset(came - went)
        return words if any(words) else self.lines


def differences(
    before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]], words: Words
) -> Iterator[Difference]:
    """Yield what differs, by group and in the order of recording."""
    for group in dict.fromkeys([*before, *after]):
        new = after.get(group, {})
        # A changed word may stand in the name of a fact, too.
        old = {
            name if name in new else words.name(name): text for name, text in before.get(group, {}).items()
        }
        for name in dict.fromkeys([*old, *new]):
            if name not in new:
                yield Difference(group, name, ("is gone",))
            elif name not in old:
                yield Difference(group, name, ("is new",))
            elif old[name] != new[name]:
                told, now = words.agree(old[name], new[name]) if words.pairs else (old[name], new[name])
                if told != now:
                    yield Difference(group, name, _diff(told, now))


def _diff(old: str, new: str) -> tuple[str, ...]:
    left, right = old.splitlines(), new.splitlines()
    if max(len(left), len(right)) > MOST_LINES:
        went, came = Counter(left), Counter(right)
        lost, added = [f"-{line}" for line in went - came], [f"+{line}" for line in came - went]
        return (f"{len(left):,} lines before, {len(right):,} after", *lost, *added)
    if left == right:
        return ("differs in the end of its lines only",)
    found = [
        line
        for line in difflib.unified_diff(left, right, lineterm="", n=1)
        if not line.startswith(("---", "+++"))
    ]
    return tuple(found)


def report(before: Path, after: Path, words: Words, *, shown: int, lines: int) -> tuple[list[str], bool]:
    """Return the lines to print, and whether everything is equal."""
    old, new = book.read(before), book.read(after)
    told: list[str] = []
    found = list(differences(old, new, words))
    for group in dict.fromkeys([*old, *new]):
        mine = [one for one in found if one.group == group]
        count = len({*old.get(group, {}), *new.get(group, {})})
        told.append(f"{group}: {count - len(mine):,} equal, {len(mine):,} differ")
    alike: dict[tuple[object, ...], list[Difference]] = {}
    for one in found:
        alike.setdefault(one.kind, []).append(one)
    for number, several in enumerate(sorted(alike.values(), key=len, reverse=True)):
        if number == shown:
            told.append(
                f"\n… and {len(alike) - shown:,} more differences of other kinds; --shown tells more of them."
            )
            break
        first = several[0]
        others = f" and {len(several) - 1:,} more" if len(several) > 1 else ""
        told += ["", f"== {first.group}: {_short(first.name)}{others}"]
        told += [f"   also {one.group}: {_short(one.name)}" for one in several[1:4]]
        told += [f"    {line}" for line in _shortened(first.lines[:lines])]
        if len(first.lines) > lines:
            told.append(f"    … {len(first.lines) - lines:,} more lines; --lines tells more of them")
    if words.pairs:
        told += ["", "Words changed on purpose:"]
        told += [f"  {words.used[pair]:6,}  {pair}" for pair in words.pairs]
    everything = sum(len({*old.get(group, {}), *new.get(group, {})}) for group in {*old, *new})
    told += ["", f"{everything - len(found):,} of {everything:,} facts are equal."]
    if not everything:
        told[-1] = "There are no facts to compare."
    return told, bool(everything) and not found


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of a diff; of a long one that stands for another, the part that differs."""
    went = [line for line in lines if line.startswith("-")]
    came = [line for line in lines if line.startswith("+")]
    first = {}  # of a line: where it differs from its other
    for old, new in zip(went, came, strict=False):
        pairs = enumerate(zip(old[1:], new[1:], strict=False), start=1)
        first[old] = first[new] = next((at for at, (one, other) in pairs if one != other), 1)
    for line in lines:
        start = max(1, first.get(line, 1) - WIDTH // 3)
        if start == 1 or len(line) <= WIDTH:
            yield _short(line)
        else:
            rest = line[start : start + WIDTH]
            yield f"{line[0]}… {rest}{' …' if start + WIDTH < len(line) else ''}"


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 80]} … {text[-70:]}"
