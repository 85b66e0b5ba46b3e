"""What does a what-if of groups take, beside the former engine that went cell by cell?

Large edits run in processes of their own, so that the memory of one is not that of another. The former
engine is ended after some CPU seconds; then the ratio is the least that it can be. Both find the same
number of cells, or the run ends.
"""

from __future__ import annotations

import json
import math
import random
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import ANY_USER, Delta
from aclweb.acl.simulate import Names, simulate
from bench import worlds
from bench.effects import measured
from bench.report import Figure
from bench.timing import fastest
from tests.acl.shape_figures import stored_bytes
from tests.acl.shapes import World, acl, host_of, shapes
from tests.acl.test_groups import former_names
from tests.cell_by_cell.simulation import simulate as cell_by_cell

MEMORY = 6 * 2**30
_ROUNDS, _ROUNDS_IN_SMALL = 3, 7


@dataclass(frozen=True)
class Limits:
    """What an edit may take at most: CPU seconds, megabytes on top, kilobytes that are stored.

    patience_seconds: after so many CPU seconds the former engine is ended.
    """

    seconds: float
    megabytes: float | None = None
    kilobytes: float | None = None
    patience_seconds: int = 60


def beside_cell_by_cell(quick: bool) -> Iterator[Figure]:
    """Yield the figures of the large edits, of comparisons, and of what people ask every day."""
    yield from _of_all_topics(quick)
    yield from _of_wildcards()
    yield from _of_mixed_acls(quick)
    yield from _of_two_clusters(quick)
    yield from _of_small_ones()


def _of_all_topics(quick: bool) -> Iterator[Figure]:
    world = _cluster(*((2_000, 10_000) if quick else (20_000, 100_000)))
    caller = next(b.principal for b in world.acls if b.principal not in _for_all_topics(world))
    edits = {
        "READ on one topic for one principal": (acl(world.topic(1), caller), Limits(0.05)),
        "READ on all topics for one principal": (acl("*", caller), Limits(0.3)),
        "READ on all topics for User:*": (acl("*", ANY_USER), Limits(1)),
    }
    for title, (added, limits) in edits.items():
        yield from _figures(f"{title}, on {_size(world)}", Delta(add=(added,)), world, limits)


def _of_wildcards() -> Iterator[Figure]:
    world = _cluster(255, 150)
    added = tuple(acl("*", f"User:p{n}", "ALL", host=host_of(n)) for n in range(600))
    yield from _figures(
        f"ALL on * for 600 principals from a host each, on {_size(world)}",
        Delta(add=added),
        world,
        Limits(1, megabytes=50, kilobytes=200),
    )


def _of_mixed_acls(quick: bool) -> Iterator[Figure]:
    world = _cluster(*((5_000, 2_500) if quick else (100_000, 50_000)))
    count = 500 if quick else 5_000
    drafted = [b for b in worlds.bindings(count, seed=77) if b not in world.index]
    removed = random.Random(5).sample(world.acls, count // 2)
    limits = Limits(5, kilobytes=2_048, patience_seconds=20 if quick else 60)
    yield from _figures(
        f"{len(drafted):,} mixed ACLs come, on {_size(world)}", Delta(add=tuple(drafted)), world, limits
    )
    yield from _figures(
        f"{count // 2:,} mixed ACLs come and {count // 2:,} go, on {_size(world)}",
        Delta(tuple(drafted[: count // 2]), tuple(removed)),
        world,
        limits,
    )


def _of_two_clusters(quick: bool) -> Iterator[Figure]:
    count, topics = (5_000, 2_500) if quick else (100_000, 50_000)
    world = _cluster(count, topics)
    other = list(worlds.bindings(count, seed=2))
    kept = random.Random(6).sample(world.acls, count * 9 // 10)
    for share, right in (("nine tenths", [*kept, *other[: count - len(kept)]]), ("hardly any", other)):
        delta = Delta.between(world.acls, right)
        title = (
            f"compare two clusters of {count:,} ACLs that share {share} of them ({len(delta.add):,} come, "
            f"{len(delta.remove):,} go), and {topics:,} topics"
        )
        limits = Limits(20, patience_seconds=20 if quick else 60)
        yield from _figures(title, delta, world, limits)
    yield from _figures(
        f"{title}, without the ACLs that settle the answers", delta, world, limits, with_acls=False
    )


def _of_small_ones() -> Iterator[Figure]:
    ratios: dict[str, float] = {}
    for acls, topics in ((20, 8), (255, 150), (2_000, 1_000)):
        world = _cluster(acls, topics)
        for shape in (shape for shape in shapes() if shape.ordinary):
            asked = shape.question(world)
            former = former_names(asked.names)
            fast, slow = fastest(
                lambda asked=asked: simulate(asked.delta, asked.index, asked.names, **_AS_PAGES),
                lambda asked=asked, former=former: cell_by_cell(
                    asked.delta, asked.index, former, **_AS_PAGES
                ),
                rounds=_ROUNDS_IN_SMALL,
            )
            ratios[f"{shape.title} on {acls:,} ACLs ({fast * 1e3:.2g} ms)"] = slow / fast
    worst = sorted(ratios, key=ratios.__getitem__)
    told = "; ".join(f"{ratios[title]:.2g}x {title}" for title in worst[:4])
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    yield Figure("Groups", "the slowest of small cases", ratios[worst[0]], goal=0.8, detail=told)
    below = sum(ratio < 0.8 for ratio in ratios.values())
    yield Figure("Groups", f"the mean of {len(ratios)} small cases", mean, detail=f"{below} are below 0.8x")


# How it is measured.

_AS_PAGES: Mapping[str, Any] = {"merge_equal_hosts": True, "met_only": True}


def _figures(
    title: str, delta: Delta, world: World, limits: Limits, *, with_acls: bool = True
) -> Iterator[Figure]:
    names = Names(topics=world.topics)
    former = former_names(names)
    one = Delta(add=(acl(world.topic(0), "User:nobody"),))
    # What all what-ifs over these names and ACLs share is made before.
    simulate(one, world.index, names, **_AS_PAGES)
    cell_by_cell(one, world.index, former, **_AS_PAGES)
    is_kept = limits.megabytes is not None
    asked = {**_AS_PAGES, "with_acls": with_acls}
    found = _best(lambda: _groups(delta, world.index, names, asked, is_kept=is_kept), rounds=_ROUNDS)
    stored = measured(lambda: {"bytes": stored_bytes(simulate(delta, world.index, names, **asked))})
    slow = measured(lambda: _cells(delta, world.index, former, limits, is_kept=is_kept))
    if failed := found.get("failed") or stored.get("failed"):
        raise SystemExit(f"{title}: {failed}")
    ended = "failed" in slow
    if not ended and slow["unchanged"] != found["unchanged"]:
        raise SystemExit(
            f"{title}: {found['unchanged']:,} cells are unchanged, and {slow['unchanged']:,} by the former."
        )
    beside = (
        f"ended after {limits.patience_seconds} CPU s, or too large for its memory" if ended else _told(slow)
    )
    yield Figure(
        "Groups",
        title,
        (limits.patience_seconds if ended else slow["cpu"]) / found["cpu"],
        unit="x at least" if ended else "x",
        detail=f"{_told(found)}, {found['groups']:,} groups of {found['cells']:,} cells; cell by cell {beside}",
    )
    of = f"the same: {title}"
    yield Figure("Groups", of, found["cpu"], unit="CPU s", goal=limits.seconds, at_most=True)
    if limits.megabytes is not None:
        yield Figure("Groups", of, found["megabytes"], unit="MB", goal=limits.megabytes, at_most=True)
    yield Figure(
        "Groups",
        of,
        stored["bytes"] / 1024,
        unit="KiB stored",
        goal=limits.kilobytes,
        at_most=limits.kilobytes is not None,
    )


def _told(found: Mapping[str, Any]) -> str:
    kept = f", {found['kept'] / 2**20:,.2f} MB kept" if found["kept"] else ""
    return f"{found['cpu']:,.3f} CPU s, {found['megabytes']:,.0f} MB{kept}"


def _groups(
    delta: Delta, index: AclIndex, names: Names, asked: Mapping[str, Any], *, is_kept: bool
) -> Mapping[str, Any]:
    impact = simulate(delta, index, names, **asked)
    return {
        "unchanged": impact.unchanged,
        "groups": len(impact.groups),
        "cells": sum(map(impact.cells_in, impact.groups)),
        "kept": stored_bytes(impact) if is_kept else 0,
    }


def _cells(delta: Delta, index: AclIndex, names: Any, limits: Limits, *, is_kept: bool) -> Mapping[str, Any]:
    """Do the same by the former engine; what was kept of it was every cell as JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (limits.patience_seconds, limits.patience_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    impact = cell_by_cell(delta, index, names, **_AS_PAGES)
    return {"unchanged": impact.unchanged, "kept": len(json.dumps(impact.as_dict())) if is_kept else 0}


def _best(work: Callable[[], Mapping[str, Any]], *, rounds: int) -> Mapping[str, Any]:
    """Return what the cheapest of several runs gave and took."""
    tried = [measured(work) for _ in range(rounds)]
    return min(tried, key=lambda found: found.get("cpu", math.inf))


def _cluster(acls: int, topics: int) -> World:
    return World.of(worlds.bindings(acls), worlds.topic_names(topics))


def _size(world: World) -> str:
    return f"{len(world.acls):,} ACLs and {len(world.topics):,} topics"


def _for_all_topics(world: World) -> Sequence[str]:
    return [b.principal for b in world.acls if b.resource_name == "*"]
