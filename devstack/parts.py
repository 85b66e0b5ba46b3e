"""Which parts make the whole product on one machine, in what order do they start, and what is made first?

ZooKeeper comes first, because the demo's ACLs are in it; while its JVM starts, the
database and the static files are brought up to date. Then the site, the workers and the beat
start side by side. The demo's Kafka broker needs jars that may have to be fetched, so it joins
in the background, and notices on the pages tell how far it is.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.db import connections

from aclweb.audit import heads
from aclweb.clusters import ClusterError
from aclweb.insights import tasks as insights_tasks
from aclweb.inventory.models import Cluster
from aclweb.operations import workers
from aclweb.operations.program import Program
from aclweb.operations.supervisor import Layer, Part, PartError, Stopping, Supervisor
from aclweb.runtime import datadir
from aclweb.runtime.java import JavaError
from aclweb.runtime.stale_process import identity
from aclweb.web.shell import notices
from devstack import demo_clusters
from devstack import first_start as firststart
from devstack.demo import edge_broker, edge_traffic, traffic
from devstack.jars import kafka_jars
from devstack.java import find_java, java_home
from devstack.server_part import ServerPart
from devstack.servers import KafkaBroker, ZooKeeperServer

FIRST_PORT = 8765
PORTS_TRIED = 100
EDGE_NOTICE = "edge-eu"
LOGS_NOTICE = "logs"
EDGE_INSIGHTS_AFTER_SECONDS = 120


class StartError(Exception):
    """Something that keeps the product from starting; the message says what would help."""


@dataclass(frozen=True, slots=True)
class Options:
    """lite: without Java and Spark. port: the site's, 0 for any free one, None for the usual one."""

    lite: bool = False
    port: int | None = None
    new_passwords: bool = False


@dataclass(slots=True)
class OneMachine:
    """All parts of the product on this machine, with their files in the data directory."""

    options: Options
    say: Callable[[str], None]
    data: Path = field(default_factory=lambda: Path(settings.ACLWEB_DATA_DIR))
    supervisor: Supervisor = field(init=False)

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(self.say)

    @property
    def demo(self) -> Path:
        return self.data / "demo"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def run(self) -> int:
        """Start everything, stay until somebody ends it or a part dies, stop everything; return the exit status."""
        claim = datadir.Claim(self.data)
        self.supervisor.listen_to_signals()
        self._log_to_a_file()
        try:
            self._start(claim)
            self.supervisor.watch()
        except Stopping:
            pass
        except (PartError, StartError, ClusterError, JavaError) as error:
            self.supervisor.say(str(error))
            return 1
        finally:
            self.supervisor.stop()
            claim.release()
        self.supervisor.say("Everything is stopped.")
        return 0

    def _log_to_a_file(self) -> None:
        """Leave the terminal to sentences for people: log records of this process go where the parts' logs are."""
        self.logs.mkdir(parents=True, exist_ok=True)
        root = logging.getLogger()
        formatter = root.handlers[0].formatter
        root.handlers = [logging.FileHandler(self.logs / "up.log", encoding="utf-8")]
        root.handlers[0].setFormatter(formatter)

    # --- Starting ---

    def _start(self, claim: datadir.Claim) -> None:
        # Before the port is chosen: what a killed `up` left running may still have it.
        for left in (self._site(0), *self._workers()):
            left.end_leftover()
        remembered = self.data / "run" / "port"
        port = choose_port(self.options.port, last=_number_in(remembered))
        remembered.parent.mkdir(exist_ok=True, mode=0o700)
        remembered.write_text(f"{port}\n", encoding="utf-8")
        self.supervisor.say(f"Starting aclweb {settings.ACLWEB_VERSION}; what it keeps is in {self.data}.")
        keeper = None if self.options.lite else self._start_zookeeper()
        self.supervisor.say("Bringing the database and the static files up to date.")
        call_command("migrate", verbosity=0, interactive=False)
        if warning := heads.problem():
            self.supervisor.say(warning)
        collect_static(Path(settings.STATIC_ROOT))
        logins = firststart.make_accounts(renew=self.options.new_passwords)
        self._plant(keeper)
        self._start_site_and_workers(port)
        address = f"http://127.0.0.1:{port}/"
        claim.say(f"process {os.getpid()} at {address}")
        self._tell(address, logins)
        if not self.options.lite:
            self.supervisor.in_background(self._write_logs, failed=self._logs_failed)
            self.supervisor.in_background(self._start_broker, failed=self._broker_failed)

    def _start_zookeeper(self) -> ZooKeeperServer:
        self.supervisor.say(f"Starting ZooKeeper with {find_java()}.")
        server = ZooKeeperServer(self.demo / "zookeeper")
        part = ServerPart("ZooKeeper of the demo", Layer.STORE, server, ready=lambda: _is_up(server))
        self._start_one_that_may_fail(part)
        return server

    def _plant(self, keeper: ZooKeeperServer | None) -> None:
        self.demo.mkdir(parents=True, exist_ok=True)
        notices.clear(EDGE_NOTICE)
        notices.clear(LOGS_NOTICE)
        if keeper is None:
            demo_clusters.plant_file(self.demo)
        else:
            self.supervisor.wait_ready()
            demo_clusters.plant_prod(keeper, self.demo)

    def _start_site_and_workers(self, port: int) -> None:
        self.supervisor.say("Starting the site and the workers.")
        # A worker that is given up costs changes and syncs, but no answers; without the site nothing is left.
        for worker in self._workers():
            self._start_one_that_may_fail(worker)
        self.supervisor.start(self._site(port), replaced=True)
        self.supervisor.wait_ready(timeout_seconds=120)

    def _start_one_that_may_fail(self, part: Part) -> None:
        """Start a part without which the rest goes on; every page tells when it is given up."""
        name = "part-" + part.name.replace(" ", "-")
        notices.clear(name)
        self.supervisor.start(part, replaced=True, needed=False, given_up=partial(notices.tell, name))

    @property
    def _environment(self) -> dict[str, str]:
        environment = {"ACLWEB_DATA_DIR": str(self.data), "DJANGO_SETTINGS_MODULE": "aclweb.settings"}
        # The demo's logs are two weeks long; with the default of 30 days they could claim nothing.
        environment["ACLWEB_UNUSED_DAYS"] = os.environ.get("ACLWEB_UNUSED_DAYS", str(traffic.DAYS))
        # Whoever tries aclweb on this machine has brokers on it too.
        environment["ACLWEB_CLUSTER_HOSTS"] = os.environ.get("ACLWEB_CLUSTER_HOSTS", "*,127.0.0.0/8,::1")
        if self.options.lite:
            return environment | {"ACLWEB_SPARK_MASTER": ""}
        return environment | {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}

    def _workers(self) -> list[Program]:
        hearing = workers.Hearing()
        return [
            workers.program(name, directory=self.logs, hearing=hearing, environment=self._environment)
            for name in workers.NAMES
        ]

    def _site(self, port: int) -> Program:
        marker = f"site-{identity(self.logs)}"
        site = _Answers(port)
        return Program(
            "site",
            Layer.SITE,
            [
                *(sys.executable, "-m", "gunicorn", "aclweb.wsgi", "--bind", f"127.0.0.1:{port}"),
                *("--worker-class", "aclweb.site_worker.SiteWorker", "--workers", "1", "--threads", "8"),
                *("--limit-request-line", "8190"),
                # A process whose main thread gets no turn for a minute hangs: it is killed and replaced.
                # Half a minute, gunicorn's own, is not enough for a laptop that is busy with Spark.
                *("--timeout", "60", "--graceful-timeout", "5", "--log-level", "warning", "--name", marker),
            ],
            directory=self.logs,
            marker=marker,
            ready=lambda: site.say("/readyz"),  # what it knows of the workers is some seconds old
            alive=lambda: site.say("/healthz"),
            environment=self._environment,
        )

    def _tell(self, address: str, logins: tuple[firststart.Login, ...]) -> None:
        self.supervisor.say(f"aclweb is ready at {address}")
        for login in logins:
            self.supervisor.say(f"  sign in as {login.username}  password {login.password}  {login.may}")
        if logins:
            self.supervisor.say("These passwords are shown this once; ./run --passwords makes new ones.")
        else:
            names = ", ".join(person.username for person in firststart.CAST)
            self.supervisor.say(f"  sign in as {names}; ./run --passwords makes new passwords.")
        self.supervisor.say("Ctrl-C stops everything; the next ./run finds it as it was left.")

    # --- In the background ---

    def _write_logs(self) -> None:
        """Write the demo's logs at the first start, and have them read as long as nothing was learned from them."""
        try:
            if not demo_clusters.logs_of_prod(self.demo).exists():
                notices.tell(
                    LOGS_NOTICE, "The authorizer logs of prod-eu are being written; insights follow."
                )
                demo_clusters.write_prod_logs(self.demo)
            prod = Cluster.objects.get(slug=demo_clusters.PROD)
            if not prod.loads.filter(current=True).exists():
                insights_tasks.refresh.delay(prod.pk)
            notices.clear(LOGS_NOTICE)
        finally:
            connections.close_all()

    def _logs_failed(self, sentence: str) -> None:
        notices.tell(LOGS_NOTICE, f"The authorizer logs of prod-eu could not be written: {sentence}")

    def _start_broker(self) -> None:
        try:
            jars = kafka_jars(edge_broker.RELEASE) or self._fetch_jars(edge_broker.RELEASE)
            notices.tell(EDGE_NOTICE, "The demo's second cluster, the Kafka broker edge-eu, is starting.")
            broker = KafkaBroker(
                self.demo / demo_clusters.EDGE,
                jars,
                users=demo_clusters.broker_users(self.demo / f"{demo_clusters.EDGE}-users.json"),
            )
            part = ServerPart("Kafka broker of the demo", Layer.CLUSTER, broker, ready=lambda: _is_up(broker))
            self._start_one_that_may_fail(part)
            self.supervisor.wait_ready(part, timeout_seconds=180)
            demo_clusters.plant_edge(broker)
            notices.clear(EDGE_NOTICE)
            self.supervisor.say(
                f"The demo's second cluster, the Kafka broker edge-eu, is ready at {broker.bootstrap}."
            )
            self._use_broker(broker)
        finally:
            connections.close_all()

    def _use_broker(self, broker: KafkaBroker) -> None:
        """Let the demo's clients work on the broker once, so that its real log tells of real people."""
        edge = Cluster.objects.get(slug=demo_clusters.EDGE)
        if edge.loads.filter(current=True).exists():
            return
        edge_traffic.drive(bootstrap=broker.bootstrap, passwords=broker.users)
        # After the first reading of prod-eu's logs: two runs of Spark at once are too much for a laptop.
        insights_tasks.refresh.apply_async((edge.pk,), countdown=EDGE_INSIGHTS_AFTER_SECONDS)

    def _fetch_jars(self, version: str) -> Path:
        """Fetch the broker's jars in a process of its own, which can be ended at any time."""
        fetching = Program(
            "fetching of Kafka",
            Layer.CLUSTER,
            [sys.executable, "-m", "devstack.jars", version],
            directory=self.logs,
            marker="devstack.jars",
        )
        fetching.start()
        try:
            while fetching.ended() is None:
                notices.tell(
                    EDGE_NOTICE,
                    f"The demo's second cluster, edge-eu, is a real Kafka {version} that is being fetched. "
                    f"{fetching.last_words()}",
                )
                if self.supervisor.pause(1.0):
                    raise Stopping
        finally:
            fetching.stop(5.0)
        jars = kafka_jars(version)
        if jars is None:
            raise StartError(fetching.last_words() or f"The jars of Kafka {version} could not be fetched.")
        return jars

    def _broker_failed(self, sentence: str) -> None:
        message = f"The demo's second cluster, the Kafka broker edge-eu, is not there: {sentence}"
        notices.tell(EDGE_NOTICE, message)
        self.supervisor.say(message)


class _Answers:
    """Whether the site answers at one of its own addresses."""

    def __init__(self, port: int) -> None:
        self._site = f"http://127.0.0.1:{port}"

    def say(self, path: str) -> bool:
        """Return whether the answer is yes, which is status 200."""
        try:
            with urllib.request.urlopen(self._site + path, timeout=10) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (OSError, ValueError):
            return False


def choose_port(wanted: int | None, last: int | None = None) -> int:
    """Return the port for the site: the one wanted or any free one for 0.

    For None it is the one of the last start, else the first free one from 8765 on.
    """
    if wanted is None:
        tried = range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
        for port in (*(() if last is None else (last,)), *tried):
            if free := _free(port):
                return free
        raise StartError(f"No port from {tried.start} to {tried.stop - 1} is free; name one with --port.")
    if free := _free(wanted):
        return free
    raise StartError(f"Port {wanted} is taken or not allowed; name another with --port, or none to find one.")


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _free(port: int) -> int | None:
    """Return the port if the site could listen there (for 0, the port that the system gives)."""
    with socket.socket() as probe:
        # As gunicorn does: connections of an earlier site that linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return None
        return int(probe.getsockname()[1])


def collect_static(target: Path) -> bool:
    """Copy and compress the static files, if any differs from the last time; return whether it was done."""
    stamp = target.with_name(target.name + ".stamp")
    state = _state_of_static_files()
    if target.is_dir() and stamp.exists() and stamp.read_text() == state:
        return False
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(state)
    return True


def _state_of_static_files() -> str:
    digest = hashlib.sha256()
    for finder in finders.get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            facts = os.stat(storage.path(name))
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _is_up(server: ZooKeeperServer | KafkaBroker) -> bool:
    try:
        server.wait_ready(1.0)
    except ClusterError:
        return False
    return True
