"""The reasons given are the reasons: checked by deciding again, and read as a person reads them."""

from __future__ import annotations

import pytest

from aclweb.acl.authorizer import Basis, Decision, Result, authorize
from aclweb.acl.explain import Explanation, explain, says
from aclweb.acl.index import AclIndex
from aclweb.acl.model import AccessRequest, AclBinding
from aclweb.acl.profiles import Rules
from tests import reference
from tests.builders import acl, allow, ask, deny, describe, read, write
from tests.random_cases import SCALE, random_case

CASES = 600 * SCALE


def why(request: AccessRequest, *bindings: AclBinding, rules: Rules | None = None) -> Explanation:
    return explain(authorize(request, AclIndex(bindings), rules or Rules()))


def decisions(by_type: bool) -> list[tuple[int, Decision]]:
    found = []
    for seed in range(CASES):
        world, request = random_case(seed, by_type=by_type)
        found.append((seed, authorize(request, AclIndex(world.bindings), world.rules)))
    return found


@pytest.mark.parametrize("by_type", [False, True])
def test_every_fix_and_every_removal_turns_the_result_when_it_is_tried(by_type: bool) -> None:
    fixes = removals = both = 0
    for seed, decision in decisions(by_type):
        reasons = explain(decision)
        bindings = [finding.binding for finding in decision.findings]
        if reasons.smallest_fix is not None:
            fixes += 1
            assert not decision.allowed
            assert reference.allows(decision.request, [*bindings, reasons.smallest_fix], decision.rules), seed
        if reasons.smallest_removals:
            rest = [b for b in bindings if b not in reasons.smallest_removals]
            extra = [] if reasons.fix_after_removals is None else [reasons.fix_after_removals]
            assert (
                reference.allows(decision.request, [*rest, *extra], decision.rules) is not decision.allowed
            ), seed
            for kept in reasons.smallest_removals[:3]:
                some = [b for b in bindings if b not in reasons.smallest_removals or b == kept]
                assert (
                    reference.allows(decision.request, [*some, *extra], decision.rules) is decision.allowed
                ), seed
            removals += 1
            both += bool(extra)
        else:
            assert reasons.fix_after_removals is None
    assert removals > 20
    assert by_type or min(fixes, both) > 10


@pytest.mark.parametrize("by_type", [False, True])
def test_exactly_one_gate_decides_and_the_verdict_is_the_result(by_type: bool) -> None:
    words = {Result.ALLOWED: "Yes, allowed", Result.DENIED: "No, refused", Result.UNDECIDED: "Cannot tell"}
    for seed, decision in decisions(by_type):
        reasons = explain(decision)
        assert sum(gate.decides for gate in reasons.gates) == 1, seed
        assert reasons.verdict == words[decision.result]
        assert all(sentence.endswith(".") for sentence in reasons.sentences), (seed, reasons.sentences)


def test_near_misses_come_fewest_crosses_first_and_say_what_is_crossed() -> None:
    for seed, decision in decisions(by_type=False):
        misses = explain(decision).near_misses
        crosses = [sum(not tick.matches for tick in miss.ticks) for miss in misses]
        assert crosses == sorted(crosses), seed
        assert 0 not in crosses, seed
        wanted = "DENY" if decision.allowed else "ALLOW"
        assert {miss.binding.permission_type.name for miss in misses} <= {wanted}


def test_the_brokers_log_names_the_first_deny_and_else_the_last_allow() -> None:
    wide, narrow = deny("User:*", "READ", "pay", pattern="PREFIXED"), deny("User:*", "READ", "payments")
    any_allow, own_allow = allow("User:*", "READ", "*"), allow("User:bob", "READ", "payments")

    refused = why(read("User:bob", "payments"), wide, narrow, any_allow, own_allow)
    allowed = why(read("User:bob", "payments"), any_allow, own_allow)

    assert refused.broker_rule == {"rule": "MatchingAcl", "acl": narrow.as_dict()}
    assert allowed.broker_rule == {"rule": "MatchingAcl", "acl": any_allow.as_dict()}


def test_the_log_of_the_zookeeper_authorizer_names_no_rule() -> None:
    assert why(read("User:bob", "x"), rules=Rules("acl")).broker_rule is None
    assert why(ask("User:bob", "WRITE", None)).broker_rule is None


@pytest.mark.parametrize(
    ("rules", "bindings", "rule"),
    [
        (Rules(super_users=frozenset({"User:bob"})), [], "SuperUser"),
        (Rules(allow_everyone=True), [], "DefaultAllow"),
        (Rules(), [], "DefaultDeny"),
        (Rules(allow_everyone=True), [allow("User:ada", "READ", "x")], "DefaultDeny"),
    ],
)
def test_without_a_matching_acl_the_log_names_the_default(
    rules: Rules, bindings: list[AclBinding], rule: str
) -> None:
    assert why(read("User:bob", "x"), *bindings, rules=rules).broker_rule == {"rule": rule, "acl": None}


def test_a_reader_who_expects_the_exact_name_to_win_is_told_that_it_does_not() -> None:
    refusal = deny("User:bob", "READ", "payments.", pattern="PREFIXED")

    reasons = why(read("User:bob", "payments.eu"), refusal, allow("User:bob", "READ", "payments.eu"))
    other_way = why(read("User:bob", "payments.eu"), refusal, allow("User:bob", "READ", "*"))

    assert any("a longer or exact name never wins" in sentence for sentence in reasons.sentences)
    assert not any("never wins" in sentence for sentence in other_way.sentences)


def test_describe_that_comes_with_read_is_said() -> None:
    reasons = why(describe("User:bob", "orders"), allow("User:bob", "READ", "orders"))

    assert "In Kafka, being allowed to Read brings Describe with it." in reasons.sentences


def test_the_smallest_fix_for_a_name_that_is_an_asterisk_is_not_the_wildcard() -> None:
    fix = why(ask("User:bob", "READ", "*", resource_type="GROUP")).smallest_fix

    assert fix == allow("User:bob", "READ", "*", pattern="PREFIXED", resource_type="GROUP", host="10.0.0.7")


def test_nothing_can_be_granted_to_a_principal_without_a_type() -> None:
    reasons = why(read("bob", "orders"))

    assert reasons.smallest_fix is None
    assert any("'User:bob'" in caveat for caveat in reasons.caveats)


def test_an_undeclared_setting_is_a_caveat_only_where_it_matters() -> None:
    rules = Rules(undeclared=frozenset({"super_users", "allow_everyone"}))

    refused = why(read("User:bob", "orders"), rules=rules)
    allowed = why(read("User:bob", "orders"), allow("User:bob", "READ", "orders"), rules=rules)

    assert len(refused.caveats) == 2
    assert allowed.caveats == ()


@pytest.mark.parametrize(
    ("near", "words"),
    [
        (allow("User:BOB", "READ", "orders"), "upper and lower case count"),
        (allow("User:b*", "READ", "orders"), "only User:* is a wildcard"),
        (allow("User:bob", "READ", "orders", host="::1"), "same address written differently"),
        (allow("User:bob", "READ", "orders", host="laptop.example"), "never host names"),
        (allow("User:bob", "CREATE", "orders"), "It is about Create, not about Read."),
    ],
)
def test_a_near_miss_says_what_people_trip_over(near: AclBinding, words: str) -> None:
    reasons = why(read("User:bob", "orders", host="0:0:0:0:0:0:0:1"), near)

    assert words in reasons.near_misses[0].sentence


def test_a_range_that_this_kafka_does_not_read_is_explained() -> None:
    near = allow("User:bob", "READ", "orders", host="10.0.0.0/8")

    reasons = why(read("User:bob", "orders"), near, rules=Rules(kafka_version="4.3"))

    assert "reads no address ranges" in reasons.near_misses[0].sentence


@pytest.mark.parametrize(
    ("binding", "sentence"),
    [
        (
            allow("User:bob", "READ", "payments.", pattern="PREFIXED"),
            "Allow User:bob to Read topics that start with payments. from any host",
        ),
        (deny("User:*", "ALL", "*"), "Deny everyone the right to do anything with every topic from any host"),
        (
            allow("User:bob", "ALTER", "kafka-cluster", resource_type="CLUSTER", host="10.0.0.7"),
            "Allow User:bob to Alter the cluster from 10.0.0.7",
        ),
        (
            allow("User:CN=b,O=c", "READ", "my group", resource_type="GROUP", host="10.0.0.0/8"),
            "Allow User:CN=b,O=c to Read group 'my group' from addresses in 10.0.0.0/8",
        ),
        (
            acl("UNKNOWN", "User:a", "READ", "x"),
            "Allow or deny (aclweb does not know which) User:a to Read topic x from any host",
        ),
    ],
)
def test_a_binding_reads_as_a_sentence(binding: AclBinding, sentence: str) -> None:
    assert says(binding) == sentence


def test_names_that_a_reader_could_not_see_are_quoted() -> None:
    trailing_space = allow("User:a", "READ", "orders ")

    assert "'orders '" in says(trailing_space)
    assert "'a\\u202eb'" in says(allow("User:a", "READ", "a\u202eb"))


def test_a_topic_with_very_many_acls_is_explained_with_a_few() -> None:
    bindings = [allow(f"User:u{number}", "READ", "orders") for number in range(3_000)]

    reasons = why(write("User:bob", "orders"), *bindings)

    assert len(reasons.near_misses) == 50
    assert "3,000 ACLs cover topic orders, and none of them allows this." in reasons.sentence
    assert len(reasons.sentences) < 10


def test_an_undecided_answer_names_the_acl_with_the_unknown_value() -> None:
    strange = acl("ALLOW", "User:bob", "UNKNOWN", "orders")

    decision = authorize(read("User:bob", "orders"), AclIndex([strange]))

    assert (decision.result, decision.basis) == (Result.UNDECIDED, Basis.UNKNOWN_VALUE)
    assert any(says(strange) in sentence for sentence in explain(decision).sentences)
