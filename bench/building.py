"""What does an index cost to build and to keep, and who waits while it is built?"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator

from aclweb.acl.authorizer import AclIndex, decide
from aclweb.acl.model import AclBinding, AuthorizerSettings, ResourceType
from bench import worlds
from bench.jvm import Jvm
from bench.report import Figure
from bench.timing import cpu_seconds

PART = "Building and keeping"
RULES = AuthorizerSettings()


def built(bindings: list[AclBinding]) -> AclIndex:
    """Return an index that is ready to decide about every resource type."""
    index = AclIndex(bindings)
    for resource_type in ResourceType:
        index.table(resource_type)
    return index


def against_kafka(quick: bool) -> Iterator[Figure]:
    """Yield the cost of building beside the JVM's, and the bytes for each ACL."""
    acls = 50_000 if quick else 1_000_000
    bindings = list(worlds.bindings(acls, for_all=0))
    loads, builds = [], []
    for _ in range(2 if quick else 3):
        # A JVM for each load, because a broker loads its ACLs once, at its start.
        with Jvm() as jvm:
            loads.append(jvm.load(bindings))
        gc.collect()
        builds.append(cpu_seconds(lambda: built(bindings)))
    whole = min(load.process_seconds for load in loads)
    thread = min(load.thread_seconds for load in loads)
    ours = min(builds)
    yield Figure(
        PART,
        f"building of {acls:,} realistic ACLs against the JVM's loadSnapshot",
        whole / ours,
        goal=None if quick else 3,
        detail=f"index {ours:.1f} s, JVM {whole:.1f} s, both with their garbage collectors and the JVM with its "
        f"compilers; its loading thread alone, which waits for the collector, {thread:.1f} s ({thread / ours:.1f}x)",
    )
    bytes_each = float(
        subprocess.run(
            [sys.executable, "-m", "bench.building", str(acls)], capture_output=True, text=True, check=True
        ).stdout
    )
    yield Figure(
        PART,
        f"memory of the index of {acls:,} realistic ACLs",
        bytes_each,
        unit="bytes an ACL",
        goal=150,
        at_most=True,
        detail="tracemalloc in a process of its own: what is held after building beyond the bindings; "
        f"the JVM's heap grew by {min(load.heap_bytes for load in loads) / acls:.0f} bytes an ACL",
    )


def while_rebuilding(quick: bool) -> Iterator[Figure]:
    """Yield the longest look-up of four threads while a fifth builds the next index, beside none building."""
    bindings = list(worlds.bindings(20_000 if quick else 200_000, for_all=0))
    asked = worlds.questions(1_000)
    index = built(bindings)
    quiet = _longest_lookups(index, asked, None, 1.0)
    busy = _longest_lookups(index, asked, bindings, 1.0)
    yield Figure(
        PART,
        "longest wait of a look-up while an index is built, in turns of the interpreter's switch interval",
        busy["worst"] / sys.getswitchinterval(),
        unit="intervals",
        detail=f"4 threads; nothing is locked, threads only share the interpreter: {busy['worst'] * 1e3:.0f} ms "
        f"at worst ({quiet['worst'] * 1e3:.0f} ms with nothing built), the whole build took "
        f"{busy['build'] * 1e3:,.0f} ms",
    )
    yield Figure(
        PART,
        "the build's length against the longest wait of a look-up in it",
        busy["build"] / busy["worst"],
        goal=1,
        detail=f"{busy['count']:,.0f} look-ups were answered meanwhile",
    )


def _longest_lookups(
    index: AclIndex, asked: list, bindings: list[AclBinding] | None, seconds: float
) -> dict[str, float]:
    stop = threading.Event()
    worst, counts = [0.0] * 4, [0] * 4

    def look(number: int) -> None:
        place = number
        while not stop.is_set():
            start = time.perf_counter()
            decide(asked[place % len(asked)], index, RULES)
            worst[number] = max(worst[number], time.perf_counter() - start)
            counts[number] += 1
            place += 1

    threads = [threading.Thread(target=look, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    if bindings is None:
        time.sleep(seconds)
    else:
        built(bindings)
    took = time.perf_counter() - start
    stop.set()
    for thread in threads:
        thread.join()
    return {"worst": max(worst), "build": took, "count": sum(counts)}


def _bytes_each(acls: int) -> float:
    bindings = list(worlds.bindings(acls, for_all=0))
    gc.collect()
    tracemalloc.start()
    index = built(bindings)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    return held / len(index)


if __name__ == "__main__":
    print(_bytes_each(int(sys.argv[1])))
