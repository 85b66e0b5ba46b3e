"""The cluster's page says what aclweb sees of it and what not, and each list of what brokers tell has a page."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

import pytest
from django.http import HttpResponse

from aclweb.clusters import (
    Detail,
    DetailKind,
    DetailList,
    Details,
    GroupMember,
    GroupType,
    Known,
    ListedGroup,
)
from aclweb.inventory.models import DetailsRead
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster

C, A = "/c/test-eu/", "/api/v1/clusters/test-eu/"
END = int(datetime(2027, 1, 2, 3, 4, tzinfo=UTC).timestamp() * 1000)
LISTS = {
    DetailKind.SCRAM_USERS: DetailList(
        Known.ALL, (Detail("erin", user="erin", facts={"mechanisms": {"SCRAM-SHA-256": 4096}}),)
    ),
    DetailKind.QUOTAS: DetailList(
        Known.ALL,
        (
            Detail(
                "every other user, client-id x",
                facts={
                    "entity": {"user": None, "client-id": "x"},
                    "limits": {"producer_byte_rate": 1024.0},
                },
            ),
        ),
    ),
    DetailKind.TRANSACTIONAL_IDS: DetailList(
        Known.VISIBLE,
        (Detail("tx-<b>"),),
        "Only transactional ids that this login may describe are listed, so there may be others.",
        "kafka-acls --add --transactional-id '*'",
    ),
    DetailKind.TOKENS: DetailList(
        Known.UNKNOWN, sentence="Brokers tell of tokens only where a client logs in."
    ),
}
TOKEN = Detail(
    "t-1",
    principal="User:bob",
    facts={"requester": None, "renewers": ["User:ann"], "issued": END, "expires": END, "ends": END},
)


def text_of(page: HttpResponse) -> str:
    without_tags = re.sub(r"<[^>]*>", " ", page.content.decode().replace("<wbr>", ""))
    return unescape(re.sub(r"\s+", " ", without_tags))


@pytest.fixture
def fake(monkeypatch, cluster) -> FakeCluster:
    fake = FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"], groups=["billing", "shop"])
    fake.details = Details(
        LISTS, (ListedGroup("billing", GroupType.CONSUMER), ListedGroup("shop", GroupType.SHARE))
    )
    fake.members = {"billing": (GroupMember("orders-app", "10.0.0.7"),)}
    monkeypatch.setattr(syncing, "connect", fake.connect)
    return fake


@pytest.fixture
def page_of(fake, cluster, cho, signed_in):
    sync(cluster)
    browser = signed_in(cho)
    return browser.get


def test_the_clusters_page_says_what_is_seen_and_what_not(page_of):
    page = text_of(page_of(C))

    assert "Groups all 1 consumer, 1 share" in page
    assert "Members of groups some of 1 group The members of 1 group are not known." in page
    assert "SCRAM users all 1" in page
    assert "Transactional ids some 1" in page
    assert "kafka-acls --add --transactional-id '*'" in page
    assert re.search(r"Delegation tokens unknown [–, ]*Brokers tell of tokens only", page)


def test_before_the_first_read_nothing_is_called_empty(cluster, cho, signed_in):
    page = text_of(signed_in(cho).get(C))

    assert page.count("No sync has read them yet.") == 4
    assert "SCRAM users all" not in page


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("scram-users", ["erin", "SCRAM-SHA-256 with 4,096 iterations"]),
        ("quotas", ["every other user, client-id x", "producer_byte_rate 1,024"]),
        ("transactional-ids", ["tx-<b>", "so there may be others"]),
        ("tokens", ["Cannot tell which there are", "only where a client logs in"]),
    ],
)
def test_each_list_has_a_page(page_of, kind, words):
    page = text_of(page_of(f"{C}details/{kind}/"))

    for word in words:
        assert word in page


def test_a_token_is_listed_with_its_owner_and_its_end(fake, page_of, cluster):
    fake.details = Details({DetailKind.TOKENS: DetailList(Known.ALL, (TOKEN,))}, None)
    DetailsRead.objects.update(at=datetime(2026, 1, 1, tzinfo=UTC))
    sync(cluster)

    page = text_of(page_of(f"{C}details/tokens/"))

    assert "t-1 User:bob User:ann 2027-01-02 03:04 2027-01-02 03:04" in page


def test_an_unknown_list_is_not_found(page_of):
    assert page_of(f"{C}details/passwords/").status_code == 404


def test_a_filter_finds_part_of_a_name(page_of):
    assert "erin" in text_of(page_of(f"{C}details/scram-users/?q=RI"))
    assert "None contains this text" in text_of(page_of(f"{C}details/scram-users/?q=zzz"))


def test_the_api_tells_how_complete_each_list_is(page_of):
    found = {each["kind"]: each for each in page_of(f"{A}details/").json()}

    assert (found["scram-users"]["known"], found["scram-users"]["count"]) == ("all", 1)
    assert (found["tokens"]["known"], found["tokens"]["count"]) == ("unknown", None)
    assert found["transactional-ids"]["command"] == "kafka-acls --add --transactional-id '*'"
    assert found["quotas"]["read_at"] is not None


def test_the_api_lists_the_entries_and_none_of_an_unknown_list(page_of):
    (user,) = page_of(f"{A}details/scram-users/").json()["results"]

    assert user["name"] == "erin"
    assert user["facts"] == {"mechanisms": {"SCRAM-SHA-256": 4096}}
    assert page_of(f"{A}details/tokens/").json()["results"] == []
    assert page_of(f"{A}details/passwords/").status_code == 404


def test_the_api_lists_groups_with_their_members_or_null(page_of):
    billing, shop = page_of(f"{A}groups/").json()["results"]

    assert (billing["name"], billing["type"], billing["members"][0]["host"]) == (
        "billing",
        "consumer",
        "10.0.0.7",
    )
    assert (shop["type"], shop["members"], shop["read_at"]) == ("share", None, None)
    assert [each["name"] for each in page_of(f"{A}groups/?type=share").json()["results"]] == ["shop"]
    assert "is no type of a group" in page_of(f"{A}groups/?type=odd").json()["type"]


def test_the_pages_ask_few_questions(page_of, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        page_of(f"{C}details/scram-users/")
    with django_assert_max_num_queries(32):
        page_of(C)
