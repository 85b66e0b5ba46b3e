"""Below each ACL of a draft stands what it settles, and what no request can match is a tile of its own."""

from __future__ import annotations

import pytest

from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import through
from aclweb.web.drafts.draft import Line
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

pytestmark = pytest.mark.django_db

BOBS = allow("User:bob", "READ", "orders")
ON_PREFIX = allow("User:eve", "READ", "ord", pattern="PREFIXED")
DENIAL = deny("User:eve", "READ", "orders")
NOBODYS = allow("User:zoe", "READ", "stock", host="client-1.example.org")


@pytest.fixture
def page(cluster, ada, signed_in):
    """Return the page of a draft of these ACLs to add and to remove."""
    with FakeCluster(bindings=[BOBS], topics=["orders", "ordinary", "stock"]) as fake:
        sync(cluster, client=fake)
    browser = signed_in(ada)

    def shown(*, add=(), remove=()):
        lines = [Line(op, each).as_text() for op, some in (("add", add), ("remove", remove)) for each in some]
        return browser.get("/c/test-eu/what-if/", {"line": lines}, follow=True)

    return shown


def counts(page, binding) -> dict[str, int]:
    return {each.kind: each.count for each in page.context["settled"].get(binding, ())}


def test_each_acl_counts_the_differences_that_it_settles(page):
    shown = page(add=(ON_PREFIX,), remove=(BOBS,))

    assert counts(shown, BOBS) == {"loses": shown.context["preview"].impact.counts["loses"]}
    assert counts(shown, ON_PREFIX) == {"gains": shown.context["preview"].impact.counts["gains"]}
    text = shown.content.decode()
    assert text.count('class="draft-settles"') == 2
    assert text.count("by this ACL") == 2


def test_an_acl_that_keeps_others_from_something_settles_none_of_their_gains(page):
    alone, with_denial = page(add=(ON_PREFIX,)), page(add=(ON_PREFIX, DENIAL))

    assert counts(with_denial, ON_PREFIX)["gains"] < counts(alone, ON_PREFIX)["gains"]
    assert counts(with_denial, DENIAL) == {}
    assert with_denial.content.decode().count('class="draft-settles"') == 1


def test_of_a_large_draft_nothing_is_added_up(page, monkeypatch):
    monkeypatch.setattr(through, "MOST_ACLS", 1)

    shown = page(add=(ON_PREFIX,), remove=(BOBS,))

    assert shown.context["settled"] == {}
    assert "draft-settles" not in shown.content.decode()


def test_what_no_request_matches_is_a_tile_apart_and_no_gain(page):
    shown = page(add=(ON_PREFIX, NOBODYS))

    text = shown.content.decode()
    assert shown.context["unmatchable"] == 1
    assert "No request matches" in text
    assert counts(shown, NOBODYS) == {}
    assert "No request matches" not in page(add=(ON_PREFIX,)).content.decode()


def test_a_draft_without_an_impact_shows_neither(page):
    shown = page()

    assert shown.status_code == 200
    assert "draft-settles" not in shown.content.decode()
