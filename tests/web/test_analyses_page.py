"""Questions to the whole log are asked, followed and answered on pages, and taken along as files."""

from __future__ import annotations

import csv
import json
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from playwright.sync_api import expect
from rest_framework.test import APIClient

from aclweb.acl.model import SERVICES
from aclweb.insights.analyses import JOBS, asking, ringing, running
from aclweb.insights.models import Analysis
from aclweb.inventory import leases
from aclweb.inventory.admin import principal_names
from aclweb.inventory.admin.declare import declare
from tests.browsing import axe_violations
from tests.insights import analysed
from tests.insights.conftest import BINDINGS, given, read_cluster  # noqa: F401 - fixtures

PAGE = "/c/test-eu/insights/analyses/"
API = "/api/v1/clusters/test-eu/analyses/"

# One row of each table of each job, as the job writes it.
ANOMALY: dict[str, Any] = {
    "kind": "back",
    "day": "2026-11-20",
    "principal": "User:bob",
    "host": "",
    "resource_type": "",
}
ANOMALY |= {"resource_name": "", "lines": 1200, "denied": 3, "usual": None, "quiet_days": 44}
NO_HOUR = dict.fromkeys(("hour", "hour_denied", "hour_usual", "hours"))
ANOMALY |= NO_HOUR
STORM: dict[str, Any] = ANOMALY | {"kind": "denials", "usual": 7, "quiet_days": None}
STORM |= {"hour": 0, "hour_denied": 1100, "hour_usual": 2, "hours": 1}
NEW: dict[str, Any] = ANOMALY | {
    "kind": "new resource",
    "resource_type": "GROUP",
    "resource_name": "billing",
    "quiet_days": None,
}
DIFFERS: dict[str, Any] = {
    "principal": "User:bob",
    "host": "10.0.0.7",
    "operation": "READ",
    "resource_type": "TOPIC",
}
DIFFERS |= {"resource_name": "orders", "allowed": True, "day": "2026-11-20", "broker_rule": "", "lines": 4}
DIFFERS |= {"first_at": analysed.LAST, "last_at": analysed.LAST, "decided_now": "DENIED", "basis_now": "x"}
DIFFERS |= {"cause": "changed", "revision": 7}
TOPIC: dict[str, Any] = {
    "topic": "orders",
    "state": "dark",
    "lines": 0,
    "reads": 0,
    "writes": 0,
    "principals": 0,
    "denied": 2,
}
TOPIC |= {"last_at": None}
RIGHT = {"principal": "User:bob", "operation": "READ", "configured": None, "used": 2, "lines": 9}
CELL: dict[str, Any] = {
    "principal": "User:bob",
    "topic": "orders",
    "operation": "READ",
    "lines": 9,
    "denied": 1,
    "days": 2,
}
CELL |= {"last_at": analysed.LAST, "allowed_now": True}
GROUP: dict[str, Any] = {
    "principal": "User:eve",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "orders",
}
GROUP |= {
    "lines": 5,
    "permitted": 0,
    "hosts": 2,
    "host_names": ["a"],
    "last_at": analysed.LAST,
    "cause": "name",
}
GROUP |= {"sentence": "An ACL names User:Eve.", "days": [{"day": "2026-11-20", "lines": 5}]}
DAY = {"day": "2026-11-20", "lines": 5, "groups": 1, "principals": 1}
NARROWED: dict[str, Any] = {
    "principal": "User:bob",
    "add": 1,
    "remove": 2,
    "keep": 3,
    "logged": 9,
    "covered": 9,
}
NARROWED |= {"rights": None, "rights_removed": None}
PROPOSED: dict[str, Any] = {
    "change": "add",
    "binding_key": "0" * 64,
    **BINDINGS[1].as_dict(),
    "lines": 9,
    "reason": "It was used.",
}
PROPOSED |= {"replaced_by": []}

RESULTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "anomalies": {"anomalies": [ANOMALY, NEW, STORM]},
    "disagreement": {"disagreements": [DIFFERS]},
    "matrix": {"topics": [TOPIC], "rights": [RIGHT], "cells": [CELL]},
    "refusals": {"groups": [GROUP], "by_day": [DAY]},
    "least-privilege": {"principals": [NARROWED], "acls": [PROPOSED]},
    "load-bearing": {"acls": [analysed.acl_row(BINDINGS[0], "needed")]},
}
# `replay` and `compare` are asked for otherwise: see test_replay_card.py and test_compare_analysis.py.


@pytest.fixture(autouse=True)
def no_queue(monkeypatch):
    monkeypatch.setattr(ringing, "enqueue", lambda: None)


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    return analysed.Jobs(monkeypatch, tmp_path)


@pytest.fixture
def logged(given):  # noqa: F811
    return given().cluster


@pytest.fixture
def done(logged, jobs, tmp_path):
    """A result of load-bearing: one ACL is needed, two could go together, one is unused."""
    asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")
    spare = {"state": "replaceable", "removable": True}
    rows = [
        analysed.acl_row(BINDINGS[0], "needed", needed=5),
        analysed.acl_row(BINDINGS[1], **spare, replaceable_by=[analysed.binding_key(BINDINGS[2])]),
        analysed.acl_row(BINDINGS[3], **spare),
        analysed.acl_row(BINDINGS[4], "unused", requests=0, last_at=None),
    ]
    return jobs.run(analysed.load_bearing(tmp_path / "result", rows))


def text_of(answer) -> str:
    return unescape(answer.content.decode())


def page_of(row: Analysis, act: str = "") -> str:
    return f"{PAGE}{row.address}/{act}"


def test_without_a_log_the_page_says_what_to_do(read_cluster, cho, signed_in):  # noqa: F811
    page = text_of(signed_in(cho).get(PAGE))

    assert "Nothing to analyse yet" in page
    assert "Nobody has said where this cluster's authorizer logs are" in page


def test_whoever_may_look_starts_one_and_is_led_to_its_progress(logged, cho, signed_in):
    browser = signed_in(cho)
    listed = text_of(browser.get(PAGE))

    started = browser.post(f"{PAGE}start/", {"job": "anomalies", "lately": "14"})

    row = Analysis.objects.get()
    assert "No analysis has been run yet." in listed
    assert (row.job, row.options, row.asked_by) == ("anomalies", {"lately": "14"}, "cho")
    assert started["Location"] == page_of(row)
    assert "It waits for a worker." in text_of(browser.get(page_of(row)))
    assert "See how far it is" in text_of(browser.get(PAGE))


def test_htmx_gets_the_run_of_one_job_and_its_card_once_it_has_ended(logged, cho, signed_in, jobs, tmp_path):
    browser = signed_in(cho)
    asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")

    def polled():
        return browser.get(PAGE, {"job": "load-bearing"}, headers={"HX-Request": "true"})

    waiting = polled()
    jobs.run(analysed.load_bearing(tmp_path / "result", []))
    ended = polled()

    assert 'id="run-load-bearing"' in text_of(waiting)
    assert "<form" not in text_of(waiting)
    assert "HX-Retarget" not in waiting
    assert ended["HX-Retarget"] == "#card-load-bearing"
    assert text_of(ended).count("<section") == 1
    assert "hx-trigger" not in text_of(ended)


def test_what_cannot_be_started_is_said_on_the_list(logged, cho, signed_in):
    page = text_of(signed_in(cho).post(f"{PAGE}start/", {"job": "anomalies", "lately": "8"}, follow=True))

    assert "lately is '8'; use one of 7, 1, 14, 30." in page
    assert not Analysis.objects.exists()


def test_htmx_gets_the_progress_alone_and_the_whole_answer_at_the_end(logged, cho, signed_in, jobs, tmp_path):
    browser = signed_in(cho)
    browser.post(f"{PAGE}start/", {"job": "load-bearing"})
    row = Analysis.objects.get()
    asked = {"HX-Request": "true", "HX-Target": "progress"}
    Analysis.objects.filter(pk=row.pk).update(
        state="RUNNING", step="Deciding", steps_done=1, steps=4, lease_owner="w", lease_until=leases.later(60)
    )

    working = browser.get(page_of(row), headers=asked)
    Analysis.objects.filter(pk=row.pk).update(state="QUEUED")
    jobs.run(analysed.load_bearing(tmp_path / "result", []))
    ended = browser.get(page_of(row), headers=asked)

    assert 'value="25"' in working.content.decode()
    assert "This is step 2 of 4." in working.content.decode()
    assert "<html" not in working.content.decode()
    assert ended["HX-Retarget"] == "#analysis"
    assert "What the log can show" in ended.content.decode()


def test_who_asked_cancels_it_and_others_are_told_why_not(logged, cho, ada, signed_in):
    signed_in(cho).post(f"{PAGE}start/", {"job": "matrix"})
    row = Analysis.objects.get()

    refused = text_of(signed_in(ada).post(page_of(row, "cancel/"), follow=True))
    signed_in(cho).post(page_of(row, "cancel/"))
    page = text_of(signed_in(cho).get(page_of(row)))

    assert "cho asked for this, so you cannot cancel it." in refused
    assert "Cancelled by cho." in page
    assert "Run it again" in page


def test_a_result_says_first_what_the_log_can_show_and_then_each_acl(done, cho, signed_in):
    page = text_of(signed_in(cho).get(page_of(done)))

    assert "4 ACLs: 1 needed, 2 replaceable, 1 unused." in page
    assert "It holds enough to call something unused: the 30 days to 2026-11-20 12:00, with permits" in page
    assert page.index("What the log can show") < page.index('id="rows"')
    assert 'href="/c/test-eu/principal/?name=User%3Abob"' in page
    assert "Try removing 2 that may go together" in page
    assert page.count('name="remove_key"') == 2
    assert "Read 12 records of 2 files." in page


def test_where_permits_are_missing_it_says_cannot_tell(logged, jobs, tmp_path, cho, signed_in):
    asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")
    reason = "permits are not in the log: the brokers write them at level DEBUG only"
    rows = [analysed.acl_row(BINDINGS[0], "no data", reason=reason)]
    row = jobs.run(analysed.load_bearing(tmp_path / "result", rows, missing={"ALLOW": reason}))

    page = text_of(signed_in(cho).get(page_of(row)))

    assert f"Unused ALLOW ACLs: cannot tell, {reason}." in page
    assert "1 ACL: 1 cannot tell." in page


def test_a_storm_is_shown_with_its_worst_hour(logged, jobs, tmp_path, cho, signed_in):
    asking.ask(cluster=logged, job="anomalies", options={"lately": "7"}, person="cho")
    hours = {"days": 20, "unknown": 2, "last_unknown": "2026-11-02", "unknown_lately": 0}
    result = {"anomalies": [STORM, NEW]}
    row = jobs.run(analysed.write_analysis(tmp_path / "result", "anomalies", result, hours_known=hours))

    page = text_of(signed_in(cho).get(page_of(row)))
    shown = signed_in(cho).get(page_of(row, "export/"), {"format": "jsonl"}).getvalue().decode().splitlines()

    assert "00:00, 1,100 denied, usually 2" in page
    assert "1,100" in page
    assert (
        "It cannot tell storms by hour up to 2026-11-02: of 2 days only the denials of the whole day are known."
        in page
    )
    assert [json.loads(line)["hour"] for line in shown] == [0, None]


def test_filters_are_in_the_address(done, cho, signed_in):
    browser = signed_in(cho)

    unused = browser.get(page_of(done), {"kind": "unused"})
    found = browser.get(page_of(done), {"text": "NOTES"})
    none = browser.get(page_of(done), {"kind": "needed", "text": "nobody"})

    assert [len(each.context["rows"]) for each in (unused, found, none)] == [1, 1, 0]
    assert "No such row" in text_of(none)
    assert browser.get(page_of(done), {"table": "nowhere"}).status_code == 404


def test_a_page_of_a_large_result_costs_as_many_queries_as_one_of_a_small(
    logged, jobs, tmp_path, cho, signed_in, django_assert_max_num_queries
):
    rows = [analysed.acl_row(BINDINGS[n % 7], "unused", binding_key=f"{n:064}") for n in range(400)]
    asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")
    row = jobs.run(analysed.load_bearing(tmp_path / "result", rows))
    browser = signed_in(cho)
    browser.get(page_of(row))

    with django_assert_max_num_queries(12):
        page = browser.get(page_of(row), {"page": "9"})

    assert len(page.context["rows"]) == 25
    assert "Page 9 of 16, 400 ACLs" in text_of(page)


def test_a_download_has_every_row_and_column(done, cho, signed_in):
    browser = signed_in(cho)

    as_csv = browser.get(page_of(done, "export/"), {"kind": "replaceable"})
    as_json = browser.get(page_of(done, "export/"), {"format": "jsonl"})

    rows = list(csv.DictReader(StringIO(as_csv.getvalue().decode())))
    assert [row["principal"] for row in rows] == ["User:bob", "User:ops"]
    assert rows[0]["removable"] == "true"
    assert json.loads(rows[0]["replaceable_by"]) == [analysed.binding_key(BINDINGS[2])]
    assert len([json.loads(line) for line in as_json.getvalue().decode().splitlines()]) == 4
    assert 'filename="load-bearing-acls-test-eu.csv"' in as_csv["Content-Disposition"]


def test_a_download_says_what_principals_are_called_and_what_a_service_hides(done, cho, dot, signed_in):
    principal_names.load(actor=dot, cluster=done.cluster, names={"User:bob": "Billing"})
    declare(cluster=done.cluster, actor=dot, service="msk")

    file = signed_in(cho).get(page_of(done, "export/"), {"kind": "replaceable"}).getvalue().decode()

    rows = list(csv.DictReader(StringIO(file)))
    assert [row["principal_name"] for row in rows] == ["Billing", ""]
    assert {row["caveats"] for row in rows} == {SERVICES["msk"].hidden}


def test_an_analysis_without_a_result_has_nothing_to_download(done, cho, signed_in):
    browser = signed_in(cho)
    for state in ("QUEUED", "RUNNING", "FAILED", "CANCELLED"):
        Analysis.objects.filter(pk=done.pk).update(state=state)

        assert browser.get(page_of(done, "export/")).status_code == 404, state


@pytest.mark.parametrize("job", RESULTS)
def test_every_table_of_every_job_is_shown(logged, jobs, tmp_path, cho, signed_in, job):
    asking.ask(cluster=logged, job=job, options={}, person="cho")
    facts = {"evidence": analysed.EVIDENCE | {"missing": {}}} if JOBS[job].claims else {}
    row = jobs.run(analysed.write_analysis(tmp_path / "result", job, RESULTS[job], **facts))
    assert row.state == "DONE", row.problem

    for table in JOBS[job].tables:
        page = signed_in(cho).get(page_of(row), {"table": table.name})
        rows = page.context["rows"]

        assert len(rows) == len(RESULTS[job][table.name])
        assert [cell.heading for cell in rows[0].cells] == [column.heading for column in table.columns]
        names = {column.name for column in table.columns} | ({table.by} if table.by else set())
        assert names <= set(RESULTS[job][table.name][0]), "each is a column of the job"


def test_the_columns_of_a_page_are_those_of_the_documentation():
    from tests.pipeline.test_pages import PAGE as documentation

    text = documentation.read_text(encoding="utf-8")
    for job in JOBS.values():
        for table in job.tables:
            for column in table.columns:
                assert f"`{column.name}`" in text, (job.name, table.name, column.name)


def test_a_program_starts_one_reads_its_rows_and_cancels(logged, cho, jobs, tmp_path):
    program = APIClient()
    program.force_authenticate(cho)

    started = program.post(API, {"job": "load-bearing"}, format="json")
    url = started.json()["url"]
    early = program.get(f"{url}rows/").json()
    rows = [analysed.acl_row(BINDINGS[n], "unused") for n in range(3)]
    jobs.run(analysed.load_bearing(tmp_path / "result", rows))
    ended, page = program.get(url).json(), program.get(f"{url}rows/", {"kind": "unused", "size": 2}).json()

    assert (started.status_code, started["Location"]) == (202, url)
    assert (early["total"], early["rows"]) == (0, [])
    assert (ended["state"], ended["counts"]) == ("DONE", {"acls": {"": 3, "unused": 3}})
    assert ended["claims"][0]["sentence"].startswith("The log covers 2026-10-01 00:00")
    assert (page["total"], page["pages"], len(page["rows"])) == (3, 2, 2)
    assert page["rows"][0]["principal"] == "User:bob"
    assert program.delete(url).status_code == 400
    second = program.post(API, {"job": "anomalies", "options": {"lately": "1"}}, format="json").json()
    assert program.delete(second["url"]).status_code == 204
    assert [each["state"] for each in program.get(API).json()["results"]] == ["CANCELLED", "DONE"]


def test_a_program_that_asks_too_much_or_wrongly_gets_a_sentence(logged, cho):
    program = APIClient()
    program.force_authenticate(cho)

    wrong = program.post(API, {"job": "matrix", "options": {"lately": "1"}}, format="json")
    for job in ("matrix", "refusals", "anomalies"):
        assert program.post(API, {"job": job}, format="json").status_code == 202
    many = program.post(API, {"job": "disagreement"}, format="json")

    assert wrong.status_code == 400
    assert "matrix has no option 'lately'" in wrong.content.decode()
    assert (many.status_code, "You have 3 analyses" in many.content.decode()) == (429, True)


def test_the_command_asks_a_worker_and_waits_if_wanted(logged, jobs, tmp_path, monkeypatch):
    out = StringIO()
    call_command("analyse", "test-eu", "anomalies", "--option", "lately=1", stdout=out)
    waiting = Analysis.objects.get()
    assert out.getvalue() == "It waits for a worker.\n"
    jobs.leave(analysed.write_analysis(tmp_path / "result", "anomalies", {"anomalies": [NEW]}))
    monkeypatch.setattr("time.sleep", lambda seconds: running.run_next("worker"))

    out = StringIO()
    call_command("analyse", "test-eu", "anomalies", "--option", "lately=1", "--wait", "--json", stdout=out)

    facts = json.loads(out.getvalue())
    assert (facts["address"], facts["state"]) == (waiting.address, "DONE")
    assert facts["sentences"][-1] == "1 row: 1 new resource."
    with pytest.raises(CommandError, match="write NAME=VALUE"):
        call_command("analyse", "test-eu", "anomalies", "--option", "lately")
    with pytest.raises(CommandError, match="lately is"):
        call_command("analyse", "test-eu", "anomalies", "--option", "lately=x")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_press_starts_one_and_the_page_follows_it_to_the_end(logged, cho, window, jobs, tmp_path):
    page = window(cho, PAGE)
    assert axe_violations(page) == []

    page.get_by_role("button", name="Run Needed ACLs").click()
    expect(page.get_by_role("heading", name="It waits for a worker.")).to_be_visible()
    rows = [analysed.acl_row(BINDINGS[n], "unused" if n else "needed") for n in range(7)]
    jobs.run(analysed.load_bearing(tmp_path / "result", rows))
    expect(page.get_by_text("7 ACLs: 1 needed, 6 unused.")).to_be_visible()
    assert axe_violations(page) == []
    page.get_by_role("link", name="Unused 6").click()
    expect(page).to_have_url(f"{page.site}{page_of(Analysis.objects.get())}?kind=unused")
    expect(page.locator("#rows tbody tr")).to_have_count(6)
    page.get_by_placeholder("principal or name contains").fill("fraud")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#rows tbody tr")).to_have_count(1)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_run_leaves_choices_folds_and_focus_on_the_page_alone(logged, cho, window, jobs, tmp_path):
    for _ in range(2):
        asking.ask(cluster=logged, job="matrix", options={}, person="cho")
        jobs.run(analysed.write_analysis(tmp_path / "matrix", "matrix", RESULTS["matrix"]))
    asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")
    page = window(cho, PAGE)
    page.get_by_label("Days asked about").select_option("14")
    page.get_by_text("1 earlier result").click()
    follow = page.get_by_role("link", name="See how far it is")
    follow.focus()

    for _ in range(2):  # the second is asked for by what the first has brought
        with page.expect_response(lambda answer: answer.url.endswith("?job=load-bearing")):
            pass
    expect(follow).to_be_focused()
    jobs.run(analysed.load_bearing(tmp_path / "result", [analysed.acl_row(BINDINGS[0], "needed")]))

    expect(page.get_by_role("link", name="1 ACL: 1 needed.")).to_be_visible()
    expect(page.get_by_label("Days asked about")).to_have_value("14")
    expect(page.get_by_role("link", name="UTC, as of revision 1, for cho")).to_be_visible()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_who_is_at_cancel_stays_there_while_the_progress_moves(logged, cho, window):
    row = asking.ask(cluster=logged, job="load-bearing", options={}, person="cho")
    page = window(cho, page_of(row))
    page.get_by_role("button", name="Cancel").focus()

    for _ in range(2):
        with page.expect_response(lambda answer: answer.url.endswith(page_of(row))):
            pass
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_text("Cancelled by cho.")).to_be_visible()
