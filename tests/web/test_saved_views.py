"""A view of the ACL list is kept under a name, by each person on each cluster: made, opened, renamed, removed."""

from __future__ import annotations

from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.inventory.sync.run import sync
from aclweb.web.browse import saved_views
from aclweb.web.models import SavedView
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

LIST, VIEWS = "/c/test-eu/acls/", "/c/test-eu/acls/views/"
ASKED = "?principal=User:bob&by=resource&sort=allow&columns=host&rows=25&page=2&as_of=1&odd=1"


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders"), allow("User:cat", "READ", "orders")]))
    return signed_in(ada)


def saved(browser, name: str = "Bob's", asked: str = ASKED):
    query = browser.get(LIST + asked).context["view_query"]
    return browser.post(VIEWS, {"name": name, "query": query})


def test_a_view_keeps_filters_lens_sort_columns_and_page_size_and_nothing_else(browser):
    answer = saved(browser)

    assert urlsplit(answer["Location"]).path == LIST
    assert parse_qs(urlsplit(answer["Location"]).query) == {
        "principal": ["User:bob"], "by": ["resource"], "sort": ["allow"], "columns": ["host"], "rows": ["25"],
    }  # fmt: skip


def test_the_menu_leads_to_each_view_and_marks_the_one_that_is_shown(browser):
    opened = browser.get(saved(browser)["Location"])
    saved(browser, "All", "?rows=25")

    link = f"views/{SavedView.objects.exclude(name='All').get().pk}/"
    assert f'<a href="{link}" aria-current="true">Bob' in opened.content.decode()
    assert [view.is_current for view in browser.get(f"{LIST}?rows=25").context["views"]] == [True, False]
    assert browser.get(LIST + link, follow=True).context["filters"].principal == "User:bob"


def test_views_belong_to_one_person_on_one_cluster(browser, other_cluster, ada, ben, signed_in):
    saved(browser)
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    number = SavedView.objects.get().pk
    stranger = signed_in(ben)

    assert stranger.get(LIST).context["views"] == []
    assert stranger.get(f"{VIEWS}{number}/").status_code == 404
    assert stranger.post(f"{VIEWS}{number}/rename/", {"name": "Mine"}).status_code == 404
    assert stranger.post(f"{VIEWS}{number}/remove/").status_code == 404
    assert browser.get(f"/c/test-us/acls/views/{number}/").status_code == 404
    assert SavedView.objects.get().name == "Bob's"


def test_a_view_is_renamed_and_removed(browser):
    saved(browser)
    number = SavedView.objects.get().pk

    browser.post(f"{VIEWS}{number}/rename/", {"name": "  Of  bob "})
    assert SavedView.objects.get().name == "Of bob"
    browser.post(f"{VIEWS}{number}/remove/")
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("  ", "A view needs a name"),
        ("Bob's", 'You have a view "Bob\'s" on test-eu already'),
        ("x" * 61, "The name has 61 characters, and at most 60 are kept."),
        ("a\u202eb", "holds characters that one cannot see"),
    ],
)
def test_a_name_that_is_none_is_said_beside_the_field_and_stays_there(browser, name, sentence):
    saved(browser)

    answer = saved(browser, name)
    number = SavedView.objects.get().pk
    other = saved(browser, "Other") and SavedView.objects.get(name="Other").pk
    renamed = browser.post(f"{VIEWS}{other}/rename/", {"name": name})

    for page in (answer, renamed):
        assert page.status_code == 422
        assert sentence in unescape(page.content.decode()).replace("'Bob's'", '"Bob\'s"')
    assert answer.context["new"][0] == name
    assert SavedView.objects.get(pk=number).name == "Bob's"
    assert SavedView.objects.get(pk=other).name == "Other"


def test_only_so_many_views_are_kept(browser, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 1)
    saved(browser)

    answer = saved(browser, "Second")

    assert answer.status_code == 422
    assert "You have 1 views on test-eu, which is the most" in answer.content.decode()
    assert SavedView.objects.count() == 1


def test_a_posted_query_is_read_and_not_stored_as_it_is(browser):
    browser.post(VIEWS, {"name": "Odd", "query": "principal=User:x&next=//evil.example&rows=abc"})

    assert SavedView.objects.get().query.startswith("principal=User%3Ax")
    assert "evil" not in SavedView.objects.get().query
    assert browser.post(VIEWS, {"name": "Long", "query": "text=" + "x" * 5_000}).status_code == 422
