"""Which principals are there, what does each reach, when was it last seen, and what is conspicuous about it?

They are those that an ACL, the declared super users, the log or lists of the brokers name (SCRAM users, quotas, owners
of delegation tokens). That one was not seen is said only where the log
may say so of an ACL too (see `unused`); never of one whose ACLs are all younger than the days that it has to cover, and
never of one that may stand for several clients, whose requests name others: only Kafka's own authorizers are known to
compare principals as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

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
from aclweb.inventory.lists import LazyRows, names_known
from aclweb.inventory.models import Cluster

ORPHANED, NEVER_SEEN, DENIED = "orphaned", "never-seen", "denied"
READS_ALL, WRITES_ALL = "reads-all", "writes-all"
NO_ACL, NO_LOGIN, GONE = "no-acl", "no-login", "gone"
_KAFKAS_TYPE = "User"
MARKS = (ORPHANED, NEVER_SEEN, DENIED, WRITES_ALL, READS_ALL, NO_ACL, NO_LOGIN, GONE)
_Answer = TypeVar("_Answer")
_FEW = 500  # of whom the log is asked by name
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
            "topics_administered": self.reach.administers if self.reach else None,
            "first_seen": use.first_at.isoformat() if use else None,
            "last_seen": use.last_at.isoformat() if use else None,
            "permitted": permitted or (0 if self.has_permits else None),
            "denied": use.denied if use else none,
            f"denied_{LATELY}_days": use.denied_7 if use else none,
            "marks": list(self.marks),
            "listed_as": sorted(_WORDS[kind] for kind in self.listed),
        }


FIELDS = tuple(ListedPrincipal("", 0, 0, False, None, None, ()).as_dict())


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
    """Principals with their marks. marked: for each of MARKS. count: how many names have the text.

    topics: how many are known; sees_all_topics: whether these are all that exist. undeclared: the authorizer settings
    that nobody has declared, on which the reach depends. perhaps_orphaned: of how many names with the text nobody can
    tell whether they are orphaned, although of others the log tells.
    """

    rows: Sequence[ListedPrincipal]
    count: int
    marked: tuple[Marked, ...]
    load: Load | None
    evidence: Evidence
    topics: int | None
    sees_all_topics: bool
    undeclared: frozenset[str]
    perhaps_orphaned: int

    def of(self, mark: str) -> Marked:
        return next(found for found in self.marked if found.mark == mark)


def listed_principals(cluster: Cluster, filters: PrincipalFilters = PrincipalFilters()) -> PrincipalList:
    """Return the principals of a cluster that the filters let through; at most eight queries, and one for a page.

    A row is made when it is asked for; the marks of everybody are worked out once.
    """
    facts = _Facts.of(in_force(cluster))
    markings = facts.everybody.markings
    names = facts.everybody.names
    if text := filters.text.casefold():
        names = tuple(principal for principal in names if text in principal.casefold())
    number = Counter(map(markings.__getitem__, names))
    chosen: Sequence[str] = names
    if filters.mark or filters.sort:
        chosen = facts.kept(filters, lambda: _chosen(facts, names, filters))
    return PrincipalList(
        rows=LazyRows(len(chosen), lambda start, stop: facts.rows(chosen[start:stop])),
        count=len(names),
        marked=tuple(facts.marked(mark, number) for mark in MARKS),
        load=facts.load,
        evidence=facts.evidence,
        topics=facts.reaches.topics if facts.reaches else None,
        sees_all_topics=facts.sees_all_topics,
        undeclared=facts.view.settings.undeclared,
        perhaps_orphaned=sum(many for each, many in number.items() if ORPHANED in each.left_out),
    )


def prepare(view: ClusterView) -> None:
    """Work out the marks of all principals, before anybody waits for it."""
    _ = _Facts.of(view).everybody


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


def _chosen(facts: _Facts, principals: Sequence[str], filters: PrincipalFilters) -> Sequence[str]:
    if filters.mark:
        markings = facts.everybody.markings
        principals = [principal for principal in principals if filters.mark in markings[principal].marks]
    return _sorted(facts, principals, filters.sort) if filters.sort else principals


def _sorted(facts: _Facts, principals: Sequence[str], sort: str) -> list[str]:
    worth = _SORTS[sort.removeprefix("-")]
    known: list[tuple[Any, str]] = []
    unknown: list[str] = []
    for principal in principals:
        value = worth(facts, principal)
        if value is None:
            unknown.append(principal)
        else:
            known.append((value, principal))
    known.sort(key=itemgetter(0), reverse=sort.startswith("-"))
    return [*(principal for _, principal in known), *unknown]


class _Marking(NamedTuple):
    """What a row says of marks: see ListedPrincipal."""

    marks: tuple[str, ...]
    left_out: tuple[str, ...]
    is_young: bool


class _Everybody(NamedTuple):
    """All principals in their order, and the marks of each; few markings differ, and equal ones are one object."""

    names: tuple[str, ...]
    markings: Mapping[str, _Marking]


@dataclass(frozen=True)
class _Facts:
    """What the rows are made of.

    younger: for each principal, how many of its ACLs are younger than the window. compares_whole: whether the
    authorizer is known to compare principals as they are.
    """

    view: ClusterView
    reaches: TopicReaches | None
    load: Load | None
    evidence: Evidence
    younger: Mapping[str, int]
    compares_whole: bool
    listed: KnownToBrokers

    @classmethod
    def of(cls, view: ClusterView) -> _Facts:
        load = current_load(view.cluster)
        evidence = evidence_of(load)
        return cls(
            view,
            topic_reaches(view),
            load,
            evidence,
            _younger(view, evidence),
            broker_settings.authorizer(view.cluster).is_sure,
            known_to_brokers(view),
        )

    @computed_once
    def logged(self) -> Mapping[str, LoggedUse]:
        """Each principal of the log."""
        return logged_principals(self.load) if self.load else {}

    @computed_once
    def types(self) -> frozenset[str] | None:
        """Those of principals that are one client each; None where all are."""
        return None if self.compares_whole else _types_of(self.logged)

    @computed_once
    def everybody(self) -> _Everybody:
        """All principals with their marks."""
        return self.kept("everybody", self._everybody, lasting=True)

    def kept(self, what: Hashable, work_out: Callable[[], _Answer], *, lasting: bool = False) -> _Answer:
        """Return an answer about all principals that is worked out once for all that it depends on."""
        if not self.listed.is_settled:
            return work_out()
        question = (
            what,
            self.view.settings,
            self.reaches is None,
            self.load and (self.load.pk, self.load.loaded_at),
            self.evidence.start,
            self.why_not_seen,
            self.compares_whole,
            self.listed.read,
            self.listed.why_gone_unknown,
            self.listed.why_no_login_unknown,
        )
        return self.view.loaded.remember(("principals", question), work_out, lasting=lasting)

    def _everybody(self) -> _Everybody:
        names = tuple(sorted({*self.view.principals, *self.logged, *self.listed.by_principal}))
        same: dict[_Marking, _Marking] = {}
        markings = {}
        for principal in names:
            marking = self._marking(principal)
            markings[principal] = same.setdefault(marking, marking)
        return _Everybody(names, markings)

    @property
    def sees_all_topics(self) -> bool:
        return self.view.known(ResourceType.TOPIC) is Known.ALL

    @computed_once
    def why_not_seen(self) -> str:
        """Why the log cannot tell that somebody was not seen; empty where it can."""
        return self.evidence.why_not[PermissionType.ALLOW]

    def rows(self, principals: Sequence[str]) -> list[ListedPrincipal]:
        """Return these principals with their marks; a query where they are few, and the log was not asked of all."""
        uses = self._uses(principals)
        return [self._row(principal, uses.get(principal)) for principal in principals]

    def _uses(self, principals: Sequence[str]) -> Mapping[str, LoggedUse]:
        if self.load is None or "logged" in self.__dict__ or len(principals) > _FEW:
            return self.logged
        return logged_principals(self.load, principals)

    def _row(self, principal: str, use: LoggedUse | None) -> ListedPrincipal:
        loaded = self.view.loaded
        marks, left_out, is_young = self.everybody.markings[principal]
        return ListedPrincipal(
            principal,
            loaded.by_principal[principal],
            loaded.denies_by_principal[principal],
            principal in self.view.settings.super_users,
            self.reaches.of(principal) if self.reaches else None,
            use,
            marks,
            left_out,
            is_young,
            self.load is not None,
            not self.why_not_seen,
            self.listed.by_principal.get(principal, frozenset()),
        )

    def _marking(self, principal: str) -> _Marking:
        acls = self.view.loaded.by_principal[principal]
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
        return _Marking(tuple(marks), tuple(left_out), is_young)

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

    def marked(self, mark: str, markings: Mapping[_Marking, int]) -> Marked:
        """Return how many of these have a mark, and in words what it means."""
        why_not, sentence = self._told(mark, markings)
        if why_not:
            return Marked(mark, None, f"Cannot tell: {why_not[:1].lower()}{why_not[1:].rstrip('.')}.")
        return Marked(mark, sum(number for each, number in markings.items() if mark in each.marks), sentence)

    def _told(self, mark: str, markings: Mapping[_Marking, int]) -> tuple[str, str]:
        """Return why nobody can tell who has a mark, and otherwise what it means."""
        if mark in (ORPHANED, NEVER_SEEN):
            return self.why_not_seen, "" if self.why_not_seen else self._unseen_words(mark, markings)
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
        which = "exists" if self.sees_all_topics else "aclweb may see"
        return "", (
            f"By effect of all ACLs they can {verb} every topic that {which} "
            f"({self.reaches.topics:,}), from some host at least."
        )

    def _unseen_words(self, mark: str, markings: Mapping[_Marking, int]) -> str:
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
        left_out = {each: number for each, number in markings.items() if mark in each.left_out}
        young = sum(number for each, number in left_out.items() if each.is_young)
        several = sum(left_out.values()) - young
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


# What each sort compares; None comes last either way.
_SORTS: Mapping[str, Callable[[_Facts, str], Any]] = {
    "principal": lambda _, principal: principal,
    "acls": lambda facts, principal: facts.view.loaded.by_principal[principal],
    "denies": lambda facts, principal: facts.view.loaded.denies_by_principal[principal],
    "reads": lambda facts, principal: facts.reaches.of(principal).reads if facts.reaches else None,
    "writes": lambda facts, principal: facts.reaches.of(principal).writes if facts.reaches else None,
    "administers": lambda facts, principal: (
        facts.reaches.of(principal).administers if facts.reaches else None
    ),
    "last-seen": lambda facts, principal: use.last_at if (use := facts.logged.get(principal)) else None,
    "denials": lambda facts, principal: use.denied_7 if (use := facts.logged.get(principal)) else 0,
}
SORTS = tuple(_SORTS)


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
