"""What a glob makes superfluous is found, and only what it does."""

from __future__ import annotations

import random
from functools import cache
from itertools import permutations

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.lint import subsumption as wider
from aclweb.acl.lint.redundancy import redundant
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, Operation, ResourceType
from tests import reference
from tests.builders import allow, deny
from tests.random_cases import SCALE

GLOB = AuthorizerSettings("glob")
WIDE = allow("User:bob", "ALL", "orders-*", pattern="GLOB")


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (allow("User:bob", "READ", "orders-1"), WIDE),
        (allow("User:bob", "READ", "orders-eu-", pattern="PREFIXED"), WIDE),
        (allow("User:bob", "READ", "orders-?", pattern="GLOB", host="10.0.0.7"), WIDE),
        (allow("User:bob", "READ", "a?", pattern="GLOB"), allow("User:*", "READ", "*")),
        (allow("User:bob", "READ", "a?", pattern="GLOB"), allow("User:bob", "READ", "a", pattern="PREFIXED")),
        (deny("User:bob", "READ", "orders"), deny("User:b*", "READ", "orders")),
        (deny("User:b?b", "READ", "orders"), deny("U*:b*", "READ", "orders")),
        (allow("User:*", "READ", "orders"), allow("*:*", "ALL", "orders")),
        (
            allow("User:bob", "READ", "orders", host="10.0.0.7"),
            allow("User:bob", "READ", "orders", host="10.*"),
        ),
        (
            allow("User:bob", "READ", "o?", pattern="GLOB", host="10.0.0.0/24"),
            allow("User:bob", "READ", "o*", pattern="GLOB", host="10.0.0.0/8"),
        ),
        (
            allow("User:bob", "READ", "x", host="10.0.0.0/8"),
            allow("User:bob", "READ", "x", host="10.*"),
        ),
        (
            allow("User:bob", "READ", "x", host="10.0.0.?"),
            allow("User:bob", "ALL", "x", host="10.0.0.0/28"),
        ),
        (allow("User:bob", "READ", "x"), allow("User:bob", "READ", "x", host="**")),
    ],
)
def test_an_acl_under_a_glob_is_found_with_its_proof(narrow: AclBinding, wide: AclBinding) -> None:
    found = [finding for finding in redundant(AclIndex([narrow, wide]), GLOB) if finding.rule == "implied"]

    assert (narrow, (wide,)) in [(finding.acl, finding.by) for finding in found]


def test_an_allow_under_a_glob_that_denies_all_is_shadowed() -> None:
    everything = deny("U*:b*", "ALL", "o*", pattern="GLOB")
    found = list(redundant(AclIndex([allow("User:bob", "READ", "orders"), everything]), GLOB))

    assert [(finding.rule, finding.by) for finding in found] == [("shadowed", (everything,))]


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (allow("User:bob", "READ", "orders"), WIDE),
        (allow("User:bob", "READ", "orders", pattern="PREFIXED"), WIDE),
        (allow("User:*", "READ", "orders-1"), allow("User:?*", "READ", "orders-*", pattern="GLOB")),
        (allow("User:bob", "READ", "x", host="10.0.0.0/7"), allow("User:bob", "READ", "x", host="10.*")),
        (allow("User:bob", "READ", "x"), allow("User:bob", "READ", "x", host="10.*")),
        (deny("User:bob", "READ", "orders-1"), WIDE),
    ],
)
def test_what_reaches_beyond_a_glob_is_not_found(narrow: AclBinding, wide: AclBinding) -> None:
    assert not [f for f in redundant(AclIndex([narrow, wide]), GLOB) if f.acl == narrow and f.by]


def test_each_removal_beside_globs_changes_no_answer_of_the_reference() -> None:
    names, principals = ("a", "ab", "abc", "b", "*", "zz"), ("User:bob", "User:b", "Group:bob", "User:z")
    hosts, proven = ("10.0.0.7", "10.9.9.9", "192.0.2.1"), 0
    for seed in range(40 * SCALE):
        rng = random.Random(f"wider {seed}")
        bindings = list({_random(rng): None for _ in range(9)})
        settings = AuthorizerSettings("glob", allow_everyone=rng.random() < 0.5)
        for finding in redundant(AclIndex(bindings), settings):
            if finding.rule not in ("implied", "shadowed", "dead"):
                continue
            proven += 1
            kept = [binding for binding in bindings if binding != finding.acl]
            for _ in range(40):
                request = AccessRequest(
                    rng.choice(principals),
                    rng.choice(hosts),
                    Operation.READ,
                    ResourceType.TOPIC,
                    rng.choice(names),
                )
                same = reference.allows(request, bindings, settings) is reference.allows(
                    request, kept, settings
                )
                assert same, (seed, finding, request)
    assert proven > 40


def _random(rng: random.Random) -> AclBinding:
    pattern = rng.choice(("LITERAL", "PREFIXED", "GLOB"))
    return rng.choice((allow, allow, deny))(
        rng.choice(("User:bob", "User:b*", "User:*", "*:bob", "User:b?b")),
        rng.choice(("READ", "ALL")),
        rng.choice(("a", "a*", "a?", "*b*", "*", "ab")),
        pattern=pattern,
        host=rng.choice(("*", "*", "10.*", "10.0.0.0/8", "10.0.0.7")),
    )


NAMES = ("a", "ab", "aab", "abb", "axb", "b", "xbx", "*", "*x", "a*", "a*x", "a?", "a?x", "*b*", "*b*x", "x")
PRINCIPALS = ("User:bob", "User:b", "User:bxb", "Group:bob", "Group:b", "User:z")
ADDRESSES = ("10.0.0.7", "10.0.0.8", "10.9.9.9", "192.0.2.1", "0:0:0:0:0:0:0:1")


def test_every_acl_that_one_other_implies_or_denies_whole_is_found_beside_globs() -> None:
    settings, found = AuthorizerSettings("glob"), 0
    for seed in range(60 * SCALE):
        rng = random.Random(f"wider and complete {seed}")
        bindings = list({_random(rng): None for _ in range(12)})
        findings = list(redundant(AclIndex(bindings), settings))
        for narrow, wide in permutations(bindings, 2):
            is_same = wide.permission_type is narrow.permission_type
            if not is_same and not (wide.is_deny and wide.operation is Operation.ALL):
                continue
            if wide.operation in (narrow.operation, Operation.ALL) and met_by(narrow) <= met_by(wide):
                rule = "implied" if is_same else "shadowed"
                assert any(f.acl == narrow and f.rule == rule for f in findings), (narrow, wide)
                found += 1
    assert found > 100


@cache
def met_by(binding: AclBinding) -> frozenset[tuple[str, ...]]:
    """The requests of its operation that an ACL meets, by every name, principal and address that tell ACLs apart."""
    settings = AuthorizerSettings("glob")
    return frozenset(
        (name, principal, host)
        for name in NAMES
        if reference.covers(binding, ResourceType.TOPIC, name, settings)
        for principal in PRINCIPALS
        for host in ADDRESSES
        if reference.matches_entry(
            binding, AccessRequest(principal, host, binding.operation, ResourceType.TOPIC, name), settings
        )
    )


def test_the_work_beside_very_many_globs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [allow("User:bob", "READ", f"{number}*", pattern="GLOB") for number in range(30)]
    monkeypatch.setattr(wider, "WORK", 100)

    limits: list[str] = []

    assert not list(redundant(AclIndex([*several, allow("User:bob", "READ", "29x")]), GLOB, limits=limits))
    assert [limit.startswith("Globs are compared with a bound on the work") for limit in limits] == [True]


def test_a_comparison_of_two_globs_that_is_given_up_is_reported() -> None:
    narrow = allow("User:bob", "READ", "*" + "?a*" * 60, pattern="GLOB")
    wide = allow("User:bob", "READ", "*" + "a" + "?" * 60 + "*", pattern="GLOB")
    limits: list[str] = []

    assert not list(redundant(AclIndex([narrow, wide]), GLOB, limits=limits))
    assert limits
