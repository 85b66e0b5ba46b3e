"""What of the log belongs to a group of an impact: each request counts for the group in which its answer turns."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime, timedelta

import pytest

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import AccessRequest, AuthorizerSettings, Delta, Operation, ResourceType
from aclweb.acl.simulate import Names, packed, simulate, trimmed, unpacked
from aclweb.insights import seen_in_groups as seen_in_groups_module
from aclweb.insights.load import load
from aclweb.insights.seen_in_groups import seen_in_groups
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import LAST, request, write_result

BINDINGS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:eve", "READ", "orders.eu"),
    allow("User:eve", "WRITE", "stock", host="10.0.0.9"),
    allow("User:*", "DESCRIBE", "stock"),
    deny("User:dan", "READ", "orders.us"),
]
TOPICS = ("orders.eu", "orders.us", "orders.old", "stock", "payments")
NAMES = (*TOPICS, "orders.new", "orders.eu.sub", "other")
PRINCIPALS = ("User:bob", "User:eve", "User:dan", "User:nobody")
HOSTS = ("10.0.0.9", "10.0.0.7", "10.1.2.3")
READS_RANGES = AuthorizerSettings(kafka_version="4.4")

EDITS = [
    Delta(remove=(BINDINGS[0],)),
    Delta(add=(allow("User:*", "READ", "orders.", pattern="PREFIXED"),)),
    Delta(add=(deny("User:bob", "READ", "orders.eu"), allow("User:dan", "READ", "*")), remove=(BINDINGS[4],)),
    Delta(add=(allow("User:dan", "WRITE", "stock"),), remove=(BINDINGS[2],)),
    Delta(add=(deny("User:*", "ALL", "*", host="10.0.0.7"),)),
]


@pytest.fixture
def synced(cluster):
    with FakeCluster(BINDINGS, topics=TOPICS) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    return cluster


def logged(seed: int) -> list[dict]:
    """Some of all requests, each with its own number of lines and time."""
    rng = random.Random(seed)
    found = []
    for principal in PRINCIPALS:
        for name in NAMES:
            for operation in ("READ", "WRITE", "DESCRIBE"):
                for host in HOSTS:
                    if rng.random() < 0.6:
                        facts = {"allowed": rng.random() < 0.5, "lines": rng.randint(1, 99), "host": host}
                        at = LAST - timedelta(minutes=rng.randint(1, 9_999))
                        found.append(request(principal, operation, name, last_at=at, first_at=at, **facts))
    return found


def turned(requests: list[dict], edit: Delta):
    """Return, by the change of its answer, the last permitted request and the denials: slow and easy to believe."""
    before, after = AclIndex(BINDINGS), AclIndex(edit.applied_to(BINDINGS))
    last: dict[str, datetime] = {}
    denied: dict[str, int] = defaultdict(int)
    for row in requests:
        asked = AccessRequest(
            row["principal"],
            row["host"],
            Operation[row["operation"]],
            ResourceType.TOPIC,
            row["resource_name"],
        )
        first, then = (decide(asked, index, AuthorizerSettings())[0] for index in (before, after))
        change = {
            (Result.ALLOWED, Result.DENIED): "loses",
            (Result.DENIED, Result.ALLOWED): "gains",
        }.get((first, then))
        if change and row["allowed"]:
            at = row["last_at"].replace(tzinfo=None)
            last[change] = max(last.get(change, at), at)
        elif change:
            denied[change] += row["lines"]
    return last, dict(denied)


@pytest.mark.half
@pytest.mark.parametrize(
    "keeps", [lambda found: found, trimmed, lambda found: unpacked(packed(trimmed(found)))]
)
@pytest.mark.parametrize("number", range(len(EDITS)))
def test_each_request_counts_for_the_group_in_which_its_answer_turns(synced, tmp_path, number, keeps):
    edit, requests = EDITS[number], logged(number)
    stored = load(write_result(tmp_path / "usage", BINDINGS, requests=requests), synced)
    impact = keeps(
        simulate(edit, AclIndex(BINDINGS), Names(topics=TOPICS), merge_equal_hosts=True, met_only=True)
    )

    found = seen_in_groups(stored, impact, impact.groups)

    last: dict[str, datetime] = {}
    denied: dict[str, int] = defaultdict(int)
    for group, seen in zip(impact.groups, found, strict=True):
        assert seen.is_whole
        if group.change not in ("loses", "gains"):
            continue
        denied[group.change] += seen.denied
        if seen.last_permitted is not None:
            at = seen.last_permitted.replace(tzinfo=None)
            last[group.change] = max(last.get(group.change, at), at)
    wanted = turned(requests, edit)
    assert (last, {change: lines for change, lines in denied.items() if lines}) == wanted
    assert wanted[0]
    assert wanted[1]


@pytest.mark.parametrize("number", [0, 2])
def test_groups_that_share_a_condition_are_told_the_same(synced, tmp_path, number, monkeypatch):
    stored = load(write_result(tmp_path / "usage", BINDINGS, requests=logged(number)), synced)
    impact = simulate(EDITS[number], AclIndex(BINDINGS), Names(topics=TOPICS))
    one_each = seen_in_groups(stored, impact, impact.groups)
    merged = seen_in_groups_module._merged(map(seen_in_groups_module._Part.of, impact.groups))
    assert len(merged) < len(impact.groups)

    for most in (len(merged), 0):  # a condition a type and principals, and a condition a type
        monkeypatch.setattr(seen_in_groups_module, "_MOST_CONDITIONS", most)
        assert seen_in_groups(stored, impact, impact.groups) == one_each
    # Neither principals nor names are few enough to be looked up.
    monkeypatch.setattr(seen_in_groups_module, "_MOST_CONDITIONS", 100)
    monkeypatch.setattr(seen_in_groups_module, "_MOST_KEYS_OF_ALL", 0)
    assert seen_in_groups(stored, impact, impact.groups) == one_each


def test_one_query_answers_for_all_groups(synced, tmp_path, django_assert_num_queries):
    stored = load(write_result(tmp_path / "usage", BINDINGS, requests=logged(1)), synced)
    impact = simulate(EDITS[2], AclIndex(BINDINGS), Names(topics=TOPICS))

    with django_assert_num_queries(1):
        seen_in_groups(stored, impact, impact.groups)
    with django_assert_num_queries(0):
        assert seen_in_groups(stored, impact, ()) == []


def test_an_address_of_a_range_counts_for_it_and_is_unsure_where_the_axis_was_cut(synced, tmp_path):
    edit = Delta(add=(allow("User:eve", "WRITE", "stock", host="10.0.0.0/8"),))
    requests = [
        request("User:eve", "WRITE", "stock", host="10.9.9.9", lines=5),
        request("User:eve", "WRITE", "stock", host="10.0.0.9", lines=6),
        request("User:eve", "WRITE", "stock", host="192.0.2.1", lines=7),
    ]
    stored = load(write_result(tmp_path / "usage", BINDINGS, requests=requests), synced)
    impact = simulate(edit, AclIndex(BINDINGS), Names(topics=TOPICS), READS_RANGES, met_only=True)

    whole = seen_in_groups(stored, impact, impact.groups)
    assert [(seen.denied, seen.is_whole) for seen in whole] == [(5, True)]

    # 10.0.0.9, which may write already, is no class of its own here: it may be in the range for all that is known.
    cut = trimmed(impact)
    assert [(seen.denied, seen.is_whole) for seen in seen_in_groups(stored, cut, cut.groups)] == [(0, False)]


def test_what_is_beyond_the_limit_leaves_the_numbers_at_least(synced, tmp_path, monkeypatch):
    monkeypatch.setattr("aclweb.insights.seen_in_groups.MOST_REQUESTS", 3)
    stored = load(write_result(tmp_path / "usage", BINDINGS, requests=logged(0)), synced)
    impact = simulate(EDITS[0], AclIndex(BINDINGS), Names(topics=TOPICS))

    found = seen_in_groups(stored, impact, impact.groups)

    assert found
    assert not any(seen.is_whole for seen in found)
