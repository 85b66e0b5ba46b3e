"""How fast are questions about patterns: one against all names, all against one name, and the worst?"""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclweb.acl.matching import GlobSet, SortedNames, shape_of_glob
from aclweb.acl.model import AuthorizerSettings, PatternType, ResourcePattern, ResourceType
from bench import worlds
from bench.naive import expressions, names_by_expression
from bench.report import Figure
from bench.timing import cpu_seconds, fastest

FIRST = "*-fraud.dlq.v1*"
"""The glob that is also asked of names that were asked nothing before."""

GLOBS = (
    "*.orders-*",
    "??.team17.*",
    "nl.*.raw.v?",
    FIRST,
    "*.team1*",
    "*a*e*i*o*u*",
    "*e*e*e*",
    "*o?d*s*",
    "??????*",
)


def against_all_names(quick: bool) -> Iterator[Figure]:
    """Yield how long one pattern takes to find its names, beside trying each."""
    names = worlds.topic_names(10_000 if quick else 100_000)
    part = f"One pattern against {len(names):,} names"
    sorted_names = SortedNames(names)
    pattern = ResourcePattern(ResourceType.TOPIC, "nl.team1", PatternType.PREFIXED)
    settings = AuthorizerSettings()
    slow, fast = fastest(
        lambda: [name for name in names if name.startswith(pattern.name)],
        lambda: sorted_names.under(pattern, settings),
    )
    yield _found(part, "nl.team1 (prefix)", len(sorted_names.under(pattern, settings)), slow, fast, 10)
    for glob in GLOBS:
        shape = shape_of_glob(glob)
        expected = names_by_expression(glob, sorted(names))
        if list(sorted_names.matching(shape)) != expected:
            raise SystemExit(f"{glob} finds other names than its regular expression.")
        slow, fast = fastest(
            lambda glob=glob: names_by_expression(glob, names),
            lambda shape=shape: sorted_names.matching(shape),
        )
        goal = 10 if len(shape.longest_run) >= 3 else 60
        yield _found(part, glob, len(expected), slow, fast, goal)
        if glob == FIRST:
            others = [SortedNames(names) for _ in range(5)]
            (first,) = fastest(lambda shape=shape, others=others: others.pop().matching(shape))
            yield _found(
                part, f"{glob}, the first question about these names", len(expected), slow, first, goal
            )


def _found(part: str, title: str, hits: int, slow: float, fast: float, goal: float) -> Figure:
    return Figure(
        part,
        title,
        fast * 1e3,
        unit="ms",
        goal=goal,
        at_most=True,
        detail=f"{hits:,} names; one by one {slow * 1e3:.1f} ms ({slow / fast:,.0f}x)",
    )


def many_against_a_name(quick: bool) -> Iterator[Figure]:
    """Yield how much faster a set of globs finds those that match a name than trying each."""
    count = 2_000 if quick else 10_000
    texts = worlds.globs(count)
    shapes = [shape_of_glob(text) for text in texts]
    tried = [expression.fullmatch for expression in expressions(texts)]
    globs = GlobSet(shapes)
    names = random.Random(4).sample(worlds.topic_names(20_000), 300)
    few = names[:10]
    for name in few:
        if globs.matching(name) != [place for place, match in enumerate(tried) if match(name)]:
            raise SystemExit(f"The set finds other globs for {name} than their regular expressions.")
    [globs.matching(name) for name in names]
    by_shape, by_expression, by_set = fastest(
        lambda: [[place for place, shape in enumerate(shapes) if shape.matches(n)] for n in few],
        lambda: [[place for place, match in enumerate(tried) if match(n)] for n in few],
        lambda: [globs.matching(name) for name in names],
    )
    each = by_set / len(names)
    built = cpu_seconds(lambda: GlobSet(shapes))
    yield Figure(
        "Many globs against a name",
        f"{count:,} globs, against the faster of trying each as a shape or as a compiled regular expression",
        min(by_shape, by_expression) / len(few) / each,
        goal=None if quick else 15,
        detail=f"set {each * 1e6:.0f} us (built in {built * 1e3:.0f} ms), each shape "
        f"{by_shape / len(few) * 1e6:,.0f} us, each regular expression {by_expression / len(few) * 1e6:,.0f} us",
    )


def at_their_worst(_quick: bool) -> Iterator[Figure]:
    """Yield how long pathological globs take on long names, and how that grows with the name."""
    for title, make in (
        ("(a*) x 10, ba on a...a", lambda n: ("a*" * 10 + "ba", "a" * n)),
        ("(a*) x 20, b*a on a...a", lambda n: ("a*" * 20 + "b*a", "a" * n)),
        ("*, half a...a, b* on a...a", lambda n: ("*" + "a" * (n // 2) + "b*", "a" * n)),
        ("*, half a...a, ?b* on a...a", lambda n: ("*" + "a" * (n // 2) + "?b*", "a" * n)),
        ("*a?b* on a...a", lambda n: ("*a?b*", "a" * n)),
        ("(*a) x 1,000, b on a...a", lambda n: ("*a" * 1_000 + "b", "a" * n)),
    ):
        times = []
        for length in (249, 3_276, 32_767):
            shape, name = shape_of_glob(make(length)[0]), make(length)[1]
            shape.matches(name)
            repeats = max(1, 20_000 // length)
            (best,) = fastest(
                lambda shape=shape, name=name, repeats=repeats: [shape.matches(name) for _ in range(repeats)],
                rounds=5,
            )
            times.append(best / repeats)
        yield Figure(
            "Pathological globs",
            title,
            times[2] / times[1],
            unit="x for a name ten times as long",
            detail=f"{times[0] * 1e6:.1f} us on 249 characters, {times[1] * 1e6:,.0f} us on 3,276, "
            f"{times[2] * 1e6:,.0f} us on 32,767",
        )
