"""What did the logs tell about a cluster: the use of its ACLs, denials, requests?

Every number here comes from the newest load. Where the log cannot know (no log, no
permits in it, hours without a log, an ACL younger than it) the answer is "cannot tell" with
the reason, and never 0. Times are the brokers' own, in a zone that their log does not name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F, Q

from aclweb.acl.logged import NO_PERMITS, Evidence, age_unknown
from aclweb.acl.model import AccessRequest, Operation, PermissionType, Resource, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.models import AclUse, Load, RequestTotals
from aclweb.insights.requests import NEWEST_DAYS, days_of, requests_of
from aclweb.insights.unused import NO_LOG, dated, evidence_of, is_unused, unused_acls
from aclweb.inventory.models import Cluster, Revision, StoredAcl, stored_in_force

NOT_IN_FORCE = "it is not in force"
NOT_DECIDED = "it was not in force when the log was last decided"
TOO_YOUNG = "this ACL is younger than the days that the log would have to cover"


@dataclass(frozen=True)
class Use:
    """How often one ACL counted.

    state: "used", "unused" or "cannot-tell". `reason` says why the log cannot tell.
    requests: decisions it was one of the settling ACLs of; lately: those of the last 30 days of the log, None where
    a load of an earlier version does not tell; alone: those it settled by itself; named: lines in which the broker
    gave it as its rule. needed: requests that would be answered otherwise without it, None where a load of an
    earlier version does not tell. `reason` may be given beside a number too: then there may have been more.
    window: the days that "unused" is about. days: of `requests`, those of each of the last 90 days that has some; empty
    where a load of an earlier version does not tell.
    """

    key: str
    state: str
    requests: int = 0
    alone: int = 0
    named: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    reason: str = ""
    window: str = ""
    needed: int | None = None
    replaceable_by: tuple[str, ...] = ()
    lately: int | None = None
    days: Mapping[str, int] = field(default_factory=dict)

    @property
    def load(self) -> str:
        """Whether it can be missed, in a word: `needed`, `replaceable`, `used`, `unused`, or `cannot tell`."""
        if self.state != "used":
            return self.state.replace("-", " ")
        return USED if self.needed is None else NEEDED if self.needed else REPLACEABLE

    @property
    def sentence(self) -> str:
        if self.state == "cannot-tell":
            return f"Cannot tell whether it is used: {self.reason}."
        if self.state == "unused":
            doubt = f" {self.reason}" if self.reason else ""
            return f"No request of the log needed it {self.window}.{doubt}"
        last = f", last on {self.last_at:%Y-%m-%d %H:%M}" if self.last_at else ""
        requests = f"{self.requests:,} {'request' if self.requests == 1 else 'requests'}"
        settled = f"It settled {requests}{last}; {self.alone:,} of them were decided by it alone."
        if self.needed is None:
            return settled
        if self.needed:
            return f"{settled} Without it {self.needed:,} would be answered otherwise."
        return f"{settled} Without it each would be answered the same."


def usage_of(
    cluster: Cluster, keys: Collection[str], *, load: Load | None, evidence: Evidence | None = None
) -> dict[str, Use]:
    """Return the use of each ACL in `keys` (binding keys) by the current load; three queries, however many keys.

    evidence: of the load, which is a query less where the caller has it.
    """
    wanted = list(dict.fromkeys(keys))
    if load is None:
        return {key: Use(key, "cannot-tell", reason=NO_LOG) for key in wanted}
    used = {use.key: use for use in AclUse.objects.filter(load=load, key__in=wanted)}
    evidence = evidence or evidence_of(load)
    open_keys = [key for key in wanted if key not in used or not (used[key].requests or used[key].needed)]
    facts = {
        key: (PermissionType[permission], number, at)
        for key, permission, number, at in (dated(cluster, open_keys) if open_keys else ())
    }
    uses = {}
    for key in wanted:
        use = used.get(key)
        if use is not None and (use.requests or use.needed):
            reason = "" if load.permits_seen else NO_PERMITS
            uses[key] = Use(
                key,
                "used",
                use.requests,
                use.alone,
                use.named,
                use.first_at,
                use.last_at,
                reason,
                needed=use.needed,
                replaceable_by=tuple(use.replaceable_by),
                lately=use.requests_30,
                days=dict(use.days),
            )
            continue
        permission, number, read_at = facts.get(key, (PermissionType.ALLOW, 0, None))
        if read_at is not None and is_unused(evidence, permission, number, read_at):
            doubt = ""
            if evidence.start and read_at > evidence.start:
                doubt = age_unknown(read_at)
            uses[key] = Use(
                key, "unused", named=use.named if use else 0, reason=doubt, window=evidence.window
            )
        else:
            missing = evidence.why_not.get(permission, "")
            uses[key] = Use(key, "cannot-tell", reason=missing or (TOO_YOUNG if number > 1 else NOT_IN_FORCE))
    return uses


def unused_keys(cluster: Cluster, load: Load | None, evidence: Evidence) -> frozenset[str]:
    """Return the keys of the ACLs in force that `usage_of` calls unused."""
    return frozenset(unused_acls(cluster, load, evidence).values_list("key", flat=True))


@dataclass(frozen=True)
class AclDays:
    """How many requests an ACL settled on each of the last days of the log.

    days: (day, requests), none left out; None where the log cannot tell, and empty where a load of an earlier version
    has no days. why_not: why it cannot tell or, beside numbers of an ALLOW, why there may have been more.
    """

    days: tuple[tuple[str, int | None], ...]
    why_not: str = ""


def days_of_acl(load: Load, key: str, permission: PermissionType, days: int) -> AclDays:
    """Return the days of an ACL; at most three queries. days: how many, at most 90."""
    window = days_of(load, days, most=NEWEST_DAYS)
    use = AclUse.objects.filter(load=load, key=key).values_list("requests_30", "days").first()
    if use is not None and use[0] is None:
        return AclDays(())
    is_allow = permission is PermissionType.ALLOW
    if is_allow and not load.permits_seen:
        return _untold(window, NO_PERMITS)
    if use is None and not _was_decided(load, key):
        return _untold(window, NOT_DECIDED)
    lines = dict(use[1]) if use else {}
    why_not = evidence_of(load).why_not[permission] if is_allow else ""
    return AclDays(tuple((day, lines.get(day, 0)) for day in window), why_not)


def _untold(window: Collection[str], why_not: str) -> AclDays:
    return AclDays(tuple((day, None) for day in window), why_not)


def _was_decided(load: Load, key: str) -> bool:
    """Return whether the log was decided by ACLs of which this is one."""
    if load.revision_number is None:
        return False
    revision = Revision.objects.filter(cluster=load.cluster_id, number=load.revision_number).first()
    return StoredAcl.objects.filter(stored_in_force(revision), cluster=load.cluster_id, key=key).exists()


USED, NEEDED, REPLACEABLE = "used", "needed", "replaceable"
_COUNTED = Q(requests__gt=0) | Q(needed__gt=0)
_OF_WORD = {USED: _COUNTED, NEEDED: Q(needed__gt=0), REPLACEABLE: Q(requests__gt=0, needed=0)}


def used_keys(load: Load | None, word: str = USED) -> frozenset[str]:
    """Return the keys of the ACLs that requests of the log used, that they needed, or that others could replace."""
    uses = AclUse.objects.filter(_OF_WORD[word], load=load)
    return frozenset(uses.values_list("key", flat=True))


# The sorts of a list of ACLs by their use, each with its columns.
_SORTS = {
    "requests": (F("requests_30").desc(nulls_last=True), "-requests", "key"),
    "last-used": ("-last_at", "key"),
}
USE_SORTS = tuple(_SORTS)


def keys_by_use(load: Load | None, sort: str) -> tuple[str, ...]:
    """Return the keys of the used ACLs in one of USE_SORTS: used last, or by most requests in 30 days, first."""
    uses = AclUse.objects.filter(_COUNTED, load=load).order_by(*_SORTS[sort])
    return tuple(uses.values_list("key", flat=True))


@dataclass(frozen=True)
class Seen:
    """A distinct request of the log with its answer, and what the ACLs said when it was loaded."""

    request: AccessRequest
    allowed: bool
    lines: int
    first_at: datetime
    last_at: datetime
    api_names: tuple[str, ...]
    differs: bool


def recent_requests(
    cluster: Cluster,
    resource: Resource | None = None,
    limit: int = 10_000,
    *,
    principal: str | None = None,
    load: Load | None = None,
) -> tuple[Seen, ...]:
    """Return the distinct requests of the log, latest first: on one resource or all, of one principal or all.

    load: the current one, where the caller has it.
    """
    load = load or current_load(cluster)
    if load is None:
        return ()
    rows = requests_of(load, resource=resource, principal=principal).select_related("request")
    return tuple(_seen(row) for row in rows.order_by("-last_at", "request")[:limit])


def disagreements(cluster: Cluster, limit: int = 100, *, load: Load | None = None) -> tuple[Seen, ...]:
    """Return the requests that the ACLs of the load answer otherwise than the log, most lines first.

    load: the current one, where the caller has it.
    """
    load = load or current_load(cluster)
    if load is None:
        return ()
    denied_now = Q(request__allowed=True, decided_now="DENIED")
    allowed_now = Q(request__allowed=False, decided_now="ALLOWED")
    rows = requests_of(load).filter(denied_now | allowed_now).select_related("request")
    return tuple(_seen(row) for row in rows.order_by("-lines", "request")[:limit])


def _seen(row: RequestTotals) -> Seen:
    asked = row.request
    request = AccessRequest(
        asked.principal,
        asked.host,
        Operation[asked.operation],
        ResourceType[asked.resource_type],
        asked.resource_name,
    )
    return Seen(
        request=request,
        allowed=asked.allowed,
        lines=row.lines,
        first_at=row.first_at,
        last_at=row.last_at,
        api_names=tuple(row.api_names),
        differs=row.decided_now != "UNDECIDED" and (row.decided_now == "ALLOWED") != asked.allowed,
    )
