"""The week of a cluster: a page, Markdown and a command that say the same, and never a number that nobody knows."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.insights.load import load
from aclweb.insights.models import Refresh
from aclweb.inventory.sync.run import sync
from aclweb.web.browse.week import code
from tests.browsing import axe_violations
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 - a fixture
from tests.insights.results import FIRST, request, write_result

PAGE = "/c/test-eu/insights/week/"
DAYS_OF_STORM = ("2026-11-07", "2026-11-20")


@pytest.fixture
def logged(read_cluster, tmp_path):  # noqa: F811
    refused = [request("User:storm", "READ", "orders"), request("User:`odd`", "WRITE", "a|b<c>")]
    load(write_result(tmp_path / "usage", BINDINGS, requests=refused), read_cluster)
    return read_cluster


def text_of(answer):
    return " ".join(unescape(re.sub(r"<[^>]+>", "", answer.content.decode())).split())


def test_the_page_says_first_what_happened_and_leads_to_each_of_it(logged, ada, ben, signed_in):
    change = review.draft(
        cluster=logged,
        author=ada,
        title="Let storm in",
        delta=Delta(add=(allow("User:storm", "READ", "orders"),)),
    )
    review.submit(change=change, actor=ada)
    Change.objects.filter(pk=change.pk).update(state=Change.State.APPLIED, finished_at=timezone.now())
    waiting = review.draft(
        cluster=logged, author=ada, title="More", delta=Delta(add=(allow("User:storm", "READ", "stock"),))
    )
    review.submit(change=waiting, actor=ada)
    sync(logged, client=FakeCluster([*BINDINGS[1:], allow("User:zoe", "READ", "stock")], topics=["orders"]))

    page = text_of(signed_in(ben).get(PAGE))

    assert (
        "2 groups of denials for the first time, 1 change made with aclweb and 1 edit made elsewhere." in page
    )
    assert "14 to 20 November 2026" in page
    assert "User:storm Read topic orders" in page
    assert "1 change ended in the last seven days. 1 change waits for a review." in page
    assert f"CR-{change.pk} Let storm in" in page
    assert "1 ACL came and 1 went in 1 edit that nobody made with aclweb." in page
    assert "revision 2" in page


def test_each_link_of_the_page_is_there(logged, cho, signed_in):
    client = signed_in(cho)
    links = [
        part.split('"')[0] for part in client.get(PAGE).content.decode().split('class="name" href="')[1:]
    ]

    assert len(links) == 4, "two groups of denials, and their principals, which are new"
    for link in map(unescape, links):
        answer = client.get(link)
        assert answer.status_code == 200
        assert "User:" in answer.content.decode()


def test_without_a_log_it_says_that_it_cannot_tell(read_cluster, cho, signed_in):  # noqa: F811
    page = text_of(signed_in(cho).get(PAGE))

    assert "This cluster was first read in the last seven days; no log was read." in page
    assert "No authorizer log with times has been read." in page
    assert "This cluster was first read within these seven days." in page
    assert "0 denials" not in page


def test_what_is_older_than_a_week_is_not_of_it(logged, ada, cho, signed_in):
    sync(logged, client=FakeCluster(BINDINGS[1:], topics=["orders"]))
    old = timezone.now() - timedelta(days=8)
    logged.revisions.update(read_at=old)
    change = review.draft(
        cluster=logged, author=ada, title="Old", delta=Delta(add=(allow("User:storm", "READ", "orders"),))
    )
    Change.objects.filter(pk=change.pk).update(state=Change.State.APPLIED, finished_at=old)

    page = text_of(signed_in(cho).get(PAGE))

    assert "No change ended in the last seven days." in page
    assert "first read in the last" not in page
    assert "No ACL was added or removed outside aclweb." in page


def test_a_refresh_that_failed_is_said_first(logged, cho, signed_in):
    Refresh.objects.create(
        cluster=logged, tried_at=timezone.now() + timedelta(seconds=5), problem="The folder /logs is gone."
    )

    page = text_of(signed_in(cho).get(PAGE))

    assert "Not refreshed since" in page
    assert "The folder /logs is gone." in page


def test_the_file_has_whole_addresses_and_names_that_stay_names(logged, cho, signed_in):
    answer = signed_in(cho).get(PAGE, {"format": "md"})

    text = answer.content.decode()
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.startswith(
        "# test-eu: the week of 14 to 20 November 2026\n\n2 groups of denials for the first time.\n"
    )
    assert "## Refused for the first time\n\n2 groups of principal, operation and resource.\n\n- " in text
    assert "- ``User:`odd` Write topic 'a|b<c>'``: 3 denials, 0 in the seven days before;" in text
    assert "[open](http://testserver/c/test-eu/insights/?days=14&open=" in text


def test_a_name_is_code_in_markdown_whatever_it_holds():
    assert code("orders") == "`orders`"
    assert code("a`b") == "``a`b``"
    assert code("``x`") == "``` ``x` ```"
    assert code("two\nlines") == "`two\\nlines`"


def test_the_command_prints_what_the_page_says(logged, capsys):
    call_command("digest", "test-eu", "--site", "https://acl.example.com")
    one = capsys.readouterr().out
    call_command("digest", stdout=(every := StringIO()))

    assert "2 groups of denials for the first time." in one
    assert "(https://acl.example.com/c/test-eu/insights/?days=14&open=" in one
    assert "(/c/test-eu/insights/?days=14&open=" in every.getvalue()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "There is no cluster 'nowhere'; those known are: test-eu."),
        (
            ["test-eu", "--site", "acl.example.com"],
            "--site is given 'acl.example.com'; write a whole address",
        ),
    ],
)
def test_the_command_ends_with_a_sentence_where_it_cannot(logged, words, told):
    with pytest.raises(CommandError) as error:
        call_command("digest", *words)

    assert error.value.returncode == 2
    assert str(error.value).startswith(told)


def test_the_page_takes_few_queries(logged, cho, signed_in, django_assert_max_num_queries):
    client = signed_in(cho)
    client.get(PAGE)

    with django_assert_max_num_queries(14):
        client.get(PAGE)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_week_is_copied_as_markdown(logged, cho, window):
    page = window(cho, PAGE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_role("button", name="Copied").wait_for()

    assert page.evaluate("navigator.clipboard.readText()").startswith(
        "# test-eu: the week of 14 to 20 November"
    )
    assert axe_violations(page) == []
    assert page.watch.complaints == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_on_a_phone_the_tab_that_is_shown_is_in_sight(logged, cho, window):
    page = window(cho, PAGE)
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()

    tab = page.locator(".tabs [aria-current]").bounding_box()
    assert tab["x"] >= 0
    assert tab["x"] + tab["width"] <= 390


def test_new_principals_and_hosts_are_parts_of_the_page_and_of_the_file(logged, cho, signed_in, tmp_path):
    known = [
        request("User:storm", "READ", "orders", days=[{"day": day, "lines": 2} for day in DAYS_OF_STORM])
        | {"first_at": FIRST, "lines": 4},
        request("User:storm", "READ", "orders", host="10.9.9.9", lines=3),
        request("User:fresh", "READ", "orders", lines=7, allowed=True),
    ]
    load(write_result(tmp_path / "again", BINDINGS, requests=known), logged)
    client = signed_in(cho)

    page, told = text_of(client.get(PAGE)), client.get(PAGE, {"format": "md"}).content.decode()

    assert "1 principal was logged for the first time." in page
    assert "7 requests, 0 of them denied" in page.split("New principals")[1]
    assert "1 pair of principal and host was logged for the first time." in page
    assert "- `User:storm from 10.9.9.9`: 3 requests, 3 of them denied" in told
    assert "The log does not hold a day before the 23 days of silence." in page
