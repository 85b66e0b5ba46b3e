"""How does one start a real ZooKeeper or a real Kafka broker on this machine?

For the demo and the tests: one small JVM each, on 127.0.0.1 only, with its files in a
directory of the caller's choice. Starting again on the same directory goes on with
the same data, and on the same ports unless somebody else has taken them. A server
runs in a process group of its own, so a Ctrl-C meant for the caller does not reach
it: whoever starts a server stops it, the broker before its ZooKeeper.

ZooKeeper comes out of PySpark's jars; a broker needs the jars that `jars.py` fetches.
"""

from __future__ import annotations

import abc
import base64
import contextlib
import importlib.util
import json
import logging
import os
import re
import socket
import stat
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

from aclweb.clusters import ClusterError, ClusterState, Connection, connect
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.runtime import stale_process as leftover
from aclweb.runtime.java import JavaError
from devstack.java import find_java

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


class EmbeddedError(ClusterError):
    """A server that could not be started or did not get ready; the sentence names its log."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, state=ClusterState.UNREACHABLE)


# --- what both servers have in common -------------------------------------------------


class _Server(abc.ABC):
    """One JVM with its directory: started, watched, stopped, and found again after a crash."""

    title = "server"

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory).absolute()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def console(self) -> Path:
        """What the JVM printed itself, which is where the reason of a failed start stands."""
        return self.directory / "console.log"

    def _spawn(self, arguments: list[str]) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("JAVA_TOOL_OPTIONS", "CLASSPATH")
        }
        try:
            java = find_java()
        except JavaError as error:
            raise EmbeddedError(str(error)) from error
        with self.console.open("wb") as console:
            self._process = subprocess.Popen(
                [str(java), *arguments],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env=environment,
                process_group=0,
            )
        (self.directory / "pid").write_text(f"{self._process.pid}\n")

    def stop(self, timeout_seconds: float = 20.0) -> None:
        """End the server and wait until it is gone; it is killed if it does not go by itself."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        (self.directory / "pid").unlink(missing_ok=True)

    def _end_leftover(self) -> None:
        """End the server of this directory that a killed caller left behind, and no other process."""
        leftover.end(self.directory / "pid", marker=str(self.directory))

    def _fail(self, what: str) -> EmbeddedError:
        tail = (
            self.console.read_text(errors="replace").strip().splitlines()[-3:]
            if self.console.exists()
            else []
        )
        last = f" Its last output:  {' | '.join(tail)}" if tail else ""
        return EmbeddedError(f"{self.title} in {self.directory} {what}; see {self.console}.{last}")

    @abc.abstractmethod
    def start(self) -> None:
        """Spawn the JVM and return at once."""

    @abc.abstractmethod
    def wait_ready(self, timeout_seconds: float = 120.0) -> None:
        """Return when the server does its work; raises EmbeddedError if it ends or takes too long."""

    def __enter__(self) -> Self:
        self.start()
        try:
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _ports(file: Path, wanted: int) -> list[int]:
    """Return free ports, those of the last start where they are still free, and remember them."""
    with contextlib.suppress(OSError, ValueError):
        remembered = [int(line) for line in file.read_text().split()]
        if len(remembered) == wanted and all(_is_free(port) for port in remembered):
            return remembered
    sockets = [socket.socket() for _ in range(wanted)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        drawn = [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
    file.write_text("\n".join(str(port) for port in drawn) + "\n")
    return drawn


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As Java's server sockets do: connections of the last run that still linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


# --- ZooKeeper ------------------------------------------------------------------------


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


class ZooKeeperServer(_Server):
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

    def start(self) -> None:
        (self.directory / "data").mkdir(parents=True, exist_ok=True)
        self._end_leftover()
        self.port = self._fixed_port or _ports(self.directory / "ports", 1)[0]
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
                "-cp",
                os.pathsep.join(str(jar) for jar in zookeeper_jars()),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                str(configuration),
            ]
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


# --- Kafka ----------------------------------------------------------------------------


class KafkaBroker(_Server):
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
        controller, self._sasl_port, self._plain_port = _ports(self.directory / "ports", 3)
        kraft = self.engine == "standard"
        if kraft:
            self._format()
        properties = self._kraft_properties(controller) if kraft else self._zookeeper_properties()
        lines = properties | self._common_properties() | self.settings
        configuration = self.directory / "server.properties"
        _write_private(
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
                "-cp",
                f"{self.jars}{os.sep}*",
                "kafka.Kafka",
                str(configuration),
            ]
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
