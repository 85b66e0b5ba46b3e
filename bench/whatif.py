"""How fast is a what-if, beside deciding on every cell?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import (
    OPERATIONS,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.simulate import EXACT, Impact, Names, simulate
from bench import worlds
from bench.report import Figure
from bench.timing import cpu_seconds, fastest

RULES = AuthorizerSettings()
ADDRESS = "203.0.113.9"
SAMPLE = 1_000


def against_every_cell(quick: bool) -> Iterator[Figure]:
    """Yield how much faster a what-if is than deciding twice on every topic, for the principals that it names alone."""
    topics = worlds.topic_names(10_000 if quick else 100_000)
    acls = 2_000 if quick else 20_000
    bindings = list(worlds.bindings(acls))
    index, names = AclIndex(bindings), Names(topics=tuple(topics))
    principal = _nobody_yet(bindings)
    drafted = [binding for binding in worlds.bindings(5_000, seed=77, for_all=0) if binding not in index]
    deltas = {
        "ALLOW READ on one topic": (_allow(principal, topics[77], PatternType.LITERAL),),
        "ALLOW READ on nl.team1 (prefix)": (_allow(principal, "nl.team1", PatternType.PREFIXED),),
        "ALLOW READ on every topic": (_allow(principal, "*", PatternType.LITERAL),),
        f"a draft of {len(drafted):,} ACLs": tuple(drafted),
    }
    for title, add in deltas.items():
        delta = Delta(add=add)
        _check(delta, index, names)
        (fast,) = fastest(lambda delta=delta: simulate(delta, index, names, RULES), rounds=3)
        impact = simulate(delta, index, names, RULES)
        principals = list(dict.fromkeys(binding.principal for binding in add))
        slow = _seconds_of_deciding(delta, index, topics, principals)
        yield Figure(
            "What-if",
            f"{title}, on {acls:,} ACLs and {len(topics):,} topics",
            slow / fast,
            detail=f"what-if {fast * 1e3:,.1f} ms, {len(impact.gains) + len(impact.loses):,} differences for all "
            f"principals and hosts; deciding twice on every topic and operation from one host for "
            f"{len(principals):,} of them {slow:,.1f} s, from a sample",
        )


def _check(delta: Delta, index: AclIndex, names: Names) -> None:
    """Compare what the what-if says of some topics with two decisions on each."""
    impact = simulate(delta, index, names, RULES)
    after = AclIndex(delta.applied_to(index.bindings))
    principals = list(dict.fromkeys(binding.principal for binding in delta.add))[:5]
    told = set(_gained(impact, principals))
    for request in _cells(random.Random(8).sample(names.topics, SAMPLE), principals):
        allowed = [decide(request, side, RULES)[0] is Result.ALLOWED for side in (index, after)]
        gained = (request.principal, request.operation, request.resource_name) in told
        if gained is not (allowed == [False, True]):
            raise SystemExit(f"The what-if and two decisions differ on {request}.")


def _gained(impact: Impact, principals: Iterable[str]) -> Iterator[tuple[str, Operation, str | None]]:
    for effect in impact.gains:
        if effect.names_kind != EXACT or ADDRESS in effect.except_hosts or effect.host not in ("*", ADDRESS):
            continue
        for principal in principals if effect.principal == "*" else (effect.principal,):
            if principal not in effect.except_principals:
                yield principal, effect.operation, effect.resource_name


def _seconds_of_deciding(delta: Delta, index: AclIndex, topics: list[str], principals: list[str]) -> float:
    """Return the seconds that both decisions on all cells of these principals take, by those on a sample."""
    after = AclIndex(delta.applied_to(index.bindings))
    chance = random.Random(9)
    cells = list(_cells(chance.sample(topics, SAMPLE), chance.sample(principals, min(5, len(principals)))))

    def decide_all() -> None:
        for request in cells:
            decide(request, index, RULES)
            decide(request, after, RULES)

    cpu_seconds(decide_all)
    (sampled,) = fastest(decide_all, rounds=3)
    return sampled * len(topics) / SAMPLE * len(principals) / min(5, len(principals))


def _cells(topics: Iterable[str], principals: Iterable[str]) -> Iterator[AccessRequest]:
    return (
        AccessRequest(principal, ADDRESS, operation, ResourceType.TOPIC, topic)
        for principal in principals
        for topic in topics
        for operation in OPERATIONS[ResourceType.TOPIC]
    )


def _allow(principal: str, name: str, pattern_type: PatternType) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC, name, pattern_type, principal, "*", Operation.READ, PermissionType.ALLOW
    )


def _nobody_yet(bindings: Iterable[AclBinding]) -> str:
    """Return a principal with ACLs and none for all topics."""
    spoilt = {binding.principal for binding in bindings if binding.resource_name == "*"}
    return next(binding.principal for binding in bindings if binding.principal not in spoilt)
