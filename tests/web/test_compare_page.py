"""Two clusters, two dates or a change are compared as access: the answer first, and only for who may see both."""

from __future__ import annotations

import pytest
from django.utils import timezone

from aclweb.accounts.models import Grant, Role
from aclweb.acl.authorizer import Basis
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import plain
from aclweb.acl.simulate.budget import Budget
from aclweb.changes import comparison, review
from aclweb.clusters import TopicInfo
from aclweb.inventory.admin import register as registering
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows

LISTS = ("gains", "loses", "recovered", "depends")
TOPICS = [TopicInfo("orders.eu"), TopicInfo("stock")]
BEFORE = [allow("User:bob", "READ", "orders.", pattern="PREFIXED"), allow("User:cat", "WRITE", "stock")]
NOW = [*BEFORE[:1], allow("User:dan", "READ", "stock")]


@pytest.fixture
def address(cluster) -> str:
    """The comparison page of a cluster with two revisions."""
    sync(cluster, client=Answers(BEFORE, topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))
    return f"/c/{cluster.slug}/compare/"


def address_of(cluster) -> str:
    return f"/c/{cluster.slug}/compare/"


@pytest.fixture
def ada_browser(ada, signed_in):
    return signed_in(ada)


def test_an_empty_page_offers_what_is_compared_most_and_only_what_the_reader_may_see(
    address, ada_browser, ada, cluster
):
    for name in ("stage", "hidden"):
        other = registering.add(actor="dot", slug=name, kind="admin", address=f"{name}:9092")
        sync(other, client=Answers(NOW, topics=TOPICS))
    Grant.objects.create(user=ada, cluster=Cluster.objects.get(slug="stage"), role=Role.VIEWER)

    offered = ada_browser.get(address).context["pairs"]
    compared = [ada_browser.get(f"{address}?{pair.query}").context["comparison"] for pair in offered]

    assert [pair.words for pair in offered] == ["test-eu before and after revision 2", "test-eu and stage"]
    assert [(len(each.delta.add), len(each.delta.remove)) for each in compared] == [(1, 1), (0, 0)]


def test_two_dates_of_a_cluster_are_compared_as_access(address, ada_browser):
    page = ada_browser.get(address, {"at": "1", "other": "test-eu"})

    counted = {tile.kind: tile.count for tile in page.context["tiles"]}
    assert page.status_code == 200
    assert (counted["gains"], counted["loses"]) == (2, 2)
    assert [(plain(row.who), row.operations) for row in shown_rows(page)] == [("User:cat", "Write, Describe")]
    assert page.context["comparison"].sentences[0] == (
        "test-eu now grants 2 rights that test-eu as of revision 1 does not, "
        "and lacks 2 rights that test-eu as of revision 1 grants (2 principals)."
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, [("User:dan", "gains")]),
        ({"show": "gains"}, [("User:cat", "loses")]),
    ],
    ids=["losses listed", "gains listed"],
)
def test_what_the_table_does_not_list_is_told_above_it(address, ada_browser, asked, told):
    page = ada_browser.get(address, {"at": "1", "other": "test-eu", **asked})

    assert [(plain(row.who), row.kind) for row in page.context["told"].rows] == told
    assert page.text.count("impact-told") == 1


def test_differences_that_the_table_lists_are_not_told_besides(cluster, ada_browser):
    sync(cluster, client=Answers(BEFORE[:1], topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))

    page = ada_browser.get(address_of(cluster), {"at": "1", "other": "test-eu"})

    assert [plain(row.who) for row in shown_rows(page)] == ["User:dan"]
    assert "impact-told" not in page.text


@pytest.mark.parametrize("view", ["matrix", "small"])
def test_nothing_is_told_besides_a_matrix_of_all_that_differs(address, ada_browser, view):
    page = ada_browser.get(address, {"at": "1", "other": "test-eu", "view": view})

    assert "User:cat" in page.text
    assert "User:dan" in page.text
    assert "impact-told" not in page.text


def test_acls_that_differ_and_mean_the_same_differ_in_no_answer(cluster, ada_browser):
    sync(
        cluster, client=Answers([allow("User:bob", "READ", "stock"), allow("User:bob", "DESCRIBE", "stock")])
    )
    sync(cluster, client=Answers([allow("User:bob", "READ", "stock")]))

    page = ada_browser.get(f"/c/{cluster.slug}/compare/", {"at": "1", "other": "test-eu"})

    assert page.context["comparison"].sentences[:2] == (
        "Nobody's access differs between test-eu as of revision 1 and test-eu now.",
        "The ACLs differ in 1 line.",
    )


def test_the_lines_in_which_two_dates_differ_are_shown(address, ada_browser):
    then, now = (
        ada_browser.get(address, {"at": "1", "other": "test-eu", "acls": side}) for side in ("left", "right")
    )

    assert list(then.context["acls"].pages.object_list) == [BEFORE[1]]
    assert list(now.context["acls"].pages.object_list) == [NOW[1]]
    shown = then.text.partition('id="lines"')[2].partition("</section>")[0]
    assert "User:cat" in shown
    assert "User:dan" not in shown
    assert "Only in test-eu as of revision 1" in shown
    assert "Only in test-eu " in shown


def test_many_lines_that_differ_are_paged_to_the_last(cluster, ada_browser):
    sync(cluster, client=Answers([]))
    sync(cluster, client=Answers([allow("User:bob", "READ", f"t{number:03}") for number in range(30)]))
    asked = {"at": "1", "other": "test-eu"}

    pages = [ada_browser.get(address_of(cluster), asked | {"lines": page}) for page in ("1", "2", "3", "4")]

    names = [acl.resource_name for page in pages for acl in page.context["acls"].pages.object_list]
    assert names == [f"t{number:03}" for number in range(30)]
    assert "lines=2#lines" in pages[0].content.decode()


def test_two_clusters_are_compared_with_their_settings(address, other_cluster, ada, ada_browser):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    Cluster.objects.filter(pk=other_cluster.pk).update(allow_everyone=True, super_users="User:root")
    sync(
        other_cluster, client=Answers([*NOW, deny("User:dan", "READ", "stock")], topics=[TopicInfo("stock")])
    )

    page = ada_browser.get(address, {"other": "test-us"})

    differing = {setting.name for setting in page.context["comparison"].settings if setting.differs}
    gained = ada_browser.get(address, {"other": "test-us", "show": "gains", "principal": "root"})
    assert differing == {"Where no ACL exists", "Super users"}
    assert page.context["show"] == "loses"
    assert "User:admin" in " ".join(plain(row.who) for row in shown_rows(page))
    assert {plain(row.who) for row in shown_rows(gained)} == {"User:root"}
    assert page.context["comparison"].only_left == 1


def test_a_change_is_compared_with_the_cluster_as_it_is(address, cluster, ada, ada_browser):
    delta = Delta(add=(allow("User:eli", "READ", "stock"),))
    change = review.draft(cluster=cluster, author=ada, title="t", reason="", delta=delta)

    page = ada_browser.get(address, {"other": "test-eu", "other_change": change.key})

    assert {plain(row.who) for row in shown_rows(page)} == {"User:eli"}
    assert page.context["comparison"].right.words == f"test-eu now, with {change.key}"


def test_a_change_of_super_users_alone_differs_in_access_and_is_named(cluster, dot, ada_browser):
    sync(cluster, client=Answers(BEFORE, topics=TOPICS))
    declare(cluster=cluster, actor=dot, super_users="User:bob")
    between = timezone.now().isoformat()
    declare(cluster=cluster, actor=dot, super_users="User:admin")

    page = ada_browser.get(address_of(cluster), {"at": between, "other": "test-eu"})
    found = page.context["comparison"]

    assert not found.delta
    assert {plain(row.who) for row in shown_rows(page)} == {"User:bob"}
    assert found.sentences[1:] == (
        "No ACL differs: all differences are due to what is declared or was found of the brokers.",
        "Super users: User:bob before, User:admin after. Every gain and loss is due to that.",
    )


def test_super_users_with_too_many_answers_are_left_out_and_the_rest_is_reported(
    cluster, dot, ada_browser, monkeypatch
):
    sync(cluster, client=Answers(BEFORE, topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))
    declare(cluster=cluster, actor=dot, super_users="User:cat;User:eli")
    monkeypatch.setattr(comparison, "BUDGET", Budget(steps=90, differences=1_000))

    found = ada_browser.get(address_of(cluster), {"at": "1", "other": "test-eu"}).context["comparison"]

    assert found.left_out == {"User:admin", "User:cat", "User:eli"}
    assert found.sentences[0].startswith("Leaving the super users aside: test-eu now grants")
    assert {effect.principal for name in LISTS for effect in getattr(found.impact, name)} == {"User:dan"}
    assert any("super users on only one side are left out" in sentence for sentence in found.sentences)


def test_what_acls_and_what_declarations_changed_is_distinguished(cluster, dot, ada_browser):
    sync(cluster, client=Answers(BEFORE, topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))
    declare(cluster=cluster, actor=dot, super_users="User:admin;User:eli", allow_everyone=True)
    registering.change(actor=dot, cluster=cluster, kafka_version="4.0")

    found = ada_browser.get(address_of(cluster), {"at": "1", "other": "test-eu"}).context["comparison"]

    told = " ".join(found.sentences)
    elis = [effect for effect in found.impact.gains if effect.after.basis is Basis.SUPER_USER]
    assert {effect.principal for effect in elis} == {"User:eli"}
    assert (
        f"Super users: User:admin before, User:admin; User:eli after. {len(elis)} of these differences"
        in told
    )
    assert "Where no ACL exists: refused before, everyone is allowed after." in told
    assert "Kafka version: 4.4 before, 4.0 after. The two interpret ACLs differently" in told
    assert {setting.name for setting in found.settings if setting.differs} == {
        "Kafka version",
        "Where no ACL exists",
        "Super users",
    }


def test_a_declaration_that_changes_no_answer_is_said_to_change_none(cluster, dot, ada_browser):
    declare(cluster=cluster, actor=dot, super_users=None)
    sync(cluster, client=Answers(BEFORE, topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))
    declare(cluster=cluster, actor=dot, super_users="")

    page = ada_browser.get(address_of(cluster), {"at": "1", "other": "test-eu"})

    sentences = page.context["comparison"].sentences
    assert "Super users: not declared before, none after. No answer differs by that." in sentences
    assert any(
        sentence.startswith("As of revision 1, nobody had declared the super") for sentence in sentences
    )


@pytest.mark.parametrize(
    "at", ["1", "revision 1", "2000-01-01", "next week", "99", "2026-13-01", "9" * 400, "\x00"]
)
def test_a_moment_is_found_or_reported_in_a_sentence(address, ada_browser, at):
    page = ada_browser.get(address, {"at": at, "other": "test-eu"})

    if at in ("1", "revision 1"):
        assert page.context["comparison"].left.words == "test-eu as of revision 1"
    else:
        assert page.status_code == 422
        assert "comparison" not in page.context
        assert page.context["form"].errors["at"]


def test_a_cluster_that_one_may_not_see_cannot_be_named(address, other_cluster, ada_browser):
    sync(other_cluster, client=Answers(NOW))

    page = ada_browser.get(address, {"other": "test-us"})

    assert page.status_code == 422
    assert "comparison" not in page.context
    assert b">test-us<" not in page.content


def test_a_change_that_one_may_not_see_cannot_be_named(address, cluster, ben, ada_browser):
    delta = Delta(add=(allow("User:eli", "READ", "stock"),))
    hidden = review.draft(cluster=cluster, author=ben, title="t", reason="", delta=delta)

    page = ada_browser.get(address, {"other": "test-eu", "other_change": hidden.key})

    assert page.status_code == 422
    assert "no change" in page.context["form"].errors["other_change"][0]


def test_what_would_take_long_is_not_begun_and_said(address, ada_browser, monkeypatch):
    monkeypatch.setattr(comparison, "BUDGET", Budget(steps=1, differences=1))

    page = ada_browser.get(address, {"at": "1", "other": "test-eu"})

    assert page.status_code == 200
    assert "too much to compare" in page.context["comparison"].sentences[0]
    assert b"too much to compare" in page.content
    assert "tiles" not in page.context


def test_an_undeclared_default_is_said(address, other_cluster, ada, ada_browser):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=Answers(NOW))

    page = ada_browser.get(address, {"other": "test-us"})

    assert b"Nobody has declared what test-us does where no ACL exists" in page.content


def test_a_cluster_that_was_never_read_compares_as_empty(address, other_cluster, ada, ada_browser):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)

    page = ada_browser.get(address, {"other": "test-us"})

    assert page.status_code == 200
    assert b"was never read" in page.content


def test_htmx_gets_only_the_part(address, ada_browser):
    part = ada_browser.get(address, {"at": "1", "other": "test-eu"}, headers={"HX-Request": "true"})

    assert b"<html" not in part.content
    assert b'id="comparison"' in part.content


def test_the_page_needs_few_queries(address, ada_browser, django_assert_max_num_queries):
    with django_assert_max_num_queries(13):
        ada_browser.get(address, {"at": "1", "other": "test-eu"})
