"""How is a cluster read and written through ZooKeeper?"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from aclweb.acl.model import AclBinding
from aclweb.clusters.client import (
    AclReading,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Connection,
    Outcome,
    SourceKind,
    TopicInfo,
    Verb,
)


class ZooKeeperClient:
    """One open connection to a cluster through ZooKeeper."""

    kind = SourceKind.ZOOKEEPER
    writable = False

    def __init__(self, connection: Connection) -> None:
        raise ClusterError(
            f"Reading {connection.address} is not possible in this version of aclweb.",
            state=ClusterState.UNREACHABLE,
        )

    def describe(self) -> ClusterFacts:
        return ClusterFacts()

    def read_acls(self) -> AclReading:
        return AclReading(bindings=())

    def read_topics(self) -> tuple[TopicInfo, ...]:
        return ()

    def read_groups(self) -> tuple[str, ...] | None:
        return None

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        return ()

    def close(self) -> None:
        """End the connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
