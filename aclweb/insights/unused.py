"""May the log claim that an ACL is unused?

People delete ACLs by that claim. So it is made only where every broker that the log names wrote
its log, with permits, in nearly all hours of a window that is long enough, and for no ACL that is
younger than the window. Everything else is "cannot tell", with what is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from aclweb.acl.model import PermissionType
from aclweb.insights.models import AclUse, Load, LogDay
from aclweb.inventory.models import Cluster, StoredAcl, stored_in_force

NO_LOG = "no authorizer log has been read"
NO_PERMITS = "permits are not in the log: the brokers write them at level DEBUG only"
NO_HOURS = "the result does not say in which hours the brokers wrote; run the job again"
NO_TIME = "no record of the log begins with a time"

_DAY_HOURS = 24
_NAMED = 3


@dataclass(frozen=True)
class Evidence:
    """What a log can claim about ACLs that no request of it needed.

    days: the length of the window. start, end: of the window, on the brokers' clocks; None without
    a time. why_not: for each permission the reason that nothing can be claimed, empty where it can.
    brokers: all that the log names.
    """

    days: int
    start: datetime | None
    end: datetime | None
    why_not: Mapping[PermissionType, str]
    brokers: tuple[str, ...] = ()

    @property
    def window(self) -> str:
        return f"in the {self.days} {'day' if self.days == 1 else 'days'} to {self.end:%Y-%m-%d %H:%M}"

    @property
    def is_complete(self) -> bool:
        """Whether ACLs of both permissions can be called unused."""
        return not any(self.why_not.values())

    def claimable(self) -> list[str]:
        return [permission.name for permission, reason in self.why_not.items() if not reason]


def evidence_of(load: Load | None) -> Evidence:
    """Return what can be claimed by this load; one query."""
    days: int = settings.ACLWEB_UNUSED_DAYS
    if load is None:
        return Evidence(days, None, None, _both(NO_LOG))
    if load.last_at is None:
        return Evidence(days, None, None, _both(NO_TIME))
    end = load.last_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    start = end - timedelta(days=days)
    found = tuple(LogDay.objects.filter(load=load).values_list("broker", "day", "hours", "permit_hours"))
    brokers = tuple(sorted({row[0] for row in found}))
    if not found:
        return Evidence(days, start, end, _both(NO_HOURS))
    total = days * _DAY_HOURS
    any_hours: dict[str, int] = dict.fromkeys(brokers, 0)
    permit_hours: dict[str, int] = dict.fromkeys(brokers, 0)
    for broker, day, hours, permits in found:
        inside = _hours_inside(datetime(day.year, day.month, day.day, tzinfo=end.tzinfo), start, end)
        any_hours[broker] += (hours & inside).bit_count()
        permit_hours[broker] += (permits & inside).bit_count()
    # Refusals are in every log; what a DENY forbade would be there.
    deny = _missing(load, any_hours, total, "records")
    allow = NO_PERMITS if not load.permits_seen else _missing(load, permit_hours, total, "permits")
    return Evidence(days, start, end, {PermissionType.ALLOW: allow, PermissionType.DENY: deny}, brokers)


def unused_acls(cluster: Cluster, load: Load | None, evidence: Evidence) -> QuerySet[StoredAcl]:
    """Return the ACLs in force that the log shows to be unused: the same for each list and number."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    if load is None or evidence.start is None:
        return here.none()
    used = AclUse.objects.filter(load=load, requests__gt=0).values("key")
    # The first sync finds ACLs that are older than it; only later ones date them.
    young = Q(added_in__number__gt=1, added_in__read_at__gt=evidence.start)
    return here.filter(permission_type__in=evidence.claimable()).exclude(key__in=used).exclude(young)


def _both(reason: str) -> dict[PermissionType, str]:
    return {PermissionType.ALLOW: reason, PermissionType.DENY: reason}


def _hours_inside(midnight: datetime, start: datetime, end: datetime) -> int:
    """Return the hours of a day that lie in the window, as bits."""
    first = max(0, int((start - midnight) / timedelta(hours=1)))
    behind = min(_DAY_HOURS, int((end - midnight) / timedelta(hours=1)))
    return ((1 << behind) - 1) & ~((1 << first) - 1) if first < behind else 0


def _missing(load: Load, hours: Mapping[str, int], total: int, what: str) -> str:
    """Return what is missing before something may be claimed; empty if nothing is."""
    wanted = total * settings.ACLWEB_UNUSED_HOURS_PERCENT / 100
    assert load.last_at is not None
    covered = (load.last_at - (load.first_at or load.last_at)) / timedelta(hours=1) + 1
    if covered < wanted:
        return (
            f"the log covers {_span(covered)}, and at least {total // _DAY_HOURS} days are needed "
            "(ACLWEB_UNUSED_DAYS)"
        )
    short = sorted((broker, found) for broker, found in hours.items() if found < wanted)
    if not short:
        return ""
    named = "; ".join(f"{broker}: {what} in {found:,} of {total:,} hours" for broker, found in short[:_NAMED])
    more = f"; and {len(short) - _NAMED} more" if len(short) > _NAMED else ""
    return (
        f"too few hours of the last {total // _DAY_HOURS} days are logged with {what} ({named}{more}); "
        f"{settings.ACLWEB_UNUSED_HOURS_PERCENT} % are needed"
    )


def _span(hours: float) -> str:
    if hours < 2 * _DAY_HOURS:
        return f"{hours:.0f} {'hour' if round(hours) == 1 else 'hours'}"
    return f"{hours / _DAY_HOURS:.0f} days"


def dated(cluster: Cluster, keys: Collection[str]) -> Iterable[tuple[str, str, int, datetime]]:
    """Yield key, permission, revision and time at which each of these ACLs in force was first seen."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster, key__in=keys)
    return here.values_list("key", "permission_type", "added_in__number", "added_in__read_at")
