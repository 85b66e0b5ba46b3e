"""How is a live cluster read and written?

`connect(connection)` opens a client for ZooKeeper, the Admin API or a snapshot file;
what all of them can do, and the words they answer with, stand in `client.py`.
Whoever opens a client closes it, best with `with`.
"""

from collections.abc import Callable

from aclweb.clusters.admin_api import AdminClient
from aclweb.clusters.client import (
    AclReading,
    ClusterClient,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Connection,
    Known,
    NamesKnown,
    Outcome,
    OutcomeKind,
    Problem,
    SourceKind,
    TopicInfo,
    Verb,
)
from aclweb.clusters.snapshot import SnapshotClient
from aclweb.clusters.zookeeper import ZooKeeperClient

__all__ = [
    "AclReading",
    "ClusterClient",
    "ClusterError",
    "ClusterFacts",
    "ClusterState",
    "Connection",
    "Known",
    "NamesKnown",
    "Outcome",
    "OutcomeKind",
    "Problem",
    "SourceKind",
    "TopicInfo",
    "Verb",
    "connect",
]

_OPENERS: dict[SourceKind, Callable[[Connection], ClusterClient]] = {
    SourceKind.ZOOKEEPER: ZooKeeperClient,
    SourceKind.ADMIN: AdminClient,
    SourceKind.SNAPSHOT: SnapshotClient,
}


def connect(connection: Connection) -> ClusterClient:
    """Open a client for this connection; raises ClusterError where nobody answers or the login is refused."""
    return _OPENERS[connection.kind](connection)
