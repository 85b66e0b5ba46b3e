"""What waits for this person, and how is each cluster? The two cards below the question on the home page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Sum

from aclweb.accounts.models import User
from aclweb.changes.models import Change
from aclweb.changes.queries import Effect, effect_of, waiting_for
from aclweb.insights.models import Load
from aclweb.inventory.findings import Posture, postures
from aclweb.inventory.models import Cluster
from aclweb.web.shell.frame import ClusterLine

CHANGES_SHOWN = 4


@dataclass(frozen=True)
class WaitingChange:
    change: Change
    effect: Effect | None


@dataclass(frozen=True)
class Standing:
    """One cluster in the table of postures.

    posture: None until its ACLs have been linted. denials: lines of the last seven days of its log; None without one.
    """

    line: ClusterLine
    posture: Posture | None
    denials: int | None


def waiting_changes(person: User) -> list[WaitingChange]:
    """Return the newest changes that wait for this person's approval."""
    found = waiting_for(person).select_related("cluster", "author").order_by("-pk")[:CHANGES_SHOWN]
    return [WaitingChange(change, effect_of(change)) for change in found]


def standings(lines: Sequence[ClusterLine]) -> list[Standing]:
    """Return how each of these clusters is, in two queries for all of them."""
    clusters = [line.cluster for line in lines]
    found, denied = postures(clusters), _denials(clusters)
    return [Standing(line, found.get(line.cluster.pk), denied.get(line.cluster.pk)) for line in lines]


def _denials(clusters: Sequence[Cluster]) -> Mapping[int, int]:
    """Return the denied lines of the last seven days of each log, by cluster; none where no log was read."""
    loads = Load.objects.filter(cluster__in=clusters, current=True).order_by("loaded_at")
    summed = loads.values_list("cluster_id").annotate(Sum("denial_groups__lines_7"))
    return {int(cluster): int(lines or 0) for cluster, lines in summed}
