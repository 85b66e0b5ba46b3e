"""What is told of a connection to ZooKeeper that did not come about, or ended?"""

from __future__ import annotations

from kazoo.client import KazooClient
from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

from aclweb.clusters.client import (
    ClusterError,
    ClusterState,
)

NO_ANSWER = (
    ConnectionLoss,
    ConnectionClosedError,
    SessionExpiredError,
    OperationTimeoutError,
    KazooTimeoutError,
)


TOLD_SCHEMES = ("world", "sasl", "x509")


def end(kazoo: KazooClient) -> None:
    kazoo.stop()
    kazoo.close()


def split_address(address: str) -> tuple[str, str]:
    """Return (servers, chroot) of `host:port,host:port/chroot`; raises ClusterError on anything else."""
    servers, slash, chroot = address.strip().partition("/")
    hosts = [one.strip() for one in servers.split(",")]
    for one in hosts:
        host, colon, port = one.rpartition(":")
        if not host or not colon or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ClusterError(
                f"The ZooKeeper address {address!r} has no server with a port in {one!r}; "
                "write host:2181, host:2181,host:2181 or host:2181/kafka.",
                state=ClusterState.UNREACHABLE,
            )
    parts = [part for part in chroot.split("/") if part]
    if slash and any(part in (".", "..") for part in parts):
        raise ClusterError(
            f"The chroot of {address!r} holds '.' or '..', which ZooKeeper does not have; write it as /kafka.",
            state=ClusterState.UNREACHABLE,
        )
    return ",".join(hosts), "".join(f"/{part}" for part in parts)
