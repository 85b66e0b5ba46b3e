"""How is the address of ZooKeeper written?"""

from __future__ import annotations

from aclweb.clusters.client import ClusterError, ClusterState


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
