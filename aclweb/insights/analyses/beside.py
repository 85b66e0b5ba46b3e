"""Which other clusters is an analysis about, which may be chosen, and who may see what it found?

An analysis belongs to one cluster, and names the others in its option `beside`. It exists for those alone who may look
at all of them, so each question here takes the clusters that the person who asks may look at.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.validators import slug_re
from django.db.models import QuerySet

from aclweb.acl.model import number_of
from aclweb.insights.analyses.jobs import JOBS
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis, Load
from aclweb.inventory.models import Cluster

BESIDE = "beside"
"""The option that names the other clusters of a job which is about several, as addresses do, parted by commas."""

MOST_BESIDE = 9
"""So many clusters are compared with one."""

_SEVERAL = tuple(job.name for job in JOBS.values() if job.beside)


@dataclass(frozen=True)
class Candidate:
    """A cluster that may be chosen beside another. why_not: why it cannot be analysed; empty where it can."""

    cluster: Cluster
    why_not: str


def candidates(cluster: Cluster, visible: QuerySet[Cluster]) -> list[Candidate]:
    """Return the other clusters that a person may look at, by name; two queries at most."""
    others = list(visible.exclude(pk=cluster.pk).order_by("name", "slug"))
    with_log = _with_log(others) if others else set()
    return [Candidate(each, why_not(each, has_log=each.pk in with_log)) for each in others]


def chosen(given: str, cluster: Cluster, visible: QuerySet[Cluster]) -> list[Cluster]:
    """Return the other clusters that a text names, by slug; raises InsightsError where they cannot be compared."""
    slugs = sorted({part.strip() for part in given.split(",") if part.strip()})
    if not slugs:
        raise InsightsError(
            f"Choose another cluster to compare {cluster.name} with; one alone is compared with nothing."
        )
    if cluster.slug in slugs:
        raise InsightsError(f"{cluster.name} cannot be compared with itself; choose another cluster.")
    if len(slugs) > MOST_BESIDE:
        raise InsightsError(
            f"{cluster.name} is compared with {MOST_BESIDE} clusters at most, and {len(slugs)} are chosen."
        )
    # Other texts, such as one with a zero byte, no database may be asked for.
    found = {each.slug: each for each in visible.filter(slug__in=filter(slug_re.fullmatch, slugs))}
    if unknown := [slug for slug in slugs if slug not in found]:
        raise InsightsError(f"There is no cluster {unknown[0][:60]!r} that you may look at.")
    others = [found[slug] for slug in slugs]
    with_log = _with_log(others)
    for each in others:
        if why := why_not(each, has_log=each.pk in with_log):
            raise InsightsError(why)
    return others


def why_not(cluster: Cluster, *, has_log: bool) -> str:
    """Return why a cluster cannot be analysed; empty where it can."""
    if cluster.revision_id is None:
        return f"{cluster.name} has not been synced yet. Wait for the first sync."
    if not has_log:
        return (
            f"No authorizer log of {cluster.name} has been read yet, so there is nothing to analyse. "
            "Name its logs, and wait until a worker has read them."
        )
    return ""


def others_of(row: Analysis) -> list[Cluster]:
    """Return the other clusters that an analysis is about; raises InsightsError where one is gone."""
    slugs = row.beside
    found = {each.slug: each for each in Cluster.objects.select_related("revision").filter(slug__in=slugs)}
    if gone := [slug for slug in slugs if slug not in found]:
        raise InsightsError(
            f"{number_of(len(gone), 'cluster')} of this comparison is gone: {', '.join(gone)}."
        )
    return [found[slug] for slug in slugs]


def hidden(cluster: Cluster, visible: QuerySet[Cluster]) -> list[int]:
    """Return the keys of a cluster's analyses that are about one which a person may not look at."""
    of_several = Analysis.objects.filter(cluster=cluster, job__in=_SEVERAL).only("options")
    named = {row.pk: set(row.beside) for row in of_several}
    if not named:
        return []
    seen = set(visible.filter(slug__in=set().union(*named.values())).values_list("slug", flat=True))
    return [pk for pk, slugs in named.items() if not slugs <= seen]


def may_see(row: Analysis, visible: QuerySet[Cluster]) -> bool:
    """Return whether a person may look at all other clusters that an analysis is about."""
    slugs = row.beside
    return not slugs or visible.filter(slug__in=slugs).count() == len(slugs)


def _with_log(clusters: list[Cluster]) -> set[int]:
    read = Load.objects.filter(cluster__in=[each.pk for each in clusters], current=True)
    return {load.cluster_id for load in read.only("cluster")}
