"""The ACLs chosen in the list can be cloned to principals and copied to a cluster: each ends in a draft."""

from __future__ import annotations

from html import unescape
from urllib.parse import urlsplit

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.acl.notation import binding_key
from aclweb.acl.simulate import Budget
from aclweb.inventory.current import in_force, view
from aclweb.inventory.sync.run import sync
from aclweb.web.browse import chosen_acls
from aclweb.web.drafts import before_adding
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

CHOSEN = "/c/test-eu/acls/chosen/"
READ, WRITE = allow("User:bob", "READ", "orders"), deny("User:bob", "WRITE", "orders")
KEYS = [binding_key(READ), binding_key(WRITE)]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers([READ, WRITE, allow("User:cat", "READ", "orders")]))
    return signed_in(ada)


def drafted(browser, answer):
    assert answer.status_code == 302
    assert "/what-if/" in answer["Location"]
    lines = browser.get(answer["Location"]).context["draft"].lines
    return {(line.op, line.binding.principal, line.binding.operation.name) for line in lines}


def test_clones_are_a_draft_of_each_acl_for_each_principal_without_those_in_force(browser):
    answer = browser.post(CHOSEN, {"acl": KEYS, "do": "clone", "principals": "User:cat, User:dan"})

    assert drafted(browser, answer) == {
        ("add", "User:cat", "WRITE"),
        ("add", "User:dan", "READ"),
        ("add", "User:dan", "WRITE"),
    }


def test_copies_are_a_draft_on_the_other_cluster(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.REQUESTER)
    sync(other_cluster, client=Answers([READ]))

    answer = browser.post(CHOSEN, {"acl": KEYS, "do": "copy", "to": "test-us"})

    assert urlsplit(answer["Location"]).path == "/c/test-us/what-if/"
    assert drafted(browser, answer) == {("add", "User:bob", "WRITE")}


def test_only_clusters_on_which_one_may_request_can_be_copied_to(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=Answers([]))

    page = browser.post(CHOSEN, {"acl": KEYS})
    answer = browser.post(CHOSEN, {"acl": KEYS, "do": "copy", "to": "test-us"})

    assert "There is no other cluster on which you may request changes." in page.content.decode()
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("principals", "sentence"),
    [
        ("", "Name a principal such as User:billing-svc"),
        ("User:bob", "All of these ACLs are in force on test-eu already."),
        (" ,User:x y-----BEGIN CERTIFICATE-----", "principal such as User:billing-svc"),
    ],
)
def test_what_cannot_be_drafted_is_said_beside_the_field_and_nothing_is_lost(browser, principals, sentence):
    page = browser.post(CHOSEN, {"acl": KEYS, "do": "clone", "principals": principals})

    shown = unescape(page.content.decode())
    assert page.status_code == 422
    assert sentence in shown
    assert 'aria-describedby="clone-fault"' in shown
    assert page.context["keys"] == [KEYS[1], KEYS[0]]


def test_the_buttons_say_how_many_acls_were_chosen(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.REQUESTER)

    shown = browser.post(CHOSEN, {"acl": KEYS}).content.decode()

    assert "2 chosen ACLs" in shown
    assert "Draft 2 ACLs for each" in shown
    assert "Draft 2 ACLs there" in shown


def test_keys_that_are_none_choose_nothing(browser):
    answer = browser.post(CHOSEN, {"acl": ["x", "0" * 64]}, follow=True)

    assert "No ACL in force was chosen." in answer.content.decode()


def title_of(browser, **typed):
    return browser.get(browser.post(CHOSEN, {"acl": KEYS} | typed)["Location"]).context["title"]


def test_a_draft_proposes_a_title_that_says_how_many_acls_go_where(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.REQUESTER)
    sync(other_cluster, client=Answers([]))
    thirty = ",".join(f"User:svc-{number}" for number in range(30))

    assert title_of(browser, do="remove") == "Remove 2 ACLs"
    assert title_of(browser, do="clone", principals=thirty) == "Clone 2 ACLs to 30 principals"
    assert title_of(browser, do="clone", principals="User:dan") == "Clone 2 ACLs to User:dan"
    assert title_of(browser, do="clone", principals=f"User:{'x' * 200}") == "Clone 2 ACLs to 1 principal"
    assert title_of(browser, do="copy", to="test-us") == "Copy 2 ACLs from test-eu"


def test_a_title_says_that_nothing_changes_only_where_the_findings_do(browser, cluster):
    wide, same = allow("User:eli", "READ", "*"), allow("User:eli", "READ", "stock")
    sync(cluster, client=Answers([wide, same, READ]))
    key, needed = binding_key(same), binding_key(READ)

    assert title_of(browser, do="remove", acl=[key]) == "Remove 1 ACL"
    browser.get("/c/test-eu/findings/")
    assert title_of(browser, do="remove", acl=[key]) == "Remove 1 ACL that changes nothing"
    assert title_of(browser, do="remove", acl=[key, needed]) == "Remove 2 ACLs"


REMOVED = f"{CHOSEN}removed/"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([READ], ("Removing it:", "<b>2</b> rights lost")),
        ([READ, WRITE], ("Removing them:", "<b>2</b> rights lost")),
        ([WRITE], ("Removing it would change nobody's access.",)),
        ([], ("A what-if shows who would lose access",)),
    ],
    ids=["an allow", "both", "a deny of what nobody may", "none"],
)
def test_what_removing_would_change_is_said_while_choosing(browser, chosen, words):
    page = browser.post(REMOVED, {"acl": [binding_key(each) for each in chosen]})

    text = " ".join(page.text.split())
    assert all(word in text for word in words), text
    assert "<html" not in text


def test_what_removing_changes_is_what_the_what_if_says(browser):
    said = browser.post(REMOVED, {"acl": KEYS}).context["removed"].counts
    there = browser.post(CHOSEN, {"acl": KEYS, "do": "remove"}, follow=True)

    counted = {tile.kind: tile.count for tile in there.context["tiles"]}
    assert {kind: counted[kind] for kind in said} == dict(said)


def test_what_reaches_too_much_is_left_to_the_what_if(browser, monkeypatch):
    monkeypatch.setattr(before_adding, "WHILE_TYPING", Budget(steps=1, differences=1))

    assert "too much to work out" in browser.post(REMOVED, {"acl": KEYS}).text


def test_only_who_may_request_is_told_what_removing_changes(browser, ada, cluster):
    Grant.objects.filter(user=ada, cluster=cluster).update(role=Role.VIEWER)

    assert browser.post(REMOVED, {"acl": KEYS}).status_code == 403


def test_the_list_asks_for_it_at_each_tick(browser):
    assert f'hx-post="{REMOVED}"' in browser.get("/c/test-eu/acls/").text


def test_of_more_than_a_draft_may_have_nothing_is_said_instead_of_a_part(browser, monkeypatch):
    monkeypatch.setattr(chosen_acls, "MOST_LINES", 1)

    page = browser.post(REMOVED, {"acl": KEYS})

    assert "too much to work out" in page.text
    assert "lose<" not in page.text


def test_a_tick_sorts_the_acls_that_are_chosen_and_no_others(browser, cluster, monkeypatch):
    sorted_by = []
    own = chosen_acls.reading_order
    monkeypatch.setattr(chosen_acls, "reading_order", lambda acl: sorted_by.append(acl) or own(acl))
    view.forget()

    assert browser.post(REMOVED, {"acl": KEYS}).status_code == 200

    assert set(sorted_by) == {READ, WRITE}
    assert "in_reading_order" not in vars(in_force(cluster).loaded)
