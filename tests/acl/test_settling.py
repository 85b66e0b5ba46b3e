"""What settles a request is looked up as the findings of a decision tell it."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from aclweb.acl.authorizer.answers import Basis
from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.needed import one_of
from aclweb.acl.logged.settling import Settling
from aclweb.acl.model.authorizers import AuthorizerSettings
from tests.builders import allow, ask
from tests.random_cases import SCALE, crowded_case, random_case, random_request, with_unknowns


@pytest.mark.parametrize("chunk", range(3))
def test_what_settles_many_requests_is_what_the_findings_of_each_tell(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 80 * SCALE, (chunk + 1) * 80 * SCALE):
        rng = random.Random(seed)
        world, _ = (random_case if seed % 2 else crowded_case)(seed)
        asked = [random_request(rng, world, by_type=False) for _ in range(20)]
        if seed % 7 == 0:
            world = with_unknowns(rng, world)
        index = AclIndex(world.bindings)
        settling = Settling(index, world.settings)
        for request in asked:
            decision = authorize(request, index, world.settings)
            is_settled = decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL)

            determining, needed = settling.of(request, decision.basis)

            assert set(determining) == set(decision.determining if is_settled else ()), seed
            assert set(needed) == set(one_of(decision)), seed
            assert len({*determining}) == len(determining)
            seen[f"{decision.basis.name} {world.settings.allow_everyone} {bool(needed)}"] += 1
    assert {
        f"{basis} {everyone} {needed}"
        for basis, everyone, needed in (
            ("ALLOW_ACL", False, True),
            ("ALLOW_ACL", True, True),
            ("ALLOW_ACL", True, False),
            ("DENY_ACL", False, True),
            ("DENY_ACL", False, False),
            ("DENY_ACL", True, False),
            ("NO_ALLOW_ACL", False, False),
            ("NO_ALLOW_ACL", True, True),
        )
    } <= set(seen), seen


def test_a_question_about_a_whole_type_is_refused_and_not_answered_wrongly():
    index = AclIndex([allow("User:a", "READ", "t")])

    with pytest.raises(ValueError, match="authorize"):
        Settling(index, AuthorizerSettings()).of(ask("User:a", "READ", None), Basis.ALLOW_ACL)
