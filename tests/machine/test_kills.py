"""Whatever process is killed or frozen, the next change is in force within a minute, without a person.

One pass of a few cases is quick. All of them, on all three brokers, so many times:

    ACLWEB_TEST_SCALE=full ACLWEB_KILL_PASSES=20 python -m pytest tests/machine/test_kills.py
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from aclweb.operations.supervisor import SETTLED_SECONDS
from aclweb.runtime import stale_process as leftover
from devstack.servers import ZooKeeperServer, lay_out
from tests.servers import need_java
from tests.servers_data import free_port

ROOT = Path(__file__).resolve().parents[2]

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
PASSES = int(os.environ.get("ACLWEB_KILL_PASSES", "1"))

# The promise is a minute. Without the full counts tests share their machine, and what does not heal never does.
IN_FORCE_SECONDS, UNREADY_SECONDS = (60, 30) if FULL else (300, 150)
# Every question costs the site, or a database, some of the time that it is given.
POLL_SECONDS = 0.6

PARTS = (
    "worker-for-changes",
    "worker-for-syncs",
    "worker-for-searches",
    "beat",
    "site",
    "site's process",
    "up",
)
SIGNALS = (signal.SIGKILL, signal.SIGSTOP)
MOMENTS = ("idle", "syncing", "applying")
ALL = [(part, number, moment) for part in PARTS for number in SIGNALS for moment in MOMENTS]
# Several parts are killed at once.
TOGETHER = "worker-for-syncs, beat, site"
FEW = {
    "files": [
        ("worker-for-changes", signal.SIGKILL, "applying"),
        ("worker-for-changes", signal.SIGSTOP, "idle"),
        (TOGETHER, signal.SIGKILL, "syncing"),
        ("up", signal.SIGKILL, "applying"),
    ],
    "redis": [("worker-for-changes", signal.SIGKILL, "idle")],
    "rabbitmq": [("worker-for-changes", signal.SIGSTOP, "applying")],
}


class Gate:
    """A way to a server on which nothing passes while it is shut: what a cluster that hangs looks like."""

    def __init__(self, port):
        self._server = port
        self._open = threading.Event()
        self._open.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self):
        self._open.clear()

    def open(self):
        self._open.set()

    def close(self):
        self.open()
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", self._server))
                for source, target in ((here, there), (there, here)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Installation:
    """`manage.py up` on this machine, and somebody who works with it."""

    def __init__(self, directory, broker):
        self.data = directory / "data"
        # As if it had run there before: installations that look for their first port at once may find the same.
        (self.data / "run").mkdir(parents=True, mode=0o700)
        (self.data / "run" / "port").write_text(f"{free_port()}\n")
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ACLWEB_", "PYTEST_")) and name != "DATABASE_URL"
        } | {"ACLWEB_DATA_DIR": str(self.data), "DJANGO_SETTINGS_MODULE": "aclweb.settings"}
        if broker:
            self._environment["CELERY_BROKER_URL"] = broker
        if not FULL:
            self._environment |= {"ACLWEB_LEASE_SECONDS": "9", "ACLWEB_SWEEP_SECONDS": "2"}
        self.up = self._person = None
        self.address = ""

    def start(self):
        self.up = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--lite"],
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        for line in self.up.stdout:
            said.append(line)
            if found := re.search(r"ready at (http://\S+)/", line):
                self.address = found[1]
            if line.startswith("Ctrl-C"):
                threading.Thread(target=self.up.stdout.read, daemon=True).start()
                return
        raise AssertionError("".join(said))

    def stop(self):
        if self._person is not None:
            self._person.stdin.close()
            self._person.wait(120)
        self.up.send_signal(signal.SIGCONT)
        self.up.terminate()
        self.up.wait(120)
        self.up.stdout.close()

    def ask(self, *asked):
        """Have the person do something and return the answer."""
        if self._person is None:
            self._person = subprocess.Popen(
                [sys.executable, "-m", "tests.machine.person"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        print(json.dumps(asked), file=self._person.stdin, flush=True)
        return json.loads(self._person.stdout.readline())

    def readiness(self):
        """The status of /readyz, or None where nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def pid(self, part):
        if part == "up":
            return self.up.pid
        name, _, child = part.partition("'")
        try:
            pid = int((self.data / "logs" / f"{name}.pid").read_text())
            return leftover.descendants(pid)[0] if child else pid
        except (OSError, ValueError, IndexError):
            return None  # it is being replaced

    def is_whole(self):
        return self.readiness() == 200


def wait_until(claim, what, seconds=300):
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(POLL_SECONDS)


@pytest.fixture(scope="module")
def keeper(tmp_path_factory):
    """A ZooKeeper for this file alone: its cases wait most of the time, beside those that compute."""
    need_java()
    with ZooKeeperServer(tmp_path_factory.mktemp("keeper")) as server:
        yield server


@pytest.fixture(scope="module")
def gate(keeper):
    gate = Gate(keeper.port)
    yield gate
    gate.close()


def running(gate, keeper, tables, directory, broker):
    chroot = f"kills-{uuid.uuid4().hex[:8]}"
    lay_out(f"{keeper.address}/{chroot}", topics={"orders": 1}, cluster_id=uuid.uuid4().hex[:22])
    installation = Installation(directory, broker)
    shutil.copy(tables, installation.data / "aclweb.sqlite3")
    installation.start()
    try:
        installation.ask("add", f"127.0.0.1:{gate.port}/{chroot}")
        wait_until(lambda: installation.ask("is_read"), "the first sync")
        yield installation
    finally:
        gate.open()
        installation.stop()


@pytest.fixture(scope="module")
def on_files(gate, keeper, tables, tmp_path_factory):
    yield from running(gate, keeper, tables, tmp_path_factory.mktemp("files"), "")


@pytest.fixture(scope="module")
def on_redis(gate, keeper, tables, redis_server, tmp_path_factory):
    yield from running(gate, keeper, tables, tmp_path_factory.mktemp("redis"), redis_server)


@pytest.fixture(scope="module")
def on_rabbitmq(gate, keeper, tables, rabbitmq_server, tmp_path_factory):
    yield from running(gate, keeper, tables, tmp_path_factory.mktemp("rabbitmq"), rabbitmq_server)


def cases(broker):
    some = ALL if FULL else FEW[broker]
    return [
        pytest.param(*case, id=f"{case[0]}-{case[1].name}-{case[2]}-{number}")
        for number in range(PASSES)
        for case in some
    ]


def seconds_since_the_start_of(pid):
    return time.time() - Path(f"/proc/{pid}").stat().st_ctime


def survives(installation, gate, part, number, moment):
    """Kill or freeze this part, or several, at this moment, and have the next change in force in time."""
    wait_until(installation.is_whole, "everything works before", 300)
    parts = part.split(", ")
    wait_until(lambda: all(installation.pid(each) is not None for each in parts), f"the {part}")
    if FULL:
        # What ends six times, each within seconds of its start, is given up; passes follow one another faster.
        pid = installation.pid(part)
        wait_until(lambda: seconds_since_the_start_of(pid) > SETTLED_SECONDS, f"a settled {part}", 60)
    before = []
    if moment != "idle":
        gate.shut()
        if moment == "syncing":
            installation.ask("sync")
            wait_until(lambda: installation.ask("is_being_synced"), "a sync that hangs")
        else:
            before.append(installation.ask("approve", f"before-{uuid.uuid4().hex[:8]}"))
            wait_until(lambda: installation.ask("is_being_applied", before[0]), "a rollout that hangs")

    pids = {each: installation.pid(each) for each in parts}
    for pid in pids.values():
        os.kill(pid, number)
    begun = time.monotonic()
    gate.open()
    following = installation.ask("approve", f"next-{uuid.uuid4().hex[:8]}")

    told_at = None
    while installation.ask("state", following) != "APPLIED":
        spent = time.monotonic() - begun
        if told_at is None and installation.readiness() == 503:
            told_at = spent
        late = spent > IN_FORCE_SECONDS and (told_at is None or told_at > UNREADY_SECONDS)
        assert not late, f"the next change is {installation.ask('state', following)} after {spent:.0f} s"
        assert spent < 3 * IN_FORCE_SECONDS
        time.sleep(POLL_SECONDS)
    for pk in before:
        wait_until(
            lambda pk=pk: installation.ask("state", pk) == "APPLIED", "the change before", IN_FORCE_SECONDS
        )

    if part == "up":
        if number == signal.SIGSTOP:
            installation.up.send_signal(signal.SIGCONT)
            return
        address = installation.address
        installation.up.wait(120)
        installation.start()
        assert installation.address == address, "the same command gets the same address"
    elif part != "site's process" or number == signal.SIGKILL:
        for each, pid in pids.items():
            wait_until(
                lambda each=each, pid=pid: installation.pid(each) not in (None, pid),
                f"another {each}",
                IN_FORCE_SECONDS,
            )
    wait_until(installation.is_whole, "everything works again", 300)


@pytest.mark.zookeeper
@pytest.mark.own_server
@pytest.mark.parametrize(("part", "number", "moment"), cases("files"))
def test_changes_go_on_with_the_queue_in_files(on_files, gate, part, number, moment):
    survives(on_files, gate, part, number, moment)


@pytest.mark.thorough(instead="tests/machine/test_kills.py::test_changes_go_on_with_the_queue_in_files")
@pytest.mark.zookeeper
@pytest.mark.redis
@pytest.mark.parametrize(("part", "number", "moment"), cases("redis"))
def test_changes_go_on_with_redis(on_redis, gate, part, number, moment):
    survives(on_redis, gate, part, number, moment)


@pytest.mark.thorough(instead="tests/machine/test_kills.py::test_changes_go_on_with_the_queue_in_files")
@pytest.mark.zookeeper
@pytest.mark.rabbitmq
@pytest.mark.parametrize(("part", "number", "moment"), cases("rabbitmq"))
def test_changes_go_on_with_rabbitmq(on_rabbitmq, gate, part, number, moment):
    survives(on_rabbitmq, gate, part, number, moment)
