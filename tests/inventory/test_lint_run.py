"""The findings of a revision are worked out once, stored whole, and forgotten when something newer is there."""

from __future__ import annotations

import ast
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

import aclweb
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.inventory import tasks
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import lint_run
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster, LintRun, StoredFinding
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

pytestmark = pytest.mark.django_db

WIDE = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
IMPLIED = allow("User:bob", "READ", "orders.eu")


@pytest.fixture
def read(cluster) -> Cluster:
    sync(cluster, client=Answers([WIDE, IMPLIED]))
    return cluster


def found(cluster: Cluster) -> set[tuple[str, AclBinding]]:
    known = findings.findings(current.in_force(cluster))
    assert known is not None
    return {(row.rule, row.acl) for row in known.matching()}


def test_a_worker_finds_what_a_page_then_shows_without_working(read, monkeypatch):
    tasks.lint_cluster(read.pk)
    monkeypatch.setattr(lint_run, "find_all", None)

    assert ("implied", IMPLIED) in found(read)


def test_a_sync_asks_for_its_findings_once(cluster, monkeypatch):
    rung = []
    monkeypatch.setattr(syncing, "connect", lambda _: Answers([WIDE, IMPLIED]))
    monkeypatch.setattr(tasks.lint_cluster, "delay", rung.append)

    tasks.sync_cluster(cluster.pk)
    tasks.lint_cluster(cluster.pk)
    tasks.sync_cluster(cluster.pk)

    assert rung == [cluster.pk]


def test_a_declaration_makes_the_next_sync_ask_anew(read, monkeypatch):
    rung = []
    monkeypatch.setattr(syncing, "connect", lambda _: Answers([WIDE, IMPLIED]))
    monkeypatch.setattr(tasks.lint_cluster, "delay", rung.append)
    tasks.lint_cluster(read.pk)
    Cluster.objects.filter(pk=read.pk).update(super_users="User:bob")

    tasks.sync_cluster(read.pk)
    tasks.lint_cluster(read.pk)

    assert rung == [read.pk]
    assert ("super-user-unaffected", WIDE) in found(read)
    assert LintRun.objects.count() == 1


def test_two_workers_do_not_do_the_same(read, monkeypatch):
    looked, find_all = [], lint_run.find_all

    def look(view, **given):
        looked.append(view)
        # While this one is at it, another is told the same.
        assert not lint_run.run(read, owner="second")
        return find_all(view, **given)

    monkeypatch.setattr(lint_run, "find_all", look)

    assert lint_run.run(read, owner="first")
    assert not lint_run.run(read, owner="third")
    assert len(looked) == 1


def test_what_a_dead_worker_left_is_begun_anew(read):
    row = lint_run.begin(read, read.revision)
    LintRun.objects.filter(pk=row.pk).update(lease_owner="dead", lease_until=timezone.now() - timedelta(1))

    assert lint_run.run(read, owner="living")


def test_a_worker_that_lost_its_lease_stores_nothing(read, monkeypatch):
    find_all = lint_run.find_all

    def slow(view, **given):
        LintRun.objects.update(lease_owner="somebody else")
        return find_all(view, **given)

    monkeypatch.setattr(lint_run, "find_all", slow)

    assert not lint_run.run(read, owner="slow")
    assert not StoredFinding.objects.exists()
    assert LintRun.objects.get().done_at is None


def test_what_was_overtaken_by_a_newer_sync_is_not_kept(read, monkeypatch):
    find_all = lint_run.find_all

    def slow(view, **given):
        sync(read, client=Answers([WIDE, IMPLIED, allow("User:cat", "READ", "stock")]))
        return find_all(view, **given)

    monkeypatch.setattr(lint_run, "find_all", slow)
    stored = lint_run.run(read, owner="slow")
    monkeypatch.undo()

    assert not stored
    assert not LintRun.objects.exists()
    assert ("implied", IMPLIED) in found(read)


def test_who_asks_while_a_newer_sync_is_looked_through_waits_for_it(cluster):
    sync(cluster, client=Answers([IMPLIED]))
    stale = current.in_force(cluster)
    sync(cluster, client=Answers([WIDE, IMPLIED]))

    told = findings.findings(stale)

    assert not told.is_done
    assert not told.problem
    assert ("implied", IMPLIED) in found(cluster)


def test_findings_of_older_revisions_are_deleted(read):
    lint_run.run(read, owner="first")
    sync(read, client=Answers([IMPLIED]))
    before = StoredFinding.objects.count()

    lint_run.run(read, owner="second")

    assert before
    assert LintRun.objects.get().revision == read.revision
    assert ("implied", IMPLIED) not in found(read)
    assert set(StoredFinding.objects.values_list("search", flat=True)) == {LintRun.objects.get().pk}


def test_a_lost_message_is_sent_again_after_a_while(read, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr(findings, "AT_ONCE", 0)
    monkeypatch.setattr(tasks.lint_cluster, "delay", rung.append)
    view = current.in_force(read)

    with django_capture_on_commit_callbacks(execute=True):
        for waited in (0, 30, 61, 0):
            LintRun.objects.update(rung_at=timezone.now() - timedelta(seconds=waited))
            findings.findings(view)

    assert rung == [read.pk, read.pk]


@pytest.mark.half
@pytest.mark.parametrize("version", ["3.9", "4.4"])
@pytest.mark.parametrize(
    ("odd", "severity"),
    [
        (allow("User:a", "READ", "x", host="nowhere"), "warning"),
        (deny("User:a", "READ", "x", host="nowhere"), "error"),
        (deny("User:a", "READ", "x", host="10.0.0.0/33"), "error"),
        (allow("User:a*", "READ", "x"), "warning"),
        (deny("User:a", "READ", "x y"), "error"),
        (allow("User:a", "READ", "*", pattern="PREFIXED"), "error"),
        (deny("User:a", "READ", "pay*"), "error"),
        (allow("User:a", "DESCRIBE", "nobody", resource_type="CLUSTER"), "error"),
    ],
)
def test_what_can_never_match_is_reported_by_one_finder_as_seriously_as_by_any(
    cluster, version, odd, severity
):
    Cluster.objects.filter(pk=cluster.pk).update(kafka_version=version)
    sync(cluster, client=Answers([odd]))

    rules = {rule for rule, _ in found(cluster)}
    worst = findings.findings(current.in_force(cluster)).matching()[0]

    assert rules & {
        "host-never-matches",
        "dormant-address-range",
        "unlikely-principal",
        "name-cannot-exist",
        "prefix-of-asterisk",
        "asterisk-in-name",
        "refused-by-kafka",
    }
    assert not rules & {"dead", "unreachable"}
    assert worst.severity == severity


def test_a_dormant_denial_is_as_serious_as_one_that_never_matches(cluster):
    Cluster.objects.filter(pk=cluster.pk).update(kafka_version="3.9")
    sync(cluster, client=Answers([deny("User:a", "READ", "x", host="10.0.0.0/8")]))

    told = findings.findings(current.in_force(cluster)).matching(rule="dormant-address-range")

    assert [(row.severity, row.can_go) for row in told[:9]] == [("error", True)]


def test_where_a_finder_stopped_is_reported(read, monkeypatch):
    monkeypatch.setattr("aclweb.acl.lint.consolidation.PROPOSALS_COMPARED", 1)
    names = [allow(who, "READ", f"x.{name}") for who in ("User:bob", "User:cat") for name in "abc"]
    sync(read, client=Answers(names))
    lint_run.run(read, owner="me")

    limits = findings.findings(current.in_force(read)).limits

    assert limits["findings"] == []
    assert "1 more were not" in limits["proposals"][0]


def test_a_declaration_asks_for_findings_at_once(read, dot, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr(tasks.lint_cluster, "delay", rung.append)

    with django_capture_on_commit_callbacks(execute=True):
        declare(cluster=read, actor=dot, super_users="User:bob")

    assert rung == [read.pk]


def test_every_acl_that_can_go_is_marked_once(cluster):
    # Dead by its host and implied: two reasons, one ACL.
    twice = allow("User:bob", "READ", "orders.eu", host="bobs-laptop")
    sync(cluster, client=Answers([WIDE, twice, deny("User:dan", "READ", "x", host="dans-laptop")]))
    lint_run.run(cluster, owner="me")

    told = findings.findings(current.in_force(cluster))

    assert sorted(row.acl.principal for row in told.can_go[:9]) == ["User:bob", "User:dan"]
    assert told.count().can_go == 2


@pytest.mark.parametrize("name", ["nul\x00", "lone\ud800", "back\\slash", "%_", "Straße"])
def test_any_name_is_stored_and_found_by_its_text(cluster, name):
    odd = allow(f"User:{name}", "READ", "stock", host="nowhere")
    sync(cluster, client=Answers([odd, allow("User:other", "READ", "stock", host="nowhere")]))
    lint_run.run(cluster, owner="me")

    told = findings.findings(current.in_force(cluster)).matching(rule="host-never-matches", text=name.upper())

    assert [row.acl for row in told[:9]] == [odd]


def test_the_finders_have_another_key_when_their_text_changes(read, monkeypatch):
    key = lint_run.key_of(read)
    monkeypatch.setattr(lint_run, "_version", lambda: "of another text")

    assert lint_run.key_of(read) != key
    assert os.path.exists(lint_run.__file__)


def test_findings_are_stored_in_short_transactions_and_seen_when_all_are_there(read, monkeypatch):
    monkeypatch.setattr(lint_run.staging, "ROWS_AT_ONCE", 2)
    sync(
        read,
        client=Answers(
            [allow("User:bob", "READ", f"gone-{number}", host="not-an-address") for number in range(9)]
        ),
    )
    seen, in_turn = [], lint_run.staging.in_turn

    def watched():
        seen.append(LintRun.objects.filter(cluster=read, done_at__isnull=False).count())
        return in_turn()

    monkeypatch.setattr(lint_run.staging, "in_turn", watched)
    assert lint_run.run(Cluster.objects.get(pk=read.pk), owner="me")

    assert len(seen) >= 4
    assert set(seen) == {0}
    row = LintRun.objects.get(cluster=read)
    assert row.done_at is not None
    assert [found.place for found in row.found.order_by("place")] == list(range(row.found.count()))


def test_findings_that_a_lost_worker_had_begun_to_store_are_stored_anew(read, monkeypatch):
    monkeypatch.setattr(lint_run.staging, "ROWS_AT_ONCE", 2)
    sync(
        read,
        client=Answers(
            [allow("User:bob", "READ", f"gone-{number}", host="not-an-address") for number in range(9)]
        ),
    )
    in_turn, turns = lint_run.staging.in_turn, []

    def dying():
        turns.append(1)
        if len(turns) == 3:
            raise KeyboardInterrupt
        return in_turn()

    with monkeypatch.context() as patch:
        patch.setattr(lint_run.staging, "in_turn", dying)
        with pytest.raises(KeyboardInterrupt):
            lint_run.run(Cluster.objects.get(pk=read.pk), owner="lost")
    left = StoredFinding.objects.count()
    assert left == 4
    LintRun.objects.update(lease_until=None)

    assert lint_run.run(Cluster.objects.get(pk=read.pk), owner="me")

    places = [found.place for found in LintRun.objects.get(cluster=read).found.order_by("place")]
    assert places == list(range(len(places)))


def test_every_file_that_can_change_a_finding_makes_stored_findings_old():
    read = {path.resolve() for path in lint_run.finder_files()}
    root = Path(aclweb.__path__[0]).resolve().parent
    seen, waiting = set(), [Path(lint_run.__file__).resolve()]
    while waiting:
        file = waiting.pop()
        assert file in read, f"{file} can change a finding"
        seen.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("aclweb.acl."):
                for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    parts = root.joinpath(*name.split("."))
                    found = {parts.with_suffix(".py"), parts / "__init__.py"}
                    waiting += [path for path in found if path.is_file() and path not in seen]
    assert len(seen) > 30
