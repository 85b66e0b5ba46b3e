"""How does one start a real Kafka broker, in KRaft or on a ZooKeeper?

Its jars are those that `devstack/jars.py` fetches.
"""

from __future__ import annotations

import base64
import os
import re
import socket
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from aclweb.clusters import ClusterError, ClusterState, Connection, connect
from aclweb.clusters.admin_api import ADMIN_API
from devstack.servers.server import EmbeddedError, Server, write_private
from devstack.servers.zookeeper import ZooKeeperServer


class KafkaBroker(Server):
    """A single real broker: 4.x in KRaft mode with `engine="standard"`, 3.9 on ZooKeeper with `"acl"`.

    users: SASL/PLAIN passwords by user name; `admin` must be among them and is the
    only super user. settings: lines of server.properties to add, or with None to
    leave out.
    """

    title = "The Kafka broker"

    def __init__(
        self,
        directory: Path | str,
        jars: Path | str,
        *,
        engine: str = "standard",
        zookeeper: ZooKeeperServer | str | None = None,
        users: Mapping[str, str] | None = None,
        settings: Mapping[str, str | None] | None = None,
        heap_megabytes: int = 384,
    ) -> None:
        super().__init__(directory)
        if engine not in ("standard", "acl"):
            raise EmbeddedError(f"Engine {engine!r} is not one of a broker; use 'standard' or 'acl'.")
        if (engine == "acl") != (zookeeper is not None):
            raise EmbeddedError("A broker with engine 'acl' needs a ZooKeeper, and 'standard' takes none.")
        self.jars = Path(jars)
        self.engine = engine
        self.zookeeper = zookeeper
        self.users = dict(users or {"admin": "admin-secret"})
        self.settings = dict(settings or {})
        self.heap_megabytes = heap_megabytes
        self._sasl_port = self._plain_port = 0
        for word in (*self.users, *self.users.values()):
            if not re.fullmatch(r"[\w.@:+-]+", word, re.ASCII):
                raise EmbeddedError(
                    "User names and passwords of an embedded broker are letters, digits and . @ : + - _ only."
                )
        if "admin" not in self.users:
            raise EmbeddedError("An embedded broker needs a user named admin, who is its super user.")

    @property
    def bootstrap(self) -> str:
        """The address that asks for SASL/PLAIN."""
        return f"127.0.0.1:{self._sasl_port}"

    @property
    def plaintext(self) -> str:
        """The address where everybody is User:ANONYMOUS."""
        return f"127.0.0.1:{self._plain_port}"

    @property
    def class_path(self) -> str:
        return f"{self.jars}{os.sep}*"

    @property
    def authorizer_log(self) -> Path:
        return self.directory / "logs" / "kafka-authorizer.log"

    def connection(self, user: str = "admin", *, timeout_seconds: float = 30.0) -> Connection:
        """Return how aclweb's own client logs in as this user."""
        options = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": self.users[user],
        }
        return Connection(ADMIN_API, self.bootstrap, options, timeout_seconds)

    def start(self) -> None:
        for folder in ("data", "logs"):
            (self.directory / folder).mkdir(parents=True, exist_ok=True)
        self._end_leftover()
        controller, self._sasl_port, self._plain_port = self._ports(3)
        kraft = self.engine == "standard"
        if kraft:
            self._format()
        properties = self._kraft_properties(controller) if kraft else self._zookeeper_properties()
        lines = properties | self._common_properties() | self.settings
        configuration = self.directory / "server.properties"
        write_private(
            configuration, "".join(f"{name}={value}\n" for name, value in lines.items() if value is not None)
        )
        self._spawn(
            [
                f"-Xmx{self.heap_megabytes}m",
                f"-Xms{min(self.heap_megabytes, 192)}m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.net.preferIPv4Stack=true",
                f"-Dkafka.logs.dir={self.directory / 'logs'}",
                self._logging(),
            ],
            "kafka.Kafka",
            configuration,
        )

    def wait_ready(self, timeout_seconds: float = 120.0) -> None:
        """Return when the broker answers admin about its ACLs, or says that it has no authorizer."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if not self.running:
                raise self._fail("ended while it started")
            # An open port is not enough: a broker opens it before it has caught up with its own ACLs.
            if _listens(self._sasl_port):
                try:
                    with connect(self.connection(timeout_seconds=5)) as client:
                        client.read_acls()
                    return
                except ClusterError as error:
                    if error.state is ClusterState.NO_AUTHORIZER:
                        return
                    if error.state is ClusterState.LOGIN_REFUSED:
                        raise
            time.sleep(0.1)
        raise self._fail(f"was not ready after {timeout_seconds:.0f} s")

    def _format(self) -> None:
        """Write what StorageTool would: a broker only starts on a directory that knows its cluster."""
        file = self.directory / "data" / "meta.properties"
        if not file.exists():
            file.write_text(f"version=1\ncluster.id={_random_id()}\nnode.id=1\ndirectory.id={_random_id()}\n")

    def _jaas(self) -> str:
        # The user of the broker's own connections is named twice: as who logs in and as who may.
        accepted = " ".join(f'user_{name}="{password}"' for name, password in self.users.items())
        return (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            f'username="admin" password="{self.users["admin"]}" {accepted};'
        )

    def _kraft_properties(self, controller: int) -> dict[str, str | None]:
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": (
                f"PLAINTEXT://127.0.0.1:{self._plain_port},SASL_PLAINTEXT://127.0.0.1:{self._sasl_port},"
                f"CONTROLLER://127.0.0.1:{controller}"
            ),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"
            ),
            "sasl.mechanism.controller.protocol": "PLAIN",
            # Without its own line the controller's listener would want every mechanism's login module.
            "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.controller.plain.sasl.jaas.config": self._jaas(),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "1",
        }

    def _zookeeper_properties(self) -> dict[str, str | None]:
        keeper = self.zookeeper
        address = f"{keeper.address}/kafka" if isinstance(keeper, ZooKeeperServer) else str(keeper)
        return {
            "broker.id": "1",
            "zookeeper.connect": address,
            "zookeeper.set.acl": "false",
            "zookeeper.connection.timeout.ms": "30000",
            "listeners": (
                f"PLAINTEXT://127.0.0.1:{self._plain_port},SASL_PLAINTEXT://127.0.0.1:{self._sasl_port}"
            ),
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        }

    def _common_properties(self) -> dict[str, str | None]:
        return {
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": self._jaas(),
            "log.dirs": f"{self.directory}/data",
            "super.users": "User:admin",
            "allow.everyone.if.no.acl.found": "false",
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            "num.network.threads": "2",
            "num.io.threads": "4",
            "background.threads": "2",
            "log.cleaner.threads": "1",
            "log.cleaner.dedupe.buffer.size": "2097152",
            "num.recovery.threads.per.data.dir": "1",
        }

    def _logging(self) -> str:
        """Write how the broker logs, the authorizer at DEBUG in its own file, and return the JVM's argument."""
        pattern = "[%d] %p %m (%c)%n"
        logs = self.directory / "logs"
        if self.engine == "standard":
            file = self.directory / "log4j2.yaml"
            file.write_text(
                "Configuration:\n"
                "  status: warn\n"
                "  Appenders:\n"
                "    RollingFile:\n"
                "      name: Server\n"
                f'      fileName: "{logs}/server.log"\n'
                f'      filePattern: "{logs}/server.log.%i"\n'
                f'      PatternLayout: {{pattern: "{pattern}"}}\n'
                '      Policies: {SizeBasedTriggeringPolicy: {size: "20 MB"}}\n'
                "      DefaultRolloverStrategy: {max: 2}\n"
                "    File:\n"
                "      name: Authorizer\n"
                f'      fileName: "{self.authorizer_log}"\n'
                f'      PatternLayout: {{pattern: "{pattern}"}}\n'
                "  Loggers:\n"
                "    Root: {level: INFO, AppenderRef: [{ref: Server}]}\n"
                "    Logger:\n"
                "      - {name: kafka.authorizer.logger, level: DEBUG, additivity: false, "
                "AppenderRef: {ref: Authorizer}}\n"
            )
            return f"-Dlog4j2.configurationFile={file}"
        file = self.directory / "log4j.properties"
        file.write_text(
            "log4j.rootLogger=INFO, server\n"
            "log4j.appender.server=org.apache.log4j.RollingFileAppender\n"
            f"log4j.appender.server.File={logs}/server.log\n"
            "log4j.appender.server.MaxFileSize=20MB\n"
            "log4j.appender.server.MaxBackupIndex=2\n"
            "log4j.appender.server.layout=org.apache.log4j.PatternLayout\n"
            f"log4j.appender.server.layout.ConversionPattern={pattern}\n"
            "log4j.appender.authorizer=org.apache.log4j.FileAppender\n"
            f"log4j.appender.authorizer.File={self.authorizer_log}\n"
            "log4j.appender.authorizer.layout=org.apache.log4j.PatternLayout\n"
            f"log4j.appender.authorizer.layout.ConversionPattern={pattern}\n"
            "log4j.logger.kafka.authorizer.logger=DEBUG, authorizer\n"
            "log4j.additivity.kafka.authorizer.logger=false\n"
        )
        return f"-Dlog4j.configuration=file:{file}"


def _random_id() -> str:
    """Return a Kafka uuid: 22 characters of url-safe base64 that do not look like an option."""
    while True:
        drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        if not drawn.startswith("-"):
            return drawn


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
