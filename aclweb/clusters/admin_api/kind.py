"""What can aclweb do with a cluster that it reads from its brokers?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from aclweb.clusters.admin_api.address import split_address
from aclweb.clusters.admin_api.rights import command_to_grant
from aclweb.clusters.client import ClusterClient
from aclweb.clusters.connection import KERBEROS_OPTIONS, LOGIN_OPTIONS, TOKEN_OPTIONS
from aclweb.clusters.kind import ClusterKind, Connection

if TYPE_CHECKING:
    from aclweb.clusters.admin_api.client import AdminClient


def _open(connection: Connection) -> ClusterClient:
    """Open a client; kafka-python takes a while to load, and most processes ask no cluster."""
    client: type[AdminClient] = import_module("aclweb.clusters.admin_api.client").AdminClient
    return client(connection)


def _normalised(address: str) -> str:
    return ",".join(split_address(address))


def _signs_in_as(options: Mapping[str, str]) -> str | None:
    name = options.get("sasl.username")
    return f"User:{name}" if name else None  # the subject of a certificate may be mapped by the brokers


ADMIN_API = ClusterKind(
    name="admin",
    source="the brokers, by the Admin API",
    called="a Kafka broker",
    menu_name="Admin API",
    address_form="host:port,host:port",
    open=_open,
    normalised=_normalised,
    options=LOGIN_OPTIONS
    | TOKEN_OPTIONS
    | KERBEROS_OPTIONS
    | {
        "client.id": "the name under which the brokers' logs know this client",
        "request.timeout.ms": "how long a write may take, in milliseconds",
    },
    mechanisms=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"),
    signs_in_as=_signs_in_as,
    command_to_grant=command_to_grant,
    can_write=True,
    lists_groups=True,
    hides_names=True,
    reads_broker_settings=True,
    has_bootstrap_address=True,
)
