import random
from collections import Counter

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model.vocabulary import AclBinding, AclError, ResourceType
from aclweb.acl.notation.files import binding_key
from aclweb.clusters import Known
from aclweb.inventory.access import principal_access, topic_access
from aclweb.inventory.current import in_force
from aclweb.inventory.lists import (
    AclListFilters,
    grouped_acls,
    history,
    list_acls,
    list_names,
    list_principals,
)
from aclweb.inventory.lists.listing import all_acls, reach_of
from aclweb.inventory.sync.run import sync
from tests.builders import acl, allow, deny
from tests.inventory.answering_cluster import Answers, topics

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders.eu", host="10.0.6.21")
CHO = allow("User:cho", "WRITE", "orders.", pattern="PREFIXED")
ANY = allow("User:*", "DESCRIBE", "*")
NO = deny("User:eve", "ALL", "orders.eu")
GROUP = allow("User:bob", "READ", "orders.eu", resource_type="GROUP")
GONE = allow("User:bob", "READ", "retired")
EVERYTHING = [BOB, CHO, ANY, NO, GROUP, GONE]


@pytest.fixture
def cluster(cluster):
    sync(cluster, client=Answers(EVERYTHING, topics("orders.eu", "orders.us", "pay"), ["orders.eu"]))
    return cluster


def test_acls_that_affect_a_name_are_told_from_others_by_their_names_first(cluster, monkeypatch):
    others = [allow(f"User:u{number}", "READ", f"other{number}") for number in range(300)]
    sync(cluster, client=Answers([*EVERYTHING, *others], topics("orders.eu")))
    view = in_force(cluster)
    hashed, hash_of = [], AclBinding.__hash__
    with monkeypatch.context() as patch:
        patch.setattr(AclBinding, "__hash__", lambda own: hashed.append(1) or hash_of(own))
        listed = all_acls(view, AclListFilters(name="orders.eu", match="affects"))

    assert set(listed) == {BOB, NO, GROUP, CHO, ANY}
    assert len(hashed) <= 4 * len(listed)


def found(cluster, **filters):
    return {row.binding for row in list_acls(cluster, AclListFilters(**filters))}


@pytest.mark.half
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, set(EVERYTHING)),
        ({"permission": "deny"}, {NO}),
        ({"operation": "Read"}, {BOB, GROUP, GONE}),
        ({"resource_type": "GROUP"}, {GROUP}),
        ({"principal": "User:bob"}, {BOB, GROUP, GONE}),
        ({"principal": "User:b*"}, {BOB, GROUP, GONE}),
        ({"principal": "User:bo"}, set()),
        ({"principal": "User:*"}, {ANY}),
        ({"host": "*"}, {CHO, ANY, NO, GROUP, GONE}),
        ({"host": "10.0.*"}, {BOB}),
        ({"name": "orders.eu"}, {BOB, NO, GROUP}),
        ({"name": "orders.eu", "match": "affects"}, {BOB, NO, GROUP, CHO, ANY}),
        ({"name": "orders.eu", "match": "affects", "resource_type": "TOPIC"}, {BOB, NO, CHO, ANY}),
        ({"name": "orders", "match": "starts"}, {BOB, NO, GROUP, CHO}),
        ({"name": "orders.jp", "match": "affects"}, {CHO, ANY}),
        ({"reach": "prefix"}, {CHO}),
        ({"reach": "all"}, {ANY}),
        ({"orphan": True}, {GONE}),
        ({"text": "CHO"}, {CHO}),
        ({"text": "6.21"}, {BOB}),
        ({"principal": "User:bob", "name": "retired"}, {GONE}),
        ({"principal": "User:nobody"}, set()),
    ],
)
def test_a_filter_lets_through_what_it_says(cluster, filters, expected):
    assert found(cluster, **filters) == expected


def test_filters_are_read_from_a_query_string():
    filters = AclListFilters.read(
        {"operation": "describeconfigs", "match": "starts", "name": "a", "page": "3"}
    )

    assert filters == AclListFilters(operation="DESCRIBE_CONFIGS", match="starts", name="a")


@pytest.mark.parametrize(
    "given", [{"operation": "FLY"}, {"match": "nearly"}, {"reach": "far"}, {"permission": "MAYBE"}]
)
def test_a_word_that_no_filter_has_is_refused_with_the_words_that_would_do(given):
    with pytest.raises(AclError, match="use one of"):
        AclListFilters.read(given)


def test_a_row_has_its_key_and_the_number_of_names_it_covers_now(cluster):
    rows = {row.binding: row for row in list_acls(cluster)}

    assert rows[CHO].key == binding_key(CHO)
    assert {binding: row.covers_now for binding, row in rows.items()} == {
        BOB: 1,
        CHO: 2,
        ANY: 3,
        NO: 1,
        GROUP: 1,
        GONE: 0,
    }


def test_deny_stands_first_and_the_wildcard_last(cluster):
    rows = [row.binding for row in list_acls(cluster)]

    assert (rows[0], rows[-1]) == (NO, ANY)


def test_facets_count_the_filtered_acls(cluster):
    facets = list_acls(cluster, AclListFilters(name="orders.eu", match="affects")).facets

    assert facets["permission"] == {"ALLOW": 4, "DENY": 1}
    assert facets["reach"] == {"exact": 3, "prefix": 1, "all": 1}
    assert facets["type"] == {"TOPIC": 4, "GROUP": 1}
    assert facets["principal"] == {"User:*": 1}
    assert facets["orphan"] == {}


def test_parts_of_a_list_are_the_same_as_those_parts_of_the_whole(cluster):
    rows = list_acls(cluster)

    whole = list(rows)
    assert len(whole) == len(rows) == 6
    assert {row.binding for row in whole} == set(EVERYTHING)
    assert [*rows[0:4], *rows[4:9]] == whole
    assert [rows[0], rows[-1]] == [whole[0], whole[-1]]


def test_names_are_listed_with_the_number_of_acls_that_match_them(cluster):
    rows = list_names(in_force(cluster), ResourceType.TOPIC)

    assert [(row.name, row.partitions, row.affecting) for row in rows] == [
        ("orders.eu", 3, 4),
        ("orders.us", 3, 2),
        ("pay", 3, 1),
    ]
    assert [row.name for row in list_names(in_force(cluster), ResourceType.TOPIC, "us")] == ["orders.us"]
    assert [row.name for row in list_names(in_force(cluster), ResourceType.GROUP)] == ["orders.eu"]


def test_principals_are_listed_with_their_acls_and_super_users_among_them(cluster):
    rows = list_principals(cluster)

    assert [(row.principal, row.own, row.denies, row.is_super_user) for row in rows] == [
        ("User:*", 1, 0, False),
        ("User:admin", 0, 0, True),
        ("User:bob", 3, 0, False),
        ("User:cho", 1, 0, False),
        ("User:eve", 1, 1, False),
    ]
    assert len(list_principals(cluster, "bo")) == 1


def test_names_and_principals_are_searched_in_capital_and_small_letters(cluster):
    assert [row.name for row in list_names(in_force(cluster), ResourceType.TOPIC, "ORDERS.E")] == [
        "orders.eu"
    ]
    assert [row.principal for row in list_principals(cluster, "user:BO")] == ["User:bob"]


def test_a_filter_on_a_principal_or_a_resource_still_compares_letter_by_letter(cluster):
    assert len(list_acls(cluster, AclListFilters(principal="User:bob"))) == 3
    assert len(list_acls(cluster, AclListFilters(principal="User:Bob"))) == 0
    assert len(list_acls(cluster, AclListFilters(name="PAY"))) == 0


def test_history_tells_each_revision_and_what_came_and_went(cluster):
    sync(cluster, client=Answers([*EVERYTHING[1:], allow("User:new", "READ", "pay")], topics("pay")))

    revisions = history(cluster)

    assert [(revision.number, revision.acls_added, revision.acls_removed) for revision in revisions] == [
        (2, 1, 1),
        (1, 6, 0),
    ]


@pytest.mark.parametrize(
    ("question", "most"),
    [
        (lambda cluster: topic_access(cluster, ResourceType.TOPIC, "orders.eu"), 1),
        (lambda cluster: principal_access(cluster, "User:bob"), 1),
        (lambda cluster: list(list_acls(cluster, AclListFilters(text="o"))), 1),
        (lambda cluster: list(list_names(in_force(cluster), ResourceType.TOPIC)), 1),
        (lambda cluster: list(list_principals(cluster)), 1),
        (lambda cluster: (history(cluster).count(), list(history(cluster)[:20])), 2),
    ],
)
def test_a_question_costs_as_few_queries_for_many_acls_as_for_few(cluster, question, most):
    def queries():
        question(cluster)  # the first one after a reading rebuilds the index
        with CaptureQueriesContext(database) as captured:
            question(cluster)
        return len(captured)

    few = queries()
    sync(
        cluster,
        client=Answers([*EVERYTHING, *(allow(f"User:{n}", "READ", f"topic-{n}") for n in range(500))]),
    )

    assert queries() == few <= most


def test_an_acl_is_an_orphan_as_soon_as_all_names_are_known_though_no_revision_came(cluster):
    answers = Answers(EVERYTHING, topics("orders.eu", "orders.us", "pay"), ["orders.eu"])
    for known, orphans in ((Known.VISIBLE, 0), (Known.ALL, 1), (Known.VISIBLE, 0)):
        answers.topics_known = known
        sync(cluster, client=answers)
        orphaned = AclListFilters(orphan=True)
        view = in_force(cluster)

        assert view.revision.number == 1
        assert len(list_acls(cluster, orphaned)) == orphans
        assert sum(list_acls(cluster, AclListFilters()).facets["orphan"].values()) == orphans
        assert len(grouped_acls(view, orphaned, "principal")) == orphans


def test_where_nobody_knows_the_groups_an_acl_on_groups_is_no_orphan(cluster):
    acls = [allow("User:bob", "READ", "g", resource_type="GROUP"), allow("User:bob", "READ", "gone")]
    sync(cluster, client=Answers(acls, groups=None))

    page = list_acls(cluster)
    orphans = list_acls(cluster, AclListFilters(orphan=True))

    assert {row.binding: row.covers_now for row in page} == {acls[0]: None, acls[1]: 0}
    assert [row.binding for row in orphans] == [acls[1]]
    assert page.facets["orphan"] == {"1": 1}


@pytest.mark.parametrize("seed", range(20))
def test_counts_and_groups_are_those_of_a_look_at_each_acl(cluster, seed):
    chance = random.Random(seed)
    names = ("orders.eu", "orders.us", "pay", "gone", "*", "o", "")
    acls = {
        acl(
            chance.choice(("ALLOW", "ALLOW", "DENY")),
            chance.choice(("User:a", "User:b", "User:*")),
            chance.choice(("READ", "WRITE", "ALL", "DESCRIBE")),
            chance.choice(names),
            pattern=chance.choice(("LITERAL", "LITERAL", "PREFIXED", "UNKNOWN")),
            resource_type=chance.choice(("TOPIC", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID")),
            host=chance.choice(("*", "10.0.0.7")),
        )
        for _ in range(chance.choice((1, 60, 200)))
    }
    answers = Answers(sorted(acls, key=str), topics("orders.eu", "orders.us", "pay"), ["orders.eu", "o"])
    answers.topics_known = chance.choice(list(Known))
    sync(cluster, client=answers)
    view = in_force(cluster)
    filters = AclListFilters(principal=chance.choice(("", "User:a")))
    listed = all_acls(view, filters)

    facets = list_acls(cluster, filters).facets

    assert facets == {
        "permission": Counter(each.permission_type.name for each in listed),
        "reach": Counter(reach_of(each) for each in listed),
        "type": Counter(each.resource_type.name for each in listed),
        "operation": Counter(each.operation.name for each in listed),
        "principal": Counter("User:*" for each in listed if each.principal == "User:*"),
        "host": Counter("*" for each in listed if each.host == "*"),
        "orphan": Counter("1" for each in listed if view.covered_now(each) == 0),
    }
    for each in facets.values():
        assert list(each.values()) == sorted(each.values(), reverse=True)
    for by, shared in SHARED.items():
        groups = grouped_acls(view, filters, by)
        assert [(shared(group.example), group.acls) for group in groups] == sorted(
            Counter(map(shared, listed)).items()
        )
        for sort in ("acls", "allow", "deny"):
            in_order = grouped_acls(view, filters, by, sort)
            counted = [getattr(group, sort) for group in in_order]
            assert counted == sorted(counted, reverse=True)
            assert sorted(map(str, in_order)) == sorted(map(str, groups))
    assert sum(group.deny for group in groups) == sum(each.is_deny for each in listed)
    assert all(sum(number for _, number in group.kinds) == group.acls for group in groups)


SHARED = {
    "principal": lambda each: each.principal,
    "resource": lambda each: (
        each.has_wildcard_pattern,
        each.resource_name,
        each.resource_type.code,
        each.pattern_type.code,
    ),
    "host": lambda each: (each.host == "*", each.host),
}
