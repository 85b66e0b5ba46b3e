"""Decisions of the authorizer `glob`, held against the reference and against cases worked out by hand."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.explanation import explain
from aclweb.acl.authorizer.hazards import hazards_of
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, AclError, Operation, PatternType, PermissionType
from tests import reference
from tests.builders import allow, ask, deny, read, topic, write
from tests.hostile import round_trip
from tests.random_cases import (
    SCALE,
    assert_balanced,
    random_case,
    random_request,
    random_world,
    with_unknowns,
)

# No character of it sorts before the asterisk.
UGLY = st.text(alphabet="ab*?.[]^\\{}+|-\ue000é\U0001f600", max_size=8)
GLOB = AuthorizerSettings("glob")
OPEN = AuthorizerSettings("glob", allow_everyone=True)


def glob(principal: str, operation: str, name: str, **more: str) -> AclBinding:
    return allow(principal, operation, name, pattern="GLOB", **more)


def result(request, *bindings, settings=GLOB):
    index = AclIndex(bindings)
    decision = authorize(request, index, settings)
    assert decide(request, index, settings) == (decision.result, decision.basis)
    return decision.result.value


@pytest.mark.parametrize("by_type", [False, True])
def test_decide_authorize_and_the_reference_agree_on_random_worlds_with_globs(by_type: bool) -> None:
    answers: Counter[tuple[str, str]] = Counter()
    for seed in range(750 * SCALE):
        world, request = random_case(seed, authorizer="glob", by_type=by_type)
        index = AclIndex(world.bindings)
        decision = authorize(request, index, world.settings)
        expected = reference.answer(request, world.bindings, world.settings)
        assert (decision.result.value, decision.basis.value) == expected, (seed, request, world)
        assert decide(request, index, world.settings) == (decision.result, decision.basis), seed
        assert decision.hazards == hazards_of(request, index, world.settings) == (), seed
        answers[expected] += 1
    assert_balanced(answers, {"DENY_ACL", "ALLOW_ACL", "NO_ALLOW_ACL", "DEFAULT_ALLOW", "DEFAULT_DENY"})


def test_what_is_explained_of_random_worlds_with_globs_holds_when_decided_again() -> None:
    fixed = 0
    for seed in range(200 * SCALE):
        world, request = random_case(seed, authorizer="glob", by_type=seed % 4 == 0)
        decision = authorize(request, AclIndex(world.bindings), world.settings)
        told = explain(decision)
        assert told.broker_rule is None
        assert told.sentences
        if told.smallest_fix is not None:
            fixed += 1
            assert reference.allows(request, [*world.bindings, told.smallest_fix], world.settings), seed
        if told.smallest_removals:
            kept = [b for b in world.bindings if b not in told.smallest_removals]
            kept += [told.fix_after_removals] if told.fix_after_removals else []
            assert reference.allows(request, kept, world.settings) is not decision.allowed, seed
    assert fixed > 50


def test_unknown_values_beside_globs_are_reported_alike_by_decide_and_authorize() -> None:
    undecided = 0
    for seed in range(200 * SCALE):
        rng = random.Random(f"unknown beside globs {seed}")
        # In a small world all ACLs of a principal may be unknown.
        world = random_world(rng, authorizer="glob", most=24 if seed % 2 else 5)
        request = random_request(rng, world, by_type=seed % 3 == 0)
        world = with_unknowns(rng, world)
        index = AclIndex(world.bindings)
        decision = authorize(request, index, world.settings)
        assert decide(request, index, world.settings) == (decision.result, decision.basis), seed
        explain(decision)
        undecided += decision.result is Result.UNDECIDED
    assert undecided > 10


def test_a_principal_whose_patterns_are_all_unknown_has_acls_of_the_type() -> None:
    index = AclIndex(
        [replace(deny("User:*", "READ", "t"), pattern_type=PatternType.UNKNOWN), allow("User:b", "READ", "t")]
    )

    decision = authorize(ask("User:a", "READ", None), index, GLOB)

    assert (decision.result, decision.basis) == (Result.DENIED, Basis.DENY_ACL)
    assert decide(decision.request, index, GLOB) == (decision.result, decision.basis)


def test_a_glob_covers_the_names_that_it_matches_and_the_empty_one_covers_all() -> None:
    accounts = glob("User:a", "READ", "??-accounts-*")
    assert result(read("User:a", "nl-accounts-localtopic"), accounts) == "ALLOWED"
    assert result(read("User:a", "nld-accounts-x"), accounts) == "DENIED"
    for everything in ("", "*", "**"):
        assert result(read("User:a", "*team"), glob("User:a", "READ", everything)) == "ALLOWED"
        assert result(read("User:a", ""), glob("User:a", "READ", everything)) == "ALLOWED"
    assert result(read("User:a", ""), glob("User:a", "READ", "?")) == "DENIED"


def test_a_deny_wins_over_every_more_specific_allow_and_over_a_literal_one() -> None:
    allows = [allow("User:a", "READ", "orders-eu"), glob("User:a", "READ", "orders-e?")]
    assert result(read("User:a", "orders-eu"), *allows) == "ALLOWED"
    denied = deny("User:*", "READ", "*-eu", pattern="GLOB")
    assert result(read("User:a", "orders-eu"), *allows, denied) == "DENIED"


def test_asterisks_in_literal_and_prefixed_names_stay_letters() -> None:
    assert result(read("User:a", "H*World"), allow("User:a", "READ", "H*World")) == "ALLOWED"
    assert result(read("User:a", "HelloWorld"), allow("User:a", "READ", "H*World")) == "DENIED"
    prefixed = allow("User:a", "READ", "H*", pattern="PREFIXED")
    assert result(read("User:a", "Hello"), prefixed) == "DENIED"
    assert result(read("User:a", "H*llo"), prefixed) == "ALLOWED"


def test_the_literal_wildcard_covers_names_that_begin_with_an_asterisk() -> None:
    everything = allow("User:a", "READ", "*", resource_type="GROUP")
    request = ask("User:a", "READ", "*team", resource_type="GROUP")
    assert result(request, everything) == "ALLOWED"
    assert result(request, everything, settings=AuthorizerSettings()) == "DENIED"


def test_a_glob_counts_as_covering_where_everyone_is_allowed_by_default() -> None:
    other = glob("User:b", "WRITE", "ord*")
    assert result(read("User:a", "orders"), other, settings=OPEN) == "DENIED"
    assert result(read("User:a", "bills"), other, settings=OPEN) == "ALLOWED"


@pytest.mark.parametrize(
    ("principal", "session", "matching"),
    [
        ("User:a*", "User:alice", True),
        ("User:a*", "User:bob", False),
        ("User:*", "Group:admins", True),
        ("Group:*", "Group:admins", True),
        ("Group:*", "User:admins", False),
        ("*:alice", "Group:alice", True),
        ("*:alice", "User:x:alice", False),
        ("User:*:alice", "User:x:alice", True),
        ("*:*", "Group:x", True),
        ("U??r:?", "User:a", True),
        ("*", "User:a", False),
        ("User:", "User:a", False),
        ("*:", "User:", True),
        ("User:CN=*,O=acme", "User:CN=bob,OU=x,O=acme", True),
        ("User:CN=[ab]*", "User:CN=bob", False),
    ],
)
def test_the_two_parts_of_a_principal_are_globs_apart(principal, session, matching) -> None:
    request = read(session, "t")
    own = allow(principal, "READ", "t")
    assert result(request, own) == ("ALLOWED" if matching else "DENIED")
    assert reference.allows(request, [own], GLOB) is matching


@pytest.mark.parametrize(
    ("host", "session", "matching"),
    [
        ("10.0.*", "10.0.0.7", True),
        ("10.0.0.?", "10.0.0.17", False),
        ("10.0.0.0/24", "10.0.0.17", True),
        ("0:0:*", "0:0:0:0:0:0:0:1", True),
        ("10.0.*/24", "10.0.0.1", False),
        ("*", "anything", True),
    ],
)
def test_a_host_is_a_glob_and_a_range_goes_on_working(host, session, matching) -> None:
    own = allow("User:a", "READ", "t", host=host)
    assert result(read("User:a", "t", host=session), own) == ("ALLOWED" if matching else "DENIED")


def test_other_authorizers_refuse_glob_patterns_and_read_globs_elsewhere_as_letters() -> None:
    for settings in (AuthorizerSettings(), AuthorizerSettings("acl")):
        index = AclIndex([glob("User:a", "READ", "t*")])
        for question in (
            lambda index=index, settings=settings: decide(read("User:a", "t"), index, settings),
            lambda index=index, settings=settings: authorize(read("User:a", "t"), index, settings),
            lambda index=index, settings=settings: index.affecting(topic("t"), settings),
            lambda index=index, settings=settings: decide(ask("User:a", "READ", None), index, settings),
        ):
            with pytest.raises(AclError, match="only the 'glob'"):
                question()
        assert result(read("User:al", "t"), allow("User:a*", "READ", "t"), settings=settings) == "DENIED"


def test_what_bears_on_a_resource_stands_in_scan_order_and_then_by_letters() -> None:
    bindings = [
        glob("User:a", "READ", "*"),
        glob("User:a", "READ", "o*s"),
        glob("User:a", "READ", "ord*"),
        glob("User:a", "READ", "or??rs"),
        glob("User:a", "READ", "?rd*"),
        allow("User:a", "READ", "*"),
        allow("User:a", "READ", "or", pattern="PREFIXED"),
        allow("User:a", "READ", "orders"),
        glob("User:a", "READ", ""),
    ]
    random.Random(1).shuffle(bindings)
    order = [
        (b.pattern_type.name, b.resource_name) for b in AclIndex(bindings).affecting(topic("orders"), GLOB)
    ]
    assert order == [
        ("LITERAL", "orders"),
        ("PREFIXED", "or"),
        ("LITERAL", "*"),
        ("GLOB", "or??rs"),
        ("GLOB", "ord*"),
        ("GLOB", "o*s"),
        ("GLOB", "?rd*"),
        ("GLOB", "*"),
        ("GLOB", ""),
    ]


def test_a_whole_type_is_allowed_where_an_allow_reaches_beyond_every_single_deny() -> None:
    asked = ask("User:a", "WRITE", None)
    orders = glob("User:a", "WRITE", "orders-*")
    assert result(asked, orders) == "ALLOWED"
    assert result(asked, orders, deny("User:*", "WRITE", "*-*", pattern="GLOB")) == "DENIED"
    assert result(asked, orders, deny("User:*", "WRITE", "*-?*", pattern="GLOB")) == "ALLOWED"
    assert result(asked, orders, deny("User:*", "WRITE", "orders-", pattern="PREFIXED")) == "DENIED"
    assert result(asked, orders, deny("User:*", "WRITE", "", pattern="PREFIXED")) == "DENIED"
    assert result(asked, orders, deny("User:*", "WRITE", "*")) == "DENIED"
    everything = allow("User:a", "WRITE", "*")
    assert result(asked, everything, deny("User:a", "WRITE", "*", pattern="GLOB")) == "DENIED"
    assert result(asked, everything, deny("User:a", "WRITE", "?*", pattern="GLOB")) == "ALLOWED"
    # Two DENYs that cover an ALLOW only together take nothing away, as in Kafka's own comparison.
    two = [deny("User:a", "WRITE", "?", pattern="GLOB"), deny("User:a", "WRITE", "??*", pattern="GLOB")]
    assert result(asked, glob("User:a", "WRITE", "?*"), *two) == "ALLOWED"


def test_a_whole_type_is_undecided_where_globs_are_too_intricate_to_compare() -> None:
    hard = deny("User:a", "WRITE", "*a" + "?" * 21 + "*b", pattern="GLOB")
    wide = glob("User:a", "WRITE", "*a*b" * 8)
    request = ask("User:a", "WRITE", None)
    assert result(request, wide, hard) == "UNDECIDED"
    told = explain(authorize(request, AclIndex([wide, hard]), GLOB))
    assert "too complex to compare" in told.sentence
    assert told.gates[-1].decides
    # One ALLOW that surely reaches beyond settles it, and so does a DENY that surely covers both.
    assert result(request, wide, hard, glob("User:a", "WRITE", "orders")) == "ALLOWED"
    assert result(request, wide, hard, deny("User:a", "WRITE", "*b", pattern="GLOB")) == "DENIED"


@round_trip
@given(
    own=st.tuples(UGLY, UGLY, UGLY, UGLY),
    asked=st.tuples(UGLY, UGLY, UGLY, UGLY),
    same=st.integers(0, 15),
    is_deny=st.booleans(),
)
def test_texts_full_of_special_characters_are_read_letter_by_letter(own, asked, same, is_deny) -> None:
    # Parts that are asked for as the ACL has them, with something in place of each wildcard.
    filled = [text.replace("*", "é.").replace("?", "\U0001f600") for text in own]
    name, kind, person, host = (filled[place] if same >> place & 1 else asked[place] for place in range(4))
    binding = (deny if is_deny else allow)(
        f"{own[1]}:{own[2]}", "READ", own[0], pattern="GLOB", resource_type="GROUP", host=own[3]
    )
    beside = allow("User:*", "READ", "*", resource_type="GROUP")
    request = ask(f"{kind}:{person}", "READ", name, resource_type="GROUP", host=host)
    for bindings in ([binding], [binding, beside]):
        decision = authorize(request, AclIndex(bindings), GLOB)
        assert (decision.result.value, decision.basis.value) == reference.answer(request, bindings, GLOB)
        assert decide(request, AclIndex(bindings), GLOB) == (decision.result, decision.basis)
        explain(decision)


def test_a_match_filter_finds_the_globs_that_cover_a_name() -> None:
    covering, other = glob("User:a", "READ", "or*"), glob("User:a", "READ", "bi*")
    literal = allow("User:a", "READ", "or*")
    asked = AclFilter.exactly(replace(covering, resource_name="orders"))
    asked = replace(asked, pattern_type=PatternType.MATCH)
    assert [asked.matches(b) for b in (covering, other, literal)] == [True, False, False]
    exactly = AclFilter.exactly(covering)
    assert [exactly.matches(b) for b in (covering, other, literal)] == [True, False, False]


PATHOLOGICAL = [
    "*a" * 60 + "b",
    "*" * 4096,
    "?" * 4095 + "*",
    ("a?" * 40 + "*") * 20,
    "*" + "?a" * 100 + "*b",
]


def test_pathological_globs_answer_for_the_longest_names() -> None:
    bindings = [glob("User:a", "READ", text, resource_type="GROUP") for text in PATHOLOGICAL]
    bindings += [glob(f"User:{text[:200]}", "READ", text, resource_type="GROUP") for text in PATHOLOGICAL]
    index = AclIndex(bindings)
    for name in ("a" * 32_767, "ab" * 16_000, ""):
        request = ask("User:" + "a" * 5_000, "READ", name, resource_type="GROUP")
        decision = authorize(request, index, GLOB)
        assert decide(request, index, GLOB) == (decision.result, decision.basis)
        assert decision.result is Result.ALLOWED


def test_ten_thousand_globs_of_names_and_of_principals_are_asked_at_once() -> None:
    rng = random.Random(7)
    bindings = [
        AclBinding(
            topic("t").resource_type,
            f"*{rng.randrange(10**6):06}?*",
            PatternType.GLOB,
            f"User:svc-{rng.randrange(10**5)}-*",
            "*",
            Operation.READ,
            PermissionType.ALLOW,
        )
        for _ in range(2_000)
    ]
    index = AclIndex(bindings)
    for binding in rng.sample(bindings, 50):
        name = f"x{binding.resource_name.strip('*?')}yz"
        principal = binding.principal.replace("*", "9")
        assert decide(read(principal, name), index, GLOB)[0] is Result.ALLOWED
        assert decide(write(principal, name), index, GLOB)[0] is Result.DENIED
