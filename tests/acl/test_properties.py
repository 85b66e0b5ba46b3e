"""What holds for every set of ACLs, whether the cluster refuses or allows where no ACL exists.

Worlds are drawn so that what breaks matchers is frequent: `*` on both sides of a DENY,
prefixes of each other, `User:*` beside named and odd principals, hosts in every spelling.
Each claim is tried under every profile, on 30 examples and with ACLWEB_TEST_SCALE=full on
20,000. Names that sort before `*` are never drawn.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given
from hypothesis import settings as search_settings
from hypothesis import strategies as st

from aclweb.acl.authorizer.answers import Basis, Result, vote_of
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.explanation import explain
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.mask_table import Slot
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.matching.hosts import admits
from aclweb.acl.matching.patterns import PrefixChain
from aclweb.acl.matching.strategy import is_for
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
)
from tests import reference
from tests.builders import allow, ask, deny, read, topic
from tests.hostile import FULL, acls

SUPER = "User:root"
NAMES = (
    "a",
    "ab",
    "ab.",
    "ab.c",
    "*",
    "b",
    "*a",
    "**",
    "A",
    "",
    "hardcode",
    "é",
    "e\u0301",
    "a ",
    "\U0001f600",
)
PRINCIPALS = ("User:a", "User:b", "Group:a", "User:a:b", SUPER)
ACL_PRINCIPALS = ("User:a", "User:*", "User:b", "Group:a", "User:a:b", "Group:*", "User:a*", "a", SUPER)
HOSTS = ("10.0.0.7", "10.0.0.9", "0:0:0:0:0:0:0:1", "0.0.0.0")
ACL_HOSTS = (
    "*",
    "10.0.0.7",
    "10.0.0.0/24",
    "10.0.0.8/29",
    "::1",
    "0:0:0:0:0:0:0:1",
    "0.0.0.0/0",
    "::/0",
    "host.x",
)
OPERATIONS = tuple(o for o in Operation if o.name not in ("UNKNOWN", "ANY"))
SINGLE_OPERATIONS = tuple(o for o in OPERATIONS if o is not Operation.ALL)
TYPES = (ResourceType.TOPIC, ResourceType.GROUP)
PATTERNS = (PatternType.LITERAL, PatternType.PREFIXED)
PROFILES = (("standard", "4.4"), ("standard", "4.3"), ("standard", "3.9"), ("acl", "3.9"), ("acl", "2.4"))

both_modes = pytest.mark.parametrize("opens", [False, True], ids=["refuses", "allows"])
enough = search_settings(
    max_examples=20_000 if FULL else 30,
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.too_slow],
)


def parted(number: int, choices: Sequence[Sequence[object]]) -> tuple[object, ...]:
    """Return one of each of `choices` for a number; 0 takes the first of each."""
    found = []
    for options in choices:
        number, place = divmod(number, len(options))
        found.append(options[place])
    return tuple(found)


MOSTLY_ALLOW = (PermissionType.ALLOW, PermissionType.ALLOW, PermissionType.DENY)
BINDING_CHOICES = (
    MOSTLY_ALLOW,
    PATTERNS,
    (*NAMES, "a", "ab", "*", "*", "*"),
    (*ACL_PRINCIPALS, *["User:a", "User:*"] * 4),
    (*OPERATIONS, *[Operation.ALL, Operation.READ] * 4),
    (*ACL_HOSTS, *["*"] * 8),
    (*TYPES, *[ResourceType.TOPIC] * 4),
)
REQUEST_CHOICES = (
    (*PRINCIPALS, *["User:a"] * 4),
    HOSTS,
    (*OPERATIONS, *[Operation.READ, Operation.DESCRIBE] * 3),
    (*TYPES, *[ResourceType.TOPIC] * 4),
    (*NAMES, *["ab", "ab.c"] * 4),
)
BYTES = 4
"""So many bytes choose one ACL. A world is one text of bytes, which is drawn and shrunk much faster than parts."""


def binding_of(number: int) -> AclBinding:
    parts: Sequence[Any] = parted(number, BINDING_CHOICES)
    permission, pattern, name, principal, operation, host, kind = parts
    return AclBinding(kind, name, pattern, principal, host, operation, permission)


def world_of(drawn: tuple[int, bytes]) -> list[AclBinding]:
    count, data = drawn
    pieces = (data[start : start + BYTES] for start in range(0, count * BYTES, BYTES))
    return [binding_of(int.from_bytes(piece)) for piece in pieces]


def up_to(most: int) -> st.SearchStrategy[list[AclBinding]]:
    counts = st.sampled_from(range(most + 1))
    return st.tuples(counts, st.binary(min_size=most * BYTES, max_size=most * BYTES)).map(world_of)


def request_of(number: int) -> AccessRequest:
    parts: Sequence[Any] = parted(number, REQUEST_CHOICES)
    return AccessRequest(*parts)


bindings = st.integers(0, 256**BYTES - 1).map(binding_of)
worlds = up_to(8)
requests = st.integers(0, prod(map(len, REQUEST_CHOICES)) - 1).map(request_of)
profiles = st.sampled_from(PROFILES)
numbers = st.integers(0, 2**16)


def settings_of(profile: tuple[str, str], opens: bool) -> AuthorizerSettings:
    return AuthorizerSettings(*profile, super_users=frozenset({SUPER}), allow_everyone=opens)


def allowed(request: AccessRequest, world: Iterable[AclBinding], settings: AuthorizerSettings) -> bool:
    return decide(request, AclIndex(world), settings)[0] is Result.ALLOWED


def hitting(
    request: AccessRequest, number: int, permission: PermissionType, settings: AuthorizerSettings
) -> AclBinding:
    """Return an ACL that covers the request's resource and is for exactly this request, in one of many ways."""
    name = request.resource_name or ""
    ways = [(PatternType.PREFIXED, name[:length]) for length in range(1, len(name) + 1)]
    if name != "*":
        ways.append((PatternType.LITERAL, name))
    ways += [(PatternType.LITERAL, "*")] * 2
    number, place = divmod(number, len(ways))
    pattern, own = ways[place]
    if reference.covers(
        AclBinding(request.resource_type, own, pattern, "", "", Operation.ALL, permission),
        request.resource_type,
        name,
        settings,
    ):
        number, principal = divmod(number, 2)
        number, host = divmod(number, 2)
        return AclBinding(
            request.resource_type,
            own,
            pattern,
            ("User:*", request.principal)[principal],
            ("*", request.host)[host],
            (Operation.ALL, request.operation)[number % 2],
            permission,
        )
    # Only the wildcard on a longer name that begins with it, in KRaft.
    return hitting(request, 0, permission, settings)


# DENY, ALLOW, super users and the default.


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, number=numbers)
def test_p1_a_matching_deny_wins(opens, world, request, profile, number):
    settings = settings_of(profile, opens)
    assume(request.principal != SUPER)
    refusal = hitting(request, number, PermissionType.DENY, settings)

    assert decide(request, AclIndex([*world, refusal]), settings) == (Result.DENIED, Basis.DENY_ACL)


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles)
def test_p2_whoever_is_allowed_has_an_allow_or_the_default(opens, world, request, profile):
    settings = settings_of(profile, opens)
    assume(request.principal != SUPER)
    name = request.resource_name
    covering = [b for b in world if reference.covers(b, request.resource_type, name, settings)]
    matching = [b for b in covering if not b.is_deny and reference.matches_entry(b, request, settings)]

    if allowed(request, world, settings):
        assert matching or (opens and not covering)


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, by_type=st.booleans())
def test_p3_a_super_user_is_always_allowed(opens, world, request, profile, by_type):
    request = replace(request, principal=SUPER, resource_name=None if by_type else request.resource_name)

    answer = decide(request, AclIndex(world), settings_of(profile, opens))

    assert answer == (Result.ALLOWED, Basis.SUPER_USER)


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, number=numbers, by_type=st.booleans())
def test_p4_and_p5_neither_order_nor_repetition_counts(opens, world, request, profile, number, by_type):
    settings = settings_of(profile, opens)
    request = replace(request, resource_name=None) if by_type else request
    shuffled = [*world, *world[: number % 4]]
    random.Random(number).shuffle(shuffled)

    assert decide(request, AclIndex(shuffled), settings) == decide(request, AclIndex(world), settings)


# What one more ACL, or one less, can do.


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, number=numbers, one=bindings)
def test_p6_and_p7_adding_a_deny_never_grants_and_removing_one_never_revokes(
    opens, world, request, profile, number, one
):
    settings = settings_of(profile, opens)
    without = allowed(request, world, settings)
    for refusal in (
        replace(one, permission_type=PermissionType.DENY),
        hitting(request, number, PermissionType.DENY, settings),
    ):
        assert allowed(request, [*world, refusal], settings) <= without


@enough
@given(world=worlds, request=requests, profile=profiles, number=numbers, one=bindings)
def test_p8_p9_by_a_default_deny_more_allows_never_revoke_and_fewer_never_grant(
    world, request, profile, number, one
):
    settings = settings_of(profile, opens=False)
    without = allowed(request, world, settings)
    for grant in (
        replace(one, permission_type=PermissionType.ALLOW),
        hitting(request, number, PermissionType.ALLOW, settings),
    ):
        assert allowed(request, [*world, grant], settings) >= without


@pytest.mark.parametrize("profile", PROFILES)
def test_p9_by_a_default_allow_the_first_allow_can_revoke_and_the_last_gone_grants(profile):
    settings = settings_of(profile, opens=True)
    # What is found need not be small: the claims below hold of each such world.
    search = search_settings(
        max_examples=5_000, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
    )

    def revokes(case: tuple[list[AclBinding], AclBinding, AccessRequest]) -> bool:
        world, one, request = case
        without = allowed(request, world, settings)
        return not one.is_deny and without and not allowed(request, [*world, one], settings)

    world, one, request = find(st.tuples(worlds, bindings, requests), revokes, settings=search)

    # The same two worlds, read the other way round, are a removal that grants. It is always the
    # first ACL on the resource, which ends the default.
    without, with_it = AclIndex(world), AclIndex([*world, one])
    assert decide(request, without, settings)[1] is Basis.DEFAULT_ALLOW
    assert decide(request, with_it, settings)[1] is Basis.NO_ALLOW_ACL
    assert authorize(request, with_it, settings).determining == (one,)


# What an edit cannot reach.


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, one=bindings)
def test_p10_and_p12_an_acl_matches_only_resources_that_its_pattern_covers(
    opens, world, request, profile, one
):
    settings = settings_of(profile, opens)
    name = request.resource_name
    assume(not reference.covers(one, request.resource_type, name, settings))

    assert decide(request, AclIndex([*world, one]), settings) == decide(request, AclIndex(world), settings)
    if one.resource_type is not request.resource_type:
        by_type = replace(request, resource_name=None)
        assert decide(by_type, AclIndex([*world, one]), settings) == decide(
            by_type, AclIndex(world), settings
        )


@enough
@given(world=worlds, request=requests, profile=profiles, one=bindings)
def test_p11_where_the_default_refuses_an_acl_matches_only_whom_it_names(world, request, profile, one):
    settings = settings_of(profile, opens=False)
    assume(not is_for(one.principal, request.principal, settings))

    assert allowed(request, [*world, one], settings) == allowed(request, world, settings)


@enough
@given(world=worlds, request=requests, profile=profiles, one=bindings)
def test_p13_where_the_default_refuses_an_acl_matches_only_its_hosts_and_operations(
    world, request, profile, one
):
    settings = settings_of(profile, opens=False)
    other_host = not admits(one.host, request.host, ranges=settings.cidr_hosts)
    other_operation = not vote_of(one, request.operation)
    assume(other_host or other_operation)

    assert allowed(request, [*world, one], settings) == allowed(request, world, settings)


# Operations and patterns.

IMPLYING = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS,),
}


@both_modes
@enough
@given(request=requests, profile=profiles, number=numbers)
def test_p14_an_allow_brings_exactly_its_implied_operation_and_a_deny_brings_none(
    opens, request, profile, number
):
    settings = settings_of(profile, opens)
    assume(request.principal != SUPER)
    hit = hitting(request, number, PermissionType.ALLOW, settings)
    everything = replace(hit, operation=Operation.ALL)
    asked = request.operation

    for own in OPERATIONS:
        grant = replace(hit, operation=own)
        refusal = replace(grant, permission_type=PermissionType.DENY)
        implied = own in (Operation.ALL, asked) or own in IMPLYING.get(asked, ())
        assert allowed(request, [grant], settings) is implied, own
        exact = own in (Operation.ALL, asked)
        assert allowed(request, [everything, refusal], settings) is not exact, own


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, one=bindings, number=numbers)
def test_p15_all_is_the_union_of_the_single_operations(opens, world, request, profile, one, number):
    settings = settings_of(profile, opens)
    assume(request.operation is not Operation.ALL)
    for binding in (one, hitting(request, number, one.permission_type, settings)):
        everything = replace(binding, operation=Operation.ALL)
        each = [replace(everything, operation=operation) for operation in SINGLE_OPERATIONS]

        assert allowed(request, [*world, everything], settings) == allowed(request, [*world, *each], settings)


@enough
@given(world=worlds, request=requests, profile=profiles, one=bindings)
def test_p16_where_the_default_refuses_a_prefix_reaches_no_less_than_the_literal(
    world, request, profile, one
):
    settings = settings_of(profile, opens=False)
    assume(one.resource_name != "*")
    narrow = [*world, replace(one, pattern_type=PatternType.LITERAL)]
    wide = [*world, replace(one, pattern_type=PatternType.PREFIXED)]

    if one.is_deny:
        assert allowed(request, wide, settings) <= allowed(request, narrow, settings)
    else:
        assert allowed(request, wide, settings) >= allowed(request, narrow, settings)


tails = st.sampled_from(("", "a", ".c", "*", "é", "\u0301", " ", "\U0001f600"))


@both_modes
@enough
@given(name=st.sampled_from(NAMES), tail=tails, other=st.sampled_from(NAMES), profile=profiles)
def test_p17_a_prefix_covers_itself_and_what_goes_on_and_a_literal_only_itself(
    opens, name, tail, other, profile
):
    settings = settings_of(profile, opens)

    def covers(pattern: str, own: str, asked: str) -> bool:
        index = AclIndex([allow("User:a", "READ", own, pattern=pattern)])
        return bool(index.affecting(topic(asked), settings))

    if name:
        assert covers("PREFIXED", name, name + tail)
        assert covers("PREFIXED", name, other) is (other[: len(name)] == name)
    if name != "*":
        assert covers("LITERAL", name, other) is (name == other)
    starred = len(other) > 1 and other.startswith("*")
    assert covers("LITERAL", "*", other) is not (starred and settings.authorizer == "standard")


@enough
@given(one=bindings, name=st.sampled_from(NAMES), profile=profiles)
def test_p18_match_finds_exactly_the_acls_that_can_make_a_difference_to_the_name(one, name, profile):
    outside_quirk_1 = len(name) < 2 or name[0] != "*" or one.resource_name != "*"
    outside_quirk_5 = one.resource_name != "" or profile[0] == "standard" or name == ""
    assume(outside_quirk_1 and outside_quirk_5)
    match = AclFilter(
        ResourceType.TOPIC, name, PatternType.MATCH, None, None, Operation.ANY, PermissionType.ANY
    )
    principals = ("User:nobody", "User:a", "User:b")
    differs = any(
        decide(question, AclIndex([one]), settings)[0] is not decide(question, AclIndex(), settings)[0]
        for settings in (settings_of(profile, opens=False), settings_of(profile, opens=True))
        for question in (AccessRequest(c, "10.0.0.7", o, ResourceType.TOPIC, name) for c in principals for o in (
            Operation.READ, Operation.CREATE,
        ))
    )  # fmt: skip

    assert match.matches(one) is differs


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles)
def test_p19_what_match_does_not_find_never_changes_a_decision_on_the_name(opens, world, request, profile):
    settings = settings_of(profile, opens)
    match = AclFilter(
        request.resource_type, request.resource_name, PatternType.MATCH, None, None, Operation.ANY, PermissionType.ANY
    )  # fmt: skip
    found = [binding for binding in world if match.matches(binding)]

    assert decide(request, AclIndex(found), settings) == decide(request, AclIndex(world), settings)


# Reasons.


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, number=numbers)
def test_p20_the_acls_named_as_the_reason_are_enough_and_needed(opens, world, request, profile, number):
    settings = settings_of(profile, opens)
    if number % 3:
        world = [*world, hitting(request, number, MOSTLY_ALLOW[number % 3], settings)]
    decision = authorize(request, AclIndex(world), settings)
    named = decision.determining

    if decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL, Basis.NO_ALLOW_ACL):
        assert named
        alone = reference.answer(request, named, settings)
        assert alone == (decision.result.value, decision.basis.value)
        rest = [binding for binding in world if binding not in named]
        assert reference.answer(request, rest, settings)[1] != decision.basis.value
        assert set(decision.determining) <= set(world)
    else:
        assert named == ()


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles, by_type=st.booleans())
def test_p20_every_way_out_works(opens, world, request, profile, by_type):
    settings = settings_of(profile, opens)
    request = replace(request, resource_name=None) if by_type else request
    decision = authorize(request, AclIndex(world), settings)
    reasons = explain(decision)

    if reasons.smallest_fix is not None:
        assert not decision.allowed
        assert reference.allows(request, [*world, reasons.smallest_fix], settings)
    if reasons.smallest_removals:
        rest = [binding for binding in world if binding not in reasons.smallest_removals]
        extra = [] if reasons.fix_after_removals is None else [reasons.fix_after_removals]
        assert reference.allows(request, [*rest, *extra], settings) is not decision.allowed


@enough
@given(world=st.lists(acls(), max_size=4), request=requests, profile=profiles)
def test_every_decision_about_hostile_acls_has_an_explanation_in_sentences(world, request, profile):
    for asked in (request, replace(request, resource_name=None)):
        reasons = explain(authorize(asked, AclIndex(world), settings_of(profile, opens=False)))

        assert all(sentence.endswith(".") for sentence in reasons.sentences)
        assert all("\n" not in sentence and sentence.isprintable() for sentence in reasons.sentences)


# Filters, the three ways to decide, and look-alikes.


@enough
@given(one=bindings, name=st.sampled_from(NAMES), pattern=st.sampled_from(("LITERAL", "ANY", "MATCH")))
def test_p26_a_filter_without_a_text_is_not_one_for_an_asterisk(one, name, pattern):
    everything = AclFilter(
        ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, PermissionType.ANY
    )
    one = replace(one, resource_name=name)

    assert everything.matches(one)
    assert replace(everything, principal="*").matches(one) is False
    assert replace(everything, principal="User:*").matches(one) is (one.principal == "User:*")
    assert replace(everything, host="*").matches(one) is (one.host == "*")
    starred = replace(everything, resource_name="*", pattern_type=PatternType[pattern])
    if pattern == "LITERAL":
        assert starred.matches(one) is one.pattern.is_wildcard
    elif pattern == "ANY":
        assert starred.matches(one) is (name == "*")
    else:
        empty_prefix = one.pattern_type is PatternType.PREFIXED and name == ""
        assert starred.matches(one) is (name == "*" or empty_prefix)


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles)
def test_p28_the_index_and_the_findings_decide_as_the_plain_loop_does(opens, world, request, profile):
    settings = settings_of(profile, opens)
    index = AclIndex(world)
    names, hosts = dict.fromkeys((None, request.resource_name, *NAMES)), dict.fromkeys((request.host, *HOSTS))
    for name, host in [
        *((name, request.host) for name in names),
        *((request.resource_name, h) for h in hosts),
    ]:
        asked = replace(request, resource_name=name, host=host)
        expected = reference.answer(asked, world, settings)
        decision = authorize(asked, index, settings)
        assert (decision.result.value, decision.basis.value) == expected
        assert decide(asked, index, settings) == (decision.result, decision.basis)
    covering = {
        b for b in world if reference.covers(b, request.resource_type, request.resource_name, settings)
    }
    assert set(index.affecting(request.resource, settings)) == covering


free_texts = st.text(
    alphabet=st.one_of(st.sampled_from("aA ıIiİßéÅ.\u0301\u00a0"), st.characters(exclude_categories=["Cs"])),
    max_size=6,
).map(lambda text: "x" + text)
CHANGES: tuple[Callable[[str], str], ...] = (
    str.upper,
    str.lower,
    str.casefold,
    str.swapcase,
    str.strip,
    lambda text: unicodedata.normalize("NFC", text),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
    lambda text: text + " ",
    lambda text: text + "\u200b",
    lambda text: " ".join(text.split()),
)


@both_modes
@enough
@given(text=free_texts, change=st.sampled_from(CHANGES), profile=profiles, field=st.integers(0, 2))
def test_p29_texts_that_differ_in_anything_are_different(opens, text, change, profile, field):
    settings = settings_of(profile, opens)
    other = change(text)
    assume(other != text and other)
    anybody = allow("User:somebody", "READ", "*", resource_type="GROUP")
    if field == 0:
        acl, same = allow("User:a", "READ", text), read("User:a", text)
        changed = replace(same, resource_name=other)
        if opens:  # One ACL on the other name, so that the default is silent there too.
            anybody = allow("User:somebody", "READ", other)
    elif field == 1:
        acl, same = allow(f"User:{text}", "READ", "t"), read(f"User:{text}", "t")
        changed = replace(same, principal=f"User:{other}")
    else:
        acl, same = allow("User:a", "READ", "t", host=text), read("User:a", "t", host=text)
        changed = replace(same, host=other)
    index = AclIndex([acl, anybody])

    assert decide(same, index, settings)[0] is authorize(same, index, settings).result is Result.ALLOWED
    assert decide(changed, index, settings)[0] is authorize(changed, index, settings).result is Result.DENIED


# How much work one decision can be.


class CountedName(str):
    """A name that counts how often it is compared with a prefix."""

    compared = 0

    def startswith(self, *given: object) -> bool:
        CountedName.compared += 1
        return super().startswith(*given)  # type: ignore[arg-type]


@enough
@given(depth=st.integers(1, 600), leaves=st.integers(0, 600), step=st.integers(1, 3))
def test_p31_a_name_that_leaves_a_long_chain_of_prefixes_is_placed_in_few_steps(depth, leaves, step):
    chain = PrefixChain.of("x" * length for length in range(1, depth * step + 1, step))
    leaves = min(leaves, depth * step)
    # It sorts after every prefix that begins as it does, so the search starts at the longest one.
    name = CountedName("x" * leaves + "y")
    CountedName.compared = 0

    place = chain.longest(name)

    fitting = [prefix for prefix in chain.prefixes if len(prefix) <= leaves]
    assert (chain.prefixes[place] if place >= 0 else None) == (fitting[-1] if fitting else None)
    assert CountedName.compared <= 4 + 4 * depth.bit_length()


def test_p31_a_decision_looks_at_few_places_however_many_acls_match_it(monkeypatch):
    ranges = [f"10.{number // 250}.{number % 250}.0/24" for number in range(5_000)]
    world = [allow("User:*", "READ", "orders", host=host) for host in ranges]
    world += [deny(f"User:u{number}", "READ", "orders") for number in range(5_000)]
    world += [allow("User:*", "READ", "orders"[:length], pattern="PREFIXED") for length in range(1, 7)]
    index = AclIndex(world)
    looked = []
    mask = Slot.mask
    monkeypatch.setattr(
        Slot, "mask", lambda slot, name, settings: looked.append(slot) or mask(slot, name, settings)
    )

    for request in (read("User:bob", "orders", host="10.3.3.3"), read("User:u7", "orders")):
        looked.clear()
        decide(request, index, AuthorizerSettings())
        assert len(looked) <= 6


def test_p31_names_of_the_greatest_length_are_decided_like_any_other():
    name = "n" * 32_767
    prefixes = [name[:length] for length in range(1, 32_767, 41)]
    index = AclIndex(
        [allow("User:bob", "READ", prefix, pattern="PREFIXED", resource_type="GROUP") for prefix in prefixes]
    )

    for asked, basis in (
        (name, Basis.ALLOW_ACL),
        ("n", Basis.ALLOW_ACL),
        ("m" + name[1:], Basis.DEFAULT_DENY),
        ("n" + "z" * 32_766, Basis.ALLOW_ACL),
    ):
        assert (
            decide(ask("User:bob", "READ", asked, resource_type="GROUP"), index, AuthorizerSettings())[1]
            is basis
        )


# Values that a newer Kafka wrote.


@both_modes
@enough
@given(world=up_to(4), request=requests, profile=profiles, number=numbers)
def test_p32_an_unknown_value_is_undecided_exactly_where_it_could_change_the_answer(
    opens, world, request, profile, number
):
    settings = settings_of(profile, opens)
    operations = (Operation.TWO_PHASE_COMMIT, Operation.ALL)
    assume(request.operation not in operations and request.resource_name[:1] != "*")
    chance = random.Random(number)
    strange = [
        hitting(request, number + place, MOSTLY_ALLOW[place], settings)
        for place in range(chance.randint(0, 2))
    ]
    unknown: list[AclBinding] = []
    for binding in [*strange, *world]:
        turn = chance.randrange(6)
        if turn == 0:
            unknown.append(replace(binding, pattern_type=PatternType.UNKNOWN))
        elif turn == 1:
            unknown.append(replace(binding, operation=Operation.UNKNOWN))
        elif turn == 2:
            unknown.append(replace(binding, permission_type=PermissionType.UNKNOWN))
        else:
            unknown.append(binding)
    readings = islice(product(*map(reference.readings_of, unknown)), 1_000)
    results = {
        reference.answer(request, [b for b in reading if b is not None], settings)[0] for reading in readings
    }

    result, basis = decide(request, AclIndex(unknown), settings)

    assert result.value == (results.pop() if len(results) == 1 else "UNDECIDED")
    assert (basis is Basis.UNKNOWN_VALUE) is (result is Result.UNDECIDED)


@both_modes
@enough
@given(world=worlds, request=requests, profile=profiles)
def test_p32_an_acl_on_an_unknown_type_covers_nothing(opens, world, request, profile):
    settings = settings_of(profile, opens)
    strange = replace(deny("User:*", "ALL", "*"), resource_type=ResourceType.UNKNOWN)

    assert decide(request, AclIndex([*world, strange]), settings) == decide(
        request, AclIndex(world), settings
    )
    assert AclIndex([strange]).affecting(Resource(request.resource_type, "a"), settings) == ()
