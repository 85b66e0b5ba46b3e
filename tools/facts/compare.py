"""What differs between two recordings, apart from words that were changed on purpose?"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.facts import book
from tools.facts.words import MOST_LINES, Words

_WORD = re.compile(r"\w+")
# So much of a long line is shown, around the place where it differs.
WIDTH = 240


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
        # A changed word may be in the name of a fact, too.
        old = {
            name if name in new else words.name(name): text for name, text in before.get(group, {}).items()
        }
        for name in dict.fromkeys([*old, *new]):
            if name not in new:
                yield Difference(group, name, ("is gone",))
            elif name not in old:
                yield Difference(group, name, ("is new",))
            elif old[name] != new[name]:
                then, now = words.agree(old[name], new[name]) if words.pairs else (old[name], new[name])
                if then != now:
                    yield Difference(group, name, _diff(then, now))


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
    printed: list[str] = []
    found = list(differences(old, new, words))
    for group in dict.fromkeys([*old, *new]):
        mine = [one for one in found if one.group == group]
        count = len({*old.get(group, {}), *new.get(group, {})})
        printed.append(f"{group}: {count - len(mine):,} equal, {len(mine):,} differ")
    alike: dict[tuple[object, ...], list[Difference]] = {}
    for one in found:
        alike.setdefault(one.kind, []).append(one)
    for number, several in enumerate(sorted(alike.values(), key=len, reverse=True)):
        if number == shown:
            printed.append(
                f"\n… and {len(alike) - shown:,} more differences of other kinds; --shown N shows more."
            )
            break
        first = several[0]
        others = f" and {len(several) - 1:,} more" if len(several) > 1 else ""
        printed += ["", f"== {first.group}: {_short(first.name)}{others}"]
        printed += [f"   also {one.group}: {_short(one.name)}" for one in several[1:4]]
        printed += [f"    {line}" for line in _shortened(first.lines[:lines])]
        if len(first.lines) > lines:
            printed.append(f"    … {len(first.lines) - lines:,} more lines; --lines N shows more")
    if words.pairs:
        printed += ["", "Words changed on purpose:"]
        printed += [f"  {words.used[pair]:6,}  {pair}" for pair in words.pairs]
    everything = sum(len({*old.get(group, {}), *new.get(group, {})}) for group in {*old, *new})
    printed += ["", f"{everything - len(found):,} of {everything:,} facts are equal."]
    if not everything:
        printed[-1] = "There are no facts to compare."
    return printed, bool(everything) and not found


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of a diff; of a long one that replaces another, the part that differs."""
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
