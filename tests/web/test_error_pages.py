"""An error is no dead end: the navigation, the search and the cluster stay around the sentence."""

from __future__ import annotations

import pytest
from django.test import Client

from aclweb.accounts.models import Grant, Role
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers


@pytest.fixture
def browser(cluster, cho):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders.eu")]))
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cho, backend="django.contrib.auth.backends.ModelBackend")
    return browser


def has_frame(page) -> bool:
    html = page.content.decode()
    return all(part in html for part in ('class="brand"', 'data-go="t"', "data-search", "cluster-switch"))


@pytest.mark.parametrize("address", ["/no-such-page/", "/c/no-such-cluster/", "/c/test-eu/principal/"])
def test_a_page_that_is_not_there_keeps_the_frame(browser, address):
    page = browser.get(address)

    assert page.status_code == 404
    assert has_frame(page)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("/c/test-us/insights/denials/", "test-us"),
        ("/c/test-us/no-such-page/", "test-us"),
        ("/c/test-eu/no-such-page/", "test-eu"),
        ("/no-such-page/", "test-eu"),
        ("/c/no-such-cluster/topics/", "test-eu"),
    ],
)
def test_an_unknown_address_is_framed_by_the_cluster_that_it_names(
    browser, cho, other_cluster, address, shown
):
    Grant.objects.get_or_create(user=cho, cluster=other_cluster, defaults={"role": Role.VIEWER})
    browser.get("/c/test-eu/topics/")

    page = browser.get(address)

    assert page.status_code == 404
    assert page.context["frame"].current.cluster.slug == shown


def test_an_unknown_address_of_a_cluster_that_one_may_not_see_tells_nothing_of_it(browser, other_cluster):
    page = browser.get("/c/test-us/no-such-page/")

    assert page.context["frame"].current.cluster.slug == "test-eu"
    assert "test-us" not in page.content.decode().replace("/c/test-us/no-such-page/", "")


def test_our_own_sentence_is_shown_and_the_list_of_addresses_is_not(browser):
    told = browser.get("/c/test-eu/principal/").content.decode()
    untold = browser.get("/no-such-page/").content.decode()

    assert "A principal is named by ?name=" in told
    assert "There is no such page" in untold
    assert "tried" not in untold


def test_what_one_may_not_do_keeps_the_frame(cluster, cho, signed_in):
    page = signed_in(cho).post("/c/test-eu/what-if/change/", {"title": "t"})

    assert page.status_code == 403
    assert has_frame(page)


def test_a_form_that_is_out_of_date_keeps_the_frame(browser):
    page = browser.post("/c/test-eu/read/")

    assert page.status_code == 403
    assert "This form is out of date" in page.content.decode()
    assert has_frame(page)


def test_whoever_has_not_signed_in_sees_the_sentence_alone(db):
    page = Client().get("/no-such-page/")

    assert page.status_code == 404
    assert "There is no such page" in page.content.decode()
    assert "cluster-switch" not in page.content.decode()
