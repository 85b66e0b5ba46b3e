"""How does one start a real ZooKeeper, and fill it as a Kafka cluster would?

It comes out of PySpark's jars.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

from devstack.servers.server import EmbeddedError, Server

# kazoo tells of every connection that ends; here that is no news.
_quiet = logging.getLogger("aclweb.clusters.kazoo")
_quiet.setLevel(logging.CRITICAL)

_ZOOKEEPER_JARS = (
    "zookeeper-3*",
    "zookeeper-jute-*",
    "netty-*",
    "slf4j-api-*",
    "log4j-*",
    "snappy-java-*",
    "metrics-core-*",
    "commons-cli-*",
    "commons-io-*",
)
# What a broker makes under both roots when it starts: one node per resource type.
_TYPE_NODES = ("Topic", "Group", "Cluster", "TransactionalId", "DelegationToken", "User")


def zookeeper_jars() -> list[Path]:
    """Return the jars of a ZooKeeper server, out of PySpark's; raises EmbeddedError without PySpark."""
    folder = pyspark_jars()
    if folder is None:
        raise EmbeddedError(
            "The embedded ZooKeeper comes out of PySpark's jars and PySpark is not installed; "
            "install the Python package pyspark."
        )
    return sorted(jar for pattern in _ZOOKEEPER_JARS for jar in folder.glob(f"{pattern}.jar"))


def pyspark_jars() -> Path | None:
    """Return the folder of PySpark's jars, None where PySpark is not installed."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "jars"
    return folder if folder.is_dir() else None


class ZooKeeperServer(Server):
    """A single real ZooKeeper.

    settings: lines of zoo.cfg to add; java_options: arguments for its JVM.
    """

    title = "ZooKeeper"

    def __init__(
        self,
        directory: Path | str,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        java_options: Sequence[str] = (),
    ) -> None:
        super().__init__(directory)
        self.settings = dict(settings or {})
        self.java_options = list(java_options)
        self._fixed_port = port
        self.port = port or 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def class_path(self) -> str:
        return os.pathsep.join(str(jar) for jar in zookeeper_jars())

    def start(self) -> None:
        (self.directory / "data").mkdir(parents=True, exist_ok=True)
        self._end_leftover()
        self.port = self._fixed_port or self._ports(1)[0]
        lines = {
            "tickTime": "500",
            "dataDir": f"{self.directory}/data",
            "clientPort": str(self.port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "ruok,srvr,mntr",
            "maxClientCnxns": "0",
            # A demo that runs for weeks keeps three snapshots instead of all.
            "autopurge.snapRetainCount": "3",
            "autopurge.purgeInterval": "12",
        } | self.settings
        configuration = self.directory / "zoo.cfg"
        configuration.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        log_settings = self.directory / "log4j2.properties"
        log_settings.write_text(
            "rootLogger.level=warn\nrootLogger.appenderRef.console.ref=console\n"
            "appender.console.type=Console\nappender.console.name=console\n"
            "appender.console.layout.type=PatternLayout\n"
            "appender.console.layout.pattern=%d %p %m (%c)%n\n"
        )
        self._spawn(
            [
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dzookeeper.jmx.log4j.disable=true",
                f"-Dlog4j2.configurationFile={log_settings}",
                *self.java_options,
            ],
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            configuration,
        )

    def wait_ready(self, timeout_seconds: float = 60.0) -> None:
        """Return when the server says it is well; raises EmbeddedError if it ends or takes too long."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if not self.running:
                raise self._fail("ended while it started")
            with contextlib.suppress(OSError):
                with socket.create_connection(("127.0.0.1", self.port), timeout=2) as asked:
                    asked.sendall(b"ruok")
                    if asked.recv(4) == b"imok":
                        return
            time.sleep(0.05)
        raise self._fail(f"was not ready after {timeout_seconds:.0f} s")


def lay_out(
    address: str, *, cluster_id: str, topics: Mapping[str, int] | None = None, broker: str | None = None
) -> None:
    """Make the nodes that a Kafka cluster keeps in ZooKeeper, without a broker; existing ones stay.

    address: `host:port/chroot`; the chroot is made too. topics: partitions by topic
    name. broker: `host:port` to list as the only broker.
    """
    servers, slash, chroot = address.partition("/")
    nodes: dict[str, bytes] = {}
    for root in ("/kafka-acl", "/kafka-acl-extended/prefixed"):
        nodes |= {f"{root}/{kind}": b"" for kind in _TYPE_NODES}
    nodes |= {"/kafka-acl-changes": b"", "/kafka-acl-extended-changes": b"", "/brokers/ids": b""}
    nodes |= {"/brokers/topics": b"", "/cluster": b""}
    nodes["/cluster/id"] = json.dumps({"version": "1", "id": cluster_id}, separators=(",", ":")).encode()
    if broker is not None:
        host, _, port = broker.rpartition(":")
        registration = {
            "version": 5,
            "host": host,
            "port": int(port),
            "endpoints": [f"PLAINTEXT://{broker}"],
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "jmx_port": -1,
        }
        nodes["/brokers/ids/1"] = json.dumps(registration, separators=(",", ":")).encode()
    for name, partitions in (topics or {}).items():
        assignment = {"version": 2, "partitions": {str(number): [1] for number in range(partitions)}}
        nodes[f"/brokers/topics/{name}"] = json.dumps(assignment, separators=(",", ":")).encode()

    keeper = KazooClient(hosts=servers, timeout=10.0, logger=_quiet)
    keeper.start(timeout=30)
    try:
        prefix = f"/{chroot}" if slash and chroot else ""
        for path, data in nodes.items():
            # In pipelines this would be faster, but parents have to be there first.
            with contextlib.suppress(NodeExistsError):
                keeper.create(prefix + path, data, makepath=True)
    finally:
        keeper.stop()
        keeper.close()
