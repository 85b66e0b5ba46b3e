"""A reader that does not know every pattern type: what it does not see counts as gone, and is said to stay."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.cli.main import main
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, PatternType
from aclweb.acl.notation.files import write_acls
from aclweb.acl.simulate import Names, simulate
from aclweb.acl.simulate.readers import LITERAL_ONLY, WITHOUT_GLOBS
from tests import reference
from tests.acl.test_whatif import check_case, random_edit
from tests.builders import allow, ask, deny
from tests.random_cases import SCALE, World

LITERAL = allow("User:bob", "READ", "orders")
PREFIXED = allow("User:bob", "WRITE", "ord", pattern="PREFIXED")
DENIED = deny("User:eve", "READ", "ord", pattern="PREFIXED")
GLOB = allow("User:bob", "DELETE", "*-orders", pattern="GLOB")


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(["whatif", *arguments])
        return status, *capfd.readouterr()

    return command


def acls(path: str, *bindings: AclBinding) -> str:
    Path(path).write_text(write_acls(bindings, format="jsonl"))
    return path


def test_what_a_reader_of_literals_makes_of_an_edit_is_every_difference_alone() -> None:
    seen: Counter[str] = Counter()
    for seed in range(7_000, 7_000 + 16 * SCALE):
        case = random_edit(seed)
        delta = LITERAL_ONLY.as_seen(case.delta, case.before.bindings)
        literals = [b for b in case.after.bindings if b.pattern_type is PatternType.LITERAL]
        try:
            check_case(replace(case, after=World(tuple(literals), case.after.settings), delta=delta), seen)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert min(seen[kind] for kind in ("gains", "loses", "unchanged")) > 10, seen


def test_a_deny_that_is_not_seen_opens_what_it_closed() -> None:
    stored = [allow("User:eve", "READ", "orders"), DENIED]
    delta = LITERAL_ONLY.as_seen(Delta(), stored)
    impact = simulate(delta, AclIndex(stored), Names(topics=("orders",)))
    assert {(effect.principal, effect.resource_name) for effect in impact.gains} == {("User:eve", "orders")}
    assert list(LITERAL_ONLY.warnings(Delta(), stored)) == [
        "A reader that knows LITERAL alone does not see 1 ACL, which stays stored: "
        "Deny User:eve the right to Read topics that start with ord from any host."
    ]


def test_without_globs_each_given_name_is_decided_as_by_the_other_acls_alone() -> None:
    stored = [LITERAL, PREFIXED, GLOB, deny("User:bob", "WRITE", "*", pattern="GLOB")]
    before, after = AuthorizerSettings("glob"), AuthorizerSettings("standard")
    names = Names(topics=("orders", "eu-orders", "ordinary"), hosts=("10.0.0.7",))
    impact = simulate(WITHOUT_GLOBS.as_seen(Delta(), stored), AclIndex(stored), names, before, after)
    told = {
        (change, effect.principal, effect.operation.name, effect.resource_name)
        for change in ("gains", "loses")
        for effect in getattr(impact, change)
        if effect.resource_name is not None
    }
    kept = [binding for binding in stored if binding.pattern_type is not PatternType.GLOB]
    expected = set()
    for name in names.topics:
        for operation in ("READ", "WRITE", "DELETE", "DESCRIBE"):
            request = ask("User:bob", operation, name)
            old, new = reference.allows(request, stored, before), reference.allows(request, kept, after)
            if old is not new:
                expected.add(("gains" if new else "loses", "User:bob", operation, name))
    assert told == expected
    assert expected >= {
        ("gains", "User:bob", "WRITE", "orders"),
        ("loses", "User:bob", "DELETE", "eu-orders"),
    }


def test_the_command_tells_what_stays_and_is_not_seen(run) -> None:
    acls("a", LITERAL, PREFIXED, DENIED)
    acls("add", allow("User:zoe", "READ", "pay", pattern="PREFIXED"), allow("User:zoe", "READ", "pay"))
    status, out, err = run("--acls", "a", "--add", "add", "--to-literal-only", "--json")
    impact = json.loads(out)
    assert (status, err) == (0, "")
    assert {(gain["principal"], gain["resource_name"]) for gain in impact["gains"]} == {("User:zoe", "pay")}
    assert {loss["principal"] for loss in impact["loses"]} == {"User:bob"}
    stays, comes = impact["warnings"][:2]
    assert stays.startswith("A reader that knows LITERAL alone does not see 2 ACLs, which stay stored: Allow")
    assert comes.endswith(
        "would not see what this edit adds either: Allow User:zoe to Read topics that start with pay from any host."
    )
    assert "does not see 2 ACLs" in run("--acls", "a", "--add", "add", "--to-literal-only")[1]


def test_a_new_reader_goes_together_with_every_other_change(run) -> None:
    acls("a", LITERAL, PREFIXED)
    options = ("--to-authorizer", "acl", "--to-kafka-version", "2.4", "--to-super-users", "User:root")
    status, out, _ = run("--acls", "a", "--to-literal-only", *options, "--new-topic", "ordinary", "--json")
    impact = json.loads(out)
    assert status == 0
    assert {loss["principal"] for loss in impact["loses"]} == {"User:bob"}
    assert {gain["principal"] for gain in impact["gains"]} == {"User:root"}
    assert any(warning.startswith("Without an ACL: topic ordinary;") for warning in impact["warnings"])


def test_globs_are_left_unseen_only_where_that_is_said(run) -> None:
    acls("a", LITERAL, GLOB)
    acls("glob", GLOB)
    onward = ("--acls", "a", "--authorizer", "glob", "--to-authorizer", "acl")
    status, out, err = run(*onward)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "--to-unseen-globs" in err
    status, out, _ = run(*onward, "--to-unseen-globs", "--json")
    impact = json.loads(out)
    assert status == 0
    assert {loss["names"]["text"] for loss in impact["loses"]} == {"*-orders"}
    assert impact["warnings"][0].startswith("A reader that knows no GLOB does not see 1 ACL, which stays")
    assert run(*onward, "--remove", "glob")[0] == 0
    assert run(*onward, "--to-literal-only")[0] == 0


@pytest.mark.parametrize("options", [(), ("--authorizer", "glob"), ("--to-authorizer", "glob")])
def test_unseen_globs_are_asked_for_only_where_globs_end(run, options) -> None:
    acls("a", LITERAL)
    status, out, err = run("--acls", "a", "--to-unseen-globs", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "give that as --to-authorizer standard or acl" in err


@pytest.mark.parametrize("kind", ["topic", "group", "transactional-id"])
def test_a_name_to_come_has_no_access_before_and_what_covers_it_after(run, kind) -> None:
    word = kind.replace("-", "_").upper()
    acls("a", allow("User:bob", "DESCRIBE", "pay", pattern="PREFIXED", resource_type=word))
    status, out, _ = run("--acls", "a", f"--new-{kind}", "pay.eu", f"--new-{kind}", "x", "--json")
    impact = json.loads(out)
    assert status == 0
    assert [(gain["resource_type"], gain["resource_name"], gain["before"]) for gain in impact["gains"]] == [
        (word, "pay.eu", None)
    ]
    assert impact["gains"][0]["after"]["result"] == Result.ALLOWED.value
    assert [warning.startswith("Without an ACL: ") for warning in impact["warnings"]] == [True]
