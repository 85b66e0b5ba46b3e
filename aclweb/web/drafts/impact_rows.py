"""How is an impact shown to a person?

Turns an impact, of a what-if or stored with a change, into rows of a table, one for each group: who, what,
which names, before and after in words. The order is the order of fear: losses first, in each list what
holds for everyone, then those for whom the most changes. Only the rows that are asked for are put into words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import AclBinding, number_of
from aclweb.acl.simulate import (
    EXACT,
    Described,
    Group,
    Impact,
    NameClass,
    NameSet,
    Phrase,
    Piece,
    described,
    hosts_of,
    plain,
    whatever_the_acls,
    where,
    which,
    which_of,
    who,
)
from aclweb.acl.simulate import Side as CoreSide
from aclweb.changes.comparison import Between

KINDS = ("loses", "gains", "recovered", "depends")
# What a sentence tells; that the same answer has another reason is a number.
TOLD = ("loses", "gains", "depends")
MOST_TOLD = 3

# An answer can depend on many ACLs that say the same; this many are spelled out in a row, and in one that is open.
MOST_SHOWN, MOST_SHOWN_OPEN = 2, 20
# Principals and hosts that an open row lists.
MOST_LISTED = 100
# Principals, hosts, names and ACLs that one file spells out in rows that have more than an open row lists. What is
# beyond, in a diff of thousands of rows about thousands each, is left out of its row, which says so.
MOST_SPELLED_OUT = 500_000


@dataclass(frozen=True)
class Side:
    """One half of a difference: the answer and why; of those that gave it the first ACLs, and how many more."""

    allowed: bool | None  # None: cannot be decided
    words: str
    bindings: tuple[AclBinding, ...]
    more: int


@dataclass(frozen=True)
class ImpactRow:
    """One group in words. number: its place among all rows, by which it is opened.

    are_several: whether `who` names several principals one by one, so that a verb after it is in the plural.
    """

    number: int
    kind: str
    who: Phrase
    are_several: bool
    where: Phrase
    operations: str  # "Read, Describe"
    which: Phrase
    before: Side | None
    after: Side
    reason: str

    @property
    def shows_acls(self) -> bool:
        """Whether the ACLs are all that differs, so that without them the row would say nothing."""
        return self.kind == "recovered"


@dataclass(frozen=True)
class SpelledOut:
    """One group in texts. where: empty for all hosts. cut: the fields of which it does not spell out all.

    principals: those that `who` names.
    """

    kind: str
    who: str
    principals: tuple[str, ...]
    where: str
    operations: str
    resource_type: str
    which: str
    before: Side | None
    after: Side
    reason: str
    cells: int
    cut: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A set spelled out: all but the texts, or these; and how many more there are."""

    is_rest: bool
    texts: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class Opened:
    """All that a row is about: its principals, hosts and names, and the ACLs that settle the answer on both sides."""

    cells: int
    principals: Listing
    hosts: Listing
    names: Sequence[Phrase]
    before: Side | None
    after: Side


@dataclass(frozen=True)
class Told:
    """An impact in a sentence: the first groups, losses before gains, and how many more there are."""

    rows: Sequence[ImpactRow]
    more: int


@dataclass(frozen=True)
class Tile:
    kind: str
    label: str
    count: int
    hint: str


class ImpactRows(Sequence[ImpactRow]):
    """The groups of some lists in their order, each put into words when it is asked for.

    memo: what has been worked out of all of them, for as long as they are kept.
    """

    def __init__(self, impact: Impact, groups: Sequence[Group]) -> None:
        self._impact, self._groups = impact, groups
        self.memo: dict[object, Any] = {}

    @property
    def impact(self) -> Impact:
        return self._impact

    @property
    def groups(self) -> Sequence[Group]:
        return self._groups

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, place: int) -> ImpactRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ImpactRow]: ...

    def __getitem__(self, place: int | slice) -> ImpactRow | list[ImpactRow]:
        if isinstance(place, slice):
            return [self._row(number) for number in range(len(self))[place]]
        return self._row(range(len(self))[place])

    def containing(self, principal: str, name: str) -> ImpactRows:
        """Return the rows about principals and names that hold these texts, given in small letters."""
        if not principal and not name:
            return self
        return ImpactRows(self._impact, list(_narrowed(self._impact, self._groups, principal, name)))

    def spelled_out(self, most: int | None = None) -> Iterator[SpelledOut]:
        """Yield every row in texts, for a file or paper: whole as long as all of them spell out so many things.

        most: MOST_SPELLED_OUT unless given.
        """
        left = MOST_SPELLED_OUT if most is None else most
        for group in self._groups:
            names = described(self._impact, group)
            lengths = _lengths(self._impact, group, names)
            is_whole = _is_short(lengths) or (size := sum(map(sum, lengths.values()))) <= left
            if is_whole and not _is_short(lengths):
                left -= size
            yield _spelled_out(self._impact, group, names, lengths, is_whole=is_whole)

    def opened(self, number: int) -> Opened | None:
        """Return all that the row of that number is about; None where there is no such row."""
        return _opened(self._impact, self._groups[number]) if 0 <= number < len(self) else None

    def _row(self, number: int) -> ImpactRow:
        return _row(self._impact, self._groups[number], number)


def rows(impact: Impact, *kinds: str) -> ImpactRows:
    """Return the rows of these lists, one list after the other, in the order of `_in_order`.

    Groups in which only the ACLs differ that settle the answer share a row.
    """
    known: ImpactRows | None = impact.memo.get(kinds)
    if known is None:
        if len(kinds) == 1:
            groups = _in_order(impact, list(_shown(impact, *kinds)))
        else:
            groups = [group for kind in kinds for group in rows(impact, kind).groups]
        known = impact.memo[kinds] = ImpactRows(impact.without_memo, groups)
    return known


def told(impact: Impact, most: int = MOST_TOLD, *, besides: str = "") -> Told:
    """Return what to say of an impact before its rows: some groups of each list that changes somebody's access.

    besides: the list whose rows the page shows anyway.
    """
    lists = [rows(impact, kind) for kind in TOLD if kind != besides]
    # Each list has its share, and the room that others leave.
    shown, left = [], most
    for place, each in enumerate(lists):
        rest = sum(bool(other) for other in lists[place + 1 :])
        here = each[: max(left - rest, 0)]
        shown += here
        left -= len(here)
    return Told(shown, sum(map(len, lists)) - len(shown))


def exact_rows(impact: Impact) -> ImpactRows:
    """Return the groups of all lists, apart by the ACLs that settle their answers, in the order of `rows`."""
    known: ImpactRows | None = impact.memo.get(exact_rows)
    if known is None:
        by_kind: dict[str, list[Group]] = {kind: [] for kind in KINDS}
        for group in impact.groups:
            if group.change in by_kind:
                by_kind[group.change].append(group)
        groups = [group for own in by_kind.values() for group in _in_order(impact, own)]
        known = impact.memo[exact_rows] = ImpactRows(impact.without_memo, groups)
    return known


def _shown(impact: Impact, kind: str) -> Iterable[Group]:
    groups = [group for group in impact.groups if group.change == kind]
    # Which ACLs gave the answer is all that differs for some, so each of these is a row.
    return groups if kind == "recovered" else whatever_the_acls(groups, whether_any=True)


def _in_order(impact: Impact, groups: Sequence[Group]) -> list[Group]:
    """Return the groups of one list in order, those of the same principals together.

    Those for everyone come first, then those with the most single differences; of these the widest group, type by type.
    """
    members = same_principals(groups)
    width: dict[int, int] = defaultdict(int)
    for group in groups:
        width[members[id(group.principals)]] += impact.effects_in(group)
    others = impact.axes.principals.others

    def place(group: Group) -> tuple[object, ...]:
        principals = group.principals
        codes = [operation.code for operation in group.operations]
        # Principals have places in their order. Names are not unfolded: there may be a hundred thousand groups.
        return (
            not principals & others,
            -width[members[id(principals)]],
            principals & -principals,
            principals,
            group.resource_type.code,
            -group.names_count,
            codes,
            group.names_in_order,
            group.hosts,
        )

    return sorted(groups, key=place)


def same_principals(groups: Iterable[Group]) -> dict[int, int]:
    """Return a number for the set of principals of each group, by its id; equal sets have the same number."""
    # Thousands of groups share one set, and a large set takes its time to be compared.
    sets = {id(group.principals): group.principals for group in groups}
    numbers: dict[int, int] = {}
    return {place: numbers.setdefault(members, len(numbers)) for place, members in sets.items()}


def _narrowed(impact: Impact, groups: Iterable[Group], principal: str, name: str) -> Iterator[Group]:
    """Yield the parts of groups that are about principals and names with these texts."""
    axis = impact.axes.principals
    members = axis.holding(principal)
    if principal in "everyone":
        members |= axis.others
    names = {kind: own.holding(name) for kind, own in impact.axes.names.items()}
    for group in groups:
        part = group.narrowed(principals=members, names=names[group.resource_type])
        if part is not None:
            yield part


def tiles(impact: Impact, between: Between | None = None) -> list[Tile]:
    """Return the five numbers, losses first; between: the clusters, where two are compared."""

    def people(kind: str) -> str:
        axis, members = impact.axes.principals, impact.principals_of((kind,))
        if not members:
            return "nobody"
        is_rest, texts = axis.described(members)
        if is_rest:
            return f"everyone but {number_of(len(texts), 'principal')}" if texts else "everyone"
        return "1 principal" if len(texts) == 1 else f"{len(texts):,} principals"

    counts = impact.counts
    return [
        Tile(
            "loses",
            f"Allowed only on {between.left}" if between else "Loses access",
            counts["loses"],
            people("loses"),
        ),
        Tile(
            "gains",
            f"Allowed only on {between.right}" if between else "Gains access",
            counts["gains"],
            people("gains"),
        ),
        Tile(
            "recovered",
            "By other ACLs" if between else "Re-covered",
            counts["recovered"],
            "same answer, other ACL",
        ),
        Tile("depends", "Depends", counts["depends"], "cannot tell from here"),
        Tile(
            "unchanged",
            "Same on both" if between else "Unchanged",
            impact.unchanged,
            "allowed or refused alike" if between else "answers looked at",
        ),
    ]


def _row(impact: Impact, group: Group, number: int) -> ImpactRow:
    axes = impact.axes
    is_rest, principals = axes.principals.described(group.principals)
    return ImpactRow(
        number=number,
        kind=group.change,
        who=who(axes.principals, group.principals),
        are_several=not is_rest and len(principals) > 1,
        where=where(axes.hosts, group.hosts, reason=group.reason),
        operations=", ".join(operation.pascal for operation in group.operations),
        which=which(described(impact, group)),
        before=None if group.before is None else _side(group.before, group.before.determining, MOST_SHOWN),
        after=_side(group.after, group.after.determining, MOST_SHOWN),
        reason=group.reason or "",
    )


def _lengths(impact: Impact, group: Group, names: Described) -> dict[str, tuple[int, ...]]:
    """Return how many things each list of a row holds, by the field of SpelledOut."""
    axes = impact.axes
    return {
        "who": (len(axes.principals.described(group.principals)[1]),),
        "where": (len(hosts_of(axes.hosts, group.hosts, group.reason)[1]),),
        "which": names.lengths,
        "before": (len(group.before.determining) if group.before else 0,),
        "after": (len(group.after.determining),),
    }


def _most(field: str) -> int:
    return MOST_SHOWN_OPEN if field in ("before", "after") else MOST_LISTED


def _is_short(lengths: Mapping[str, tuple[int, ...]]) -> bool:
    return all(max(each) <= _most(field) for field, each in lengths.items())


def _spelled_out(
    impact: Impact, group: Group, names: Described, lengths: Mapping[str, tuple[int, ...]], *, is_whole: bool
) -> SpelledOut:
    axes = impact.axes
    before = group.before
    most = {field: max(each) if is_whole else _most(field) for field, each in lengths.items()}
    return SpelledOut(
        kind=group.change,
        who=plain(who(axes.principals, group.principals, most["who"])),
        principals=axes.principals.described(group.principals)[1][: most["who"]],
        where=plain(where(axes.hosts, group.hosts, most["where"], reason=group.reason)),
        operations=", ".join(operation.pascal for operation in group.operations),
        resource_type=group.resource_type.name,
        which=plain(which(names, most["which"])),
        before=None if before is None else _side(before, before.determining, most["before"]),
        after=_side(group.after, group.after.determining, most["after"]),
        reason=group.reason or "",
        cells=impact.cells_in(group),
        cut=tuple(field for field, each in lengths.items() if max(each) > most[field]),
    )


def _opened(impact: Impact, group: Group) -> Opened:
    axes = impact.axes
    alike = [each for each in impact.groups if _is_part_of(each, group)]
    before = dict.fromkeys(acl for each in alike if each.before for acl in each.before.determining)
    after = dict.fromkeys(acl for each in alike for acl in each.after.determining)
    return Opened(
        cells=impact.cells_in(group),
        principals=_listing(*axes.principals.described(group.principals)),
        hosts=_listing(*hosts_of(axes.hosts, group.hosts, group.reason)),
        names=_Names(group, NameSet(axes.names[group.resource_type], group.names)),
        before=None if group.before is None else _side(group.before, before, MOST_SHOWN_OPEN),
        after=_side(group.after, after, MOST_SHOWN_OPEN),
    )


def _is_part_of(part: Group, group: Group) -> bool:
    """Whether cells of a group of the impact are among those of a group that is shown."""
    return (
        part.change == group.change
        and part.resource_type is group.resource_type
        and bool(part.principals & group.principals and part.hosts & group.hosts and part.names & group.names)
        and not set(group.operations).isdisjoint(part.operations)
    )


class _Names(Sequence[Phrase]):
    """The classes of names of a group, each put into words when it is asked for."""

    def __init__(self, group: Group, names: NameSet) -> None:
        self._kind, self._names = group.resource_type, names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, place: int) -> Phrase: ...

    @overload
    def __getitem__(self, place: slice) -> list[Phrase]: ...

    def __getitem__(self, place: int | slice) -> Phrase | list[Phrase]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return [self._words(each) for each in islice(self._names, start, stop, step)]
        return self._words(self._names[place])

    def _words(self, name: NameClass) -> Phrase:
        """Return a class of names in words, and of a name that was not listed at the cluster where it comes from."""
        kind, text = name
        words, axis = which_of(self._kind, [name]), self._names.axis
        if kind != EXACT or axis.one(text) & axis.given:
            return words
        return (*words, Piece(" (new)" if axis.one(text) & axis.new else " (known from ACLs alone)"))


def _listing(is_rest: bool, texts: tuple[str, ...]) -> Listing:
    return Listing(is_rest, texts[:MOST_LISTED], max(0, len(texts) - MOST_LISTED))


_BASIS_WORDS = {
    Basis.SUPER_USER: "super user",
    Basis.DENY_ACL: "refused by a DENY",
    Basis.ALLOW_ACL: "allowed",
    Basis.NO_ALLOW_ACL: "no ACL allows it",
    Basis.DEFAULT_ALLOW: "open: no ACL at all",
    Basis.DEFAULT_DENY: "no ACL at all, refused",
    Basis.UNKNOWN_VALUE: "cannot tell",
    Basis.NOT_ASKED: "brokers never ask for it",
}


def _side(side: CoreSide, determining: Iterable[AclBinding], most: int) -> Side:
    bindings = tuple(determining)
    return Side(
        allowed={Result.ALLOWED: True, Result.DENIED: False}.get(side.result),
        words=_BASIS_WORDS[side.basis],
        bindings=bindings[:most],
        more=max(0, len(bindings) - most),
    )
