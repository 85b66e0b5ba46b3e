"""A page of the ACLs that differ between two sides is the page of all of them in order, and little more is sorted."""

from __future__ import annotations

import random

import pytest

from aclweb.acl.model import AclBinding, Delta
from aclweb.web.drafts import compare
from aclweb.web.drafts.compare import lines_of
from aclweb.web.drafts.draft import Line
from tests.builders import allow

MANY = 3_000


def order(binding: AclBinding) -> tuple[str, str, str]:
    return binding.principal, binding.resource_type.name, binding.resource_name


def in_order(delta: Delta) -> list[Line]:
    return [
        Line(op, binding)
        for op, bindings in (("remove", delta.remove), ("add", delta.add))
        for binding in sorted(bindings, key=order)
    ]


def test_every_part_of_the_lines_is_that_of_all_in_order() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        some = {
            allow(f"User:p{rng.randrange(6)}", "READ", f"t{rng.randrange(9)}", host=f"10.0.0.{number}")
            for number in range(rng.randrange(40))
        }
        found = sorted(some, key=lambda each: each.host)
        cut = rng.randrange(len(found) + 1)
        delta = Delta(add=tuple(found[:cut]), remove=tuple(found[cut:]))
        lines, expected = lines_of(delta), in_order(delta)
        assert list(lines) == expected, seed
        for start in range(len(expected)):
            stop = rng.randrange(start, len(expected) + 1)
            assert list(lines[start:stop]) == expected[start:stop], seed


def test_a_page_sorts_the_acls_of_the_principals_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    delta = Delta(
        add=tuple(allow(f"User:p{number % 100:02}", "READ", f"t{number}") for number in range(MANY))
    )
    compared: list[AclBinding] = []
    monkeypatch.setattr(
        compare, "_order", lambda binding: compared.append(binding) or (binding.resource_name,)
    )

    page = lines_of(delta)[12:24]

    assert {line.binding.principal for line in page} == {"User:p00"}
    assert len(compared) < MANY / 10
