"""A client action without a host is answered for every host at once, and as `assess` answers from each address."""

from __future__ import annotations

import random
from collections import Counter

from aclweb.acl.authorizer import any_host
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.needs.actions import ACTIONS
from aclweb.acl.needs.answers import assess
from aclweb.acl.needs.any_host import HostsAssessed, assess_for_any_host, without_missing
from aclweb.acl.needs.assessment import Outcome
from tests import reference
from tests.acl.test_any_host import ADDRESSES, GLOB_HOSTS, HOSTS
from tests.builders import acl, allow, deny
from tests.random_cases import SCALE

NAMES = {"topic": ("t",), "group": ("g",)}


def hosts_of(
    *bindings: AclBinding, action: str = "consume", settings: AuthorizerSettings | None = None
) -> HostsAssessed:
    return assess_for_any_host(
        ACTIONS[action],
        principal="User:a",
        names=NAMES,
        index=AclIndex(bindings),
        settings=settings or AuthorizerSettings(super_users=frozenset(), allow_everyone=False),
    )


def test_a_consumer_whose_rights_name_a_host_works_from_there_alone():
    found = hosts_of(
        allow("User:a", "READ", "t", host="10.20.6.21"), allow("User:a", "READ", "g", resource_type="GROUP")
    )

    assert found.sentence == "It depends on the host: works from 10.20.6.21, fails from every other host."
    assert [part.outcome for part in found.parts] == [Outcome.WORKS, Outcome.FAILS]


def test_rights_from_two_ranges_work_where_these_meet():
    settings = AuthorizerSettings("standard", "4.4", super_users=frozenset(), allow_everyone=False)
    found = hosts_of(
        allow("User:a", "READ", "t", host="10.0.0.0/8"),
        allow("User:a", "READ", "g", resource_type="GROUP", host="10.0.0.0/24"),
        settings=settings,
    )

    ends = {part.region.hosts: part.outcome for part in found.parts}
    assert ends == {
        ("10.0.0.0/24",): Outcome.WORKS,
        ("10.0.0.0/8",): Outcome.FAILS,
        ("*",): Outcome.FAILS,
    }


def test_what_no_host_changes_is_one_answer():
    found = hosts_of(allow("User:a", "ALL", "t"), allow("User:a", "READ", "g", resource_type="GROUP"))

    assert (found.outcome, len(found.parts)) == (Outcome.WORKS, 1)
    assert found.sentence == "Works from every host."


def test_a_deny_from_one_host_fails_there_alone():
    found = hosts_of(
        allow("User:a", "ALL", "t"),
        allow("User:a", "READ", "g", resource_type="GROUP"),
        deny("User:a", "READ", "t", host="10.0.0.7"),
    )

    assert found.sentence == "It depends on the host: fails from 10.0.0.7, works from every other host."


def test_hosts_too_many_to_compare_are_reported_as_that(monkeypatch):
    monkeypatch.setattr(any_host, "MOST_DIVIDED", 3)

    found = hosts_of(allow("User:a", "READ", "t", host="10.20.6.21"))

    assert (found.outcome, found.parts) == (Outcome.UNDECIDED, ())
    assert "too many hosts" in found.sentence


def test_without_what_is_missing_the_rest_of_the_story_stays():
    found = hosts_of(allow("User:a", "READ", "t", host="10.20.6.21")).elsewhere

    told = without_missing(found)

    assert found.missing
    assert not told.missing
    assert not any(sentence.startswith("It would take") for sentence in told.sentences)
    assert found.sentences[: len(told.sentences)] == told.sentences


def test_every_address_has_one_part_that_ends_as_the_action_does_from_there():
    seen: Counter[str] = Counter()
    for seed in range(60 * SCALE):
        rng = random.Random(seed)
        authorizer = rng.choice(("standard", "standard", "acl", "glob"))
        settings = AuthorizerSettings(
            authorizer,
            "4.4" if authorizer == "standard" else "",
            super_users=frozenset(),
            allow_everyone=rng.random() < 0.2,
        )
        hosts = (*HOSTS, *GLOB_HOSTS) if authorizer == "glob" else HOSTS
        bindings = [
            acl(
                rng.choice(("ALLOW", "ALLOW", "ALLOW", "DENY")),
                "User:a",
                rng.choice(("READ", "ALL")),
                name,
                resource_type=kind,
                host=rng.choice(hosts),
            )
            for _ in range(rng.randrange(2, 6))
            for name, kind in [rng.choice((("t", "TOPIC"), ("g", "GROUP")))]
        ]
        found = hosts_of(*bindings, settings=settings)
        seen[found.outcome.name if found.outcome else "DEPENDS"] += 1
        named = {host for part in found.parts for host in (*part.region.hosts, *part.region.except_hosts)}
        for address in ADDRESSES if SCALE > 1 else rng.sample(ADDRESSES, 8):
            if address == "0.0.0.0" and address not in named:
                continue
            (part,) = [
                part
                for part in found.parts
                if all(reference._matches_host(host, address, settings) for host in part.region.hosts)
                and not any(
                    reference._matches_host(host, address, settings) for host in part.region.except_hosts
                )
            ]
            there = assess(
                ACTIONS["consume"],
                principal="User:a",
                host=address,
                names=NAMES,
                index=AclIndex(bindings),
                settings=settings,
            )
            assert (there.outcome, there.error) == (part.outcome, part.like.error), (seed, address, bindings)
    assert seen["DEPENDS"] > 8 * SCALE
    assert seen["FAILS"] > 2 * SCALE
