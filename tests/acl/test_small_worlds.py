"""Every world of two ACLs and one edit over a small alphabet: groups say exactly what deciding twice does.

The normal run tries worlds at random, by a seed that is written here. With ACLWEB_TEST_SCALE=full it tries
all 788,272 of the small alphabets, and more of the large one, which has 100 million for each type of resource.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

import pytest

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.simulate import Impact, simulate
from tests.acl.small_worlds import (
    ADA,
    EVERYBODY,
    HOST,
    HOSTS,
    LITERAL,
    PREFIXED,
    PRINCIPALS,
    SETTINGS,
    Alphabet,
    Judge,
    SmallWorld,
)
from tests.acl.test_groups import (
    LISTS,
    assert_groups_are_disjoint_and_none_can_be_joined,
    compared,
    former_names,
)
from tests.cell_by_cell.simulation import simulate as cell_by_cell
from tests.random_cases import SCALE

FULL = SCALE > 1
TRIED = 20
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
ALL, READ, WRITE, DESCRIBE = Operation.ALL, Operation.READ, Operation.WRITE, Operation.DESCRIBE
PATTERNS = [(kind, name) for name in ("", "a", "ab", "*") for kind in (LITERAL, PREFIXED)]
ANY = "*"

# All worlds of these are tried at full scale.
NAMES = {
    f"patterns of {kind.name}": Alphabet(
        f"patterns of {kind.name}", kind, PATTERNS, (ADA, EVERYBODY), (ANY,), (READ,)
    )
    for kind in (TOPIC, GROUP)
}
CALLERS = Alphabet(
    "callers of TOPIC", TOPIC, ((PREFIXED, "a"),), (ADA, EVERYBODY), (ANY, HOST), (READ, WRITE, ALL, DESCRIBE)
)
BOTH = Alphabet(
    "patterns and callers of TOPIC",
    TOPIC,
    ((LITERAL, "*"), (PREFIXED, "ab")),
    (ADA, EVERYBODY),
    (ANY, HOST),
    (READ, ALL),
)
WHOLE = {alphabet.title: alphabet for alphabet in (*NAMES.values(), CALLERS, BOTH)}

# Of these only some.
LARGE = {
    kind.name: Alphabet(
        f"all of {kind.name}", kind, PATTERNS, (ADA, EVERYBODY), (ANY, HOST), (READ, WRITE, ALL, DESCRIBE)
    )
    for kind in (TOPIC, GROUP)
}

Becomes = tuple[Any, ...]


def test_the_worlds_of_an_alphabet_are_counted_before_they_are_made() -> None:
    alphabet = NAMES["patterns of GROUP"]
    worlds = {
        world
        for settings in SETTINGS
        for first in range(-1, len(alphabet.acls))
        for world in alphabet.worlds(settings, first)
    }
    assert len(worlds) == alphabet.count == 197_068
    assert sum(each.count for each in WHOLE.values()) == 788_272
    assert {each.count for each in LARGE.values()} == {100_666_892}


def checked(judge: Judge, world: SmallWorld) -> Impact:
    """Compare the impact of a world with deciding twice, and with the engine of cells."""
    alphabet = judge.alphabet
    delta, index = alphabet.delta(world), alphabet.index(world.before)
    names = alphabet.names
    found = simulate(delta, index, names, world.settings, world.after_settings, merge_equal_hosts=True)
    expected = cell_by_cell(
        delta, index, former_names(names), world.settings, world.after_settings, merge_equal_hosts=True
    )
    classes = judge.classes(world)
    becomes = of_groups(judge, world, found)
    assert becomes == of_parts(judge, expected.places, classes)
    assert found.unchanged == expected.unchanged
    met = reduce(or_, classes.values()) & judge.operations_asked(world)
    decided = judge.expected(world)
    for change in LISTS:
        own = reduce(or_, (cells for key, cells in becomes.items() if key[0] == change), 0)
        assert own == decided[change] & met, change
    assert_sides_are_those_decided(judge, world, becomes)
    assert_groups_are_disjoint_and_none_can_be_joined(found)
    return found


def of_groups(judge: Judge, world: SmallWorld, impact: Impact) -> dict[Becomes, int]:
    """Return the cells of each outcome, which the groups say once."""
    found: dict[Becomes, int] = {}
    taken = 0
    classes = judge.classes(world)
    # Where settings change, so do answers of other types: the other test looks at those.
    for group in (group for group in impact.groups if group.resource_type is judge.alphabet.resource_type):
        axis = impact.axes.names[group.resource_type]
        cells = reduce(or_, (classes[own] for own in axis.classes(group.names)))
        cells &= judge.cells_of(
            members(impact.axes.principals, group.principals, PRINCIPALS),
            members(impact.axes.hosts, group.hosts, HOSTS),
            group.operations,
        )
        assert cells
        assert not cells & taken, "two groups say what becomes of one cell"
        taken |= cells
        key = outcome(group.change, group)
        found[key] = found.get(key, 0) | cells
    return found


def members(axis: Any, some: int, everything: tuple[str, str]) -> tuple[str, ...]:
    """Return which of the two texts are in a set: the one that ACLs may name, and the one that none names."""
    own = axis.others if not axis.texts else 1
    return tuple(text for text, bit in zip(everything, (own, axis.others), strict=True) if some & bit)


def outcome(change: str, of: Any) -> Becomes:
    sides = [side and (side.result, side.basis, side.determining) for side in (of.before, of.after)]
    return (change, *sides, of.reason is not None)


def of_parts(judge: Judge, places: Iterable[Any], classes: Any) -> dict[Becomes, int]:
    """Return the cells of each outcome, as the engine of cells finds it."""
    found: dict[Becomes, int] = {}
    for spot, parts in places:
        if spot.resource_type is not judge.alphabet.resource_type:
            continue
        for part in parts:
            principals = [
                who
                for who in PRINCIPALS
                if part.principal in ("*", who) and who not in part.except_principals
            ]
            hosts = [host for host in HOSTS if part.host in ("*", host) and host not in part.except_hosts]
            cells = classes[spot.kind, spot.text] & judge.cells_of(
                tuple(principals), tuple(hosts), (part.operation,)
            )
            key = outcome(part.outcome.change, part.outcome)
            assert not found.get(key, 0) & cells
            found[key] = found.get(key, 0) | cells
    return found


def assert_sides_are_those_decided(judge: Judge, world: SmallWorld, becomes: dict[Becomes, int]) -> None:
    """Compare result, basis and determining ACLs of each outcome with what `decide` and the reference say."""
    for (_, *sides, _), cells in becomes.items():
        for side, acls, settings in zip(
            sides, (world.before, world.after), (world.settings, world.after_settings), strict=True
        ):
            result, basis, determining = side
            answers = judge.answers(acls, settings)
            assert cells & answers.by_basis[basis] == cells
            assert (cells & answers.allowed == cells) == (result is Result.ALLOWED)
            if basis is Basis.ALLOW_ACL or basis is Basis.DENY_ACL:
                assert determining
            for acl in acls:
                binding = judge.alphabet.acls[acl]
                matched = cells & judge.matching(acl, settings)
                if binding in determining:
                    assert matched == cells
                    assert binding.is_deny == (basis is Basis.DENY_ACL)
                elif basis is Basis.ALLOW_ACL:
                    assert not matched


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda each: f"{each.authorizer}-{each.allow_everyone}")
@pytest.mark.parametrize("title", WHOLE)
def test_every_world_of_a_small_alphabet_is_what_deciding_twice_gives(
    title: str, settings: AuthorizerSettings
) -> None:
    alphabet = WHOLE[title]
    judge, chance = Judge(alphabet), random.Random(f"worlds of {title} {settings.authorizer}")
    worlds = (
        (world for first in range(-1, len(alphabet.acls)) for world in alphabet.worlds(settings, first))
        if FULL
        else (alphabet.random_world(chance, settings) for _ in range(TRIED))
    )
    tried = 0
    for world in worlds:
        checked(judge, world)
        tried += 1
    assert tried == (alphabet.count // len(SETTINGS) if FULL else TRIED)


@pytest.mark.parametrize("title", LARGE)
def test_a_sample_of_all_small_worlds_is_what_deciding_twice_gives(title: str) -> None:
    alphabet = LARGE[title]
    judge, chance = Judge(alphabet), random.Random(f"worlds of {title}")
    seen: Counter[str] = Counter()
    for _ in range(160 * SCALE):
        world = alphabet.random_world(chance, chance.choice(SETTINGS))
        seen.update(group.change for group in checked(judge, world).groups)
    print(dict(seen))
    assert min(seen[change] for change in LISTS[:3]) > 10, seen


@pytest.mark.parametrize("title", LARGE)
def test_single_differences_of_small_worlds_are_those_of_the_engine_of_cells(title: str) -> None:
    alphabet = LARGE[title]
    chance = random.Random(f"differences of {title}")
    for number in range(60 * SCALE):
        world = alphabet.random_world(chance, chance.choice(SETTINGS))
        compared(
            alphabet.delta(world),
            [alphabet.acls[acl] for acl in world.before],
            alphabet.names,
            world.settings,
            world.after_settings,
            brief=number % 2 == 0,
        )
