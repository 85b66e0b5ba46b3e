"""The answer for every host at once, held against the answer for each of many addresses."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.any_host import (
    HostAnswer,
    HostPart,
    HostResult,
    decide_for_any_host,
    result_for_any_host,
)
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching import Matching, host_ranges
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, Operation, PatternType, PermissionType
from tests import reference
from tests.builders import acl, allow, ask, deny, read
from tests.random_cases import SCALE

ADDRESSES = (
    *(f"10.0.0.{last}" for last in range(40)),
    *("10.0.0.255", "10.0.1.0", "10.1.0.7", "9.255.255.255", "11.0.0.0", "0.0.0.0", "0.0.0.1"),
    *("127.255.255.255", "128.0.0.0", "192.168.1.1", "203.0.113.9", "255.255.255.255"),
    *("0:0:0:0:0:0:0:0", "0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1%eth0", "0:0:0:0:0:0:0:2"),
    *("7fff:0:0:0:0:0:0:1", "8000:0:0:0:0:0:0:1", "ffff:0:0:0:0:0:0:1", "fe80:0:0:0:0:0:0:1"),
    *("fe80:0:0:0:0:0:0:1%eth0", "fe80:0:0:0:0:0:0:1%eth00", "2001:db8:0:0:0:0:0:7", "2001:db9:0:0:0:0:0:7"),
)
HOSTS = (
    *("*", "*", "10.0.0.7", "10.0.0.8", "0.0.0.0", "192.168.1.1", "203.0.113.9"),
    *("0:0:0:0:0:0:0:1", "fe80:0:0:0:0:0:0:1%eth0", "::1", "010.0.0.7", "example.com", ""),
    *("10.0.0.0/8", "10.9.9.9/8", "10.0.0.0/24", "10.0.0.8/29", "10.0.0.8/30", "10.0.0.12/30", "10.0.0.7/32"),
    *("0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/32", "0.0.0.0/31", "10.0.0.0/33"),
    *("::/0", "::/1", "8000::/1", "::1/128", "fe80::/10", "fe80::1/128", "2001:db8::/32", "fe80::1%eth0/64"),
)
GLOB_HOSTS = ("10.0.0.?", "10.*", "*.7", "?*", "fe80*", "*%eth0", "b?oker", "0:*")


def holds(part: HostPart, address: str, settings: AuthorizerSettings) -> bool:
    return all(reference._matches_host(host, address, settings) for host in part.hosts) and not any(
        reference._matches_host(host, address, settings) for host in part.except_hosts
    )


def random_host_world(rng: random.Random) -> tuple[list[AclBinding], AccessRequest, AuthorizerSettings]:
    authorizer = rng.choice(("standard", "standard", "standard", "acl", "glob"))
    settings = AuthorizerSettings(
        authorizer,
        rng.choice(("4.4", "4.4", "4.0")) if authorizer == "standard" else "",
        super_users=frozenset(rng.choice(((), (), (), ("User:a",)))),
        allow_everyone=rng.random() < 0.4,
    )
    hosts = (*HOSTS, *GLOB_HOSTS, *GLOB_HOSTS) if authorizer == "glob" else HOSTS
    bindings = [
        acl(
            rng.choice(("ALLOW", "ALLOW", "DENY")),
            rng.choice(("User:a", "User:a", "User:*", "User:b")),
            rng.choice(("READ", "ALL", "DESCRIBE", "WRITE")),
            *rng.choice((("t",), ("t",), ("*",), ("other",))),
            host=rng.choice(hosts),
        )
        for _ in range(rng.randrange(5 if authorizer == "glob" else 9))
    ]
    if rng.random() < 0.05 and bindings:
        bindings[0] = replace(bindings[0], permission_type=PermissionType.UNKNOWN)
    if rng.random() < 0.05 and bindings:
        bindings[0] = replace(bindings[0], pattern_type=PatternType.UNKNOWN)
    operation = rng.choice((Operation.READ, Operation.DESCRIBE))
    name = rng.choice(("t", "t", "t", None))
    return bindings, ask("User:a", operation.name, name, host="never looked at"), settings


def checked(bindings: list[AclBinding], request: AccessRequest, settings: AuthorizerSettings) -> HostAnswer:
    index = AclIndex(bindings)
    answer = decide_for_any_host(request, index, settings)
    assert result_for_any_host(request, index, settings) is answer.result
    named = {host for part in answer.parts for host in (*part.hosts, *part.except_hosts)}
    for part in answer.parts:
        here = authorize(answer.request_at(part), index, settings)
        assert (here.result, here.basis) == (part.result, part.basis)
        assert holds(part, part.example, settings)
        if here.basis.name in ("ALLOW_ACL", "DENY_ACL"):
            assert set(here.determining) <= set(part.determining)
    for address in ADDRESSES:
        if address == "0.0.0.0" and address not in named:
            continue
        (part,) = [part for part in answer.parts if holds(part, address, settings)]
        result = decide(replace(request, host=address), index, settings)[0]
        assert part.result is result, (address, part)
        if not any(binding.has_unknown for binding in bindings):
            assert result.name == reference.answer(replace(request, host=address), bindings, settings)[0]
    results = {part.result for part in answer.parts}
    if Result.UNDECIDED in results:
        assert answer.result is HostResult.UNDECIDED
    else:
        assert answer.result.name == (results.pop().name if len(results) == 1 else "DEPENDS")
    return answer


def test_every_address_has_one_part_with_the_answer_that_authorize_gives_there() -> None:
    seen: Counter[str] = Counter()
    for seed in range(600 * SCALE):
        bindings, request, settings = random_host_world(random.Random(seed))
        try:
            seen[checked(bindings, request, settings).result.name] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {settings}, {bindings}, {request}") from error
    assert min(seen[result.name] for result in HostResult) > 5 * SCALE, seen


def test_an_allow_from_one_host_depends_and_names_both_sides() -> None:
    grant = allow("User:a", "READ", "t", host="10.0.0.7")

    answer = decide_for_any_host(read("User:a", "t"), AclIndex([grant]))

    assert answer.result is HostResult.DEPENDS
    assert [(part.hosts, part.determining) for part in answer.allowed_from] == [(("10.0.0.7",), (grant,))]
    assert [(part.hosts, part.except_hosts) for part in answer.denied_from] == [(("*",), ("10.0.0.7",))]
    assert answer.sentence == (
        "It depends on the host: allowed from 10.0.0.7, refused from every other host."
    )


def test_a_deny_inside_an_allowed_range_is_its_exception() -> None:
    index = AclIndex(
        [
            allow("User:a", "READ", "t", host="10.0.0.0/8"),
            deny("User:*", "ALL", "*", host="10.1.0.0/16"),
            allow("User:a", "READ", "t", host="10.1.0.9"),
        ]
    )

    answer = decide_for_any_host(read("User:a", "t"), index)

    assert answer.sentence == (
        "It depends on the host: allowed from 10.0.0.0/8 (except 10.1.0.0/16), refused from every other host."
    )
    assert decide_for_any_host(
        read("User:a", "t"), index, AuthorizerSettings(kafka_version="4.3")
    ).sentence == ("It depends on the host: allowed from 10.1.0.9, refused from every other host.")


def test_a_range_with_several_exceptions_names_one_and_counts_the_others() -> None:
    inside = [deny("User:a", "READ", "t", host=f"10.{second}.0.0/16") for second in (1, 2, 3)]
    index = AclIndex([allow("User:a", "READ", "t", host="10.0.0.0/8"), *inside])

    assert decide_for_any_host(read("User:a", "t"), index).sentence == (
        "It depends on the host: allowed from 10.0.0.0/8 (except 10.1.0.0/16 and 2 others), "
        "refused from every other host."
    )


def test_a_deny_from_one_host_of_what_everybody_may_says_where_it_is_refused() -> None:
    index = AclIndex([allow("User:*", "READ", "t"), deny("User:a", "READ", "t", host="10.0.0.7")])

    answer = decide_for_any_host(read("User:a", "t"), index)

    assert answer.sentence == (
        "It depends on the host: refused from 10.0.0.7, allowed from every other host."
    )


@pytest.mark.parametrize(
    "bindings",
    [
        [allow("User:a", "READ", "t", host="example.com")],
        [allow("User:a", "READ", "t", host="::1")],
        [allow("User:a", "READ", "t", host="10.0.0.0/33")],
        [allow("User:b", "READ", "t", host="10.0.0.7")],
        [allow("User:a", "WRITE", "t", host="10.0.0.7")],
        [deny("User:a", "READ", "t", host="10.0.0.7")],
        [],
    ],
)
def test_hosts_that_change_no_answer_leave_it_refused_from_every_host(bindings: list[AclBinding]) -> None:
    answer = decide_for_any_host(read("User:a", "t"), AclIndex(bindings))

    assert answer.result is HostResult.DENIED
    assert answer.sentence == "Refused from every host."


def test_ranges_that_hold_every_address_allow_from_every_host() -> None:
    index = AclIndex([allow("User:a", "READ", "t", host=host) for host in ("0.0.0.0/0", "::/0")])

    assert decide_for_any_host(read("User:a", "t"), index).result is HostResult.ALLOWED


def test_a_super_user_is_allowed_from_every_host_whatever_is_denied() -> None:
    index = AclIndex([deny("User:a", "READ", "t", host="10.0.0.7")])
    settings = AuthorizerSettings(super_users=frozenset({"User:a"}))

    assert decide_for_any_host(read("User:a", "t"), index, settings).result is HostResult.ALLOWED


def test_two_thousand_hosts_are_reported_in_one_short_sentence() -> None:
    index = AclIndex([allow("User:a", "READ", "t", host=f"10.0.{n // 250}.{n % 250}") for n in range(2_000)])

    answer = decide_for_any_host(read("User:a", "t"), index)

    assert len(answer.allowed_from) == 2_000
    assert answer.sentence.endswith("10.0.0.2 and 1,997 other places, refused from every other host.")


def test_globs_too_many_to_compare_are_no_claim_about_every_host(monkeypatch) -> None:
    monkeypatch.setattr(host_ranges, "SIGNATURE_STEPS", 4_000)
    index = AclIndex(
        [allow("User:*", "READ", "t")]
        + [deny("User:a", "READ", "t", host=f"*{n}?{n + 1}*?{n}*x") for n in range(12)]
    )

    assert (
        decide_for_any_host(read("User:a", "t"), index, AuthorizerSettings("glob")).result
        is HostResult.UNDECIDED
    )


def test_a_question_by_type_with_too_many_hosts_is_no_claim() -> None:
    bindings = [allow("User:a", "READ", f"t{n}", host=f"10.0.{n // 250}.{n % 250}") for n in range(1_000)]

    few = decide_for_any_host(ask("User:a", "READ", None), AclIndex(bindings[:100]))
    many = decide_for_any_host(ask("User:a", "READ", None), AclIndex(bindings))

    assert few.result is HostResult.DEPENDS
    assert (many.result, many.parts) == (HostResult.UNDECIDED, ())


def test_a_question_about_a_whole_type_looks_at_the_acls_of_its_own_session_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = [allow("User:a", "READ", f"t{n}", host=f"10.0.0.{n}") for n in range(20)] + [
        allow("User:a", "READ", f"u{n}") for n in range(20)
    ]
    others = [allow(f"User:b{n}", "READ", f"t{n % 20}", host=f"10.0.1.{n % 250}") for n in range(2_000)]
    index = AclIndex([*own, *others])
    compared: list[str] = []
    compare = Matching.comes_from
    monkeypatch.setattr(
        Matching,
        "comes_from",
        lambda self, acl_host, host: compared.append(acl_host) or compare(self, acl_host, host),
    )

    answer = decide_for_any_host(ask("User:a", "READ", None), index)

    assert (answer.result, len(answer.parts)) == (HostResult.ALLOWED, 1)
    assert set(answer.parts[0].determining) == set(own)
    # The ACLs of its 20 hosts, at an address of each and of every other, for the answer and for what settles it.
    assert len(compared) <= 2 * 20 * 21, len(compared)
