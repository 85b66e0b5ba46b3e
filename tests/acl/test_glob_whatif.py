"""What an edit of globs is said to change is what it changes, for every name that exists."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.names import SortedNames
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, AclError, PatternType, ResourceType
from aclweb.acl.simulate import PATTERN, Effect, Impact, Names, simulate
from tests import reference
from tests.builders import allow, deny
from tests.random_cases import HOSTS, PRINCIPALS, SCALE, random_binding, random_name, random_world

GLOB = AuthorizerSettings("glob")
BY_EXAMPLE = "one example"


def glob(principal: str, operation: str, name: str, **more: str) -> AclBinding:
    return allow(principal, operation, name, pattern="GLOB", **more)


@dataclass(frozen=True)
class Case:
    before: tuple[AclBinding, ...]
    after: tuple[AclBinding, ...]
    delta: Delta
    names: Names
    settings: AuthorizerSettings
    after_settings: AuthorizerSettings


def random_edit(seed: int) -> Case:
    rng = random.Random(f"what-if with globs {seed}")
    from_standard = seed % 4 == 0
    world = random_world(rng, authorizer="standard" if from_standard else "glob", most=8)
    after_settings = (
        AuthorizerSettings("glob", allow_everyone=world.settings.allow_everyone)
        if from_standard
        else world.settings
    )
    topics = tuple(sorted({random_name(rng, after_settings) for _ in range(4)} - {""}))
    groups = tuple(sorted({random_name(rng, after_settings) for _ in range(3)}))
    near = [b.resource_name for b in world.bindings] + list(topics)
    add = [random_binding(rng, after_settings, near) for _ in range(rng.choice((1, 2, 3)))]
    remove = [b for b in world.bindings if rng.random() < 0.3]
    delta = Delta(tuple(b for b in add if b not in remove), tuple(remove))
    names = Names(
        topics=topics,
        groups=groups,
        principals=tuple(rng.sample(PRINCIPALS, 3)),
        hosts=tuple(rng.sample(HOSTS, 3)),
    )
    after = tuple(b for b in (*world.bindings, *delta.add) if b not in delta.remove)
    return Case(world.bindings, after, delta, names, world.settings, after_settings)


def holds_for(effect: Effect, principal: str, host: str) -> bool:
    return (
        effect.principal in (principal, "*")
        and principal not in effect.except_principals
        and effect.host in (host, "*")
        and host not in effect.except_hosts
    )


def changes_of(impact: Impact, kind: str) -> list[tuple[str, Effect]]:
    lists = {"gains": impact.gains, "loses": impact.loses, "depends": impact.depends}
    return [
        (name, effect) for name, effects in lists.items() for effect in effects if effect.names_kind == kind
    ]


@pytest.mark.parametrize("chunk", range(4))
def test_a_what_if_with_globs_says_of_every_given_name_what_deciding_twice_says(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 20 * SCALE, (chunk + 1) * 20 * SCALE):
        case = random_edit(seed)
        impact = simulate(case.delta, AclIndex(case.before), case.names, case.settings, case.after_settings)
        reported = changes_of(impact, "EXACT")
        given = [(ResourceType.TOPIC, name) for name in case.names.topics]
        given += [(ResourceType.GROUP, name) for name in case.names.groups]
        for resource_type, name in given:
            here = [
                (n, e) for n, e in reported if (e.resource_type, e.resource_name) == (resource_type, name)
            ]
            for operation in OPERATIONS[resource_type]:
                of_operation = [(n, e) for n, e in here if e.operation is operation]
                for principal in case.names.principals:
                    for host in case.names.hosts:
                        asked = AccessRequest(principal, host, operation, resource_type, name)
                        old = reference.allows(asked, case.before, case.settings)
                        new = reference.allows(asked, case.after, case.after_settings)
                        said = [n for n, e in of_operation if holds_for(e, principal, host)]
                        expected = [] if old == new else ["gains" if new else "loses"]
                        assert said == expected, (seed, asked, case)
                        seen["".join(expected)] += 1
    assert seen["gains"] > 10
    assert seen["loses"] > 10


def test_what_is_said_of_names_that_a_glob_matches_holds_for_its_example() -> None:
    met = 0
    for seed in range(30 * SCALE):
        case = random_edit(seed)
        impact = simulate(case.delta, AclIndex(case.before), case.names, case.settings, case.after_settings)
        for name, effect in changes_of(impact, PATTERN):
            if effect.principal not in PRINCIPALS or effect.host not in HOSTS:
                continue
            example = (effect.names_text or "*").replace("*", "\ue000").replace("?", "\ue000")
            asked = AccessRequest(
                effect.principal, effect.host, effect.operation, effect.resource_type, example
            )
            old = reference.allows(asked, case.before, case.settings)
            new = reference.allows(asked, case.after, case.after_settings)
            assert (old, new) == ((False, True) if name == "gains" else (True, False)), (seed, effect)
            assert effect.resource_name is None
            met += 1
    assert met > 10


def test_a_new_glob_gives_the_names_that_it_matches_and_an_example_and_says_so() -> None:
    topics = ("nl-accounts-localtopic", "de-accounts-remotetopic", "nl-bills")
    added = glob("User:a", "READ", "*-accounts-*")
    impact = simulate(Delta(add=(added,)), AclIndex(), Names(topics=topics), GLOB)
    gained = {(e.names_kind, e.names_text, e.operation.name) for e in impact.gains}
    assert gained == {
        (kind, text, operation)
        for kind, text in (("EXACT", topics[0]), ("EXACT", topics[1]), ("PATTERN", "*-accounts-*"))
        for operation in ("READ", "DESCRIBE")
    }
    assert [resource.name for resource in impact.resources] == sorted(topics[:2])
    assert any(BY_EXAMPLE in warning for warning in impact.warnings)


def test_a_new_topic_is_under_the_globs_that_match_it() -> None:
    acls = AclIndex([glob("User:a", "READ", "*-accounts-*"), glob("User:b", "READ", "nl-*")])
    impact = simulate(Delta(), acls, Names(new_topics=("us-accounts-privatetopic",)), GLOB)
    assert {(e.principal, e.resource_name) for e in impact.gains} == {("User:a", "us-accounts-privatetopic")}


def test_without_globs_nothing_is_judged_by_an_example() -> None:
    impact = simulate(Delta(add=(allow("User:a", "READ", "t"),)), AclIndex(), Names(), GLOB)
    assert not any(BY_EXAMPLE in warning for warning in impact.warnings)


def test_a_stored_principal_with_an_asterisk_takes_effect_with_the_proposal() -> None:
    acls = AclIndex([allow("User:a*", "READ", "t")])
    names = Names(principals=("User:alice", "User:bob"))
    impact = simulate(Delta(), acls, names, AuthorizerSettings(), GLOB)
    assert {(e.principal, e.host) for e in impact.gains} == {("User:alice", "*"), ("User:a*", "*")}
    assert any(BY_EXAMPLE in warning for warning in impact.warnings)


def test_a_deny_by_a_host_glob_takes_the_named_hosts_that_it_matches() -> None:
    acls = AclIndex([allow("User:a", "READ", "t")])
    denied = deny("User:a", "READ", "t", host="10.0.*")
    impact = simulate(Delta(add=(denied,)), acls, Names(hosts=("10.0.0.7", "10.1.0.7")), GLOB)
    assert {e.host for e in impact.loses} == {"10.0.0.7", "10.0.*"}


def test_globs_that_the_settings_of_a_side_do_not_know_are_refused() -> None:
    one = glob("User:a", "READ", "t*")
    with pytest.raises(AclError, match="only the 'glob'"):
        simulate(Delta(), AclIndex([one]), Names(), AuthorizerSettings(), GLOB)
    with pytest.raises(AclError, match="only the 'glob'"):
        simulate(Delta(), AclIndex([one]), Names(), GLOB, AuthorizerSettings())
    with pytest.raises(AclError, match="only the 'glob'"):
        simulate(Delta(add=(one,)), AclIndex(), Names(), AuthorizerSettings())
    assert simulate(
        Delta(remove=(one,)), AclIndex([one]), Names(topics=("to",)), GLOB, AuthorizerSettings()
    ).loses
    assert simulate(Delta(add=(one,)), AclIndex(), Names(topics=("to",)), AuthorizerSettings(), GLOB).gains


@pytest.mark.parametrize("text", ["*a" * 100 + "b", "*" * 4_096, "?" * 200 + "*", "*orders?v*"])
def test_a_what_if_of_any_glob_looks_at_all_names_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = tuple(f"team{number % 50}.orders{number}.v1" for number in range(20_000))
    asked: list[int] = []
    matching = SortedNames.matching

    def counted(self, shape):
        asked.append(len(self))
        return matching(self, shape)

    monkeypatch.setattr(SortedNames, "matching", counted)
    impact = simulate(Delta(add=(glob("User:a", "READ", text),)), AclIndex(), Names(topics=topics), GLOB)
    assert asked == [20_000]
    under = AclIndex([glob("User:a", "READ", text)])
    assert all(under.affecting(resource, GLOB) for resource in impact.resources)
    assert all(b.pattern_type is PatternType.GLOB for e in impact.gains for b in e.after.determining)
