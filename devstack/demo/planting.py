"""How does the demo company get onto real servers?

`plant_zookeeper` writes prod-eu into ZooKeeper the way brokers of Kafka 3.9 keep it;
`plant_broker` makes edge-eu's topics and ACLs on a running KRaft broker through its Admin
API. Both can be repeated: what is there already stays as it is, so that a demo somebody
has worked with is never overwritten.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Sequence

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

from aclweb.acl.model import AclBinding, ResourcePattern
from aclweb.acl.notation import znodes
from aclweb.clusters import AclSnapshot, Connection, OutcomeKind, TopicInfo, Verb, connect
from aclweb.clusters.admin_api import ADMIN_API
from devstack.demo import prod_eu

_BROKERS = {1: "kafka-1.nordhavn.example", 2: "kafka-2.nordhavn.example"}
_ID_PATH = "/cluster/id"
_STARTED = "1699876543210"  # milliseconds, as brokers write the moment they started


class PlantingError(Exception):
    """The demo could not be put onto a server; the message is a sentence for whoever started it."""


def plant_zookeeper(
    zookeeper: KazooClient | str, topics: Sequence[TopicInfo], bindings: Sequence[AclBinding]
) -> bool:
    """Write the cluster in Kafka's own layout; return False, and write nothing, if it is there already.

    zookeeper: a started client, or an address such as `127.0.0.1:2181/kafka`.
    """
    if isinstance(zookeeper, str):
        servers, _, chroot = zookeeper.partition("/")
        client = KazooClient(hosts=servers, timeout=10.0)
        try:
            client.start(timeout=30)
            # The chroot has to be there before a client can work below it.
            client.ensure_path(f"/{chroot}")
            client.chroot = f"/{chroot}" if chroot else ""
            return plant_zookeeper(client, topics, bindings)
        finally:
            client.stop()
            client.close()

    if zookeeper.exists(_ID_PATH):
        return False
    for path, data in [*_cluster_nodes(topics), *_acl_nodes(bindings)]:
        _write(zookeeper, path, data)
    # Last, because it says that everything before it is there.
    _write(zookeeper, _ID_PATH, _json({"version": "1", "id": prod_eu.CLUSTER_ID}))
    return True


def plant_broker(
    *,
    bootstrap: str,
    username: str,
    password: str,
    topics: Sequence[TopicInfo],
    bindings: Sequence[AclBinding],
) -> bool:
    """Make the topics and ACLs through the Admin API; return False if any ACL is on the broker already."""
    options = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": username,
        "sasl.password": password,
    }
    _create_topics(bootstrap, username, password, topics)
    with connect(Connection(kind=ADMIN_API, address=bootstrap, options=options)) as client:
        if client.read_acls().bindings:
            return False
        outcomes = client.write(Verb.ADD, bindings)
        bad = [outcome for outcome in outcomes if outcome.kind is not OutcomeKind.WRITTEN]
        if bad:
            raise PlantingError(
                f"The broker at {bootstrap} did not take an ACL of the demo: {bad[0].sentence}"
            )
        _wait_until_listed(client.read_acls, bindings, bootstrap)
    return True


def _cluster_nodes(topics: Sequence[TopicInfo]) -> list[tuple[str, bytes | None]]:
    nodes: list[tuple[str, bytes | None]] = [
        ("/controller_epoch", b"1"),
        ("/consumers", None),
        ("/config/changes", None),
        ("/config/users", None),
        ("/admin/delete_topics", None),
    ]
    for number, host in _BROKERS.items():
        nodes.append((f"/brokers/ids/{number}", _json(_broker(host))))
    for topic in topics:
        count = topic.partitions or 1
        replicas = {
            str(partition): sorted(_BROKERS, reverse=bool(partition % 2)) for partition in range(count)
        }
        nodes.append(
            (
                f"/brokers/topics/{topic.name}",
                _json(
                    {
                        "removing_replicas": {},
                        "partitions": replicas,
                        "topic_id": _topic_id(topic.name),
                        "adding_replicas": {},
                        "version": 3,
                    }
                ),
            )
        )
        config = {"cleanup.policy": "compact"} if topic.internal else {}
        nodes.append((f"/config/topics/{topic.name}", _json({"version": 1, "config": config})))
    return nodes


def _acl_nodes(bindings: Sequence[AclBinding]) -> list[tuple[str, bytes | None]]:
    nodes: list[tuple[str, bytes | None]] = [(root, None) for root in znodes.CHANGE_ROOTS.values()]
    for root in znodes.ROOTS.values():
        nodes += [(f"{root}/{word}", None) for word in znodes.TYPE_NODES]
    patterns: dict[ResourcePattern, list[AclBinding]] = {}
    for binding in bindings:
        patterns.setdefault(binding.pattern, []).append(binding)
    nodes += [(znodes.path_of(pattern), znodes.encode(group)) for pattern, group in patterns.items()]
    return nodes


def _write(client: KazooClient, path: str, data: bytes | None) -> None:
    """Create a node; one left by a planting that was interrupted gets the data it should have."""
    try:
        client.create(path, data, makepath=True)
    except NodeExistsError:
        client.set(path, data)


def _broker(host: str) -> dict[str, object]:
    return {
        "features": {},
        "listener_security_protocol_map": {"SASL_SSL": "SASL_SSL"},
        "endpoints": [f"SASL_SSL://{host}:9093"],
        "jmx_port": -1,
        "port": -1,
        "host": None,
        "version": 5,
        "timestamp": _STARTED,
    }


def _topic_id(name: str) -> str:
    """Return 16 bytes in the base64 that Kafka writes, the same for a name each time."""
    digest = hashlib.sha256(name.encode("utf-8")).digest()[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("utf-8")


def _create_topics(bootstrap: str, username: str, password: str, topics: Sequence[TopicInfo]) -> None:
    try:
        admin = KafkaAdminClient(
            bootstrap_servers=bootstrap,
            client_id="aclweb-demo",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_plain_username=username,
            sasl_plain_password=password,
        )
        try:
            there = set(admin.list_topics())
            missing = [
                NewTopic(topic.name, topic.partitions or 1, 1) for topic in topics if topic.name not in there
            ]
            if missing:
                admin.create_topics(missing, timeout_ms=30_000)
        finally:
            admin.close()
    except KafkaError as error:
        raise PlantingError(
            f"The topics of the demo could not be made on the broker at {bootstrap}: {type(error).__name__}."
        ) from error


def _wait_until_listed(
    read_acls: Callable[[], AclSnapshot], bindings: Sequence[AclBinding], bootstrap: str
) -> None:
    """Return once the broker lists every binding: KRaft confirms a write a moment before it lists it."""
    deadline = time.monotonic() + 30
    while missing := set(bindings) - set(read_acls().bindings):
        if time.monotonic() > deadline:
            raise PlantingError(
                f"The broker at {bootstrap} confirmed the demo's ACLs and does not list {len(missing)} of them."
            )
        time.sleep(0.1)
