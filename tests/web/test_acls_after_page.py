"""A what-if lists the ACLs after its draft, a page at a time, and keeps in its address which."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts.whatif import ACLS_AFTER_A_PAGE
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.web.test_replay_card import what_if

OLD = allow("User:bob", "READ", "orders.eu")
KEPT = [allow(f"User:u-{n:02}", "READ", "orders.", pattern="PREFIXED") for n in range(20)]
ELSEWHERE = allow("User:bob", "READ", "stock")
NEW = deny("User:bob", "WRITE", "orders.eu")
EDIT = Delta(add=(NEW,), remove=(OLD,))


@pytest.fixture
def browser(cluster, ada, signed_in):
    with FakeCluster([OLD, *KEPT, ELSEWHERE], topics=["orders.eu", "stock"]) as fake:
        sync(cluster, client=fake)
    return signed_in(ada)


def rows(page) -> list[str]:
    card = page.content.decode().split('id="acls-after"')[1].split("</form>")[0]
    body = card.split("<tbody>")[1].split("</tbody>")[0]
    return [
        " ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split())
        for row in body.split("</tr>")
        if "<td" in row
    ]


def test_what_changes_comes_first_each_by_sign_and_word(browser):
    page = browser.get(what_if(EDIT, tab="after"))
    shown = rows(page)

    assert shown[0].startswith("− removed Allow Read")
    assert shown[1].startswith("+ added DENY Write")
    assert {row[:6] for row in shown[2:]} == {"= kept"}
    assert len(shown) == ACLS_AFTER_A_PAGE
    assert "1 removed, 1 added, 20 kept" in page.content.decode()


def test_pages_and_those_of_the_principals_have_an_address(browser):
    last = rows(browser.get(what_if(EDIT, tab="after", acls="2")))
    of_bob = rows(browser.get(what_if(EDIT, tab="after", after="principals")))

    assert len(last) == 22 - ACLS_AFTER_A_PAGE
    assert [row.split(" ")[1] for row in of_bob] == ["removed", "added", "kept"]
    assert "stock" in of_bob[2]
    assert rows(browser.get(what_if(EDIT, tab="after", after="x", acls="½")))[0].startswith("− removed")


def test_a_draft_of_a_new_topic_alone_has_no_list(browser):
    page = browser.get("/c/test-eu/what-if/?new_topic=orders.new&tab=after").content.decode()

    assert "acls-after" not in page
