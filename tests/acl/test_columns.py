"""An index that holds columns answers what one that holds bindings does, in the same order."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.any_host import decide_for_any_host
from aclweb.acl.authorizer.column_index import ColumnIndex
from aclweb.acl.authorizer.columns import AclColumns
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.mask_table import Slot
from aclweb.acl.model import (
    AclBinding,
    AclError,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
)
from aclweb.inventory.fields import escape, unescape
from tests.builders import acl, allow, deny
from tests.random_cases import SCALE, crowded_case, random_case, random_request

CASES = 400 * SCALE


def test_it_says_the_same_of_its_bindings() -> None:
    for seed, plain, columns in pairs():
        assert list(columns) == list(plain), seed
        assert len(columns) == len(plain)
        assert columns.bindings == plain.bindings
        assert all(each in columns for each in plain)
        assert not any(replace(each, host="nowhere") in columns for each in plain)
        for name in (
            "principals",
            "typed_principals",
            "hosts",
            "addresses",
            "with_unknown",
            "first_glob",
            "count_by_principal",
            "denies_by_principal",
        ):
            assert getattr(columns, name) == getattr(plain, name), (seed, name)
        for principal in (*plain.principals, "User:*", "User:nobody"):
            assert columns.of_principal(principal) == plain.of_principal(principal), seed
        assert pickle.loads(pickle.dumps(columns)).bindings == plain.bindings


def test_it_counts_the_same_by_group() -> None:
    def groups(names: Sequence[str], pattern_type: PatternType) -> Iterator[str]:
        assert list(names) == sorted(set(names))
        yield from (f"{pattern_type.name} {name[:2]}" for name in names)

    counted = 0
    for seed, plain, columns in pairs():
        for kind in ResourceType:
            for permission in (PermissionType.ALLOW, PermissionType.DENY):
                slowly = Counter(
                    (each.principal, f"{each.pattern_type.name} {each.resource_name[:2]}")
                    for each in plain
                    if each.resource_type is kind and each.permission_type is permission
                )
                assert plain.count_by_group(kind, permission, groups) == slowly, seed
                assert columns.count_by_group(kind, permission, groups) == slowly, seed
                counted += slowly.total()

    assert counted > CASES


def test_its_shelves_hold_the_same() -> None:
    for seed, plain, columns in pairs():
        for kind in ResourceType:
            one, other = plain.shelf(kind), columns.shelf(kind)
            assert (one is None) == (other is None)
            if one is None or other is None:
                continue
            # What is asked first must not decide what comes out.
            chance = random.Random(seed)
            parts = list(PARTS)
            chance.shuffle(parts)
            for part in parts:
                assert PARTS[part](other) == PARTS[part](one), (seed, part)
            some = chance.sample(list(one.unsorted), len(one.unsorted) // 2)
            assert other.in_order(some) == one.in_order(some)


def test_it_decides_the_same() -> None:
    allowed = 0
    for seed in range(CASES):
        for by_type in (False, True):
            make = crowded_case if seed % 2 else random_case
            world, request = make(seed, by_type=by_type, authorizer="glob" if seed % 5 == 0 else None)
            plain, columns = AclIndex(world.bindings), of(world.bindings)
            chance = random.Random(seed)
            for asked in (
                request,
                random_request(chance, world),
                random_request(chance, world, by_type=True),
            ):
                one, other = (
                    authorize(asked, plain, world.settings),
                    authorize(asked, columns, world.settings),
                )
                assert (other.result, other.basis) == (one.result, one.basis), seed
                assert list(other.findings) == list(one.findings), seed
                assert other.hazards == one.hazards, seed
                assert decide(asked, columns, world.settings) == decide(asked, plain, world.settings)
                if asked.resource_name is not None:
                    resource = Resource(asked.resource_type, asked.resource_name)
                    assert columns.affecting(resource, world.settings) == plain.affecting(
                        resource, world.settings
                    )
                assert decide_for_any_host(asked, columns, world.settings).as_dict() == (
                    decide_for_any_host(asked, plain, world.settings).as_dict()
                )
                allowed += one.result is Result.ALLOWED
    assert allowed > CASES // 2


def test_its_tables_hold_the_same() -> None:
    for seed, plain, columns in pairs():
        if plain.first_glob is not None:
            for kind in ResourceType:
                with pytest.raises(AclError):
                    columns.table(kind)
            continue
        for kind in ResourceType:
            one, other = plain.table(kind), columns.table(kind)
            assert (one is None) == (other is None)
            if one is None or other is None:
                continue
            assert other.unknown_patterns == one.unknown_patterns, seed
            if seed % 2:  # once all are made and once one by one
                assert list(other.slots) == list(other.slots.keys()) == list(one.slots)
                assert len(other.slots.values()) == len(other.slots) == len(one.slots)
            for principal in (*plain.principals, "User:*", "User:nobody", "nobody"):
                assert (principal in other.slots) == (principal in one.slots), seed
                mine, theirs = (table.slots.get(principal, {}) for table in (other, one))
                assert list(mine) == list(theirs)
                assert [said(slot) for slot in mine.values()] == [said(slot) for slot in theirs.values()]
            assert other.ranges.keys() == one.ranges.keys(), seed
            assert said(other.covered) == said(one.covered), seed
            broken, expected = other.without_colon, one.without_colon
            assert (broken and said(broken)) == (expected and said(expected)), seed


def test_texts_are_read_once_they_are_whole() -> None:
    hostile = ["a\0b", "a\\b", "\ud800", "a", "", "\\u0000", "z\x01", "é", "\U0001f600", "a\nb"]
    bindings = [
        acl("ALLOW", f"User:{name}", "READ", name, pattern=pattern, host=name)
        for name in hostile
        for pattern in ("LITERAL", "PREFIXED")
    ]

    columns = ColumnIndex(AclColumns.of_rows(map(stored, count(1), bindings), unescape))

    assert list(columns) == bindings
    for name in hostile:
        resource = Resource(ResourceType.TOPIC, name)
        assert columns.affecting(resource) == AclIndex(bindings).affecting(resource)


def test_no_acl_is_made_that_no_question_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = of([allow(f"User:{number % 10}", "READ", f"t{number}") for number in range(2_000)])
    made = []
    make = AclColumns._make
    monkeypatch.setattr(AclColumns, "_make", lambda *given: made.append(given) or make(*given))
    monkeypatch.setattr(AclColumns, "make_all", None)

    assert len(columns.affecting(Resource(ResourceType.TOPIC, "t77"))) == 1
    assert len(columns.of_principal("User:3")) == 200
    assert columns.count_by_principal["User:3"] == 200
    assert len(made) == 201


def test_whether_an_acl_is_among_thousands_of_its_pattern_compares_hardly_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = of([allow(f"User:{number}", "READ", "t") for number in range(3_000)])
    there = [allow(f"User:{number}", "READ", "t") for number in range(2_900, 3_100)]
    compared = []
    equal = AclBinding.__eq__
    monkeypatch.setattr(AclBinding, "__eq__", lambda one, two: compared.append(one) or equal(one, two))

    assert sum(each in columns for each in there) == 100
    assert len(compared) < 1_000


def test_a_binding_is_made_once() -> None:
    columns = of([allow(f"User:{number % 10}", "READ", f"t{number}") for number in range(50)])
    (one,) = columns.affecting(Resource(ResourceType.TOPIC, "t33"))

    assert any(each is one for each in columns.of_principal("User:3"))
    assert any(each is one for each in columns)


def test_words_for_filters_are_refused_as_by_the_other() -> None:
    bindings = [allow("User:a", "READ", "t"), acl("ALLOW", "User:b", "ANY", "t")]
    with pytest.raises(AclError) as plain:
        AclIndex(bindings)
    with pytest.raises(AclError) as columns:
        of(bindings)

    assert str(columns.value) == str(plain.value)


PARTS = {
    "bindings": lambda shelf: list(shelf.bindings),
    "unsorted": lambda shelf: list(shelf.unsorted),
    "count": lambda shelf: shelf.count,
    "one by one": lambda shelf: list(shelf.one_by_one()),
    "unknown": lambda shelf: shelf.unknown_patterns,
    "globs": lambda shelf: shelf.globs,
    "known": lambda shelf: shelf.with_known_pattern,
    "denies": lambda shelf: shelf.denies,
    "without colon": lambda shelf: shelf.without_colon,
    "literals": lambda shelf: dict(shelf.literals),
    "wildcard": lambda shelf: shelf.wildcard,
    "empty prefix": lambda shelf: shelf.empty_prefix,
    "literal names": lambda shelf: list(shelf.literal_names),
    "chain": lambda shelf: shelf.chain,
    "prefixed": lambda shelf: list(shelf.prefixed),
    "each prefixed": lambda shelf: [shelf.prefixed[place] for place in range(len(shelf.chain.prefixes))],
    "kinds": lambda shelf: shelf.kinds,
    "principals": lambda shelf: list(shelf.by_principal),
    "by principal": lambda shelf: {each: list(own) for each, own in shelf.by_principal.items()},
    "no plain allows": lambda shelf: {each: list(own) for each, own in shelf.no_plain_allows.items()},
    "named": lambda shelf: [shelf.named(name) for name in ("a", "", "*", "ab", "u", "nothing")],
    "beginning": lambda shelf: list(shelf.beginning_with("a")),
}


def pairs() -> Iterator[tuple[int, AclIndex, ColumnIndex]]:
    """Yield indexes of random worlds, held in both ways; some have globs, unknown words or nothing."""
    for seed in range(CASES):
        make = crowded_case if seed % 2 else random_case
        world, request = make(seed, authorizer="glob" if seed % 5 == 0 else None)
        bindings = tuple(dict.fromkeys(world.bindings))
        if seed % 7 == 0:
            kind = request.resource_type.name
            unknown = acl("DENY", "User:c", "READ", "u", pattern="UNKNOWN", resource_type=kind)
            bindings = (
                *bindings[:2],
                unknown,
                *bindings[2:],
                allow("nobody", "UNKNOWN", "a"),
                deny("x", "ALL", "a"),
            )
        yield seed, AclIndex(bindings), of(bindings)


def of(bindings: tuple[AclBinding, ...] | list[AclBinding]) -> ColumnIndex:
    return ColumnIndex(AclColumns.of(dict.fromkeys(bindings)))


def said(slot: Slot) -> tuple[object, ...]:
    return slot.literals, slot.wild, slot.empty, slot.prefixes, slot.parents, slot.jumps, slot.masks


def stored(number: int, binding: AclBinding) -> tuple[object, ...]:
    """Return a row as the database holds it."""
    return (
        number,
        binding.resource_type.name,
        escape(binding.resource_name),
        binding.pattern_type.name,
        escape(binding.principal),
        escape(binding.host),
        binding.operation.name,
        binding.permission_type.name,
    )
