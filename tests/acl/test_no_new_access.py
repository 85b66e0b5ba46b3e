"""An edit that is said to give nobody anything new gives nobody anything new.

The what-if asks once for each class of names, principals and addresses; here the same is asked
of everything there is in small worlds: every name of up to three letters, one of which no ACL
has, every principal and every address, each operation.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.simulate import Effect, Names, simulate
from tests import reference
from tests.random_cases import SCALE, random_settings

LETTERS = {ResourceType.TOPIC: "ab", ResourceType.GROUP: "ab*", ResourceType.TRANSACTIONAL_ID: "a*"}
PRINCIPALS = ("User:a", "User:b", "Group:a")
HOSTS = ("10.0.0.7", "10.0.0.8")
CHUNKS = 4


def small_edit(seed: int) -> tuple[tuple[AclBinding, ...], Delta, AuthorizerSettings, ResourceType]:
    rng = random.Random(f"no new access {seed}")
    settings = random_settings(rng)
    kind = rng.choice(tuple(LETTERS))
    names = [name for length in (0, 1, 2) for name in map("".join, product(LETTERS[kind], repeat=length))]

    def some() -> AclBinding:
        pattern, name = PatternType.LITERAL, "*"
        if rng.random() < 0.8:
            pattern, name = rng.choice((PatternType.LITERAL, PatternType.PREFIXED)), rng.choice(names[1:])
        who, host = rng.choice(("User:a", "User:*", "User:*")), rng.choice(("*", "*", HOSTS[0]))
        operation = rng.choice(operations_of(kind, settings)[:3])
        return AclBinding(kind, name, pattern, who, host, operation, rng.choice(tuple(PermissionType)[2:]))

    bindings = tuple(dict.fromkeys(some() for _ in range(rng.randint(0, 5))))
    remove = tuple(binding for binding in bindings if rng.random() < 0.25)
    add = tuple(one for one in (some() for _ in range(rng.randint(0, 2))) if one not in bindings)
    return bindings, Delta(add, remove), settings, kind


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_new_access_means_that_of_all_questions_there_are_none_is_newly_allowed(chunk: int) -> None:
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(chunk * 40 * SCALE, (chunk + 1) * 40 * SCALE):
        bindings, delta, settings, kind = small_edit(seed)
        after = delta.applied_to(bindings)
        impact = simulate(delta, AclIndex(bindings), Names(), settings)
        assert not impact.depends

        letters = LETTERS[kind] + "z"
        lengths = range(kind is not ResourceType.GROUP, 4)
        names = [name for length in lengths for name in map("".join, product(letters, repeat=length))]
        operations = dict.fromkeys((*operations_of(kind, settings)[:4], Operation.DESCRIBE))
        gains = loses = False
        for name, principal, host, operation in product(names, PRINCIPALS, HOSTS, operations):
            request = AccessRequest(principal, host, operation, kind, name)
            was, comes = (reference.allows(request, world, settings) for world in (bindings, after))
            gains, loses = gains or comes > was, loses or was > comes
        assert (bool(impact.gains), bool(impact.loses)) == (gains, loses), f"seed {seed}: {delta}"
        verdicts[gains, loses] += 1
    assert min(verdicts[False, False], verdicts[True, False], verdicts[False, True]) >= 3, verdicts


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_an_edit_gives_its_inverse_takes(chunk: int) -> None:
    for seed in range(chunk * 40 * SCALE, (chunk + 1) * 40 * SCALE):
        bindings, delta, settings, _ = small_edit(seed)
        after = delta.applied_to(bindings)

        there = simulate(delta, AclIndex(bindings), Names(), settings)
        back = simulate(delta.inverse(), AclIndex(after), Names(), settings)

        assert set(delta.inverse().applied_to(after)) == set(bindings)
        assert {_cell(e) for e in there.gains} == {_cell(e) for e in back.loses}
        assert {_cell(e) for e in there.loses} == {_cell(e) for e in back.gains}
        assert there.unchanged == back.unchanged


def _cell(effect: Effect) -> tuple[object, ...]:
    principals = effect.principal, effect.except_principals, effect.host, effect.except_hosts
    return (*principals, effect.operation, effect.names_kind, effect.names_text)
