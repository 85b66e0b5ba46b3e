"""The ACLs of two sides are those of one side only and those of both, paged in order, and lead to a draft."""

from __future__ import annotations

import random
import re

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model import AclBinding
from aclweb.clusters import TopicInfo
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import compared_acls
from aclweb.web.drafts.compared_acls import in_order
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

MANY = 3_000
TOPICS = [TopicInfo("orders.eu"), TopicInfo("stock")]
OURS, SHARED, THEIRS = (
    allow("User:cat", "WRITE", "stock"),
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:dan", "READ", "stock"),
)


def order(binding: AclBinding) -> tuple[str, str, str]:
    return binding.principal, binding.resource_type.name, binding.resource_name


def test_every_part_of_a_list_is_that_of_all_in_order() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        some = {
            allow(f"User:p{rng.randrange(6)}", "READ", f"t{rng.randrange(9)}", host=f"10.0.0.{number}")
            for number in range(rng.randrange(40))
        }
        found = sorted(some, key=lambda each: each.host)
        listed, expected = in_order(found), sorted(found, key=order)
        assert list(listed) == expected, seed
        for start in range(len(expected)):
            stop = rng.randrange(start, len(expected) + 1)
            assert list(listed[start:stop]) == expected[start:stop], seed


def test_a_page_sorts_the_acls_of_the_principals_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = [allow(f"User:p{number % 100:02}", "READ", f"t{number}") for number in range(MANY)]
    compared: list[AclBinding] = []
    monkeypatch.setattr(
        compared_acls, "_order", lambda binding: compared.append(binding) or (binding.resource_name,)
    )

    page = in_order(bindings)[12:24]

    assert {binding.principal for binding in page} == {"User:p00"}
    assert len(compared) < MANY / 10


@pytest.fixture
def address(cluster, other_cluster, ada) -> str:
    """The comparison of two clusters that share one ACL; ada may request changes on both."""
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.REQUESTER)
    sync(cluster, client=Answers([OURS, SHARED], topics=TOPICS))
    sync(other_cluster, client=Answers([SHARED, THEIRS], topics=TOPICS))
    return f"/c/{cluster.slug}/compare/?other={other_cluster.slug}"


@pytest.fixture
def ada_browser(ada, signed_in):
    return signed_in(ada)


@pytest.mark.parametrize(
    ("asked", "listed"),
    [("", OURS), ("left", OURS), ("both", SHARED), ("right", THEIRS), ("no such list", OURS)],
)
def test_each_list_of_two_clusters_is_shown(address, ada_browser, asked, listed):
    page = ada_browser.get(f"{address}&acls={asked}")

    acls = page.context["acls"]
    assert [(each.words, each.count) for each in acls.lists] == [
        ("Only in test-eu", 1),
        ("On both", 1),
        ("Only in test-us", 1),
    ]
    assert list(acls.pages.object_list) == [listed]
    assert listed.principal in page.text.partition('class="compared-acls"')[2].partition("</ul>")[0]


def test_sides_with_the_same_acls_show_those_of_both(cluster, other_cluster, ada, ada_browser):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    for each in (cluster, other_cluster):
        sync(each, client=Answers([SHARED], topics=TOPICS))

    page = ada_browser.get(f"/c/{cluster.slug}/compare/", {"other": other_cluster.slug})

    assert page.context["acls"].shown == "both"
    assert list(page.context["acls"].pages.object_list) == [SHARED]


@pytest.mark.parametrize(
    ("side", "target", "added"), [("left", "test-us", OURS), ("right", "test-eu", THEIRS)]
)
def test_what_one_cluster_lacks_becomes_a_draft_of_it(address, ada_browser, side, target, added):
    shown = ada_browser.get(f"{address}&acls={side}")
    there = ada_browser.post(address.replace("?", "draft/?"), {"side": side}, follow=True)

    assert f"Draft: add it to {target}" in shown.text
    assert there.redirect_chain[-1][0].startswith(f"/c/{target}/what-if/")
    assert [(line.op, line.binding) for line in there.context["draft"].lines] == [("add", added)]


@pytest.mark.parametrize("side", ["both", "", "up"])
def test_no_draft_is_made_of_a_list_that_no_side_lacks(address, ada_browser, side):
    page = ada_browser.post(address.replace("?", "draft/?"), {"side": side}, follow=True)

    assert page.redirect_chain[-1][0].startswith("/c/test-eu/compare/")
    assert "make no draft" in page.text


def test_no_draft_is_offered_or_made_where_one_may_not_request(address, other_cluster, ada, ada_browser):
    Grant.objects.filter(user=ada, cluster=other_cluster).update(role=Role.VIEWER)

    shown = ada_browser.get(f"{address}&acls=left")
    page = ada_browser.post(address.replace("?", "draft/?"), {"side": "left"}, follow=True)

    assert "Draft: add" not in shown.text
    assert "make no draft" in page.text


def test_more_than_a_draft_can_have_is_said(address, ada_browser, monkeypatch):
    monkeypatch.setattr(compared_acls, "MOST_LINES", 0)

    page = ada_browser.get(f"{address}&acls=left").text

    assert "Draft: add" not in page
    assert "A draft has at most 0 ACLs." in page


def test_acls_of_an_earlier_date_become_a_draft_and_those_of_now_do_not(cluster, ada_browser):
    sync(cluster, client=Answers([OURS], topics=TOPICS))
    sync(cluster, client=Answers([THEIRS], topics=TOPICS))
    address = f"/c/{cluster.slug}/compare/?at=1&other={cluster.slug}"

    earlier, now = (ada_browser.get(f"{address}&acls={side}") for side in ("left", "right"))

    assert "Draft: add it to test-eu" in earlier.text
    assert "Draft: add" not in now.text


def test_neither_of_two_clusters_loses_or_gains(address, ada_browser):
    page = ada_browser.get(address)

    assert [tile.label for tile in page.context["tiles"]] == [
        "Allowed only on test-eu",
        "Allowed only on test-us",
        "By other ACLs",
        "Depends",
        "Same on both",
    ]
    diff = page.text.partition('id="diff-heading"')[2].partition("Replay of the log")[0]
    assert "data-apart" in diff
    for word in ("lost", "gained", "Loses", "Gains", ">Before<", ">After<"):
        assert word not in diff


@pytest.mark.parametrize("view", ["matrix", "small"])
def test_the_matrices_of_two_clusters_say_which_of_them(address, ada_browser, view):
    page = ada_browser.get(f"{address}&view={view}").text
    shown = page.partition("<table")[2].partition("</table>")[0] if view == "matrix" else page
    words = re.sub(r"<[^>]*>", " ", shown)

    assert "only test-eu" in words
    assert "only test-us" in words
    for word in ("loses", "gains", "lost", "gained"):
        assert word not in words


def test_two_dates_of_a_cluster_lose_and_gain(cluster, ada_browser):
    sync(cluster, client=Answers([OURS], topics=TOPICS))
    sync(cluster, client=Answers([THEIRS], topics=TOPICS))

    page = ada_browser.get(f"/c/{cluster.slug}/compare/?at=1&other={cluster.slug}")

    assert [tile.label for tile in page.context["tiles"]][:2] == ["Loses access", "Gains access"]
    assert "data-apart" not in page.text


def test_clusters_of_one_name_are_told_apart_by_their_addresses(address, ada_browser, cluster, other_cluster):
    Cluster.objects.filter(pk=other_cluster.pk).update(name=cluster.name)

    page = ada_browser.get(address)

    assert [each.words for each in page.context["acls"].lists] == [
        "Only in test-eu (test-eu)",
        "On both",
        "Only in test-eu (test-us)",
    ]
    between = page.context["between"]
    assert (between.left, between.right) == ("test-eu (test-eu)", "test-eu (test-us)")
    assert f"Allowed only on {between.right}" in page.text
    assert page.context["comparison"].sentences[0].startswith("test-eu (test-us) grants ")
