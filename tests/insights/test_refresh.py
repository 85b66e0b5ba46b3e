"""Are a cluster's logs read by a child that leaves nothing behind, and failures told as sentences?"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from aclweb.acl.notation.files import binding_key
from aclweb.insights import analyses, queries, refresh, rounds, spark_child, tasks
from aclweb.insights import load as loading
from aclweb.insights.analyses import running
from aclweb.insights.coverage import coverage, freshness
from aclweb.insights.current import current_load
from aclweb.insights.declarations import declarations
from aclweb.insights.denials import inbox
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import Load, Refresh
from aclweb.insights.requests import requests_of
from aclweb.inventory import leases
from aclweb.inventory.admin import log_sources
from aclweb.inventory.current.view import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.snapshots import snapshot_text
from aclweb.pipeline import __main__ as pipeline
from aclweb.pipeline.snapshot import read_snapshot
from tests import forkserver
from tests.insights.conftest import BINDINGS
from tests.insights.results import request, use, write_result
from tests.pipeline.test_topics import FEW_LINES
from tests.servers import need_java

LOG = """\
[2026-11-20 10:00:00,000] INFO Principal = User:eve is Denied operation = READ from host = 10.0.0.7 on resource = \
Topic:LITERAL:payments.eu for request = Fetch with resourceRefCount = 1 \
based on rule DefaultDeny (kafka.authorizer.logger)
[2026-11-20 10:00:05,000] DEBUG Principal = User:bob is Allowed operation = READ from host = 10.0.0.7 on resource = \
Topic:LITERAL:payments.eu for request = Fetch with resourceRefCount = 1 \
based on rule SuperUser (kafka.authorizer.logger)
"""


def logs_at(cluster: Cluster, *paths: str) -> None:
    log_sources.set_paths(actor="ada", cluster=cluster, paths=paths)


@pytest.fixture
def logged(read_cluster, tmp_path, settings):
    settings.ACLWEB_ACCESS_TABLE = tmp_path / "access"
    (tmp_path / "a.log").write_text(LOG, encoding="utf-8")
    logs_at(read_cluster, f"{tmp_path}/*.log")
    return read_cluster


@pytest.mark.spark
@pytest.mark.own_server  # its Spark is a process of its own, so it need not wait for those of the shared one
def test_the_logs_of_a_cluster_are_read_and_loaded_by_one_process_of_a_round(logged, monkeypatch, tmp_path):
    need_java()
    told, children = [], []
    run, start = rounds.Round.run, spark_child.start_round
    # As words and in no file: a JVM whose class path begins with another folder reads every class anew.
    few_lines = [f"--conf={setting}" for setting in FEW_LINES]

    def noted(one, words, *given):
        told.append(run(one, [*words, *few_lines], *given))
        return told[-1]

    monkeypatch.setattr(rounds.Round, "run", noted)
    monkeypatch.setattr(
        spark_child, "start_round", lambda *given: children.append(start(*given)) or children[-1]
    )

    with rounds.one_spark(600) as one:
        loaded = refresh.refresh(logged, one.run)
        again = access_table_of_another_cluster(one, tmp_path)

    assert (told, again) == ([(0, "")] * 2, (0, "")), "a job prints no note of the JVM"
    assert [child.poll() is not None for child in children] == [True]

    assert (loaded.lines_read, loaded.revision_number) == (2, logged.revision.number)
    key = binding_key(BINDINGS[0])
    assert queries.usage_of(logged, [key], load=current_load(logged))[key].requests == 1
    assert inbox(logged, in_force_since=lambda numbers: {}).rows[0].cause.kind == "deny"
    assert [check.kind for check in declarations(logged)] == ["contradicts"]


def access_table_of_another_cluster(one: rounds.Round, folder: Path) -> tuple[int, str]:
    words = ("--cluster", "us", "--log", str(folder / "a.log"), "--out", str(folder / "us"))
    return one.run(["access", *words])


@pytest.mark.spark
@pytest.mark.thorough(instead="tests/pipeline/test_load_bearing.py::test_each_planted_acl_has_its_state")
def test_an_analysis_answers_from_the_table_that_a_refresh_wrote(logged):
    need_java()
    with rounds.one_spark(600) as one:
        refresh.refresh(logged, one.run)
    row = analyses.ask(cluster=logged, job="load-bearing", options={}, person="ada")

    assert running.run_next("worker")

    row.refresh_from_db()
    assert (row.state, row.problem) == ("DONE", "")
    assert row.step == running.STORING
    assert row.counts["acls"][""] == len(BINDINGS)
    found = map(analyses.values_of, analyses.found_in(row, analyses.JOBS["load-bearing"].tables[0]))
    states = {each["binding_key"]: each["state"] for each in found}
    assert states[binding_key(BINDINGS[0])] == "needed"
    assert states[binding_key(BINDINGS[1])] == "no data"
    assert row.sentences[0].startswith("Read 2 records of 1 file, from 2026-11-20 10:00:00")


def test_the_snapshot_for_the_job_holds_what_is_in_force_and_declared(logged, tmp_path):
    path = tmp_path / "snapshot.jsonl"
    path.write_text(snapshot_text(in_force(logged)), encoding="utf-8")

    snapshot = read_snapshot(path)

    assert set(snapshot.bindings.values()) == set(BINDINGS)
    assert snapshot.digest == logged.revision.digest
    assert snapshot.revision == logged.revision.number
    assert snapshot.settings.super_users == {"User:admin"}
    assert json.loads(path.read_text().splitlines()[0])["topics"] == ["orders", "payments.eu"]


def test_what_nobody_declared_is_left_out_of_the_snapshot(logged, tmp_path):
    logged.super_users = logged.allow_everyone = None
    logged.save(update_fields=["super_users", "allow_everyone"])
    path = tmp_path / "snapshot.jsonl"
    path.write_text(snapshot_text(in_force(logged)), encoding="utf-8")

    assert read_snapshot(path).settings.undeclared == {"super_users", "allow_everyone"}


def test_a_cluster_without_logs_says_so(read_cluster):
    with pytest.raises(InsightsError, match="Nobody has said where the authorizer logs"):
        refresh.refresh(read_cluster)


def test_a_cluster_that_was_never_read_says_so(cluster):
    logs_at(cluster, "a.log")

    with pytest.raises(InsightsError, match="has not been synced yet"):
        refresh.refresh(cluster)


def test_reading_logs_can_be_switched_off(logged, settings):
    settings.ACLWEB_SPARK_MASTER = ""

    with pytest.raises(InsightsError, match="switched off"):
        refresh.refresh(logged)


def test_the_sentence_of_a_job_that_failed_is_passed_on(logged):
    need_java()
    logs_at(logged, "/nowhere/at-all.log")

    with pytest.raises(InsightsError, match=r"No log file is at '/nowhere/at-all\.log'"):
        refresh.refresh(logged)

    assert not Load.objects.exists()


def test_a_job_that_takes_too_long_is_ended_with_its_children(logged, monkeypatch):
    need_java()
    started = []
    popen = subprocess.Popen

    def sleeper(command, **options):
        child = popen([sys.executable, "-c", "import time; time.sleep(600)"], **options)
        started.append(child)
        return child

    monkeypatch.setattr(spark_child.subprocess, "Popen", sleeper)
    monkeypatch.setattr(spark_child, "java_home", lambda given, cache: Path("/"))
    monkeypatch.setattr(refresh, "LONGEST_RUN_SECONDS", 0.2)

    with pytest.raises(InsightsError, match="took longer than"):
        refresh.refresh(logged)

    assert started[0].poll() is not None


def test_a_job_gets_the_java_and_the_memory_that_the_settings_name(logged, monkeypatch, settings):
    settings.JAVA_HOME, settings.XDG_CACHE_HOME, settings.ACLWEB_SPARK_MEMORY = "/java", "/cache", "3g"
    popen = subprocess.Popen
    telling = "import os, sys; sys.exit(os.environ['JAVA_HOME'] + ' ' + os.environ['ACLWEB_SPARK_MEMORY'])"

    monkeypatch.setattr(
        spark_child.subprocess,
        "Popen",
        lambda command, **given: popen([sys.executable, "-c", telling], **given),
    )
    monkeypatch.setattr(spark_child, "java_home", lambda given, cache: f"{given} {cache}")

    with pytest.raises(InsightsError, match=r"The logs were not read\. /java /cache 3g"):
        refresh.refresh(logged)


def test_two_refreshes_of_a_cluster_do_not_run_at_once(logged):
    row = refresh._row(logged)
    assert leases.take(row, owner="another host", seconds=60)

    assert refresh.refresh(logged) is None
    assert leases.holder(row) == "another host"


@pytest.fixture
def asked(logged, tmp_path, monkeypatch) -> list[str]:
    """What the job was told to be known, each time; what it finds is in the folder `ours`."""
    given: list[str] = []

    def run(_job, _turn, arguments):
        given.append(arguments[arguments.index("--known") + 1])
        return shutil.copytree(tmp_path / "ours", arguments[-1])

    monkeypatch.setattr(refresh, "_run", run)
    return given


def test_a_refresh_that_was_overtaken_is_no_failed_one(asked, logged, tmp_path, monkeypatch, caplog):
    theirs = write_result(tmp_path / "theirs", BINDINGS, usage=[use(BINDINGS[0])])
    write_result(tmp_path / "ours", BINDINGS, requests=[request("User:eve", "READ", "payments.eu")])
    store, loads = loading.store_requests, []

    def storing(*args, **facts):
        if not loads:
            loads.append(None)
            loads[0] = load(theirs, logged)
        return store(*args, **facts)

    monkeypatch.setattr(loading, "store_requests", storing)
    with caplog.at_level(logging.WARNING):
        assert refresh.refresh(logged) is None

    assert "Another process loaded the logs" in caplog.text
    assert current_load(logged) == loads[0]
    assert freshness(logged, loads[0]).problem == ""


@pytest.mark.parametrize("without, known", [((), "as it was"), (("determining",), "")])
def test_a_load_without_the_last_30_days_is_made_anew_where_nothing_is_new(
    without, known, asked, logged, tmp_path
):
    facts = {
        "usage": [use(BINDINGS[0])],
        "requests": [request("User:eve", "READ", "x")],
        "state": "as it was",
    }
    load(write_result(tmp_path / "before", BINDINGS, without=without, **facts), logged)
    write_result(tmp_path / "ours", BINDINGS, **facts)

    refresh.refresh(logged)
    assert asked == [known]
    assert current_load(logged).uses.get().requests_30 is not None

    shutil.rmtree(tmp_path / "ours")
    write_result(tmp_path / "ours", BINDINGS, **facts)
    refresh.refresh(logged)
    assert asked == [known, "as it was"]


def test_a_refresh_that_was_lost_keeps_nobody_waiting_for_long(logged, monkeypatch):
    row = refresh._row(logged)
    assert leases.take(row, owner="a worker that died", seconds=-1)
    monkeypatch.setattr(refresh, "_job", lambda *_: (1, "It ran."))

    with pytest.raises(InsightsError, match="It ran"):
        refresh.refresh(logged)

    assert leases.holder(row) is None


def test_a_refresh_that_lost_its_lease_loads_nothing(logged, monkeypatch):
    row = refresh._row(logged)

    def job(arguments, _tell):
        row.update(lease_owner="another host")
        return 0, ""

    monkeypatch.setattr(refresh, "_job", job)

    assert refresh.refresh(logged) is None
    assert leases.holder(row) == "another host"
    assert not Load.objects.exists()


@pytest.mark.long
def test_two_hosts_with_one_database_do_not_run_the_same_refresh(tables, tmp_path):
    shared = shutil.copy(tables, tmp_path / "shared.sqlite3")

    def environment(number):
        return os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{shared}",
            "ACLWEB_DATA_DIR": str(tmp_path / f"host-{number}"),
        }

    def ran(number, action):
        return forkserver.run(["-m", "tests.insights.refresher", action], environment(number))

    assert ran(1, "setup").returncode == 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.insights.refresher", "refresh"],
        env=environment(1),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        try:
            assert first.stdout.readline() == "running\n"

            second = ran(2, "refresh").stdout
            ended = first.communicate("go on\n", timeout=600)[0]
            third = ran(2, "refresh").stdout
        finally:
            first.kill()

    assert second == "left to another worker\n"
    assert "The stand-in has ended." in ended
    assert third.startswith("running\n")


def test_a_cluster_that_fails_costs_itself_and_one_that_is_gone_nothing(
    logged, other_cluster, caplog, monkeypatch
):
    gone = Cluster.objects.create(slug="gone", name="gone", kind="snapshot", address="x")
    for cluster, path in ((other_cluster, "/o"), (gone, "/g")):
        logs_at(cluster, path)
    refreshed = []

    def refreshing(cluster, _job):
        refreshed.append(cluster)
        Cluster.objects.filter(slug="gone").delete()
        raise InsightsError("It failed.") if len(refreshed) > 1 else ValueError("It failed.")

    monkeypatch.setattr(refresh, "refresh", refreshing)
    with caplog.at_level(logging.WARNING):
        tasks.refresh_all()

    assert set(refreshed) == {logged, other_cluster}
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "Insights of cluster" in caplog.records[1].getMessage()


def test_a_failed_refresh_is_kept_for_the_page_until_one_goes_well(logged, tmp_path, monkeypatch):
    ours = write_result(tmp_path / "usage", BINDINGS)
    load(ours, logged)

    def failing(_job, _turn, _arguments):
        raise InsightsError(
            "The logs were not read. The job failed: EOFException: Unexpected end of input stream"
        )

    monkeypatch.setattr(spark_child, "java_home", lambda given, cache: Path("/"))
    monkeypatch.setattr(refresh, "_run", failing)
    tasks.refresh_all()

    told = coverage(logged).problem
    assert told.startswith(f"Not refreshed since {Load.objects.get().loaded_at:%Y-%m-%d %H:%M} UTC")
    assert "Unexpected end of input stream" in told

    monkeypatch.setattr(refresh, "_run", lambda _job, _turn, arguments: shutil.copytree(ours, arguments[-1]))
    tasks.refresh_all()

    assert coverage(logged).problem == ""
    read_at = Refresh.objects.get().read_at
    assert read_at == Refresh.objects.get().tried_at

    monkeypatch.setattr(refresh, "_run", failing)
    tasks.refresh_all()

    assert Refresh.objects.get().read_at == read_at
    assert Refresh.objects.get().tried_at > read_at


def test_a_full_disk_is_reported_and_kept(logged, monkeypatch):
    def full(**_options):
        raise OSError(errno.ENOSPC, "No space left on device", "/data")

    monkeypatch.setattr(refresh.tempfile, "TemporaryDirectory", full)

    with pytest.raises(InsightsError, match="No space left on device: /data"):
        refresh.refresh(logged)

    assert "No space left on device" in coverage(logged).problem


@pytest.fixture
def here(spark, monkeypatch, capsys):
    """Run the job in this process, in the Spark of all tests."""

    def job(arguments, _tell):
        status = pipeline.main(arguments)
        return status, capsys.readouterr().err

    monkeypatch.setattr(pipeline, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    monkeypatch.setattr(refresh, "_job", job)
    monkeypatch.setattr(tasks, "one_spark", lambda _seconds: contextlib.nullcontext(SimpleNamespace(run=job)))


@pytest.mark.thorough(
    instead="tests/pipeline/test_files.py::test_a_bad_file_costs_itself_and_is_named_with_its_state"
)
def test_a_bad_file_beside_good_ones_is_reported_on_the_page_and_costs_itself(here, logged, tmp_path):
    (tmp_path / "b.log").write_bytes(LOG.encode().replace(b"payments", b"paym\xe9nts"))
    (tmp_path / "plain.gz").write_text(LOG)
    logs_at(logged, f"{tmp_path}/*.log", f"{tmp_path}/*.gz")

    loaded = refresh.refresh(logged)

    assert loaded.lines_read == 4
    covered = coverage(logged)
    assert [(file.name, file.state) for file in covered.files] == [
        ("a.log", "read"), ("b.log", "read"), ("plain.gz", "not a gzip file"),
    ]  # fmt: skip
    told = " ".join(covered.sentences)
    assert "plain.gz: not a gzip file." in told
    assert "2 lines of the log hold bytes that are not UTF-8" in told


@pytest.mark.thorough(
    instead="tests/insights/test_rounds.py::test_one_process_runs_all_jobs_and_ends_with_the_round"
)
def test_gone_logs_still_count_and_spark_starts_only_where_something_changed(
    here, logged, tmp_path, monkeypatch
):
    first = refresh.refresh(logged)
    session, started = pipeline.spark_session, []
    monkeypatch.setattr(pipeline, "spark_session", lambda *a, **b: started.append(1) or session(*a, **b))

    assert refresh.refresh(logged) == first
    assert started == []

    (tmp_path / "a.log").unlink()
    (tmp_path / "b.log").write_text(LOG.replace("User:eve", "User:mallory"), encoding="utf-8")
    second = refresh.refresh(logged)
    assert (first.lines_read, second.lines_read) == (2, 4)
    assert set(requests_of(second).values_list("request__principal", flat=True)) == {
        "User:eve",
        "User:mallory",
        "User:bob",
    }
    assert [file["state"] for file in second.manifest["files"]] == ["read", "read"]

    logged.super_users = "User:bob"
    logged.save(update_fields=["super_users"])
    third = refresh.refresh(logged)
    assert third != second
    assert (third.lines_read, len(started)) == (4, 2)

    # Nothing new could be read, and that is news.
    (tmp_path / "c.log.gz").write_text("no gzip file", encoding="utf-8")
    logs_at(logged, f"{tmp_path}/*.log", f"{tmp_path}/*.gz")
    fourth = refresh.refresh(logged)
    assert (fourth.lines_read, len(started)) == (4, 3)
    states = {file["name"]: file["state"] for file in fourth.manifest["files"]}
    assert states["c.log.gz"] == "not a gzip file"
    assert Load.objects.get(current=True) == fourth


def test_where_no_file_can_be_read_the_old_load_stays_and_the_page_says_why(here, logged, tmp_path):
    load(write_result(tmp_path / "usage", BINDINGS), logged)
    (tmp_path / "plain.gz").write_text(LOG)
    logs_at(logged, f"{tmp_path}/plain.gz")

    tasks.refresh_all()

    assert Load.objects.get().lines_read == 200
    told = coverage(logged).problem
    assert "The log file could not be read" in told
    assert "plain.gz: not a gzip file" in told


def test_a_task_for_a_cluster_that_is_gone_does_nothing(db):
    tasks.refresh(4711)


def test_only_clusters_with_logs_are_refreshed(logged, other_cluster, monkeypatch):
    refreshed = []
    monkeypatch.setattr(refresh, "refresh", lambda cluster, _job: refreshed.append(cluster))

    tasks.refresh_all()

    assert refreshed == [logged]


def test_the_command_loads_a_result_made_elsewhere(read_cluster, tmp_path):
    folder = write_result(tmp_path / "usage", BINDINGS, usage=[use(BINDINGS[0])])
    out = StringIO()

    call_command("insights", "test-eu", "--load", str(folder), stdout=out)

    assert "The log covers 2026-11-07" in out.getvalue()
    assert Load.objects.get().uses.count() == 1


def test_the_command_loads_nothing_while_another_process_reads_the_logs(read_cluster, tmp_path):
    folder = write_result(tmp_path / "usage", BINDINGS)
    row = refresh._row(read_cluster)
    assert leases.take(row, owner="another host", seconds=60)

    with pytest.raises(CommandError, match="Another process is reading the logs") as failed:
        call_command("insights", "test-eu", "--load", str(folder))

    assert failed.value.returncode == 1
    assert not Load.objects.exists()
    assert leases.holder(row) == "another host"


def test_the_command_gives_the_lease_back(read_cluster, tmp_path):
    folder = write_result(tmp_path / "usage", BINDINGS)

    call_command("insights", "test-eu", "--load", str(folder), stdout=StringIO())

    assert leases.holder(refresh._row(read_cluster)) is None


def test_the_command_prints_json(read_cluster, tmp_path):
    folder = write_result(tmp_path / "usage", BINDINGS)
    out = StringIO()

    call_command("insights", "test-eu", "--load", str(folder), "--json", stdout=out)

    told = json.loads(out.getvalue())
    assert (told["cluster"], told["revision"]) == ("test-eu", read_cluster.revision.number)


@pytest.mark.parametrize(
    "arguments, told, status",
    [
        (["nowhere"], "known are: test-eu", 2),
        (["test-eu"], "Nobody has said where", 1),
        (["test-eu", "--load", "/nowhere"], "holds no manifest.json", 2),
    ],
)
def test_the_command_ends_with_a_sentence_where_it_cannot(read_cluster, arguments, told, status):
    with pytest.raises(CommandError, match=told) as failed:
        call_command("insights", *arguments)

    assert failed.value.returncode == status
