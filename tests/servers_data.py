"""A real PostgreSQL, Redis and RabbitMQ for tests, on free ports, in directories of their own.

A server whose program is missing is a loud skip, and an error with CI=true. TEST_DATABASE_URL,
TEST_REDIS_URL and TEST_AMQP_URL name servers that run already.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from devstack.servers.ports import HeldPort, hold_port
from tests import forkserver
from tests.servers import missing

PATIENCE_SECONDS = 180


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of an empty database, such as postgres://aclweb@127.0.0.1:5433/aclweb."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
    elif _postgres_binaries() is None:
        missing("PostgreSQL is not installed; ./test installs it when run as root.")
    else:
        with running_postgres() as address:
            yield address


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """Run a PostgreSQL of its own; yields the address of an empty database."""
    binaries = _postgres_binaries()
    if binaries is None:
        raise SystemExit("PostgreSQL is not installed.")
    # PostgreSQL refuses to run as root, so root lends it another user.
    user = _unprivileged_user() if os.getuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="aclweb-postgres-"))
    if user is not None:
        os.chown(directory, user.pw_uid, user.pw_gid)
    as_user: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    data, port = directory / "data", free_port()
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "aclweb", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd=directory,
        **as_user,
    )
    settings = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", f"unix_socket_directories={directory}"]
    with (directory / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [
                binaries / "postgres",
                "-D",
                data,
                "-p",
                str(port),
                "-c",
                "listen_addresses=127.0.0.1",
                *settings,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=directory,
            process_group=0,
            **as_user,
        )
    try:
        ready: list[str | Path] = [binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-q"]
        _wait(server, lambda: subprocess.run(ready).returncode == 0, directory / "server.log")
        create: list[str | Path] = [
            binaries / "createdb",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            "aclweb",
            "aclweb",
        ]
        subprocess.run(create, check=True, capture_output=True)
        yield f"postgres://aclweb@127.0.0.1:{port}/aclweb"
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: str) -> str:
    """The name of a database on the server with every table and no row, which is only ever copied."""
    made = copy_of("template1", postgres_server, "aclweb_tables")
    environment = {**os.environ, "DATABASE_URL": made, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    migrated = forkserver.run(["manage.py", "migrate", "--verbosity", "0"], environment)
    assert migrated.returncode == 0, migrated.stderr
    return "aclweb_tables"


def copy_of(database: str, server: str, name: str) -> str:
    """Copy a database of the server under this name, which it takes from another one; return the copy's address."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        copying = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(copying.format(sql.Identifier(name), sql.Identifier(database)))
    return f"{server.rpartition('/')[0]}/{name}"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The address of an empty Redis, such as redis://127.0.0.1:6390/0."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given
        return
    program = shutil.which("redis-server")
    if program is None:
        missing("Redis is not installed; ./test installs it when run as root.")
        return
    directory = Path(tempfile.mkdtemp(prefix="aclweb-redis-"))
    port = free_port()
    with (directory / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            process_group=0,
        )
    try:
        _wait(server, lambda: _pongs(port), directory / "server.log")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)
        shutil.rmtree(directory, ignore_errors=True)


# Debian's own start script runs the server as a user and in folders of the system; this is the server itself.
_RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


@pytest.fixture(scope="session")
def rabbitmq_server() -> Iterator[str]:
    """The address of an empty RabbitMQ, such as amqp://guest:guest@127.0.0.1:5673//."""
    if given := os.environ.get("TEST_AMQP_URL"):
        yield given
        return
    found = shutil.which("rabbitmq-server")
    program = str(_RABBITMQ) if _RABBITMQ.exists() else found
    if program is None:
        missing("RabbitMQ is not installed; ./test installs it when run as root.")
        return
    directory = Path(tempfile.mkdtemp(prefix="aclweb-rabbitmq-"))
    port, names = free_port(), free_port()
    environment = dict(os.environ) | {
        "HOME": str(directory),
        "RABBITMQ_NODENAME": f"aclweb{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(directory / "data"),
        "RABBITMQ_LOG_BASE": str(directory / "log"),
        "RABBITMQ_PID_FILE": str(directory / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(directory / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(directory / "none"),
        # One scheduler that sleeps when it has nothing to do: RabbitMQ's own many wait by spinning.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +SDcpu 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    with (directory / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [program], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, process_group=0
        )
    try:
        _wait(server, lambda: "Starting broker... completed" in _text(directory), directory / "server.log")
        yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(PATIENCE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        # The name service of Erlang goes into the background.
        if epmd := shutil.which("epmd"):
            subprocess.run([epmd, "-port", str(names), "-kill"], env=environment, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)


def _text(directory: Path) -> str:
    return (directory / "server.log").read_text(errors="replace")


_held: list[HeldPort] = []


def free_port() -> int:
    """Return a port on which nothing listens, and which only who was given it gets while this process runs."""
    _held.append(hold_port())
    return _held[-1].number


def _postgres_binaries() -> Path | None:
    """Return the folder with initdb and postgres: Debian keeps them off the path."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return versions[-1].parent if versions else None


def _unprivileged_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    pytest.fail("PostgreSQL does not run as root, and there is no user named postgres or nobody to lend it.")


def _pongs(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
    except OSError:
        return False


def _wait(server: subprocess.Popen[bytes], ready, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ready():
        if server.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"A server for the tests did not start:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)
