"""What was declared of a cluster is kept with its time, and a question about the past is answered by it."""

from __future__ import annotations

import datetime
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.model.vocabulary import AccessRequest, AclError, Operation, ResourceType
from aclweb.clusters import ClusterFacts
from aclweb.inventory.admin import register as registering
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.current.moments import moment_at, moment_of, moment_sentences
from aclweb.inventory.current.view import in_force
from aclweb.inventory.models import Cluster, Declaration, Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ACLS = [allow("User:bob", "READ", "orders")]
ASKED = AccessRequest("User:carol", "10.0.0.7", Operation.READ, ResourceType.TOPIC, "orders")


def kept(cluster):
    return [
        (row.kafka_version, row.super_users, row.allow_everyone, row.who)
        for row in Declaration.objects.filter(cluster=cluster)
    ]


def verdict(cluster, moment):
    view = in_force(cluster, moment)
    return authorize(ASKED, view.index, view.settings).result.name


def move(cluster, days):
    """Let all that is stored of the cluster have happened this many days earlier."""
    earlier = datetime.timedelta(days=days)
    for row in (*Revision.objects.filter(cluster=cluster), *Declaration.objects.filter(cluster=cluster)):
        name = "read_at" if isinstance(row, Revision) else "since"
        type(row).objects.filter(pk=row.pk).update(**{name: getattr(row, name) - earlier})
    cluster.refresh_from_db()


def days_ago(days):
    return f"{timezone.now() - datetime.timedelta(days=days):%Y-%m-%d}"


def test_each_change_of_what_is_declared_is_kept_with_who_made_it(cluster, dot):
    declare(cluster=cluster, actor=dot, super_users="User:carol")
    declare(cluster=cluster, actor=dot, super_users="User:carol")
    registering.change(actor="shell", cluster=cluster, kafka_version="4.0", name="Test Europe")
    registering.change(actor="shell", cluster=cluster, name="Test EU")
    sync(cluster, client=Answers(ACLS, groups=None, facts=ClusterFacts(kafka_version="4.1")))
    sync(cluster, client=Answers(ACLS, groups=None, facts=ClusterFacts(kafka_version="4.1")))

    assert kept(cluster) == [
        ("", "User:admin", False, ""),
        ("", "User:carol", False, "dot"),
        ("4.0", "User:carol", False, "shell"),
        ("4.1", "User:carol", False, "aclweb"),
    ]


@pytest.mark.django_db
def test_no_cluster_has_the_authorizer_of_a_proposal():
    with pytest.raises(registering.RegisteringError, match="No broker has the authorizer 'glob'"):
        registering.add(actor="shell", slug="new", kind="admin", address="b:9092", authorizer="glob")


def test_a_declaration_that_is_refused_keeps_nothing(cluster, dot):
    with pytest.raises(AclError):
        declare(cluster=cluster, actor=dot, super_users="carol")

    assert len(kept(cluster)) == 1


def test_a_cluster_that_is_made_known_is_kept_from_its_beginning(db):
    cluster = registering.add(actor="shell", slug="new", kind="admin", address="b:9092", kafka_version="4.0")

    (row,) = Declaration.objects.filter(cluster=cluster)
    assert (row.since, row.kafka_version, row.super_users) == (cluster.created_at, "4.0", None)


def test_yesterday_is_answered_by_the_super_users_of_yesterday_though_no_acl_moved(cluster, dot):
    sync(cluster, client=Answers(ACLS))
    declare(cluster=cluster, actor=dot, super_users="User:carol")
    move(cluster, days=5)
    declare(cluster=cluster, actor=dot, super_users="User:admin", allow_everyone=True)

    then = moment_at(cluster, days_ago(3))

    assert then is not None
    assert then.revision == cluster.revision
    assert (verdict(cluster, then), verdict(cluster, None)) == ("ALLOWED", "DENIED")
    assert moment_sentences(cluster, then) == (
        "Where no ACL exists: refused then, everyone is allowed today.",
        "Super users: User:carol then, User:admin today.",
    )


def test_a_revision_means_what_was_declared_while_it_held(cluster, dot):
    sync(cluster, client=Answers(ACLS))
    declare(cluster=cluster, actor=dot, super_users="User:carol")
    sync(cluster, client=Answers([*ACLS, allow("User:dan", "READ", "stock")]))
    declare(cluster=cluster, actor=dot, super_users="")

    first = moment_at(cluster, "1")

    assert verdict(cluster, first) == "ALLOWED"
    assert moment_at(cluster, "2") is None
    assert verdict(cluster, None) == "DENIED"


def test_a_version_that_came_with_the_next_sync_is_not_of_the_revision_before(cluster):
    sync(cluster, client=Answers(ACLS, facts=ClusterFacts(kafka_version="4.0")))
    sync(cluster, client=Answers([], facts=ClusterFacts(kafka_version="4.4")))

    first = moment_of(Revision.objects.get(cluster=cluster, number=1))

    assert in_force(cluster, first).settings.kafka_version == "4.0"
    assert moment_sentences(cluster, first) == ("Kafka version: 4.0 then, 4.4 today.",)


def test_groups_that_nobody_could_list_then_stay_unknown_as_of_then(cluster):
    sync(cluster, client=Answers(ACLS, groups=None))
    sync(cluster, client=Answers(ACLS, groups=["billing"]))

    assert in_force(cluster, moment_at(cluster, "1")).groups is None
    assert in_force(cluster).groups == ("billing",)


def test_a_moment_at_which_all_was_as_it_is_today_is_now(cluster, dot):
    sync(cluster, client=Answers(ACLS))
    move(cluster, days=5)

    assert moment_at(cluster, days_ago(3)) is None


def test_what_was_declared_before_anything_was_kept_is_told_to_be_unknown(cluster):
    sync(cluster, client=Answers(ACLS))
    sync(cluster, client=Answers([]))
    first = Revision.objects.get(cluster=cluster, number=1)
    Revision.objects.filter(pk=first.pk).update(read_at="2026-01-10T12:00:00Z")

    (sentence,) = moment_sentences(cluster, moment_at(cluster, "2026-01-11"))

    assert "is not known" in sentence
    assert verdict(cluster, moment_at(cluster, "2026-01-11")) == "DENIED"


def test_a_snapshot_of_the_past_holds_what_was_declared_then(cluster, dot, capsys):
    sync(cluster, client=Answers(ACLS))
    sync(cluster, client=Answers([]))
    declare(cluster=cluster, actor=dot, super_users="User:carol")

    call_command("export", "test-eu", "--as-of", "1", "--format", "snapshot")

    assert json.loads(capsys.readouterr().out.splitlines()[0])["config"]["super.users"] == "User:admin"


@pytest.mark.thorough(
    instead="tests/insights/test_migrations.py::test_bursts_of_loaded_denials_and_the_last_good_read_are_found_when_migrating"
)
@pytest.mark.django_db(transaction=True)
def test_clusters_from_before_keep_what_holds_today_for_all_their_past():
    before = [("inventory", "0001_initial")]
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes()  # rooms above go back with inventory
    executor.migrate(before)
    try:
        old = executor.loader.project_state(before).apps.get_model("inventory", "Cluster")
        old.objects.create(slug="old", name="old", kind="admin", address="b:1", super_users="User:root")
        executor = MigrationExecutor(connection)
        executor.migrate(newest)
        assert kept(Cluster.objects.get(slug="old")) == [("", "User:root", None, "")]
    finally:
        MigrationExecutor(connection).migrate(newest)
