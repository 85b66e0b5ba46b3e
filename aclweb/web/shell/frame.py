"""The frame of every page: the clusters to switch to, the current one, and its state.

The strip under the bar tells how far an answer can be trusted: which authorizer, what is
declared and what nobody has declared yet, and how old the reading is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest

from aclweb.accounts import access
from aclweb.acl.model import SERVICES, ManagedService
from aclweb.inventory.current import KnownAuthorizer, broker_settings, settings_of
from aclweb.inventory.lists import paused_sentence, status
from aclweb.inventory.models import Cluster
from aclweb.web.shell.badges import NO_BADGES, Badges, badges_of, with_badges
from aclweb.web.shell.switching import same_page

_OF_A_CLUSTER = re.compile(r"/c/([-\w]+)/")
LAST = "aclweb-cluster"  # the cookie that holds the cluster looked at last


@dataclass(frozen=True)
class ClusterLine:
    """One cluster as the switch, the strip and the lists show it."""

    cluster: Cluster
    authorizer: KnownAuthorizer
    default: str  # "deny", "allow" or "undeclared"
    super_users: tuple[str, ...] | None  # None while nobody has declared them
    rules: int | None
    tone: str  # "good", "warn" or "bad"
    word: str  # the state in a word or two
    is_old: bool
    service: ManagedService | None = None
    paused: str = ""  # since when and by whom, as a sentence; empty where it is synced

    @property
    def default_words(self) -> str:
        return {"deny": "default deny", "allow": "default ALLOW"}.get(self.default, "default not declared")

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt to read it failed, so that what pages show is from before."""
        return self.tone == "bad"


@dataclass(frozen=True)
class Frame:
    """switches: (cluster, address): where the same page of each cluster is. badges: what waits, for the navigation."""

    clusters: tuple[ClusterLine, ...]
    current: ClusterLine | None
    section: str
    switches: tuple[tuple[ClusterLine, str], ...] = ()
    badges: Badges = NO_BADGES


def cluster_line(cluster: Cluster) -> ClusterLine:
    """Return the state of a cluster, from what is stored about it: no query, no call."""
    default = {None: "undeclared", True: "allow", False: "deny"}[cluster.allow_everyone]
    named = None
    if cluster.super_users is not None:
        named = tuple(sorted(settings_of(cluster).super_users))
    state = status(cluster)
    return ClusterLine(
        cluster=cluster,
        authorizer=broker_settings.authorizer(cluster),
        default=default,
        super_users=named,
        rules=cluster.revision.acls if cluster.revision else None,
        tone=state.tone,
        word=state.label,
        is_old=state.is_old,
        service=SERVICES.get(cluster.service),
        paused=paused_sentence(cluster),
    )


def around(
    request: HttpRequest,
    *,
    cluster: Cluster | None,
    section: str,
    slug: str = "",
    clusters: QuerySet[Cluster] | None = None,
) -> Frame:
    """Return the frame of a page; without `cluster` that of the one in its address, else of the one looked at last.

    slug: of a cluster that comes before these, where the person may look at it. clusters: those that the person may
    look at, where the page asks more of them.
    """
    if not request.user.is_authenticated:
        return Frame(clusters=(), current=None, section=section)
    wanted = [cluster.slug] if cluster else [slug, _slug_in(request), request.COOKIES.get(LAST, "")]
    counted_for = next(filter(None, wanted), "")
    visible_to = access.visible_clusters(request.user) if clusters is None else clusters
    rows = list(with_badges(visible_to, request.user, counted_for))
    visible = tuple(cluster_line(found) for found in rows)
    by_slug = {found.cluster.slug: found for found in visible}
    current = next((by_slug[slug] for slug in wanted if slug in by_slug), visible[0] if visible else None)
    return Frame(
        clusters=visible,
        current=current,
        section=section,
        switches=tuple(zip(visible, same_page(request, rows), strict=True)),
        badges=_badges(request, current, counted_for),
    )


def _badges(request: HttpRequest, current: ClusterLine | None, counted_for: str) -> Badges:
    """Return what waits here; counted again where the page is about another cluster than was expected."""
    if current is None:
        return NO_BADGES
    row, slug = current.cluster, current.cluster.slug
    if slug != counted_for:
        row = with_badges(Cluster.objects.filter(pk=row.pk), request.user, slug).get()
    return badges_of(row)


def _slug_in(request: HttpRequest) -> str:
    """Return the slug of the cluster that the address names, also where no page has that address; else nothing."""
    found = _OF_A_CLUSTER.match(request.path_info)
    return found[1] if found else ""


def last_cluster(request: HttpRequest) -> Cluster | None:
    """Return the cluster for a page whose address names none: `?cluster=`, the last one, else the first."""
    return last_of(request, list(access.visible_clusters(request.user)))


def last_of(request: HttpRequest, clusters: Sequence[Cluster]) -> Cluster | None:
    """Return the one of these clusters, all that a person may look at, for a page whose address names none."""
    wanted = request.GET.get("cluster") or request.COOKIES.get(LAST)
    return next((found for found in clusters if found.slug == wanted), clusters[0] if clusters else None)
