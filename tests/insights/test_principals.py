"""Are principals marked only as the ACLs and the log allow, and is each number that of the pages it leads to?"""

from datetime import timedelta

import pytest

from aclweb.acl.model import AclError
from aclweb.insights import principals
from aclweb.insights.load import load
from aclweb.insights.logged_principals import LoggedUse, logged_principals
from aclweb.insights.models import LoggedPrincipal
from aclweb.insights.principal_words import sentences_of
from aclweb.insights.principals import (
    DENIED,
    NEVER_SEEN,
    ORPHANED,
    READS_ALL,
    WRITES_ALL,
    PrincipalFilters,
    listed_principals,
    prepare,
)
from aclweb.inventory.access import TopicReach
from aclweb.inventory.current import in_force
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS
from tests.insights.results import FIRST, LAST, file, request, write_result

TOPICS = ["orders", "payments.eu"]
LONG_AGO = {
    "first_at": FIRST,
    "last_at": FIRST + timedelta(hours=2),
    "days": [{"day": "2026-11-07", "lines": 4}],
}
REQUESTS = [
    request("User:bob", "READ", "orders", allowed=True, lines=5),
    request("User:bob", "WRITE", "orders", lines=3),
    request("User:bob", "WRITE", "orders", host="10.0.0.8", lines=4, **LONG_AGO),
    request("User:notes", "READ", "orders", lines=2, **LONG_AGO),
    request("User:stranger", "READ", "orders", lines=9),
]


def by_name(found):
    return {row.principal: row for row in found.rows}


def test_a_load_keeps_what_is_told_of_each_principal(given):
    fresh = given(requests=REQUESTS)

    kept = logged_principals(fresh)

    assert {name: (use.permitted, use.denied, use.denied_7) for name, use in kept.items()} == {
        "User:bob": (5, 7, 3),
        "User:notes": (0, 2, 0),
        "User:stranger": (0, 9, 9),
    }
    assert kept["User:bob"].last_at.replace(tzinfo=None) == LAST
    assert kept["User:bob"].first_at.replace(tzinfo=None) == FIRST


def test_of_a_load_of_an_earlier_version_it_is_counted(given):
    fresh = given(requests=REQUESTS)
    kept = logged_principals(fresh)

    LoggedPrincipal.objects.all().delete()

    assert logged_principals(fresh) == kept
    assert all(isinstance(use, LoggedUse) for use in kept.values())


def test_orphaned_is_who_has_acls_and_asked_nothing_in_the_days_that_the_log_covers(given, settings):
    settings.ACLWEB_UNUSED_DAYS = 12
    fresh = given(requests=REQUESTS)

    found = listed_principals(fresh.cluster)

    orphaned = {row.principal for row in found.rows if ORPHANED in row.marks}
    never = {row.principal for row in found.rows if NEVER_SEEN in row.marks}
    assert "User:notes" in orphaned - never  # asked for the last time before these days
    assert "User:eve" in orphaned & never
    assert "User:bob" not in orphaned | never
    assert "User:stranger" not in orphaned | never  # no ACL names it
    assert found.of(ORPHANED).count == len(orphaned)
    assert found.of(NEVER_SEEN).count == len(never)


def test_super_users_and_any_user_are_not_orphaned(read_cluster, tmp_path):
    read_cluster.super_users = "User:eve;User:admin"
    read_cluster.save()
    bindings = [*BINDINGS, allow("User:*", "READ", "orders")]
    sync(read_cluster, client=FakeCluster(bindings, topics=TOPICS))
    read_cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", bindings, requests=REQUESTS), read_cluster)

    rows = by_name(listed_principals(read_cluster))

    assert rows["User:*"].marks == ()
    assert NEVER_SEEN in rows["User:eve"].marks
    assert ORPHANED not in rows["User:eve"].marks
    assert {NEVER_SEEN, WRITES_ALL, READS_ALL} <= set(rows["User:admin"].marks)


def test_without_permits_in_the_log_nobody_is_called_orphaned(given):
    fresh = given(requests=REQUESTS, files=[file("broker-1.log", permits=0)])

    found = listed_principals(fresh.cluster)

    assert not any({ORPHANED, NEVER_SEEN} & set(row.marks) for row in found.rows)
    for mark in (ORPHANED, NEVER_SEEN):
        assert found.of(mark).count is None
        assert found.of(mark).sentence.startswith("Cannot tell: ")
        assert "permits" in found.of(mark).sentence
    assert found.of(DENIED).count == 2


def test_without_a_log_nothing_is_told_of_it(read_cluster):
    found = listed_principals(read_cluster)

    assert [found.of(mark).count for mark in (ORPHANED, NEVER_SEEN, DENIED)] == [None, None, None]
    assert "no authorizer log has been read" in found.of(ORPHANED).sentence


def test_a_principal_whose_acls_are_all_younger_than_the_window_is_left_out(given):
    fresh = given(requests=REQUESTS)
    younger = [*BINDINGS, allow("User:new", "READ", "orders"), allow("User:eve", "READ", "orders")]
    sync(fresh.cluster, client=FakeCluster(younger, topics=TOPICS))
    fresh.cluster.refresh_from_db()
    fresh.cluster.revision.read_at = fresh.last_at
    fresh.cluster.revision.save()

    found = listed_principals(fresh.cluster)

    rows = by_name(found)
    assert rows["User:new"].left_out == (ORPHANED, NEVER_SEEN)
    assert not rows["User:new"].marks
    assert ORPHANED in rows["User:eve"].marks
    assert "1 principal whose ACLs are all younger than 13 days is left out." in found.of(ORPHANED).sentence
    assert (
        sentences_of(found)[-1] == "Of 1 more, nobody can tell whether it is orphaned: the filter says why."
    )


def test_young_acls_keep_also_who_asked_long_ago_from_being_orphaned(given, settings):
    settings.ACLWEB_UNUSED_DAYS = 12
    fresh = given(requests=REQUESTS)
    anew = [*BINDINGS[:4], *BINDINGS[5:], allow("User:notes", "READ", "orders")]
    sync(fresh.cluster, client=FakeCluster(anew, topics=TOPICS))
    fresh.cluster.refresh_from_db()
    fresh.cluster.revision.read_at = fresh.last_at
    fresh.cluster.revision.save()

    found = listed_principals(fresh.cluster)

    assert by_name(found)["User:notes"].marks == ()
    assert "1 principal whose ACLs are all younger than 12 days is left out." in found.of(ORPHANED).sentence
    assert "left out" not in found.of(NEVER_SEEN).sentence


def test_who_may_stand_for_a_group_of_clients_is_not_called_orphaned(cluster, tmp_path):
    several = {"Group:readers", "User:team-*"}
    bindings = [*BINDINGS, *(allow(name, "READ", "orders") for name in several), allow("App:b", "READ", "x")]
    requests = [*REQUESTS, request("App:a", "READ", "orders", lines=2)]
    sync(cluster, client=FakeCluster(bindings, topics=TOPICS))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", bindings, requests=requests), cluster)
    said = "2 principals that may stand for groups of clients are left out"

    found = listed_principals(cluster)
    cluster.settings_read = {
        "authorizer_class": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "where": "broker 1",
    }
    cluster.save()
    known = listed_principals(cluster)

    for mark in (ORPHANED, NEVER_SEEN):
        of = {row.principal for row in found.rows if mark in row.marks}
        assert not several & of
        assert {"User:eve", "App:b"} <= of  # the log has clients of its type
        assert said in found.of(mark).sentence
        assert several <= {row.principal for row in known.rows if mark in row.marks}
        assert said not in known.of(mark).sentence


def test_everywhere_is_by_effect_and_not_by_the_text_of_an_acl(read_cluster):
    bindings = [
        allow("User:each", "WRITE", "orders"),
        allow("User:each", "ALL", "payments.", pattern="PREFIXED"),
        allow("User:star", "WRITE", "*"),
        deny("User:star", "WRITE", "orders"),
    ]
    sync(read_cluster, client=FakeCluster(bindings, topics=TOPICS))

    rows = by_name(listed_principals(read_cluster))

    assert rows["User:each"].marks == (WRITES_ALL,)
    assert rows["User:each"].reach == TopicReach(1, 2, 1)
    assert rows["User:star"].marks == ()
    assert rows["User:star"].reach == TopicReach(0, 1, 0)


@pytest.mark.parametrize(
    ("sort", "first", "last"),
    [
        ("-acls", "User:bob", "User:stranger"),
        ("-denials", "User:stranger", "User:ops"),
        ("last-seen", "User:notes", "User:ops"),
        ("-principal", "User:stranger", "User:CN=fraud,OU=risk"),
        ("-denies", "User:eve", "User:stranger"),
    ],
)
def test_any_column_sorts_and_who_was_never_seen_comes_last(given, sort, first, last):
    fresh = given(requests=REQUESTS)

    names = [row.principal for row in listed_principals(fresh.cluster, PrincipalFilters(sort=sort)).rows]

    assert (names[0], names[-1]) == (first, last)


def test_marks_are_counted_among_the_names_with_the_text(given):
    fresh = given(requests=REQUESTS)

    found = listed_principals(fresh.cluster, PrincipalFilters(text="STRANG", mark=DENIED))

    assert [row.principal for row in found.rows] == ["User:stranger"]
    assert found.of(DENIED).count == found.count == 1


def test_marks_are_worked_out_once_and_a_page_makes_its_own_rows_alone(given, monkeypatch):
    fresh = given(requests=REQUESTS)
    prepare(in_force(fresh.cluster))
    marked, made = [], []
    marking, row = principals._Facts._marking, principals._Facts._row
    monkeypatch.setattr(principals._Facts, "_marking", lambda *of: marked.append(1) or marking(*of))
    monkeypatch.setattr(principals._Facts, "_row", lambda *of: made.append(of[1]) or row(*of))

    for filters in (PrincipalFilters(), PrincipalFilters(sort="-acls"), PrincipalFilters(mark=DENIED)):
        found = listed_principals(fresh.cluster, filters)
        assert [each.principal for each in found.rows[:2]] == made
        assert found.rows[1] == list(found.rows)[1]
        made.clear()
    assert marked == []

    anew = given(requests=REQUESTS[:2])
    rows = by_name(listed_principals(anew.cluster))
    assert "User:stranger" not in rows
    assert len(marked) == len(rows)


def test_a_page_asks_the_log_for_its_own_principals(given):
    fresh = given(requests=REQUESTS)
    every = logged_principals(fresh)

    assert logged_principals(fresh, ["User:bob", "User:eve"]) == {"User:bob": every["User:bob"]}
    assert logged_principals(fresh, ["User:eve"]) == {}
    LoggedPrincipal.objects.all().delete()
    assert logged_principals(fresh, ["User:bob"])["User:bob"] == every["User:bob"]


@pytest.mark.parametrize("wrong", [{"mark": "idle"}, {"sort": "size"}])
def test_a_word_that_is_no_filter_is_refused(wrong):
    with pytest.raises(AclError, match="use one of"):
        PrincipalFilters(**wrong)
