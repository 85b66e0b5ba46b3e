"""The history of a topic, group or transactional id: which revisions changed its ACLs, and who made them."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.clusters import TopicInfo
from aclweb.inventory.models import Revision
from aclweb.inventory.sync.run import sync
from aclweb.web.browse import resource_tabs
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

HISTORY = "/c/test-eu/topics/orders.eu?tab=history"
BOB = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
EVE = deny("User:eve", "ALL", "*")
TX = allow("User:tx", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID")


@pytest.fixture
def browser(cluster, ada, signed_in):
    """Bob's ACL was there at first; eve's DENY came by a change, and bob's went outside aclweb."""
    for acls in ([BOB], [BOB, EVE], [EVE, TX]):
        sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")]))
    change = review.draft(
        cluster=cluster, author=ada, title="Keep eve out", reason="", delta=Delta(add=(EVE,), remove=())
    )
    by_aclweb = Revision.objects.get(cluster=cluster, number=2)
    Revision.objects.filter(pk=by_aclweb.pk).update(cause=Revision.Cause.OURS)
    Change.objects.filter(pk=change.pk).update(state="APPLIED", applied_revision=by_aclweb)
    return signed_in(ada)


def rows_of(page) -> list[str]:
    body = page.content.decode().split('id="history"')[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [" ".join(unescape(re.sub("<[^>]*>", " ", row)).split()) for row in rows]


def test_each_revision_says_what_came_or_went_and_who_made_it(browser):
    newest, second, first = rows_of(browser.get(HISTORY))

    assert "outside aclweb" in newest
    assert re.search(r"removed Allow Read .*User:bob", newest)
    assert f"CR-{Change.objects.get().pk}" in second
    assert re.search(r"added DENY All .*User:eve", second)
    assert "first sync 1 ACL matched it; since when is unknown." in first


def test_a_row_leads_to_the_change_and_to_the_page_as_of_then(browser):
    page = browser.get(HISTORY).content.decode()

    assert f'href="/changes/CR-{Change.objects.get().pk}/"' in page
    then = browser.get("/c/test-eu/topics/orders.eu?as_of=1")
    assert 'href="/c/test-eu/topics/orders.eu?as_of=1"' in page
    assert "1 principal can read it" in unescape(then.content.decode())


def test_of_a_transactional_id_only_its_own_acls_count(browser):
    page = browser.get("/c/test-eu/resource/?type=TRANSACTIONAL_ID&name=tx-1&tab=history")

    (only,) = rows_of(page)
    assert re.search(r"^3 .*outside aclweb added Allow Write .*User:tx", only)
    assert "type=TRANSACTIONAL_ID&amp;name=tx-1&amp;as_of=3" in page.content.decode()


def test_a_name_that_no_acl_ever_matched_says_so(browser):
    page = browser.get("/c/test-eu/resource/?type=GROUP&name=none&tab=history")

    assert "No ACL has matched it" in page.content.decode()


def test_the_history_comes_in_pages(browser, monkeypatch):
    monkeypatch.setattr(resource_tabs, "REVISIONS_SHOWN", 2)

    part = browser.get(f"{HISTORY}&page=2", headers={"HX-Request": "true"})

    assert "<html" not in part.content.decode()
    assert len(rows_of(part)) == 1


def test_of_the_past_it_ends_then(browser):
    assert len(rows_of(browser.get(f"{HISTORY}&as_of=2"))) == 2
