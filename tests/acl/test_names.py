"""What SortedNames finds is what trying each name finds, and it is found without trying each."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from aclweb.acl.matching.glob import Shape, shape_of_glob, shape_of_name, shape_of_prefix
from aclweb.acl.matching.names import FEW, SortedNames
from aclweb.acl.matching.strategy import covers_name
from aclweb.acl.matching.unmatchable import nobodys, why_no_resource
from aclweb.acl.model import OPERATIONS
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import (
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
)
from tests.each import each
from tests.random_cases import SCALE, random_binding, random_name, random_settings

WORDS = (
    "^-]",
    "nl",
    "de",
    "team1",
    "team17",
    "orders",
    "or",
    "audit",
    "raw",
    "v1",
    "v12",
    "é\U0001f600",
    "\n",
    "",
)


def company_names(rng: random.Random, count: int) -> list[str]:
    return [
        ".".join(rng.choice(WORDS) for _ in range(rng.randint(1, 5))) + rng.choice(("", "-x", "~"))
        for _ in range(count)
    ]


def random_glob(rng: random.Random, names: list[str]) -> str:
    """A piece of a name with some of its characters turned to `?` and some runs to `*`."""
    name = rng.choice(names)
    text = "".join("?" if rng.random() < 0.08 else character for character in name)
    for _ in range(rng.randint(0, 3)):
        start = rng.randint(0, len(text))
        text = text[:start] + "*" + text[rng.randint(start, len(text)) :]
    return text


@each("seed", range(10 * SCALE))
def test_a_pattern_covers_the_names_that_it_covers_one_by_one(seed: int) -> None:
    rng = random.Random(f"names under {seed}")
    settings = random_settings(rng)
    sorted_names = SortedNames(random_name(rng, settings) for _ in range(60))
    for _ in range(60):
        binding = random_binding(rng, settings, sorted_names.names)
        if rng.random() < 0.1:
            binding = replace(binding, pattern_type=PatternType.UNKNOWN)

        expected = [name for name in sorted_names if covers_name(binding, name, settings)]

        assert list(sorted_names.under(binding, settings)) == expected
        assert list(sorted_names.under(binding.pattern, settings)) == expected


@pytest.mark.parametrize("count", [40, FEW * 4])
@pytest.mark.parametrize("ends", ["", "\r", "\r\0"], ids=["plain", "CR", "CR and NUL"])
def test_a_glob_finds_the_names_that_it_matches_one_by_one(count: int, ends: str) -> None:
    # No character is left to join names by once they hold LF, CR and NUL.
    rng = random.Random(f"names matching {count}")
    names = [*company_names(rng, count), *(f"odd{end}{end}" for end in ends)]
    sorted_names = SortedNames(names)
    found_some = 0
    for _ in range(60 * SCALE):
        glob = random_glob(rng, names)
        shape = rng.choice((shape_of_glob, shape_of_glob, shape_of_prefix, shape_of_name))(glob)

        found = list(sorted_names.matching(shape))

        assert found == [name for name in sorted_names if shape.matches(name)], glob
        found_some += bool(found)
    assert found_some > 12 * SCALE


@pytest.mark.parametrize("between", ["\n", "\r", "\0"])
def test_a_text_across_two_names_is_in_neither(between: str) -> None:
    lines = [f"{place:04}.end" for place in range(FEW + 1)]
    names = SortedNames([*lines, f"with.end{between}0001.inside", f"z.end{between}z"])

    assert list(names.matching(shape_of_glob(f"*end{between}0001*"))) == [f"with.end{between}0001.inside"]
    assert list(SortedNames(lines).matching(shape_of_glob(f"*end{between}0001*"))) == []


def test_names_that_nobody_has_are_those_of_acls_that_are_told_so() -> None:
    texts = (
        "orders",
        ".",
        "..",
        "",
        "a b",
        "é",
        "x" * 249,
        "x" * 250,
        "*x",
        "kafka-cluster",
        "User:a",
        "a\n",
    )

    for kind, pattern in product(OPERATIONS, (PatternType.LITERAL, PatternType.PREFIXED)):
        acls = [
            AclBinding(kind, text, pattern, "User:a", "*", Operation.READ, PermissionType.ALLOW)
            for text in texts
        ]
        expected = [acl.resource_name for acl in acls if why_no_resource(acl)]
        assert nobodys(kind, texts, are_literal=pattern is PatternType.LITERAL) == expected


def test_a_glob_pattern_is_read_as_a_glob() -> None:
    names = SortedNames(["orders.eu", "orders?eu", "stock"])
    pattern = ResourcePattern(ResourceType.TOPIC, "orders?*", PatternType.GLOB)

    assert list(names.under(pattern, AuthorizerSettings())) == ["orders.eu", "orders?eu"]


def test_prefixes_that_end_with_the_last_character_of_all_are_found() -> None:
    names = SortedNames(["a\U0010ffff", "a\U0010ffff\U0010ffff", "a\U0010fffe", "b"])

    assert names.starting_with("a\U0010ffff") == ("a\U0010ffff", "a\U0010ffff\U0010ffff")
    assert names.starting_with("\U0010ffff") == ()
    assert names.starting_with("") == names.names


@pytest.mark.parametrize("length", [249, 32_767])
@pytest.mark.parametrize(
    "glob", ["*a" * 200 + "b*a", "*" + "a" * 124 + "?b*", "*" * 10_000, "?" * 10_000 + "*"]
)
def test_pathological_globs_are_answered(glob: str, length: int) -> None:
    names = SortedNames(
        ["a" * (length - place % 5) + "b" * (place % 5) + str(place) for place in range(FEW + 50)]
    )
    names = SortedNames([*names.names[:: 1 if length < 1_000 else 100], "a" * length])
    shape = shape_of_glob(glob)

    found = names.matching(shape)

    assert list(found) == [name for name in names if shape.matches(name)]


def test_the_rarest_text_of_a_glob_narrows_the_names_down() -> None:
    tried: list[str] = []

    class Watched(Shape):
        def matches(self, name: str) -> bool:
            tried.append(name)
            return super().matches(name)

    names = SortedNames(
        [f"{place % 50:02}.everywhere{place}" for place in range(FEW * 20)] + [f"z.odd.{n}" for n in range(5)]
    )

    assert len(names.matching(Watched(shape_of_glob("*odd*").parts))) == 5
    assert len(names.matching(Watched(shape_of_glob("*.everywhere*77?1*").parts))) == 20
    assert 25 <= len(tried) <= len(names) / 4
