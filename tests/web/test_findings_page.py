"""What is wrong or wasted in the ACLs is listed, worst first; what can go becomes a draft; no request works long."""

from __future__ import annotations

import gc
import re
import threading

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory import current, findings
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import sync
from tests.builders import allow, deny
from tests.inventory.readings import Answers

IMPLIED = allow("User:bob", "READ", "orders.eu")
SHADOWED = allow("User:dan", "WRITE", "orders.eu")
RULES = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    IMPLIED,
    deny("User:dan", "ALL", "orders.", pattern="PREFIXED"),
    SHADOWED,
    allow("User:eli", "READ", "order", pattern="PREFIXED"),
    deny("User:fay", "READ", "stock", host="fays-laptop"),
]


@pytest.fixture
def address(cluster) -> str:
    sync(cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu"), TopicInfo("stock")]))
    return f"/c/{cluster.slug}/findings/"


@pytest.fixture
def browser(ada, signed_in):
    return signed_in(ada)


def rules_of(page) -> list[tuple[str, str]]:
    return [(row.rule, row.acl.principal) for row in page.context["page"].rows]


def test_findings_are_listed_worst_first_each_with_its_acl_and_sentence(address, browser):
    page = browser.get(address)

    severities = [row.severity for row in page.context["page"].rows]
    assert severities == sorted(severities, key=findings.SEVERITIES.index)
    assert ("host-never-matches", "User:fay") in rules_of(page)
    assert ("implied", "User:bob") in rules_of(page)
    assert ("prefix-without-delimiter", "User:eli") in rules_of(page)
    assert rules_of(page).count(("shadowed", "User:dan")) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"rule": "implied"}, {("implied", "User:bob")}),
        ({"severity": "info", "text": "BOB"}, {("implied", "User:bob")}),
        ({"rule": "nothing"}, set()),
        ({"rule": "implied", "page": "9" * 30}, {("implied", "User:bob")}),
    ],
)
def test_filters_stand_in_the_address(address, browser, query, expected):
    page = browser.get(address, query)

    assert page.status_code == 200
    assert {found for found in rules_of(page) if found[0] != "group-right-missing"} == expected


def test_what_can_go_becomes_a_draft_that_changes_nothing(address, browser, cluster):
    page = browser.get(address)
    keys = re.findall(r'name="remove_key" value="([0-9a-f]+)"', page.content.decode())

    draft = browser.post(f"/c/{cluster.slug}/what-if/", {"remove_key": keys})

    assert page.context["removable"] == len(keys) == len(draft.context["draft"].lines)
    assert {IMPLIED, SHADOWED} <= {line.binding for line in draft.context["draft"].lines}
    impact = draft.context["preview"].impact
    assert not any(impact[kind] for kind in ("gains", "loses", "depends"))


def test_somebody_who_only_looks_is_offered_no_draft(address, cho, signed_in):
    page = signed_in(cho).get(address)

    assert page.status_code == 200
    assert b"remove_key" not in page.content


def test_many_acls_are_never_looked_through_in_a_request(address, browser, monkeypatch):
    may_go_on = threading.Event()
    look_through, worked_in = findings.look_through, []

    def slow(here):
        worked_in.append(threading.current_thread())
        assert may_go_on.wait(20)
        return look_through(here)

    monkeypatch.setattr(findings, "AT_ONCE", 1)
    monkeypatch.setattr(findings, "look_through", slow)

    first = browser.get(address)
    second = browser.get(address)
    may_go_on.set()
    for thread in threading.enumerate():
        if thread.name == "aclweb-findings":
            thread.join(20)
    done = browser.get(address)

    assert first.context["under_way"]
    assert second.context["under_way"]
    assert b"Being worked out" in first.content
    assert b'hx-trigger="every 2s"' in first.content
    assert b'http-equiv="refresh"' in first.content
    assert worked_in != [threading.current_thread()]
    assert len(worked_in) == 1
    assert done.context["page"].total


def test_findings_that_failed_are_told_and_not_tried_at_every_request(address, browser, monkeypatch):
    tried = []

    def broken(here):
        tried.append(here)
        raise RuntimeError("no")

    monkeypatch.setattr(findings, "look_through", broken)

    pages = [browser.get(address) for _ in range(2)]

    assert all(b"could not be worked out" in page.content for page in pages)
    assert len(tried) == 1


def test_a_new_declaration_is_counted_with_at_once(address, browser, cluster):
    before = browser.get(address, {"rule": "super-user-unaffected"})
    Cluster.objects.filter(pk=cluster.pk).update(super_users="User:admin;User:bob")

    after = browser.get(address, {"rule": "super-user-unaffected"})

    assert rules_of(before) == []
    assert {who for _, who in rules_of(after)} == {"User:bob"}


def test_a_cluster_that_was_never_read_says_so(cluster, browser):
    page = browser.get(f"/c/{cluster.slug}/findings/")

    assert page.status_code == 200
    assert b"Cannot tell yet" in page.content


def test_hostile_names_are_shown_and_never_run(cluster, browser):
    sync(cluster, client=Answers([allow("User:<script>alert(1)</script>", "READ", "x", host="a<b>")]))

    page = browser.get(f"/c/{cluster.slug}/findings/")

    assert b"<script>alert" not in page.content


def test_the_page_needs_few_queries(address, browser, django_assert_max_num_queries):
    browser.get(address)

    with django_assert_max_num_queries(10):
        browser.get(address)


def test_findings_of_a_revision_that_is_gone_are_forgotten(address, browser):
    browser.get(address)
    held = len(findings._kept)
    current.forget()
    gc.collect()

    assert held >= 1
    assert len(findings._kept) < held
