"""How is the address of brokers written?"""

from __future__ import annotations

from aclweb.clusters.client import ClusterError, ClusterState


def split_address(address: str) -> tuple[str, ...]:
    """Return the servers of `host:port,host:port`; raises ClusterError on anything else."""
    servers = tuple(one.strip() for one in address.split(","))
    for one in servers:
        host, colon, port = one.rpartition(":")
        if (
            not host
            or not colon
            or "/" in one
            or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)
        ):
            raise ClusterError(
                f"The Kafka address {address!r} has no broker with a port in {one!r}; write host:9092 or "
                "host:9092,host:9092.",
                state=ClusterState.UNREACHABLE,
            )
    return servers
