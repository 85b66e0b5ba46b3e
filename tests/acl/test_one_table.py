"""One module turns what ACLs come to into an answer; whoever decides asks it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import aclweb
from aclweb.acl.authorizer.answers import RESULTS, Basis, answer_from, settle, settle_known, settle_masks
from aclweb.acl.authorizer.masks import DENY_SHIFT
from aclweb.acl.model.authorizers import AuthorizerSettings

ROOT = Path(aclweb.__path__[0])
TABLE = ROOT / "acl" / "authorizer" / "answers.py"
BIT = 1 << 3


def answers_made_in(source: str) -> Iterator[int]:
    """Yield the lines that put a result and a basis together, or say which result a basis gives."""
    if not any(word in source for word in ("Basis", "DENY_ACL", "ALLOW_ACL")):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Tuple) and [*map(enum_of, node.elts)] == ["Result", "Basis"]:
            yield node.lineno
        if isinstance(node, ast.Dict) and node.keys:
            pairs = zip(node.keys, node.values, strict=True)
            yield from (
                node.lineno for key, value in pairs if (enum_of(key), enum_of(value)) == ("Basis", "Result")
            )
        if isinstance(node, ast.IfExp | ast.Return) and {"DENY_ACL", "ALLOW_ACL"} & set(constants_of(node)):
            yield node.lineno


def enum_of(node: ast.expr | None) -> str:
    return node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""


def constants_of(node: ast.IfExp | ast.Return) -> Iterator[str]:
    """Yield the `BY_…` constants that a node gives, without their beginning."""
    given = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node.value,)
    yield from (one.id.removeprefix("BY_") for one in given if isinstance(one, ast.Name))


def test_no_other_module_makes_an_answer_of_its_own() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        if path != TABLE
        for line in answers_made_in(path.read_text(encoding="utf-8"))
    }

    assert found == set()


def test_the_search_for_answers_finds_them_in_the_table() -> None:
    assert len(list(answers_made_in(TABLE.read_text(encoding="utf-8")))) >= len(Basis)


def test_each_basis_has_one_result() -> None:
    assert set(RESULTS) == set(Basis)


class Patterns:
    """Patterns that cover every name, or none."""

    def __init__(self, covered: bool) -> None:
        self.covered = covered

    def covers(self, name: str, settings: AuthorizerSettings) -> bool:
        return self.covered


@pytest.mark.parametrize("allow_everyone", [False, True])
@pytest.mark.parametrize(("denied", "allowed", "covered"), list(product((False, True), repeat=3)))
def test_all_ways_into_the_table_give_one_answer(
    denied: bool, allowed: bool, covered: bool, allow_everyone: bool
) -> None:
    settings = AuthorizerSettings(allow_everyone=allow_everyone)
    mask = (BIT << DENY_SHIFT if denied else 0) | (BIT if allowed else 0)

    known = settle_known(denied=denied, allowed=allowed, covered=covered, settings=settings)

    assert settle_masks(mask, BIT, Patterns(covered), "orders", settings) == known
    assert answer_from(mask, BIT, covered=covered, unknown_patterns=(), settings=settings) == known
    assert known == settle(
        denied=denied,
        allowed=allowed,
        perhaps_denied=False,
        perhaps_allowed=False,
        covered=covered or allowed,
        unknown_patterns=(),
        settings=settings,
    )
