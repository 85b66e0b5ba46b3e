"""What cannot be known is said to be unknown, what exists is not new, and a page stays when the cluster is switched."""

from __future__ import annotations

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.clusters import Known, TopicInfo
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.web.test_ask_pages import plain

RULES = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:bob", "READ", "gone"),
    deny("User:bob", "DELETE", "orders.eu"),
    deny("User:*", "DELETE", "orders.eu"),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu")], groups=["g"]))
    return signed_in(ada)


@pytest.fixture
def snapshot(cluster, browser):
    """A file of ACLs: nobody knows which topics and groups exist."""
    Cluster.objects.filter(pk=cluster.pk).update(
        kind="snapshot", topics_listed=Known.UNKNOWN, groups_listed=Known.UNKNOWN
    )
    cluster.names.all().delete()
    return browser


@pytest.mark.parametrize("kind", ["TOPIC", "GROUP"])
def test_a_file_without_names_is_not_read_as_a_cluster_without_any(snapshot, kind):
    page = plain(snapshot.get(f"/c/test-eu/topics/?type={kind}"))

    assert f"Cannot tell which {kind.lower()}s exist" in page
    assert "None exists" not in page


def test_the_header_states_no_authorizer_that_a_file_cannot_tell(snapshot):
    assert "a file, decided as by StandardAuthorizer" in plain(snapshot.get("/c/test-eu/acls/"))


def test_a_topic_of_a_file_may_exist_or_not(snapshot):
    page = plain(snapshot.get("/c/test-eu/topics/orders.eu"))

    assert "cannot tell whether it exists" in page
    assert "does not exist now" not in page


def test_an_acl_of_a_file_covers_nobody_knows_how_many_topics(snapshot):
    page = snapshot.get("/c/test-eu/acls/")

    assert {row.covers_now for row in page.context["page"].object_list} == {None}
    assert "Matches nothing now" not in plain(page)


def test_a_principal_of_a_file_is_not_said_to_reach_nothing_that_exists(snapshot):
    page = plain(snapshot.get("/c/test-eu/principal/?name=User:bob"))

    assert "which topics exist is unknown" in page
    assert "exists now" not in page


def test_what_a_principal_can_read_is_counted_with_its_caveat_in_one_sentence(cluster, snapshot):
    page = "/c/test-eu/principal/?name=User:bob"

    assert "User:bob can read 2 topics that ACLs name." in plain(snapshot.get(page))

    sync(cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu"), TopicInfo("gone")], groups=["g"]))
    assert "User:bob can read 2 topics." in plain(snapshot.get(page))
    Cluster.objects.filter(pk=cluster.pk).update(topics_listed=Known.VISIBLE)
    assert "User:bob can read at least 2 topics." in plain(snapshot.get(page))
    nobody = plain(snapshot.get("/c/test-eu/principal/?name=User:eve"))
    assert "User:eve can do nothing with anything that aclweb can see." in nobody


def test_topics_that_one_may_not_see_are_not_said_to_be_missing(cluster, browser):
    Cluster.objects.filter(pk=cluster.pk).update(topics_listed=Known.VISIBLE)

    listed = plain(browser.get("/c/test-eu/topics/"))
    unseen = plain(browser.get("/c/test-eu/topics/orders.us"))

    assert "Only topics that aclweb may describe are listed" in listed
    assert "cannot tell whether it exists" in unseen


def test_a_topic_that_every_topic_is_known_without_does_not_exist(browser):
    assert "does not exist now" in plain(browser.get("/c/test-eu/topics/orders.us"))


def test_a_name_like_an_existing_one_fills_the_field_and_works_nothing_out(browser):
    topic = browser.get("/c/test-eu/topics/orders.eu").content.decode()
    page = browser.get("/c/test-eu/what-if/?like=orders.eu")

    assert "/what-if/?like=orders.eu#new-topic" in topic
    assert 'value="orders.eu" autofocus data-cursor-end' in page.content.decode()
    assert page.context["draft"].is_empty


def test_a_topic_that_exists_is_not_new(browser):
    page = browser.get("/c/test-eu/what-if/?new_topic=orders.eu")

    assert "Topic 'orders.eu' exists already on test-eu" in plain(page)
    assert page.context["draft"].new_topics == ()
    assert 'value="orders.eu"' in page.content.decode()


def test_each_deny_of_a_principal_says_whom_it_is_for(browser):
    page = browser.get("/c/test-eu/principal/?name=User:bob")

    denies = plain(page).split("What it can do")[1].split("Traffic")[0]
    assert "this principal" in denies
    assert "any user" in denies


def test_a_bare_name_leads_to_the_user_of_that_name(browser):
    page = browser.get("/c/test-eu/principal/?name=bob", follow=True)

    assert page.context["principal"] == "User:bob"
    assert "'bob' has no type, so it is read as 'User:bob'." in plain(page)


def test_a_principal_that_nothing_names_is_said_to_be_unknown(browser):
    assert "Unknown name." in plain(browser.get("/c/test-eu/principal/?name=User:bib"))


def test_two_principals_in_one_name_are_distinguished(browser):
    assert "This names 2 principals" in plain(browser.get("/c/test-eu/principal/?name=User:a,User:b"))


def test_a_name_that_no_topic_can_have_shows_no_access(browser):
    page = browser.get(f"/c/test-eu/topics/{'t' * 300}", follow=True)

    assert "No broker would make a topic of this name" in plain(page)
    assert "Who can do what" not in plain(page)


def test_asking_from_a_principal_page_shows_no_error_before_anything_is_typed(browser):
    page = browser.get("/c/test-eu/explain/?who=User:bob")

    assert page.status_code == 200
    assert page.context["form"]["principal"].value() == "User:bob"


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("/c/test-eu/topics/orders.eu", "/c/test-us/topics/orders.eu"),
        ("/c/test-eu/topics/only-here", "/c/test-us/topics/"),
        ("/c/test-eu/topics/?type=GROUP&q=g", "/c/test-us/topics/?type=GROUP&q=g"),
        ("/c/test-eu/acls/?permission=DENY&page=2&as_of=1", "/c/test-us/acls/?permission=DENY"),
        ("/c/test-eu/principal/?name=User:bob", "/c/test-us/principal/?name=User%3Abob"),
        (
            "/?principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host=",
            "/?principal=User%3Abob&operation=READ&type=TOPIC&name=orders.eu&host=&cluster=test-us",
        ),
        ("/changes/", "/c/test-us/"),
    ],
)
def test_switching_the_cluster_keeps_the_page_and_what_it_is_about(
    cluster, other_cluster, ada, browser, here, there
):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu")]))
    browser.cookies["aclweb-cluster"] = "test-eu"

    page = browser.get(here)

    switches = {standing.cluster.slug: address for standing, address in page.context["frame"].switches}
    assert switches["test-us"] == there
    assert browser.get(there).status_code == 200


def test_a_new_topic_of_a_file_is_said_to_be_new_only_here(snapshot, cluster):
    told = "so which topics exist is unknown. The new topic of this draft counts as not there yet."

    assert told in plain(snapshot.get("/c/test-eu/what-if/?new_topic=orders.us"))
    Cluster.objects.filter(pk=cluster.pk).update(topics_listed=Known.ALL)
    assert told not in plain(snapshot.get("/c/test-eu/what-if/?new_topic=orders.us"))


def test_a_principal_of_a_file_is_not_told_that_nothing_exists_for_it(snapshot):
    page = plain(snapshot.get("/c/test-eu/principal/?name=User:zoe"))

    assert "this principal" in page
    assert "allows nothing now" not in page
    assert "Nothing that exists now" not in page
