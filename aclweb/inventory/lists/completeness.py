"""Are the topics and groups that are known all that exist? The one answer for pages, API and commands."""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.model import NOUNS, ResourceType
from aclweb.clusters import Known
from aclweb.inventory.models import Cluster, Declaration


@dataclass(frozen=True)
class Completeness:
    """Which of the existing names of one kind are known, with a sentence for people; it is empty for all."""

    known: Known
    sentence: str


def names_known(
    cluster: Cluster, kind: ResourceType, *, declared: Cluster | Declaration | None = None
) -> Completeness:
    """Return how complete the cluster's names of this type are, now or as they were when `declared` held."""
    if kind not in (ResourceType.TOPIC, ResourceType.GROUP):
        names = NOUNS[kind][1]
        return Completeness(
            Known.UNKNOWN, f"aclweb compares ACLs with no list of {names}, so which {names} exist is unknown."
        )
    then = declared if declared is not None else cluster
    known = Known(then.topics_listed if kind is ResourceType.TOPIC else then.groups_listed)
    return Completeness(known, _sentence(cluster, kind, known))


def _sentence(cluster: Cluster, kind: ResourceType, known: Known) -> str:
    names = NOUNS[kind][1]
    if known is Known.ALL:
        return ""
    source = cluster.source
    if known is Known.VISIBLE:
        if not source.hides_names:
            return f"These are the {names} that {source.called} lists; the cluster may have others."
        if kind is ResourceType.GROUP:
            return "Only groups that aclweb may describe on brokers that answered are listed; there may be others."
        return "Only topics that aclweb may describe are listed; there may be others. Describe on topic '*' shows all."
    if source.is_copy:
        return f"{source.subject} lists no {names}, so which {names} exist is unknown."
    if kind is ResourceType.GROUP and not source.lists_groups:
        return f"{source.subject} has no groups, so which groups exist is unknown."
    return f"The {names} have not been read, so which {names} exist is unknown."
