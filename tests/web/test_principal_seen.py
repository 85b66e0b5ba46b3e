"""Does the page of a principal show from where and with which groups the log saw it, beside what its ACLs name?"""

from html import unescape

from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.insights.principal_hosts import hosts_seen
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import request

PAGE = "/c/test-eu/principal/?name=User:bob&tab=seen"
REQUESTS = [
    request("User:bob", "READ", "orders", allowed=True, lines=50),
    request("User:bob", "READ", "orders", host="10.9.9.9", lines=4),
    request("User:bob", "READ", "bobs", resource_type="GROUP", allowed=True, lines=7),
    request("User:eve", "READ", "orders", host="10.8.8.8", lines=90),
]


def test_hosts_come_with_what_was_permitted_and_denied_there(given):  # noqa: F811
    fresh = given(requests=REQUESTS)

    found = hosts_seen(fresh, "User:bob", 5)

    assert [(each.host, each.permitted, each.denied) for each in found] == [
        ("10.0.0.7", 57, 0),
        ("10.9.9.9", 0, 4),
    ]
    assert len(hosts_seen(fresh, "User:bob", 1)) == 1


def test_the_page_has_hosts_and_groups_within_its_budget(given, signed_in, cho):  # noqa: F811
    given(requests=REQUESTS)
    browser = signed_in(cho)
    browser.get(PAGE)

    with CaptureQueriesContext(connection) as asked:
        page = unescape(browser.get(PAGE).content.decode())

    assert "10.9.9.9" in page
    assert "10.8.8.8" not in page
    assert "bobs" in page
    assert "10.0.0.9" in page  # that an ACL of its own names
    assert len(asked) <= 12, len(asked)


def test_what_it_may_consume_with_is_told_as_far_as_groups_are_known(cluster, signed_in, cho):
    cluster.super_users = "User:admin"
    cluster.save()
    by_prefix = allow("User:bob", "READ", "bobs-", resource_type="GROUP", pattern="PREFIXED")
    sync(cluster, client=FakeCluster([by_prefix], topics=[], groups=["bobs-1"]))

    def said(who="User:bob"):
        return unescape(signed_in(cho).get(PAGE.replace("User:bob", who)).content.decode())

    assert "It may consume with 1 group that is known." in said()
    assert "As a super user it may consume with any group." in said("User:admin")
    cluster.refresh_from_db()
    cluster.groups_listed = "unknown"
    cluster.save()
    assert "for any user, name exactly, it may consume with none. The groups have not been read" in said()


def test_without_a_log_the_page_cannot_tell_hosts(read_cluster, signed_in, cho):  # noqa: F811
    page = unescape(signed_in(cho).get(PAGE).content.decode())

    assert "no authorizer log has been read" in page
    assert "The log has no request" not in page
