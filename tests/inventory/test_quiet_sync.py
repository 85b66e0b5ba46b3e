"""A sync reads only what has changed where the cluster shows it, and everything where it may not trust that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model.vocabulary import ResourcePattern
from aclweb.clusters import AclSnapshot, ClusterFacts, ClusterState, Earlier, Known, Marks, Problem, TopicInfo
from aclweb.inventory.admin.register import change
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredName
from aclweb.inventory.store import staging
from aclweb.inventory.sync import sync
from aclweb.inventory.sync.last_read import WHOLE_EVERY
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
ANN = allow("User:ann", "READ", "orders")
PAY = allow("User:bob", "READ", "payments")
TX = allow("User:bob", "READ", "payments", pattern="PREFIXED")


@dataclass
class Marked(Answers):
    """A cluster that shows by a number whether its ACLs, or its topics, have changed; `changed` names the patterns."""

    acls_mark: int | None = 1
    topics_mark: int | None = 1
    changed: frozenset[ResourcePattern] | None = None
    read: list[str] = field(default_factory=list)
    known_names: list[frozenset[str]] = field(default_factory=list)

    def marks(self, earlier: Earlier | None = None) -> Marks:
        self._may_fail("marks")
        return Marks(
            {"n": self.acls_mark} if self.acls_mark else None,
            {"n": self.topics_mark} if self.topics_mark else None,
        )

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        whole = super().read_acls()
        if earlier is None or self.changed is None:
            self.read.append("all ACLs")
            return whole
        self.read.append("some ACLs")
        self.known_names.append(earlier.names(BOB.resource_type, BOB.pattern_type))
        some = tuple(one for one in whole.bindings if one.pattern in self.changed)
        return AclSnapshot(some, whole.problems, whole.unreadable, self.changed)

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        self.read.append("topics" if earlier is None else f"topics after {sorted(earlier.topics())}")
        return super().read_topics()


def read_once(cluster: Cluster, client: Marked) -> list[str]:
    """Sync, and return what was read."""
    client.read.clear()
    sync(cluster, client=client)
    return list(client.read)


@pytest.fixture
def live() -> Marked:
    return Marked([BOB, PAY], topics("orders"), groups=None)


def stored(cluster: Cluster) -> set[str]:
    cluster.refresh_from_db()
    return {f"{one.principal} {one.resource_name} {one.pattern_type}" for one in in_force(cluster)}


def in_force(cluster: Cluster):
    return StoredAcl.objects.filter(cluster=cluster, removed_in__isnull=True)


def test_a_sync_of_a_cluster_that_shows_no_change_reads_nothing_and_stays_true(cluster, live):
    assert read_once(cluster, live) == ["all ACLs", "topics"]
    before = (cluster.revision_id, cluster.state, cluster.state_sentence, cluster.read_at)

    assert read_once(cluster, live) == []

    assert (cluster.revision_id, cluster.state, cluster.state_sentence) == before[:3]
    assert cluster.read_at > before[3]
    assert cluster.topics_listed == Known.ALL
    assert cluster.state_sentence == "Read 2 ACLs, 1 topic, groups unknown."
    assert StoredName.objects.filter(cluster=cluster, removed_in__isnull=True).count() == 1


def test_only_the_patterns_that_changed_are_compared_and_the_others_stay(cluster, live):
    read_once(cluster, live)
    live.bindings, live.acls_mark = [ANN, PAY, TX], 2
    live.changed = frozenset({BOB.pattern, TX.pattern})

    assert read_once(cluster, live) == ["some ACLs"]

    assert stored(cluster) == {
        "User:ann orders LITERAL",
        "User:bob payments LITERAL",
        "User:bob payments PREFIXED",
    }
    assert live.known_names == [frozenset({"orders", "payments"})]
    assert (cluster.revision.acls, cluster.revision.acls_added, cluster.revision.acls_removed) == (3, 2, 1)
    whole = Revision.objects.get(pk=cluster.revision_id).digest
    # The same ACLs read whole are the same revision.
    live.changed, live.acls_mark = None, 3
    assert read_once(cluster, live) == ["all ACLs"]
    assert cluster.revision.digest == whole


def test_patterns_that_changed_and_changed_back_make_no_revision(cluster, live):
    read_once(cluster, live)
    live.acls_mark, live.changed = 2, frozenset({BOB.pattern})
    number = cluster.revision.number

    read_once(cluster, live)

    assert cluster.revision.number == number
    assert stored(cluster) == {"User:bob orders LITERAL", "User:bob payments LITERAL"}


def test_topics_are_read_again_only_where_they_changed(cluster, live):
    read_once(cluster, live)
    live.topics, live.topics_mark = topics("orders", "audit"), 2

    assert read_once(cluster, live) == ["topics after ['orders']"]

    assert set(StoredName.objects.values_list("name", flat=True)) == {"orders", "audit"}


def test_a_failed_look_at_the_marks_is_an_error_and_no_empty_cluster(cluster, live):
    read_once(cluster, live)
    live.fails["marks"] = trouble(ClusterState.UNREACHABLE)

    assert read_once(cluster, live) == []

    assert cluster.state == ClusterState.UNREACHABLE
    assert len(stored(cluster)) == 2
    del live.fails["marks"]
    # Whatever was missed meanwhile is found: everything is read.
    assert read_once(cluster, live) == ["all ACLs", "topics"]
    assert read_once(cluster, live) == []


def forget_nothing(cluster: Cluster) -> None:
    """Change nothing: what each reason is held against."""


def another_address(cluster: Cluster) -> None:
    change(actor="ada", cluster=cluster, address="127.0.0.1:2")


def another_login(cluster: Cluster) -> None:
    change(actor="ada", cluster=cluster, options={"request.timeout.ms": "5000"})


def asked_for(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(sync_asked_at=Now())


def long_ago(cluster: Cluster) -> None:
    row = Cluster.objects.get(pk=cluster.pk)
    now = Cluster.objects.annotate(now=Now()).values_list("now", flat=True).get(pk=cluster.pk)
    assert row.read_marks is not None
    row.read_marks = {**row.read_marks, "whole_at": (now - WHOLE_EVERY - timedelta(seconds=1)).isoformat()}
    row.save(update_fields=["read_marks"])


def quarantined(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(held={"reason": "drop", "sentence": "."})


def failed_last(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(failures=F("failures") + 1)


@pytest.mark.parametrize(
    ("event", "reads"),
    [
        (forget_nothing, []),
        (another_address, ["all ACLs", "topics"]),
        (another_login, ["all ACLs", "topics"]),
        (asked_for, ["all ACLs", "topics"]),
        (long_ago, ["all ACLs", "topics"]),
        (quarantined, ["all ACLs", "topics"]),
        (failed_last, ["all ACLs", "topics"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_everything_is_read_where_marks_may_not_be_trusted(cluster, live, event, reads):
    read_once(cluster, live)

    event(cluster)

    cluster.refresh_from_db()
    assert read_once(cluster, live) == reads


def test_another_cluster_at_the_same_address_is_read_whole_and_quarantined(cluster, live):
    live.facts = ClusterFacts(cluster_id="one")
    read_once(cluster, live)
    live.facts = ClusterFacts(cluster_id="two")
    live.bindings = []

    assert read_once(cluster, live) == ["all ACLs", "topics"]

    assert cluster.held is not None
    assert len(stored(cluster)) == 2


@pytest.mark.parametrize("odd", ["problems", "unreadable"])
def test_a_cluster_with_problems_is_read_whole_until_they_are_gone(cluster, live, odd):
    if odd == "problems":
        live.problems = [Problem("/kafka-acl/Planet", "It is no type.")]
    else:
        live.unreadable = [PAY.pattern]
    read_once(cluster, live)
    assert read_once(cluster, live) == ["all ACLs", "topics"]

    live.problems, live.unreadable = [], []
    read_once(cluster, live)

    assert read_once(cluster, live) == []


def test_a_change_of_patterns_that_cannot_be_understood_loses_no_acl(cluster, live):
    read_once(cluster, live)
    live.bindings, live.unreadable = [PAY], [BOB.pattern]
    live.acls_mark, live.changed = 2, frozenset({BOB.pattern})

    read_once(cluster, live)

    assert stored(cluster) == {"User:bob orders LITERAL", "User:bob payments LITERAL"}
    assert cluster.state == ClusterState.UNREADABLE


def test_changes_since_a_snapshot_that_is_not_the_newest_any_more_are_not_stored(cluster, live):
    @dataclass
    class Overtaken(Marked):
        def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
            Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") - 2)
            sync(cluster, client=Answers([BOB, TX]))  # began before this one, and read more
            Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") + 1)
            return super().read_acls(earlier)

    read_once(cluster, live)
    Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") + 1)
    slow = Overtaken([ANN, PAY], live.topics, groups=None, acls_mark=2, changed=frozenset({BOB.pattern}))

    assert not sync(cluster, client=slow).read
    assert stored(cluster) == {"User:bob orders LITERAL", "User:bob payments PREFIXED"}
    assert read_once(cluster, live) == ["all ACLs", "topics"]


def test_a_quiet_sync_takes_as_many_queries_for_a_thousand_acls_as_for_two(cluster, live):
    def quiet() -> int:
        read_once(cluster, live)
        with CaptureQueriesContext(connection) as captured:
            assert read_once(cluster, live) == []
        return len([query for query in captured if "SAVEPOINT" not in query["sql"]])

    few = quiet()
    live.bindings = [allow(f"User:u{n}", "READ", "orders") for n in range(1000)]
    live.acls_mark = 2

    assert quiet() == few <= 11


def test_a_quarantine_counts_what_is_lost_of_all_acls(cluster, live):
    live.bindings = [allow(f"User:u{n}", "READ", f"t{n}") for n in range(300)]
    read_once(cluster, live)
    live.acls_mark, live.changed = 2, frozenset(one.pattern for one in live.bindings[:200])
    live.bindings = live.bindings[200:]

    read_once(cluster, live)

    assert cluster.held["losses"]["ACLs"] == {"missing": 200, "stored": 300}
    assert len(stored(cluster)) == 300


def test_a_first_sync_of_very_many_does_not_count_as_a_slow_cluster(cluster, live, monkeypatch):
    monkeypatch.setattr(staging, "ROWS_AT_ONCE", 10)
    live.bindings = [allow(f"User:u{n}", "READ", "orders") for n in range(30)]
    read_once(cluster, live)
    assert cluster.revision.acls == 30
    assert Cluster.objects.get(pk=cluster.pk).sync_seconds == 0

    read_once(cluster, live)

    assert Cluster.objects.get(pk=cluster.pk).sync_seconds > 0
