"""Does the list of principals find the orphaned one, say what each filter means, and keep to its budget?"""

import csv
import io
import json
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.clusters import Known
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.test_principals import REQUESTS

URL = "/c/test-eu/principals/"
LOG_FILTERS = ("orphaned", "never-seen", "denied")  # each is also told in the title of its filter


@pytest.fixture
def browser(signed_in, cho):
    return signed_in(cho)


@pytest.fixture
def logged(given):  # noqa: F811
    return given(requests=REQUESTS)


def text_of(answer):
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def names_in(page):
    return [
        part.split("</a>")[0].rsplit(">", 1)[-1] for part in page.split('<td data-full><a class="name"')[1:]
    ]


def test_the_orphaned_principal_is_two_clicks_from_home(logged, browser):
    assert f'href="{URL}"' in text_of(browser.get("/c/test-eu/"))
    listed = text_of(browser.get(URL))
    link = next(part for part in listed.split('href="')[1:] if "show=orphaned" in part.split('"')[0])

    page = text_of(browser.get(f"{URL}{link.split(chr(34))[0].removeprefix(URL)}"))

    assert "no request of theirs was logged in the 13 days" in page
    assert "User:eve" in names_in(page)
    assert "User:bob" not in names_in(page)


def test_where_the_log_cannot_tell_the_filter_says_what_is_missing(read_cluster, browser):  # noqa: F811
    page = text_of(browser.get(f"{URL}?show=never-seen"))

    assert page.count("Cannot tell: no authorizer log has been read.") == 1 + len(LOG_FILTERS)
    assert "Coverage of the log" in page
    assert names_in(page) == []


def test_where_topics_are_unknown_the_way_out_is_not_the_log(cluster, browser):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")]))
    cluster.topics_listed = Known.UNKNOWN.value
    cluster.save()

    page = text_of(browser.get(f"{URL}?show=reads-all"))

    assert "so which topics exist is unknown." in page
    assert "Coverage of the log" not in page


def test_a_name_that_another_filter_hides_is_not_said_to_be_missing(logged, browser):
    hidden = text_of(browser.get(f"{URL}?q=stranger&show=orphaned"))
    missing = text_of(browser.get(f"{URL}?q=nobody-is-called-so&show=orphaned"))

    assert "No principal contains this text" not in hidden
    assert "No principal contains this text" in missing


def test_the_address_keeps_filter_order_and_text(logged, browser):
    page = text_of(browser.get(f"{URL}?q=user&show=denied&sort=-denials"))

    assert names_in(page) == ["User:stranger", "User:bob"]
    assert 'name="show" value="denied"' in page
    assert 'name="sort" value="-denials"' in page
    assert 'aria-sort="descending"' in page


def test_a_word_that_is_no_filter_is_said_and_filters_nothing(logged, browser):
    page = text_of(browser.get(f"{URL}?show=idle"))

    assert "show is 'idle'; use one of orphaned" in page
    assert "User:bob" in names_in(page)


def test_files_have_every_row_that_the_filters_leave(logged, browser):
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{URL}?format=csv&show=denied").getvalue().decode())))
    lines = [
        json.loads(line) for line in browser.get(f"{URL}?format=jsonl&show=denied").getvalue().splitlines()
    ]

    assert [row["principal"] for row in rows] == ["User:bob", "User:stranger"]
    assert rows[0]["denied_7_days"] == "3"
    assert rows[0]["topics_read"] == "1"
    assert [line["marks"] for line in lines] == [["denied"], ["denied", "no-acl"]]
    assert browser.get(f"{URL}?format=xml").status_code == 404


def test_a_page_of_many_principals_keeps_to_its_budget(cluster, given, browser):  # noqa: F811
    many = [allow(f"User:service-{number:04}", "READ", f"topic-{number}") for number in range(1_000)]
    given(requests=REQUESTS)
    sync(cluster, client=FakeCluster(many, topics=[f"topic-{number}" for number in range(500)]))
    browser.get(URL)

    with CaptureQueriesContext(
        connection,
    ) as asked:
        answer = browser.get(URL)

    assert len(asked) <= 12, [query["sql"] for query in asked]
    assert len(answer.content) <= 50 * 1024
    wide = browser.get(f"{URL}?rows=100&show=reads-all")
    assert wide.status_code == 200
