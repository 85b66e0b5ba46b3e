"""Is every what-if within its budget, or refused by naming the ACL that costs most?

The edits of `tests/acl/shapes.py`, which would cost most or which people make, on a small and on a large cluster.
Each is worked out as pages and the API do it, in a process of its own: the effect, its hash, the
packed form that a change stores, the first page of rows. Prints the CPU seconds, the memory it
took on top, the stored size, and what was refused; ends with 1 if one is beyond the limits or
an ordinary edit was refused.

    python -m bench.effects [--acls 100000] [--topics 50000] [--only TEXT]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aclweb.acl.simulate import LISTS, ON_A_SITE, Budget, TooCostly, digest_of, packed, simulate, trimmed
from bench import worlds
from bench.site import set_up_django
from tests.acl.shapes import Question, Shape, World, shapes

CPU_SECONDS, MEGABYTES, STORED = 6.0, 250, 5 * 2**20


def work_out(asked: Question, budget: Budget | None) -> Mapping[str, Any]:
    """Return what one edit gives: its counts and sizes, or the sentence that refuses it."""
    from aclweb.web.drafts import impact_rows

    try:
        impact = simulate(
            asked.delta,
            asked.index,
            asked.names,
            asked.settings,
            asked.after_settings,
            merge_equal_hosts=True,
            met_only=True,
            budget=budget,
        )
    except TooCostly as error:
        return {"refused": str(error), "acls": len(asked.delta.add) + len(asked.delta.remove)}
    told = trimmed(impact)
    digest_of(told, ("gains", "loses", "depends"))
    stored = len(packed(told))
    for kind in impact_rows.KINDS:
        _ = impact_rows.rows(told, kind)[:50]
    return {"counts": {name: told.counts[name] for name in LISTS}, "stored": stored}


def in_a_process(world: World, shape: Shape, budget: Budget) -> Mapping[str, Any]:
    """Return the same with the CPU seconds and megabytes that it took in a process of its own.

    What is asked is made before: a site has the names of its topics in memory, be they a million.
    """
    asked = shape.question(world)
    return measured(lambda: work_out(asked, budget))


def measured(work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what this gives in a process of its own, with the CPU seconds and megabytes that it took."""
    reading, writing = os.pipe()
    gc.collect()
    gc.freeze()
    child = os.fork()
    if not child:
        os.close(reading)
        before = resource.getrusage(resource.RUSAGE_SELF)
        try:
            found = dict(work())
            after = resource.getrusage(resource.RUSAGE_SELF)
            found["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found["megabytes"] = max(0, after.ru_maxrss - before.ru_maxrss) / 1024
        except BaseException as error:
            found = {"failed": repr(error)}
        with os.fdopen(writing, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    told: Mapping[str, Any] = json.loads(text) if text else {"failed": "the process died"}
    return told


def faults(shape: Shape, found: Mapping[str, Any]) -> list[str]:
    """Return what is beyond the limits."""
    if "failed" in found:
        return [str(found["failed"])]
    told = []
    if found["cpu"] > CPU_SECONDS:
        told.append(f"{found['cpu']:.1f} CPU s")
    if found["megabytes"] > MEGABYTES:
        told.append(f"{found['megabytes']:.0f} MB")
    if found.get("stored", 0) > STORED:
        told.append(f"{found['stored'] / 2**20:.1f} MB stored")
    if "refused" in found and shape.ordinary:
        told.append("an ordinary edit was refused")
    if found.get("acls") and "The ACL that costs most is" not in found["refused"]:
        told.append("no ACL is named")
    return told


def clusters(acls: int, topics: int) -> Iterator[tuple[str, World]]:
    """Yield a small cluster and a large one."""
    yield "255 ACLs", World.of(worlds.bindings(255), worlds.topic_names(150))
    yield f"{acls:,} ACLs", World.of(worlds.bindings(acls), worlds.topic_names(topics))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000, help="ACLs of the large cluster")
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--only", default="", help="only edits whose title holds this text")
    asked = parser.parse_args()
    with TemporaryDirectory() as directory:
        # Before the processes begin, so that the memory of all that it imports is not theirs.
        set_up_django(Path(directory))
        from aclweb.web.drafts import impact_rows  # noqa: F401

        return _measure(asked)


def _measure(asked: argparse.Namespace) -> int:
    """Print the figures of each edit; return 1 where one is beyond the limits."""
    wrong = 0
    for title, world in clusters(asked.acls, asked.topics):
        print(f"\n{title}, {len(world.topics):,} topics\n", flush=True)
        for shape in shapes():
            if asked.only not in shape.title:
                continue
            found = in_a_process(world, shape, ON_A_SITE)
            told = faults(shape, found)
            wrong += bool(told)
            print(_line(shape, found, told), flush=True)
    print(f"\n{wrong} beyond the limits: {CPU_SECONDS:g} CPU s, {MEGABYTES} MB, {STORED >> 20} MB stored.")
    return 1 if wrong else 0


def _line(shape: Shape, found: Mapping[str, Any], told: Sequence[str]) -> str:
    if "failed" in found:
        return f"{shape.title}: FAILED {found['failed']}"
    what = "refused" if "refused" in found else f"{sum(found['counts'].values()):,} differ"
    sizes = f"{found['cpu']:5.2f} s {found['megabytes']:5.0f} MB {found.get('stored', 0) / 1024:7,.0f} KiB"
    return f"{sizes}  {shape.title}: {what}{' <-- ' + ', '.join(told) if told else ''}"


if __name__ == "__main__":
    sys.exit(main())
