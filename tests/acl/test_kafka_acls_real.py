"""The real kafka-acls, run as people run it against real brokers, does what its plan says.

Each run is a process of its own. What it did is read back from the broker by another client.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from aclweb.acl.kafka.command_lines import commands
from aclweb.acl.kafka.shell_line import read_shell_line
from aclweb.acl.kafka.tool import Plan, plan
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.errors import Problems
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.listing import read_listing, write_listing
from aclweb.clusters.admin_api.client import AdminClient
from devstack.java import find_java
from devstack.servers import KafkaBroker
from tests.builders import allow, deny
from tests.servers import need_jars, wipe

TOOLS = {"4.3.1": "org.apache.kafka.tools.AclCommand", "3.9.2": "kafka.admin.AclCommand"}
RULES = {"4.3.1": AuthorizerSettings("standard", "4.3"), "3.9.2": AuthorizerSettings("acl", "3.9")}
PATIENCE_SECONDS = 120

ODD_GROUP = allow("User:CN=a, O=b", "READ", 'it\'s\n"x" $HOME', resource_type="GROUP")
# ZooKeeper has no nodes whose names hold a line break.
ODD_GROUPS = {"4.3.1": ODD_GROUP, "3.9.2": replace(ODD_GROUP, resource_name='it\'s "x" $HOME')}
ODD_ID = deny(
    "User:é☃", "WRITE", "-tx ", resource_type="TRANSACTIONAL_ID", pattern="PREFIXED", host="10.0.0.7"
)


class RealTool:
    """kafka-acls of one version at one broker, with what the broker should hold by our plans."""

    def __init__(self, version: str, broker: KafkaBroker, folder: Path) -> None:
        self.version = version
        self.broker = broker
        self.expected: set[AclBinding] = set()
        self._classes = folder / "classes.jsa"
        self.connection = ["--bootstrap-server", broker.bootstrap, "--command-config", str(folder / "client")]
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        (folder / "client").write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={login} username="admin" password="{broker.users["admin"]}";\n'
        )
        jars = need_jars(version)
        self._java = [str(find_java()), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"]
        self._java += [
            "-Dfile.encoding=UTF-8",
            "-Dsun.jnu.encoding=UTF-8",
            "-cp",
            f"{jars}{os.sep}*",
            TOOLS[version],
        ]

    def run(self, *words: str, connection: list[str] | None = None) -> str:
        """Run the tool, require that it did what the plan says, and return what it printed."""
        arguments = [*(self.connection if connection is None else connection), *words]
        planned = plan(arguments, RULES[self.version])
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [self._java[0], *self._class_options(), *self._java[1:], *arguments],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=600,
        )
        assert done.returncode == (1 if planned.error else 0), done.stdout + done.stderr
        if planned.error:
            assert planned.error.strip() in done.stdout + done.stderr
        self._apply(planned)
        assert self._read_back() == self.expected
        if planned.action == "list" and not planned.error:
            self._require_listed(planned, done.stdout)
        return done.stdout

    def _class_options(self) -> list[str]:
        """The first run leaves an archive of its classes when it ends, and the others read none anew."""
        use = "SharedArchiveFile" if self._classes.exists() else "ArchiveClassesAtExit"
        # What the JVM says about it, it would say among what the tool prints.
        return ["-Xlog:disable", "-Xlog:all=error:stderr", f"-XX:{use}={self._classes}"]

    def _apply(self, planned: Plan) -> None:
        self.expected |= set(planned.acls)
        if planned.action == "remove":
            gone = {acl for acl in self.expected for asked in planned.filters if asked.matches(acl)}
            self.expected -= gone

    def _read_back(self) -> set[AclBinding]:
        """Return what the broker holds, waiting a little for it to know what was written."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with AdminClient(self.broker.connection()) as client:
            while True:
                held = set(client.read_acls().bindings)
                if held == self.expected or time.monotonic() > deadline:
                    return held
                time.sleep(0.05)

    def _require_listed(self, planned: Plan, text: str) -> None:
        found = read(text)
        assert set(found) == {
            acl for acl in self.expected if any(asked.matches(acl) for asked in planned.filters)
        }
        if all(asked.principal is None for asked in planned.filters):
            assert write_listing(found, scala=self.version == "3.9.2") == text


def read(text: str) -> list[AclBinding]:
    problems = Problems("listing")
    found = [binding for _line, binding in read_listing(text, problems)]
    problems.raise_if_any()
    return found


def words_of(lines: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Return the arguments in our own commands, without the address in front."""
    for line in lines:
        yield read_shell_line(line, {"kafka-acls"}).words[2:]


def a_story(tool: RealTool) -> None:
    """Nine runs: what adding, listing and removing do, with the sharp edges."""
    odd = ODD_GROUPS[tool.version]
    tool.run(
        "--add", "--allow-principal", "User:alice", "--producer", "--idempotent", "--topic", "orders", "stray"
    )
    tool.run(
        *("--add", "--allow-principal", "User:bob", "--consumer", "--topic=ord", "--group", "g"),
        *("-resource-pattern-type", "Prefixed"),
    )
    for words in words_of(commands([odd, ODD_ID], bootstrap="b", settings=RULES[tool.version])):
        tool.run(*words)
    tool.run("--list")
    tool.run("--list", "--topic", "orders", "--resource-pattern-type", "match", "--principal", "User:bob")
    # Only the entry "ALL from *" is meant, and there is none.
    tool.run("--remove", "--force", "--allow-principal", "User:alice", "--topic", "orders")
    (words,) = words_of(commands([odd], op="remove", bootstrap="b", settings=RULES[tool.version]))
    tool.run(*words)
    # All goes, whatever the operation.
    tool.run("--remove", "--force", "--topic", "orders", "--operation", "Read")

    assert allow("User:alice", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER") in tool.expected
    assert ODD_ID in tool.expected
    assert odd not in tool.expected
    assert not any(acl.resource_name == "orders" for acl in tool.expected)


@pytest.mark.turns(
    3, 2, instead="tests/acl/test_kafka_acls.py::test_every_recorded_answer_of_the_real_tool_is_ours"
)
def test_the_tool_in_java_does_with_a_kraft_broker_what_its_plan_says(kafka44, tmp_path):
    tool = RealTool("4.3.1", kafka44, tmp_path)
    wipe(kafka44)

    a_story(tool)
    tool.run("--add", "--topic", "orders", "--allow-principal", "bob")

    wipe(kafka44)


@pytest.mark.thorough(
    instead="tests/acl/test_kafka_acls.py::test_every_recorded_answer_of_the_real_tool_is_ours"
)
def test_the_tool_in_scala_does_with_a_zookeeper_broker_what_its_plan_says(kafka39, tmp_path):
    tool = RealTool("3.9.2", kafka39, tmp_path)
    wipe(kafka39)

    a_story(tool)
    direct = ["--authorizer-properties", f"zookeeper.connect={kafka39.zookeeper}"]
    tool.run("--add", "--deny-principal", "User:eve", "--cluster", connection=direct)
    tool.run("--list", connection=direct)

    wipe(kafka39)
