"""A program that asks for what is too much to wait for gets an address, and there the same answer as a small one."""

from __future__ import annotations

import json

import pytest
from rest_framework.test import APIClient

from aclweb.acl.simulate.budget import Budget
from aclweb.changes import asking, comparison, computing, impact, kept, tasks
from aclweb.changes.models import Computation
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

pytestmark = pytest.mark.django_db

TOPICS = [TopicInfo(f"orders.{number}") for number in range(12)]
HELD = [allow(f"User:u{number}", "READ", f"orders.{number}") for number in range(12)]
WIDE = {"add": [deny(f"User:u{number}", "ALL", "*").as_dict() for number in range(12)]}
LARGE, SMALL = Budget(steps=10**6, differences=10**6), Budget(steps=20, differences=1_000)
WHAT_IF, COMPARE = "/api/v1/clusters/test-eu/what-if/", "/api/v1/clusters/test-eu/compare/?as_of=1"


@pytest.fixture
def limited(monkeypatch):
    """Return a function that gives pages another budget, as in a new process."""

    def limited(budget):
        kept.forget()
        monkeypatch.setattr(impact, "BUDGET", budget)
        monkeypatch.setattr(comparison, "BUDGET", budget)

    monkeypatch.setattr(tasks, "enqueue_computing", lambda: None)
    limited(SMALL)
    return limited


@pytest.fixture
def program(cluster, cho, limited) -> APIClient:
    sync(cluster, client=Answers(HELD, topics=TOPICS))
    sync(cluster, client=Answers(HELD[6:], topics=TOPICS))
    client = APIClient()
    client.force_authenticate(cho)
    return client


def test_a_what_if_too_much_to_wait_for_is_answered_at_an_address(program, limited):
    handed = program.post(WHAT_IF, WIDE, format="json")
    waiting = program.get(handed.json()["url"]).json()
    computing.run_next("worker")
    done = program.get(handed.json()["url"], {"size": 2}).json()
    Computation.objects.all().delete()
    limited(LARGE)
    directly = program.post(f"{WHAT_IF}?size=2", WIDE, format="json")

    assert (handed.status_code, handed["Location"]) == (202, handed.json()["url"])
    assert (waiting["state"], waiting["impact"]) == ("QUEUED", None)
    assert waiting["sentences"] == ["It waits for a worker."]
    assert done["state"] == "DONE"
    assert directly.status_code == 200
    assert done["impact"] == directly.json()
    assert done["impact"]["next"] is not None


def test_its_pages_and_its_cells_are_those_of_the_what_if(program, limited):
    url = program.post(WHAT_IF, WIDE, format="json").json()["url"]
    computing.run_next("worker")
    first = program.get(url, {"size": 2}).json()["impact"]
    second = program.get(url, {"size": 2, "after": first["next"]}).json()["impact"]
    cells = json.loads(program.get(url, {"cells": "true"}).getvalue())["impact"]
    Computation.objects.all().delete()
    limited(LARGE)

    assert second == program.post(f"{WHAT_IF}?size=2&after={first['next']}", WIDE, format="json").json()
    assert cells == json.loads(program.post(f"{WHAT_IF}?cells=true", WIDE, format="json").getvalue())
    assert len(cells["loses"]) == first["counts"]["loses"] > 0


def test_a_what_if_that_a_worker_has_computed_is_answered_at_once(program):
    program.post(WHAT_IF, WIDE, format="json")
    computing.run_next("worker")

    assert program.post(WHAT_IF, WIDE, format="json").status_code == 200


def test_a_comparison_too_much_to_wait_for_is_handed_to_a_worker_by_post(program, limited):
    refused = program.get(COMPARE)
    handed = program.post(COMPARE)
    computing.run_next("worker")
    done = program.get(handed.json()["url"]).json()
    at_once = program.get(COMPARE)
    Computation.objects.all().delete()
    limited(LARGE)
    directly = program.get(COMPARE).json()

    assert refused.status_code == 422
    assert "POST to the same address" in refused.json()["detail"]
    assert (handed.status_code, handed.json()["kind"]) == (202, "comparison")
    assert at_once.json() == directly
    same = ("groups", "unchanged", "warnings", "left", "right", "left_out", "is_complete")
    assert {name: done["impact"][name] for name in same} == {name: directly[name] for name in same}


def test_what_is_too_much_for_a_worker_is_refused_with_the_acl(program, monkeypatch):
    program.post(WHAT_IF, WIDE, format="json")
    monkeypatch.setattr(computing, "BUDGET", Budget(steps=21, differences=1_000, whose="a worker"))
    computing.run_next("worker")

    answer = program.post(WHAT_IF, WIDE, format="json")

    assert answer.status_code == 400
    assert "a worker takes about 21 steps. The ACL that costs most is" in answer.json()[0]


def test_one_too_many_is_refused_and_said(program, monkeypatch):
    monkeypatch.setattr(asking, "MOST_OPEN", 0)

    answer = program.post(WHAT_IF, WIDE, format="json")

    assert answer.status_code == 429
    assert "computations that are not done" in answer.json()["detail"]


def test_a_program_cancels_what_it_asked_for(program):
    url = program.post(WHAT_IF, WIDE, format="json").json()["url"]

    ended, again = program.delete(url), program.delete(url)

    assert (ended.status_code, again.status_code) == (204, 400)
    assert program.get(url).json()["state"] == "CANCELLED"


def test_who_may_not_see_the_cluster_finds_no_computation(program, eve):
    url = program.post(WHAT_IF, WIDE, format="json").json()["url"]
    program.force_authenticate(eve)

    assert {program.get(url).status_code, program.delete(url).status_code} == {404}
