"""An answer about very many ACLs is cut, says how long each list is, and keeps what gave the decision."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from aclweb.api import comparing
from aclweb.api.size import MOST_BYTES_OF_AN_ANSWER
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

MANY = 2_500
OWN = allow("User:bob", "READ", "zebra")
OF_OTHERS = [*(allow(f"User:service-{n}", "READ", f"orders.{n}") for n in range(MANY)), OWN]
OF_ONE = [allow("User:bob", "READ", f"orders.{n}") for n in range(MANY)]
OF_HOSTS = [
    allow("User:bob", "READ", "orders", host=f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}") for n in range(MANY)
]
FOR_ALL_NAMES = [allow(f"User:service-{n}", "READ", "*") for n in range(MANY)]
DENIES = [deny("User:bob", "READ", f"orders.{n}") for n in range(MANY)]


@pytest.fixture
def ask(cluster, cho):
    """Store ACLs and return a function that asks POST decide about bob; the answer as bytes."""

    def asked(acls: list[Any], *, name: str | None = None, host: str = "10.0.0.7") -> bytes:
        with FakeCluster(bindings=acls, topics=["orders"]) as fake:
            sync(cluster, client=fake)
        program = APIClient()
        program.force_authenticate(cho)
        question = {"principal": "User:bob", "host": host, "operation": "READ", "resource_type": "TOPIC"}
        question |= {} if name is None else {"resource_name": name}
        answer = program.post(f"/api/v1/clusters/{cluster.slug}/decide/", question, format="json")
        assert answer.status_code == 200
        return answer.content

    return asked


def test_any_topic_among_the_acls_of_others_is_answered_in_little(ask):
    content = ask(OF_OTHERS)
    answer = json.loads(content)

    assert len(content) < 300_000
    assert answer["determining"] == answer["smallest_removals"] == [OWN.as_dict()]
    assert answer["counts"]["affecting"] == MANY + 1 > len(answer["affecting"]) > 500
    assert answer["is_complete"] is False


@pytest.mark.parametrize("acls", [OF_ONE, DENIES], ids=["allowed", "refused"])
def test_every_acl_that_gave_the_decision_is_named(ask, acls):
    content = ask(acls, host="*")
    answer = json.loads(content)

    assert len(content) < MOST_BYTES_OF_AN_ANSWER
    assert len(answer["determining"]) == answer["counts"]["determining"] == MANY
    assert len(answer["would_also_decide"]) < answer["counts"]["would_also_decide"] == MANY - 1
    assert [part["determining_total"] for part in answer["any_host"]["parts"]] == [MANY]
    # A part of the removals would leave the access as it is.
    assert answer["smallest_removals"] == []
    assert answer["fix_after_removals"] is None
    assert answer["counts"]["smallest_removals"] == (MANY if acls is OF_ONE else 0)


@pytest.mark.parametrize("acls, host", [(OF_HOSTS, "*"), (OF_HOSTS, "10.0.0.7"), (FOR_ALL_NAMES, "*")])
def test_one_topic_that_very_many_acls_match_is_answered_in_little(ask, acls, host):
    content = ask(acls, name="orders", host=host)
    answer = json.loads(content)

    assert len(content) < 1_000_000
    assert answer["counts"]["affecting"] == MANY
    assert answer["is_complete"] is False
    if acls is OF_HOSTS and host == "*":
        assert answer["counts"]["any_host.parts"] == MANY + 1 > len(answer["any_host"]["parts"]) > 500
        assert answer["any_host"]["result"] == "DEPENDS"


def test_a_short_answer_is_whole_and_says_so(ask):
    answer = json.loads(ask(OF_OTHERS[-3:], host="*"))

    assert answer["is_complete"] is True
    for name, count in answer["counts"].items():
        if name != "any_host.parts":
            assert len(answer[name]) == count, name
    assert answer["counts"]["any_host.parts"] == len(answer["any_host"]["parts"]) == 1


def test_the_acls_that_match_a_resource_are_counted_where_they_are_too_many(ask, cluster, cho, monkeypatch):
    ask(FOR_ALL_NAMES)
    program = APIClient()
    program.force_authenticate(cho)
    address = f"/api/v1/clusters/{cluster.slug}/affecting/?resource=TOPIC:orders"

    whole = program.get(address).json()
    monkeypatch.setattr("aclweb.api.views.MOST_BYTES", 10_000)
    cut = program.get(address)

    assert (whole["total"], whole["is_complete"], len(whole["acls"])) == (MANY, True, MANY)
    assert len(cut.content) < 11_000
    found = cut.json()
    assert (found["total"], found["is_complete"]) == (MANY, False)
    assert found["acls"] == whole["acls"][: len(found["acls"])] != []


@pytest.mark.parametrize("acls, kind", [(OF_OTHERS, "ANY_TOPIC"), (OF_ONE, "ANY_TOPIC"), (OF_HOSTS, "TOPIC")])
def test_the_page_of_the_same_question_is_short_too(ask, cluster, cho, acls, kind):
    ask(acls)
    browser = Client()
    browser.force_login(cho)

    for host in ("", "10.0.0.7"):
        question = {"principal": "User:bob", "operation": "READ", "type": kind, "host": host}
        page = browser.get(reverse("explain", args=[cluster.slug]), {**question, "name": "orders"})
        assert page.status_code == 200
        assert len(page.content) < 500_000


# --- Pages of findings and of differences ---

NESTED = [allow("User:bob", "READ", "o" * n, pattern="PREFIXED") for n in range(1, 121)]
SHARED_HOSTS = OF_HOSTS[:200]


@pytest.fixture
def program(cho):
    """Return a program that asks as cho."""
    program = APIClient()
    program.force_authenticate(cho)
    return program


@pytest.fixture
def cut(monkeypatch):
    """Return a function that makes answers to at most 60 kB, as if there were seventy times as many ACLs."""
    return lambda: monkeypatch.setattr("aclweb.api.size.MOST_BYTES", 60_000)


def test_a_finding_counts_the_acls_that_its_list_leaves_out(cluster, program, cut):
    with FakeCluster(bindings=SHARED_HOSTS, topics=["orders"]) as fake:
        sync(cluster, client=fake)
    address = f"/api/v1/clusters/{cluster.slug}/findings/?show=proposals"
    whole = program.get(address).json()

    cut()
    content = program.get(address).content

    assert whole["is_complete"] is True
    assert sum(len(found["by"]) for found in whole["findings"]) >= len(SHARED_HOSTS)
    assert all(len(found["by"]) == found["by_total"] for found in whole["findings"])
    answer = json.loads(content)
    assert len(content) < 65_000
    assert (answer["is_complete"], answer["total"]) == (False, whole["total"])
    assert sum(len(found["by"]) for found in answer["findings"]) < len(SHARED_HOSTS)
    for found, full in zip(answer["findings"], whole["findings"], strict=True):
        assert found["by_total"] == full["by_total"]
        assert found["by"] == full["by"][: len(found["by"])] != []


def test_a_comparison_counts_the_acls_that_its_groups_leave_out(cluster, program, monkeypatch):
    for acls in ([OWN], [OWN, *NESTED]):
        with FakeCluster(bindings=acls, topics=["o" * 130]) as fake:
            sync(cluster, client=fake)
    address = f"/api/v1/clusters/{cluster.slug}/compare/?as_of=1"
    whole = program.get(f"{address}&size=200").json()
    monkeypatch.setattr("aclweb.api.impacts.MOST_BYTES", 30_000)

    cut, pages, key = [], 0, ""
    while key is not None:
        content = program.get(f"{address}&after={key}").content
        page = json.loads(content)
        cut, pages, key = [*cut, *page["groups"]], pages + 1, page["next"]
        assert len(content) < 35_000
        assert page["counts"] == whole["counts"]
        if any("determining_total" in group["after"] for group in page["groups"]):
            assert page["is_complete"] is False
            assert len(page["groups"]) == 1

    assert whole["is_complete"] is True
    assert max(len(group["after"]["determining"]) for group in whole["groups"]) == len(NESTED)
    assert not any("determining_total" in group["after"] for group in whole["groups"])
    assert 1 < pages < len(whole["groups"])
    assert any("determining_total" in group["after"] for group in cut)
    for group, full in zip(cut, whole["groups"], strict=True):
        kept, all_of_it = group["after"]["determining"], full["after"]["determining"]
        assert kept == all_of_it[: len(kept)] != []
        assert group["after"].get("determining_total", len(kept)) == len(all_of_it)
        assert {**group, "after": None} == {**full, "after": None}


def test_a_comparison_counts_the_super_users_that_it_leaves_out(cluster, program, cut, monkeypatch):
    with FakeCluster(bindings=[OWN], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    found = comparing.compare
    many = frozenset(f"User:admin-{n}" for n in range(20_000))
    monkeypatch.setattr(comparing, "compare", lambda *sides: replace(found(*sides), left_out=many))

    answer = program.get(f"/api/v1/clusters/{cluster.slug}/compare/").json()

    assert answer["counts"]["left_out"] == len(many) > len(answer["left_out"]) > 1_000
    assert answer["left_out"] == sorted(many)[: len(answer["left_out"])]
    assert answer["is_complete"] is False
