"""Are many causes, and their kinds, those that each decision shows?"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.causes import ANONYMOUS, CauseKinds, likely_cause
from tests.random_cases import random_request, random_world, with_unknowns

STRANGERS = ("User:A", "User:B ", "User: a", "User:zoe", ANONYMOUS)


@pytest.mark.parametrize("seed", range(8))
def test_many_causes_and_their_kinds_are_those_of_each_decision(seed):
    chance = random.Random(seed)
    found = Counter()
    for _ in range(60):
        known = random_world(chance, authorizer=chance.choice((None, None, "glob")))
        world = with_unknowns(chance, known) if chance.random() < 0.2 else known
        index = AclIndex(world.bindings)
        kinds = CauseKinds(index, world.settings)
        for _ in range(10):
            request = random_request(chance, known)
            if chance.random() < 0.4:
                request = replace(request, principal=chance.choice(STRANGERS))

            cause = likely_cause(authorize(request, index, world.settings), index)

            assert kinds.of(request) == cause.kind, request
            assert kinds.cause(request) == cause, request
            found[cause.kind] += 1

    assert len(found) >= 7, found
