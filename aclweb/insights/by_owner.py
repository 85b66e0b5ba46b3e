"""What was used, denied or left unused of the names of each owner, and by whose principals?

Owners are those that people name for topics, groups, transactional ids and principals. What is used and denied is
what brokers logged in a window up to the last day of the log; what nobody is said to own has a row of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import compress, repeat

from aclweb.acl.logged import Evidence
from aclweb.acl.model import PatternType, PermissionType, ResourceType
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.pairs import MOST_PAIRS, Pairs, moment_of, pairs_of
from aclweb.insights.unused import NO_LOG, evidence_of, unused_acls
from aclweb.insights.window import Window, evidence_in_days
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists import OwnerBook
from aclweb.inventory.models import Cluster, OwnedNames

NOBODY = ""
"""In the place of an owner: nobody is said to own the name."""

_TOPIC = ResourceType.TOPIC.name
_PRINCIPAL = OwnedNames.Kind.PRINCIPAL.value
_KINDS = tuple(kind for kind in OwnedNames.Kind.values if kind != _PRINCIPAL)


@dataclass
class NameUse:
    """What was logged of one name.

    others: permitted requests of principals that have another owner than it. exists: whether it is a topic that is
    there; None where nobody knows, and for what is no topic.
    """

    kind: str
    name: str
    owner: str
    exists: bool | None = None
    permitted: int = 0
    denied: int = 0
    others: int = 0
    principals: set[str] = field(default_factory=set)
    last_at: datetime | None = None


@dataclass
class OwnerRow:
    """The names of one owner together. topics: those that exist; dark: those of them that no request used.

    acls: those on the names, unused those of them that the log shows to be so. None is what nobody can tell.
    principals: how many a request was permitted. use: permitted requests of the principals of this owner, on whatever
    name; used: how many names these are on; refused: the denied ones. own_principals: how many of them were logged.
    """

    owner: str
    topics: int | None = None
    dark: int | None = None
    permitted: int | None = None
    others: int | None = None
    denied: int = 0
    principals: int = 0
    acls: int = 0
    unused: int | None = None
    use: int | None = None
    used: int | None = None
    refused: int = 0
    own_principals: int = 0
    named: Callable[[], list[NameUse]] = field(default=list, repr=False, compare=False)

    @cached_property
    def names(self) -> list[NameUse]:
        """What was logged of each name, and the topics that exist; made when somebody asks for it."""
        return self.named()


@dataclass(frozen=True)
class OwnerReport:
    """The rows of all owners, and of NOBODY where there is something of it.

    said: whether anybody is said to own anything. whole: whether every logged pair is counted. unknown: whether the log
    holds no permits. why_not: why it cannot tell or, beside numbers, why more may have been permitted.
    why_not_dark, why_not_unused: why no topic can be called dark, and why
    no ACL unused.
    """

    load: Load | None
    days: int | None
    rows: tuple[OwnerRow, ...] = ()
    said: bool = False
    whole: bool = True
    unknown: bool = False
    why_not: str = ""
    why_not_dark: str = ""
    why_not_unused: str = ""

    @property
    def most(self) -> int:
        """How many logged pairs are counted where it is not `whole`."""
        return MOST_PAIRS

    @property
    def owners(self) -> int:
        return sum(row.owner != NOBODY for row in self.rows)

    @property
    def permitted(self) -> int:
        """The permitted requests of all rows."""
        return sum(row.permitted or 0 for row in self.rows)

    @property
    def of_nobody(self) -> int:
        """The permitted requests on names that nobody is said to own."""
        return sum(row.permitted or 0 for row in self.rows if row.owner == NOBODY)

    def of(self, owner: str) -> OwnerRow | None:
        return next((row for row in self.rows if row.owner == owner), None)


@dataclass(frozen=True)
class _Asked:
    """All that a report is made of. Two that are equal have the same report."""

    cluster: Cluster
    revision_id: int | None
    said: tuple[tuple[str, ...], ...]
    known: Known
    load: Load | None
    loaded_at: datetime | None
    days: int | None
    evidence: Evidence
    why_not: str


_MOST_KEPT = 4
_kept: list[tuple[_Asked, OwnerReport]] = []
"""The reports that this process made last: an hour has the same log."""


def by_owner(cluster: Cluster, *, days: int | None) -> OwnerReport:
    """Return the report; at most nine queries. days: of `window.WINDOWS`, the last ones of the log; None for all."""
    book = OwnerBook(cluster)
    load = current_load(cluster)
    window = None if load is None else Window.of(load, days)
    if not book:
        return OwnerReport(load, window.days if window else days, unknown=load is None, why_not=NO_LOG)
    view = in_force(cluster)
    asked = _Asked(
        cluster,
        cluster.revision_id,
        book.rows,
        view.known(ResourceType.TOPIC),
        load,
        None if load is None else load.loaded_at,
        window.days if window else days,
        evidence_of(load),
        window.why_not if window else NO_LOG,
    )
    report = next((made for known, made in _kept if known == asked), None)
    if report is None:
        report = _made(asked, book, view, window)
        if load is not None:
            _kept[:] = [(asked, report), *_kept[: _MOST_KEPT - 1]]
    return report


def _made(asked: _Asked, book: OwnerBook, view: ClusterView, window: Window | None) -> OwnerReport:
    """Return the report of names with owners; window: of the log, if there is one."""
    cluster, known = asked.cluster, asked.known
    load, evidence = asked.load, asked.evidence
    why_not_dark = evidence_in_days(evidence, window).why_not[PermissionType.ALLOW]
    why_not_unused = next(filter(None, evidence.why_not.values()), "")
    permits_seen = window is not None and window.permits_seen
    names = _Names.of(book, view, None if window is None else pairs_of(window))
    if not names.pairs.whole:
        why_not_dark = (
            why_not_dark or f"{MOST_PAIRS:,} pairs of principal and name are counted, and there are more"
        )
    tallies = names.tallies()
    existing, bright = names.topics()
    patterns = _patterns(view)
    of_patterns = _owners_of_patterns(book, patterns)
    acls = _counted(of_patterns, patterns)
    unused = Counter[str]()
    if not why_not_unused:
        unused = _counted(of_patterns, _patterns_unused(cluster, load, evidence))
    rows = []
    for owner in dict.fromkeys((*existing, *tallies, *acls, *book.owners)):
        tally = tallies.get(owner, _NOTHING)
        row = OwnerRow(
            owner,
            denied=tally.denied,
            principals=len(tally.principals),
            acls=acls[owner],
            unused=None if why_not_unused else unused[owner],
            refused=tally.refused,
            own_principals=len(tally.own_principals),
            named=partial(names.uses, owner, all_known=known is Known.ALL),
        )
        if known is not Known.UNKNOWN:
            row.topics = existing[owner]
            row.dark = None if why_not_dark else existing[owner] - bright[owner]
        if permits_seen:
            row.permitted, row.others = tally.permitted, tally.others
            row.use, row.used = tally.use, len(tally.used)
        rows.append(row)
    return OwnerReport(
        load,
        asked.days,
        tuple(rows),
        said=True,
        whole=names.pairs.whole,
        unknown=not permits_seen,
        why_not=asked.why_not,
        why_not_dark=why_not_dark,
        why_not_unused=why_not_unused,
    )


@dataclass(slots=True)
class _Tally:
    """What was logged on the names of one owner, and of its principals: see OwnerRow. used: places of names."""

    permitted: int = 0
    others: int = 0
    denied: int = 0
    principals: set[int] = field(default_factory=set)
    use: int = 0
    refused: int = 0
    used: set[int] = field(default_factory=set)
    own_principals: set[int] = field(default_factory=set)


_NOTHING = _Tally()
_NO_PAIRS = Pairs((), (), (), (), (), (), (), (), whole=True)


@dataclass(frozen=True)
class _Names:
    """The logged pairs, the owners of their principals and names, and the topics that exist with theirs.

    of_names: None for a name of a kind that nobody owns.
    """

    pairs: Pairs
    of_principals: list[str]
    of_names: list[str | None]
    existing: Mapping[str, str]

    @classmethod
    def of(cls, book: OwnerBook, view: ClusterView, pairs: Pairs | None) -> _Names:
        pairs = pairs or _NO_PAIRS
        return cls(
            pairs,
            book.owners_of_each(_PRINCIPAL, pairs.principals),
            [
                owner
                for kind, begin, end in _spans(pairs.kinds)
                for owner in _owners(book, kind, pairs.names[begin:end])
            ],
            _existing(book, view),
        )

    def tallies(self) -> dict[str, _Tally]:
        """Return by owner what was logged."""
        of_principals, of_names = self.of_principals, self.of_names
        found = {owner: _Tally() for owner in {*of_principals, *of_names} if owner is not None}
        pairs = self.pairs
        for principal, name, allowed, lines in zip(
            pairs.principal, pairs.name, pairs.allowed, pairs.lines, strict=True
        ):
            asking, owner = of_principals[principal], of_names[name]
            own = found[asking]
            if allowed:
                own.use += lines
                own.used.add(name)
            else:
                own.refused += lines
            if owner is None:
                continue
            tally = found[owner]
            if not allowed:
                tally.denied += lines
                continue
            tally.permitted += lines
            tally.principals.add(principal)
            if NOBODY != owner != asking != NOBODY:
                tally.others += lines
        for principal in set(pairs.principal):
            found[of_principals[principal]].own_principals.add(principal)
        # Names of the whole log have an owner, and not all are in the window.
        return {owner: tally for owner, tally in found.items() if tally != _NOTHING}

    def topics(self) -> tuple[Counter[str], Counter[str]]:
        """Return by owner how many topics exist, and how many of these were used."""
        pairs = self.pairs
        used, existing = set(compress(pairs.name, pairs.allowed)), self.existing
        topics = [pairs.names[place] for place in used if pairs.kinds[place] == _TOPIC]
        bright = Counter(existing[name] for name in topics if name in existing)
        return Counter(existing.values()), bright

    def uses(self, owner: str, *, all_known: bool) -> list[NameUse]:
        """Return what was logged of the names of one owner. all_known: whether the view knows every topic."""
        found = {
            (_TOPIC, name): NameUse(_TOPIC, name, owner, exists=True)
            for name, own in self.existing.items()
            if own == owner
        }
        pairs = self.pairs
        for principal, name, allowed, lines, last in zip(
            pairs.principal, pairs.name, pairs.allowed, pairs.lines, pairs.last, strict=True
        ):
            if self.of_names[name] != owner:
                continue
            kind, text = pairs.kinds[name], pairs.names[name]
            use = found.get((kind, text))
            if use is None:
                exists = False if kind == _TOPIC and all_known else None
                use = found[kind, text] = NameUse(kind, text, owner, exists)
            moment = moment_of(last)
            use.last_at = moment if use.last_at is None else max(use.last_at, moment)
            if not allowed:
                use.denied += lines
                continue
            use.permitted += lines
            use.principals.add(pairs.principals[principal])
            if NOBODY != owner != self.of_principals[principal] != NOBODY:
                use.others += lines
        return list(found.values())


def _spans(kinds: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each kind with the places at which it begins and ends."""
    begin = 0
    for kind, number in Counter(kinds).items():
        yield kind, begin, begin + number
        begin += number


def _existing(book: OwnerBook, view: ClusterView) -> Mapping[str, str]:
    """Return the owner of each topic that exists; none where nobody knows which do."""
    if view.known(ResourceType.TOPIC) is Known.UNKNOWN:
        return {}
    topics = view.loaded.names.get(ResourceType.TOPIC, ())
    return dict(zip(topics, book.owners_of_each(_TOPIC, topics), strict=True))


def _owners(book: OwnerBook, kind: str, names: Sequence[str]) -> Iterable[str | None]:
    """Return the owner of each of these names, which are sorted; None for what nobody can own."""
    return book.owners_of_each(kind, names) if kind in _KINDS else repeat(None, len(names))


_Pattern = tuple[str, str, str]
"""The resource type, the pattern type and the name of ACLs."""


def _patterns(view: ClusterView) -> Mapping[_Pattern, int]:
    """Return how many ACLs in force there are of each pattern, worked out once for a revision."""

    def counted() -> Counter[_Pattern]:
        patterns = Counter((each.resource_type, each.pattern_type, each.resource_name) for each in view.index)
        return Counter(
            {(kind.name, pattern.name, name): number for (kind, pattern, name), number in patterns.items()}
        )

    return view.loaded.remember("ACLs of each pattern", counted)


def _patterns_unused(cluster: Cluster, load: Load | None, evidence: Evidence) -> Counter[_Pattern]:
    """Return how many ACLs of each pattern the log shows to be unused."""
    columns = ("resource_type", "pattern_type", "resource_name")
    return Counter(unused_acls(cluster, load, evidence).values_list(*columns).iterator())


def _counted(of_patterns: Mapping[_Pattern, str], acls: Mapping[_Pattern, int]) -> Counter[str]:
    """Count ACLs by the owner of what they are on. Of a pattern that came meanwhile nobody is."""
    found: Counter[str] = Counter()
    for pattern, number in acls.items():
        found[of_patterns.get(pattern, NOBODY)] += number
    return found


def _owners_of_patterns(book: OwnerBook, patterns: Iterable[_Pattern]) -> Mapping[_Pattern, str]:
    """Return by pattern who owns its name, or all names that begin so; the others are nobody's, as the cluster is."""
    found: dict[_Pattern, str] = {}
    literal, begun = defaultdict[str, list[str]](list), defaultdict[str, list[tuple[str, str, str]]](list)
    for kind, pattern, name in patterns:
        if kind not in _KINDS:
            continue
        if pattern != PatternType.LITERAL.name:
            # What follows the sign of a glob says nothing about how the names begin.
            begin = name if pattern == PatternType.PREFIXED.name else name.split("*")[0].split("?")[0]
            begun[kind].append((begin, pattern, name))
        elif name != "*":
            literal[kind].append(name)
    for kind, names in literal.items():
        names.sort()
        for name, owner in zip(names, book.owners_of_each(kind, names), strict=True):
            found[kind, PatternType.LITERAL.name, name] = owner
    for kind, rows in begun.items():
        rows.sort()
        owners = book.owners_of_all_each(kind, [begin for begin, _, _ in rows])
        for (_, pattern, name), owner in zip(rows, owners, strict=True):
            found[kind, pattern, name] = owner
    return found
