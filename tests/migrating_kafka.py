"""A Kafka 3.9 cluster on ZooKeeper that migrates to KRaft step by step, as Kafka's own documentation says (KIP-866).

The steps are: a controller beside the broker, the broker again with the migration on, the broker without ZooKeeper, and
the controller again, which ends the migration.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from kazoo.client import KazooClient

from devstack.servers import KafkaBroker, ZooKeeperServer
from devstack.servers.server import Server, write_private

CONTROLLER_ID = "3000"
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
HAS_MIGRATED = "Completed migration of metadata from ZooKeeper to KRaft"
"""What the controller logs once all that ZooKeeper holds is in its own log."""


class Controller(Server):
    """The one KRaft controller. `zookeeper`: that of the cluster while it migrates; None afterwards."""

    title = "The KRaft controller"

    def __init__(self, directory: Path, broker: KafkaBroker, cluster_id: str, zookeeper: str) -> None:
        super().__init__(directory)
        self.broker, self.cluster_id = broker, cluster_id
        self.zookeeper: str | None = zookeeper
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.port,) = self._ports(1)

    @property
    def class_path(self) -> str:
        return self.broker.class_path

    @property
    def log(self) -> Path:
        return self.directory / "logs" / "server.log"

    def start(self) -> None:
        for folder in ("data", "logs"):
            (self.directory / folder).mkdir(exist_ok=True)
        meta = self.directory / "data" / "meta.properties"
        if not meta.exists():
            meta.write_text(
                f"version=1\ncluster.id={self.cluster_id}\nnode.id={CONTROLLER_ID}\n"
                "directory.id=mMMTLWZ7QOyHMtBmQGAHKA\n"
            )
        lines = self._properties() | quorum_of(self)
        if self.zookeeper is not None:
            lines |= migration_of(self.zookeeper)
        properties = self.directory / "controller.properties"
        write_private(properties, "".join(f"{name}={value}\n" for name, value in lines.items()))
        logging = self.directory / "log4j.properties"
        logging.write_text(
            "log4j.rootLogger=INFO, server\n"
            "log4j.appender.server=org.apache.log4j.FileAppender\n"
            f"log4j.appender.server.File={self.log}\n"
            "log4j.appender.server.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.server.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
        )
        self._spawn(
            [
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.net.preferIPv4Stack=true",
                f"-Dlog4j.configuration=file:{logging}",
            ],
            "kafka.Kafka",
            properties,
        )

    def wait_ready(self, timeout_seconds: float = 120.0) -> None:
        self.wait_for("Kafka Server started", timeout_seconds)

    def wait_for(self, text: str, timeout_seconds: float = 180.0) -> None:
        """Return once the log holds the text."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if self.log.exists() and text in self.log.read_text(errors="replace"):
                return
            if not self.running:
                raise self._fail("ended")
            time.sleep(0.2)
        raise self._fail(f"did not log {text!r} within {timeout_seconds:.0f} s")

    def _properties(self) -> dict[str, str]:
        jaas = self.broker._jaas()
        return {
            "process.roles": "controller",
            "node.id": CONTROLLER_ID,
            "listeners": f"CONTROLLER://127.0.0.1:{self.port}",
            "log.dirs": f"{self.directory}/data",
            "authorizer.class.name": STANDARD,
            "super.users": "User:admin",
            # By which it speaks to brokers that still have ZooKeeper.
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas,
            "listener.name.controller.plain.sasl.jaas.config": jaas,
        }


def quorum_of(controller: Controller) -> dict[str, str]:
    """Return the settings by which a node finds the controller."""
    return {
        "controller.quorum.voters": f"{CONTROLLER_ID}@127.0.0.1:{controller.port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"
        ),
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
    }


def migration_of(zookeeper: str) -> dict[str, str]:
    """Return the settings that a node has while it migrates."""
    return {"zookeeper.metadata.migration.enable": "true", "zookeeper.connect": zookeeper}


class MigratingKafka:
    """One broker, its ZooKeeper and its controller; each method is one step of the migration."""

    def __init__(self, directory: Path, jars: Path, users: Mapping[str, str]) -> None:
        self.directory = directory
        self.keeper = ZooKeeperServer(directory / "zookeeper")
        self.keeper.start()
        self.keeper.wait_ready()
        self.address = f"{self.keeper.address}/kafka"
        self.broker = KafkaBroker(
            directory / "broker", jars, engine="acl", zookeeper=self.address, users=users
        )
        self.controller: Controller | None = None

    def start(self) -> None:
        self.broker.start()
        self.broker.wait_ready()

    def begin(self) -> None:
        """Start a controller, and the broker again, so that the controller copies what ZooKeeper holds."""
        self.controller = Controller(
            self.directory / "controller", self.broker, self.cluster_id(), self.address
        )
        self.controller.start()
        self.broker.stop()
        self.broker.settings |= {
            **quorum_of(self.controller),
            "zookeeper.metadata.migration.enable": "true",
            "inter.broker.protocol.version": "3.9",
            "listener.name.controller.plain.sasl.jaas.config": self.broker._jaas(),
        }
        self.start()
        self.controller.wait_for(HAS_MIGRATED)

    def leave_zookeeper(self) -> None:
        """Start the broker again as one of KRaft; the controller still writes to ZooKeeper."""
        self.broker.stop()
        self.broker.settings |= {
            "process.roles": "broker",
            "node.id": "1",
            "broker.id": None,
            "authorizer.class.name": STANDARD,
            "zookeeper.connect": None,
            "zookeeper.set.acl": None,
            "zookeeper.connection.timeout.ms": None,
            "zookeeper.metadata.migration.enable": None,
            "inter.broker.protocol.version": None,
        }
        self.start()

    def end(self) -> None:
        """Start the controller again without ZooKeeper, and stop ZooKeeper: there is no way back."""
        assert self.controller is not None
        self.controller.stop()
        self.controller.zookeeper = None
        self.controller.log.unlink()
        self.controller.start()
        self.controller.wait_ready()
        self.keeper.stop()
        self.broker.wait_ready()

    def cluster_id(self) -> str:
        """Return the id that ZooKeeper holds."""
        client = KazooClient(hosts=self.address)
        client.start()
        try:
            return str(json.loads(client.get("/cluster/id")[0])["id"])
        finally:
            client.stop()
            client.close()

    def stop(self) -> None:
        for server in (self.broker, self.controller, self.keeper):
            if server is not None:
                server.stop()
