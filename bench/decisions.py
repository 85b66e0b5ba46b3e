"""How fast is one decision: beside a naive scan, beside Kafka's own authorizer, and at its worst?"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings
from bench import worlds
from bench.adversaries import contests
from bench.jvm import Jvm
from bench.naive import Scan
from bench.report import Figure
from bench.timing import cpu_seconds, fastest, fastest_of

RULES = AuthorizerSettings()
KAFKA = "Decisions against Kafka's StandardAuthorizer 4.4.0"


def against_a_scan(quick: bool) -> Iterator[Figure]:
    """Yield how much faster `decide` is than looking at every ACL."""
    for acls, goal in ((200, None), (20_000, None), (100_000 if quick else 1_000_000, 10_000)):
        bindings = list(worlds.bindings(acls, for_all=0))
        index, scan = AclIndex(bindings), Scan(bindings)
        asked = worlds.near_questions(bindings, 5_000) + worlds.questions(5_000)
        few = asked[:: max(1, len(asked) // max(2, min(200, 4_000_000 // acls)))]
        _compare([scan.allows(r) for r in few], few, index)
        _warm(asked, index)
        slow, fast = fastest(
            lambda few=few, scan=scan: [scan.allows(r) for r in few],
            lambda asked=asked, index=index: _decide_all(asked, index),
            rounds=5,
        )
        one, other = slow / len(few), fast / len(asked)
        yield Figure(
            "Decisions against a naive scan",
            f"{acls:,} realistic ACLs",
            one / other,
            goal=None if quick else goal,
            detail=f"scan {one * 1e6:,.0f} us, decide {other * 1e6:.2f} us",
        )


def against_kafka(quick: bool) -> Iterator[Figure]:
    """Yield how much faster `decide` is than the released StandardAuthorizer, answers compared."""
    many = 100_000 if quick else 1_000_000
    cases: list[tuple[str, Callable[[], Iterator[AclBinding]], float | None]] = [
        ("200 realistic ACLs", lambda: worlds.bindings(200, for_all=0), 0.5),
        ("2,000 realistic ACLs", lambda: worlds.bindings(2_000, for_all=0), None),
        ("20,000 realistic ACLs", lambda: worlds.bindings(20_000, for_all=0), 1.3),
        ("20,000 ACLs, 452 of them for all topics", lambda: worlds.bindings(20_000), None),
        (f"{many:,} realistic ACLs", lambda: worlds.bindings(many, for_all=0), None if quick else 5),
    ]
    with Jvm() as jvm:
        for title, make, goal in cases:
            bindings = list(make())
            index = AclIndex(bindings)
            count = 2_000 if quick else 10_000
            jvm.load(bindings)
            yield _beside(jvm, f"{title}, questions at random", worlds.questions(count), index, goal)
            near = worlds.near_questions(bindings, count)
            yield _beside(jvm, f"{title}, questions near an ACL", near, index, goal)


def against_kafka_on_its_data(quick: bool) -> Iterator[Figure]:
    """Yield the same on the data that Kafka's own benchmark makes."""
    resources = 5_000 if quick else 50_000
    bindings = list(worlds.authorizer_benchmark(resources, 10))
    index = AclIndex(bindings)
    asked = worlds.authorizer_benchmark_questions(resources, 10, 500)
    with Jvm() as jvm:
        jvm.load(bindings)
        part = f"{KAFKA}, on Kafka's AuthorizerBenchmark"
        data = f"{resources:,} x 10 ({len(bindings):,} ACLs)"
        goal = None if quick else 300
        yield _beside(jvm, f"{data}, its own query", asked[:1] * 500, index, goal, part)
        yield _beside(jvm, f"{data}, a mix", asked, index, goal, part)


def at_their_worst(quick: bool) -> Iterator[Figure]:
    """Yield how much slower `decide` is on adversarial sets than on friendly ones of their size."""
    for contest in contests(0.02 if quick else 1.0):
        times: list[float] = []
        for make in (contest.hostile, contest.friendly):
            bindings, asked = make()
            index = AclIndex(bindings)
            few = asked[:10]
            scan = Scan(bindings)
            if "/" not in bindings[0].host:
                _compare([scan.allows(r) for r in few], few, index)
            _warm(asked, index)
            (best,) = fastest(lambda asked=asked, index=index: _decide_all(asked * 5, index), rounds=7)
            times.append(best / len(asked) / 5)
            del bindings, index, scan
            gc.collect()
        yield Figure(
            "Adversarial sets against friendly ones",
            contest.title,
            times[0] / times[1],
            unit="x slower",
            goal=25,
            at_most=True,
            detail=f"{times[0] * 1e6:.2f} us, friendly {times[1] * 1e6:.2f} us",
        )


def _beside(
    jvm: Jvm,
    title: str,
    asked: Sequence[AccessRequest],
    index: AclIndex,
    goal: float | None,
    part: str = KAFKA,
) -> Figure:
    answers = jvm.ask(asked)
    allowed = _compare([answer == "+" for answer in answers], asked, index)
    # The JVM's compilers want some ten thousand calls before it is at its best.
    spent, passes = 0.0, 0
    while spent < 2 and passes * len(asked) < 200_000:
        spent, passes = spent + jvm.round(), passes + 1
    # Both go through all questions again and again for about a tenth of a second.
    times = max(1, int(0.1 * passes / spent))
    own = max(1, int(0.1 / cpu_seconds(lambda: _decide_all(asked, index))))
    slow, fast = fastest_of(
        lambda: jvm.round(times) / times,
        lambda: cpu_seconds(lambda: [_decide_all(asked, index) for _ in range(own)]) / own,
        rounds=7,
    )
    return Figure(
        part,
        title,
        slow / fast,
        goal=goal,
        detail=f"JVM {slow / len(asked) * 1e6:.2f} us, decide {fast / len(asked) * 1e6:.2f} us; "
        f"{len(asked):,} answers equal, {allowed:.1%} allowed",
    )


def _decide_all(asked: Sequence[AccessRequest], index: AclIndex) -> None:
    settings = RULES
    for request in asked:
        decide(request, index, settings)


def _warm(asked: Sequence[AccessRequest], index: AclIndex) -> None:
    """Have the index file what it files at the first question."""
    for request in islice(asked, 10):
        decide(request, index, RULES)


def _compare(expected: Sequence[bool], asked: Sequence[AccessRequest], index: AclIndex) -> float:
    """Return the share of allowed requests; end everything where an answer differs."""
    for allowed, request in zip(expected, asked, strict=True):
        result, basis = decide(request, index, RULES)
        if (result is Result.ALLOWED) is not allowed:
            raise SystemExit(f"decide says {result.name} ({basis.name}) and the baseline does not: {request}")
    return sum(expected) / len(expected)
