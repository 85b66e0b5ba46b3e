"""Columns after an edit are those of the rows after it, however many edits came before."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from aclweb.acl.authorizer.column_bytes import columns_from_bytes, columns_to_bytes
from aclweb.acl.authorizer.column_changes import columns_after
from aclweb.acl.authorizer.column_index import ColumnIndex
from aclweb.acl.authorizer.columns import AclColumns
from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model import AclBinding, ResourceType
from aclweb.inventory.fields import unescape
from tests.acl.test_columns import PARTS, stored
from tests.builders import acl, allow
from tests.random_cases import SCALE, crowded_case, random_case, random_request

STEPS = 12


@pytest.mark.parametrize("seed", range(40 * SCALE))
def test_they_say_what_the_rows_say_after_each_of_many_edits(seed: int) -> None:
    chance = random.Random(seed)
    rows = rows_of(pool(seed))
    there: set[int] = set(chance.sample(sorted(rows), chance.choice((0, len(rows) // 2, len(rows)))))
    columns = made(rows, there)

    for _ in range(STEPS):
        gone = some(chance, sorted(there))
        come = some(chance, sorted(rows.keys() - there))  # earlier ones too, as for a revision of the past
        if chance.random() < 0.5 and len(columns):
            columns.at(chance.randrange(len(columns)))
        columns = columns_after(columns, gone=gone, come=[rows[number] for number in come], read=unescape)
        there = (there - set(gone)) | set(come)
        if chance.random() < 0.3:
            columns = columns_from_bytes(columns_to_bytes(columns))
        assert said(columns) == said(made(rows, there))

    assert_same_index(chance, ColumnIndex(columns), ColumnIndex(made(rows, there)))


def test_decisions_are_those_of_the_acls_after_the_edit() -> None:
    allowed = 0
    for seed in range(100 * SCALE):
        world, request = (crowded_case if seed % 2 else random_case)(seed)
        chance = random.Random(seed)
        bindings = list(dict.fromkeys(world.bindings))
        rows = rows_of(bindings)
        numbers = sorted(rows)
        before = chance.sample(numbers, len(numbers) // 2)
        now = set(chance.sample(numbers, len(numbers) * 2 // 3))
        columns = columns_after(
            made(rows, set(before)),
            gone=set(before) - now,
            come=[rows[number] for number in now - set(before)],
            read=unescape,
        )
        index, plain = ColumnIndex(columns), AclIndex(bindings[number - 1] for number in sorted(now))
        for asked in (request, random_request(chance, world)):
            one, other = authorize(asked, index, world.settings), authorize(asked, plain, world.settings)
            assert (one.result, one.basis, list(one.findings)) == (
                other.result,
                other.basis,
                list(other.findings),
            )
            allowed += one.allowed
    assert allowed > 20


def test_those_before_the_edit_stay_as_they_were() -> None:
    rows = rows_of(pool(3))
    before = made(rows, set(rows))
    first = said(before)

    columns_after(before, gone=list(rows)[::2], come=[], read=unescape)

    assert said(before) == first


def test_acls_that_stay_are_not_made_again() -> None:
    columns = AclColumns.of([allow(f"User:{number}", "READ", f"t{number}") for number in range(20)])
    columns.make_all()
    new = stored(99, allow("User:new", "READ", "t5"))

    after = columns_after(columns, gone=[3, 8], come=[new])

    assert sum(each is not None for each in after.made) == 18
    assert {id(each) for each in columns.bindings()} >= {id(each) for each in after.made if each is not None}
    after.make_all()
    assert after.bindings()[-1] == allow("User:new", "READ", "t5")
    assert {id(each) for each in columns.bindings()} >= {id(each) for each in after.bindings()[:-1]}


def test_an_acl_that_is_made_again_under_another_number_is_the_last() -> None:
    acls = [allow("User:a", "READ", "t"), allow("User:b", "READ", "t")]

    after = columns_after(AclColumns.of(acls), gone=[1], come=[stored(7, acls[0])])

    assert list(after.bindings()) == [acls[1], acls[0]]


@pytest.mark.parametrize(("gone", "come"), [([9], []), ([0], []), ([], [2]), ([1], [1])])
def test_an_edit_that_does_not_fit_is_refused(gone: list[int], come: list[int]) -> None:
    columns = AclColumns.of([allow("User:a", "READ", "t"), allow("User:b", "READ", "t")])
    with pytest.raises(ValueError, match="is to"):
        columns_after(columns, gone=gone, come=[stored(each, allow("User:c", "READ", "t")) for each in come])


def test_numbers_become_as_wide_as_they_must() -> None:
    columns = AclColumns.of([allow(f"User:{number}", "READ", "t") for number in range(250)])
    more = [stored(1 << 40 | number, allow(f"User:n{number}", "READ", "t")) for number in range(300)]

    after = columns_after(columns, gone=[], come=more)

    assert after.numbers[-1] == 1 << 40 | 299
    assert [each.principal for each in after.bindings()][-1] == "User:n299"
    assert said(columns_from_bytes(columns_to_bytes(after))) == said(after)


def test_a_hundred_edits_take_no_more_memory_than_ten() -> None:
    acls = [allow(f"User:{number % 50}", "READ", f"topic-{number}") for number in range(3_000)]
    columns = AclColumns.of(acls)
    held = [0] * 100
    tracemalloc.start()
    try:
        for step in range(100):
            number = 10_000 + step
            new = stored(number, allow(f"User:new-{step}", "READ", f"new-{step}", host=f"10.0.0.{step}"))
            gone = [number - 1] if step else [17]
            columns = columns_after(columns, gone=gone, come=[new])
            held[step] = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert held[-1] - held[9] < 20_000  # and one copy takes 60,000
    assert len(columns.principals) == 51


def pool(seed: int) -> list[AclBinding]:
    world, request = (crowded_case if seed % 2 else random_case)(
        seed, authorizer="glob" if seed % 5 == 0 else None
    )
    more: list[AclBinding] = []
    if seed % 3 == 0:
        kind = request.resource_type.name
        more = [
            acl("DENY", "User:c", "READ", "u", pattern="UNKNOWN", resource_type=kind),
            allow("nobody", "UNKNOWN", "a"),
            *(allow(f"User:{name}", "READ", name, host=name) for name in ("a\0b", "a\\b", "\ud800", "", "é")),
        ]
    return list(dict.fromkeys((*world.bindings, *more)))


def rows_of(bindings: Sequence[AclBinding]) -> dict[int, tuple[Any, ...]]:
    return {number: stored(number, binding) for number, binding in enumerate(bindings, 1)}


def made(rows: dict[int, tuple[Any, ...]], there: set[int]) -> AclColumns:
    return AclColumns.of_rows((rows[number] for number in sorted(there)), unescape)


def some(chance: random.Random, numbers: list[int]) -> list[int]:
    return chance.sample(numbers, min(len(numbers), chance.choice((0, 0, 1, 2, 5, len(numbers)))))


def said(columns: AclColumns) -> tuple[object, ...]:
    """Return all that columns say, whatever numbers they give to texts."""
    return (
        columns.blocks,
        sorted((act[0].name, act[1].name) for act in columns.acts),
        sorted(columns.principals),
        sorted(columns.hosts),
        list(columns.order),
        list(columns.numbers),
        list(columns.starts),
        [columns.acts[code] for code in columns.act],
        [columns.principals[code] for code in columns.principal],
        [columns.hosts[code] for code in columns.host],
        [columns.chain_of(block) for block in columns.blocks],
        columns.bindings(),
        [columns.at(place) for place in range(len(columns))],
    )


def assert_same_index(chance: random.Random, one: ColumnIndex, other: ColumnIndex) -> None:
    assert list(one) == list(other)
    assert one.count_by_principal == other.count_by_principal
    assert (one.principals, one.hosts, one.with_unknown) == (
        other.principals,
        other.hosts,
        other.with_unknown,
    )
    for kind in ResourceType:
        mine, theirs = one.shelf(kind), other.shelf(kind)
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            for part in chance.sample(list(PARTS), len(PARTS)):
                assert PARTS[part](mine) == PARTS[part](theirs), part
