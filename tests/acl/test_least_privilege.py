"""What a proposal of fewer rights takes away nobody was logged to use, and it never gives anything."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from aclweb.acl.authorizer.decision import decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.masks import IMPLIED
from aclweb.acl.logged.generalising import Choices
from aclweb.acl.logged.least_privilege import (
    ALSO_ALLOWED,
    NEEDED_WHOLE,
    UNCLEAR,
    UNUSED,
    propose,
)
from aclweb.acl.logged.open_names import LAST_COVER
from aclweb.acl.logged.proposal import Proposal, Used
from aclweb.acl.logged.rights import HeldRight, LoggedRights, Rights, rights_of
from aclweb.acl.matching.names import SortedNames
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    AclError,
    Operation,
    PermissionType,
    Resource,
    ResourceType,
)
from tests.builders import acl, allow, ask, deny
from tests.random_cases import HOSTS, SCALE, random_request, random_world, with_unknowns

APP = "User:checkout-api"
DENYING = AuthorizerSettings()
OPEN = AuthorizerSettings(allow_everyone=True)


def used(operation: str, name: str, lines: int = 1, *, kind: str = "TOPIC", host: str = "10.0.0.7") -> Used:
    return Used(ask(APP, operation, name, resource_type=kind, host=host), lines)


def names(**by_type: str) -> dict[ResourceType, SortedNames]:
    return {ResourceType[kind]: SortedNames(texts.split()) for kind, texts in by_type.items()}


def proposed(
    bindings: list[AclBinding], logged: list[Used], settings: AuthorizerSettings = DENYING, **choices: object
) -> Proposal:
    return propose(APP, logged, AclIndex(bindings), settings, Choices(**choices))  # type: ignore[arg-type]


def test_a_prefix_of_which_two_names_were_used_becomes_acls_on_the_two():
    today = [allow(APP, "READ", "orders.", pattern="PREFIXED")]

    answer = proposed(today, [used("READ", "orders.a", 5), used("READ", "orders.b", 2)])

    assert answer.adds == (allow(APP, "READ", "orders.a"), allow(APP, "READ", "orders.b"))
    assert answer.removes == tuple(today)
    assert (answer.lines, answer.covered, answer.percent) == (7, 7, 100.0)
    assert answer.today[0].replaced_by == answer.adds
    assert answer.reasons == {
        today[0]: "2 names of it were used; 2 ACLs replace it.",
        answer.adds[0]: "5 logged requests need it.",
        answer.adds[1]: "2 logged requests need it.",
    }


def test_an_acl_that_no_request_needed_goes_and_one_that_is_needed_as_it_is_stays():
    kept, gone = allow(APP, "WRITE", "events"), allow(APP, "READ", "profiles")

    answer = proposed([gone, kept], [used("WRITE", "events", 3)])

    assert (answer.adds, answer.removes, answer.keeps) == ((), (gone,), (kept,))
    assert answer.reasons == {gone: UNUSED, kept: "3 logged requests need it."}


def test_no_deny_and_no_acl_for_others_is_changed():
    others = [
        deny(APP, "READ", "secret"),
        allow("User:*", "READ", "secret"),
        allow("User:other", "ALL", "*"),
        allow("User:checkout-ap", "READ", "x"),
    ]

    answer = proposed([*others, allow(APP, "READ", "x")], [])

    assert answer.delta.remove == (allow(APP, "READ", "x"),)
    assert answer.delta.add == ()


def test_what_an_acl_for_everybody_allows_needs_no_acl_of_its_own():
    own = allow(APP, "READ", "news")

    answer = proposed([own, allow("User:*", "READ", "news")], [used("READ", "news")])

    assert (answer.removes, answer.adds, answer.percent) == ((own,), (), 100.0)
    assert answer.reasons[own] == ALSO_ALLOWED


def test_describe_beside_read_needs_no_acl_and_alone_it_needs_one():
    today = [allow(APP, "ALL", "*")]

    both = proposed(today, [used("READ", "a"), used("DESCRIBE", "a"), used("DESCRIBE", "b")])

    assert both.adds == (allow(APP, "READ", "a"), allow(APP, "DESCRIBE", "b"))


def test_describe_on_names_that_are_read_joins_them_to_no_prefix():
    today = [allow(APP, "ALL", "*", resource_type="GROUP")]
    logged = [used(word, f"app-{end}", kind="GROUP") for word in ("READ", "DESCRIBE") for end in "ab"]

    answer = proposed(today, logged)

    assert answer.adds == (allow(APP, "READ", "app-", resource_type="GROUP", pattern="PREFIXED"),)


def test_of_two_acls_that_allow_a_request_the_narrower_one_stays():
    narrow, wide = allow(APP, "READ", "orders.a"), allow(APP, "READ", "orders.", pattern="PREFIXED")

    answer = proposed([wide, narrow], [used("READ", "orders.a")])

    assert (answer.keeps, answer.removes) == ((narrow,), (wide,))


def test_a_prefix_takes_the_place_of_names_only_where_most_of_its_topics_were_used():
    today = [
        allow(APP, "READ", "orders.", pattern="PREFIXED"),
        allow(APP, "WRITE", "pay.", pattern="PREFIXED"),
    ]
    logged = [used("READ", f"orders.{name}") for name in "abc"] + [used("WRITE", f"pay.{n}") for n in "ab"]
    existing = names(TOPIC="orders.a orders.b orders.c orders.d pay.a pay.b pay.c pay.d")

    answer = proposed(today, logged, names="most-used", existing=existing)

    assert answer.keeps == (today[0],)
    assert answer.adds == (allow(APP, "WRITE", "pay.a"), allow(APP, "WRITE", "pay.b"))


def test_a_prefix_at_a_deeper_delimiter_is_found_where_the_shorter_one_is_too_wide():
    logged = [used("READ", "eu.pay.a"), used("READ", "eu.pay.b")]
    existing = names(TOPIC="eu.pay.a eu.pay.b eu.other.a eu.other.b eu.other.c us.a")

    answer = proposed([allow(APP, "READ", "*")], logged, names="most-used", existing=existing)

    assert answer.adds == (allow(APP, "READ", "eu.pay.", pattern="PREFIXED"),)
    assert answer.reasons[answer.adds[0]] == "2 logged requests need it, for 2 names."


def test_first_delimiter_makes_one_prefix_of_each_first_part_and_never_a_wider_one():
    today = [
        allow(APP, "READ", "*"),
        allow(APP, "WRITE", "eu.pay.", pattern="PREFIXED"),
        allow(APP, "ALTER", "one.a"),
    ]
    logged = [
        used("READ", "eu.x.a"),
        used("READ", "eu.y"),
        used("READ", "plain"),
        used("WRITE", "eu.pay.z"),
        used("ALTER", "one.a"),
    ]

    answer = proposed(today, logged, names="first-delimiter")

    assert answer.adds == (allow(APP, "READ", "eu.", pattern="PREFIXED"), allow(APP, "READ", "plain"))
    assert answer.keeps == (today[1], today[2])


def test_another_delimiter_ends_the_prefixes():
    logged = [used("READ", "a-x.y"), used("READ", "a-z")]

    answer = proposed([allow(APP, "READ", "*")], logged, names="first-delimiter", delimiter="-")

    assert answer.adds == (allow(APP, "READ", "a-", pattern="PREFIXED"),)


def test_groups_that_begin_alike_get_one_prefix_and_a_single_one_its_name():
    today = [allow(APP, "READ", "*", resource_type="GROUP")]
    logged = [
        used("READ", "checkout-api-main", kind="GROUP"),
        used("READ", "checkout-api-retry", kind="GROUP"),
        used("READ", "audit.daily", kind="GROUP"),
    ]

    answer = proposed(today, logged)
    exact = proposed(today, logged, by_prefix=False)

    assert answer.adds == (
        allow(APP, "READ", "audit.daily", resource_type="GROUP"),
        allow(APP, "READ", "checkout-api-", resource_type="GROUP", pattern="PREFIXED"),
    )
    assert [binding.resource_name for binding in exact.adds] == [
        "audit.daily",
        "checkout-api-main",
        "checkout-api-retry",
    ]


def test_the_prefix_of_a_transactional_id_stays_where_one_of_its_numbers_was_used():
    today = [allow(APP, "WRITE", "checkout-tx-", resource_type="TRANSACTIONAL_ID", pattern="PREFIXED")]

    answer = proposed(today, [used("WRITE", "checkout-tx-0", 4, kind="TRANSACTIONAL_ID")])

    assert (answer.keeps, answer.adds) == (tuple(today), ())


@pytest.mark.parametrize(
    ("choice", "hosts"), [("as-today", ["10.0.0.0/24"]), ("any", ["*"]), ("seen", ["10.0.0.7", "10.0.0.8"])]
)
def test_hosts_are_those_of_today_or_any_or_the_logged_ones(choice: str, hosts: list[str]):
    today = [allow(APP, "READ", "*", host="10.0.0.0/24")]
    logged = [used("READ", "a"), used("READ", "a", host="10.0.0.8")]

    answer = proposed(today, logged, hosts=choice)

    assert [(each.resource_name, each.host) for each in answer.adds] == [("a", host) for host in hosts]


def test_an_acl_that_is_too_young_to_judge_stays_and_what_it_allows_needs_no_other():
    young = allow(APP, "READ", "new.", pattern="PREFIXED")
    reason = "It is younger than 30 days."

    answer = propose(
        APP,
        [used("READ", "new.a")],
        AclIndex([young]),
        DENYING,
        keep={young: reason, allow("a:b", "READ", "c"): "?"},
    )

    assert (answer.keeps, answer.adds, answer.reasons) == ((young,), (), {young: reason})


def test_where_a_log_may_call_nothing_unused_what_it_does_not_hold_stays():
    unmatched, wide = allow(APP, "READ", "quiet"), allow(APP, "READ", "orders.", pattern="PREFIXED")

    answer = propose(
        APP, [used("READ", "orders.a")], AclIndex([unmatched, wide]), DENYING, why_not_unused="no hours"
    )

    assert (answer.keeps, answer.removes) == ((unmatched,), (wide,))
    assert answer.reasons[unmatched] == "Cannot tell whether it is used: no hours."


def test_a_request_that_todays_acls_deny_is_not_covered_and_gets_no_acl():
    refused = used("WRITE", "orders", 3)

    answer = proposed([allow(APP, "READ", "orders")], [used("READ", "orders", 1), refused])

    assert (answer.not_covered, answer.covered, answer.percent) == ((refused,), 1, 25.0)
    assert answer.adds == ()


def test_with_default_allow_the_last_acl_on_a_name_stays():
    last, other = allow(APP, "READ", "a.", pattern="PREFIXED"), allow(APP, "READ", "b.", pattern="PREFIXED")

    answer = proposed([last, other, allow("User:x", "READ", "b", pattern="PREFIXED")], [], OPEN)

    assert (answer.keeps, answer.removes) == ((last,), (other,))
    assert answer.reasons[last] == LAST_COVER


def test_an_acl_stays_where_a_broker_would_refuse_the_narrower_one():
    whole = allow(APP, "READ", "*", resource_type="GROUP")

    answer = proposed([whole], [used("READ", "", kind="GROUP")], AuthorizerSettings("acl"))

    assert (answer.keeps, answer.adds) == ((whole,), ())
    assert answer.reasons[whole] == NEEDED_WHOLE


def test_a_group_whose_name_is_an_asterisk_gets_no_acl_on_every_group():
    whole = allow(APP, "ALL", "*", resource_type="GROUP", pattern="PREFIXED")

    answer = proposed([whole], [used("READ", "*", kind="GROUP")])

    assert allow(APP, "READ", "*", resource_type="GROUP") not in answer.adds
    assert answer.percent == 100.0


def test_an_acl_with_an_unknown_word_stays_and_so_does_what_it_may_decide():
    strange = replace(acl("DENY", APP, "READ", "a"), permission_type=PermissionType.UNKNOWN)
    own = allow(APP, "READ", "*")

    answer = proposed([strange, own], [used("READ", "a")])

    assert answer.keeps == (own,)
    assert answer.reasons[own] == UNCLEAR


def test_the_rights_that_go_are_counted_on_the_names_that_exist():
    today = [
        allow(APP, "READ", "orders.", pattern="PREFIXED"),
        allow(APP, "READ", "orders.a"),
        allow(APP, "ALL", "x"),
    ]
    existing = names(TOPIC="orders.a orders.b orders.c x")

    answer = proposed(today, [used("READ", "orders.a"), used("WRITE", "x")], existing=existing)
    rights = rights_of(today, answer.delta.applied_to(today), existing, DENYING)

    operations = len(operations_of(ResourceType.TOPIC, DENYING))
    assert rights == Rights(today=3 + operations, removed=2 + operations - 1)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"names": "all"}, "The names are 'all'; use one of exact, most-used, first-delimiter."),
        ({"hosts": "none"}, "The hosts are 'none'; use one of as-today, any, seen."),
        ({"delimiter": ".."}, "The delimiter is '..'; give one character, such as '.'."),
        ({"percent": 0}, "The share is 0 %; give a whole number from 1 to 100."),
    ],
)
def test_a_choice_that_is_none_is_refused_with_a_sentence(choices: dict[str, object], sentence: str):
    with pytest.raises(AclError) as caught:
        Choices(**choices)  # type: ignore[arg-type]

    assert str(caught.value) == sentence


# --- In random worlds ---------------------------------------------------------------------

PRINCIPAL = "User:a"
CHUNKS = 4


def random_proposal(
    seed: int,
) -> tuple[Proposal, tuple[AclBinding, ...], list[Used], AuthorizerSettings, Choices]:
    rng = random.Random(f"least privilege {seed}")
    authorizer = "glob" if seed % 5 == 0 else None
    world = random_world(rng, authorizer=authorizer)
    # Most ACLs are the principal's own, or there would be little to propose.
    bindings = tuple(
        replace(binding, principal=PRINCIPAL) if rng.random() < 0.6 else binding for binding in world.bindings
    )
    world = replace(world, bindings=bindings)
    asked = [replace(random_request(rng, world), principal=PRINCIPAL) for _ in range(rng.randint(0, 8))]
    # Names that begin alike, so that prefixes join them.
    asked += [
        replace(request, resource_name=f"{request.resource_name}{end}")
        for request in asked
        if rng.random() < 0.3
        for end in (".a", ".b")
    ]
    logged = [Used(request, rng.randint(1, 9)) for request in dict.fromkeys(asked)]
    if seed % 7 == 0:
        bindings = with_unknowns(rng, world).bindings
    choices = Choices(
        names=rng.choice(("exact", "most-used", "first-delimiter")),
        delimiter=rng.choice(".-b"),
        by_prefix=rng.random() < 0.5,
        hosts=rng.choice(("as-today", "seen")),
        percent=rng.choice((1, 50, 75)),
        existing={kind: SortedNames(request.resource.name for request in asked) for kind in ResourceType},
    )
    answer = propose(PRINCIPAL, logged, AclIndex(bindings), world.settings, choices)
    return answer, bindings, logged, world.settings, choices


def questions(bindings: tuple[AclBinding, ...], logged: list[Used]) -> list[AccessRequest]:
    """Questions about every name near to an ACL or a request, for two principals."""
    texts = {binding.resource_name for binding in bindings} | {each.request.resource.name for each in logged}
    near = {name for text in texts for name in (text, f"{text}a", f"{text}.b", text[:-1])}
    kinds = {binding.resource_type for binding in bindings} - {ResourceType.UNKNOWN}
    operations = (Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALTER_CONFIGS)
    everything = product((PRINCIPAL, "User:zoe"), HOSTS[:2], operations, kinds, sorted(near))
    return [AccessRequest(*each) for each in everything]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_proposal_gives_nobody_anything_and_takes_nothing_that_was_used(chunk: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(chunk * 30 * SCALE, (chunk + 1) * 30 * SCALE):
        answer, bindings, logged, settings, _ = random_proposal(seed)
        before, after = AclIndex(bindings), AclIndex(answer.delta.applied_to(bindings))
        for each in logged:
            old, new = (decide(each.request, index, settings)[0].name for index in (before, after))
            assert old != "ALLOWED" or new == "ALLOWED", (seed, each)
            assert (new == "ALLOWED") == (each not in answer.not_covered), (seed, each)
        for request in questions(bindings, logged):
            old, new = (decide(request, index, settings)[0].name for index in (before, after))
            assert old == new or (old != "DENIED" and request.principal == PRINCIPAL), (seed, request)
            assert old == "ALLOWED" or new != "ALLOWED", (seed, request)
            met[f"{old} {new}"] += 1
        assert all(
            binding.principal == PRINCIPAL and binding.permission_type is PermissionType.ALLOW
            for binding in (*answer.adds, *answer.removes)
        )
        met["narrowed"] += bool(answer.adds and answer.removes)
    assert met["ALLOWED DENIED"] > 100, met
    assert met["narrowed"] > 3, met


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_each_acl_of_a_proposal_is_needed_by_a_logged_request(chunk: int) -> None:
    checked = 0
    for seed in range(chunk * 30 * SCALE, (chunk + 1) * 30 * SCALE):
        answer, bindings, logged, settings, _ = random_proposal(seed)
        if settings.allow_everyone or any(binding.has_unknown for binding in bindings):
            continue
        after = answer.delta.applied_to(bindings)
        for added in answer.adds:
            without = AclIndex(binding for binding in after if binding != added)
            lost = [
                each
                for each in logged
                if decide(each.request, AclIndex(after), settings)[0]
                is not decide(each.request, without, settings)[0]
            ]
            assert lost, (seed, added)
            checked += 1
    assert checked > 5


@pytest.mark.half
@pytest.mark.parametrize("seed", range(20 * SCALE))
def test_rights_are_those_that_each_name_has_by_itself(seed: int) -> None:
    rng = random.Random(f"rights {seed}")
    world = random_world(rng, authorizer=rng.choice(("standard", "acl", "glob")))
    bindings = [replace(each, principal=APP) for each in with_unknowns(rng, world).bindings]
    later = [each for each in bindings if rng.random() < 0.5]
    asked = [random_request(rng, world) for _ in range(12)]
    requests = [Used(replace(each, principal=APP), rng.randint(1, 9)) for each in dict.fromkeys(asked)]
    existing = {
        kind: SortedNames([each.resource_name for each in bindings] + ["*", "*a", "", "zz"])
        for kind in (ResourceType.TOPIC, ResourceType.GROUP)
    }

    def held_by(binding: AclBinding, kind: ResourceType, name: str) -> set[Operation]:
        matches = binding.resource_type is kind and bool(SortedNames([name]).under(binding, world.settings))
        if not matches or binding.permission_type is not PermissionType.ALLOW:
            return set()
        every = operations_of(kind, world.settings)
        return set(every) if binding.operation is Operation.ALL else {binding.operation}

    def rights(given: list[AclBinding], kind: ResourceType, name: str) -> set[Operation]:
        return set().union(*(held_by(binding, kind, name) for binding in given))

    named = {(each.request.resource.resource_type, each.request.resource.name) for each in requests}
    places = {(kind, name) for kind, own in existing.items() for name in own} | named
    expected = []
    for kind, name in sorted(places, key=lambda place: (place[0].code, place[1])):
        for operation in sorted(rights(bindings, kind, name), key=lambda each: each.code):
            if operation in operations_of(kind, world.settings):
                brings = (operation, IMPLIED.get(operation))
                of_name = [each for each in requests if each.request.resource == Resource(kind, name)]
                lines = sum(each.lines for each in of_name if each.request.operation in brings)
                expected.append(HeldRight(kind, name, operation, lines))
    found = LoggedRights(requests, existing, world.settings).of(bindings)

    assert list(found) == expected
    assert len(found) == len(expected)
    assert list(found.used) == [each for each in expected if each.lines]
    assert list(found.unused) == [each for each in expected if not each.lines]
    assert found.unused_number == sum(not each.lines for each in expected)
    here = [
        (rights(bindings, kind, name), rights(later, kind, name))
        for kind, own in existing.items()
        for name in own
    ]
    assert rights_of(bindings, later, existing, world.settings) == Rights(
        today=sum(len(old) for old, _ in here), removed=sum(len(old - new) for old, new in here)
    )
