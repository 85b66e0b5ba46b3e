"""The list of ACLs can be grouped: each group has its counts and leads to its ACLs."""

from __future__ import annotations

from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

LIST = "/c/test-eu/acls/"
MOST_QUERIES = 12


@pytest.fixture
def browser(cluster, ada, signed_in):
    acls = [
        *(allow(f"User:p{number:02}", "READ", "orders") for number in range(60)),
        allow("User:p00", "WRITE", "orders", host="10.0.0.1"),
        deny("User:p00", "READ", "orders", pattern="PREFIXED"),
        allow("User:p00", "READ", "orders", resource_type="GROUP"),
    ]
    sync(cluster, client=Answers(acls))
    return signed_in(ada)


def counts_of(page):
    return [(row.group.allow, row.group.deny, row.group.acls) for row in page.context["rows"]]


def test_each_group_leads_to_as_many_acls_as_it_counts(browser):
    for by in ("principal", "resource", "host", "role"):
        rows = browser.get(LIST, {"by": by}).context["rows"]
        for row in [*rows[:3], rows[-1]]:
            listed = browser.get(LIST + row.url).context
            assert not listed["by"]
            assert listed["page"].paginator.count == row.group.acls


def test_groups_are_paged_and_count_allow_and_deny(browser):
    first = browser.get(LIST, {"by": "principal"})
    second = browser.get(LIST, {"by": "principal", "page": "2"})

    assert first.context["page"].paginator.count == 60
    assert (len(first.context["rows"]), len(second.context["rows"])) == (50, 10)
    assert counts_of(first)[:2] == [(3, 1, 4), (1, 0, 1)]
    assert "by=principal&page=2" in unescape(first.content.decode())


def test_a_pattern_type_or_another_kind_of_resource_is_a_group_of_its_own(browser):
    page = browser.get(LIST, {"by": "resource", "sort": "acls"})

    assert counts_of(page) == [(61, 0, 61), (0, 1, 1), (1, 0, 1)]


def test_groups_hold_only_what_the_filters_let_through(browser):
    page = browser.get(LIST, {"by": "host", "principal": "User:p00", "permission": "ALLOW"})

    assert counts_of(page) == [(1, 0, 1), (2, 0, 2)]
    assert "3 of 63 ACLs" in unescape(page.content.decode())
    tabs = {lens.word: lens.url for lens in page.context["lenses"]}
    assert tabs["ACLs"] == "?principal=User%3Ap00&permission=ALLOW"
    assert tabs["By resource"] == "?by=resource&principal=User%3Ap00&permission=ALLOW"


def test_groups_are_sorted_by_a_count_or_by_name(browser):
    page = browser.get(LIST, {"by": "resource", "sort": "deny"})

    assert counts_of(page)[0] == (0, 1, 1)
    assert [choice.value for choice in page.context["sorts"] if choice.current] == ["deny"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"by": "colour"}, "by is 'colour'; use one of principal, resource, host, role."),
        ({"by": "host", "sort": "size"}, "sort is 'size'; groups take one of allow, deny, acls."),
    ],
)
def test_a_word_that_groups_do_not_take_is_reported(browser, query, sentence):
    page = browser.get(LIST, query)

    assert page.status_code == 200
    assert sentence in unescape(page.content.decode())


def test_no_group_says_why(browser):
    page = browser.get(LIST, {"by": "principal", "principal": "User:nobody"})

    assert "No ACL matches these filters" in page.content.decode()


@pytest.mark.parametrize("by", ["", "principal", "resource", "host"])
def test_a_page_of_groups_costs_few_queries(browser, by):
    browser.get(LIST, {"by": by})
    with CaptureQueriesContext(connection) as queries:
        browser.get(LIST, {"by": by})

    assert len(queries) <= MOST_QUERIES


def test_a_group_whose_name_ends_in_an_asterisk_leads_to_its_own_acls_alone(cluster, ada, signed_in):
    acls = [allow("User:a*", "READ", "one"), allow("User:ab", "READ", "one", host="10.0.*")]
    acls += [allow("User:a*", "WRITE", "two", host="10.0.0.1"), allow("User:*", "READ", "two")]
    sync(cluster, client=Answers(acls))
    browser = signed_in(ada)

    for by in ("principal", "host"):
        for row in browser.get(LIST, {"by": by}).context["rows"]:
            page = browser.get(LIST + row.url)
            assert page.context["page"].paginator.count == row.group.acls, row.url
    typed = browser.get(
        LIST, {"principal": "User:zoe", "exactly": "1", "add": "principal:User:a*"}, follow=True
    )
    assert typed.context["page"].paginator.count == 3
    assert "exactly" not in typed.request["QUERY_STRING"]


def test_a_role_says_what_it_is_and_what_is_missing_where_something_is(browser):
    page = unescape(browser.get(LIST, {"by": "role", "principal": "User:p01"}).content.decode())
    whole = unescape(browser.get(LIST, {"by": "role", "principal": "User:p00"}).content.decode())

    assert "For a client that reads topics as a member of groups. ACLs: 1 for topics." in page
    assert "Incomplete: no ACL allows it Read on a group." in page
    assert "For a client that reads topics as a member of groups. ACLs: 1 for topics, 1 for groups." in whole
    assert "ncomplete" not in whole
