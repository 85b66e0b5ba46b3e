"""The coverage page: what each broker logged, what follows from it, and brokers that are gone."""

from __future__ import annotations

import csv
from html import unescape

import pytest

from aclweb.insights.load import load
from tests.browsing import axe_violations
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 - a fixture
from tests.insights.results import FIRST, log_days, write_result
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
    assert "Month ends: cannot tell." in page
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
