"""One person asks for a change in a browser, another approves it, a worker writes it to a real cluster.

The site, its queue and its worker are the real ones of one machine; the clusters are a real
ZooKeeper and a real broker. The pages on the way are looked at by axe in both themes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker
from playwright.sync_api import expect

from aclweb.celery import app
from aclweb.clusters import Connection, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from devstack.servers import lay_out
from tests.browsing import axe_violations
from tests.builders import allow
from tests.servers import create_topic, produce, wipe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def worker() -> Iterator[None]:
    """A Celery worker on the file broker, as `./run` starts one, in a thread of this process."""
    any_app: Any = app  # the stubs know plain tasks only
    # Celery sets the level of the root logger, which the tests after this one share.
    level = logging.getLogger().level
    with start_worker(any_app, pool="solo", loglevel=level, perform_ping_check=False, shutdown_timeout=300):
        yield


@pytest.mark.every_run
@pytest.mark.zookeeper
def test_a_change_goes_from_a_wish_to_zookeeper_and_back(
    zookeeper_server, fresh, cluster, ada, ben, window, live_server, worker
):
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id=fresh, topics={"orders.eu": 3})
    reach(cluster, Connection(ZOOKEEPER, address), authorizer="acl", authorizer_declared="on")

    number = ask_for_read(window(ada), live_server.url, principal="User:cat", topic="orders.eu")
    page = approve(window(ben, theme="dark"), live_server.url, number)

    assert held(cluster) == {allow("User:cat", "READ", "orders.eu")}
    undo(page, window(ada), live_server.url)
    assert held(cluster) == set()


@pytest.mark.thorough(
    instead="tests/changes/test_real_servers.py::test_a_client_can_produce_after_the_change_and_not_before"
)
@pytest.mark.kafka
def test_a_client_that_was_refused_by_the_broker_is_let_in_by_the_change(
    kafka44, fresh, cluster, ada, ben, window, live_server, worker
):
    wipe(kafka44)
    topic = f"orders.{fresh}"
    create_topic(kafka44, topic)
    reach(cluster, kafka44.connection())
    assert produce(kafka44, "alice", topic) == "TopicAuthorizationFailedError"

    number = ask_for_read(
        window(ada), live_server.url, principal="User:alice", topic=topic, operation="WRITE"
    )
    approve(window(ben), live_server.url, number)

    assert held(cluster) == {allow("User:alice", "WRITE", topic)}
    assert produce(kafka44, "alice", topic) is None


def reach(cluster: Cluster, connection: Connection, **declared: str) -> None:
    """Make the row name this real cluster, and read it once."""
    Cluster.objects.filter(pk=cluster.pk).update(
        kind=connection.kind.name, address=connection.address, options=dict(connection.options), **declared
    )
    cluster.refresh_from_db()
    result = sync(cluster)
    assert result.read, result.sentence
    cluster.refresh_from_db()


def held(cluster: Cluster) -> set[object]:
    """Return what the cluster itself says it holds."""
    row = Cluster.objects.defer(None).get(pk=cluster.pk)
    with connect(Connection(row.source, row.address, dict(row.options))) as client:
        return set(client.read_acls().bindings)


def ask_for_read(page, site: str, *, principal: str, topic: str, operation: str = "READ") -> int:
    """Describe the wish in What if, look at its impact, and request it; return the number of the change."""
    page.goto(f"{site}/c/test-eu/what-if/")
    page.locator("label[data-permission=ALLOW]").click()
    page.get_by_label("Principal", exact=True).fill(principal)
    page.get_by_label("Operation", exact=True).select_option(operation)
    page.locator("label[data-pattern=LITERAL]").click()
    page.get_by_label("Name", exact=True).fill(topic)
    expect(page.locator("#matches")).to_contain_text("This topic exists.")
    page.get_by_role("button", name="Add to the draft").click()
    expect(page.locator("table.delta")).to_contain_text(principal)
    expect(page.locator("button.tile[value=loses] .tile-number")).to_have_text("0")
    assert axe_violations(page) == []
    page.get_by_label("Title", exact=True).fill(f"Let {principal} use {topic}")
    page.get_by_label("Why", exact=True).fill("It is theirs.")
    page.get_by_role("button", name="Request this change").click()
    expect(page.get_by_role("status")).to_contain_text("Waiting for review")
    assert page.get_by_role("button", name="Approve").count() == 0
    assert axe_violations(page) == []
    assert page.watch.complaints == []
    return int(page.url.rstrip("/").rpartition("-")[2])


def approve(page, site: str, number: int):
    """Find the change in the list, approve it, and watch the page follow it until it is in force."""
    page.goto(f"{site}/changes/")
    assert axe_violations(page) == []
    page.locator(f"a[href='/changes/CR-{number}/']").first.click()
    page.get_by_placeholder("Comment").fill("Fine.")
    page.get_by_role("button", name="Approve and run").click()
    expect(page.get_by_text("in force", exact=True).first).to_be_visible()
    expect(page.locator(".step-items")).to_contain_text("written")
    assert axe_violations(page) == []
    page.goto(f"{site}/events/")
    expect(page.locator("#events")).to_contain_text("approved it")
    assert axe_violations(page) == []
    assert page.watch.complaints == []
    page.goto(f"{site}/changes/CR-{number}/")
    return page


def undo(page, author, site: str) -> None:
    """Have the author draft the inverse and submit it, and the same approver let it run."""
    author.goto(page.url)
    author.get_by_role("button", name="Undo this change").click()
    author.get_by_role("button", name="Submit for review").click()
    expect(author.get_by_role("status")).to_contain_text("Waiting for review")
    approve(page, site, int(author.url.rstrip("/").rpartition("-")[2]))
