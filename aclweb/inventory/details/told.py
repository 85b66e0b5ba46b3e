"""What have brokers told of a cluster beside its ACLs and names, as pages, the API and commands show it?"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from django.db.models import Exists, Max, Q, QuerySet

from aclweb.acl.principals import DEFAULT_BUILDER
from aclweb.clusters import DetailKind, GroupType, Known
from aclweb.inventory.current import ClusterView, broker_settings
from aclweb.inventory.fields import escape, name_key
from aclweb.inventory.models import Cluster, DetailsRead, StoredDetail, StoredGroup
from aclweb.inventory.stored_details import GROUPS

WORDS: Mapping[DetailKind, str] = {
    DetailKind.SCRAM_USERS: "SCRAM users",
    DetailKind.QUOTAS: "Client quotas",
    DetailKind.TRANSACTIONAL_IDS: "Transactional ids",
    DetailKind.TOKENS: "Delegation tokens",
}
"""Each kind as the name of its list."""

EVERY_OTHER_USER = "every other user"
"""What the name of a quota begins with that is for each user without one of its own."""


@dataclass(frozen=True)
class ToldList:
    """How complete one list is. count: None where nothing is known. sentence: why not all, or why there is none.

    at: when brokers last answered; None before they did. problem: what went wrong since.
    """

    kind: DetailKind
    known: Known
    count: int | None
    sentence: str = ""
    command: str = ""
    at: datetime | None = None
    problem: str = ""

    @property
    def word(self) -> str:
        return WORDS[self.kind]

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "known": self.known.value,
            "count": self.count,
            "sentence": self.sentence,
            "command": self.command or None,
            "read_at": self.at,
            "problem": self.problem,
        }


def told_lists(cluster: Cluster) -> Mapping[DetailKind, ToldList]:
    """Return how complete each list is; one query."""
    return told_lists_and_groups(cluster)[0]


def told_lists_and_groups(cluster: Cluster) -> tuple[Mapping[DetailKind, ToldList], GroupsTold]:
    """Return how complete each list is, and how many groups there are; one query."""
    rows = _rows(cluster)
    return {kind: _told(cluster, kind, rows.get(kind)) for kind in DetailKind}, GroupsTold.of(
        rows.get(GROUPS)
    )


def _rows(cluster: Cluster) -> Mapping[str, DetailsRead]:
    return {row.kind: row for row in DetailsRead.objects.filter(cluster=cluster)}


def _told(cluster: Cluster, kind: DetailKind, row: DetailsRead | None) -> ToldList:
    if row is None or (row.at is None and not row.problem):
        source = cluster.source
        why = (
            "No sync has read them yet."
            if source.reads_broker_settings
            else f"{source.subject} does not show them; brokers do, by the Admin API."
        )
        return ToldList(kind, Known.UNKNOWN, None, why)
    if row.at is None:
        return ToldList(kind, Known.UNKNOWN, None, problem=row.problem)
    known = Known(row.known)
    count = None if known is Known.UNKNOWN else row.count
    return ToldList(kind, known, count, row.sentence, row.command, row.at, row.problem)


def told_details(cluster: Cluster, kind: DetailKind, text: str = "") -> QuerySet[StoredDetail]:
    """Return what there is of one kind by name, as far as it is known now; with `text` in its name or owner."""
    known = DetailsRead.objects.filter(cluster=cluster, kind=kind).exclude(known=Known.UNKNOWN)
    if not known.exists():
        return StoredDetail.objects.none()
    found = StoredDetail.objects.filter(cluster=cluster, kind=kind, gone_at__isnull=True)
    if text:
        part = escape(text)
        found = found.filter(Q(name__icontains=part) | Q(principal__icontains=part))
    return found


def told_of_name(cluster: Cluster, kind: DetailKind, name: str) -> StoredDetail | None:
    """Return the entry of this name that brokers list now; None where they list none, or the list is not known."""
    known = DetailsRead.objects.filter(cluster=cluster, kind=kind).exclude(known=Known.UNKNOWN)
    found = StoredDetail.objects.filter(
        Exists(known), cluster=cluster, kind=kind, key=name_key(name), gone_at__isnull=True
    )
    return found.first()


def principal_of_user(cluster: Cluster, user: str) -> str:
    """Return the principal that a user name of a SCRAM credential or a quota is for; empty where that is not known.

    It is known unless the brokers are known to name clients by a class of their own.
    """
    return f"User:{user}" if user and _builder(cluster) == DEFAULT_BUILDER else ""


def _builder(cluster: Cluster) -> str:
    return (cluster.settings_read or {}).get("principal_builder") or DEFAULT_BUILDER


@dataclass(frozen=True)
class KnownToBrokers:
    """The principals that brokers list: SCRAM users, users with quotas of their own, owners of tokens.

    by_principal: why each is known. gone: those who were SCRAM users until then, and neither are now nor own a token.
    why_gone_unknown: why nobody can tell who is none any more. why_no_login_unknown: why nobody can tell of a principal
    that it cannot log in; empty where whoever is no SCRAM user and owns no token cannot. at: when the SCRAM users were
    listed. read: tells the principals from those of another read. is_settled: whether no list is being stored just now.
    """

    by_principal: Mapping[str, frozenset[DetailKind]]
    gone: Mapping[str, datetime]
    why_gone_unknown: str
    why_no_login_unknown: str
    at: datetime | None
    read: Hashable
    is_settled: bool

    def can_log_in(self, principal: str) -> bool:
        """Whether it is a SCRAM user or owns a token."""
        return _may_log_in(self.by_principal.get(principal, frozenset()))


_LOG_IN = frozenset({DetailKind.SCRAM_USERS, DetailKind.TOKENS})
_NAMING = (DetailKind.SCRAM_USERS, DetailKind.QUOTAS, DetailKind.TOKENS)


def _may_log_in(kinds: frozenset[DetailKind]) -> bool:
    return not kinds.isdisjoint(_LOG_IN)


def known_to_brokers(view: ClusterView) -> KnownToBrokers:
    """Return the principals that brokers list now; one query, and two others where a list is a new one."""
    cluster = view.cluster
    rows = _rows(cluster)
    lists = {kind: _told(cluster, kind, rows.get(kind)) for kind in DetailKind}
    kinds = tuple(kind for kind in _NAMING if lists[kind].known is not Known.UNKNOWN)
    reads = tuple((kind, rows[kind].digest, rows[kind].reading) for kind in kinds)

    def named() -> tuple[Mapping[str, frozenset[DetailKind]], Mapping[str, datetime]]:
        by_principal = _by_principal(cluster, kinds)
        return by_principal, _gone(cluster, by_principal)

    # Without a digest a sync is storing a list, so what is read of it now is of this moment alone.
    may_keep = all(digest for _, digest, _ in reads)
    question = ("known to brokers", reads, _builder(cluster))
    by_principal, gone = view.loaded.remember(question, named, lasting=True) if may_keep else named()
    why_gone_unknown = _why_incomplete(lists[DetailKind.SCRAM_USERS])
    return KnownToBrokers(
        by_principal,
        {} if why_gone_unknown else gone,
        why_gone_unknown,
        _why_no_login_unknown(cluster, lists),
        lists[DetailKind.SCRAM_USERS].at,
        question if may_keep else object(),
        may_keep,
    )


def _by_principal(cluster: Cluster, kinds: Collection[DetailKind]) -> Mapping[str, frozenset[DetailKind]]:
    rows = StoredDetail.objects.filter(cluster=cluster, kind__in=kinds, gone_at__isnull=True).order_by()
    found: dict[str, frozenset[DetailKind]] = {}
    # A set for each combination, not for each of a hundred thousand principals.
    sets: dict[frozenset[DetailKind], frozenset[DetailKind]] = {}
    for kind, user, owner in rows.values_list("kind", "user", "principal"):
        if principal := owner or principal_of_user(cluster, user):
            own = found.get(principal, frozenset()) | {DetailKind(kind)}
            found[principal] = sets.setdefault(own, own)
    return found


def _gone(cluster: Cluster, there: Mapping[str, frozenset[DetailKind]]) -> Mapping[str, datetime]:
    rows = StoredDetail.objects.filter(cluster=cluster, kind=DetailKind.SCRAM_USERS, gone_at__isnull=False)
    latest = rows.order_by().values_list("user").annotate(last=Max("gone_at"))
    by_principal = {principal_of_user(cluster, user): last for user, last in latest}
    return {
        principal: last
        for principal, last in by_principal.items()
        if principal and not _may_log_in(there.get(principal, frozenset()))
    }


def _why_no_login_unknown(cluster: Cluster, lists: Mapping[DetailKind, ToldList]) -> str:
    if why := broker_settings.why_not_only_scram(cluster):
        return why
    return next(filter(None, (_why_incomplete(lists[kind]) for kind in _LOG_IN_ORDER)), "")


def _why_incomplete(found: ToldList) -> str:
    """Return why an entry that the list lacks may be there all the same; empty where it cannot."""
    if found.known is Known.ALL and not found.problem:
        return ""
    return found.sentence or found.problem or f"Not all {found.word} are known."


_LOG_IN_ORDER = (DetailKind.SCRAM_USERS, DetailKind.TOKENS)


def is_known_to_brokers(cluster: Cluster, principal: str) -> bool:
    """Whether brokers list this principal: as a SCRAM user, with a quota of its own, or as the owner of a token."""
    of = told_of_principal(cluster, principal)
    named = principal.partition(":")[2]
    return bool(of.credentials or of.tokens or any(each.user == named for each in of.limits))


@dataclass(frozen=True)
class OfPrincipal:
    """What brokers told of one principal.

    lists: how complete they are. credentials: as a SCRAM user. limits: quotas of its own, and those of every user
    without one. tokens: that it owns. gone_at: since when brokers list it as a SCRAM user no more; None where it is
    one, or never was as far as aclweb has seen.
    """

    lists: Mapping[DetailKind, ToldList]
    credentials: tuple[StoredDetail, ...]
    limits: tuple[StoredDetail, ...]
    tokens: tuple[StoredDetail, ...]
    gone_at: datetime | None = None

    @property
    def scram(self) -> ToldList:
        return self.lists[DetailKind.SCRAM_USERS]

    @property
    def quotas(self) -> ToldList:
        return self.lists[DetailKind.QUOTAS]

    @property
    def token_list(self) -> ToldList:
        return self.lists[DetailKind.TOKENS]


MOST_OF_PRINCIPAL = 50
"""Entries that are shown of one principal."""


def told_of_principal(cluster: Cluster, principal: str) -> OfPrincipal:
    """Return what brokers told of this principal; at most three queries."""
    lists = told_lists(cluster)
    known = [kind for kind, each in lists.items() if each.known is not Known.UNKNOWN]
    kind_word, _, name = principal.partition(":")
    wanted = Q(kind=DetailKind.TOKENS, principal=principal)
    if kind_word == "User":
        wanted |= Q(kind__in=[DetailKind.SCRAM_USERS, DetailKind.QUOTAS], user=name)
        wanted |= Q(kind=DetailKind.QUOTAS, name__startswith=EVERY_OTHER_USER)
    rows = StoredDetail.objects.filter(wanted, cluster=cluster, gone_at__isnull=True, kind__in=known)
    found: dict[str, list[StoredDetail]] = {}
    for row in rows.order_by("kind", "name", "pk")[: len(DetailKind) * MOST_OF_PRINCIPAL]:
        found.setdefault(row.kind, []).append(row)

    def of(kind: DetailKind) -> tuple[StoredDetail, ...]:
        return tuple(found.get(kind, ())[:MOST_OF_PRINCIPAL])

    credentials = of(DetailKind.SCRAM_USERS)
    gone_at = None
    if kind_word == "User" and not credentials and not _why_incomplete(lists[DetailKind.SCRAM_USERS]):
        earlier = StoredDetail.objects.filter(cluster=cluster, kind=DetailKind.SCRAM_USERS, user=name)
        gone_at = earlier.aggregate(last=Max("gone_at"))["last"]
    return OfPrincipal(lists, credentials, of(DetailKind.QUOTAS), of(DetailKind.TOKENS), gone_at)


def mechanisms_words(each: StoredDetail) -> str:
    """Return how a SCRAM user logs in, such as `SCRAM-SHA-256 with 4,096 iterations`."""
    found = each.facts.get("mechanisms", {})
    return ", ".join(f"{name} with {count:,} iterations" for name, count in sorted(found.items()))


def limits_words(each: StoredDetail) -> str:
    """Return what a quota allows at most, such as `producer_byte_rate 1,024`."""
    found = each.facts.get("limits", {})
    return ", ".join(f"{key} {_limit_words(value)}" for key, value in sorted(found.items()))


def _limit_words(value: float | str) -> str:
    """Return the words of a limit; brokers also take numbers that JSON does not have, which are stored as texts."""
    if isinstance(value, str):
        return {"inf": "without limit", "nan": "not a number"}.get(value, value)
    return f"{value:,.15g}"


def expiry_words(token: StoredDetail, which: str = "expires") -> str:
    """Return when a token expires unless it is renewed, or `ends` at the latest: `2027-01-02 03:04`, in UTC."""
    try:
        return f"{datetime.fromtimestamp(token.facts[which] / 1000, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):
        return "never"


@dataclass(frozen=True)
class GroupsTold:
    """How many groups of each type there are, and of how many the members are known. oldest: since when at least.

    by_type: under the value of each GroupType, the most first. read_at: when they were counted; None where
    brokers have listed none with their types yet.
    """

    by_type: tuple[tuple[str, int], ...] = ()
    total: int = 0
    described: int = 0
    oldest: datetime | None = None
    read_at: datetime | None = None

    @property
    def words(self) -> str:
        """Such as `2 consumer, 1 of unknown type`."""
        return ", ".join(f"{count:,} {kind or 'of unknown type'}" for kind, count in self.by_type)

    @classmethod
    def of(cls, row: DetailsRead | None) -> Self:
        """Return what a read counted."""
        if row is None or not row.figures:
            return cls()
        oldest = row.figures["oldest"]
        return cls(
            # PostgreSQL keeps no order of keys.
            tuple(sorted(row.figures["types"].items(), key=lambda found: (-found[1], found[0]))),
            row.count,
            row.figures["described"],
            datetime.fromisoformat(oldest) if oldest else None,
            row.at,
        )


def group_told(cluster: Cluster, name: str) -> StoredGroup | None:
    """Return a group that brokers list, with its type and who was in it; None where none did."""
    return StoredGroup.objects.filter(cluster=cluster, key=name_key(name)).first()


def groups_told_of(cluster: Cluster, names: Collection[str]) -> Mapping[str, StoredGroup]:
    """Return those of these groups that brokers list, by name; one query."""
    found = StoredGroup.objects.filter(cluster=cluster, key__in=[name_key(name) for name in names])
    return {row.name: row for row in found}


def told_groups(cluster: Cluster, *, kind: str = "", text: str = "") -> QuerySet[StoredGroup]:
    """Return the groups that brokers list by name, of one type where it is given, with `text` in their names."""
    found = StoredGroup.objects.filter(cluster=cluster).order_by("name", "pk")
    if kind:
        found = found.filter(type=kind)
    return found.filter(name__icontains=escape(text)) if text else found


TYPE_SENTENCES: Mapping[str, str] = {
    GroupType.CLASSIC: "Its members speak the classic protocol: consumers before Kafka 4, Connect workers, registries.",
    GroupType.CONSUMER: "Its members are consumers by the protocol of Kafka 4.",
    GroupType.SHARE: "A share group: its members read the same partitions, and acknowledge each record.",
    GroupType.STREAMS: "A Kafka Streams application, by its own protocol.",
}
