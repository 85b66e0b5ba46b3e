"""A finding is dismissed with a reason, for good or through a day; until it comes back no number counts it."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.audit.models import Event
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import dismissing
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.findings.posture import postures
from aclweb.inventory.models import DismissedFinding, StoredFinding
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

FINDINGS = "/c/test-eu/findings/"
IMPLIED = allow("User:bob", "READ", "orders.eu")
ACLS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    IMPLIED,
    allow("User:fay", "READ", "stock", host="fays-laptop"),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers(ACLS))
    cluster.refresh_from_db()
    person = signed_in(ada)
    person.get(FINDINGS)
    return person


def implied() -> StoredFinding:
    return StoredFinding.objects.get(rule="implied")


def dismissed(browser, **typed):
    return browser.post(f"{FINDINGS}{implied().pk}/dismiss/", {"reason": "Kept for the audit."} | typed)


def numbers(browser, cluster) -> dict[str, int]:
    """Return every number that the site shows of findings."""
    page = browser.get(FINDINGS)
    api = browser.get("/api/v1/clusters/test-eu/findings/").json()
    listed = browser.get("/c/test-eu/acls/?finding=implied")
    return {
        "page": page.context["counts"].total,
        "removable": page.context["counts"].can_go,
        "rows": page.context["page"].paginator.count,
        "tab": findings.known_count(cluster),
        "posture": postures([cluster])[cluster.pk].redundant,
        "api": sum(api["counts"][severity] for severity in findings.SEVERITIES),
        "api rows": api["total"],
        "acls": listed.context["acls"],
    }


def test_a_dismissed_finding_is_left_out_of_every_number_and_comes_back_when_undone(browser, cluster):
    before = numbers(browser, cluster)
    assert dismissed(browser).status_code == 302

    after = numbers(browser, cluster)
    assert after == {name: number - 1 for name, number in before.items()}

    number = DismissedFinding.objects.get().pk
    browser.post(f"{FINDINGS}dismissed/{number}/undo/")
    assert numbers(browser, cluster) == before


def test_the_findings_of_a_run_are_counted_once_and_only_the_dismissed_again(browser, cluster):
    first = numbers(browser, cluster)
    with CaptureQueriesContext(connection) as asked:
        page = browser.get("/c/test-eu/findings/")
        assert findings.known_count(cluster) == first["tab"]

    counting = [
        query["sql"] for query in asked if "COUNT(" in query["sql"] and "inventory_found" in query["sql"]
    ]
    assert page.context["counts"].total == first["tab"]
    assert counting
    assert all('"dismissed_until" >=' in sql for sql in counting), counting


def test_it_is_listed_with_reason_person_and_last_day_and_by_the_api(browser):
    dismissed(browser, until=f"{dismissing.today() + timedelta(days=9)}")

    page = unescape(browser.get(FINDINGS, {"show": "dismissed"}).content.decode())
    answer = browser.get("/api/v1/clusters/test-eu/findings/?show=dismissed").json()

    assert "Kept for the audit." in page
    assert f"{dismissing.today() + timedelta(days=9)}" in page
    assert "ada, " in page
    assert [found["rule"] for found in answer["findings"]] == ["implied"]
    assert answer["counts"]["dismissed"] == 1


def test_it_stays_dismissed_in_the_next_run(browser, cluster):
    dismissed(browser)
    sync(cluster, client=Answers([*ACLS, allow("User:new", "READ", "stock")]))
    cluster.refresh_from_db()

    found = findings.findings(current.in_force(cluster))

    assert found.is_done
    assert [row.rule for row in found.left_out] == ["implied"]
    assert "implied" not in {row.rule for row in found.matching()}


def test_after_its_last_day_it_is_counted_again(browser, cluster, monkeypatch):
    before = numbers(browser, cluster)
    dismissed(browser, until=f"{dismissing.today()}")
    assert numbers(browser, cluster) != before

    tomorrow = dismissing.today() + timedelta(days=1)
    for module in ("dismissing", "pages", "posture"):
        monkeypatch.setattr(f"aclweb.inventory.findings.{module}.today", lambda: tomorrow)

    assert numbers(browser, cluster) == before
    assert browser.get(FINDINGS, {"show": "dismissed"}).context["dismissed_rows"] == []


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"reason": "  "}, "Say why the finding may stay"),
        ({"reason": "x" * 501}, "The reason has 501 characters, and at most 500 are kept."),
        ({"until": "soon"}, "'soon' is no day; write it as 2027-01-31."),
        ({"until": "2020-01-01"}, "2020-01-01 is past; choose today or a later day."),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_stored(browser, typed, sentence):
    answer = dismissed(browser, **typed)

    assert answer.status_code == 422
    assert sentence in unescape(answer.content.decode())
    assert answer.context["reason"] == typed.get("reason", "Kept for the audit.")
    assert not DismissedFinding.objects.exists()
    assert implied().dismissed_until is None


def test_the_trail_records_who_dismissed_what_and_who_took_it_back(browser):
    dismissed(browser)
    browser.post(f"{FINDINGS}dismissed/{DismissedFinding.objects.get().pk}/undo/")

    events = Event.objects.filter(verb__startswith="finding.").order_by("sequence")
    assert [(event.actor, event.verb) for event in events] == [
        ("ada", "finding.dismissed"),
        ("ada", "finding.undismissed"),
    ]
    assert events[0].facts["reason"] == "Kept for the audit."


def test_who_only_looks_can_neither_dismiss_nor_undo(browser, cho, signed_in):
    dismissed(browser)
    viewer, number = signed_in(cho), DismissedFinding.objects.get().pk

    assert viewer.post(f"{FINDINGS}dismissed/{number}/undo/").status_code == 403
    other = StoredFinding.objects.filter(dismissed_until=None).first()
    assert viewer.post(f"{FINDINGS}{other.pk}/dismiss/", {"reason": "No."}).status_code == 403
    assert b"/dismiss/" not in viewer.get(FINDINGS).content
    assert DismissedFinding.objects.count() == 1
