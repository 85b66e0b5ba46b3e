"""Are the topics and groups that are known all that exist? The one answer for pages, API and commands."""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.model import NOUNS, ResourceType
from aclweb.clusters import DetailKind, Known
from aclweb.inventory.details import told_lists
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


def transactional_ids_known(cluster: Cluster) -> Completeness:
    """Return how complete the brokers' list of transactional ids is: never all that may be in use; one query."""
    found = told_lists(cluster)[DetailKind.TRANSACTIONAL_IDS]
    told = " ".join(filter(None, (found.sentence, found.problem)))
    if found.known is Known.UNKNOWN:
        return Completeness(Known.UNKNOWN, told)
    forgotten = "Brokers list the transactional ids that they remember, so others may be in use."
    return Completeness(Known.VISIBLE, f"{forgotten} {told}".rstrip())


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
