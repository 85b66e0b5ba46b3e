"""The ACLs beside an answer are the nearest ones on each page of them, and comparing them costs what they differ in."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer import AclIndex, authorize
from aclweb.acl.matching import Matching
from aclweb.web.ask.answering import answer
from tests.builders import allow, ask
from tests.inventory.test_access import view_of
from tests.random_cases import SCALE, random_request, random_world


def test_each_page_of_the_acls_that_match_has_the_nearest() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60 * SCALE):
        rng = random.Random(f"nearest {seed}")
        world = random_world(rng, authorizer=rng.choice(("standard", "acl")))
        request = random_request(rng, world, by_type=seed % 2 == 0)
        if seed % 3 == 0:
            request = replace(request, host="*")
        found = answer(request, view_of(world.bindings, world.settings))
        listed = found.matching()
        expected = [each.binding for each in sorted(found.decision.findings, key=found._nearest_first)]
        for start, stop in ((0, 1), (0, 3), (1, 4), (2, 9), (0, len(expected))):
            assert [each.binding for each in listed[start:stop]] == expected[start:stop], seed
        own = sum("principal" not in each.why_not for each in found.decision.findings)
        seen["some are for others" if own < len(expected) else "all are its own"] += 1
    assert min(seen.values()) > 10, seen


@pytest.mark.parametrize("name", ["t", None])
def test_many_acls_on_a_name_are_compared_by_their_principals_and_hosts(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = AclIndex(
        allow(f"User:p{number % 20}", operation, "t", host=f"10.0.0.{number}")
        for number in range(200)
        for operation in ("READ", "WRITE", "DESCRIBE", "ALTER", "DELETE")
    )
    compared: Counter[str] = Counter()
    is_for, comes_from = Matching.is_for, Matching.comes_from
    monkeypatch.setattr(
        Matching,
        "is_for",
        lambda self, own, asked: compared.update(["principals"]) or is_for(self, own, asked),
    )
    monkeypatch.setattr(
        Matching,
        "comes_from",
        lambda self, own, asked: compared.update(["hosts"]) or comes_from(self, own, asked),
    )

    decision = authorize(ask("User:p7", "READ", name, host="10.0.0.7"), index)
    settled, before = decision.determining, compared.total()

    assert decision.allowed
    assert len(decision.findings) == 1_000
    # Once for each principal and host, and once for the answer.
    assert compared["principals"] <= 20 + 1_000
    assert compared["hosts"] <= 200 + 50
    assert decision.determining is settled
    assert compared.total() == before
