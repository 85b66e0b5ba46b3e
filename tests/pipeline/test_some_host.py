"""Is a right allowed from some address wherever the slow way, which divides all addresses, says so?"""

from __future__ import annotations

import random

import pytest

from aclweb.acl.authorizer import AclIndex, HostResult, decide_for_any_host
from aclweb.pipeline.batch import Requests
from aclweb.pipeline.some_host import SomeHost
from tests.random_cases import SCALE, random_request, random_world, with_unknowns

CASES, ASKED = 40 * SCALE, 12


@pytest.mark.parametrize("authorizer", ["standard", "acl", "glob"])
def test_a_right_is_allowed_from_some_address_where_dividing_all_of_them_says_so(authorizer):
    rng = random.Random(f"some host {authorizer}")
    answers, fast = [], 0
    for number in range(CASES):
        world = random_world(rng, authorizer=authorizer)
        requests = [random_request(rng, world) for _ in range(ASKED)]
        if number % 4 == 0:
            world = with_unknowns(rng, world)
        index, side = AclIndex(world.bindings), SomeHost(world.bindings, world.settings)

        found = side.allows(Requests.of(requests))

        slow = [decide_for_any_host(request, index, world.settings).result for request in requests]
        assert found == [each in (HostResult.ALLOWED, HostResult.DEPENDS) for each in slow]
        named = {binding.principal for binding in world.bindings if binding.host != "*"}
        fast += sum(request.principal not in named and "User:*" not in named for request in requests)
        answers += found
    assert len(answers) / 5 < sum(answers) < len(answers) * 4 / 5, "both answers are frequent"
    assert fast
