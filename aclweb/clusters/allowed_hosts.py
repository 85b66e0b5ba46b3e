"""To which hosts may a connection lead whose address somebody named on a page?

People who may add a cluster must not reach whatever else the site's machines can: services that listen only
to this machine, or a cloud's own. So the deployment lists hosts, and each address is looked at twice: as it
is typed, and as the name service and the brokers resolve it when a worker connects.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from aclweb.clusters.client import ClusterError, ClusterState

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Where a cloud tells its machines their secrets; other such addresses are link-local.
_METADATA = frozenset({ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")})


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Patterns of names, and ranges of addresses.

    A range allows whatever lies in it. A pattern, and `*`, allow no address of this machine, of its link or of a
    cloud's metadata: those need a range that lists them.
    """

    patterns: tuple[str, ...] = ()
    ranges: tuple[_Network, ...] = ()

    @classmethod
    def read(cls, entries: Iterable[str]) -> AllowedHosts:
        """Return what words allow such as `*.kafka.example.com`, `10.1.0.0/16` and `*`."""
        patterns: list[str] = []
        ranges: list[_Network] = []
        for entry in entries:
            try:
                ranges.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                patterns.append(entry.lower())
        return cls(tuple(patterns), tuple(ranges))

    def why_not_named(self, host: str) -> str:
        """Return why an address may not name this host; empty where it may. Asks no name service."""
        name = _plain(host)
        address = _address(name)
        if address is None and (name == "localhost" or name.endswith(".localhost")):
            address = ipaddress.IPv4Address("127.0.0.1")
        if address is not None:
            return "" if self._reaches(address, self._matches(name)) else _refused(host)
        # A name that no pattern has may still resolve to an address in a range.
        return "" if self._matches(name) or self.ranges else _refused(host)

    def require(self, host: str, port: int) -> None:
        """Raise ClusterError where the host, or any address that its name has now, may not be connected to."""
        name = _plain(host)
        try:
            found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except OSError:
            return  # nothing can be connected to, which whoever connects reports
        for *_, place in found:
            self.require_address(host, str(place[0]))

    def require_address(self, host: str, found: str) -> None:
        """Raise ClusterError where this address, which the name of the host has now, may not be connected to."""
        address = _address(found.partition("%")[0])
        if address is None or not self._reaches(address, self._matches(_plain(host))):
            raise ClusterError(_refused(host, found), state=ClusterState.UNREACHABLE)

    def _matches(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def _reaches(self, address: _Address, named: bool) -> bool:
        if any(address in each for each in self.ranges if each.version == address.version):
            return True
        return named and not _is_special(address)


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _address(name: str) -> _Address | None:
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        try:  # an address in one of the forms that the name service takes too, such as 127.1 or 2130706433
            found = ipaddress.ip_address(socket.inet_aton(name))
        except (OSError, ValueError):
            return None
    mapped = getattr(found, "ipv4_mapped", None)
    return mapped or found


def _is_special(address: _Address) -> bool:
    """Whether the address is of this machine, its link or a cloud's metadata, or of no single machine."""
    return (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or address in _METADATA
    )


def _refused(host: str, address: str = "") -> str:
    resolved = f" ({address})" if address and address != host else ""
    return f"This site may not connect to {host!r}{resolved}; ask who runs it to add the host to ACLWEB_CLUSTER_HOSTS."
