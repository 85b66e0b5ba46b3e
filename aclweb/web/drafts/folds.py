"""Which rows of an access diff share a fold, and which folds are open?

A fold is all rows of one kind about the same principals, widest first, as the rows are. One row alone is no fold and
always shown. So a page is short whatever the diff is: a person reads whose access differs, how widely, and opens what
matters. `?open=` says all of it: `7.2` opens row 7 with the second page of its names, `_3-5.2` leaves the folds 3 and 5
open, of fold 5 the second page of rows. Without `_`, the first folds are open, as far as they are short.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Any, Self, overload

from django.core.paginator import Page

from aclweb.acl.simulate import Group, Impact, Phrase, Piece, described_together, plain, which, who
from aclweb.web.drafts.impact_rows import KINDS, ImpactRow, ImpactRows, same_principals
from aclweb.web.shell.paging import page_asked, page_of

# Rows that an open fold shows at once, and folds that somebody has opened and stay open.
ROWS_IN_FOLD = 6
MOST_OPENED = 2
# Types of resources of which the head of a fold says names, and how many of each that it spells out.
MOST_TYPES, MOST_NAMES = 2, 1
# Names that an open row lists at once.
NAMES_A_PAGE = 40

_ASKED = re.compile(r"(?:([0-9]{1,9})(?:\.([0-9]{1,9}))?)?(?:_([0-9.-]{0,120}))?", re.ASCII)
_FOLD = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?", re.ASCII)


@dataclass(frozen=True)
class Asked:
    """What `?open=` says. row: -1 for none. folds: those that stay open with the page of each; None if unsaid."""

    row: int = -1
    names_page: int = 1
    folds: Mapping[int, int] | None = None

    @classmethod
    def read(cls, text: str) -> Asked:
        """Return what a text says; nothing is open for a text that says something else."""
        found = _ASKED.fullmatch(text)
        if found is None:
            return cls()
        row, page, folds = found.groups()
        return cls(
            row=-1 if row is None else int(row),
            names_page=int(page or 1),
            folds=None if folds is None else _pages(folds),
        )


@dataclass(frozen=True)
class Also:
    """How many single differences of another kind the principals of a fold have on the same type of resource."""

    kind: str
    count: int


@dataclass(frozen=True)
class Fold:
    """Rows that share a line until somebody opens it.

    number: its place among all folds. places: those of its rows among all. rows: those that are shown, of `page`; it is
    None where the fold is closed.
    count: how many single differences. to_press, to_go_back, to_go_on: what `?open=` becomes.
    """

    number: int
    kind: str
    places: range
    page: Page[ImpactRow] | None
    rows: Sequence[ImpactRow]
    who: Phrase
    operations: str
    which: Phrase
    count: int
    also: tuple[Also, ...]
    to_press: str
    to_go_back: str = ""
    to_go_on: str = ""

    @property
    def size(self) -> int:
        """How many rows share it."""
        return len(self.places)

    @property
    def has_head(self) -> bool:
        return self.size > 1

    @property
    def label(self) -> str:
        return plain(self.who)


@dataclass(frozen=True)
class Head:
    """What rows that share a fold have in common. count: how many single differences they are."""

    kind: str
    who: Phrase
    operations: str
    which: Phrase
    count: int

    @classmethod
    def of(cls, impact: Impact, groups: Sequence[Group]) -> Self:
        """Return the head of some groups of an impact, of one kind and about the same principals."""
        first = groups[0]
        return cls(
            kind=first.change,
            who=who(impact.axes.principals, first.principals),
            operations=_operations(groups),
            which=_which(impact, groups),
            count=sum(map(impact.effects_in, groups)),
        )


class Folds(Sequence[range]):
    """The places of the rows of each fold, in the order of the rows."""

    def __init__(self, rows: ImpactRows) -> None:
        numbers = same_principals(rows.groups)
        keys = [(each.change, numbers[id(each.principals)]) for each in rows.groups]
        edges = [place for place, (one, other) in enumerate(pairwise(keys), 1) if one != other]
        self._starts = [0, *edges] if keys else []
        self._ends = [*edges, len(keys)]

    @classmethod
    def of(cls, rows: ImpactRows) -> Self:
        """Return the folds of these rows; worked out once."""
        known: Self | None = rows.memo.get(cls)
        if known is None:
            known = rows.memo[cls] = cls(rows)
        return known

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> range: ...

    @overload
    def __getitem__(self, place: slice) -> list[range]: ...

    def __getitem__(self, place: int | slice) -> range | list[range]:
        if isinstance(place, slice):
            return [range(*each) for each in zip(self._starts[place], self._ends[place], strict=False)]
        return range(self._starts[place], self._ends[place])

    def holding(self, row: int) -> int:
        """Return the number of the fold that holds a row."""
        return bisect_right(self._starts, row) - 1


def shown(
    rows: ImpactRows, asked: Mapping[str, str], folds_a_page: int, *, every: ImpactRows
) -> dict[str, Any]:
    """Return what a page shows of rows: a page of folds, each with its rows if it is open, and the row that is open.

    every: the rows of all kinds, by which a fold says what else happens to its principals.
    """
    said = Asked.read(asked.get("open", ""))
    opened = rows.opened(said.row)
    folds = Folds.of(rows)
    row = said.row if opened is not None else -1
    page = page_of(folds, _page_asked(asked, said, folds, row, folds_a_page), folds_a_page)
    here = range(page.start_index() - 1, page.end_index()) if folds else range(0)
    pages = _at_first(folds, here, folds_a_page) if said.folds is None else dict(said.folds)
    if row >= 0:
        number = folds.holding(row)
        if number not in pages or said.folds is None:
            pages[number] = (row - folds[number].start) // ROWS_IN_FOLD + 1
    counts = _counts(every)
    shown_folds = [_fold(rows, folds, number, pages, counts) for number in here]
    context: dict[str, Any] = {
        "diff": Page(shown_folds, page.number, page.paginator),
        "open_folds": "" if said.folds is None else _state(said.folds),
    }
    if opened is None:
        return context
    return context | {
        "open_row": row,
        "opened": opened,
        "opened_names": page_of(opened.names, said.names_page, NAMES_A_PAGE),
    }


def _page_asked(asked: Mapping[str, str], said: Asked, folds: Folds, row: int, folds_a_page: int) -> int:
    if asked.get("page"):
        return page_asked(asked)
    if row >= 0:
        return folds.holding(row) // folds_a_page + 1
    return max(said.folds or (0,)) // folds_a_page + 1


def _pages(text: str) -> dict[int, int]:
    """Return the page of each fold that a text names; what is none is left out, and of many the first ones are."""
    found = [_FOLD.fullmatch(part) for part in text.split("-")]
    pages = [(int(each[1]), max(1, int(each[2] or 1))) for each in found if each]
    return dict(pages[-MOST_OPENED:])


def _state(pages: Mapping[int, int]) -> str:
    """Return how `?open=` says that these folds stay open."""
    return "_" + "-".join(f"{number}.{page}" if page > 1 else f"{number}" for number, page in pages.items())


def _at_first(folds: Folds, here: range, most: int) -> dict[int, int]:
    """Return the folds of a page that are open before anybody opens one: the first ones, as far as they are short.

    most: rows that the page shows then, unless it is about one fold.
    """
    several = [number for number in here if len(folds[number]) > 1]
    sizes = accumulate(min(len(folds[number]), ROWS_IN_FOLD) for number in several)
    left = most - (len(here) - len(several))
    return {
        number: 1 for number, so_far in zip(several, sizes, strict=True) if len(here) == 1 or so_far <= left
    }


def _pressed(pages: Mapping[int, int], number: int) -> str:
    """Return what `?open=` becomes where somebody opens a fold that is closed, or closes it."""
    if number in pages:
        return _state({each: page for each, page in pages.items() if each != number})
    return _state(dict([*pages.items(), (number, 1)][-MOST_OPENED:]))


def _turned(pages: Mapping[int, int], number: int, page: int) -> str:
    others = [(each, its) for each, its in pages.items() if each != number]
    return _state(dict([*others, (number, page)][-MOST_OPENED:]))


_Counts = Mapping[int, Mapping[str, int]]
"""How many single differences of each kind the same principals have."""


def _counts(every: ImpactRows) -> _Counts:
    """Return the counts of all rows; worked out once."""
    known: _Counts | None = every.memo.get(_counts)
    if known is None:
        numbers = same_principals(every.groups)
        counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        members: dict[int, int] = {}
        for group in every.groups:
            number = numbers[id(group.principals)]
            members[number] = group.principals
            counts[number][group.change] += every.impact.effects_in(group)
        known = every.memo[_counts] = {members[number]: dict(own) for number, own in counts.items()}
    return known


def _fold(
    rows: ImpactRows,
    folds: Folds,
    number: int,
    pages: Mapping[int, int],
    counts: _Counts,
) -> Fold:
    places = folds[number]
    groups = rows.groups[places.start : places.stop]
    first, impact = groups[0], rows.impact
    is_alone = len(places) == 1
    page = None
    if is_alone or number in pages:
        page = page_of(_Part(rows, places), pages.get(number, 1), ROWS_IN_FOLD)
    kinds = counts[first.principals]
    return Fold(
        number=number,
        kind=first.change,
        places=places,
        page=page,
        rows=list(page) if page is not None else [],
        who=who(impact.axes.principals, first.principals),
        operations="" if is_alone else _operations(groups),
        which=() if is_alone else _which(impact, groups),
        count=sum(map(impact.effects_in, groups)),
        also=tuple(Also(kind, kinds[kind]) for kind in KINDS if kind != first.change and kinds.get(kind)),
        to_press=_pressed(pages, number),
        to_go_back=_turned(pages, number, page.number - 1) if page and page.has_previous() else "",
        to_go_on=_turned(pages, number, page.number + 1) if page and page.has_next() else "",
    )


def _operations(groups: Sequence[Group]) -> str:
    found = {operation for group in groups for operation in group.operations}
    return ", ".join(operation.pascal for operation in sorted(found, key=lambda each: each.code))


def _which(impact: Impact, groups: Sequence[Group]) -> Phrase:
    """Return on which resources groups are, a type of resource after the other."""
    of_types = [list(own) for _, own in groupby(groups, key=lambda each: each.resource_type)]
    parts = [which(described_together(impact, own), MOST_NAMES) for own in of_types[:MOST_TYPES]]
    phrase = [piece for part in parts for piece in (Piece("; "), *part)][1:]
    more = len(of_types) - MOST_TYPES
    if more > 0:
        phrase.append(Piece(f"; and {more} more type{'s' if more > 1 else ''} of resources"))
    return tuple(phrase)


@dataclass(frozen=True)
class _Part(Sequence[ImpactRow]):
    """The rows at some places, each put into words when it is asked for."""

    rows: ImpactRows
    places: range

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> ImpactRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ImpactRow]: ...

    def __getitem__(self, place: int | slice) -> ImpactRow | list[ImpactRow]:
        if isinstance(place, slice):
            return [self.rows[each] for each in self.places[place]]
        return self.rows[self.places[place]]
