"""An analysis of several clusters gets what the site knows of each, and exists for who may see all of them."""

from __future__ import annotations

import contextlib
import json
from datetime import date

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from aclweb.accounts.access import visible_clusters
from aclweb.accounts.models import Grant, Role
from aclweb.insights.analyses import (
    JOBS,
    asking,
    beside,
    claims_of,
    found_in,
    headline,
    pairs_of,
    ringing,
    running,
    values_of,
)
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis, Load, RetiredBroker
from aclweb.inventory.models import Cluster
from aclweb.pipeline.__main__ import main
from tests.insights import analysed

RIGHTS = JOBS["compare"].tables[0]


@pytest.fixture(autouse=True)
def no_queue(monkeypatch):
    monkeypatch.setattr(ringing, "enqueue", lambda: None)


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    return analysed.Jobs(monkeypatch, tmp_path)


def compare(cluster, others, visible=None, person="ada"):
    seen = Cluster.objects.all() if visible is None else visible
    return asking.ask(cluster=cluster, job="compare", options={"beside": others}, person=person, visible=seen)


def test_a_worker_compares_with_what_the_site_knows_of_each_cluster(two_logged, jobs, tmp_path):
    eu, us = two_logged
    RetiredBroker.objects.create(
        cluster=us, broker="b2", since=date(2026, 11, 18), set_by="dot", set_at=timezone.now()
    )
    compare(eu, "test-us")

    done = jobs.run(analysed.compared(tmp_path / "compare", analysed.RIGHTS))

    words = jobs.started[0]
    assert (words[0], words.count("--beside"), "--days" in words) == ("compare", 1, True)
    assert json.loads(jobs.inputs[0]["--snapshot"].splitlines()[0])["cluster"] == "test-eu"
    assert json.loads(jobs.inputs[0]["--beside"].splitlines()[0])["cluster"] == "test-us"
    gone = [{"broker": "b2", "gone_since": "2026-11-18"}]
    assert json.loads(jobs.inputs[0]["--beside-brokers"]) == gone
    assert json.loads(jobs.inputs[0]["--brokers"]) == []
    assert (done.state, done.problem) == ("DONE", "")
    assert headline(done, RIGHTS) == "2 rights: 1 used in part, 1 used on all."
    covers = "the log covers 2026-10-01 00:00 to 2026-11-20 12:00"
    assert [(claim.known, claim.sentence) for claim in claims_of(done, JOBS["compare"])] == [
        (True, f"test-eu: {covers}. It holds enough to call something unused."),
        (False, f"test-us: {covers}. What it does not use: cannot tell, permits are not in the log."),
    ]


@pytest.mark.parametrize(
    "named, told",
    [
        ("", "Choose another cluster to compare test-eu with; one alone is compared with nothing."),
        (" , ", "Choose another cluster to compare test-eu with"),
        ("test-eu", "test-eu cannot be compared with itself; choose another cluster."),
        ("test-eu,test-us", "test-eu cannot be compared with itself"),
        ("nowhere", "There is no cluster 'nowhere' that you may look at."),
        ("\x00,\ud800", r"There is no cluster '\x00' that you may look at."),
        ("a,b,c,d,e,f,g,h,i,j", "test-eu is compared with 9 clusters at most, and 10 are chosen."),
    ],
)
def test_what_cannot_be_compared_is_a_sentence_and_nothing_is_asked(two_logged, named, told):
    with pytest.raises(InsightsError) as raised:
        compare(two_logged[0], named)

    assert str(raised.value).startswith(told)
    assert not Analysis.objects.exists()


def test_a_cluster_that_was_never_synced_or_has_no_log_is_named(two_logged):
    eu, us = two_logged

    def why() -> str:
        with pytest.raises(InsightsError) as raised:
            compare(eu, "test-us")
        return str(raised.value)

    Load.objects.filter(cluster=us).delete()
    assert "No authorizer log of test-us has been read yet" in why()
    Cluster.objects.filter(pk=us.pk).update(revision=None)
    assert "test-us has not been synced yet" in why()
    assert not Analysis.objects.exists()


def test_who_names_no_clusters_that_may_be_seen_can_choose_none(two_logged, cho):
    with pytest.raises(InsightsError, match="There is no cluster 'test-us' that you may look at"):
        compare(two_logged[0], "test-us", visible_clusters(cho))
    with pytest.raises(InsightsError, match="There is no cluster 'test-us' that you may look at"):
        asking.ask(cluster=two_logged[0], job="compare", options={"beside": "test-us"}, person="cho")


def test_the_same_clusters_in_another_order_are_asked_for_once(two_logged):
    eu, us = two_logged
    asia = Cluster.objects.create(slug="asia", name="asia", kind="admin", revision=us.revision)
    load = Load.objects.get(cluster=us)
    load.pk, load.cluster = None, asia
    load.save(force_insert=True)

    first = compare(eu, "test-us,asia")

    assert first.options == {"beside": "asia,test-us"}
    assert compare(eu, "asia, test-us").pk == first.pk
    assert compare(eu, "asia").pk != first.pk


def test_an_analysis_exists_for_who_may_see_all_of_its_clusters(two_logged, cho):
    eu, us = two_logged
    row = compare(eu, "test-us")
    other = asking.ask(cluster=eu, job="matrix", options={}, person="ada")

    def seen():
        found = visible_clusters(cho)
        return asking.of_address(eu, row.address, found), list(asking.seen_of(eu, found))

    assert seen() == (None, [other])
    grant = Grant.objects.create(user=cho, cluster=us, role=Role.VIEWER)
    assert seen() == (row, [other, row])
    grant.delete()
    assert seen() == (None, [other])


def test_a_cluster_that_is_gone_hides_the_analysis_and_fails_its_run(two_logged, jobs, tmp_path):
    eu, us = two_logged
    row = compare(eu, "test-us")
    us.delete()

    assert asking.of_address(eu, row.address, Cluster.objects.all()) is None
    done = jobs.run(analysed.compared(tmp_path / "compare", analysed.RIGHTS))
    assert (done.state, done.problem) == ("FAILED", "1 cluster of this comparison is gone: test-us.")
    assert jobs.started == []


def test_who_chooses_sees_why_a_cluster_cannot_be_chosen(two_logged, django_assert_num_queries):
    eu, _ = two_logged
    Cluster.objects.create(slug="new", name="a new one", kind="admin")

    with django_assert_num_queries(2):
        found = beside.candidates(eu, Cluster.objects.all())

    assert [(each.cluster.slug, each.why_not[:29]) for each in found] == [
        ("new", "a new one has not been synced"),
        ("test-us", ""),
    ]


def test_the_command_compares_clusters(two_logged, jobs, tmp_path, monkeypatch, capsys):
    call_command("analyse", "test-eu", "compare", "--beside", "test-us")
    jobs.leave(analysed.compared(tmp_path / "compare", analysed.RIGHTS))
    monkeypatch.setattr("time.sleep", lambda seconds: running.run_next("worker"))
    capsys.readouterr()
    call_command("analyse", "test-eu", "compare", "--beside", "test-us", "--wait")

    assert "test-us uses 2 rights; test-eu does not use 1 of them" in capsys.readouterr().out
    assert Analysis.objects.get().options == {"beside": "test-us"}
    with pytest.raises(CommandError, match="Choose another cluster to compare test-eu with"):
        call_command("analyse", "test-eu", "compare")


LOG = """\
[2026-11-20 10:00:00,000] DEBUG Principal = User:bob is Allowed operation = READ from host = 10.0.0.7 on resource = \
Topic:LITERAL:payments.eu for request = Fetch with resourceRefCount = 1 \
based on rule SuperUser (kafka.authorizer.logger)
"""


@pytest.mark.spark
@pytest.mark.thorough(
    instead="tests/pipeline/test_compare.py::test_of_each_two_clusters_it_is_counted_what_one_uses_and_the_other_does_not"
)
def test_a_comparison_answers_from_the_access_tables_of_both_clusters(
    two_logged, spark, settings, tmp_path, monkeypatch, capsys
):
    eu, _ = two_logged
    settings.ACLWEB_ACCESS_TABLE = tmp_path / "access"

    def in_this_spark(words, *_):
        assert main(words, start_spark=lambda *_, **__: contextlib.nullcontext(spark)) == 0
        return 0, capsys.readouterr().out.splitlines()

    monkeypatch.setattr(running, "_run", in_this_spark)
    for name, topics in (("test-eu", ["payments.eu"]), ("test-us", ["payments.eu", "payments.us"])):
        log = tmp_path / f"{name}.log"
        log.write_text("".join(LOG.replace("payments.eu", topic) for topic in topics))
        in_this_spark(["access", "--cluster", name, "--log", str(log), "--out", str(tmp_path / "access")])
    row = compare(eu, "test-us")

    assert running.run_next("worker")

    row.refresh_from_db()
    assert (row.state, row.problem) == ("DONE", "")
    assert [pair.sentence for pair in pairs_of(row, JOBS["compare"].tables[2])] == [
        "test-eu uses 1 topic; test-us does too.",
        "test-us uses 2 topics; of 1 nobody can tell whether test-eu does.",
    ]
    assert [claim.known for claim in claims_of(row, JOBS["compare"])] == [False, False]
    assert "Compared test-eu, test-us." in row.sentences
    (found,) = (values_of(each) for each in found_in(row, RIGHTS, on={"allowed_on": "test-eu"}))
    assert (found["resource_name"], found["used_on"], found["unknown_on"]) == (
        "payments.us",
        ["test-us"],
        ["test-eu"],
    )
