"""Of three brokers one hangs or is gone: every read succeeds all the same, in time; only its groups are not known."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.clusters import Connection, Known
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.admin_api.client import AdminClient
from devstack.servers import KafkaBroker
from tests.servers import USERS, need_jars, need_java, stopped
from tests.servers_data import free_port

pytestmark = [pytest.mark.kafka, pytest.mark.own_server]

READS = 20 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 4
# The promise is 5 s. Who waits for a broker that hangs waits to the end: even a busy machine tells them apart.
TIMEOUT_SECONDS, PATIENCE_SECONDS = 240, 120


class OneOfThree(KafkaBroker):
    """A broker of a cluster of three, of which the first is the controller too."""

    def __init__(self, directory: Path, jars: Path, number: int, controller: int) -> None:
        super().__init__(directory, jars, users=USERS, heap_megabytes=256)
        self.number, self.controller = number, controller

    def _format(self) -> None:
        (self.directory / "data" / "meta.properties").write_text(
            f"version=1\ncluster.id=Lm1dCTmsT-KVkAhYnz2RYg\nnode.id={self.number}\n"
            f"directory.id=AAAAAAAAAAAAAAAAAAAA{self.number}w\n"
        )

    def _kraft_properties(self, controller: int) -> dict[str, str | None]:
        lines = super()._kraft_properties(self.controller)
        lines["node.id"] = str(self.number)
        lines["controller.quorum.voters"] = f"1@127.0.0.1:{self.controller}"
        # A broker that hangs stays in the cluster while the test lasts, as it does for its first seconds.
        lines["broker.session.timeout.ms"] = "600000"
        if self.number != 1:
            lines["process.roles"] = "broker"
            lines["listeners"] = str(lines["listeners"]).rpartition(",")[0]
        return lines


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Iterator[list[OneOfThree]]:
    need_java()
    jars = need_jars("4.4.0")
    controller = free_port()
    folder = tmp_path_factory.mktemp("three")
    brokers = [OneOfThree(folder / str(number), jars, number, controller) for number in (1, 2, 3)]
    with ExitStack() as stack:
        for broker in brokers:
            stack.callback(broker.stop)
            broker.start()
        for broker in brokers:
            broker.wait_ready()
        yield brokers


def read_all_but_the_third(three: list[OneOfThree]) -> None:
    # The one that does not answer is named first, so that whoever goes by the order meets it.
    address = ",".join(broker.bootstrap for broker in reversed(three))
    connection = Connection(ADMIN_API, address, three[0].connection().options, TIMEOUT_SECONDS)
    took = []
    for _ in range(READS):
        began = time.monotonic()
        with AdminClient(connection) as client:
            facts = client.describe()
            acls = client.read_acls()
            client.read_topics()
            groups = client.read_groups()
            known = client.names_known(acls, AuthorizerSettings())
            told = client.read_details(AuthorizerSettings())
        took.append(time.monotonic() - began)

    print("seconds a reading:", ", ".join(f"{seconds:.1f}" for seconds in took))
    assert len(facts.brokers) == 3
    assert facts.silent == (three[2].bootstrap,)
    assert groups == ()
    assert (known.topics, known.groups) == (Known.ALL, Known.VISIBLE)
    assert not told.groups_of_all
    assert facts.settings is not None
    assert 3 not in facts.settings.brokers
    assert max(took) < PATIENCE_SECONDS


@pytest.mark.turns(
    3,
    1,
    instead="tests/clusters/test_adminclient.py::test_a_broker_that_falls_silent_leaves_the_outcome_unknown_and_raises_nothing",
)
def test_every_reading_succeeds_while_one_of_three_brokers_hangs(three):
    with stopped(three[2].pid):
        read_all_but_the_third(three)


@pytest.mark.thorough(
    instead="tests/clusters/test_adminclient.py::test_a_broker_that_falls_silent_leaves_the_outcome_unknown_and_raises_nothing"
)
def test_a_broker_that_stops_in_the_middle_is_left_for_another_one(three):
    address = ",".join(broker.bootstrap for broker in three)
    connection = Connection(ADMIN_API, address, three[0].connection().options, TIMEOUT_SECONDS)
    with AdminClient(connection) as client:
        client.describe()
        number = client._session.nodes[0].number
        if number == 1:  # without its controller a cluster of three with one controller does not go on
            client._session.nodes = client._session.nodes[1:] + client._session.nodes[:1]
            number = client._session.nodes[0].number
            client.read_topics()
        hung = three[number - 1]
        with stopped(hung.pid):
            began = time.monotonic()
            client.read_acls()
            assert time.monotonic() - began < PATIENCE_SECONDS
            assert client._session.nodes[0].number != number


# The last one here: the broker does not come back.
@pytest.mark.turns(
    3,
    1,
    instead="tests/clusters/test_adminclient.py::test_a_broker_that_falls_silent_leaves_the_outcome_unknown_and_raises_nothing",
)
def test_every_reading_succeeds_while_one_of_three_brokers_refuses_connections(three):
    os.kill(three[2].pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while three[2].running:
        assert time.monotonic() < deadline
        time.sleep(0.05)

    read_all_but_the_third(three)
