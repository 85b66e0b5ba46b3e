"""What do the clusters of the demo company hold?

prod-eu keeps its ACLs in ZooKeeper and is made up whole; edge-eu is a real KRaft broker.
Every function takes the name of the cluster, answers the same each time, and gives names
in the order in which a cluster would list them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType

from kazoo.client import KazooClient

from aclweb.acl.model import AclBinding
from aclweb.clusters.client import TopicInfo
from devstack.demo import edge_eu, planting, prod_eu
from devstack.demo.table import read_table

PROD = "prod-eu"
EDGE = "edge-eu"

_CLUSTERS: Mapping[str, ModuleType] = {PROD: prod_eu, EDGE: edge_eu}
_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state"})


def topics(cluster: str = PROD) -> tuple[TopicInfo, ...]:
    """Return the topics that exist, in order of name."""
    partitions: Mapping[str, int] = _CLUSTERS[cluster].TOPICS
    return tuple(TopicInfo(name, partitions[name], name in _INTERNAL) for name in sorted(partitions))


def groups(cluster: str = PROD) -> tuple[str, ...]:
    """Return the consumer groups that exist, in order of name."""
    return tuple(sorted(_CLUSTERS[cluster].GROUPS))


def transactional_ids(cluster: str = PROD) -> tuple[str, ...]:
    """Return the transactional ids that clients use, in order of name."""
    return tuple(sorted(prod_eu.TRANSACTIONAL_IDS)) if cluster == PROD else ()


def bindings(cluster: str = PROD) -> tuple[AclBinding, ...]:
    """Return the ACLs in force, in the order of their table."""
    return read_table(_CLUSTERS[cluster].ACLS)


def super_users(cluster: str = PROD) -> str:
    """Return the text of `super.users` as the brokers have it."""
    return str(_CLUSTERS[cluster].SUPER_USERS)


def allow_everyone(cluster: str = PROD) -> bool:
    """Return `allow.everyone.if.no.acl.found`: both clusters refuse where no ACL is found."""
    return bool(_CLUSTERS[cluster].ALLOW_EVERYONE)


def authorizer(cluster: str = PROD) -> str:
    """Return "acl" for ZooKeeper's authorizer, "standard" for KRaft's."""
    return "acl" if cluster == PROD else "standard"


def kafka_version(cluster: str = PROD) -> str:
    """Return the version of Kafka that the brokers run, such as "3.9"."""
    return str(_CLUSTERS[cluster].KAFKA_VERSION)


def users(cluster: str = EDGE) -> tuple[str, ...]:
    """Return the accounts that log in to the real broker with a password, without the administrator."""
    return tuple(edge_eu.USERS) if cluster == EDGE else ()


def snapshot_text(cluster: str = PROD) -> str:
    """Return the cluster as a snapshot file: a header line with everything beside the ACLs, then one ACL a line."""
    header = {
        "cluster": cluster,
        "revision": 1,
        "config": {
            "super.users": super_users(cluster),
            "allow.everyone.if.no.acl.found": allow_everyone(cluster),
        },
        "authorizer": authorizer(cluster),
        "kafka_version": kafka_version(cluster),
        "topics": [
            {"name": topic.name, "partitions": topic.partitions, "internal": topic.internal}
            for topic in topics(cluster)
        ],
        "groups": list(groups(cluster)),
        "topics_known": "all",
        "groups_known": "all",
    }
    lines = [header, *(binding.as_dict() for binding in bindings(cluster))]
    return "".join(json.dumps(line) + "\n" for line in lines)


def plant(zookeeper: KazooClient | str) -> bool:
    """Write prod-eu into a ZooKeeper, given as a started client or as `host:port/chroot`.

    Returns False, and writes nothing, if it is there already.
    """
    return planting.plant_zookeeper(zookeeper, topics(PROD), bindings(PROD))


def plant_broker(*, bootstrap: str, username: str, password: str) -> bool:
    """Make the topics and ACLs of edge-eu on a KRaft broker, logged in as its administrator.

    Returns False, and adds no ACL, if the broker holds any already.
    """
    return planting.plant_broker(
        bootstrap=bootstrap,
        username=username,
        password=password,
        topics=topics(EDGE),
        bindings=bindings(EDGE),
    )
