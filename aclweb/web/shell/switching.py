"""Where is the page that somebody looks at, on another cluster?

The page and what it asks stay. A topic that the other cluster does not have leads to its
list of topics; a draft, a moment of the past and a page number belong to one cluster only.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from aclweb.acl.model import ResourceType
from aclweb.inventory.fields import name_key
from aclweb.inventory.models import Cluster, StoredName

# What of a page's question is as good on any cluster. A page that is not named here has no question.
_KEPT: dict[str, tuple[str, ...]] = {
    "home": ("principal", "operation", "type", "name", "host"),
    "explain": ("principal", "operation", "type", "name", "host", "who", "paste", "choose"),
    "client-action": (
        "principal", "action", "host", "topic", "group", "transactional-id", "transactional_id", "choose",
    ),
    "topics": ("type", "q"),
    "topic": (),
    "resource": ("type", "name"),
    "principals": ("q",),
    "principal": ("name",),
    "acls": (
        "text", "add", "principal", "host", "operation", "permission", "resource_type", "name", "match", "reach",
        "orphan",
    ),
    "search": ("q",),
    "mapping": (),
    "what-if": (),
    "drafts": (),
    "compare": (),
    "compare-drafts": (),
    "findings": ("show", "severity", "rule", "text"),
    "insights": (),
    "use-map": ("show", "days"),
    "by-owner": ("days", "sort"),
    "use-beside": ("what", "days"),
    "week": (),
    "analyses": (),
    "coverage": (),
    "owners": (),
    "principal-names": (),
    "roles": ("q", "role"),
}  # fmt: skip


def same_page(request: HttpRequest, clusters: Sequence[Cluster]) -> list[str]:
    """Return the address of the same page on each of these clusters; one query at most."""
    found = request.resolver_match
    name = found.view_name if found is not None else ""
    if found is None or name not in _KEPT:
        return [reverse("cluster", args=[cluster.slug]) for cluster in clusters]
    kept = {key: request.GET.getlist(key) for key in _KEPT[name] if key in request.GET}
    if name == "home":
        return [f"/?{urlencode({**kept, 'cluster': cluster.slug}, doseq=True)}" for cluster in clusters]
    query = f"?{urlencode(kept, doseq=True, errors='replace')}" if kept else ""
    if name == "topic":
        topic = found.kwargs["name"]
        having = _having(clusters, topic)
        return [
            reverse("topic", args=[cluster.slug, topic])
            if cluster.pk in having
            else reverse("topics", args=[cluster.slug])
            for cluster in clusters
        ]
    return [f"{reverse(name, args=[cluster.slug])}{query}" for cluster in clusters]


def _having(clusters: Sequence[Cluster], topic: str) -> set[int]:
    names = StoredName.objects.filter(
        cluster__in=[cluster.pk for cluster in clusters],
        resource_type=ResourceType.TOPIC.name,
        key=name_key(topic),  # the name itself is in no index
        removed_in__isnull=True,
    )
    return {found.cluster_id for found in names.only("cluster")}
