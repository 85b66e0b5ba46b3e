"""Which kinds of insight are there, and how many of each wait for somebody?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.urls import reverse

from aclweb.acl.logged import Evidence
from aclweb.acl.model import Resource
from aclweb.changes import queries as changes
from aclweb.insights import denials
from aclweb.insights.coverage import coverage
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of, unused_acls, unused_known
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster
from aclweb.web.shell.paging import page_of

DENIALS_SHOWN = 20
# Up to so many groups of denials leave room for the traffic below them.
FEW_DENIALS = 6


@dataclass(frozen=True)
class Tab:
    """One kind of insight; count: how many there are, None where nobody knows."""

    name: str
    word: str
    url: str
    count: int | None = None
    tone: str = ""


def tabs_of(
    words: Mapping[str, str], url: Callable[[str], str], numbers: Mapping[str, int | None]
) -> list[Tab]:
    """Return the tabs of one object, with those numbers that are known; denials are marked where there are any.

    words: what each is called on the page, by its name in an address.
    """
    return [
        Tab(
            name,
            word,
            url(name),
            numbers.get(name),
            "deny" if name == "denials" and numbers.get(name) else "",
        )
        for name, word in words.items()
    ]


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
    evidence = evidence_of(load)
    numbers: dict[str, Combinable] = {}
    if found is None:
        numbers |= findings.known_columns(cluster)
    if new is None and load is not None:
        here = Cluster.objects.filter(pk=cluster.pk).values("pk")
        applied_at = changes.applied_at(here, OuterRef("change"))
        numbers["new"] = _Count(denials.new_groups(here, days=denials.USUAL_DAYS, applied_at=applied_at))
    known: dict[str, Any] = {}

    def counted() -> int | None:
        if evidence.is_complete:
            # One query for all: the frame of a page has enough of its own.
            known.update(_row(cluster, numbers | {"unused": _Count(unused_acls(cluster, load, evidence))}))
        return known.get("unused")

    unused = unused_known(cluster, load, evidence, counted)
    known = known or _row(cluster, numbers)
    if found is None:
        found = findings.known_from(known)
    new = known.get("new", new)
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


def _row(cluster: Cluster, numbers: Mapping[str, Combinable]) -> dict[str, Any]:
    return dict(Cluster.objects.filter(pk=cluster.pk).values(**numbers).get()) if numbers else {}


class _Count(Subquery):
    """How many rows another query has, as a column."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()

    def __init__(self, rows: QuerySet[Any]) -> None:
        super().__init__(rows.order_by().values("pk"))


def denials_shown(
    cluster: Cluster,
    load: Load | None,
    groups: int,
    page: int,
    *,
    resource: Resource | None = None,
    principal: str | None = None,
) -> dict[str, Any]:
    """Return a page of the groups of denials on one resource or of one principal, the latest first.

    groups: how many the load holds.
    """
    if load is None or not groups:
        return {"coverage": coverage(cluster)}
    found = denials.denials_in(
        load,
        cluster,
        resource=resource,
        principal=principal,
        in_force_since=since_in_force(cluster),
        number=groups,
        just_read=True,
    )
    shown = page_of(found, page, DENIALS_SHOWN)
    return {
        "denials_about": "principal" if resource is None else "resource",
        "denials": found,
        "denials_page": shown,
        "denials_shown": shown.object_list,
    }


def since_in_force(cluster: Cluster) -> Callable[[Collection[int]], Mapping[int, datetime]]:
    """Return what tells since when changes of the cluster are in force; it asks nothing before it is called."""
    return partial(changes.in_force_since, cluster)
