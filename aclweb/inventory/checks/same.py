"""Is one Kafka cluster registered here twice? Each has an id of its own."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from aclweb.inventory.models import Cluster


def same_kafka_cluster(cluster: Cluster, cluster_id: str, among: QuerySet[Cluster]) -> str:
    """Return that other clusters have the id, as a sentence; empty where none of these has, or it is unknown."""
    if not cluster_id:
        return ""
    others = among.filter(cluster_id=cluster_id).exclude(pk=cluster.pk).order_by("name")
    return _sentence("It", list(others.values_list("name", flat=True)), cluster_id)


def registered_twice(among: QuerySet[Cluster]) -> list[str]:
    """Return a sentence for each id that several of these clusters have."""
    ids = among.exclude(cluster_id="").order_by().values("cluster_id").annotate(n=Count("pk")).filter(n__gt=1)
    found: dict[str, list[str]] = {}
    twice = among.filter(cluster_id__in=ids.values("cluster_id")).order_by("name")
    for cluster_id, name in twice.values_list("cluster_id", "name"):
        found.setdefault(cluster_id, []).append(name)
    return [_sentence(names[0], names[1:], cluster_id) for cluster_id, names in found.items()]


def _sentence(one: str, others: list[str], cluster_id: str) -> str:
    if not others:
        return ""
    both = "both" if len(others) == 1 else "all"
    return f"{one} is the same Kafka cluster as {', '.join(others)}: {both} have the id {cluster_id}."
