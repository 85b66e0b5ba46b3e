"""What can aclweb do with a cluster that it reads from ZooKeeper?"""

from __future__ import annotations

from aclweb.clusters.connection import LOGIN_OPTIONS
from aclweb.clusters.kind import ClusterKind
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from aclweb.clusters.zookeeper.session import split_address


def _normalised(address: str) -> str:
    return "".join(split_address(address))


ZOOKEEPER = ClusterKind(
    name="zookeeper",
    source="ZooKeeper",
    called="ZooKeeper",
    address_form="host:port,host:port/chroot",
    open=ZooKeeperClient,
    normalised=_normalised,
    options=LOGIN_OPTIONS,
    mechanisms=("DIGEST-MD5",),
    default_authorizer="acl",
    can_write=True,
    hides_authorizer=True,
)
