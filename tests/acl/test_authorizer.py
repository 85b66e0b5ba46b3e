"""The decision is Kafka's: held against the naive reference, and claim by claim."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.decision import Decision, authorize, decide, findings_for, may_turn
from aclweb.acl.authorizer.hazards import hazards_of
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.hosts import admits
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import AccessRequest, AclError, Operation
from tests import reference
from tests.builders import acl, allow, ask, deny, describe, read, write
from tests.random_cases import (
    SCALE,
    assert_balanced,
    crowded_case,
    random_binding,
    random_case,
    random_request,
    random_world,
    with_unknowns,
)

CASES = 1_000 * SCALE
BOTH = pytest.mark.parametrize(
    "settings",
    [AuthorizerSettings("standard"), AuthorizerSettings("acl")],
    ids=lambda settings: settings.authorizer,
)


DECIDING = set(Basis) - {Basis.UNKNOWN_VALUE, Basis.NOT_ASKED}


def check(seed: int, *, authorizer: str, by_type: bool) -> tuple[str, str]:
    make = crowded_case if seed % 2 else random_case
    world, request = make(seed, authorizer=authorizer, by_type=by_type)
    index = AclIndex(world.bindings)
    expected = reference.answer(request, world.bindings, world.settings)
    decision = authorize(request, index, world.settings)
    assert (decision.result.value, decision.basis.value) == expected, f"seed {seed}"
    assert decide(request, index, world.settings) == (decision.result, decision.basis), f"seed {seed}"
    assert hazards_of(request, index, world.settings) == decision.hazards, f"seed {seed}"
    assert findings_for(request, index, world.settings) == decision.findings, f"seed {seed}"
    # Without the other ACLs the default could speak for a whole type.
    by_default = by_type and world.settings.allow_everyone and decision.basis is not Basis.NO_ALLOW_ACL
    if decision.determining and not by_default:
        alone = reference.answer(request, decision.determining, world.settings)
        assert alone == expected, f"seed {seed}: the determining ACLs alone give another answer"
    return expected


@pytest.mark.parametrize("authorizer", ["standard", "acl"])
def test_both_paths_agree_with_the_reference_on_one_resource(authorizer: str) -> None:
    answers = Counter(check(seed, authorizer=authorizer, by_type=False) for seed in range(CASES))

    assert_balanced(answers, (basis.value for basis in DECIDING))


@pytest.mark.parametrize("authorizer", ["standard", "acl"])
def test_both_paths_agree_with_the_reference_on_a_whole_type(authorizer: str) -> None:
    answers = Counter(check(seed, authorizer=authorizer, by_type=True) for seed in range(CASES))

    assert_balanced(answers, (basis.value for basis in DECIDING))


def test_an_unknown_value_leaves_open_exactly_what_it_could_change() -> None:
    undecided = 0
    for seed in range(1_000 * SCALE):
        rng = random.Random(f"unknown {seed}")
        world, request = random_case(seed, authorizer="standard")
        if request.operation in (Operation.TWO_PHASE_COMMIT, Operation.ALL) or (
            request.resource_name or ""
        ).startswith("*"):
            continue
        world = with_unknowns(rng, replace(world, bindings=world.bindings[:7]))
        bindings = [b for b in world.bindings if b.resource_type.name != "UNKNOWN"]
        worlds = itertools.islice(itertools.product(*map(reference.readings_of, bindings)), 3_000)
        results = {
            reference.answer(request, [b for b in bindings_there if b is not None], world.settings)[0]
            for bindings_there in worlds
        }
        decision = authorize(request, AclIndex(world.bindings), world.settings)

        assert decide(request, AclIndex(world.bindings), world.settings) == (decision.result, decision.basis)
        expected = results.pop() if len(results) == 1 else "UNDECIDED"
        assert decision.result.value == expected, f"seed {seed}"
        undecided += decision.result is Result.UNDECIDED
    assert undecided > 40


@pytest.mark.parametrize("by_type", [False, True])
def test_the_two_paths_agree_where_values_are_unknown(by_type: bool) -> None:
    seen: Counter[Result] = Counter()
    for seed in range(CASES // 2):
        world, request = random_case(seed, by_type=by_type)
        world = with_unknowns(random.Random(f"paths {seed}"), world)
        index = AclIndex(world.bindings)
        decision = authorize(request, index, world.settings)
        assert decide(request, index, world.settings) == (decision.result, decision.basis), f"seed {seed}"
        seen[decision.result] += 1
    assert min(seen[result] for result in Result) > 20


def test_only_what_covers_the_made_up_name_ends_a_default_allow_of_a_whole_type() -> None:
    ending = allow("User:bob", "READ", "hard", pattern="PREFIXED")
    index = AclIndex([ending, allow("User:bob", "READ", "orders")])
    request = ask("User:eve", "WRITE", None)

    decision = authorize(request, index, AuthorizerSettings(allow_everyone=True))

    assert (decision.basis, decision.determining) == (Basis.NO_ALLOW_ACL, (ending,))
    assert set(authorize(request, index, AuthorizerSettings()).determining) == set(index)


def test_a_deny_on_a_prefix_beats_an_allow_on_the_topic_itself() -> None:
    refusal = deny("User:bob", "READ", "payments.", pattern="PREFIXED")
    index = AclIndex([refusal, allow("User:bob", "READ", "payments.eu")])

    decision = authorize(read("User:bob", "payments.eu"), index)

    assert not decision.allowed
    assert decision.determining == (refusal,)


@BOTH
def test_an_allow_brings_describe_with_it_and_a_deny_brings_nothing(settings: AuthorizerSettings) -> None:
    for word in ("READ", "WRITE", "DELETE", "ALTER"):
        index = AclIndex(
            [
                allow("User:bob", word, "orders"),
                deny("User:eve", word, "orders"),
                allow("User:eve", "ALL", "orders"),
            ]
        )
        assert authorize(describe("User:bob", "orders"), index, settings).allowed
        assert authorize(describe("User:eve", "orders"), index, settings).allowed
        assert not authorize(ask("User:eve", word, "orders"), index, settings).allowed
    create = AclIndex([allow("User:bob", "CREATE", "orders")])
    assert not authorize(describe("User:bob", "orders"), create, settings).allowed
    alter_configs = AclIndex([allow("User:bob", "ALTER_CONFIGS", "orders")])
    assert authorize(ask("User:bob", "DESCRIBE_CONFIGS", "orders"), alter_configs, settings).allowed


@BOTH
def test_all_is_every_operation_and_asking_for_all_needs_all(settings: AuthorizerSettings) -> None:
    everything = AclIndex([allow("User:bob", "ALL", "orders")])
    reads = AclIndex([allow("User:bob", "READ", "orders")])
    for operation in operations_of(everything.bindings[0].resource_type, settings):
        assert authorize(ask("User:bob", operation.name, "orders"), everything, settings).allowed
    assert authorize(ask("User:bob", "ALL", "orders"), everything, settings).allowed
    assert not authorize(ask("User:bob", "ALL", "orders"), reads, settings).allowed


@BOTH
def test_any_user_is_any_principal_of_any_type_and_no_other_text_is_a_wildcard(
    settings: AuthorizerSettings,
) -> None:
    for_all = AclIndex([allow("User:*", "READ", "orders")])
    for principal in ("User:bob", "Group:devs", "User:CN=bob,OU=eu", "User:"):
        assert authorize(read(principal, "orders"), for_all, settings).allowed
    for look_alike in ("Group:*", "User:b*", "User:BOB", "*"):
        index = AclIndex([allow(look_alike, "READ", "orders")])
        assert not authorize(read("User:bob", "orders"), index, settings).allowed


@BOTH
def test_one_acl_for_somebody_else_ends_the_default_for_all(settings: AuthorizerSettings) -> None:
    open_rules = replace(settings, allow_everyone=True)
    index = AclIndex([allow("User:ada", "READ", "orders.", pattern="PREFIXED")])

    assert authorize(write("User:bob", "billing"), index, open_rules).basis is Basis.DEFAULT_ALLOW
    assert authorize(write("User:bob", "orders.eu"), index, open_rules).basis is Basis.NO_ALLOW_ACL


def test_a_prefixed_asterisk_is_an_asterisk() -> None:
    index = AclIndex([allow("User:bob", "READ", "*", pattern="PREFIXED", resource_type="GROUP")])

    assert authorize(ask("User:bob", "READ", "*team", resource_type="GROUP"), index).allowed
    assert not authorize(ask("User:bob", "READ", "team", resource_type="GROUP"), index).allowed


def test_kraft_skips_the_wildcard_for_longer_names_that_begin_with_it() -> None:
    index = AclIndex([allow("User:bob", "READ", "*", resource_type="GROUP")])
    for name, by_kraft in (("*", True), ("+team", True), ("", True), ("*team", False), ("**", False)):
        request = ask("User:bob", "READ", name, resource_type="GROUP")
        assert authorize(request, index, AuthorizerSettings("standard")).allowed is by_kraft
        assert authorize(request, index, AuthorizerSettings("acl")).allowed


def test_an_empty_prefix_covers_all_names_in_kraft_and_the_empty_one_in_zookeeper() -> None:
    index = AclIndex([allow("User:bob", "READ", "", pattern="PREFIXED", resource_type="GROUP")])
    for name in ("team", "*team", ""):
        request = ask("User:bob", "READ", name, resource_type="GROUP")
        assert authorize(request, index, AuthorizerSettings("standard")).allowed
        assert authorize(request, index, AuthorizerSettings("acl")).allowed is (name == "")


def test_a_super_user_is_allowed_whatever_denies_it() -> None:
    index = AclIndex([deny("User:*", "ALL", "*")])

    decision = authorize(
        read("User:root", "orders"), index, AuthorizerSettings(super_users=frozenset({"User:root"}))
    )

    assert (decision.result, decision.basis, decision.hazards) == (Result.ALLOWED, Basis.SUPER_USER, ())


def test_an_acl_without_a_colon_is_for_nobody_and_is_a_hazard_in_kraft() -> None:
    index = AclIndex([allow("bob", "READ", "orders"), allow("User:bob", "READ", "orders")])

    assert authorize(read("User:bob", "orders"), index).hazards == ("unparsable-principal",)
    assert authorize(read("User:bob", "billing"), index).hazards == ()
    assert authorize(read("User:bob", "orders"), index, AuthorizerSettings("acl")).hazards == ()
    assert not authorize(read("bob", "orders"), index).allowed


def test_a_session_that_calls_itself_any_user_is_a_hazard_from_kafka_4() -> None:
    request = read("User:*", "orders")

    assert authorize(request, AclIndex(), AuthorizerSettings()).hazards == ("kraft-star-principal",)
    assert authorize(request, AclIndex(), AuthorizerSettings(kafka_version="3.9")).hazards == ()
    assert authorize(request, AclIndex(), AuthorizerSettings("acl")).hazards == ()
    assert authorize(request, AclIndex(), AuthorizerSettings(super_users=frozenset({"User:*"}))).hazards == ()


@pytest.mark.parametrize(
    ("acl_host", "host", "inside"),
    [
        ("10.0.0.7/24", "10.0.0.255", True),
        ("10.0.0.0/24", "10.0.1.0", False),
        ("010.0.0.0/08", "10.255.0.1", True),
        ("10.0.0.0/024", "10.0.0.1", False),
        ("10.0.0.0/+24", "10.0.0.1", False),
        ("10.0.0.0/255.0.0.0", "10.0.0.1", False),
        ("10.0.0.0/33", "10.0.0.1", False),
        ("256.0.0.0/8", "10.0.0.1", False),
        ("10.0.0.1/32", "10.0.0.1", True),
        ("0.0.0.0/0", "192.168.0.1", True),
        ("0.0.0.0/0", "0.0.0.0", False),
        ("0.0.0.0/0", "0:0:0:0:0:0:0:1", False),
        ("::/0", "0:0:0:0:0:0:0:0", True),
        ("::/128", "0:0:0:0:0:0:0:0", True),
        ("::/0", "0:0:0:0:0:0:0:1", True),
        ("::/0", "10.0.0.1", False),
        ("2001:DB8::/032", "2001:db8:0:0:0:0:0:1", True),
        ("[2001:db8::]/+32", "2001:db8:0:0:0:0:0:1", True),
        ("2001:db8::/-0", "fe80:0:0:0:0:0:0:1", True),
        ("2001:db8::/129", "2001:db8:0:0:0:0:0:1", False),
        (f"2001:db8::/{'0' * 5_000}32", "2001:db8:0:0:0:0:0:1", True),
        (f"2001:db8::/{'1' * 5_000}", "2001:db8:0:0:0:0:0:1", False),
        ("fe80::/10", "fe80:0:0:0:0:0:0:1%eth0", True),
        ("fe80::1%1/64", "fe80:0:0:0:0:0:0:9", True),
        ("fe80::1%/64", "fe80:0:0:0:0:0:0:9", False),
        ("fe80::1%eth0/64", "fe80:0:0:0:0:0:0:9", False),
        ("::ffff:10.0.0.0/120", "10.0.0.1", False),
        ("::10.0.0.0/120", "0:0:0:0:0:0:a00:1", True),
        ("64:ff9b::10.0.0.0/120", "64:ff9b:0:0:0:0:a00:7", True),
        ("1:2:3:4:5:6:7::/112", "1:2:3:4:5:6:7:9", True),
        ("1::2::3/16", "1:0:0:0:0:0:0:1", False),
        ("10.0.0.0/8/8", "10.0.0.1", False),
        ("::/0/0", "0:0:0:0:0:0:0:1", False),
        ("example.com", "10.0.0.1", False),
    ],
)
def test_a_range_of_addresses_is_read_as_kafka_4_4_reads_it(acl_host: str, host: str, inside: bool) -> None:
    assert admits(acl_host, host, ranges=True) is inside
    assert not admits(acl_host, host, ranges=False)


def test_hosts_are_compared_as_text_outside_ranges() -> None:
    assert not admits("::1", "0:0:0:0:0:0:0:1", ranges=True)
    assert admits("0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1", ranges=False)
    assert admits("*", "10.0.0.7", ranges=False)


def test_undeclared_settings_are_named_only_where_they_could_turn_the_answer() -> None:
    settings = AuthorizerSettings(undeclared=frozenset({"super_users", "allow_everyone"}))
    index = AclIndex([allow("User:bob", "READ", "orders")])

    def undeclared_dependencies(
        request: AccessRequest, settings: AuthorizerSettings = settings
    ) -> tuple[str, ...]:
        return authorize(request, index, settings).undeclared_dependencies

    assert undeclared_dependencies(read("User:bob", "orders")) == ()
    assert undeclared_dependencies(read("User:eve", "orders")) == ("super_users",)
    assert undeclared_dependencies(read("User:eve", "billing")) == ("super_users", "allow_everyone")
    assert undeclared_dependencies(read("User:eve", "billing"), AuthorizerSettings()) == ()


def test_findings_say_what_did_not_match() -> None:
    other_host = allow("User:bob", "READ", "orders", host="10.9.9.9")
    other_operation = allow("User:bob", "CREATE", "orders")
    everything_else = deny("User:eve", "ALTER", "orders", host="10.9.9.9")
    index = AclIndex([other_host, other_operation, everything_else])

    decision: Decision = authorize(read("User:bob", "orders"), index)

    why_not = {finding.binding: finding.why_not for finding in decision.findings}
    assert why_not == {
        other_host: ("host",),
        other_operation: ("operation",),
        everything_else: ("principal", "host", "operation"),
    }


def test_an_acl_with_an_unknown_type_covers_nothing() -> None:
    index = AclIndex(
        [acl("DENY", "User:*", "ALL", "*", resource_type="UNKNOWN"), allow("User:bob", "READ", "orders")]
    )

    assert authorize(read("User:bob", "orders"), index).allowed


@pytest.mark.parametrize(
    ("authorizer", "text", "expected"),
    [
        ("standard", " User:a ; ;User:CN=b,O=c; ", {"User:a", "User:CN=b,O=c"}),
        ("standard", "", set()),
        ("acl", "User:a; User:b;;", {"User:a", "User:b"}),
        ("acl", "", set()),
        ("acl", ";", set()),
    ],
)
def test_super_users_are_read_as_the_authorizer_reads_them(
    authorizer: str, text: str, expected: set[str]
) -> None:
    assert (
        AuthorizerSettings.read(authorizer=authorizer, config={"super.users": text}).super_users == expected
    )


@pytest.mark.parametrize(
    ("authorizer", "config"),
    [
        ("standard", {"super.users": "alice"}),
        ("acl", {"super.users": ";User:a"}),
        ("acl", {"super.users": " "}),
        ("acl", {"super.users": "User:a; ;User:b"}),
        ("acl", {"allow.everyone.if.no.acl.found": "yes"}),
        ("standard", {"allow.everyone.if.no.acl.found": None}),
        ("standard", {"super.users": None}),
        ("standard", {"authorizer": "x"}),
    ],
)
def test_what_a_broker_would_not_start_with_is_refused(authorizer: str, config: dict[str, object]) -> None:
    with pytest.raises(AclError, match=r"\.$"):
        AuthorizerSettings.read(authorizer=authorizer, config=config)


def test_the_default_mode_is_read_as_the_authorizer_reads_it() -> None:
    key = "allow.everyone.if.no.acl.found"
    for text, standard in ((" TRUE ", True), ("false", False), ("yes", False), (True, True)):
        assert AuthorizerSettings.read(config={key: text}).allow_everyone is standard
    assert AuthorizerSettings.read(authorizer="acl", config={key: " True "}).allow_everyone


@pytest.mark.parametrize(
    ("authorizer", "version"),
    [
        ("standard", "3.8"),
        ("standard", "5.0"),
        ("acl", "4.0"),
        ("acl", "2.3"),
        ("standard", "4.4.x"),
        ("glob", "4.3"),
        ("zk", None),
    ],
)
def test_an_authorizer_or_version_that_is_not_known_is_refused(authorizer: str, version: str | None) -> None:
    with pytest.raises(AclError):
        AuthorizerSettings.read(authorizer=authorizer, kafka_version=version)


def test_a_patch_version_is_accepted_and_ignored() -> None:
    assert AuthorizerSettings.read(kafka_version="4.1.2") == AuthorizerSettings(kafka_version="4.1")
    assert (AuthorizerSettings().kafka_version, AuthorizerSettings("acl").kafka_version) == ("4.4", "3.9")


def test_operations_come_with_the_version_that_brought_them() -> None:
    group, transaction = allow("User:a", "READ", "g", resource_type="GROUP"), "TWO_PHASE_COMMIT"
    assert [o.name for o in operations_of(group.resource_type, AuthorizerSettings("acl"))] == [
        "READ",
        "DESCRIBE",
        "DELETE",
    ]
    assert len(operations_of(group.resource_type, AuthorizerSettings())) == 5
    kind = ask("User:a", "WRITE", "t", resource_type="TRANSACTIONAL_ID").resource_type
    assert transaction not in [o.name for o in operations_of(kind, AuthorizerSettings(kafka_version="4.0"))]
    assert transaction in [o.name for o in operations_of(kind, AuthorizerSettings(kafka_version="4.1"))]


@pytest.mark.parametrize("authorizer", ["standard", "acl", "glob"])
def test_what_no_edited_acl_may_turn_ends_as_before(authorizer: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(150 * SCALE):
        rng = random.Random(f"may turn {authorizer} {seed}")
        world = random_world(rng, authorizer=authorizer)
        bindings = with_unknowns(rng, world).bindings if seed % 5 == 0 else world.bindings
        gone = rng.sample(bindings, min(len(bindings), rng.randint(0, 3)))
        come = [random_binding(rng, world.settings) for _ in range(rng.randint(0, 2))]
        before, edited = AclIndex(bindings), AclIndex([*gone, *come])
        after = AclIndex([*(each for each in bindings if each not in gone), *come])
        for _ in range(15):
            request = random_request(rng, world, by_type=rng.random() < 0.1)
            results = {decide(request, index, world.settings)[0] for index in (before, after)}
            if may_turn(request, edited, world.settings):
                seen["turns" if len(results) > 1 else "stays"] += 1
            else:
                assert len(results) == 1, (seed, request)
                seen["cannot"] += 1
    assert all(seen[each] > 50 for each in ("turns", "stays", "cannot")), seen
