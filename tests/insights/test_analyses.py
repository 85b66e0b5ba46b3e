"""An analysis is run once by one worker, says how far it is, is ended by who asked, and keeps what it found."""

from __future__ import annotations

import json
import time
from datetime import date, timedelta
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from aclweb.insights import tasks
from aclweb.insights.analyses import (
    JOBS,
    asking,
    covered,
    found_in,
    keeping,
    ringing,
    running,
    storing,
    values_of,
)
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.insights.retired import retire
from aclweb.inventory import leases
from tests.insights import analysed
from tests.insights.conftest import BINDINGS
from tests.insights.results import LAST, log_days
from tests.pipeline.test_progress import is_gone

State = Analysis.State
ACLS = JOBS["load-bearing"].tables[0]


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    """The messages to workers; no queue is needed, because the row is the truth."""
    sent = []
    monkeypatch.setattr(ringing, "enqueue", lambda: sent.append(1))
    return sent


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    return analysed.Jobs(monkeypatch, tmp_path)


@pytest.fixture
def logged(given):
    """A cluster whose logs have been read."""
    return given().cluster


@pytest.fixture
def asked(logged):
    def asked(job="load-bearing", *, person="ada", **options):
        return asking.ask(cluster=logged, job=job, options=options, person=person)

    return asked


@pytest.fixture
def result(tmp_path):
    rows = [
        analysed.acl_row(BINDINGS[0], "needed", needed=5),
        analysed.acl_row(BINDINGS[1], "unused", requests=0),
        analysed.acl_row(BINDINGS[2], "unused", requests=0),
    ]
    return analysed.load_bearing(tmp_path / "result", rows)


def now(row: Analysis) -> Analysis:
    return Analysis.objects.get(pk=row.pk)


def test_a_worker_runs_the_job_and_keeps_what_it_found(asked, jobs, result, logged):
    row = asked()

    done = jobs.run(result)

    assert done == row
    assert (done.state, done.problem, done.rows_kept) == (State.DONE, "", 3)
    assert done.revision_number == logged.revision.number
    assert done.counts == {"acls": {"": 3, "needed": 1, "unused": 2}}
    assert done.sentences == ["Read 12 records of 2 files."], "the folder is gone, so nobody is sent there"
    assert "files" not in done.facts
    rows = [values_of(each) for each in found_in(done, ACLS)]
    assert [each["state"] for each in rows] == ["needed", "unused", "unused"]
    assert rows[0]["last_at"] == "2026-11-20 12:00:00"


def test_the_job_gets_what_the_site_knows(asked, jobs, result, logged, ada, given):
    given(coverage=[*log_days("b1"), *log_days("b2", last=LAST - timedelta(days=3))])
    retire(cluster=logged, broker="b2", since=date(2026, 11, 18), actor=ada)
    asked()

    jobs.run(result)

    words, inputs = jobs.started[0], jobs.inputs[0]
    assert words[:3] == ["load-bearing", "--master", "local[*]"]
    assert {"--cluster", "--table", "--days", "--percent", "--history"} < set(words)
    assert words[words.index("--days") + 1] == "13"
    assert json.loads(inputs["--snapshot"].splitlines()[0])["cluster"] == "test-eu"
    assert len(inputs["--history"].splitlines()) == len(BINDINGS)
    assert {"broker": "b2", "gone_since": "2026-11-18"} in analysed.brokers_given(inputs)


def test_options_are_words_of_the_command(asked, jobs, tmp_path):
    asked("anomalies", lately="14")
    jobs.run(analysed.write_analysis(tmp_path / "anomalies", "anomalies", {"anomalies": []}))

    words = jobs.started[0]
    assert words[words.index("--lately") + 1] == "14"
    assert "--days" not in words


def test_how_far_it_is_is_written_down_step_by_step(asked, jobs, result, monkeypatch):
    row, seen = asked(), []
    update = running.QuerySet.update

    def watch(rows, **values):
        if "step" in values and rows.model is Analysis:
            seen.append((values["step"], values["steps_done"], values["steps"]))
        return update(rows, **values)

    monkeypatch.setattr(running.QuerySet, "update", watch)
    jobs.run(result)

    told = list(dict.fromkeys(seen))
    assert told[-1] == (running.STORING, 3, 4)
    assert told[-2] == ("Adding up", 2, 4)
    assert now(row).steps_done == 3


def test_what_a_page_says_of_it_is_true(asked):
    row = asked()
    first = asking.progress_of(row)
    other = asking.progress_of(asked("matrix", person="ben"))
    Analysis.objects.filter(pk=row.pk).update(
        state=State.RUNNING, step="Deciding", steps_done=1, steps=4, tasks_done=3, tasks=8, attempts=2
    )

    assert first.sentences == ("It waits for a worker.",)
    assert (
        other.sentences[1]
        == "On each cluster one runs at a time, and 1 that was asked for earlier comes first."
    )
    found = asking.progress_of(now(row))
    assert (found.is_open, found.share) == (True, 25)
    assert found.sentences == (
        "Deciding.",
        "This is step 2 of 4.",
        "Spark has done 3 of 8 tasks under way.",
        "This is try 2: the worker before was lost.",
    )


def test_cancelling_ends_the_job_and_all_that_it_started(asked, jobs, monkeypatch):
    row = asked()
    told = jobs.hang()
    read = running.Told.of

    def cancelled(line):
        if told.exists() and now(row).is_open:
            asking.cancel(row, person="ada", is_administrator=False)
        return read(line)

    monkeypatch.setattr(running.Told, "of", cancelled)
    assert running.run_next("worker")

    assert all(is_gone(pid) for pid in analysed.ids_in(told))
    ended = now(row)
    assert (ended.state, ended.problem) == (State.CANCELLED, "Cancelled by ada.")
    assert not AnalysisRow.objects.exists()


def test_one_that_waits_is_cancelled_and_never_run(asked, jobs):
    row = asked()

    asking.cancel(row, person="dot", is_administrator=True)

    assert not running.run_next("worker")
    assert jobs.started == []
    with pytest.raises(InsightsError, match="It has ended already"):
        asking.cancel(row, person="dot", is_administrator=True)


def test_somebody_else_cannot_cancel_it(asked):
    row = asked()

    with pytest.raises(InsightsError, match="ada asked for this, so you cannot cancel it"):
        asking.cancel(row, person="cho", is_administrator=False)

    assert now(row).state == State.QUEUED


def test_a_job_that_fails_leaves_its_sentence_and_no_row(asked, jobs):
    row = asked()
    jobs.fail()

    assert running.run_next("worker")

    failed = now(row)
    assert failed.state == State.FAILED
    assert failed.problem == "The logs were not analysed. The job failed: no space is left."


def test_a_result_that_is_not_whole_is_not_shown(asked, jobs, result):
    row = asked()
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(manifest | {"rows": {"acls": 4}}))

    jobs.run(result)

    assert "acls.parquet should hold 4 rows and holds 3; run the job again." in now(row).problem
    assert not AnalysisRow.objects.exists()


def test_a_job_that_takes_too_long_is_ended(asked, jobs, monkeypatch):
    row = asked()
    told = jobs.hang()

    def clock() -> float:
        """Return a time that is too late once the job and its child are there, however long a busy machine takes."""
        return time.monotonic() + (running.LONGEST_RUN_SECONDS if told.exists() else 0)

    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=clock))

    assert running.run_next("worker")

    assert all(is_gone(pid) for pid in analysed.ids_in(told))
    assert "It took longer than" in now(row).problem


def test_the_run_of_a_worker_that_died_is_taken_up_once(asked, jobs, result):
    row = asked()
    lost = {"state": State.RUNNING, "lease_owner": "dead", "lease_until": leases.later(-1)}
    Analysis.objects.filter(pk=row.pk).update(**lost, attempts=1)

    done = jobs.run(result)

    assert (done.state, done.attempts) == (State.DONE, 2)
    Analysis.objects.filter(pk=row.pk).update(**lost)
    assert not running.run_next("worker")
    assert now(row).problem == "Stopped after 2 tries: each worker that took it was lost."


def taken_over(row: Analysis, state: State) -> None:
    """Have another worker take an analysis over: it forgets what was stored, and stores a row of its own."""
    Analysis.objects.filter(pk=row.pk).update(state=state, lease_owner="another worker")
    AnalysisRow.objects.filter(analysis=row).delete()
    AnalysisRow.objects.create(analysis=row, table="acls", number=0, kind="theirs", values="{}")


@pytest.mark.parametrize("state", [State.RUNNING, State.DONE])
@pytest.mark.parametrize("fails", [False, True])
def test_a_worker_that_lost_its_lease_leaves_the_rows_of_the_next(
    asked, jobs, result, monkeypatch, state, fails
):
    row = asked()
    opened = running.opened

    def overtaken(job, folder):
        taken_over(row, state)
        if fails:
            raise InsightsError("It failed.")
        return opened(job, folder)

    monkeypatch.setattr(running, "opened", overtaken)
    jobs.leave(result)
    assert running.run_next("worker")

    assert (now(row).state, now(row).lease_owner, now(row).problem) == (state, "another worker", "")
    assert [each.kind for each in AnalysisRow.objects.all()] == ["theirs"]


def test_a_worker_that_loses_its_lease_between_two_batches_stores_no_more(asked, jobs, result, monkeypatch):
    row = asked()
    monkeypatch.setattr(storing, "_ROWS_AT_ONCE", 1)
    stored = []

    def batches(found, table, at_once):
        for values in analysed.rows_of(found, table):
            yield [values]
            stored.append(AnalysisRow.objects.filter(analysis=row).count())
            if len(stored) == 2:
                taken_over(row, State.RUNNING)

    monkeypatch.setattr(storing.Result, "rows", batches)
    jobs.leave(result)
    assert running.run_next("worker")

    assert stored == [1, 2]
    assert [each.kind for each in AnalysisRow.objects.all()] == ["theirs"]


def test_cancelling_while_the_result_is_stored_leaves_no_row(asked, jobs, result, monkeypatch):
    row = asked()
    store = running.store_rows

    def cancelled(*given):
        found = store(*given)
        asking.cancel(row, person="ada", is_administrator=False)
        return found

    monkeypatch.setattr(running, "store_rows", cancelled)
    jobs.leave(result)
    assert running.run_next("worker")

    assert now(row).state == State.CANCELLED
    assert not AnalysisRow.objects.exists()


def test_rows_that_a_killed_worker_left_of_an_ended_analysis_are_swept(asked):
    rows = [asked(), asked("matrix"), asked("refusals")]
    for row, state in zip(rows, (State.FAILED, State.CANCELLED, State.DONE), strict=True):
        taken_over(row, state)

    tasks.sweep()

    assert [each.analysis for each in AnalysisRow.objects.all()] == [rows[2]]
    assert Analysis.objects.count() == 3


def test_a_database_that_is_away_for_less_than_a_lease_ends_no_job(asked, monkeypatch, settings):
    class Away:
        def update(self, **values):
            raise OperationalError("the database is away")

    told = running.Told("Deciding", 1, 4)
    teller = running.Teller(Away())

    teller.tell(told)
    with pytest.raises(OperationalError):
        teller.write(told)
    settings.ACLWEB_LEASE_SECONDS = 0
    with pytest.raises(OperationalError):
        teller.tell(told)


def test_a_run_is_ended_while_its_lease_is_still_renewed():
    assert running.LONGEST_RUN_SECONDS < leases.LONGEST_WORK_SECONDS


def test_files_of_a_run_are_in_the_data_directory_and_go_with_it(asked, jobs, result, settings, tmp_path):
    settings.ACLWEB_DATA_DIR = tmp_path / "data"
    row = asked()
    left = tmp_path / "data" / "analyses" / str(row.pk) / "0" / "result"
    left.mkdir(parents=True)

    jobs.run(result)

    words = jobs.started[0]
    assert words[words.index("--out") + 1] == str(left.parent.parent / "1" / "result")
    assert list((tmp_path / "data" / "analyses").iterdir()) == []


def test_the_sweep_removes_what_killed_workers_left_and_nothing_of_who_works(asked, settings, tmp_path):
    settings.ACLWEB_DATA_DIR = tmp_path / "data"
    ended, at_work = asked(), asked("matrix")
    Analysis.objects.filter(pk=ended.pk).update(state=State.FAILED)
    Analysis.objects.filter(pk=at_work.pk).update(state=State.RUNNING, lease_until=leases.later(60))
    kept = tmp_path / "data" / "analyses"
    for name in (ended.pk, at_work.pk, 10**9, "notes"):
        (kept / str(name) / "1").mkdir(parents=True)

    tasks.sweep()

    assert {each.name for each in kept.iterdir()} == {str(at_work.pk), "notes"}


def test_on_a_cluster_one_runs_at_a_time(asked, jobs):
    first, second = asked(), asked("matrix")
    Analysis.objects.filter(pk=first.pk).update(
        state=State.RUNNING, lease_owner="another worker", lease_until=leases.later(60)
    )

    assert not running.run_next("worker")
    with pytest.raises(IntegrityError), transaction.atomic():
        Analysis.objects.filter(pk=second.pk).update(state=State.RUNNING)


def test_the_same_is_not_asked_twice_and_nobody_starts_many(asked, rung):
    first = asked()

    assert asked(person="ben") == first
    assert asked("anomalies") != asked("anomalies", lately="14")
    with pytest.raises(asking.TooManyOpen, match="You have 3 analyses that are not done, and 3 is the most"):
        asked("matrix")
    for job in ("matrix", "refusals", "disagreement"):
        asked(job, person="ben")
    with pytest.raises(asking.TooManyOpen, match="6 analyses of this cluster are not done"):
        asked("least-privilege", person="dot")


@pytest.mark.parametrize(
    "job, options, told",
    [
        ("everything", {}, "There is no job 'everything'; use one of load-bearing, matrix"),
        ("matrix", {"lately": "7"}, "matrix has no option 'lately'; it has none"),
        ("anomalies", {"late": "7"}, "anomalies has no option 'late'; it has lately"),
        ("anomalies", {"lately": "8"}, "lately is '8'; use one of 7, 1, 14, 30"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(asked, job, options, told):
    with pytest.raises(InsightsError, match=told):
        asked(job, **options)

    assert not Analysis.objects.exists()


def test_without_a_log_or_without_spark_nothing_can_be_asked(read_cluster, settings, given):
    def why() -> str:
        with pytest.raises(InsightsError) as raised:
            asking.ask(cluster=read_cluster, job="matrix", options={}, person="ada")
        return str(raised.value)

    assert "No authorizer log of test-eu has been read yet" in why()
    given()
    settings.ACLWEB_SPARK_MASTER = ""
    assert "switched off here" in why()


@pytest.mark.parametrize(
    "job, facts, told",
    [
        ("load-bearing", {"ages_known": False}, "not known, so a young one may be called unused."),
        ("least-privilege", {"ages_known": False}, "not known, so a young one may be among those to remove."),
        ("least-privilege", {"ages_known": True, "ages_unknown": 2}, "The first sync found 2 ACLs within"),
        (
            "anomalies",
            {"new_known": False, "days": 5, "lately": 7},
            "The log has 5 days, so it cannot tell what is new in the last 7.",
        ),
        (
            "load-bearing",
            {"ages_known": True, "history": {"periods": 3, "lines": {"before history": 1_200}}},
            "Of 1,200 requests nobody knows which ACLs were in force when they were made",
        ),
        (
            "anomalies",
            {"hours_known": {"unknown": 2, "last_unknown": "2026-11-09"}},
            "It cannot tell storms by hour up to 2026-11-09: of 2 days only the denials of the whole day are known.",
        ),
    ],
)
def test_what_a_log_could_not_show_is_a_claim_of_its_result(logged, job, facts, told):
    base = {"coverage": {"first_at": None, "permits_seen": True}, "evidence": analysed.EVIDENCE}
    row = Analysis(cluster=logged, job=job, facts=base | facts)
    known = Analysis(
        cluster=logged, job=job, facts=base | {"ages_known": True, "ages_unknown": 0, "new_known": True}
    )

    def unknown(of):
        return [claim.sentence for claim in covered.claims_of(of, JOBS[job]) if not claim.known]

    assert len(unknown(row)) == len(unknown(known)) + 1
    assert told in unknown(row)[-1]


def test_only_so_many_rows_of_a_table_are_kept(asked, jobs, result, monkeypatch):
    monkeypatch.setattr(storing, "MOST_ROWS", 2)
    asked()

    done = jobs.run(result)

    assert done.counts == {"acls": {"": 2, "needed": 1, "unused": 1}}
    assert covered.headline(done, ACLS) == "The first 2 ACLs of 3: 1 needed, 1 unused."


def test_rows_that_the_job_itself_left_out_are_counted(logged):
    table = JOBS["matrix"].table("cells")
    row = Analysis(
        cluster=logged,
        job="matrix",
        counts={"cells": {"": 100_000}},
        facts={"rows": {"cells": 1_000_000}, "found": {"cells": 1_200_000}},
    )

    assert covered.headline(row, table) == "The first 100,000 rows of 1,200,000."


def test_rows_are_found_by_kind_and_by_text_as_names_are_stored(asked, jobs, result):
    asked()
    done = jobs.run(result)

    def keys(**wanted):
        return [values_of(each)["principal"] for each in found_in(done, ACLS, **wanted)]

    assert keys(kind="unused") == ["User:bob", "User:CN=fraud,OU=risk"]
    assert keys(text="FRAUD") == ["User:CN=fraud,OU=risk"]
    assert keys(kind="unused", text="orders") == ["User:bob", "User:CN=fraud,OU=risk"]
    assert keys(text="%") == []
    assert keys(text="\x00") == []

    bob = done.rows.filter(table=ACLS.name, principal="User:bob").order_by("number").first()
    done.rows.filter(pk=bob.pk).update(principal="User:a\\b\x00c")
    found = {text: found_in(done, ACLS, text=text).count() for text in ("A\\B", "b\x00C", "\\\\", "\x00\x00")}
    assert found == {"A\\B": 1, "b\x00C": 1, "\\\\": 0, "\x00\x00": 0}


def test_the_newest_results_of_each_job_stay_however_many_failed_since(asked, jobs, result, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_KEPT", 2)
    rows = []
    for _ in range(4):
        rows.append(asked())
        jobs.run(result)
    without = []
    for _ in range(3):
        without.append(asked())
        jobs.fail()
        running.run_next("worker")

    tasks.sweep()
    kept = set(Analysis.objects.values_list("pk", flat=True))
    Analysis.objects.update(asked_at=Now() - timedelta(days=200), finished_at=Now() - timedelta(days=200))
    tasks.sweep()

    assert kept == {without[2].pk, rows[2].pk, rows[3].pk}
    assert set(Analysis.objects.values_list("pk", flat=True)) == {rows[3].pk}
    assert set(AnalysisRow.objects.values_list("analysis", flat=True)) == {rows[3].pk}


def test_large_results_of_before_go_sooner(asked, jobs, result, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_ROWS_OF_EARLIER", 3)
    rows = []
    for _ in range(3):
        rows.append(asked())
        jobs.run(result)

    keeping.forget_old()

    assert set(Analysis.objects.values_list("pk", flat=True)) == {rows[1].pk, rows[2].pk}


def test_the_task_runs_one_and_rings_for_the_next(asked, jobs, result, rung, logged):
    asked()
    asked("matrix")
    rung.clear()
    jobs.leave(result)

    tasks.analyse_next()

    assert rung == [1]
    tasks._slot.acquire()
    try:
        tasks.analyse_next()
    finally:
        tasks._slot.release()
    assert len(jobs.started) == 1
    assert timezone.now() - Analysis.objects.get(job="load-bearing").asked_at < timedelta(minutes=5)


def test_each_job_is_one_of_the_pipeline():
    from aclweb.pipeline.analyses import ANALYSES

    assert set(JOBS) <= set(ANALYSES)


EDIT = json.dumps({"op": "add", **BINDINGS[0].as_dict()}) + "\n"


def test_a_replay_gets_its_edit_and_keeps_what_would_turn(asked, jobs, tmp_path):
    row = asked("replay", delta=EDIT)
    flip = {"change": "denied", "principal": "User:bob", "resource_name": "orders", "lines": 4}
    tables = {"flips": [flip], "by_principal": [], "by_resource": [], "by_day": []}

    done = jobs.run(analysed.write_analysis(tmp_path / "replay", "replay", tables))

    words, inputs = jobs.started[0], jobs.inputs[0]
    assert words[0] == "replay"
    assert json.loads(inputs["--delta"]) == json.loads(EDIT)
    assert (done, done.state, done.counts["flips"]) == (row, State.DONE, {"": 1, "denied": 1})


def test_an_edit_is_asked_for_once_however_it_is_written_and_another_is_another(asked):
    row = asked("replay", delta=EDIT)

    assert asked("replay", delta=f"\n{EDIT}\n").pk == row.pk
    assert asked("replay", delta=EDIT.replace("add", "remove")).pk != row.pk


@pytest.mark.parametrize(
    "options, told",
    [
        ({}, "replay is about an edit; give it as delta"),
        ({"delta": "{}"}, "The edit"),
        ({"delta": EDIT, "days": "7"}, "replay has no option 'days'; it has none"),
        ({"delta": EDIT * 40_000}, "characters, and 4,000,000 is the most"),
    ],
)
def test_what_is_no_edit_is_not_replayed(asked, options, told):
    with pytest.raises(InsightsError, match=told):
        asked("replay", **options)

    assert not Analysis.objects.exists()


def test_the_command_takes_an_edit_from_a_file(logged, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("aclweb.insights.analyses.ringing.enqueue", lambda: None)
    (tmp_path / "edit.jsonl").write_text(EDIT)

    call_command("analyse", logged.slug, "replay", "--delta", str(tmp_path / "edit.jsonl"))

    assert json.loads(Analysis.objects.get().delta) == json.loads(EDIT)
    with pytest.raises(CommandError, match=r"The edit in .*gone\.jsonl cannot be read: No such file"):
        call_command("analyse", logged.slug, "replay", "--delta", str(tmp_path / "gone.jsonl"))
