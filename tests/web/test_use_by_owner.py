"""Does the report of use by owner count each name once, for the right owner, and say what nobody can tell?"""

from __future__ import annotations

import csv
import io
import json

import pytest

from aclweb.acl.notation.files import binding_key
from aclweb.insights.by_owner import by_owner
from aclweb.inventory.sync.run import sync
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import request, use
from tests.web.test_use_pages import REFUSALS_ONLY, REQUESTS, logged

URL = "/c/test-eu/insights/use/owners/"
OWNED = [
    ("TOPIC", "PREFIXED", "payments.", "pay"),
    ("TOPIC", "LITERAL", "payments.us", "america"),
    ("GROUP", "LITERAL", "billing", "pay"),
    ("PRINCIPAL", "LITERAL", "User:bob", "america"),
]


@pytest.fixture
def owned(read_cluster):  # noqa: F811
    for kind, pattern, name, owner in OWNED:
        read_cluster.owned_names.create(kind=kind, pattern_type=pattern, name=name, owner=owner)
    topics = ["orders", "payments.eu", "payments.old"]
    sync(read_cluster, client=FakeCluster(BINDINGS, topics=topics, groups=["billing"]))
    read_cluster.refresh_from_db()
    return read_cluster


@pytest.fixture
def page_of(owned, cho, signed_in):
    client = signed_in(cho)

    def page(query: str = "") -> str:
        answer = client.get(URL + query)
        assert answer.status_code == 200
        return answer.getvalue().decode()

    return page


def test_each_name_counts_for_its_owner_and_the_rest_for_nobody(owned, given):  # noqa: F811
    given(requests=REQUESTS, usage=[use(BINDINGS[0], requests=1_234, needed=3)])

    rows = {row.owner: row for row in by_owner(owned, days=None).rows}

    assert {owner: (row.permitted, row.others, row.denied) for owner, row in rows.items()} == {
        "pay": (2_100, 2_100, 5),
        "america": (34, 0, 0),
        "": (7, 0, 0),
    }
    assert {owner: row.topics for owner, row in rows.items()} == {"pay": 2, "america": 0, "": 1}
    assert {owner: row.dark for owner, row in rows.items()} == {"pay": 1, "america": 0, "": 0}
    assert {owner: row.principals for owner, row in rows.items()} == {"pay": 1, "america": 1, "": 1}
    # The ACLs on payments. are of the owner of all names that begin so, those on other names of nobody.
    assert {owner: (row.acls, row.unused) for owner, row in rows.items()} == {
        "pay": (2, 1),
        "america": (0, 0),
        "": (5, 5),
    }, "those on the cluster are nobody's"
    # User:bob of america used names of pay, of nobody and of america itself.
    assert {owner: (row.use, row.used, row.refused) for owner, row in rows.items()} == {
        "pay": (0, 0, 0),
        "america": own_use("User:bob"),
        "": own_use("User:eve", "User:ops"),
    }


def own_use(*principals):
    """Return the permitted requests, the names and the denied requests of principals in REQUESTS."""
    own = [each for each in REQUESTS if each["principal"] in principals]
    allowed = [each for each in own if each["allowed"]]
    return (
        sum(each["lines"] for each in allowed),
        len({(each["resource_type"], each["resource_name"]) for each in allowed}),
        sum(each["lines"] for each in own if not each["allowed"]),
    )


def test_what_is_counted_in_all_is_what_the_log_holds(owned, given):  # noqa: F811
    given(requests=REQUESTS)

    found = by_owner(owned, days=30)

    assert sum(row.permitted for row in found.rows) == sum(
        each["lines"] for each in REQUESTS if each["allowed"]
    )
    assert sum(row.denied for row in found.rows) == 5
    assert sum(row.acls for row in found.rows) == len(BINDINGS)
    assert sum(row.use for row in found.rows) == sum(row.permitted for row in found.rows)


def test_an_owner_of_principals_alone_has_a_row(owned, given, page_of):  # noqa: F811
    owned.owned_names.create(kind="PRINCIPAL", pattern_type="LITERAL", name="User:eve", owner="eve's team")
    given(requests=[*REQUESTS, request("User:eve", "WRITE", "payments.eu", lines=4)])

    row = by_owner(owned, days=None).of("eve's team")
    (told,) = [
        each for each in csv.DictReader(io.StringIO(page_of("?format=csv"))) if each["owner"] == "eve's team"
    ]

    assert (row.names, row.acls, row.refused) == ([], 0, own_use("User:eve")[2] + 4)
    assert told["own_denied"] == str(row.refused)


def test_few_days_call_no_topic_dark_and_say_why(owned, given, page_of):  # noqa: F811
    given(requests=REQUESTS)

    found = by_owner(owned, days=7)

    assert {row.dark for row in found.rows} == {None}
    assert found.of("america").names == [], "payments.us does not exist and was not asked for in these days"
    assert "the last 7 days alone are looked at" in page_of("?days=7")


def test_without_permits_nobody_can_tell_what_was_used(owned, given, page_of):  # noqa: F811
    given(requests=[REQUESTS[3]], files=REFUSALS_ONLY)

    rows = [json.loads(line) for line in page_of("?format=jsonl").splitlines()]

    assert {
        (row["permitted"], row["dark_topics"], row["unused_acls"], row["principals"]) for row in rows
    } == {(None, None, None, None)}
    assert "cannot tell what was used" in page_of().lower()
    assert "dark</span>" not in page_of("?owner=pay")


def test_without_a_log_topics_and_acls_are_counted_still(owned, page_of):
    rows = {row["owner"]: row for row in csv.DictReader(io.StringIO(page_of("?format=csv")))}

    assert {owner: (row["topics"], row["acls"], row["permitted"]) for owner, row in rows.items()} == {
        "pay": ("2", "2", ""),
        "america": ("0", "0", ""),
        "": ("1", "5", ""),
    }
    assert "No authorizer log of it has been read" in page_of()


def test_the_names_of_an_owner_are_listed_sorted_filtered_and_taken_along(given, page_of):  # noqa: F811
    strange = logged("User:eve", "payments.<b>x", lines=3, allowed=False)
    given(requests=[*REQUESTS, strange])

    page = page_of("?owner=pay")
    assert page.index(">payments.eu<") < page.index(">billing<") < page.index(">payments.old<")
    assert page.count(">dark</span>") == 1
    assert ">dark</span>" not in page_of("?owner=pay&days=7"), "so few days call no topic dark"
    assert "<b>x" not in page
    assert 'title="It was asked for, and does not exist."' in page
    denied = page_of("?owner=pay&sort=denied")
    assert denied.index(">payments.eu<") < denied.index("payments.&lt;b&gt;x") < denied.index(">billing<")
    assert ">billing<" not in page_of("?owner=pay&q=EU")
    rows = list(csv.DictReader(io.StringIO(page_of("?owner=pay&format=csv"))))
    assert [(row["name"], row["permitted"], row["exists"]) for row in rows] == [
        ("payments.eu", "1200", "true"),
        ("billing", "900", ""),
        ("payments.<b>x", "0", "false"),
        ("payments.old", "0", "true"),
    ]
    assert "orders" in page_of("?owner=")
    assert "2 owners; of 2,141 permitted requests, 7 were on names that nobody is said to own." in page_of()


def test_an_owner_that_nobody_is_and_a_format_that_is_none_are_not_found(owned, cho, signed_in):
    client = signed_in(cho)

    assert client.get(f"{URL}?owner=nobody-here").status_code == 404
    assert client.get(f"{URL}?format=xml").status_code == 404
    owned.owned_names.all().delete()
    assert "Nobody has said who owns which names" in client.get(URL).content.decode()


def test_a_cut_count_calls_nothing_dark(owned, given, monkeypatch, page_of):  # noqa: F811
    given(requests=REQUESTS)
    monkeypatch.setattr("aclweb.insights.pairs.MOST_PAIRS", 2)

    found = by_owner(owned, days=None)

    assert not found.whole
    assert {row.dark for row in found.rows} == {None}
    assert "pairs of principal and name with most requests" in page_of("?days=all")


def test_the_queries_do_not_grow_with_the_names(owned, given, django_assert_max_num_queries):  # noqa: F811
    given(requests=[request("User:bob", "READ", f"payments.{n}", allowed=True) for n in range(200)])
    by_owner(owned, days=30)

    with django_assert_max_num_queries(9):
        by_owner(owned, days=30)


def test_the_use_of_an_acl_that_no_list_calls_unused_is_not_counted_so(owned, given):  # noqa: F811
    given(requests=REQUESTS, usage=[use(binding) for binding in BINDINGS])

    assert {row.unused for row in by_owner(owned, days=None).rows} == {0}
    assert binding_key(BINDINGS[0])
