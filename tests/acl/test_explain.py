"""The reasons given are the reasons: checked by deciding again, and read as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from aclweb.acl.authorizer import near_misses
from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.broker_log import reported_acl
from aclweb.acl.authorizer.decision import Decision, authorize
from aclweb.acl.authorizer.explanation import Explanation, explain
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.near_misses import PARTS, fits, ticks
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, PatternType
from aclweb.acl.model.wording import acl_text
from tests import reference
from tests.builders import acl, allow, ask, deny, describe, read, write
from tests.random_cases import SCALE, crowded_case, random_case

CASES = 300 * SCALE


def why(
    request: AccessRequest, *bindings: AclBinding, settings: AuthorizerSettings | None = None
) -> Explanation:
    return explain(authorize(request, AclIndex(bindings), settings or AuthorizerSettings()))


@cache
def decisions(by_type: bool) -> tuple[tuple[int, Decision, Explanation], ...]:
    """Return decisions about random worlds, by their seeds, with the reasons given for each."""
    found = []
    for seed in range(CASES):
        make = crowded_case if seed % 2 else random_case
        world, request = make(seed, by_type=by_type)
        decision = authorize(request, AclIndex(world.bindings), world.settings)
        found.append((seed, decision, explain(decision)))
    return tuple(found)


# What settled it.


def test_the_acl_that_the_log_names_is_the_one_that_two_walks_over_all_acls_end_with() -> None:
    named = 0
    for seed in range(3 * CASES):
        make = crowded_case if seed % 2 else random_case
        world, request = make(seed, authorizer="standard")
        decision = authorize(request, AclIndex(world.bindings), world.settings)
        assert reported_acl(decision) == reference.reported(request, world.bindings, world.settings), seed
        named += reported_acl(decision) is not None
    assert named > CASES // 2


@pytest.mark.parametrize("by_type", [False, True])
def test_what_would_also_decide_alone_gives_the_same_result(by_type: bool) -> None:
    some = 0
    for seed, decision, reasons in decisions(by_type):
        others = reasons.would_also_decide
        for binding in others[:4]:
            alone = reference.allows(decision.request, [binding], decision.settings)
            assert alone is decision.allowed, seed
        named = [binding for binding in decision.determining if binding not in others]
        if others and not by_type:
            assert len(named) == 1
            rest = [f.binding for f in decision.findings if f.binding not in named]
            assert reference.allows(decision.request, rest, decision.settings) is decision.allowed, seed
            some += 1
    assert by_type or some > 25


def test_without_every_named_deny_the_request_is_allowed_or_told_what_it_needs() -> None:
    turned = needing = 0
    for seed, decision, reasons in decisions(by_type=False):
        if decision.basis is not Basis.DENY_ACL:
            continue
        rest = [f.binding for f in decision.findings if f.binding not in decision.determining]
        assert reasons.smallest_removals == decision.determining, seed
        assert reasons.smallest_fix is None
        if reference.allows(decision.request, rest, decision.settings):
            assert reasons.fix_after_removals is None, seed
            turned += 1
        else:
            assert reasons.fix_after_removals is not None, seed
            with_it = [*rest, reasons.fix_after_removals]
            assert reference.allows(decision.request, with_it, decision.settings), seed
            needing += 1
    assert min(turned, needing) > 6


def test_of_a_question_that_acls_settled_exactly_the_settling_ones_have_every_tick() -> None:
    for seed, decision, _ in decisions(by_type=False):
        everything = {f.binding: ticks(f.binding, decision) for f in decision.findings}
        for finding in decision.findings:
            parts = everything[finding.binding]
            assert tuple(tick.part for tick in parts) == PARTS
            assert {tick.part: tick.matches for tick in parts} == fits(finding, decision), seed
        if decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL):
            ticked = {binding for binding, parts in everything.items() if all(t.matches for t in parts)}
            assert ticked == set(decision.determining), seed


# What would turn it.


def kept_bindings(decision: Decision) -> list[AclBinding]:
    return [finding.binding for finding in decision.findings]


@pytest.mark.parametrize("by_type", [False, True])
def test_every_fix_and_every_removal_turns_the_result_when_it_is_tried(by_type: bool) -> None:
    fixes = removals = both = 0
    for seed, decision, reasons in decisions(by_type):
        bindings = kept_bindings(decision)
        if reasons.smallest_fix is not None:
            fixes += 1
            assert not decision.allowed
            assert reference.allows(decision.request, [*bindings, reasons.smallest_fix], decision.settings), (
                seed
            )
        if reasons.smallest_removals:
            rest = [b for b in bindings if b not in reasons.smallest_removals]
            extra = [] if reasons.fix_after_removals is None else [reasons.fix_after_removals]
            turned = reference.allows(decision.request, [*rest, *extra], decision.settings)
            assert turned is not decision.allowed, seed
            removals += 1
            both += bool(extra)
        else:
            assert reasons.fix_after_removals is None
    assert min(fixes, removals) > 100
    assert both > (1 if by_type else 10)


@pytest.mark.parametrize("by_type", [False, True])
def test_no_smaller_removal_turns_the_result(by_type: bool) -> None:
    tried = 0
    for seed, decision, reasons in decisions(by_type):
        bindings = kept_bindings(decision)
        if len(bindings) > 9 or decision.basis is Basis.SUPER_USER:
            continue
        extra = [] if reasons.fix_after_removals is None else [reasons.fix_after_removals]
        # Where nothing was found, no set of any size may do it.
        most = len(reasons.smallest_removals) - 1 if reasons.smallest_removals else len(bindings)
        for size in range(most + 1):
            for removed in combinations(bindings, size):
                rest = [b for b in bindings if b not in removed]
                result = reference.allows(decision.request, [*rest, *extra], decision.settings)
                assert result is decision.allowed, (seed, removed)
                tried += 1
    assert tried > CASES


WIDER_HOSTS = ("10.0.0.7", "10.0.0.0/29", "10.0.0.0/24", "10.0.0.0/8", "0.0.0.0/0", "*")
SOME_OPERATIONS = ("READ", "WRITE", "CREATE", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS", "ALL")


def every_allow(request: AccessRequest) -> Iterator[AclBinding]:
    """Every ALLOW of a small world that a broker could store and that could be for this request."""
    name = request.resource_name or ""
    kind = request.resource_type.name
    patterns = {("LITERAL", name), ("LITERAL", "*"), ("LITERAL", name + "a"), ("PREFIXED", name + "a")}
    patterns |= {("PREFIXED", name[:length]) for length in range(1, len(name) + 1)}
    for pattern, text in patterns - {("LITERAL", "")}:
        for principal in (request.principal, "User:*", "User:somebody", "Group:*"):
            for host in {request.host, *WIDER_HOSTS}:
                for operation in {request.operation.name, *SOME_OPERATIONS}:
                    yield allow(principal, operation, text, pattern=pattern, resource_type=kind, host=host)


def width(binding: AclBinding) -> tuple[int, int, int, int]:
    """How wide each part is, among ACLs that let one request through: the order of `remedies`."""
    name = binding.resource_name
    pattern = 50_000 if name == "*" else 0
    if binding.pattern_type.name == "PREFIXED":
        pattern = 40_000 - len(name)
    host = 129 if binding.host == "*" else 0
    if "/" in binding.host:
        host = 128 - int(binding.host.partition("/")[2])
    # Two operations that bring the one asked for are neither smaller than the other.
    operation = {"ALL": 2, "READ": 1, "WRITE": 1, "ALTER_CONFIGS": 1}.get(binding.operation.name, 0)
    return pattern, binding.principal == "User:*", host, operation


def test_the_smallest_fix_is_no_wider_in_any_part_than_whatever_else_would_work() -> None:
    fixed = hopeless = 0
    for seed in range(CASES // 3):
        world, request = crowded_case(seed) if seed % 2 else random_case(seed)
        decision = authorize(request, AclIndex(world.bindings), world.settings)
        if decision.allowed or request.operation.name == "ALL":
            continue
        fix = explain(decision).smallest_fix
        covering = kept_bindings(decision)
        works = [
            candidate
            for candidate in every_allow(request)
            if reference.allows(request, [*covering, candidate], world.settings)
        ]
        if fix is None:
            assert not works, (seed, works[0])
            hopeless += 1
            continue
        assert fix in works, seed
        fix_operation = fix.operation.name
        for candidate in works:
            parts = zip(width(fix)[:3], width(candidate)[:3], strict=True)
            assert all(mine <= theirs for mine, theirs in parts), (seed, candidate)
            assert candidate.operation.name == fix_operation or width(candidate)[3] > 0
        assert fix_operation == request.operation.name
        fixed += 1
    assert min(fixed, hopeless) > 5


def test_a_refused_whole_type_has_a_fix_unless_a_deny_on_every_name_stands_there() -> None:
    hopeless = 0
    for seed, decision, reasons in decisions(by_type=True):
        if decision.result is not Result.DENIED:
            continue
        request, settings = decision.request, decision.settings
        fix = reasons.smallest_fix
        if fix is not None:
            assert fix.pattern_type.name == "LITERAL"
            assert (fix.principal, fix.host) == (request.principal, request.host)
            assert fix.operation is request.operation
            continue
        hopeless += 1
        for name in ("a", "ab", "zz", "hardcode", "*"):
            candidate = allow(request.principal, "ALL", name, resource_type=request.resource_type.name)
            assert not reference.allows(request, [*kept_bindings(decision), candidate], settings), seed
    assert hopeless > 3


def test_a_whole_type_under_a_deny_is_said_to_have_no_allow_that_reaches_beyond() -> None:
    reasons = why(ask("User:bob", "WRITE", None), allow("User:bob", "WRITE", "t"), deny("User:*", "ALL", "t"))

    assert reasons.sentence.endswith("1 ACL denies it, and no ALLOW matches more.")
    assert "One ACL on any one topic that no DENY matches would allow it" in " ".join(reasons.sentences)


@pytest.mark.parametrize("authorizer", ["standard", "acl"])
def test_a_deny_that_reaches_nobody_knows_where_is_named_for_a_whole_type(authorizer: str) -> None:
    far = deny("User:bob", "READ", "payments", pattern="UNKNOWN")
    asked = ask("User:bob", "READ", None)
    decision = authorize(
        asked, AclIndex([far, allow("User:eve", "READ", "x")]), AuthorizerSettings(authorizer)
    )
    assert (decision.basis, decision.determining) == (Basis.DENY_ACL, (far,))
    assert "1 ACL denies it" in explain(decision).sentence


def test_a_fix_for_a_whole_type_takes_a_name_that_the_principal_has_already() -> None:
    own, strange = allow("User:bob", "READ", "orders"), allow("User:eve", "WRITE", "billing")

    assert why(ask("User:bob", "WRITE", None), own, strange).smallest_fix == allow(
        "User:bob", "WRITE", "orders", host="10.0.0.7"
    )
    made_up = why(ask("User:bob", "WRITE", None), deny("User:bob", "ALL", "some", pattern="PREFIXED"))
    assert made_up.smallest_fix == allow("User:bob", "WRITE", "any-topic", host="10.0.0.7")


@pytest.mark.parametrize(
    ("kind", "name", "settings", "fix"),
    [
        ("CLUSTER", "kafka-cluster", AuthorizerSettings(), ("LITERAL", "kafka-cluster")),
        ("CLUSTER", "other", AuthorizerSettings(), None),
        ("GROUP", "", AuthorizerSettings(), ("LITERAL", "*")),
        ("GROUP", "a/b", AuthorizerSettings(), ("LITERAL", "a/b")),
        ("GROUP", "a/b", AuthorizerSettings("acl"), ("PREFIXED", "a")),
        ("GROUP", "/b", AuthorizerSettings("acl"), ("LITERAL", "*")),
    ],
)
def test_a_fix_is_an_acl_that_a_broker_would_store(
    kind: str, name: str, settings: AuthorizerSettings, fix: tuple[str, str] | None
) -> None:
    found = why(ask("User:bob", "DESCRIBE", name, resource_type=kind), settings=settings).smallest_fix

    assert (None if found is None else (found.pattern_type.name, found.resource_name)) == fix


def test_removing_all_acls_of_a_resource_is_said_to_open_it_to_everyone() -> None:
    reasons = why(
        read("User:bob", "x"),
        allow("User:ada", "READ", "x"),
        settings=AuthorizerSettings(allow_everyone=True),
    )

    assert reasons.smallest_removals == (allow("User:ada", "READ", "x"),)
    assert any("to everyone" in sentence for sentence in reasons.sentences)


@pytest.mark.parametrize("by_type", [False, True])
def test_exactly_one_gate_decides_and_the_decision_is_the_result(by_type: bool) -> None:
    words = {Result.ALLOWED: "Yes, allowed", Result.DENIED: "No, refused", Result.UNDECIDED: "Cannot tell"}
    for seed, decision, reasons in decisions(by_type):
        assert sum(gate.decides for gate in reasons.gates) == 1, seed
        assert reasons.verdict == words[decision.result]
        assert all(sentence.endswith(".") for sentence in reasons.sentences), (seed, reasons.sentences)


def test_near_misses_come_fewest_crosses_first_and_say_what_is_crossed() -> None:
    beside = 0
    for seed, decision, reasons in decisions(by_type=False):
        misses = reasons.near_misses
        crosses = [sum(not tick.matches for tick in miss.ticks) for miss in misses]
        assert crosses == sorted(crosses), seed
        assert 0 not in crosses, seed
        wanted = "DENY" if decision.allowed else "ALLOW"
        assert {miss.binding.permission_type.name for miss in misses} <= {wanted}
        covering = {finding.binding for finding in decision.findings}
        for miss in misses:
            crossed = {tick.part for tick in miss.ticks if not tick.matches} - {"permission"}
            assert (miss.binding in covering) is crossed.isdisjoint({"type", "pattern"}), seed
            # Beside the resource only what is otherwise for exactly this request is near.
            assert miss.binding in covering or len(crossed) == 1, seed
            beside += miss.binding not in covering
    assert beside > 25


@pytest.mark.parametrize(
    ("near", "words"),
    [
        (allow("User:bob", "READ", "Orders"), "upper and lower case count"),
        (allow("User:bob", "READ", "ORD", pattern="PREFIXED"), "upper and lower case count"),
        (allow("User:*", "READ", "orderz"), "one character differs"),
        (allow("User:bob", "READ", "order"), "one character differs"),
        (allow("User:bob", "READ", "oders"), "one character differs"),
        (allow("User:bob", "READ", "ordres"), "one character differs"),
        (allow("User:bob", "READ", "odr", pattern="PREFIXED"), "one character differs"),
        (allow("User:bob", "READ", "orders."), "one character differs"),
        (allow("User:bob", "READ", "orders.", pattern="PREFIXED"), "longer than the name by '.'"),
        (allow("User:bob", "READ", "orders "), "white space counts"),
        (allow("User:bob", "READ", "ord*"), "say PREFIXED ord instead"),
        (allow("User:bob", "READ", "ord*", pattern="PREFIXED"), "the * in it is a real asterisk"),
        (allow("User:bob", "READ", "*", pattern="PREFIXED"), "only as LITERAL it matches every name"),
        (allow("User:bob", "READ", "orders", resource_type="GROUP"), "this is about a topic"),
        (
            allow("User:bob", "READ", "ord", pattern="PREFIXED", resource_type="GROUP"),
            "this is about a topic",
        ),
    ],
)
def test_an_acl_whose_pattern_nearly_covers_the_name_is_a_near_miss(near: AclBinding, words: str) -> None:
    (miss,) = why(read("User:bob", "orders"), near).near_misses

    assert miss.binding == near
    assert words in miss.sentence


def test_a_literal_that_was_meant_as_a_prefix_is_a_near_miss() -> None:
    for name in ("orders", "orders."):
        (miss,) = why(read("User:bob", "orders.eu"), allow("User:bob", "READ", name)).near_misses
        assert "it is LITERAL" in miss.sentence
    (look_alike,) = why(
        ask("User:bob", "READ", "cafe\u0301", resource_type="GROUP"),
        allow("User:bob", "READ", "caf\u00e9", resource_type="GROUP"),
    ).near_misses
    assert "they look alike" in look_alike.sentence
    starred = ask("User:bob", "READ", "*team", resource_type="GROUP")
    (skipped,) = why(starred, allow("User:bob", "READ", "*", resource_type="GROUP")).near_misses
    assert "does not apply * to longer names that begin with an asterisk" in skipped.sentence


@pytest.mark.parametrize(
    "far",
    [
        allow("User:bob", "READ", "billing"),
        allow("User:bob", "READ", "orders-of-last-year", pattern="PREFIXED"),
        allow("User:eve", "READ", "Orders"),
        allow("User:bob", "CREATE", "Orders"),
        allow("User:bob", "READ", "Orders", host="10.9.9.9"),
        deny("User:bob", "READ", "Orders"),
        allow("User:bob", "READ", "*", resource_type="GROUP"),
    ],
)
def test_what_differs_in_more_than_the_pattern_is_no_near_miss(far: AclBinding) -> None:
    assert why(read("User:bob", "orders"), far).near_misses == ()


def test_the_brokers_log_names_the_first_deny_and_else_the_last_allow() -> None:
    wide, narrow = deny("User:*", "READ", "pay", pattern="PREFIXED"), deny("User:*", "READ", "payments")
    any_allow, own_allow = allow("User:*", "READ", "*"), allow("User:bob", "READ", "payments")

    refused = why(read("User:bob", "payments"), wide, narrow, any_allow, own_allow)
    allowed = why(read("User:bob", "payments"), any_allow, own_allow)

    assert refused.broker_rule == {"rule": "MatchingAcl", "acl": narrow.as_dict()}
    assert allowed.broker_rule == {"rule": "MatchingAcl", "acl": any_allow.as_dict()}


def test_for_another_beginning_the_log_names_an_empty_prefix_before_the_wildcard() -> None:
    every_name, nothing = deny("User:*", "ALL", "*"), deny("User:a", "READ", "", pattern="PREFIXED")
    elsewhere = allow("User:b", "READ", "Gr", pattern="PREFIXED")

    assert why(read("User:a", "x"), every_name, nothing).broker_rule == {
        "rule": "MatchingAcl",
        "acl": every_name.as_dict(),
    }
    assert why(read("User:a", "x"), every_name, nothing, elsewhere).broker_rule == {
        "rule": "MatchingAcl",
        "acl": nothing.as_dict(),
    }


def test_the_log_of_the_zookeeper_authorizer_names_no_rule() -> None:
    assert why(read("User:bob", "x"), settings=AuthorizerSettings("acl")).broker_rule is None
    assert why(ask("User:bob", "WRITE", None)).broker_rule is None


@pytest.mark.parametrize(
    ("settings", "bindings", "rule"),
    [
        (AuthorizerSettings(super_users=frozenset({"User:bob"})), [], "SuperUser"),
        (AuthorizerSettings(allow_everyone=True), [], "DefaultAllow"),
        (AuthorizerSettings(), [], "DefaultDeny"),
        (AuthorizerSettings(allow_everyone=True), [allow("User:ada", "READ", "x")], "DefaultDeny"),
    ],
)
def test_without_a_matching_acl_the_log_names_the_default(
    settings: AuthorizerSettings, bindings: list[AclBinding], rule: str
) -> None:
    assert why(read("User:bob", "x"), *bindings, settings=settings).broker_rule == {"rule": rule, "acl": None}


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


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("WRITE", "refused there; otherwise the answer would be unknown."),
        ("READ", "refused there; otherwise the request would be allowed."),
    ],
)
def test_an_undeclared_default_beside_an_unknown_pattern_turns_no_answer_around(
    operation: str, words: str
) -> None:
    unknown = replace(allow("User:bob", "READ", "x"), pattern_type=PatternType.UNKNOWN)
    settings = AuthorizerSettings(undeclared=frozenset({"allow_everyone"}))

    assert why(ask("User:bob", operation, "orders"), unknown, settings=settings).sentences[-1].endswith(words)


def test_an_undeclared_setting_is_a_caveat_only_where_it_matters() -> None:
    settings = AuthorizerSettings(undeclared=frozenset({"super_users", "allow_everyone"}))

    refused = why(read("User:bob", "orders"), settings=settings)
    allowed = why(read("User:bob", "orders"), allow("User:bob", "READ", "orders"), settings=settings)

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

    reasons = why(read("User:bob", "orders"), near, settings=AuthorizerSettings(kafka_version="4.3"))

    assert "reads no address ranges" in reasons.near_misses[0].sentence


@pytest.mark.parametrize(
    ("binding", "sentence"),
    [
        (
            allow("User:bob", "READ", "payments.", pattern="PREFIXED"),
            "Allow User:bob to Read topics that start with 'payments.' from any host",
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
    assert acl_text(binding) == sentence


def test_names_that_a_reader_could_not_see_are_quoted() -> None:
    trailing_space = allow("User:a", "READ", "orders ")

    assert "'orders '" in acl_text(trailing_space)
    assert "'a\\u202eb'" in acl_text(allow("User:a", "READ", "a\u202eb"))


def test_a_range_with_the_name_of_an_interface_is_explained() -> None:
    link_local = read("User:bob", "orders", host="fe80:0:0:0:0:0:0:9")

    (miss,) = why(link_local, allow("User:bob", "READ", "orders", host="fe80::1%eth0/64")).near_misses

    assert "only a broker that has that one reads it" in miss.sentence


def test_explaining_looks_closely_at_few_acls_however_many_there_are(monkeypatch) -> None:
    crowd = [allow(f"User:u{number}", "READ", "orders") for number in range(2_000)]
    crowd += [allow("User:bob", "READ", f"Order{number}") for number in range(2_000)]
    crowd += [allow("User:bob", "READ", "orders", host=f"10.9.{n // 250}.{n % 250}") for n in range(2_000)]
    crowd += [allow("User:bob", "READ", "orders", resource_type="GROUP")]
    looked: list[AclBinding] = []
    monkeypatch.setattr(near_misses, "acl_text", lambda binding: looked.append(binding) or "It is so")
    monkeypatch.setattr(near_misses, "OWN_ACLS_TRIED", 1_000)
    compared: list[str] = []
    monkeypatch.setattr(near_misses, "_nearness", lambda binding, name: compared.append(name))

    reasons = why(read("User:bob", "orders"), *crowd)

    assert len(reasons.near_misses) == len(looked) == near_misses.NEAR_MISSES_SHOWN
    assert len(compared) <= 1_000
    assert len(reasons.sentences) < 10


def test_a_topic_with_very_many_acls_is_explained_with_a_few() -> None:
    bindings = [allow(f"User:u{number}", "READ", "orders") for number in range(3_000)]

    reasons = why(write("User:bob", "orders"), *bindings)

    assert len(reasons.near_misses) == 50
    assert "3,000 ACLs match topic orders, and none of them allows this." in reasons.sentence
    assert len(reasons.sentences) < 10


def test_an_undecided_answer_names_the_acl_with_the_unknown_value() -> None:
    strange = acl("ALLOW", "User:bob", "UNKNOWN", "orders")

    decision = authorize(read("User:bob", "orders"), AclIndex([strange]))

    assert (decision.result, decision.basis) == (Result.UNDECIDED, Basis.UNKNOWN_VALUE)
    assert any(acl_text(strange) in sentence for sentence in explain(decision).sentences)


def test_a_pattern_of_an_unknown_type_is_what_leaves_the_answer_undecided() -> None:
    unknown = replace(allow("User:bob", "READ", "x"), pattern_type=PatternType.UNKNOWN)

    (gate,) = (gate for gate in why(read("User:bob", "orders"), unknown).gates if gate.decides)

    assert gate.sentence == "ACLs have values that aclweb does not know; they could decide."


def test_each_list_of_an_explanation_is_written_under_its_own_key() -> None:
    reasons = why(read("User:bob", "orders"), allow("User:bob", "READ", "orders"))

    def own_key(name: str, _items: object, _write: object, /) -> list[Any]:
        return [{"list": name}]

    written = reasons.as_dict(own_key)

    lists = ("determining", "would_also_decide", "affecting", "near_misses", "smallest_removals")
    assert {key: value for key, value in written.items() if key in lists} == {
        key: [{"list": key}] for key in lists
    }


def test_the_fix_for_a_whole_type_is_on_a_name_that_the_principal_uses_already() -> None:
    asked = replace(read("User:bob", "any"), resource_name=None)
    others = [allow("User:eve", "READ", name) for name in ("a", "hers", "much-longer", "z")]

    reasons = why(asked, *others[:2], allow("User:bob", "WRITE", "his"), *others[2:])

    assert reasons.smallest_fix is not None
    assert reasons.smallest_fix.resource_name == "his"


def test_an_asterisk_at_the_end_of_a_name_is_near_for_names_under_its_whole_head() -> None:
    meant = allow("User:bob", "READ", "team-*")

    (miss,) = why(read("User:bob", "team-1"), meant).near_misses

    assert miss.sentence.endswith("the * in it is a real asterisk: say PREFIXED team- instead.")
    assert why(read("User:bob", "teams"), meant).near_misses == ()


def test_a_name_in_other_case_is_nearer_than_one_in_other_characters() -> None:
    composed, apart = "caf\u00e9.eu", "cafe\u0301.eu"
    acls = [allow("User:bob", "READ", name) for name in (apart, composed.upper())]

    found = why(read("User:bob", composed), *acls).near_misses

    assert [miss.binding.resource_name for miss in found] == [composed.upper(), apart]


def test_a_right_from_another_host_is_no_other_way() -> None:
    starts = ask("User:bob", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER")
    here, elsewhere = (allow("User:bob", "WRITE", "orders", host=host) for host in ("10.0.0.7", "10.0.0.8"))

    assert "enough to start an idempotent producer" in " ".join(why(starts, here).sentences)
    assert "enough to start an idempotent producer" not in " ".join(why(starts, elsewhere).sentences)
