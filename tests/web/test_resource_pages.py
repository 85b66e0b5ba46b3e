"""Topic pages and their like: who can do what, the reason behind each cell, and what is folded."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from aclweb.acl.model.vocabulary import PermissionType, ResourceType
from aclweb.clusters import Known, TopicInfo
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.shell import links
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.inventory.answering_cluster import Answers

FAR = [allow(f"User:agent-{number}", "DESCRIBE", "*") for number in range(5)]
RULES = [
    allow("User:bob", "READ", "orders.eu"),
    allow("User:cat", "WRITE", "orders.", pattern="PREFIXED", host="10.0.0.7"),
    deny("User:dan", "WRITE", "orders.", pattern="PREFIXED"),
    allow("User:dan", "ALL", "*"),
    *FAR,
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    topics = [TopicInfo("orders.eu", 12), TopicInfo("stock", 3)]
    sync(cluster, client=Answers(RULES, topics=topics, groups=["billing"]))
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def test_the_page_begins_with_a_sentence_about_exposure(browser):
    page = browser.get("/c/test-eu/topics/orders.eu")

    assert page.status_code == 200
    assert "can read it" in page.context["page"].access.sentences[0]
    assert page.context["page"].access.sentences[0] in re.sub(r"<wbr>|</?span[^>]*>", "", text(page))


def test_principals_that_come_in_only_through_all_topics_are_folded_and_counted(browser):
    page = browser.get("/c/test-eu/topics/orders.eu")

    assert [row.principal for row in page.context["page"].rows] == ["User:bob", "User:cat", "User:dan"]
    assert "5 more, only through" in " ".join(text(page).split())


def test_unfolded_every_principal_has_a_row(browser):
    page = browser.get("/c/test-eu/topics/orders.eu?all=1", headers={"HX-Request": "true"})

    assert page.context["page"].rows.paginator.count == 8
    assert "<html" not in text(page)


@pytest.fixture
def crowded(cluster, ada, signed_in):
    """A cluster as large ones are: hundreds of principals and rules reach one topic, and one principal many."""
    acls = [
        *(allow(f"User:near-{number:03d}", "READ", "orders.", pattern="PREFIXED") for number in range(300)),
        *(allow(f"User:far-{number:03d}", "READ", "*") for number in range(300)),
        *(allow("User:bob", "ALL", f"orders.{number}") for number in range(300)),
        *(deny("User:*", "WRITE", f"orders.{number}", host=f"10.0.1.{number}") for number in range(200)),
    ]
    topics = [TopicInfo("orders.eu", 12), *(TopicInfo(f"orders.{number}", 3) for number in range(300))]
    sync(cluster, client=Answers(acls, topics=topics))
    return signed_in(ada)


@pytest.mark.parametrize(
    "address",
    [
        "topics/orders.eu",
        "topics/orders.eu?all=1",
        "topics/orders.eu?tab=acls",
        "topics/orders.eu?tab=groups",
        "principal/?name=User:bob",
    ],
)
def test_however_much_there_is_a_page_stays_small(crowded, address):
    page = text(crowded.get(f"/c/test-eu/{address}"))

    assert len(page) < 50 * 1024
    assert len(re.findall("<[a-z]", page)) < 2000


def test_the_principals_of_a_topic_come_in_pages_that_together_hold_each_once(crowded):
    first = crowded.get("/c/test-eu/topics/orders.eu").context["page"]
    pages = range(1, first.rows.paginator.num_pages + 1)
    found = [
        row.principal
        for number in pages
        for row in crowded.get(f"/c/test-eu/topics/orders.eu?page={number}", headers={"HX-Request": "true"})
        .context["page"]
        .rows
    ]

    assert len(first.rows) < 20
    assert len(first.folded_rows) == 300
    assert found == [f"User:near-{number:03d}" for number in range(300)]


def test_what_a_principal_can_do_comes_in_pages(crowded):
    page = crowded.get("/c/test-eu/principal/?name=User:bob&page=2", headers={"HX-Request": "true"})

    assert "<html" not in text(page)
    assert page.context["page"].number == 2
    assert f"Page 2 of {page.context['page'].paginator.num_pages}" in text(page)
    assert page.context["access"].total == 300


def test_acls_for_all_topics_are_folded_with_their_parts_counted(browser):
    page = browser.get("/c/test-eu/topics/orders.eu")

    assert page.context["page"].folded_acls_counted == [("Describe", 5), ("All", 1)]
    assert page.context["page"].acls[0].is_deny


def test_each_cell_leads_to_its_reason_and_without_scripts_to_the_explanation(browser):
    address = "/c/test-eu/cell/?type=TOPIC&name=orders.eu&operation=WRITE&who=principal&principal=User:dan"

    part = browser.get(address, headers={"HX-Request": "true"})
    whole = browser.get(address)

    assert "Write is refused, from every host" in text(part)
    assert "orders." in text(part)
    assert whole.status_code == 302
    assert "/explain/?principal=User%3Adan&operation=WRITE" in whole["Location"]


def test_a_cell_that_holds_from_some_hosts_is_explained_from_there(browser):
    address = "/c/test-eu/cell/?type=TOPIC&name=orders.eu&operation=WRITE&who=principal&principal=User:cat"

    assert "host=10.0.0.7" in browser.get(address)["Location"]


def tabs_of(page) -> dict[str, str]:
    """The tabs of a page with their addresses, in order; the number beside a word is left out."""
    _, _, tabs = text(page).partition('aria-label="Parts of this page"')
    links = re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)', tabs.partition("</nav>")[0])
    return {word.strip(): address for address, word in links}


def test_each_part_of_a_resource_has_a_tab_of_its_own_address(browser):
    tabs = tabs_of(browser.get("/c/test-eu/topics/orders.eu"))

    assert tabs["Access"] == "/c/test-eu/topics/orders.eu"
    for word, address in tabs.items():
        page = browser.get(address)
        assert page.status_code == 200
        assert f'href="{address}" aria-current="page">{word}' in text(page)
        assert "2 principals can read it" in text(page)


def test_a_tab_keeps_the_moment_and_a_name_that_no_path_can_hold(browser, cluster):
    sync(cluster, client=Answers(RULES[:1], topics=[TopicInfo("orders.eu", 12)]))

    then = tabs_of(browser.get("/c/test-eu/topics/orders.eu?as_of=1&tab=acls"))
    group = tabs_of(browser.get("/c/test-eu/resource/?type=GROUP&name=a/b&tab=acls"))

    assert then["ACLs"] == "/c/test-eu/topics/orders.eu?tab=acls&as_of=1"
    assert group["ACLs"] == "/c/test-eu/resource/?type=GROUP&name=a%2Fb&tab=acls"


def test_an_address_of_a_resource_leads_to_the_same_tab_of_its_topic(browser):
    page = browser.get("/c/test-eu/resource/?type=TOPIC&name=orders.eu&tab=acls")

    assert page["Location"] == "/c/test-eu/topics/orders.eu?tab=acls"


@pytest.mark.parametrize("tab", ["", "no-such-tab", "\x00"])
def test_a_word_of_no_tab_shows_the_first(browser, tab):
    assert browser.get("/c/test-eu/topics/orders.eu", {"tab": tab}).context["tab"] == "access"


def test_a_name_that_no_topic_can_have_has_no_access_to_show(browser):
    page = browser.get("/c/test-eu/resource/?type=TOPIC&name=a b")

    assert "Access" not in tabs_of(page)
    assert page.context["tab"] == "acls"


GROUP_ACLS = [
    allow("User:bob", "READ", "billing", resource_type="GROUP"),
    allow("User:cat", "ALL", "cats-", resource_type="GROUP", pattern="PREFIXED"),
    deny("User:cat", "READ", "*", resource_type="GROUP"),
    deny("User:eve", "READ", "billing", resource_type="GROUP"),
    *(allow(f"User:{name}", "READ", "orders.eu") for name in ("cat", "eve")),
]


@pytest.mark.parametrize("groups", [["billing"], None])
def test_each_reader_has_its_groups_or_why_it_cannot_consume(browser, cluster, groups):
    topics = [TopicInfo("orders.eu", 12)]
    sync(cluster, client=Answers([RULES[0], *GROUP_ACLS], topics=topics, groups=groups))

    page = browser.get("/c/test-eu/topics/orders.eu?tab=groups")

    rows = {found.principal: found for found, *_ in page.context["reader_rows"]}
    assert {name: found.why_none for name, found in rows.items()} == {
        "User:bob": "",
        "User:cat": "a DENY overrides each ACL that allows it",
        "User:eve": "no ACL allows Read on a group",
    }
    assert [binding.resource_name for binding in rows["User:bob"].named] == ["billing"]
    assert "cannot join a group: no ACL allows Read on a group" in text(page)
    assert ("Groups that ACLs or the log name are listed here" in text(page)) is (groups is None)


@pytest.mark.parametrize(
    ("groups", "marked"), [(["billing"], ["later"]), (["billing", "later"], []), (None, [])]
)
def test_groups_that_acls_alone_name_are_marked_where_brokers_list_groups(browser, cluster, groups, marked):
    acls = [
        RULES[0],
        *(allow("User:bob", "READ", name, resource_type="GROUP") for name in ("billing", "later", "*")),
        allow("User:bob", "READ", "later", resource_type="GROUP", pattern="PREFIXED"),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu", 12)], groups=groups))

    page = browser.get("/c/test-eu/topics/orders.eu?tab=groups")

    cells = re.findall(r"<div>(.*?)</div>", text(page).split('data-label="by ACLs"')[1], re.DOTALL)[:4]
    named = [re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", cell)).strip() for cell in cells]
    assert len(named) == 4
    assert [cell for cell in named if "named by ACLs" in cell] == [
        f"group {name} named by ACLs" for name in marked
    ]


def test_the_readers_of_a_topic_come_in_pages(crowded):
    address = "/c/test-eu/topics/orders.eu?tab=groups&page=2"

    part = crowded.get(address, headers={"HX-Request": "true"})

    assert "<html" not in text(part)
    assert part.context["readers"].number == 2
    assert "Page 2 of " in text(part)


def test_only_topics_have_a_tab_of_groups(browser):
    assert "Groups" not in tabs_of(browser.get("/c/test-eu/resource/?type=GROUP&name=billing"))


def test_use_of_an_acl_is_reported_as_cannot_tell_where_no_log_was_read(browser):
    acls = browser.get("/c/test-eu/topics/orders.eu?tab=acls")
    denials = browser.get("/c/test-eu/topics/orders.eu?tab=denials")

    assert "cannot tell" in text(acls)
    assert "Nobody has said where this cluster's authorizer logs are" in text(denials)


def test_a_topic_without_any_acl_says_what_then_decides(browser):
    page = browser.get("/c/test-eu/topics/no.such.topic")

    assert page.status_code == 200
    assert "does not exist now" in text(page)


@pytest.mark.parametrize("name", ["..", "a/b", "a b", "line\nend", "ünïcode", "100%", "a?b#c", "\u202eabc"])
def test_a_name_that_no_path_can_hold_survives_in_the_query(browser, cluster, name):
    address = links.resource(cluster, ResourceType.TOPIC, name)

    page = browser.get(address)

    assert page.status_code == 200
    assert page.context["name"] == name


def test_groups_have_the_same_page(browser):
    page = browser.get("/c/test-eu/resource/", {"type": "GROUP", "name": "billing"})

    assert page.status_code == 200
    assert "Who can do what" in text(page)


def test_the_list_filters_by_part_of_the_name_and_says_so_when_nothing_is_left(browser):
    assert [row.name for row in browser.get("/c/test-eu/topics/?q=ord").context["page"].object_list] == [
        "orders.eu"
    ]
    assert "No name contains this text" in text(browser.get("/c/test-eu/topics/?q=zzz"))


def test_a_principal_page_shows_own_inherited_and_what_they_give(browser):
    page = browser.get("/c/test-eu/principal/", {"name": "User:dan"})

    found = page.context["access"]
    assert page.status_code == 200
    assert len(found.own) == 2
    assert {resource.name for resource, *_ in found.resources} >= {"orders.eu", "stock"}


def test_a_principal_that_no_acl_names_is_distinguished_by_its_letters(browser):
    page = browser.get("/c/test-eu/principal/", {"name": "user:Bob "})

    assert page.status_code == 200
    assert "No ACL names this principal. Kafka compares letter by letter" in text(page)
    assert "\\u0020" in text(page)


def test_search_finds_topics_groups_principals_and_acls(browser):
    page = browser.get("/c/test-eu/search/", {"q": "bill"})

    assert page.context["groups"].paginator.count == 1
    assert browser.get("/c/test-eu/search/", {"q": "bob"}).context["principals"].paginator.count == 1
    assert "Nothing contains this text" in text(browser.get("/c/test-eu/search/", {"q": "zzz"}))


@pytest.mark.parametrize(
    "path",
    [
        "/c/test-eu/topics/?q=STOCK",
        "/c/test-eu/topics/?type=GROUP",
        "/c/test-eu/principals/?q=user:BOB",
        "/c/test-eu/acls/?principal=User:bob",
        "/c/test-eu/search/?q=User:bob&all=1",
        "/c/test-eu/topics/stock",
        "/c/test-eu/principal/?name=User:bob",
        "/c/test-eu/",
    ],
)
def test_one_of_a_kind_is_never_reported_as_many(browser, path):
    page = browser.get(path)

    told = re.sub(r"<[^>]*>", " ", text(page).partition("<main")[2])
    assert page.status_code == 200
    assert (
        re.findall(
            r"(?<![\w.,])1\s+(?:topic|group|principal|rule|change|revision|event|host|ACL|file)s\b", told
        )
        == []
    )


def test_a_principal_page_has_a_row_a_pattern_and_what_each_reaches(cluster, ada, signed_in):
    acls = [
        allow("User:cat", "READ", "orders.", pattern="PREFIXED"),
        allow("User:cat", "DELETE", "orders.", pattern="PREFIXED"),
        allow("User:cat", "WRITE", "orders.c"),
        allow("User:cat", "READ", "secret"),
        allow("User:cat", "READ", "gone"),
        allow("User:*", "DESCRIBE", "stock"),
        allow("User:cat", "READ", "half"),
        deny("User:cat", "READ", "half"),
        deny("User:cat", "READ", "secret"),
        deny("User:cat", "DESCRIBE", "secret"),
        deny("User:cat", "DELETE", "*"),
        deny("User:*", "WRITE", "secret"),
    ]
    topics = ["orders.a", "orders.b", "orders.c", "stock", "secret", "half"]
    with FakeCluster(bindings=acls, topics=topics, groups=[]) as fake:
        sync(cluster, client=fake)
    browser, address = signed_in(ada), f"/c/{cluster.slug}/principal/"

    page = browser.get(address, {"name": "User:cat"})

    rows = page.context["rows"]
    order = [(row.binding.permission_type.name, row.binding.principal) for row in rows]
    assert order == [
        *[("DENY", "User:cat")] * 3,
        ("DENY", "User:*"),
        *[("ALLOW", "User:cat")] * 5,
        ("ALLOW", "User:*"),
    ]
    by_name = {row.binding.resource_name: row for row in rows if not row.is_deny}
    assert {
        reach.resource.name: [each.name for each in reach.operations] for reach in by_name["orders."].reaches
    } == {
        "orders.a": ["READ", "DESCRIBE"],
        "orders.b": ["READ", "DESCRIBE"],
        "orders.c": ["READ", "WRITE", "DESCRIBE"],
    }
    assert (by_name["orders."].opens, by_name["orders.c"].opens) == (True, False)
    idle = {
        (row.binding.resource_name, right.acl.operation.name): right.idle
        for row in rows
        for right in row.rights
        if not row.is_deny
    }
    assert idle == {
        ("orders.", "READ"): False,
        ("orders.", "DELETE"): False,  # a DENY of every topic, but it still brings Describe
        ("orders.c", "WRITE"): False,
        ("secret", "READ"): True,  # a DENY of this and of the Describe that it brings
        ("half", "READ"): False,
        ("gone", "READ"): True,
        ("stock", "DESCRIBE"): False,
    }
    assert "3 topics" in page.text
    shown = {
        show: len(browser.get(address, {"name": "User:cat", "show": show}).context["rows"])
        for show in ("own", "any", "deny", "x")
    }
    assert shown == {"own": 8, "any": 2, "deny": 4, "x": 10}


def test_no_acl_is_said_to_allow_nothing_beside_one_of_unknown_meaning(cluster, ada, signed_in):
    acls = [
        allow("User:cat", "READ", "orders"),
        allow("User:cat", "READ", "gone"),
        replace(deny("User:cat", "READ", "gone"), permission_type=PermissionType.UNKNOWN),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders")], groups=[]))

    page = signed_in(ada).get(f"/c/{cluster.slug}/principal/", {"name": "User:cat"})

    assert not any(right.idle for row in page.context["rows"] for right in row.rights)
    assert "unknown permission" in page.text


def test_no_acl_is_said_to_allow_nothing_where_names_are_unknown(cluster, ada, signed_in):
    acls = [allow("User:cat", "READ", "gone"), allow("User:cat", "READ", "mine", resource_type="GROUP")]
    sync(cluster, client=Answers(acls, topics=[], groups=None))
    Cluster.objects.filter(pk=cluster.pk).update(topics_listed=Known.UNKNOWN)

    page = signed_in(ada).get(f"/c/{cluster.slug}/principal/", {"name": "User:cat"})

    assert [right.idle for row in page.context["rows"] for right in row.rights] == [False, False]
    assert "allows nothing now" not in page.text


def test_what_nobody_needs_an_acl_for_has_a_row_of_its_own(cluster, ada, signed_in):
    Cluster.objects.filter(pk=cluster.pk).update(allow_everyone=True)
    with FakeCluster(
        bindings=[allow("User:cat", "READ", "orders")], topics=["orders", "open.a", "open.b"]
    ) as fake:
        sync(cluster, client=fake)

    page = signed_in(ada).get(f"/c/{cluster.slug}/principal/", {"name": "User:cat"})

    without = [row for row in page.context["rows"] if row.binding is None]
    topics = next(row for row in without if row.resource_type.name == "TOPIC")
    assert [reach.resource.name for reach in topics.reaches] == ["open.a", "open.b"]
    assert "everybody, by default" in page.text
