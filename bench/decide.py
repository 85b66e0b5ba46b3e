"""How much faster is `decide` than a naive scan, with the same answers?

    python bench/decide.py [--acls 2000 20000 200000] [--questions 20000] [--scanned 20] [--write]

For each number of ACLs it makes a company of that size, asks the same questions of the
compiled index, of `authorize` (with findings) and of a plain loop over all ACLs, compares
every answer that the loop gave, and prints times and ratios. Rounds are interleaved and the
best of each is taken, because the machine has other work too. Ratios are printed and not
asserted. --write keeps the table in bench/results/decide.md.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from aclweb.acl.authorizer import authorize, decide  # noqa: E402
from aclweb.acl.index import AclIndex  # noqa: E402
from aclweb.acl.model import AccessRequest, AclBinding, Operation  # noqa: E402
from aclweb.acl.profiles import Rules  # noqa: E402
from tests import reference  # noqa: E402
from tests.builders import allow, ask, deny  # noqa: E402

ROUNDS = 5


def company(acls: int, rng: random.Random) -> list[AclBinding]:
    """Teams with prefixes and services with topics of their own, some hosts, and a few refusals."""
    teams = [f"{rng.choice(('nl', 'de', 'us'))}.team{number}." for number in range(max(acls // 40, 5))]
    services = [f"User:svc-{number}" for number in range(max(acls // 25, 10))]
    bindings: list[AclBinding] = []
    while len(bindings) < acls:
        team, service = rng.choice(teams), rng.choice(services)
        operation = rng.choice(("READ", "READ", "WRITE", "WRITE", "DESCRIBE", "ALL"))
        host = rng.choice(("*", "*", "*", f"10.0.{rng.randrange(4)}.{rng.randrange(20)}"))
        turn = rng.random()
        if turn < 0.35:
            bindings.append(allow(service, operation, team, pattern="PREFIXED", host=host))
        elif turn < 0.95:
            topic = f"{team}{rng.choice(('orders', 'raw', 'dlq'))}.v{rng.randrange(30)}"
            bindings.append(allow(service, operation, topic, host=host))
        elif turn < 0.99:
            bindings.append(deny(service, operation, team, pattern="PREFIXED", host=host))
        else:
            bindings.append(allow("User:*", "DESCRIBE", team, pattern="PREFIXED"))
    return bindings


def questions(bindings: Sequence[AclBinding], count: int, rng: random.Random) -> list[AccessRequest]:
    """Half of them about a caller and a name that one ACL joins, half about any two."""
    found: list[AccessRequest] = []
    for _ in range(count):
        near, other = rng.choice(bindings), rng.choice(bindings)
        who = near if rng.random() < 0.5 else other
        name = near.resource_name + ("new" if near.pattern_type.name == "PREFIXED" else "")
        operation = near.operation.name if near.operation is not Operation.ALL else "READ"
        host = who.host if who.host != "*" else "10.0.1.1"
        found.append(ask(who.principal, operation, name, host=host))
    return found


def best(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(acls: int, count: int, scanned: int) -> str:
    """Return one row of the table."""
    rng = random.Random(f"company of {acls}")
    rules = Rules()
    bindings = company(acls, rng)
    asked = questions(bindings, count, rng)
    few = asked[: max(min(scanned, count), 1)]
    built = best(lambda: AclIndex(bindings).table(asked[0].resource_type))
    index = AclIndex(bindings)
    fast = [decide(request, index, rules) for request in asked]
    explained = [authorize(request, index, rules) for request in asked[:200]]
    scan = [reference.answer(request, bindings, rules) for request in few]

    for (result, basis), slow in zip(fast, scan, strict=False):
        if (result.value, basis.value) != slow:
            raise SystemExit(f"decide says {result.value} {basis.value}, the scan says {slow}")
    for (result, basis), decision in zip(fast, explained, strict=False):
        if (result, basis) != (decision.result, decision.basis):
            raise SystemExit("decide and authorize give different answers")

    times: dict[str, list[float]] = {"decide": [], "authorize": [], "scan": []}
    for turn in range(ROUNDS):
        times["decide"].append(best(lambda: [decide(r, index, rules) for r in asked]) / len(asked))
        times["authorize"].append(
            best(lambda: [authorize(r, index, rules) for r in asked[:200]]) / len(asked[:200])
        )
        if turn == 0 or acls * len(few) <= 2_000_000:
            times["scan"].append(best(lambda: [reference.answer(r, bindings, rules) for r in few]) / len(few))
    one, explained_one, slow_one = (min(times[key]) for key in ("decide", "authorize", "scan"))
    allowed = sum(result.value == "ALLOWED" for result, _ in fast) / len(fast)
    return (
        f"| {acls:,} | {allowed:.0%} | {one * 1e6:.2f} | {explained_one * 1e6:.1f} | {slow_one * 1e6:,.0f} "
        f"| {slow_one / one:,.0f}x | {built:.2f} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="decide against a naive scan, answers compared")
    parser.add_argument("--acls", type=int, nargs="+", default=[200, 2_000, 20_000, 100_000])
    parser.add_argument("--questions", type=int, default=5_000)
    parser.add_argument("--scanned", type=int, default=20, help="how many questions the naive scan answers")
    parser.add_argument("--write", action="store_true", help="keep the table in bench/results/decide.md")
    options = parser.parse_args(arguments)

    lines = [
        "| ACLs | allowed | decide us | authorize us | naive scan us | scan / decide | build s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    for acls in options.acls:
        row = measure(acls, options.questions, options.scanned)
        lines.append(row)
        print(row, flush=True)
    if options.write:
        where = ROOT / "bench" / "results" / "decide.md"
        where.parent.mkdir(parents=True, exist_ok=True)
        heading = (
            "# `decide` against a naive scan\n\n"
            f"CPU microseconds per question, best of {ROUNDS} rounds, every compared answer equal. "
            f"Python {platform.python_version()} on {platform.machine()}. Made by `python bench/decide.py --write`.\n\n"
        )
        where.write_text(heading + "\n".join(lines) + "\n", encoding="utf-8")
        print(f"Written to {where.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
