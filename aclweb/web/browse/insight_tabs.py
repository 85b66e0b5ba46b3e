"""Which kinds of insight are there, and how many of each wait for somebody?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.urls import reverse

from aclweb.acl.logged import Evidence
from aclweb.changes import queries as changes
from aclweb.insights import denials
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of, unused_count
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster


@dataclass(frozen=True)
class Tab:
    """One kind of insight; count: how many there are, None where nobody knows."""

    name: str
    word: str
    url: str
    count: int | None = None
    tone: str = ""


@dataclass(frozen=True)
class Head:
    """What every page of insights begins with. unused: how many ACLs are, None where the log cannot tell."""

    tabs: tuple[Tab, ...]
    evidence: Evidence
    unused: int | None

    @property
    def why_not(self) -> str:
        """Why the log cannot tell which ACLs are unused; empty where it can."""
        return next(filter(None, self.evidence.why_not.values()), "")


def head(cluster: Cluster, load: Load | None, *, new: int | None = None, found: int | None = None) -> Head:
    """Return the tabs with their numbers.

    new, found: how many denials are new and how many findings there are, where the page knows it already.
    """
    if found is None:
        found = findings.known_count(cluster)
    if new is None and load is not None:
        new = denials.new_count(
            cluster, load, days=denials.USUAL_DAYS, in_force_since=since_in_force(cluster)
        )
    evidence = evidence_of(load)
    unused = unused_count(cluster, load, evidence)
    acls = reverse("acls", args=[cluster.slug])
    tabs = (
        Tab("denials", "Denials", reverse("insights", args=[cluster.slug]), new, "deny" if new else ""),
        Tab("findings", "Findings", reverse("findings", args=[cluster.slug]), found),
        Tab("unused", "Unused", f"{acls}?use=unused", unused),
        Tab("use", "Use", f"{reverse('use-map', args=[cluster.slug])}?show=all"),
        Tab("week", "Week", reverse("week", args=[cluster.slug])),
        Tab("analyses", "Analyses", reverse("analyses", args=[cluster.slug])),
        Tab("coverage", "Coverage", reverse("coverage", args=[cluster.slug])),
    )
    return Head(tabs, evidence, unused)


def since_in_force(cluster: Cluster) -> Callable[[Collection[int]], Mapping[int, datetime]]:
    """Return what tells since when changes of the cluster are in force; it asks nothing before it is called."""
    return partial(changes.in_force_since, cluster)
