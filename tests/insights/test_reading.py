"""Is it told how far the reading of logs is, and is it ended where somebody cancels it?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from aclweb.insights import reading, refresh, rounds, spark_child
from aclweb.insights.coverage import coverage
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import Load, Refresh
from aclweb.insights.telling import Told
from aclweb.inventory.admin import log_sources
from tests.insights.conftest import BINDINGS
from tests.insights.results import use, write_result
from tests.pipeline.test_progress import is_gone

# Says how far it is, then works on with a child of its own, as the JVM is one.
CHILD = """
import json, subprocess, sys, time
for line in sys.stdin:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(json.dumps({"step": f"Counting {child.pid}", "done": 1, "of": 3, "tasks_done": 2, "tasks": 8}), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def logged(read_cluster, tmp_path):
    """A cluster with a load, and with logs."""
    load(write_result(tmp_path / "before", BINDINGS, usage=[use(BINDINGS[0])]), read_cluster)
    log_sources.add(actor="ada", cluster=read_cluster, path="/logs")
    return read_cluster


@pytest.fixture
def slow_job(monkeypatch) -> list[subprocess.Popen[str]]:
    """The processes that were started, each of which goes on until it is ended."""
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def start(_command, **options):
        started.append(popen([sys.executable, "-c", CHILD], **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(spark_child, "java_home", lambda given, cache: "/java")
    return started


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """The clusters whose logs a worker was asked to read."""
    found: list[int] = []
    monkeypatch.setattr(reading, "enqueue", found.append)
    return found


def test_a_round_that_is_cancelled_ends_with_all_it_started_and_pages_stay(logged, slow_job):
    seen = []

    def cancelling(round_of_jobs):
        def job(arguments, tell):
            def told(how_far):
                tell(how_far)
                if how_far.step:
                    seen.append((reading.progress_of(logged), how_far.step))
                    reading.cancel(cluster=logged, person="dot")

            return round_of_jobs.run(arguments, told)

        return job

    before = Load.objects.get()
    with rounds.one_spark(60) as one, pytest.raises(InsightsError, match=r"^dot cancelled it\.$"):
        refresh.refresh(logged, cancelling(one))

    progress, step = seen[0]
    assert (progress.is_open, progress.share) == (True, 25)
    assert progress.sentences == (
        f"{step}.", "This is step 2 of 4.", "Spark has done 2 of 8 tasks under way."
    )  # fmt: skip
    assert slow_job[0].poll() is not None
    assert is_gone(int(step.split()[1]))
    assert Load.objects.get() == before
    assert reading.progress_of(logged) is None
    assert "UTC, ended early. dot cancelled it." in coverage(logged).problem


def test_the_next_try_knows_nothing_of_the_one_that_was_cancelled(logged):
    Refresh.objects.create(cluster=logged, cancelled_by="dot", step="Deciding", steps=3)

    with pytest.raises(InsightsError, match="It ran"):
        refresh.refresh(logged, lambda *_: (1, "It ran."))

    assert "failed. The logs were not read. It ran." in coverage(logged).problem


def test_what_is_being_loaded_cannot_be_cancelled_any_more(logged):
    told = []

    def job(arguments, tell):
        tell(Told(refresh.LOADING))
        told.append(reading.may_be_cancelled(logged))
        return 1, "It ran."

    with pytest.raises(InsightsError, match="It ran"):
        refresh.refresh(logged, job)

    assert told == [False]
    with pytest.raises(InsightsError, match="nothing to cancel"):
        reading.cancel(cluster=logged, person="dot")


def test_a_worker_is_asked_once_and_the_page_says_by_whom(logged, asked):
    reading.ask(cluster=logged, person="dot")
    reading.ask(cluster=logged, person="ada")

    assert asked == [logged.pk]
    assert reading.progress_of(logged).sentences == ("dot asked for it, and it waits for a worker.",)
    with pytest.raises(InsightsError, match="It ran"):
        refresh.refresh(logged, lambda *_: (1, "It ran."))
    assert reading.progress_of(logged) is None


def test_logs_that_nobody_named_are_not_read(read_cluster, asked):
    with pytest.raises(InsightsError, match="Nobody has said where the authorizer logs"):
        reading.ask(cluster=read_cluster, person="dot")

    assert asked == []


@pytest.fixture
def page(logged, signed_in, asked):
    def get(person, **headers):
        return signed_in(person).get("/c/test-eu/insights/coverage/", headers=headers)

    return get


def test_the_coverage_page_has_a_button_for_administrators_and_shows_how_far_it_is(
    logged, page, cho, dot, signed_in, asked
):
    assert b"Read the logs now" in page(dot).content
    assert b"Read the logs now" not in page(cho).content
    signed_in(dot).post("/c/test-eu/insights/coverage/reading/")
    assert asked == [logged.pk]
    assert b"dot asked for it, and it waits for a worker." in page(cho).content
    assert b"Read the logs now" not in page(dot).content

    row = refresh._row(logged)
    row.update(
        asked_at=None,
        lease_owner="w",
        lease_until=refresh.leases.later(60),
        step="Counting",
        steps=4,
        steps_done=1,
    )
    assert b"This is step 2 of 4." in page(cho).content
    assert b'id="cancel-reading"' not in page(cho).content
    assert b'id="cancel-reading"' in page(dot).content
    part = signed_in(cho).get("/c/test-eu/insights/coverage/reading/", headers={"HX-Request": "true"})
    assert b"This is step 2 of 4." in part.content
    assert "HX-Refresh" not in part.headers

    signed_in(dot).post("/c/test-eu/insights/coverage/reading/cancel/")
    assert row.get().cancelled_by == "dot"
    row.update(lease_until=None, lease_owner="")
    part = signed_in(cho).get("/c/test-eu/insights/coverage/reading/", headers={"HX-Request": "true"})
    assert part.headers["HX-Refresh"] == "true"
