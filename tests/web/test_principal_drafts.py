"""Do the drafts and the comparison of a principal's page hold what they say, and ask no more than they need?"""

import csv
import io
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

BOB = [allow("User:bob", "READ", "orders.", pattern="PREFIXED"), deny("User:bob", "WRITE", "stock")]
OTHERS = [allow("User:eve", "READ", "orders.eu"), allow("User:*", "DESCRIBE", "*")]
TOPICS = ["orders.eu", "orders.us", "stock"]
COMPARE = "/c/test-eu/principal/compare/"


@pytest.fixture
def held(cluster):
    sync(cluster, client=FakeCluster([*BOB, *OTHERS], topics=TOPICS, groups=[]))
    return cluster


@pytest.fixture
def browser(held, signed_in, ada):
    return signed_in(ada)


def edits_of(browser, answer):
    """Return what the draft does to which principal, an edit each; the answer leads to it."""
    assert answer.status_code == 302
    draft = browser.get(answer["Location"], follow=True).context["draft"]
    return [(line.op, line.binding.principal) for line in draft.lines]


def text_of(answer):
    return unescape(answer.content.decode())


def test_offboard_is_one_press_to_a_draft_that_removes_all_its_acls(browser):
    page = browser.get("/c/test-eu/principal/?name=User:bob")
    assert 'action="/c/test-eu/principal/offboard/?name=User%3Abob"' in page.content.decode()

    edits = edits_of(browser, browser.post("/c/test-eu/principal/offboard/?name=User:bob"))

    assert edits == [("remove", "User:bob")] * len(BOB)


def test_many_acls_are_kept_as_a_draft_and_not_refused(browser, held):
    many = [allow("User:bob", "READ", f"topic-{number}") for number in range(300)]
    sync(held, client=FakeCluster(many, topics=TOPICS))

    answer = browser.post("/c/test-eu/principal/offboard/?name=User:bob", follow=True)

    assert answer.status_code == 200
    assert "300" in text_of(answer)


def test_its_acls_are_cloned_for_many_principals_at_once(browser):
    principals = "\n".join(f"User:new-{number}" for number in range(3))

    answer = browser.post("/c/test-eu/principal/clone/?name=User:bob", {"principals": principals})
    edits = edits_of(browser, answer)

    assert sorted(edits) == sorted(("add", f"User:new-{number}") for number in range(3) for _ in BOB)


@pytest.mark.parametrize("typed", ["", "  ", "User:bob"])
def test_a_clone_that_leads_to_no_draft_says_why_and_keeps_what_was_typed(browser, typed):
    answer = browser.post("/c/test-eu/principal/clone/?name=User:bob", {"principals": typed})

    assert answer.status_code == 422
    assert 'id="clone-fault"' in text_of(answer)
    assert f">{typed}</textarea>" in text_of(answer)


def test_who_may_only_look_is_offered_no_draft(held, signed_in, cho):
    page = text_of(signed_in(cho).get("/c/test-eu/principal/?name=User:bob"))

    assert "Offboard" not in page
    assert "Clone" not in page
    assert "Compare" in page


def test_of_a_principal_without_acls_there_is_nothing_to_remove(browser):
    assert browser.post("/c/test-eu/principal/offboard/?name=User:nobody").status_code == 404
    assert browser.get("/c/test-eu/principal/clone/").status_code == 404


def test_two_principals_are_compared_by_what_they_can_do(browser):
    page = text_of(browser.get(f"{COMPARE}?name=User:bob&with=eve"))

    assert "has 1 right that" in page
    assert "'eve' has no type, so it is read as 'User:eve'." in page
    assert "orders.us" in page
    assert 'aria-current="page">Only the first' in page


def test_the_file_of_a_comparison_has_each_name(browser):
    answer = browser.get(f"{COMPARE}?name=User:bob&with=User:eve&format=csv")

    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))

    assert {
        "relation": "only-first",
        "resource_type": "TOPIC",
        "resource_name": "orders.us",
        "operations": "READ",
    } in rows
    assert {row["relation"] for row in rows} == {"only-first", "both"}


def test_an_unknown_name_and_a_wrong_one_are_said(browser):
    assert "Unknown name." in text_of(browser.get(f"{COMPARE}?name=User:bob&with=User:nobody"))
    several = browser.get(f"{COMPARE}?name=User:bob&with=User:a,User:b")
    assert several.status_code == 422
    assert "only one fits here" in text_of(several)
    assert "Name two principals" in text_of(browser.get(COMPARE))


def test_a_comparison_of_many_names_keeps_to_its_budget(browser, held):
    bindings = [
        *(allow("User:bob", "READ", f"topic-{number}") for number in range(400)),
        *(allow("User:eve", "WRITE", f"topic-{number}") for number in range(0, 800, 2)),
    ]
    sync(held, client=FakeCluster(bindings, topics=[f"topic-{number}" for number in range(1_000)]))

    with CaptureQueriesContext(connection) as asked:
        answer = browser.get(f"{COMPARE}?name=User:bob&with=User:eve&part=only-first")

    assert len(asked) <= 12
    assert len(answer.content) <= 50 * 1024
    assert "Page 1 of" in text_of(answer)
