"""Which principals are there, what does each reach, when was it last seen, and what is conspicuous about it?

They are those that an ACL, the declared super users, the log or lists of the brokers name (SCRAM users, quotas, owners
of delegation tokens). That one was not seen is said only where the log
may say so of an ACL too (see `unused`); never of one whose ACLs are all younger than the days that it has to cover, and
never of one that may stand for several clients, whose requests name others: only Kafka's own authorizers are known to
compare principals as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.logged import Evidence
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclError,
    PermissionType,
    ResourceType,
    computed_once,
    number_of,
    split_principal,
)
from aclweb.clusters import DetailKind, Known
from aclweb.insights.current import current_load
from aclweb.insights.logged_principals import LATELY, LoggedUse, logged_principals
from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of
from aclweb.insights.unused import NO_LOG, evidence_of, principals_of_younger_acls
from aclweb.inventory.access import TopicReach, TopicReaches, topic_reaches
from aclweb.inventory.current import ClusterView, broker_settings, in_force
from aclweb.inventory.details import KnownToBrokers, is_known_to_brokers, known_to_brokers
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster

ORPHANED, NEVER_SEEN, DENIED = "orphaned", "never-seen", "denied"
READS_ALL, WRITES_ALL = "reads-all", "writes-all"
NO_ACL, NO_LOGIN, GONE = "no-acl", "no-login", "gone"
_KAFKAS_TYPE = "User"
MARKS = (ORPHANED, NEVER_SEEN, DENIED, WRITES_ALL, READS_ALL, NO_ACL, NO_LOGIN, GONE)
_WORDS = {DetailKind.SCRAM_USERS: "scram", DetailKind.QUOTAS: "quota", DetailKind.TOKENS: "token"}


@dataclass(frozen=True, slots=True)
class ListedPrincipal:
    """One principal of the list.

    acls, denies: ACLs that name it, and how many of them are DENY. reach: None where nobody knows which topics exist.
    use: None where the log has no request of it. marks: those of MARKS that it has. left_out: those that it would have
    if it could be told, because its ACLs are all younger than the days that the log has to cover (is_young) or because
    it may stand for several clients. has_log: whether a log has been read. has_permits: whether it would show every
    permit of these days. listed: why brokers list it.
    """

    principal: str
    acls: int
    denies: int
    is_super_user: bool
    reach: TopicReach | None
    use: LoggedUse | None
    marks: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    is_young: bool = False
    has_log: bool = True
    has_permits: bool = True
    listed: frozenset[DetailKind] = frozenset()

    @property
    def is_any_user(self) -> bool:
        return self.principal == ANY_USER

    def as_dict(self) -> dict[str, Any]:
        """Return the row as files and the API have it; None for what nobody can tell."""
        use, none = self.use, 0 if self.has_log else None
        permitted = use.permitted if use else 0
        return {
            "principal": self.principal,
            "acls": self.acls,
            "deny_acls": self.denies,
            "is_super_user": self.is_super_user,
            "topics_read": self.reach.reads if self.reach else None,
            "topics_written": self.reach.writes if self.reach else None,
            "first_seen": use.first_at.isoformat() if use else None,
            "last_seen": use.last_at.isoformat() if use else None,
            "permitted": permitted or (0 if self.has_permits else None),
            "denied": use.denied if use else none,
            f"denied_{LATELY}_days": use.denied_7 if use else none,
            "marks": list(self.marks),
            "listed_as": sorted(_WORDS[kind] for kind in self.listed),
        }


FIELDS = tuple(ListedPrincipal("", 0, 0, False, None, None, ()).as_dict())

# What each sort compares; None comes last either way.
_SORTS: Mapping[str, Callable[[ListedPrincipal], Any]] = {
    "principal": lambda row: row.principal,
    "acls": lambda row: row.acls,
    "denies": lambda row: row.denies,
    "reads": lambda row: row.reach.reads if row.reach else None,
    "writes": lambda row: row.reach.writes if row.reach else None,
    "last-seen": lambda row: row.use.last_at if row.use else None,
    "denials": lambda row: row.use.denied_7 if row.use else 0,
}
SORTS = tuple(_SORTS)


@dataclass(frozen=True)
class PrincipalFilters:
    """Which principals to list. An empty text lets everything through.

    text: part of the principal, in capital or small letters. mark: one of MARKS. sort: one of SORTS, with "-" before
    it for the last first; empty for by name.
    """

    text: str = ""
    mark: str = ""
    sort: str = ""

    def __post_init__(self) -> None:
        if self.mark and self.mark not in MARKS:
            raise AclError(f"show is {self.mark!r}; use one of {', '.join(MARKS)}.")
        if self.sort and self.sort.removeprefix("-") not in SORTS:
            raise AclError(f"sort is {self.sort!r}; use one of {', '.join(SORTS)}.")


@dataclass(frozen=True)
class Marked:
    """How many principals have a mark, and what it means.

    count: of those whose name has the text; None where it cannot be told, and then `sentence` says why.
    """

    mark: str
    count: int | None
    sentence: str


@dataclass(frozen=True)
class PrincipalList:
    """Principals with their marks. marked: for each of MARKS. count: how many names have the text."""

    rows: Sequence[ListedPrincipal]
    count: int
    marked: tuple[Marked, ...]
    load: Load | None
    evidence: Evidence
    topics: int | None

    def of(self, mark: str) -> Marked:
        return next(found for found in self.marked if found.mark == mark)


def listed_principals(cluster: Cluster, filters: PrincipalFilters = PrincipalFilters()) -> PrincipalList:
    """Return the principals of a cluster that the filters let through; at most eight queries."""
    view = in_force(cluster)
    facts = _Facts.of(view)
    text = filters.text.casefold()
    named = sorted({*view.principals, *facts.logged, *facts.listed.by_principal})
    rows = [facts.row(principal) for principal in named if text in principal.casefold()]
    return PrincipalList(
        rows=_sorted((row for row in rows if not filters.mark or filters.mark in row.marks), filters.sort),
        count=len(rows),
        marked=tuple(facts.marked(mark, rows) for mark in MARKS),
        load=facts.load,
        evidence=facts.evidence,
        topics=facts.reaches.topics if facts.reaches else None,
    )


def knows_principal(view: ClusterView, principal: str) -> bool:
    """Whether an ACL, the declared super users, the newest log or a list of the brokers name this principal."""
    return (
        is_declared(view, principal)
        or is_logged(current_load(view.cluster), principal)
        or is_known_to_brokers(view.cluster, principal)
    )


def is_declared(view: ClusterView, principal: str) -> bool:
    """Whether an ACL or the declared super users name this principal; no query."""
    if principal == ANY_USER or principal in view.settings.super_users:
        return True
    return bool(view.loaded.naming(principal))


def is_logged(load: Load | None, principal: str) -> bool:
    """Whether a log names this principal; one query where there is one."""
    return load is not None and requests_of(load, principal=principal).exists()


def _sorted(rows: Iterable[ListedPrincipal], sort: str) -> list[ListedPrincipal]:
    if not sort:
        return list(rows)
    worth = _SORTS[sort.removeprefix("-")]
    known: list[ListedPrincipal] = []
    unknown: list[ListedPrincipal] = []
    for row in rows:
        (unknown if worth(row) is None else known).append(row)
    return [*sorted(known, key=worth, reverse=sort.startswith("-")), *unknown]


@dataclass(frozen=True)
class _Facts:
    """What the rows are made of.

    younger: for each principal, how many of its ACLs are younger than the window. types: those of principals that are
    one client each; None where the authorizer is known to compare principals as they are, so that all are.
    """

    view: ClusterView
    reaches: TopicReaches | None
    load: Load | None
    evidence: Evidence
    logged: Mapping[str, LoggedUse]
    younger: Mapping[str, int]
    types: frozenset[str] | None
    listed: KnownToBrokers

    @classmethod
    def of(cls, view: ClusterView) -> _Facts:
        load = current_load(view.cluster)
        evidence = evidence_of(load)
        logged = logged_principals(load) if load else {}
        return cls(
            view,
            topic_reaches(view),
            load,
            evidence,
            logged,
            _younger(view, evidence),
            None if broker_settings.authorizer(view.cluster).is_sure else _types_of(logged),
            known_to_brokers(view),
        )

    @computed_once
    def why_not_seen(self) -> str:
        """Why the log cannot tell that somebody was not seen; empty where it can."""
        return self.evidence.why_not[PermissionType.ALLOW]

    def row(self, principal: str) -> ListedPrincipal:
        """Return one principal with its marks."""
        loaded = self.view.loaded
        acls = loaded.by_principal[principal]
        is_super_user = principal in self.view.settings.super_users
        reach = self.reaches.of(principal) if self.reaches else None
        use = self.logged.get(principal)
        is_young = 0 < acls == self.younger.get(principal, 0)
        unseen = self._unseen(use, is_named=acls > 0 and not is_super_user) if principal != ANY_USER else []
        left_out = unseen if is_young or self._may_be_several(principal) else []
        marks = [] if left_out else list(unseen)
        if use is not None and use.denied_7:
            marks.append(DENIED)
        if self.reaches and self.reaches.topics and reach is not None:
            marks += [WRITES_ALL] if reach.writes == self.reaches.topics else []
            marks += [READS_ALL] if reach.reads == self.reaches.topics else []
        if not acls and not is_super_user:
            marks.append(NO_ACL)
        elif self._cannot_log_in(principal, is_super_user=is_super_user):
            marks.append(NO_LOGIN)
        if principal in self.listed.gone:
            marks.append(GONE)
        return ListedPrincipal(
            principal,
            acls,
            loaded.denies_by_principal[principal],
            is_super_user,
            reach,
            use,
            tuple(marks),
            tuple(left_out),
            is_young,
            self.load is not None,
            not self.why_not_seen,
            self.listed.by_principal.get(principal, frozenset()),
        )

    def _cannot_log_in(self, principal: str, *, is_super_user: bool) -> bool:
        """Whether no client can log in as this principal of an ACL; super users may be brokers."""
        parts = split_principal(principal)
        return (
            not self.listed.why_no_login_unknown
            and not is_super_user
            and principal != ANY_USER
            and parts is not None
            and parts[0] == _KAFKAS_TYPE
            and not self._may_be_several(principal)
            and not self.listed.can_log_in(principal)
        )

    def _unseen(self, use: LoggedUse | None, *, is_named: bool) -> list[str]:
        """Return the marks of a principal of whom the log has no request, or none of late, where it can tell."""
        start = self.evidence.start
        if self.why_not_seen or start is None:
            return []
        marks = [ORPHANED] if is_named and (use is None or use.last_at < start) else []
        return marks if use is not None else [*marks, NEVER_SEEN]

    def _may_be_several(self, principal: str) -> bool:
        """Whether it may stand for a group of clients, each of which the log would name otherwise."""
        if self.types is None or (parts := split_principal(principal)) is None:
            return False
        return parts[0] not in self.types or WILDCARD in parts[1]

    def marked(self, mark: str, rows: Sequence[ListedPrincipal]) -> Marked:
        """Return how many of these rows have a mark, and in words what it means."""
        why_not, sentence = self._told(mark, rows)
        if why_not:
            return Marked(mark, None, f"Cannot tell: {why_not[:1].lower()}{why_not[1:].rstrip('.')}.")
        return Marked(mark, sum(mark in row.marks for row in rows), sentence)

    def _told(self, mark: str, rows: Sequence[ListedPrincipal]) -> tuple[str, str]:
        """Return why nobody can tell who has a mark, and otherwise what it means."""
        if mark in (ORPHANED, NEVER_SEEN):
            return self.why_not_seen, "" if self.why_not_seen else self._unseen_words(mark, rows)
        if mark == NO_ACL:
            return (
                "",
                "No ACL names them, and they are no declared super users: a log or a list of the brokers does.",
            )
        if mark == NO_LOGIN:
            at = self.listed.at
            return self.listed.why_no_login_unknown, "" if at is None else (
                "An ACL names them, clients log in with SCRAM alone, and the brokers listed neither a SCRAM user of "
                f"that name nor a delegation token of theirs on {at:%Y-%m-%d %H:%M} UTC."
            )
        if mark == GONE:
            return self.listed.why_gone_unknown, (
                "Brokers listed them as SCRAM users before, and now list neither a SCRAM user of that name nor a "
                "delegation token of theirs. A client that logs in another way may still have the name."
            )
        if mark == DENIED:
            if self.load is None:
                return NO_LOG, ""
            return "", f"Brokers denied them something in the last {LATELY} days of the log."
        known = names_known(self.view.cluster, ResourceType.TOPIC)
        if self.reaches is None or not self.reaches.topics:
            return known.sentence or "there is no topic", ""
        verb = "write to" if mark == WRITES_ALL else "read"
        which = "exists" if known.known is Known.ALL else "aclweb may see"
        return "", (
            f"By effect of all ACLs they can {verb} every topic that {which} "
            f"({self.reaches.topics:,}), from some host at least."
        )

    def _unseen_words(self, mark: str, rows: Sequence[ListedPrincipal]) -> str:
        if mark == ORPHANED:
            first = (
                f"ACLs name them, they are no declared super users, and no request of theirs was logged "
                f"{self.evidence.window}."
            )
        else:
            assert self.load is not None
            assert self.load.first_at is not None
            first = (
                f"The whole log, from {self.load.first_at:%Y-%m-%d} on, has no request of theirs: "
                "as far as it tells, they never authenticated."
            )
        left_out = [row for row in rows if mark in row.left_out]
        young = sum(row.is_young for row in left_out)
        several = len(left_out) - young
        if young:
            first += (
                f" {number_of(young, 'principal', 'principals')} whose ACLs are all younger than "
                f"{self.evidence.days} days {'is' if young == 1 else 'are'} left out."
            )
        if several:
            first += (
                f" {number_of(several, 'principal', 'principals')} that may stand for groups of clients "
                f"{'is' if several == 1 else 'are'} left out, since the authorizer is not known to be Kafka's own."
            )
        return first


def _types_of(logged: Iterable[str]) -> frozenset[str]:
    """Return the types of principals that clients of this log have, and that of Kafka's own."""
    found = (split_principal(principal) for principal in logged)
    return frozenset({_KAFKAS_TYPE, *(parts[0] for parts in found if parts is not None)})


def _younger(view: ClusterView, evidence: Evidence) -> Mapping[str, int]:
    start = evidence.start
    if start is None or evidence.why_not[PermissionType.ALLOW]:
        return {}
    question = ("principals_of_younger_acls", start)
    return view.loaded.remember(
        question, lambda: principals_of_younger_acls(view.cluster, start), lasting=True
    )
