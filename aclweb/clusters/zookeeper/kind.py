"""What can aclweb do with a cluster that it reads from ZooKeeper?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aclweb.clusters.client import ClusterClient, Watch
from aclweb.clusters.connection import LOGIN_OPTIONS
from aclweb.clusters.kind import ClusterKind, Connection
from aclweb.clusters.zookeeper.address import split_address

if TYPE_CHECKING:
    from aclweb.clusters.zookeeper.client import ZooKeeperClient
    from aclweb.clusters.zookeeper.watch import ZooKeeperWatch


def _open(connection: Connection) -> ClusterClient:
    """Open a client; kazoo takes a while to load, and most processes ask no cluster."""
    client: type[ZooKeeperClient] = import_module("aclweb.clusters.zookeeper.client").ZooKeeperClient
    return client(connection)


def _watch(connection: Connection) -> Watch:
    watch: type[ZooKeeperWatch] = import_module("aclweb.clusters.zookeeper.watch").ZooKeeperWatch
    return watch(connection)


def _normalised(address: str) -> str:
    return "".join(split_address(address))


ZOOKEEPER = ClusterKind(
    name="zookeeper",
    source="ZooKeeper",
    called="ZooKeeper",
    menu_name="ZooKeeper",
    address_form="host:port,host:port/chroot",
    open=_open,
    watch=_watch,
    normalised=_normalised,
    options=LOGIN_OPTIONS,
    mechanisms=("DIGEST-MD5",),
    default_authorizer="acl",
    can_write=True,
    hides_authorizer=True,
)
