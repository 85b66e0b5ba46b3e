"""How is an impact shown to a person?

Turns an impact, of a what-if or stored with a change, into rows of a table: who, what, where,
before and after in words. The order is the order of fear: losses first. A draft can have a
hundred thousand differences and a page shows fifty, so only the rows that are asked for are
put into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, Operation, ResourceType
from aclweb.acl.simulate import EXACT, Differences, Name, differences

KINDS = ("loses", "gains", "recovered", "depends")


# An answer can hang on many ACLs that say the same; this many are spelled out.
MOST_SHOWN = 2


@dataclass(frozen=True)
class Side:
    """One half of a difference: the answer and why; of those that gave it the first ACLs, and how many more."""

    allowed: bool | None  # None: cannot be decided
    words: str
    bindings: tuple[AclBinding, ...]
    more: int


@dataclass(frozen=True)
class ImpactRow:
    kind: str
    principal: str
    principal_words: str
    host: str
    operations: str  # "Read, Describe"
    resource_type: str
    resource_name: str | None
    resource_words: str  # "any other topic that starts with", or "" for one named resource
    resource_text: str
    before: Side | None
    after: Side
    reason: str

    @property
    def shows_acls(self) -> bool:
        """Whether the ACLs are all that differs, so that without them the row would say nothing."""
        return self.kind == "recovered"


@dataclass(frozen=True)
class Tile:
    kind: str
    label: str
    count: int
    hint: str


class ImpactRows(Sequence[ImpactRow]):
    """Differences in their order, each put into words when it is asked for.

    They are kept by principal, and only the differences of the principals on the page asked for
    are put in order, name by name: ten principals may gain a right on fifty thousand topics each.
    """

    def __init__(self, buckets: Sequence[Sequence[_Group]], name: str = "") -> None:
        """buckets: the groups of one principal each, in the order of the principals. name: as of `containing`."""
        self._name = name
        self._names: dict[int, tuple[Name, ...]] = {}
        counted = ((bucket, sum(len(self._shown(group)) for group in bucket)) for bucket in buckets)
        self._buckets = [(bucket, count) for bucket, count in counted if count]
        self._length = sum(count for _, count in self._buckets)
        self._in_order = lru_cache(maxsize=2)(self._put_in_order)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> ImpactRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ImpactRow]: ...

    def __getitem__(self, place: int | slice) -> ImpactRow | list[ImpactRow]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise ValueError("Rows are asked for one after the other.")
            return [_row(*found) for found in self._between(start, stop)]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        start = place % len(self)
        return _row(*next(self._between(start, start + 1)))

    def containing(self, principal: str, name: str) -> ImpactRows:
        """Return the rows whose principal and resource hold these texts, given in small letters."""
        if not principal and not name:
            return self
        buckets = [bucket for bucket, _ in self._buckets]
        return ImpactRows([each for each in buckets if principal in each[0].first.principal.casefold()], name)

    def _between(self, start: int, stop: int) -> Iterator[tuple[_Group, Name]]:
        for number, (_, count) in enumerate(self._buckets):
            if start < count and stop > 0:
                yield from self._in_order(number)[max(0, start) : stop]
            start, stop = start - count, stop - count

    def _put_in_order(self, number: int) -> list[tuple[_Group, Name]]:
        groups, _ = self._buckets[number]
        return sorted(((group, name) for group in groups for name in self._shown(group)), key=_place)

    def _shown(self, group: _Group) -> tuple[Name, ...]:
        names = group.first.names
        if not self._name:
            return names
        if id(names) not in self._names:
            self._names[id(names)] = tuple(found for found in names if self._name in found[1].casefold())
        return self._names[id(names)]


@dataclass(frozen=True)
class _Group:
    """Operations that differ in the same way for the same session and names: `first` has the first of them."""

    impact: Differences
    kind: str
    first: differences.Row
    operations: str


def rows(impact: Differences, *kinds: str) -> ImpactRows:
    """Return the differences of these kinds, one after the other, in each those of named principals first.

    Operations that differ in the same way for the same session and resource share a row.
    """
    made: dict[tuple[str, ...], ImpactRows] = impact.memo
    if kinds in made:
        return made[kinds]
    buckets: list[list[_Group]] = []
    for kind in kinds:
        by_principal: dict[str, list[_Group]] = {}
        for group in _groups(kind, impact):
            by_principal.setdefault(group.first.principal, []).append(group)
        buckets += [by_principal[who] for who in sorted(by_principal, key=lambda who: (who == WILDCARD, who))]
    found = made[kinds] = ImpactRows(buckets)
    return found


def _groups(kind: str, impact: Differences) -> list[_Group]:
    grouped: dict[tuple[object, ...], tuple[differences.Row, list[str]]] = {}
    for row in impact.rows[kind]:
        found = grouped.setdefault(_key(kind, row, impact), (row, []))
        found[1].extend(row.operations)
    return [_Group(impact, kind, row, _words(tuple(names))) for row, names in grouped.values()]


def _key(kind: str, row: differences.Row, impact: Differences) -> tuple[object, ...]:
    """Return all that two differences must have in common to share a row."""
    # Which ACLs gave the answer is all that differs for some, so a row tells them.
    shows_acls = kind == "recovered"
    return (
        row.principal,
        row.host,
        bool(row.except_principals),
        row.except_hosts,
        row.resource_type,
        id(row.names),  # names that share their answers are one tuple
        row.before if shows_acls else row.before >= 0 and impact.sides[row.before][:2],
        row.after if shows_acls else impact.sides[row.after][:2],
        row.reason,
    )


def _place(found: tuple[_Group, Name]) -> tuple[object, ...]:
    group, (kind, text) = found
    return (kind != EXACT, text, group.operations)


@lru_cache(maxsize=1_000)
def _words(operations: tuple[str, ...]) -> str:
    """Return operations, each named once, in Kafka's own order."""
    members = sorted({Operation[name] for name in operations}, key=lambda operation: operation.code)
    return ", ".join(member.pascal for member in members)


def tiles(impact: Differences) -> list[Tile]:
    """Return the five numbers, losses first."""

    def people(kind: str) -> str:
        named = {row.principal for row in impact.rows[kind]}
        if not named:
            return "nobody"
        if WILDCARD in named:
            return "anybody" if len(named) == 1 else f"{len(named) - 1} named, and anybody"
        return "1 principal" if len(named) == 1 else f"{len(named)} principals"

    counts = impact.counts
    return [
        Tile("loses", "Loses access", counts["loses"], people("loses")),
        Tile("gains", "Gains access", counts["gains"], people("gains")),
        Tile("recovered", "Re-covered", counts["recovered"], "same answer, other ACL"),
        Tile("depends", "Depends", counts["depends"], "cannot tell from here"),
        Tile("unchanged", "Unchanged", impact.unchanged, "answers looked at"),
    ]


def principal_words(principal: str, excepted: Sequence[str]) -> str:
    if principal == WILDCARD:
        return "Anybody else" if excepted else "Anybody"
    return "Any user" if principal == ANY_USER else principal


def _row(group: _Group, name: Name) -> ImpactRow:
    impact, first, (kind, text) = group.impact, group.first, name
    hosts, host = first.except_hosts, first.host
    if hosts:
        host = (
            f"any host but {', '.join(hosts)}" if len(hosts) < 3 else f"any host but {len(hosts)} named ones"
        )
    return ImpactRow(
        kind=group.kind,
        principal=first.principal,
        principal_words=principal_words(first.principal, first.except_principals),
        host=host,
        operations=group.operations,
        resource_type=first.resource_type,
        resource_name=text if kind == EXACT else None,
        resource_words=_resource_words(first.resource_type, kind),
        resource_text=text,
        before=None if first.before < 0 else _side(impact, first.before),
        after=_side(impact, first.after),
        reason=first.reason or "",
    )


def _resource_words(resource_type: str, kind: str) -> str:
    thing = ResourceType[resource_type].name.lower().replace("_", " ")
    words: dict[str, str] = {
        "EXACT": "",
        "PREFIX": f"any other {thing} that starts with",
        "PATTERN": f"any {thing} that matches",
        "ANY_OTHER": f"any other {thing}",
    }
    return words[kind]


_BASIS_WORDS = {
    "SUPER_USER": "super user",
    "DENY_ACL": "refused by a DENY",
    "ALLOW_ACL": "allowed",
    "NO_ALLOW_ACL": "no ACL allows it",
    "DEFAULT_ALLOW": "open: no ACL at all",
    "DEFAULT_DENY": "no ACL at all, refused",
    "UNKNOWN_VALUE": "cannot tell",
    "NOT_ASKED": "brokers never ask for it",
}


def _side(impact: Differences, place: int) -> Side:
    result, basis, _ = impact.sides[place]
    bindings, count = impact.bindings(place, MOST_SHOWN)
    return Side(
        allowed={"ALLOWED": True, "DENIED": False}.get(result),
        words=_BASIS_WORDS[basis],
        bindings=bindings,
        more=max(0, count - MOST_SHOWN),
    )
