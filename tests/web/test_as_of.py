"""A page that is asked about the past answers as of then, says so, and never shows now in its place."""

from __future__ import annotations

import datetime
import html
import re

import pytest
from django.http import QueryDict
from django.utils import timezone

from aclweb.clusters import TopicInfo
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.models import Declaration, Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

THEN = [allow("User:bob", "READ", "orders.eu"), allow("User:cat", "WRITE", "stock")]
NOW = [allow("User:cat", "WRITE", "stock")]
PAGES = {
    "explain": "explain/?principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host=",
    "topic": "topics/orders.eu",
    "resource": "resource/?type=GROUP&name=g",
    "principal": "principal/?name=User:bob",
    "acls": "acls/",
}


@pytest.fixture
def site(cluster) -> str:
    sync(cluster, client=Answers(THEN, topics=[TopicInfo("orders.eu"), TopicInfo("stock")]))
    sync(cluster, client=Answers(NOW, topics=[TopicInfo("stock")]))
    return f"/c/{cluster.slug}/"


@pytest.fixture
def browser(ada, signed_in):
    return signed_in(ada)


def at(path: str, moment: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}as_of={moment}"


def test_a_question_is_answered_as_of_a_revision_and_as_of_now(site, browser):
    then = browser.get(site + at(PAGES["explain"], "1"))
    now = browser.get(site + PAGES["explain"])

    assert then.context["answer"].verdict == "allowed"
    assert now.context["answer"].verdict == "refused"
    assert b"This page shows the past" in then.content
    assert b"This page shows the past" not in now.content


def test_a_day_means_its_end_and_a_time_the_sync_before_it(site, browser, cluster):
    first = Revision.objects.get(cluster=cluster, number=1)
    Revision.objects.filter(pk=first.pk).update(read_at="2026-03-01T12:00:00+00:00")

    verdicts = {
        moment: browser.get(site + at(PAGES["explain"], moment)).context["answer"].verdict
        for moment in ("2026-03-01", "2026-03-01T12:00", "2026-03-02T09:30:00%2B02:00", "now", "")
    }

    assert verdicts == {
        "2026-03-01": "allowed",
        "2026-03-01T12:00": "allowed",
        "2026-03-02T09:30:00%2B02:00": "allowed",
        "now": "refused",
        "": "refused",
    }
    assert browser.get(site + at(PAGES["explain"], "2026-03-01T11:59")).status_code == 422


@pytest.mark.parametrize("name", PAGES)
def test_every_page_that_answers_says_which_moment_it_is_about(name, site, browser):
    page = browser.get(site + at(PAGES[name], "1"))

    assert page.status_code == 200
    assert page.context["as_of"].text == "1"
    assert b"This page shows the past" in page.content


@pytest.mark.half
@pytest.mark.parametrize("moment", ["99", "yesterday", "1999-01-01", "\x00", "9" * 300, "2026-02-30"])
@pytest.mark.parametrize("name", PAGES)
def test_a_moment_that_is_none_is_answered_with_a_sentence_and_not_with_now(name, moment, site, browser):
    page = browser.get(site + at(PAGES[name], moment))

    assert page.status_code == 422
    assert "answer" not in page.context
    assert page.context["sentence"]


def test_the_list_and_the_pages_show_what_was_there_then(site, browser):
    acls = browser.get(site + at(PAGES["acls"], "1"))
    topic = browser.get(site + at(PAGES["topic"], "1"))
    principal = browser.get(site + at(PAGES["principal"], "1"))
    now = browser.get(site + PAGES["principal"])

    assert acls.context["page"].paginator.count == 2
    assert topic.context["page"].access.exists is True
    assert [reach.resource.name for reach in principal.context["access"].resources] == ["orders.eu"]
    assert now.context["access"].resources == ()


def test_links_between_pages_carry_the_moment_on(site, browser):
    acls = browser.get(site + at(PAGES["acls"], "1")).content.decode()
    topic = browser.get(site + at(PAGES["topic"], "1")).content.decode()
    old_address = browser.get(site + at("resource/?type=TOPIC&name=orders.eu", "1"))

    assert "topics/orders.eu?as_of=1" in acls
    assert "principal/?name=User%3Abob&amp;as_of=1" in acls
    assert "operation=READ&amp;principal=User%3Abob&amp;as_of=1" in topic
    assert old_address["Location"].endswith("/topics/orders.eu?as_of=1")


def test_a_cell_of_the_past_is_explained_as_of_then(site, browser):
    cell = "cell/?type=TOPIC&name=orders.eu&operation=READ&principal=User:bob&as_of=1"

    whole = browser.get(site + cell)
    part = browser.get(site + cell, headers={"HX-Request": "true"})

    assert whole["Location"].endswith("&as_of=1")
    assert b"User:bob may Read" in part.content.replace(b'<span class="name">', b"").replace(b"</span>", b"")
    assert b"what-if" not in part.content


def test_nothing_of_the_past_can_be_turned_into_a_change(site, browser):
    pages = [browser.get(site + at(path, "1")).content for path in PAGES.values()]

    assert all(b"what-if/?" not in content for content in pages)
    assert all(b"name=acl" not in content for content in pages)


def test_the_newest_revision_is_now(site, browser):
    page = browser.get(site + at(PAGES["acls"], "2"))

    assert not page.context["as_of"].is_past


def test_a_pasted_log_line_is_compared_with_the_acls_of_then(site, browser):
    line = (
        "Principal = User:bob is Allowed operation = READ from host = 10.0.0.9 on resource = Topic:LITERAL:orders.eu"
        " for request = Fetch with resourceRefCount = 1 based on rule MatchingAcl(acl=StandardAcl(resourceType=TOPIC,"
        " resourceName=orders.eu, patternType=LITERAL, principal=User:bob, host=*, operation=READ,"
        " permissionType=ALLOW))"
    )

    answer = browser.post(site + "explain/line/?as_of=1", {"line": line}, follow=True)

    assert answer.context["pasted_answer"].kind == "agrees"


@pytest.mark.parametrize(("name", "most"), [("explain", 12), ("topic", 12), ("principal", 12), ("acls", 12)])
def test_the_past_costs_few_queries_more(name, most, site, browser, django_assert_max_num_queries):
    browser.get(site + at(PAGES[name], "1"))  # builds what was in force then

    with django_assert_max_num_queries(most):
        browser.get(site + at(PAGES[name], "1"))


@pytest.fixture
def yesterday(site, cluster, dot) -> str:
    """A time at which bob was a super user, and everything else was as it is now."""
    declare(cluster=cluster, actor=dot, super_users="User:bob")
    for row in (*Revision.objects.all(), *Declaration.objects.all()):
        name = "read_at" if isinstance(row, Revision) else "since"
        earlier = getattr(row, name) - datetime.timedelta(days=3)
        type(row)._default_manager.filter(pk=row.pk).update(**{name: earlier})
    declare(cluster=cluster, actor=dot, super_users="User:admin")
    return f"{timezone.now() - datetime.timedelta(days=1):%Y-%m-%dT%H:%M:%S}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_past_says_what_was_declared_otherwise_though_no_acl_moved(
    name, site, yesterday, browser
):
    then = browser.get(site + at(PAGES[name], yesterday))

    assert then.context["as_of"].text == yesterday
    assert b"Super users: User:bob then, User:admin today." in then.content
    assert b"which is the newest" in then.content


def test_a_super_user_of_yesterday_was_allowed_yesterday_and_is_refused_today(site, yesterday, browser):
    then = browser.get(site + at(PAGES["explain"], yesterday))
    now = browser.get(site + PAGES["explain"])
    principal = browser.get(site + at(PAGES["principal"], yesterday))

    assert (then.context["answer"].verdict, now.context["answer"].verdict) == ("allowed", "refused")
    assert principal.context["access"].is_super_user
    assert f"as_of={yesterday}".encode() in then.content


def test_a_time_comes_back_from_the_address_as_it_was_asked(site, yesterday, browser):
    for asked, text in (("2026-03-01", "2026-03-01"), ("2026-03-02T09:30%2B02:00", "2026-03-02T07:30:00")):
        Revision.objects.filter(number=1).update(read_at="2026-03-01T12:00:00Z")
        assert browser.get(site + at(PAGES["acls"], asked)).context["as_of"].text == text


def test_a_revision_whose_declarations_hold_still_says_nothing_of_them(site, browser):
    page = browser.get(site + at(PAGES["acls"], "1"))

    assert page.context["as_of"].sentences == ()


DAYS = ("2026-03-01T23:59:59Z", "2026-03-20T00:00:00Z")


@pytest.fixture
def in_march(site, cluster) -> str:
    for number, read_at in enumerate(DAYS, 1):
        Revision.objects.filter(number=number).update(read_at=read_at)
    return site


def calendar(page) -> str:
    return page.content.decode().partition('<table class="month">')[2].partition("</table>")[0]


def marked(page) -> dict[str, str]:
    """The address of each day of the calendar that has one."""
    links = re.findall(r'<a class="day" href="([^"]*)"[^>]*>(\d+)</a>', calendar(page))
    return {day: html.unescape(address) for address, day in links}


@pytest.mark.parametrize("name", PAGES)
def test_the_calendar_marks_the_days_with_revisions_and_keeps_the_page(name, in_march, browser):
    page = browser.get(in_march + PAGES[name])
    days = marked(page)
    then = browser.get(page.request["PATH_INFO"] + days["1"])

    assert set(days) == {"1", "20"}
    assert then.context["as_of"].text == "2026-03-01"
    assert set(marked(then)) == {"20"}, "the day that is shown leads nowhere"
    assert '<span class="day" aria-current="date">1</span>' in calendar(then)
    asked, kept = (QueryDict(shown.request["QUERY_STRING"], mutable=True) for shown in (then, page))
    assert asked.pop("as_of") == ["2026-03-01"]
    assert asked == kept


@pytest.mark.parametrize(
    ("month", "title"),
    [
        ("2026-02", "February 2026, UTC: no revision"),
        ("2026-13", "March 2026, UTC: 2 revisions"),
        ("0000-01", "March 2026, UTC: 2 revisions"),
        ("0001-01", "January 2011, UTC: no revision"),
        ("9999-12", f"{timezone.now():%B %Y}, UTC: no revision"),
        ("' OR 1", "March 2026, UTC: 2 revisions"),
        ("\u0661\u0662\u0663\u0664-01", "March 2026, UTC: 2 revisions"),
    ],
)
def test_the_calendar_turns_to_any_month_and_opens_by_it(in_march, browser, month, title):
    shown = browser.get(in_march + PAGES["acls"], {"month": month}).content.decode()

    assert title in shown
    assert '<details class="menu as-of" open>' in shown


def test_the_calendar_goes_back_to_the_first_revision_and_no_further(in_march, browser):
    first = browser.get(in_march + PAGES["acls"]).content.decode()
    later = browser.get(in_march + PAGES["acls"], {"month": "2026-04"}).content.decode()

    assert 'href="?month=2026-04">April<' in first
    assert "month=2026-02" not in first
    assert 'href="?month=2026-03">March<' in later


@pytest.mark.parametrize("month", ["2026-02", "2025-12", "0001-01"])
def test_a_month_before_the_first_revision_leads_forward_alone(in_march, browser, month):
    shown = browser.get(in_march + PAGES["acls"], {"month": month}).content.decode()

    turns = shown.partition('<div class="month-turn">')[2].partition("</div>")[0]
    assert turns.count("<a ") == turns.count('class="month-after"') == 1


def test_the_next_page_of_a_list_does_not_open_the_calendar(in_march, cluster, browser, settings):
    sync(cluster, client=Answers([allow("User:bob", "READ", f"orders.{number}") for number in range(3)]))
    settings.ACLWEB_PAGE_SIZE = 1
    shown = browser.get(in_march + PAGES["acls"], {"month": "2026-02", "page": "2"}).content.decode()

    links = re.findall(r'rel="(?:prev|next)" href="([^"]*)"', shown)
    assert links
    assert not any("month" in link for link in links)


def test_today_is_no_moment_of_the_past(site, cluster, browser):
    Revision.objects.filter(number=1).update(read_at="2026-03-01T12:00:00Z")
    today = f'aria-current="date">{timezone.now().day}</span>'

    now = browser.get(site + PAGES["acls"])
    then = browser.get(site + PAGES["acls"], {"as_of": "2026-03-01", "month": f"{timezone.now():%Y-%m}"})

    assert today in calendar(now)
    assert marked(now) == {}
    assert (
        browser.get(site + PAGES["acls"] + marked(then)[str(timezone.now().day)]).context["as_of"].text == ""
    )
