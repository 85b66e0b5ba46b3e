"""How is a cluster: how many of its ACLs are wide, orphaned or redundant, and since when?

Counted when its ACLs are linted, and kept with that run, so that a page reads a row for each cluster. The last numbers
of each day are kept for longer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from django.db.models import Max, OuterRef, Subquery
from django.db.models.functions import Coalesce

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, PatternType, PermissionType
from aclweb.inventory.findings.dismissing import today
from aclweb.inventory.models import Cluster, LintRun, PostureDay, StoredFinding

COUNTED = ("any_user", "all_names", "orphaned", "redundant", "errors")
"""ALLOWs for any user; ALLOWs for all names of a type; ACLs that match nothing which exists; ACLs that can go without
changing an answer; findings of the severity error."""


TREND_DAYS = 30
KEPT_DAYS = 400


class Found(Protocol):
    """What is counted of a finding."""

    @property
    def rule(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def can_go(self) -> bool: ...
    @property
    def is_proposal(self) -> bool: ...


@dataclass(frozen=True)
class Posture:
    """The numbers of COUNTED for the newest snapshot that was linted. revision: its number."""

    revision: int
    any_user: int
    all_names: int
    orphaned: int
    redundant: int
    errors: int

    @property
    def numbers(self) -> Mapping[str, int]:
        """Its numbers by the names of COUNTED."""
        return {name: getattr(self, name) for name in COUNTED}


def counted(bindings: Iterable[AclBinding], found: Iterable[Found]) -> dict[str, int]:
    """Return the numbers of COUNTED for these ACLs, of which the finders found this."""
    numbers = dict.fromkeys(COUNTED, 0)
    for binding in bindings:
        if binding.permission_type is PermissionType.ALLOW:
            numbers["any_user"] += binding.principal == ANY_USER
            numbers["all_names"] += (
                binding.resource_name == WILDCARD and binding.pattern_type is PatternType.LITERAL
            )
    for finding in found:
        if not finding.is_proposal:
            numbers["orphaned"] += finding.rule == "orphan"
            numbers["redundant"] += finding.can_go
            numbers["errors"] += finding.severity == "error"
    return numbers


def postures(clusters: Collection[Cluster]) -> Mapping[int, Posture]:
    """Return how each of these clusters is, by its primary key; none for one that has not been linted. Two queries.

    What somebody has dismissed is not counted.
    """
    done = LintRun.objects.filter(cluster__in=clusters, done_at__isnull=False).exclude(counts={})
    rows = done.order_by("done_at").values_list("pk", "cluster_id", "revision__number", "counts")
    newest = {cluster: (run, number, counts) for run, cluster, number, counts in rows}
    left_out = _dismissed([run for run, _, _ in newest.values()])
    return {
        int(cluster): Posture(number, **_left(counts, left_out[run]))
        for cluster, (run, number, counts) in newest.items()
    }


def keep_day(run: LintRun, counts: Mapping[str, int]) -> None:
    """Keep the numbers of a run that is done as those of today, and forget those of long ago."""
    left = _left(counts, _dismissed([run.pk])[run.pk])
    days = PostureDay.objects.filter(cluster=run.cluster_id)
    days.filter(day__lt=today() - timedelta(days=KEPT_DAYS)).delete()
    days.update_or_create(cluster_id=run.cluster_id, day=today(), defaults={"counts": left})


def trends(clusters: Collection[Cluster]) -> Mapping[int, Trend]:
    """Return the numbers of the last TREND_DAYS days by cluster, by its primary key; one query.

    A cluster that was not linted on a day is as it was on the day before; before its first day nothing is known.
    """
    first = today() - timedelta(days=TREND_DAYS)
    before = PostureDay.objects.filter(cluster=OuterRef("cluster"), day__lte=first).order_by()
    since = Coalesce(Subquery(before.values("cluster").annotate(last=Max("day")).values("last")), first)
    rows = PostureDay.objects.filter(cluster__in=clusters, day__gte=since).order_by("day")
    found: dict[int, dict[date, Mapping[str, int]]] = {}
    for cluster, day, counts in rows.values_list("cluster_id", "day", "counts"):
        found.setdefault(int(cluster), {})[max(day, first)] = counts
    return {cluster: Trend(first, days) for cluster, days in found.items()}


@dataclass(frozen=True)
class Trend:
    """How one cluster was over the last TREND_DAYS days: first is the day before them; days are those on which it was
    linted, with the numbers of COUNTED.
    """

    first: date
    days: Mapping[date, Mapping[str, int]]

    @property
    def since(self) -> date:
        """The first day of which the numbers are known."""
        return min(self.days)

    def values(self, name: str) -> tuple[int | None, ...]:
        """Return this number at the end of each day, `first` to today; None for days before the first known one."""
        found: list[int | None] = []
        for place in range(TREND_DAYS + 1):
            counts = self.days.get(self.first + timedelta(days=place))
            found.append(counts.get(name, 0) if counts is not None else found[-1] if found else None)
        return tuple(found)


def _left(counts: Mapping[str, int], dismissed: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) - dismissed.get(name, 0) for name in COUNTED}


def _dismissed(runs: Collection[int]) -> Mapping[int, Mapping[str, int]]:
    """Return the numbers of COUNTED for what is dismissed of these runs, by the run's primary key."""
    found: dict[int, list[StoredFinding]] = {run: [] for run in runs}
    # In no order: in that of their places all findings would be read, and not only those that are dismissed.
    dismissed = StoredFinding.objects.filter(search__in=runs, dismissed_until__gte=today()).order_by()
    for each in dismissed.only("search_id", "rule", "severity", "can_go", "is_proposal"):
        found[each.search_id].append(each)
    return {run: counted((), each) for run, each in found.items()}
