"""May the log claim that an ACL is unused?

People delete ACLs by that claim. So it is made only where every broker that the log names wrote
its log, with permits, in nearly all hours of a window that is long enough, where no file was left
that could not be understood, and for no ACL that is younger than the window. Everything else is
"cannot tell", with what is missing. A broker that is gone for good has to have written until then only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.logged import BrokerDay, Evidence, Wanted, both, evidence_in, why_permits_lack
from aclweb.acl.model import AclBinding, PermissionType
from aclweb.insights.broker_days import days_with_gone
from aclweb.insights.kept import KeptOfLoads
from aclweb.insights.models import AclUse, Load
from aclweb.insights.requests import requests_of
from aclweb.inventory.models import Cluster, LogSource, StoredAcl, stored_in_force

NO_LOG = "no authorizer log has been read"
_KNOWN = "evidence_of_its_days"  # an attribute of a load that was asked


def evidence_of(load: Load | None) -> Evidence:
    """Return what can be claimed by this load; one query, and no work for a load that was asked before."""
    wanted = Wanted(days=settings.ACLWEB_UNUSED_DAYS, percent=settings.ACLWEB_UNUSED_HOURS_PERCENT)
    if load is None:
        return Evidence(wanted.days, None, None, both(NO_LOG))
    known: dict[Wanted, Evidence] = load.__dict__.setdefault(_KNOWN, {})
    if wanted not in known:
        known[wanted] = _evidence(load, wanted)
    return known[wanted]


def _evidence(load: Load, wanted: Wanted) -> Evidence:
    found: Iterable[BrokerDay] = ()
    if load.last_at is not None:
        last = load.last_at.date()
        # One day more than the window has: it begins within a day.
        found = days_with_gone(load, last, last - timedelta(days=wanted.days))
    return evidence_in(
        found,
        first_at=load.first_at,
        last_at=load.last_at,
        permits_seen=load.permits_seen,
        wanted=wanted,
        unread=load.unread,
        at_info=_at_info(load),
    )


def why_permits_lack_since(load: Load, start: datetime) -> str:
    """Return why a load may lack permits of the whole days from `start` on, a midnight; empty if it may not.

    One query, for a load that has a time.
    """
    assert load.last_at is not None
    return why_permits_lack(
        days_with_gone(load, load.last_at.date(), start.date()),
        start=start,
        last_at=load.last_at,
        percent=settings.ACLWEB_UNUSED_HOURS_PERCENT,
        unread=load.unread,
        at_info=_at_info(load),
    )


def unused_acls(cluster: Cluster, load: Load | None, evidence: Evidence) -> QuerySet[StoredAcl]:
    """Return the ACLs in force that the log shows to be unused: the same for each list and number."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    if load is None or evidence.start is None:
        return here.none()
    used = AclUse.objects.filter(_SETTLES, load=load).values("key")
    found = here.filter(permission_type__in=evidence.claimable()).exclude(key__in=used)
    return found.exclude(_younger(evidence.start))


def shown_unused(load: Load, evidence: Evidence) -> Q:
    """Return the condition for `unused_acls` on some of the ACLs in force, whose keys are looked up one by one."""
    if evidence.start is None:
        return Q(pk__in=())
    used = AclUse.objects.filter(_SETTLES, load=load, key=OuterRef("key"))
    return Q(permission_type__in=evidence.claimable()) & ~_younger(evidence.start) & ~Q(Exists(used))


# One that settles nothing may still keep a default from deciding.
_SETTLES = Q(requests__gt=0) | Q(needed__gt=0)


def unused_count(cluster: Cluster, load: Load | None, evidence: Evidence) -> int | None:
    """Return how many ACLs in force are unused; None where the log cannot tell it of every kind of ACL."""
    return unused_acls(cluster, load, evidence).count() if evidence.is_complete else None


def unused_known(
    cluster: Cluster, load: Load | None, evidence: Evidence, count: Callable[[], int | None]
) -> int | None:
    """Return the number of unused ACLs in force; counted once for a revision of the cluster, a load and its claims.

    count: what returns `unused_count` the first time.
    """
    if load is None or not evidence.is_complete:
        return count()
    # The time is part of it: a database that was put back gives numbers out again.
    revision = (cluster.revision.pk, cluster.revision.read_at) if cluster.revision else ()
    question = (cluster.pk, revision, evidence.start, *evidence.claimable())
    known = _numbers.get(load, question)
    if known is None and (known := count()) is not None:
        _numbers.keep(load, known, question)
    return known


_numbers: KeptOfLoads[int] = KeptOfLoads(64)


def _at_info(load: Load) -> list[str]:
    return [broker for broker, level in load.levels.items() if level == LogSource.Level.INFO]


def is_unused(evidence: Evidence, permission: PermissionType, number: int, read_at: datetime) -> bool:
    """Return whether `unused_acls` has an ACL in force that no request used; `dated` tells the rest of it."""
    if evidence.start is None or permission.name not in evidence.claimable():
        return False
    return not (number > 1 and read_at > evidence.start)


def _younger(start: datetime) -> Q:
    # The first sync finds ACLs that are older than it; only later ones date them. As in `is_unused`.
    return Q(added_in__number__gt=1, added_in__read_at__gt=start)


def was_permitted(load: Load, binding: AclBinding) -> bool:
    """Return whether the log permits a request that this ALLOW of one name, host and operation allows."""
    operations = [binding.operation.name]
    if implied := IMPLIED.get(binding.operation):
        operations.append(implied.name)
    found = requests_of(load, principal=binding.principal).filter(
        request__allowed=True,
        request__host=binding.host,
        request__operation__in=operations,
        request__resource_type=binding.resource_type.name,
        request__resource_name=binding.resource_name,
    )
    return found.exists()


def younger_acls(cluster: Cluster, evidence: Evidence) -> int:
    """Return how many ACLs in force are younger than the window, so that the log cannot call them unused."""
    if evidence.start is None:
        return 0
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    return here.filter(_younger(evidence.start)).count()


def principals_of_younger_acls(cluster: Cluster, start: datetime) -> Mapping[str, int]:
    """Return how many of its ACLs in force are younger than `start`, for each principal of such an ACL; one query."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    return dict(here.filter(_younger(start)).values_list("principal").annotate(Count("pk")).order_by())


def dated(cluster: Cluster, keys: Collection[str]) -> QuerySet[StoredAcl, tuple[str, str, int, datetime]]:
    """Return key, permission, revision and time at which each of these ACLs in force was first seen."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster, key__in=keys)
    found = here.values_list("key", "permission_type", "added_in__number", "added_in__read_at")
    # In two parts, since the keys of what is not closed have an index, and asked for both at once it is not used.
    return found.filter(removed_in__isnull=True).union(found.filter(removed_in__isnull=False), all=True)
