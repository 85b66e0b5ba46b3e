"""The list of ACLs filters by what is stored beside them: findings and age."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.inventory.current import in_force
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

LIST = "/c/test-eu/acls/"
MOST_QUERIES = 12
OLD = [allow("User:bob", "READ", "*"), allow("User:bob", "READ", "a"), allow("User:cat", "READ", "b")]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers(OLD))
    return signed_in(ada)


def listed(page) -> list[str]:
    return [row.binding.resource_name for row in page.context["page"].object_list]


def text(page) -> str:
    return unescape(page.content.decode())


def test_a_finding_lists_the_acls_that_have_it(browser, cluster):
    findings.findings(in_force(cluster))

    page = browser.get(LIST, {"finding": "implied"})

    assert listed(page) == ["a"]
    assert "Redundant: another ACL grants the same" in text(page)
    assert listed(browser.get(LIST, {"finding": "can-go"})) == ["a"]
    assert "a" in listed(browser.get(LIST, {"finding": "any"}))
    facet = next(each for each in page.context["facets"] if each.label == "Findings")
    assert "implied" in [choice.value for choice in facet.values]


def test_without_findings_or_with_older_ones_the_list_says_so(browser, cluster):
    assert "No findings are known yet." in text(browser.get(LIST, {"finding": "implied"}))
    findings.findings(in_force(cluster))
    sync(cluster, client=Answers([*OLD, allow("User:bob", "READ", "c")]))

    page = browser.get(LIST, {"finding": "implied"})

    assert listed(page) == ["a"]
    assert "These findings are of revision 1; revision 2 has not been checked yet." in text(page)


def test_the_age_of_an_acl_is_known_from_the_second_revision_on(browser, cluster):
    sync(cluster, client=Answers([*OLD, allow("User:dan", "READ", "new")]))
    first, second = Revision.objects.filter(cluster=cluster).order_by("number")
    Revision.objects.filter(pk=first.pk).update(read_at=first.read_at - timedelta(days=60))
    Revision.objects.filter(pk=second.pk).update(read_at=second.read_at - timedelta(days=10))

    assert listed(browser.get(LIST, {"added": "30"})) == ["new"]
    assert listed(browser.get(LIST, {"added": "7"})) == []
    assert listed(browser.get(LIST, {"added": "cannot-tell"})) == ["a", "b", "*"]
    assert "nobody can tell" not in text(browser.get(LIST, {"added": "30"}))
    assert "3 ACLs were there when aclweb first read this cluster" in text(browser.get(LIST, {"added": "90"}))


def test_filters_of_what_is_stored_hold_together_and_for_the_export(browser, cluster):
    findings.findings(in_force(cluster))
    query = {"finding": "implied", "added": "cannot-tell", "format": "csv"}

    exported = b"".join(browser.get(f"{LIST}export/", query).streaming_content).decode()

    assert len(exported.splitlines()) == 2
    assert listed(browser.get(LIST, {"finding": "implied", "added": "30"})) == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"finding": "nonsense"}, "finding is 'nonsense'; use any, can-go, or the id of a lint rule"),
        ({"added": "-1"}, "added is '-1'; use a number of days from 1 to 3,650"),
        ({"added": "99999"}, "added is '99999'"),
    ],
)
def test_a_word_that_is_none_is_reported_and_exports_nothing(browser, query, sentence):
    assert sentence in text(browser.get(LIST, query))
    assert browser.get(f"{LIST}export/", {**query, "format": "csv"}).status_code == 302


def test_findings_of_the_past_are_not_known(browser, cluster):
    findings.findings(in_force(cluster))
    sync(cluster, client=Answers([*OLD, allow("User:bob", "READ", "c")]))

    page = browser.get(LIST, {"finding": "implied", "as_of": "1"})

    assert listed(page) == []
    assert "Findings are known of the ACLs in force now, and not of the past." in text(page)


@pytest.mark.parametrize("query", [{}, {"finding": "implied"}, {"added": "90"}, {"added": "cannot-tell"}])
def test_a_filter_costs_few_queries(browser, cluster, query):
    findings.findings(in_force(cluster))
    browser.get(LIST, query)
    with CaptureQueriesContext(connection) as queries:
        browser.get(LIST, query)

    assert len(queries) <= MOST_QUERIES, [each["sql"][:90] for each in queries]
