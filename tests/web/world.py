"""One site with every state that a page can show: clusters read and unread, logs, findings, changes in each state.

    test-eu     read twice, declared, with a log that holds denials; ada's changes in every state
    never       never read
    gone        read, and then nobody answered
    held        a reading that lost too much waits for a person
    open        allows everyone where no ACL exists
    zookeeper   ZooKeeper mode, groups unknown, nothing declared, no log
    file        a snapshot file
    empty       read, with no ACL; findings that failed
    waiting     read; its findings are still being worked out

Everybody of the cast has the same role on each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aclweb.accounts.models import Grant, User
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.insights.load import load
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster, LintRun
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster, unreachable
from tests.insights.results import request, use, write_result
from tests.inventory.answering_cluster import Answers

IMPLIED = allow("User:bob", "READ", "orders.eu")
BINDINGS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    IMPLIED,
    allow("User:bob", "WRITE", "orders.eu", host="10.0.0.9"),
    allow("User:bob", "READ", "bobs", resource_type="GROUP"),
    allow("User:CN=fraud,OU=risk", "READ", "orders.eu"),
    allow("User:indexer", "READ", "stock", host="search-01.example"),
    allow("User:cat", "READ", "*"),
    allow("User:*", "DESCRIBE", "*"),
    allow("User:gone", "READ", "no-such-topic"),
    deny("User:eve", "ALL", "orders.", pattern="PREFIXED"),
    deny("User:*", "DELETE", "stock"),
    allow("User:dan", "WRITE", "orders.eu"),
    deny("User:dan", "ALL", "orders.", pattern="PREFIXED"),
    allow("User:tx", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID"),
    allow("User:ops", "ALTER", "kafka-cluster", resource_type="CLUSTER"),
    *(allow("User:gus", "READ", f"parts.{name}") for name in ("eu", "us", "asia")),
    *(allow("User:hal", "WRITE", "stock", host=f"10.0.0.{last}") for last in (6, 7)),
    *(allow(f"User:app-{number:02}", "READ", "stock") for number in range(16)),
]
TOPICS = ("orders.eu", "orders.us", "stock", "parts.eu", "parts.us", "parts.asia", "__consumer_offsets")
GROUPS = ("bobs", "cats")
LATER = allow("User:late", "READ", "stock")
REQUESTS = [
    request("User:bob", "READ", "payments"),
    request("User:bob", "WRITE", "orders.eu"),
    request("User:bob", "WRITE", "orders.eu", host="10.0.0.9", allowed=True, decided_now="ALLOWED"),
    request("User:eve", "READ", "orders.eu"),
    request("User:CN=fraud, OU=risk", "READ", "orders.eu"),
    request("User:indexer", "READ", "stock"),
    request("User:bob", "READ", "orders.eu", allowed=True, decided_now="ALLOWED"),
    request("User:new", "DESCRIBE", "stock", api_names=["Metadata"]),
]


@dataclass(frozen=True)
class World:
    """The clusters by slug, and a change in each state by its name."""

    clusters: dict[str, Cluster]
    changes: dict[str, Change]


def build(cluster: Cluster, people: Iterable[User], folder: Path) -> World:
    """Bring `cluster` (test-eu) and eight more to their states; the first two people are ada and ben."""
    current.forget()
    ada, ben, *others = people
    clusters = {
        "test-eu": cluster,
        "never": _cluster("never"),
        "gone": _cluster("gone"),
        "held": _cluster("held"),
        "open": _cluster("open", allow_everyone=True, super_users=""),
        "zookeeper": _cluster(
            "zookeeper", kind="zookeeper", authorizer="acl", allow_everyone=None, super_users=None
        ),
        "file": _cluster(
            "file", kind="snapshot", changes_enabled=False, allow_everyone=None, super_users=None
        ),
        "empty": _cluster("empty"),
        "waiting": _cluster("waiting"),
    }
    for person in (ada, ben, *others):
        role = Grant.objects.get(user=person).role
        for each in clusters.values():
            Grant.objects.get_or_create(user=person, cluster=each, defaults={"role": role})

    for slug in ("test-eu", "gone", "open", "waiting"):
        sync(clusters[slug], client=FakeCluster(BINDINGS, topics=TOPICS, groups=GROUPS))
    sync(clusters["zookeeper"], client=FakeCluster(BINDINGS, topics=TOPICS, groups=None))
    sync(
        clusters["file"],
        client=Answers(list(BINDINGS), topics=[], groups=None),
    )
    sync(clusters["empty"], client=FakeCluster([], topics=TOPICS, groups=GROUPS))
    many = [allow(f"User:app-{number}", "READ", "stock") for number in range(60)]
    sync(clusters["held"], client=FakeCluster(many, topics=TOPICS))
    sync(clusters["held"], client=FakeCluster([], topics=TOPICS))
    broken = FakeCluster()
    broken.fail_next("describe", unreachable(), times=9)
    broken.fail_next("read_acls", unreachable(), times=9)
    sync(clusters["gone"], client=broken)
    for each in clusters.values():
        each.refresh_from_db()

    result = write_result(
        folder / "usage", BINDINGS, usage=[use(BINDINGS[0]), use(BINDINGS[2])], requests=REQUESTS
    )
    load(result, cluster)
    for slug in ("test-eu", "empty", "zookeeper", "file"):
        findings.findings(current.in_force(clusters[slug]))
    LintRun.objects.filter(cluster=clusters["empty"]).update(done_at=None, problem="RuntimeError: no")

    # Workers take one change of a cluster at a time.
    under_way = {"PREFLIGHT": "waiting", "APPLYING": "open", "UNKNOWN": "zookeeper", "VERIFYING": "empty"}
    changes = {
        state: _change(clusters[under_way.get(state, "test-eu")], ada, state) for state in Change.State.values
    }
    changes["stale"] = _submitted(cluster, ada, "Stale", remove=(BINDINGS[0],))
    changes["undo"] = _undo(changes[Change.State.APPLIED], ada)
    changes["mine"] = _submitted(
        cluster, ben, "Let may read stock", add=(allow("User:may", "READ", "stock"),)
    )
    # Revision 2 takes away the other ACL through which bob reads orders.eu.
    after = [*(binding for binding in BINDINGS if binding != IMPLIED), LATER]
    sync(cluster, client=FakeCluster(after, topics=TOPICS, groups=GROUPS))
    cluster.refresh_from_db()
    return World(clusters, changes)


def _cluster(slug: str, **facts: object) -> Cluster:
    told = {
        "kind": "admin",
        "address": "127.0.0.1:1",
        "super_users": "User:admin",
        "allow_everyone": False,
        "changes_enabled": True,
    } | facts
    return Cluster.objects.create(slug=slug, name=slug, **told)


def _submitted(
    cluster: Cluster,
    author: User,
    title: str,
    add: tuple[AclBinding, ...] = (),
    remove: tuple[AclBinding, ...] = (),
) -> Change:
    delta = Delta(add=add, remove=remove)
    change = review.draft(cluster=cluster, author=author, title=title, reason="Asked for.", delta=delta)
    return review.submit(change=change, actor=author)


def _change(cluster: Cluster, author: User, state: str) -> Change:
    add = (allow(f"User:{state.lower()}", "READ", "orders.eu"),)
    if state == Change.State.DRAFT:
        return review.draft(cluster=cluster, author=author, title=state, delta=Delta(add=add, remove=()))
    change = _submitted(cluster, author, state, add=add)
    if state != Change.State.IN_REVIEW:
        Change.objects.filter(pk=change.pk).update(state=state)
        change.refresh_from_db()
    return change


def _undo(change: Change, author: User) -> Change:
    return review.draft(
        cluster=change.cluster,
        author=author,
        title=f"Undo {change.key}",
        delta=Delta(add=(), remove=(BINDINGS[6],)),
        undo_of=change,
    )
