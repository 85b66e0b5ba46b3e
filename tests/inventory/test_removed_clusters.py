"""A cluster is removed safely: all work on it ends, what auditors need stays, the rest is deleted in batches."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

import pytest
from django.apps import apps
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from aclweb.accounts import access, tokens
from aclweb.accounts.models import ApiToken, Grant, User
from aclweb.acl.model.delta import Delta
from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.changes import asking, queries, review, rollout
from aclweb.changes.models import COMPUTATIONS, Change, ChangeError, ChangeItem, Computation, PolicyGate
from aclweb.changes.question import what_if
from aclweb.changes.rollout import hold
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import ANALYSES, Analysis, Load, Refresh
from aclweb.insights.refresh import refresh
from aclweb.insights.removed_clusters import table_folder
from aclweb.inventory import checks, leases
from aclweb.inventory.admin import deleting, register, removing
from aclweb.inventory.admin.events import events_of
from aclweb.inventory.current import in_force
from aclweb.inventory.findings import tasks as lint_tasks
from aclweb.inventory.models import (
    CHECKS,
    Cluster,
    ConnectionCheck,
    LintRun,
    LogSource,
    Revision,
    StoredAcl,
)
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.inventory.sync.run import sync
from aclweb.inventory.work import scheduling
from aclweb.pipeline.table.reading import folder_of
from aclweb.web.models import KeptDraft, NamedDraft, SavedView
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.results import request, use, write_result

pytestmark = pytest.mark.django_db

REFERRING = [
    model
    for model in apps.get_models(include_auto_created=True)
    if model is not Change
    and any(
        isinstance(field, models.ForeignKey) and field.related_model is Cluster
        for field in model._meta.get_fields()
    )
]
BINDINGS = [allow("User:bob", "READ", f"orders.{number}") for number in range(9)]
WISH = allow("User:cat", "READ", "stock")


@pytest.fixture(autouse=True)
def enqueued(monkeypatch, settings, tmp_path):
    """The tasks that deleting would enqueue; tests run it themselves. And an access table of their own."""
    found = []
    monkeypatch.setattr(deleting.delete_removed, "delay", lambda: found.append("delay"))
    monkeypatch.setattr(deleting.delete_removed, "apply_async", lambda **_: found.append("again"))
    monkeypatch.setattr("aclweb.changes.tasks.enqueue_computing", lambda: None)
    monkeypatch.setattr("aclweb.changes.tasks.apply_change.delay", lambda _: None)
    monkeypatch.setattr("aclweb.inventory.checks.tasks.enqueue", lambda: None)
    settings.ACLWEB_ACCESS_TABLE = tmp_path / "access"
    return found


@pytest.fixture
def read(cluster):
    sync(cluster, client=FakeCluster(BINDINGS, topics=["stock"]))
    cluster.refresh_from_db()
    return cluster


def remove(cluster, actor="root"):
    return removing.remove(actor=actor, cluster=cluster, confirmed=cluster.name)


def submitted(cluster, author, binding=WISH):
    change = review.draft(cluster=cluster, author=author, title="For cat", delta=Delta(add=(binding,)))
    return review.submit(change=change, actor=author)


def test_only_its_name_removes_a_cluster(cluster):
    with pytest.raises(removing.RemovingError, match="type test-eu to remove it"):
        removing.remove(actor="root", cluster=cluster, confirmed="test-us")

    assert Cluster.objects.get() == cluster


def test_a_cluster_is_removed_once(cluster):
    remove(cluster)

    with pytest.raises(removing.RemovingError, match="removed already"):
        remove(cluster)
    assert Event.objects.filter(verb="cluster.removed").count() == 1


def test_login_roles_tokens_and_log_sources_go_with_the_removal(cluster, other_cluster, ada, root):
    Cluster.objects.filter(pk=cluster.pk).update(options={"sasl.password": "secret"})
    cluster.log_sources.create(path="/logs")
    other_cluster.log_sources.create(topic="audit", topic_cluster=cluster)
    tokens.issue(root, "report", 30)
    ApiToken.objects.update(cluster=cluster)

    remove(cluster)

    row = Cluster.including_removed.get(pk=cluster.pk)
    assert (row.options, row.removed_by, row.removed_slug) == ({}, "root", "test-eu")
    assert not Grant.objects.filter(cluster=row).exists()
    assert not ApiToken.objects.exists()
    assert not LogSource.objects.exists()
    assert not access.visible_clusters(root).filter(pk=cluster.pk).exists()
    assert not access.visible_clusters(ada).exists()


def test_what_waits_is_withdrawn_and_recorded(read, ada, ben):
    draft = review.draft(cluster=read, author=ada, title="d", delta=Delta(add=(WISH,)))
    waiting = submitted(read, ada)
    queued = review.approve(change=submitted(read, ada, allow("User:dan", "READ", "stock")), reviewer=ben)
    rejected = review.reject(change=submitted(read, ada), reviewer=ben, comment="no")
    assert queued.state == Change.State.QUEUED

    remove(read)

    for change in (draft, waiting, queued):
        change.refresh_from_db()
        assert change.state == Change.State.CANCELLED
        assert change.sentence == (
            "test-eu was removed from aclweb. So this was withdrawn: nothing of it was written."
        )
        assert {item.state for item in change.items.all()} == {"SKIPPED"}
        assert trail.trail(change.key).last().verb == "change.ended"
    rejected.refresh_from_db()
    assert rejected.state == Change.State.REJECTED
    assert "Withdrawn: 3 change requests." in trail.sentence(Event.objects.get(verb="cluster.removed"))


def test_a_cluster_is_not_removed_while_a_change_is_written_to_it(read, ada, ben):
    change = review.approve(change=submitted(read, ada), reviewer=ben)
    assert hold.claim(change.pk, "worker") is not None

    with pytest.raises(removing.RemovingError, match=f"{change.key} is being written to test-eu now"):
        remove(read)

    change.refresh_from_db()
    assert change.state == Change.State.PREFLIGHT
    assert Cluster.objects.get() == read


def test_a_change_whose_worker_was_lost_after_writing_ends_as_partly_written(read, ada, ben):
    change = review.approve(change=submitted(read, ada), reviewer=ben)
    hold.claim(change.pk, "worker")
    ChangeItem.objects.update(state=ChangeItem.State.UNKNOWN)
    Change.objects.update(state=Change.State.UNKNOWN, lease_until=None)

    remove(read)

    change.refresh_from_db()
    assert change.state == Change.State.PARTIAL
    assert "was not read back" in change.sentence


def test_no_work_begins_for_a_removed_cluster(read, ada, ben, monkeypatch):
    change = review.approve(change=submitted(read, ada), reviewer=ben)
    remove(read)
    Change.objects.update(state=Change.State.QUEUED)  # as a race would leave it
    ConnectionCheck.objects.create(cluster_id=read.pk, asked_by="ada", asked_at=Now())
    Analysis.objects.create(cluster_id=read.pk, job="matrix", asked_by="ada", asked_at=Now())
    monkeypatch.setattr("aclweb.inventory.sync.run.sync", lambda *_: pytest.fail("It was synced."))
    monkeypatch.setattr(
        "aclweb.inventory.findings.lint_run.run", lambda *_, **__: pytest.fail("It was linted.")
    )

    sync_tasks.sync_cluster(read.pk)
    lint_tasks.lint_cluster(read.pk)

    assert not scheduling.due().exists()
    assert not scheduling.ask(read.pk)
    assert CHECKS.take_next("worker") is None
    assert ANALYSES.take_next("worker") is None
    assert rollout.waiting() == []
    assert hold.claim(change.pk, "worker") is None


def test_queued_work_ends_with_a_sentence(read, other_cluster, ada):
    checks.ask(cluster=read, actor=ada)
    asking.ask(what_if(in_force(read), Delta(add=(WISH,))), person=ada)
    Analysis.objects.create(cluster=read, job="matrix", asked_by="ada", asked_at=Now())
    Analysis.objects.create(
        cluster=other_cluster, job="compare", asked_by="ada", asked_at=Now(), options={"beside": "test-eu,x"}
    )

    remove(read)

    told = "test-eu was removed from aclweb."
    check, computation = ConnectionCheck.objects.get(), Computation.objects.get()
    assert (check.state, check.sentence) == ("CANCELLED", told)
    assert (computation.state, computation.sentence) == ("CANCELLED", told)
    assert not COMPUTATIONS.are_waiting()
    assert [(each.state, each.problem) for each in Analysis.objects.all()] == [("CANCELLED", told)] * 2
    assert [each.beside for each in Analysis.objects.filter(cluster=other_cluster)] == [
        ["x", f"_removed-{read.pk}"]
    ]


def test_a_worker_that_reads_its_logs_is_told_to_end_and_waited_for(read):
    Refresh.objects.create(cluster=read, lease_owner="worker", lease_until=leases.later(60))
    table_folder("test-eu").mkdir(parents=True)
    remove(read)

    assert Refresh.objects.get().cancelled_by == "root"
    assert not deleting.delete_some(read.pk)
    assert table_folder("test-eu").exists()

    Refresh.objects.update(lease_until=None)
    assert deleting.delete_some(read.pk)
    assert not table_folder("test-eu").exists()


def test_a_refresh_of_logs_that_ends_after_the_removal_stores_nothing(read, settings):
    settings.ACLWEB_SPARK_MASTER = ""
    remove(read)
    deleting.delete_removed()

    with pytest.raises(InsightsError):
        refresh(read)

    assert not Refresh.objects.exists()


def test_the_access_table_is_where_the_pipeline_puts_it(settings):
    assert str(table_folder("prod-eu")) in folder_of(settings.ACLWEB_ACCESS_TABLE, "prod-eu").address("")


def test_a_worker_deletes_all_that_refers_to_the_cluster_but_its_changes(
    read, other_cluster, ada, ben, tmp_path, full
):
    change = review.approve(change=submitted(read, ada), reviewer=ben, comment="fine")
    review.comment(change=change, actor=ben, text="Looks right.")
    sync(other_cluster, client=FakeCluster(BINDINGS))
    before = StoredAcl.objects.filter(cluster=other_cluster).count()
    assert [name for name, number in left(read).items() if not number] == [], "Of these nothing is to delete."
    remove(read)

    deleting.delete_removed()

    assert {name: number for name, number in left(read).items() if number} == {}
    row = Cluster.including_removed.get(pk=read.pk)
    assert row.deleted_at is not None
    assert row.rows_deleted >= len(BINDINGS)
    kept = Change.objects.get(pk=change.pk)
    assert (kept.items.count(), kept.approvals.get().comment) == (1, "fine")
    assert kept.comments.get().text == "Looks right."
    assert kept.revision is None
    assert StoredAcl.objects.filter(cluster=other_cluster).count() == before
    assert trail.verify().ok


@pytest.fixture
def full(read, other_cluster, ada):
    """Rows of the tables by which rooms above the inventory refer to a cluster."""
    read.policy_gates.create(kind=PolicyGate.Kind.NOT_OWN_RIGHTS)
    read.owned_names.create(kind="TOPIC", pattern_type="PREFIXED", name="orders.", owner="payments")
    LintRun.objects.create(cluster=read, revision=read.revision, asked_at=Now(), rung_at=Now())
    for model in (KeptDraft, NamedDraft):
        model.objects.create(
            cluster=read,
            owner=ada,
            content=b"",
            **(
                {"key": "k", "used_at": Now()}
                if model is KeptDraft
                else {"name": "n", "lines": 1, "updated_at": Now()}
            ),
        )
    SavedView.objects.create(cluster=read, owner=ada, name="v", query="", made_at=Now())
    asking.ask(what_if(in_force(read), Delta(add=(WISH,))), person=ada)
    known = {Cluster: read, User: ada, Revision: read.revision}
    for model in REFERRING:
        if model not in known and not rows_of(model, read).exists():
            some_row(model, known)


def some_row(model, known):
    """Store one row with some value in each column that must have one.

    known: the rows that columns refer to, by their tables; this row and what it needs is added.
    """
    values = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey):
            if field.related_model in known:
                values[field.name] = known[field.related_model]
            elif not field.null:
                values[field.name] = some_row(field.related_model, known)
        elif not (field.has_default() or field.null or field.blank or field.primary_key):
            value = next((value for kind, value in SOME_VALUES.items() if isinstance(field, kind)))
            values[field.name] = field.choices[0][0] if field.choices else value
    known[model] = model._base_manager.create(**values)
    return known[model]


SOME_VALUES = {
    models.CharField: "x",
    models.TextField: "x",
    models.IntegerField: 1,
    models.FloatField: 1.0,
    models.BooleanField: True,
    models.DateTimeField: datetime(2026, 11, 20, tzinfo=UTC),
    models.DateField: date(2026, 11, 20),
    models.BinaryField: b"",
    models.JSONField: {},
}


def rows_of(model, cluster):
    """Return the rows of a table that refer to the cluster, by whichever column."""
    columns = [field.name for field in model._meta.concrete_fields if field.related_model is Cluster]
    return model._base_manager.filter(Q(*((column, cluster.pk) for column in columns), _connector=Q.OR))


def left(cluster):
    """Return how many rows refer to the cluster directly, by table, but for changes, which keep it."""
    return {model.__name__: rows_of(model, cluster).count() for model in REFERRING}


def test_a_table_is_deleted_from_before_those_that_it_refers_to():
    found = [model for model, _ in deleting._what_goes()]

    assert set(REFERRING) <= set(found)
    for place, model in enumerate(found):
        for field in model._meta.get_fields():
            if isinstance(field, models.ForeignKey) and field.related_model in found[:place]:
                assert field.remote_field.on_delete is not models.CASCADE, (model, field.name)


def test_a_worker_that_is_killed_between_batches_is_gone_on_after(read, monkeypatch):
    class Killed(BaseException):
        pass

    monkeypatch.setattr(deleting, "ROWS_AT_ONCE", 2)
    remove(read)
    in_turn, begun = deleting.in_turn, []

    def dying():
        begun.append(1)
        if len(begun) > 3:
            raise Killed
        return in_turn()

    monkeypatch.setattr(deleting, "in_turn", dying)
    monkeypatch.setattr(
        leases, "release", lambda *_, **__: None
    )  # a process that is killed gives nothing back
    with pytest.raises(Killed):
        deleting.delete_some(read.pk)
    monkeypatch.undo()

    row = Cluster.including_removed.get(pk=read.pk)
    assert row.deleted_at is None
    assert 0 < row.rows_deleted < len(BINDINGS)
    assert not deleting.delete_some(read.pk), "Its lease is another's."
    Cluster.including_removed.update(lease_until=None)
    assert deleting.delete_some(read.pk)
    assert not Revision.including_unpublished.filter(cluster=read.pk).exists()
    assert Cluster.including_removed.get(pk=read.pk).deleted_at is not None


def test_a_worker_deletes_for_a_while_and_has_another_go_on(read, monkeypatch, enqueued):
    monkeypatch.setattr(deleting, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(deleting, "SECONDS_AT_ONCE", 0.0)
    remove(read)

    deleting.delete_removed()

    assert enqueued[-1] == "again"
    assert StoredAcl.objects.filter(cluster=read.pk).exists()


def test_its_name_is_free_once_it_is_deleted_and_nothing_of_it_is_the_next_ones(read, ada, root):
    submitted(read, ada)
    remove(read)
    again = {"actor": "root", "slug": "test-eu", "kind": "admin", "address": "127.0.0.1:1"}
    with pytest.raises(register.RegisteringError, match="still deletes what was stored"):
        register.add(**again)

    deleting.delete_removed()
    new = register.add(**again)

    assert [event.verb for event in events_of(new)] == ["cluster.added"]
    old = Cluster.including_removed.get(pk=read.pk)
    assert {event.verb for event in events_of(old)} >= {"cluster.removed", "cluster.deleted"}
    assert "cluster.added" not in {event.verb for event in events_of(old)}
    assert not queries.changes_of(root, new).exists()
    assert [change.title for change in queries.kept_changes(root)] == ["For cat"]
    assert not queries.kept_changes(ada).exists()


def test_a_second_cluster_of_a_name_can_be_removed_too(cluster):
    for _ in range(2):
        remove(Cluster.objects.get(slug="test-eu"))
        deleting.delete_removed()
        register.add(actor="root", slug="test-eu", kind="admin", address="127.0.0.1:1")

    assert Cluster.including_removed.filter(removed_slug="test-eu").count() == 2
    first, second = Cluster.including_removed.filter(removed_slug="test-eu").order_by("pk")
    assert not set(events_of(first)) & set(events_of(second))


def test_nobody_acts_on_a_change_of_a_removed_cluster(read, ada, ben):
    change = submitted(read, ada)
    remove(read)
    Change.objects.update(state=Change.State.IN_REVIEW)  # whatever its state

    with pytest.raises(ChangeError, match=f"test-eu was removed, so {change.key} cannot be"):
        review.reject(change=change, reviewer=ben, comment="no")


def test_a_file_that_was_uploaded_is_deleted(cluster, settings, tmp_path):
    settings.ACLWEB_DATA_DIR = tmp_path
    folder = tmp_path.resolve() / "acl-files"
    folder.mkdir()
    (folder / "f.acls").write_text("")
    Cluster.objects.update(kind="snapshot", address=str(folder / "f.acls"))
    cluster.refresh_from_db()
    remove(cluster)

    deleting.delete_removed()

    assert os.listdir(folder) == []


def test_the_log_data_of_a_removed_cluster_is_deleted(read, tmp_path):
    load(
        write_result(
            tmp_path / "usage",
            BINDINGS,
            usage=[use(BINDINGS[0])],
            requests=[request("User:bob", "READ", "x")],
        ),
        read,
    )
    remove(read)

    deleting.delete_removed()

    assert not Load.objects.exists()
    for model in apps.get_app_config("insights").get_models():
        assert not model._base_manager.exists(), model
