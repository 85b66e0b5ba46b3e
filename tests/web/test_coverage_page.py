"""The coverage page: what each broker logged, what follows from it, and brokers that are gone."""

from __future__ import annotations

import csv
import re
from datetime import UTC, timedelta
from html import unescape

import pytest

from aclweb.insights.load import load
from tests.browsing import axe_violations
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 - a fixture
from tests.insights.results import FIRST, LAST, file, log_days, write_result
from tests.insights.test_coverage_days import MIDDLE

PAGE = "/c/test-eu/insights/coverage/"
RETIRE = f"{PAGE}retire/"


@pytest.fixture(autouse=True)
def days_that_the_logs_cover(settings):
    settings.ACLWEB_UNUSED_DAYS = 13


@pytest.fixture
def logged(read_cluster, tmp_path):  # noqa: F811
    """b2 wrote its last line on 13 November."""
    days = [*log_days("b1"), *log_days("b2", last=MIDDLE)]
    unparsed = [{"reason": "no log record", "lines": 7, "sample": "java.io.IOException"}]
    load(write_result(tmp_path / "usage", BINDINGS, coverage=days, unparsed=unparsed), read_cluster)
    return read_cluster


def test_the_page_says_what_all_brokers_logged_and_which_days_are_not_whole(logged, cho, signed_in):
    page = unescape(signed_in(cho).get(PAGE).content.decode())

    assert "On 7 of 14 days all brokers logged permits and denials." in page
    assert "Denials are complete on 7 of 14 days." in page
    assert "Unused ALLOW ACLs: cannot tell, too few hours of the last 13 days" in page
    assert "What runs at the end of a month: cannot tell" in page
    assert "java.io.IOException" in page
    assert "It is gone" not in page, "who only looks retires no broker"


def test_an_administrator_retires_a_broker_and_takes_it_back(logged, dot, signed_in):
    client = signed_in(dot)

    client.post(RETIRE, {"broker": "b2", "since": "2026-11-14", "reason": "scaled down"})
    gone = unescape(client.get(PAGE).content.decode())
    client.post(RETIRE, {"undo": "b2"})
    back = unescape(client.get(PAGE).content.decode())

    assert "gone since 14 Nov 2026" in gone
    assert "On 14 of 14 days all brokers logged permits and denials." in gone
    assert f"{len(BINDINGS)} ACLs of test-eu are unused in the 13 days to 2026-11-20 21:00." in gone
    assert "On 7 of 14 days" in back
    events = unescape(client.get("/events/").content.decode())
    assert "dot said that broker b2 of test-eu is gone since 2026-11-14: scaled down." in events
    assert "dot took back that broker b2 of test-eu is gone." in events


@pytest.mark.parametrize(
    "since, told",
    [
        ("", "Name the first day on which it did not run any more"),
        ("13.11.", "This is no day; write it as 2026-11-30."),
        (
            "2026-11-13",
            "b2 wrote its log on 2026-11-13, so it is not gone since 2026-11-13; name a later day.",
        ),
    ],
)
def test_a_wrong_day_is_explained_beside_its_field_and_kept(logged, dot, signed_in, since, told):
    answer = signed_in(dot).post(RETIRE, {"broker": "b2", "since": since, "reason": "scaled down"})

    assert answer.status_code == 422
    form = unescape(answer.content.decode()).split('<details class="edit" open>')[1].split("</form>")[0]
    assert told in form
    assert 'value="scaled down"' in form
    assert answer.content.decode().count('<details class="edit" open>') == 1


def test_the_export_has_each_day_of_each_broker(logged, cho, signed_in):
    answer = signed_in(cho).get(f"{PAGE}export/?days=30")
    rows = list(csv.DictReader(answer.content.decode().splitlines()))

    assert len(rows) == 28
    assert rows[0] == {
        "broker": "b1",
        "day": FIRST.date().isoformat(),
        "shows": "permits",
        "hours": "24",
        "hours_with_permits": "24",
        "lines": "50",
        "permits": "30",
    }
    assert [row["shows"] for row in rows if row["broker"] == "b2"] == ["permits"] * 7 + ["none"] * 7


@pytest.mark.django_db(transaction=True)
def test_a_broker_is_retired_and_taken_back_by_its_buttons(logged, window, dot):
    page = window(dot, PAGE)

    page.get_by_text("Retire b2").click()
    page.get_by_label("Why", exact=True).locator("visible=true").fill("scaled down")
    page.get_by_role("button", name="It is gone").click()
    page.get_by_text("gone since 14 Nov 2026").wait_for()
    page.get_by_role("button", name="It still runs").click()
    page.get_by_text("On 7 of 14 days all brokers").wait_for()

    assert page.watch.complaints == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == [], theme


HOURS = f"{PAGE}broker/"


def test_a_broker_leads_to_its_hours_its_layout_and_its_files(read_cluster, tmp_path, cho, signed_in):  # noqa: F811
    files = [
        file("b&1/a.log", permits=9) | {"broker": "b&1", "layout": "strimzi"},
        file("b&1/a.log.1.gz", permits=0)
        | {"broker": "b&1", "layout": None, "state": "truncated", "reason": "It ends too early."},
        file("b2/a.log", permits=9) | {"broker": "b2", "layout": "kafka"},
    ]
    days = [*log_days("b&1", permit_hours=(9,)), *log_days("b2")]
    load(write_result(tmp_path / "usage", BINDINGS, files=files, coverage=days), read_cluster)
    client = signed_in(cho)
    overview = client.get(PAGE).content.decode()
    link = unescape(re.search(r'href="([^"]*coverage/broker/[^"]*)"', overview)[1])

    page = " ".join(unescape(re.sub("<[^>]+>", " ", client.get(link).content.decode())).split())

    assert link == f"{HOURS}?name=b%261&days=90"
    assert "b&1 logged permits in 14 of 336 hours, a log without permits in 322." in page
    assert "layout strimzi, level of the logger" in page
    assert "truncated It ends too early." in page
    assert "20 Nov 2026 09:00–10:00 00:00–09:00, 10:00–24:00 –" in page
    assert "b2/a.log" not in page


def test_the_hours_download_as_rows(logged, cho, signed_in):
    client = signed_in(cho)

    answer = client.get(HOURS, {"name": "b2", "format": "csv"})
    rows = list(csv.DictReader(b"".join(answer).decode().splitlines()))

    assert rows[0] == {"broker": "b2", "day": "2026-11-07", "hour": "0", "shows": "permits"}
    assert {row["shows"] for row in rows if row["day"] == "2026-11-15"} == {"no log"}
    assert client.get(HOURS, {"name": "b2", "format": "xml"}).status_code == 404


@pytest.mark.parametrize("name", ["", "b3", "b2\x00", "\ud800", "x" * 40_000])
def test_a_broker_that_no_log_names_has_no_page(logged, cho, signed_in, name):
    assert signed_in(cho).get(HOURS, {"name": name.encode("utf-8", "replace")}).status_code == 404


def test_the_hours_of_400_days_are_paged(
    read_cluster,  # noqa: F811
    tmp_path,
    cho,
    signed_in,
    django_assert_max_num_queries,
):
    days = log_days("b1", first=LAST - timedelta(days=300))
    loaded = load(write_result(tmp_path / "usage", BINDINGS, coverage=days), read_cluster)
    type(loaded).objects.filter(pk=loaded.pk).update(first_at=LAST.replace(tzinfo=UTC) - timedelta(days=300))
    client = signed_in(cho)
    asked = {"name": "b1", "days": "400"}
    client.get(HOURS, asked)

    with django_assert_max_num_queries(12):
        page = client.get(HOURS, asked).content.decode()

    assert page.count('<td class="main nowrap">') == 31
    assert "24 Jan 2026" in client.get(HOURS, asked | {"page": "10"}).content.decode()
    assert len(page) < 200_000


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_hours_are_accessible_and_fit_a_phone(logged, window, cho):
    page = window(cho, f"{HOURS}?name=b2")

    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth"), width
        assert axe_violations(page) == []
    assert page.watch.complaints == []


def sources_page(cluster, client, tmp_path, files, **facts):
    load(write_result(tmp_path / "sources", BINDINGS, files=files, **facts), cluster)
    return client.get(PAGE)


def a_file(name, last_at, **facts):
    return file(name, permits=5) | {"broker": name, "layout": "kafka", "last_at": last_at} | facts


def test_each_source_says_what_came_of_it(read_cluster, dot, signed_in, tmp_path):  # noqa: F811
    source = read_cluster.log_sources.create(path="/logs/b1*", broker="b1")
    files = [
        a_file("b1.log", "2026-11-20 20:00:00", unparsed=25),
        a_file("b1.log.1", "2026-11-18 01:00:00"),
        a_file("b2.log", "2026-11-20 19:59:58", layout="json"),
    ]

    answer = sources_page(read_cluster, signed_in(dot), tmp_path, files)

    own, lost = answer.context["sources"]
    assert (own.source, own.files, own.lines, own.unparsed, own.percent) == (source, 2, 200, 25, "12.5 %")
    assert (own.layouts, own.last_at) == (("kafka",), "2026-11-20 20:00:00")
    assert (lost.source, lost.files, lost.layouts) == (None, 1, ("json",))
    page = unescape(answer.content.decode())
    assert "files of no source that is declared now" in page
    assert f"/log-sources/{source.pk}/" in page
    assert "Add a source" in page


def test_who_may_not_administer_is_offered_no_source(logged, cho, signed_in):
    assert "Add a source" not in signed_in(cho).get(PAGE).content.decode()


@pytest.mark.parametrize(
    "last_of_b2, agree, told",
    [
        ("2026-11-20 19:59:58", True, "The last lines of 2 brokers are within 2 seconds."),
        ("2026-11-20 18:59:30", False, "The last line of b2.log is 1 hour behind"),
        (
            "2026-11-20 14:20:00",
            None,
            "Cannot tell whether the clocks agree: the last line of b2.log is 5 hours",
        ),
        ("2026-11-16 20:30:00", None, "b2.log is 3 days behind"),
    ],
)
def test_the_last_lines_of_brokers_are_compared(
    read_cluster,  # noqa: F811
    cho,
    signed_in,
    tmp_path,
    last_of_b2,
    agree,
    told,
):
    files = [a_file("b1.log", "2026-11-20 20:00:00"), a_file("b2.log", last_of_b2)]

    answer = sources_page(read_cluster, signed_in(cho), tmp_path, files)

    assert answer.context["clocks"].agree is agree
    assert told in unescape(answer.content.decode())


def test_a_gap_has_its_cause_where_something_tells_it(read_cluster, cho, signed_in, tmp_path):  # noqa: F811
    coverage = [
        *log_days("b1"),
        *log_days("b2", last=MIDDLE),
        *log_days("b3", first=MIDDLE),
        *log_days("b4", permit_hours=()),
        *log_days("b5", permit_hours=()),
        *log_days("b6", hours=[3], permit_hours=[3]),
        *log_days("b7", hours=[3], permit_hours=[3]),
    ]
    cut = a_file("b6", "2026-11-20 20:00:00", state="truncated", reason="It ends in a half record.")
    facts = {"coverage": coverage, "levels": {"b4": "INFO"}}

    answer = sources_page(
        read_cluster, signed_in(cho), tmp_path, [cut, a_file("b1", "2026-11-20 20:00:00")], **facts
    )

    causes = {each.broker: cause for each, cause in answer.context["missing"]}
    assert causes == {
        "b2": "It wrote its last line on 13 November. If it is gone, retire it.",
        "b3": "Its log begins on 13 November.",
        "b4": "Its logger is declared to be at INFO.",
        "b5": "It wrote no permit then; at INFO brokers write none.",
        "b6": "b6: truncated. It ends in a half record.",
        "b7": "",
    }


def test_unread_lines_are_told_by_broker_and_how_much_can_be_decided_again(
    read_cluster,  # noqa: F811
    cho,
    signed_in,
    tmp_path,
):
    told = [
        {"broker": "b1", "lines": 5, "sample": "at kafka.server"},
        {"broker": "b2", "lines": 1, "sample": "{"},
    ]
    unparsed = [
        {"reason": "no log record", "lines": 7, "sample": "at kafka.server", "brokers": told},
        {"reason": "old", "lines": 2, "sample": "x"},
    ]

    answer = sources_page(read_cluster, signed_in(cho), tmp_path, None, unparsed=unparsed)

    rows = [(each.broker, each.lines, each.sample) for each in answer.context["coverage"].unparsed]
    assert rows == [
        ("b1", 5, "at kafka.server"),
        ("b2", 1, "{"),
        ("", 1, "at kafka.server"),
        ("", 2, "x"),
    ]
    page = unescape(answer.content.decode())
    assert "broker not known" in page
    assert "190 requests of the log can be decided again by other ACLs, at least 95.48 %" in page
