"""What is said of ACLs beside globs: what could go, what is odd, and in which words."""

from __future__ import annotations

import random

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.lint.consolidation import consolidations
from aclweb.acl.lint.findings import lint, lint_all
from aclweb.acl.lint.redundancy import redundant, removable
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.wording import acl_text
from aclweb.acl.simulate.classes import Names
from tests import reference
from tests.builders import allow, deny
from tests.random_cases import SCALE, random_request, random_world

GLOB = AuthorizerSettings("glob")


def test_what_can_go_beside_globs_changes_no_answer() -> None:
    gone = 0
    for seed in range(75 * SCALE):
        rng = random.Random(f"redundant beside globs {seed}")
        world = random_world(rng, authorizer="glob")
        index = AclIndex(world.bindings)
        removed = removable(redundant(index, world.settings))
        kept = [binding for binding in world.bindings if binding not in removed]
        gone += len(removed)
        for number in range(12 if removed else 0):
            request = random_request(rng, world, by_type=number % 6 == 0)
            before = reference.allows(request, world.bindings, world.settings)
            assert reference.allows(request, kept, world.settings) is before, (seed, request, removed)
        list(lint_all(index, world.settings))
    assert gone > 30


def test_a_host_that_is_a_glob_and_matches_no_address_makes_an_acl_dead() -> None:
    refusal = deny("User:a", "READ", "orders", host="broker-*")

    (finding,) = redundant(AclIndex([refusal]), GLOB)

    assert (finding.rule, finding.severity) == ("dead", "error")
    assert "brokers compare addresses, and none matches 'broker-*'" in finding.sentence


def test_a_glob_that_matches_no_name_that_exists_is_an_orphan() -> None:
    there, gone = (
        allow("User:a", "READ", "or?ers", pattern="GLOB"),
        allow("User:a", "READ", "*pay*", pattern="GLOB"),
    )

    findings = list(redundant(AclIndex([there, gone]), GLOB, Names(topics=("orders", "parts"))))

    assert [(finding.rule, finding.acl) for finding in findings] == [("orphan", gone)]


def test_nothing_is_proposed_where_a_glob_is() -> None:
    several = [allow("User:a", "READ", f"orders.{number}") for number in range(5)]
    assert list(consolidations(AclIndex(several), GLOB))
    assert not list(consolidations(AclIndex([*several, allow("User:b*", "READ", "x")]), GLOB))


@pytest.mark.parametrize(
    ("acl", "rules"),
    [
        (allow("User:a*", "READ", "orders-*", pattern="GLOB", host="10.*"), set()),
        (allow("User:a", "READ", "or ders*", pattern="GLOB"), {"name-cannot-exist"}),
        (allow("User:a", "READ", "?" * 250, pattern="GLOB"), {"name-cannot-exist"}),
        (deny("User:a", "ALTER", "kafka*", pattern="GLOB", resource_type="CLUSTER"), {"refused-by-kafka"}),
        (deny("User:a", "ALTER", "k?", pattern="GLOB", resource_type="CLUSTER"), {"refused-by-kafka"}),
        (allow("User:a", "READ", "orders", host="2001:db8:*"), set()),
        (allow("User:a", "READ", "orders", host="broker-?.example.com"), {"host-never-matches"}),
        (allow("User:a", "READ", "..", pattern="GLOB"), {"name-cannot-exist"}),
        (
            allow("User:a", "DESCRIBE_TOKENS", "alice", pattern="GLOB", resource_type="USER"),
            {"name-cannot-exist"},
        ),
        (allow("User:a", "DESCRIBE_TOKENS", "User?al*", pattern="GLOB", resource_type="USER"), set()),
        (allow("User:a", "READ", "orders", host="broker.example.com"), {"host-never-matches"}),
    ],
)
def test_globs_are_not_odd_where_they_are_read(acl, rules) -> None:
    assert {finding.rule for finding in lint(acl, GLOB)} == rules


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("orders-*", "Allow User:a to Read topics that match orders-* from any host"),
        ("*", "Allow User:a to Read topics that match * from any host"),
        ("", "Allow User:a to Read every topic from any host"),
    ],
)
def test_a_glob_reads_as_what_it_matches(name, sentence) -> None:
    assert acl_text(allow("User:a", "READ", name, pattern="GLOB")) == sentence
