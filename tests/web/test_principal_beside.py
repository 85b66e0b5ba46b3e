"""Does the column beside what a principal can do tell what it did as its tabs do, within its budget?"""

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.browse.principal_tabs import SQUARES, UsedRights
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import file, request

PAGE = "/c/test-eu/principal/?name=User:bob"
BESIDE = "/c/test-eu/principal/beside/?name=User:bob"
PART = {"HX-Request": "true"}
REQUESTS = [
    request("User:bob", "READ", "orders", allowed=True, lines=50),
    request("User:bob", "READ", "orders", host="10.9.9.9", lines=4),
    request("User:bob", "READ", "bobs", resource_type="GROUP", allowed=True, lines=7),
    request("User:eve", "READ", "orders", host="10.8.8.8", lines=90),
]


def words(text):
    return " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())


def beside(browser, address=BESIDE):
    answer = browser.get(address, headers=PART)
    assert answer.status_code == 200
    return answer


def test_the_column_says_what_the_tabs_say(given, signed_in, cho):  # noqa: F811
    given(requests=REQUESTS)
    browser = signed_in(cho)

    shown = beside(browser)
    told = words(shown.text)

    assert "57 permitted, 4 denied" in told
    assert "10.0.0.7 57 permitted" in told
    assert "10.9.9.9 4 denied" in told
    assert "10.8.8.8" not in told
    assert re.search(r"bobs 7 permitted, last \d", told)
    for tab, same in (
        ("traffic", "traffic"),
        ("seen", "hosts"),
        ("seen", "used_groups"),
        ("names", "naming"),
    ):
        assert shown.context[same] == browser.get(f"{PAGE}&tab={tab}").context[same], same
        assert f"&amp;tab={tab}" in shown.text


def test_the_page_asks_for_the_column_and_leads_to_the_tabs_without_scripts(given, signed_in, cho):  # noqa: F811
    fresh = given(requests=REQUESTS)
    sync(fresh.cluster, client=FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"]))
    browser = signed_in(cho)

    page = browser.get(f"{PAGE}&as_of=1").text
    [address] = re.findall(r'<aside [^>]*hx-get="([^"]+)"', page)
    aside = page.split("<aside")[1].split("</aside>")[0]

    assert "as_of=1" in address
    assert beside(browser, unescape(address)).text.strip().startswith("<section")
    assert aside.count("tab=") == 3
    assert browser.get(BESIDE).url == "/c/test-eu/principal/?name=User%3Abob"
    assert "<aside" not in browser.get("/c/test-eu/principal/?name=User:*").text
    assert browser.get("/c/test-eu/principal/beside/", headers=PART).status_code == 404


def test_the_column_takes_few_queries(given, signed_in, cho):  # noqa: F811
    given(requests=REQUESTS)
    browser = signed_in(cho)
    beside(browser)

    with CaptureQueriesContext(connection) as asked:
        beside(browser)

    assert len(asked) <= 12, [query["sql"] for query in asked]


def test_without_a_log_the_column_says_that_nobody_can_tell(read_cluster, signed_in, cho):  # noqa: F811
    told = words(beside(signed_in(cho)).text)

    assert "What it did cannot tell: no authorizer log has been read." in told
    assert (
        "Names that become it Names cannot tell: the mapping rules of the brokers have not been read." in told
    )
    assert "permitted" not in told


def test_without_permits_in_the_log_no_number_of_them_is_told(given, signed_in, cho):  # noqa: F811
    given(requests=REQUESTS[1:2], files=[file("broker-1.log", permits=0)])

    told = words(beside(signed_in(cho)).text)

    assert "cannot tell what was permitted, 4 denied." in told
    assert "10.9.9.9 4 denied" in told
    assert "Consumer groups it used cannot tell: the log has no permits." in told


def test_names_of_clients_are_told_by_the_mapping_rules_of_the_brokers(read_cluster, signed_in, cho):  # noqa: F811
    read = {
        "where": "broker 1",
        "proven": [],
        "authorizer_class": "",
        "ssl_rules": "DEFAULT",
        "kerberos_rules": None,
    }
    Cluster.objects.filter(pk=read_cluster.pk).update(settings_read=read)

    assert "other login bob" in words(beside(signed_in(cho)).text)


def test_the_strip_has_one_main_button_where_acls_are_unused(given, signed_in, ada):  # noqa: F811
    given(requests=REQUESTS)

    page = signed_in(ada).get(PAGE)

    strip = page.text.split("used-rights")[1].split("</section>")[0]
    assert page.context["used"].unused
    assert "btn-primary" in strip
    assert "What the log proves" in strip
    assert page.text.count("btn-primary") == 1
    assert page.text.count("least-privilege") == 1


@pytest.mark.parametrize(
    "used", [UsedRights(2, 1, 1, "too young", "in 13 days"), UsedRights(SQUARES, 0, 0, "", "")]
)
def test_each_acl_has_a_square_in_the_strip(used):
    assert [used.squares.count(state) for state in ("used", "unused", "cannot-tell")] == [
        used.used,
        used.unused,
        used.unknown,
    ]


def test_more_acls_than_squares_have_none():
    assert UsedRights(SQUARES, 1, 0, "", "").squares == ()
