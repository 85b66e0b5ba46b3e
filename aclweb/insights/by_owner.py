"""What was used, denied or left unused of the names of each owner, and by whose principals?

Owners are those that people name for topics, groups, transactional ids and principals. What is used and denied is
what brokers logged in a window up to the last day of the log; what nobody is said to own has a row of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Max, QuerySet, Sum

from aclweb.acl.logged import Evidence
from aclweb.acl.model import PatternType, PermissionType, ResourceType
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.unused import NO_LOG, evidence_of, unused_acls
from aclweb.insights.window import Window, evidence_in_days
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists import OwnerBook
from aclweb.inventory.models import Cluster, OwnedNames, StoredAcl, stored_in_force

NOBODY = ""
"""In the place of an owner: nobody is said to own the name."""

MOST_ROWS = 50_000
"""So many logged pairs of principal and resource are added up, those of most lines first."""

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
    use: permitted requests of the principals of this owner, on whatever name; used: how many names these are on;
    refused: the denied ones. own_principals: how many of them were logged.
    """

    owner: str
    names: list[NameUse] = field(default_factory=list)
    topics: int | None = None
    dark: int | None = None
    permitted: int | None = None
    others: int | None = None
    denied: int = 0
    acls: int = 0
    unused: int | None = None
    use: int | None = None
    used: int | None = None
    refused: int = 0
    own_principals: int = 0

    @property
    def principals(self) -> int:
        """How many principals a request was permitted."""
        return len(set[str]().union(*(each.principals for each in self.names)))


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
        return MOST_ROWS

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
"""The reports that this process made last: of 50,000 names one takes a second, and an hour has the same log."""


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
    topics = () if known is Known.UNKNOWN else view.loaded.names.get(ResourceType.TOPIC, ())
    why_not_dark = evidence_in_days(evidence, window).why_not[PermissionType.ALLOW]
    why_not_unused = next(filter(None, evidence.why_not.values()), "")
    uses = {(_TOPIC, name): NameUse(_TOPIC, name, _owner(book, _TOPIC, name), exists=True) for name in topics}
    permits_seen = window is not None and window.permits_seen
    own: dict[str, _OwnUse] = defaultdict(_OwnUse)
    whole = _add_logged(window, book, uses, own, all_known=known is Known.ALL) if window else True
    if not whole:
        why_not_dark = (
            why_not_dark or f"{MOST_ROWS:,} pairs of principal and name are counted, and there are more"
        )
    rows: dict[str, OwnerRow] = {}
    for use in uses.values():
        rows.setdefault(use.owner, OwnerRow(use.owner)).names.append(use)
    in_all = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    acls = _acls(in_all, book)
    unused = Counter[str]() if why_not_unused else _acls(unused_acls(cluster, load, evidence), book)
    for owner in (*acls, *own, *book.owners):
        rows.setdefault(owner, OwnerRow(owner))
    for row in rows.values():
        _add_own(row, own[row.owner], permits_seen=permits_seen)
        _sum_up(
            row, topics_known=known is not Known.UNKNOWN, permits_seen=permits_seen, dark=not why_not_dark
        )
        row.acls = acls[row.owner]
        row.unused = None if why_not_unused else unused[row.owner]
    return OwnerReport(
        load,
        asked.days,
        tuple(rows.values()),
        said=True,
        whole=whole,
        unknown=not permits_seen,
        why_not=asked.why_not,
        why_not_dark=why_not_dark,
        why_not_unused=why_not_unused,
    )


def _owner(book: OwnerBook, kind: str, name: str) -> str:
    found = book.of(kind, name)
    return found.owner if found else NOBODY


@dataclass
class _OwnUse:
    """What the principals of one owner were logged to do."""

    permitted: int = 0
    denied: int = 0
    names: set[tuple[str, str]] = field(default_factory=set)
    principals: set[str] = field(default_factory=set)


def _add_own(row: OwnerRow, own: _OwnUse, *, permits_seen: bool) -> None:
    row.refused, row.own_principals = own.denied, len(own.principals)
    if permits_seen:
        row.use, row.used = own.permitted, len(own.names)


def _add_logged(
    window: Window,
    book: OwnerBook,
    uses: dict[tuple[str, str], NameUse],
    own: dict[str, _OwnUse],
    *,
    all_known: bool,
) -> bool:
    """Add what was logged of each name to `uses`, and of principals to `own`; return whether all of it was added."""
    columns = ("request__principal", "request__resource_type", "request__resource_name", "request__allowed")
    pairs = window.requests().values_list(*columns)
    summed = pairs.annotate(number=Sum(window.column), last=Max("last_at")).order_by("-number", *columns)
    found = list(summed[: MOST_ROWS + 1])
    principal_owners: dict[str, str] = {}
    for principal, kind, name, allowed, number, last_at in found[:MOST_ROWS]:
        if principal not in principal_owners:
            principal_owners[principal] = _owner(book, _PRINCIPAL, principal)
        _add_request(own[principal_owners[principal]], principal, (kind, name), number, allowed=allowed)
        if kind not in _KINDS:
            continue
        use = uses.get((kind, name))
        if use is None:
            exists = False if kind == _TOPIC and all_known else None
            use = uses[kind, name] = NameUse(kind, name, _owner(book, kind, name), exists)
        use.last_at = last_at if use.last_at is None else max(use.last_at, last_at)
        if not allowed:
            use.denied += number
            continue
        use.permitted += number
        use.principals.add(principal)
        if NOBODY != use.owner != principal_owners[principal] != NOBODY:
            use.others += number
    return len(found) <= MOST_ROWS


def _add_request(own: _OwnUse, principal: str, name: tuple[str, str], number: int, *, allowed: bool) -> None:
    own.principals.add(principal)
    if allowed:
        own.permitted += number
        own.names.add(name)
    else:
        own.denied += number


def _sum_up(row: OwnerRow, *, topics_known: bool, permits_seen: bool, dark: bool) -> None:
    existing = [each for each in row.names if each.exists]
    row.denied = sum(each.denied for each in row.names)
    row.topics = len(existing) if topics_known else None
    if permits_seen:
        row.permitted = sum(each.permitted for each in row.names)
        row.others = sum(each.others for each in row.names)
    if topics_known and dark:
        row.dark = sum(not each.permitted for each in existing)


def _acls(acls: QuerySet[StoredAcl], book: OwnerBook) -> Counter[str]:
    """Count ACLs by the owner of what they are on: of the name, or of all names that begin so.

    The cluster, and whatever else has no owner, is nobody's.
    """
    columns = ("resource_type", "pattern_type", "resource_name")
    counted = acls.values_list(*columns).annotate(Count("pk")).order_by()
    found: Counter[str] = Counter()
    for kind, pattern, name, number in counted.iterator():
        found[_owner_of_pattern(book, kind, pattern, name) if kind in _KINDS else NOBODY] += number
    return found


def _owner_of_pattern(book: OwnerBook, kind: str, pattern: str, name: str) -> str:
    if pattern == PatternType.LITERAL.name:
        return NOBODY if name == "*" else _owner(book, kind, name)
    # What follows the sign of a glob says nothing about how the names begin.
    begin = name if pattern == PatternType.PREFIXED.name else name.split("*")[0].split("?")[0]
    said = book.of_all(kind, begin)
    return said.owner if said else NOBODY
