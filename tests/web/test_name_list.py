"""The lists of topics, groups and transactional ids: who may use each, who did, whose it is, and in which order."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest

from aclweb.acl.model.vocabulary import ResourceType
from aclweb.clusters import Known, TopicInfo
from aclweb.insights import last_seen, pairs
from aclweb.insights.current import current_load
from aclweb.insights.load import load
from aclweb.inventory.access import able, prepare, topic_access
from aclweb.inventory.current import in_force
from aclweb.inventory.current.view import forget
from aclweb.inventory.current.warming import warm
from aclweb.inventory.lists import every_name
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.insights.results import LAST, request, write_result
from tests.inventory.answering_cluster import Answers

TOPICS = "/c/test-eu/topics/"
ACLS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:cat", "ALL", "orders.eu"),
    allow("User:dan", "WRITE", "orders.us", host="10.0.0.7"),
    deny("User:dan", "WRITE", "orders.us"),
    allow("User:*", "READ", "public"),
    allow("User:bob", "READ", "bobs", resource_type="GROUP"),
    allow("User:cat", "READ", "lost", resource_type="GROUP"),
    allow("User:tx", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID"),
]
SEEN = [
    request(
        "User:bob",
        "READ",
        "orders.us",
        allowed=True,
        decided_now="ALLOWED",
        last_at=LAST - timedelta(hours=1),
    ),
    request(
        "User:bob",
        "READ",
        "orders.eu",
        allowed=True,
        decided_now="ALLOWED",
        last_at=LAST - timedelta(hours=2),
    ),
    request("User:eve", "READ", "orders.eu", lines=3),
    request("User:eve", "READ", "stock", lines=40),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    topics = [TopicInfo(name) for name in ("orders.eu", "orders.us", "public", "stock")]
    sync(cluster, client=Answers(ACLS, topics=topics, groups=["bobs", "cats"]))
    for name, owner in (("orders.", "Sales"), ("public", "platform")):
        cluster.owned_names.create(kind="TOPIC", pattern_type="PREFIXED", name=name, owner=owner)
    return signed_in(ada)


@pytest.fixture
def logged(browser, cluster, tmp_path):
    load(write_result(tmp_path / "usage", ACLS, requests=SEEN), cluster)
    return browser


def plain(page) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.content.decode())).split())


def names(page) -> list[str]:
    return [row.name for row in page.context["page"]]


def cells(page, word: str) -> list[str]:
    """What each row has in the column of this word."""
    found = re.findall(rf'<td[^>]*data-label="{word}"[^>]*>(.*?)</td>', page.content.decode(), re.DOTALL)
    return [" ".join(re.sub("<[^>]*>", " ", each).split()) for each in found]


def test_a_topic_has_its_readers_writers_and_owner(logged):
    page = logged.get(TOPICS)

    assert names(page) == ["orders.eu", "orders.us", "public", "stock"]
    assert cells(page, "readers") == ["2", "1", "any user", "0"]
    assert cells(page, "writers") == ["1", "0", "0", "0"]
    assert cells(page, "owner") == ["Sales", "Sales", "platform", ""]
    assert cells(page, "denials") == ["3", "0", "0", "40"]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("-name", ["stock", "public", "orders.us", "orders.eu"]),
        ("-readers", ["public", "orders.eu", "orders.us", "stock"]),
        ("readers", ["stock", "orders.us", "orders.eu", "public"]),
        ("-writers", ["orders.eu", "orders.us", "public", "stock"]),
        ("-denials", ["stock", "orders.eu", "orders.us", "public"]),
        ("-last", ["orders.us", "orders.eu", "public", "stock"]),
        ("last", ["orders.eu", "orders.us", "public", "stock"]),
        ("owner", ["public", "orders.eu", "orders.us", "stock"]),
        ("-owner", ["orders.eu", "orders.us", "public", "stock"]),
    ],
)
def test_the_list_is_sorted_by_each_column(logged, sort, order):
    page = logged.get(TOPICS, {"sort": sort})

    assert names(page) == order
    assert f'aria-sort="{"descending" if sort.startswith("-") else "ascending"}"' in page.content.decode()


def test_heads_of_columns_lead_to_the_other_order_and_keep_the_filter(logged):
    page = logged.get(TOPICS, {"q": "ord", "sort": "-readers"})

    urls = {column.word: column.url for column in page.context["columns"]}
    assert urls["Readers"] == "?q=ord&sort=readers"
    assert urls["Writers"] == "?q=ord&sort=-writers"
    assert names(logged.get(f"{TOPICS}{urls['Readers']}")) == ["orders.us", "orders.eu"]


@pytest.mark.parametrize("sort", ["size", "-", "last", "\x00"])
def test_an_order_that_cannot_be_is_said_and_the_list_shown_by_name(browser, sort):
    page = browser.get(TOPICS, {"sort": sort})

    assert names(page) == ["orders.eu", "orders.us", "public", "stock"]
    assert ("No authorizer log has been read" if sort == "last" else "use one of name") in plain(page)


def test_groups_that_acls_alone_name_are_told_from_those_that_brokers_list(browser):
    page = browser.get(TOPICS, {"type": "GROUP"})
    alone = browser.get(TOPICS, {"type": "GROUP", "from": "acls"})
    listed = browser.get(TOPICS, {"type": "GROUP", "from": "brokers"})

    assert [(row.name, row.listed) for row in page.context["page"]] == [
        ("bobs", True),
        ("cats", True),
        ("lost", False),
    ]
    assert cells(page, "may consume") == ["1", "0", "1"]
    assert "All 3 Listed by brokers 2 Named by ACLs alone 1" in plain(page)
    assert "lost named by ACLs" in plain(page)
    assert (names(alone), names(listed)) == (["lost"], ["bobs", "cats"])


def test_where_brokers_list_no_groups_those_of_acls_are_listed_all_the_same(browser, cluster):
    sync(cluster, client=Answers(ACLS, topics=[TopicInfo("orders.eu")], groups=None))
    Cluster.objects.filter(pk=cluster.pk).update(groups_listed=Known.UNKNOWN)
    cluster.names.filter(resource_type="GROUP").delete()
    forget()

    page = browser.get(TOPICS, {"type": "GROUP"})

    assert names(page) == ["bobs", "lost"]
    assert "Cannot tell which groups exist." in plain(page)


def test_transactional_ids_are_those_that_acls_name(browser):
    page = browser.get(TOPICS, {"type": "TRANSACTIONAL_ID"})

    assert names(page) == ["tx-1"]
    assert cells(page, "may use") == ["1"]
    assert "Cannot tell which transactional ids exist. No sync has read them yet." in plain(page)


def test_the_numbers_are_those_of_the_first_sentence_of_the_topics_page(browser, cluster):
    page = browser.get(TOPICS)

    for name, readers in zip(names(page), cells(page, "readers"), strict=True):
        sentence = topic_access(cluster, ResourceType.TOPIC, name).sentences[0]
        words = {
            "any user": "Any user",
            "0": ("obody", "no ACL matches"),
            "1": "1 principal",
            "2": "2 principals",
        }
        assert any(word.casefold() in sentence.casefold() for word in _several(words[readers])), sentence


def _several(words):
    return (words,) if isinstance(words, str) else words


def test_what_sorts_by_the_log_is_the_same_from_pairs_as_from_requests(logged, cluster, monkeypatch):
    kept, view = current_load(cluster), in_force(cluster)
    from_pairs = last_seen.last_seen_of_all(kept, ResourceType.TOPIC, view)
    view.loaded._answers.clear()
    monkeypatch.setattr(pairs, "MOST_PAIRS", 1)

    from_requests = last_seen.last_seen_of_all(kept, ResourceType.TOPIC, view)

    assert from_pairs == from_requests
    assert from_pairs == last_seen.last_seen(kept, ResourceType.TOPIC, every_name(view, ResourceType.TOPIC))
    assert from_pairs["orders.eu"].denied == 3


@pytest.mark.parametrize("sort", ["", "-readers", "-denials", "-last", "owner"])
def test_a_page_of_a_large_list_is_small_and_takes_few_queries(
    cluster, ada, signed_in, tmp_path, sort, django_assert_max_num_queries
):
    acls = [
        *(allow(f"User:far-{number}", "READ", "*") for number in range(60)),
        *(
            allow(f"User:app-{number}", "ALL", f"very.long.name.of.a.topic.{number:04}")
            for number in range(400)
        ),
    ]
    topics = [TopicInfo(f"very.long.name.of.a.topic.{number:04}", 12) for number in range(400)]
    sync(cluster, client=Answers(acls, topics=topics, groups=["g"]))
    cluster.owned_names.create(
        kind="TOPIC", pattern_type="PREFIXED", name="very.", owner="The owners", labels="pii"
    )
    load(write_result(tmp_path / "usage", acls, requests=SEEN), cluster)
    client = signed_in(ada)
    client.get(TOPICS)

    with django_assert_max_num_queries(12):
        page = client.get(TOPICS, {"sort": sort, "page": 3, "q": "long"})

    assert len(page.context["page"]) == 50
    assert len(page.content) < 50 * 1024


def test_readers_are_counted_before_anybody_sorts_by_them(cluster, browser, monkeypatch):
    sync(cluster, client=Answers(ACLS))
    in_force(cluster)

    warm({}, prepare)

    monkeypatch.setattr(able, "_each", None)  # would fail if anything were counted now
    for number in range(30):
        in_force(cluster).loaded.remember(("another question", number), object)
    assert browser.get(f"{TOPICS}?from=all&sort=-readers").status_code == 200
    assert browser.get(f"{TOPICS}?from=all&sort=writers").status_code == 200
