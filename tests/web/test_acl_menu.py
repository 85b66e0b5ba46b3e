"""The menu of a row says what its ACL is and leads to what can be done with it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.acl.notation import binding_key
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ONE = "/c/test-eu/acls/one/"
OLD, NEW = allow("User:bob", "READ", "orders"), allow("User:bob", "ALL", "pay", pattern="PREFIXED")


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers([OLD]))
    sync(cluster, client=Answers([OLD, NEW]))


def shown(browser, binding, **asked) -> str:
    page = browser.get(ONE, {"key": binding_key(binding), **asked})
    assert page.status_code == 200
    return unescape(page.content.decode())


def test_the_menu_says_what_the_acl_is_and_how_old(synced, ada, signed_in):
    old, new = (shown(signed_in(ada), acl) for acl in (OLD, NEW))

    assert "so its age is unknown." in old
    assert "Added in revision 2" in new
    assert "It matches no name that exists now." in new


def test_an_acl_for_one_request_is_explained_at_once_and_others_fill_the_form(synced, ada, signed_in):
    browser = signed_in(ada)
    pages = [browser.get(ONE, {"key": binding_key(acl)}).context["explain_url"] for acl in (OLD, NEW)]

    assert "choose=1" not in pages[0]
    assert "choose=1" in pages[1]
    assert [browser.get(url).status_code for url in pages] == [200, 200]


def test_who_may_not_request_is_offered_no_change_and_neither_is_the_past(synced, ada, cho, signed_in):
    assert "Simulate removing it" in shown(signed_in(ada), OLD)
    assert "Simulate removing it" not in shown(signed_in(cho), OLD)
    assert "Simulate removing it" not in shown(signed_in(ada), OLD, as_of="1")


def test_each_row_of_the_list_leads_to_its_menu(synced, ada, signed_in):
    page = signed_in(ada).get("/c/test-eu/acls/").content.decode()

    addresses = re.findall(r'href="(one/[^"]+)"', page)
    assert len(addresses) == 2
    pages = [signed_in(ada).get(f"/c/test-eu/acls/{address}") for address in addresses]
    assert {page.context["binding"] for page in pages} == {OLD, NEW}


@pytest.mark.parametrize("key", ["", "0" * 64, "x", "\x00", "\udcff", "a" * 100_000])
def test_a_key_of_no_acl_has_no_menu(key, synced, ada, signed_in):
    assert signed_in(ada).get(ONE, {"key": key.encode("utf-8", "replace")}).status_code == 404
