"""How fast are many decisions at once: a batch of requests, and everybody's access to everything?"""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import OPERATIONS, AccessRequest, AuthorizerSettings, ResourceType
from aclweb.pipeline.batch import AccessMatrix, Requests, decide_all
from bench import worlds
from bench.report import Figure
from bench.timing import cpu_seconds, fastest

RULES = AuthorizerSettings()


def against_the_loop(quick: bool) -> Iterator[Figure]:
    """Yield how much faster a batch is than a loop of `decide`, every answer compared."""
    sizes = ((20_000, 50_000, None),) if quick else ((100_000, 1_000_000, 5.0), (1_000_000, 1_000_000, None))
    for acls, count, goal in sizes:
        bindings = list(worlds.bindings(acls, for_all=0))
        index = AclIndex(bindings)
        asked = worlds.traffic(bindings, count, topics=100_000)
        columns = Requests.of(asked)
        found = decide_all(columns, index, RULES).are(Result.ALLOWED).tolist()
        expected = [decide(request, index, RULES)[0] is Result.ALLOWED for request in asked]
        if found != expected:
            raise SystemExit("A batch gives other answers than decide.")
        rounds = 3
        loop, batch, encoding = fastest(
            lambda asked=asked, index=index: [decide(request, index, RULES) for request in asked],
            lambda columns=columns, index=index: decide_all(columns, index, RULES),
            lambda asked=asked: Requests.of(asked),
            rounds=rounds,
        )
        yield Figure(
            "Batches",
            f"{count:,} requests to {acls:,} realistic ACLs, as columns, against a loop of decide",
            loop / batch,
            goal=goal,
            detail=f"loop {loop:.2f} s, batch {batch:.2f} s ({count / batch / 1e6:.1f} M/s; making columns of "
            f"request objects takes {encoding:.2f} s more); all answers equal",
        )


def matrix_against_cells(quick: bool) -> Iterator[Figure]:
    """Yield how much faster the access matrix is than deciding its cells, some of which are compared."""
    principals = [f"User:svc-{number:04d}" for number in range(100 if quick else 1_000)]
    names = worlds.topic_names(5_000 if quick else 100_000)
    operations = [*OPERATIONS[ResourceType.TOPIC], *OPERATIONS[ResourceType.TOPIC][:2]][:10]
    for acls in (20_000,) if quick else (100_000, 1_000_000):
        bindings = list(worlds.bindings(acls))
        index = AclIndex(bindings)
        chance = random.Random(6)
        cells = [
            AccessRequest(
                chance.choice(principals),
                "10.99.0.1",
                chance.choice(operations),
                ResourceType.TOPIC,
                chance.choice(names),
            )
            for _ in range(20_000)
        ]
        rows = dict(AccessMatrix(index, RULES, ResourceType.TOPIC, names).rows(principals[:20]))
        places = {name: place for place, name in enumerate(sorted(names))}
        compared = 0
        for cell in cells:
            row = rows.get(cell.principal)
            if row is not None:
                allowed = decide(cell, index, RULES)[0] is Result.ALLOWED
                if bool(row.may(cell.operation)[places[cell.resource_name or ""]]) is not allowed:
                    raise SystemExit(f"The matrix and decide differ: {cell}")
                compared += 1

        def paint(index: AclIndex = index) -> None:
            for _ in AccessMatrix(index, RULES, ResourceType.TOPIC, names).rows(principals):
                pass

        size = len(principals) * len(names) * 10
        painted = min(cpu_seconds(paint) for _ in range(2))
        (each,) = fastest(lambda cells=cells, index=index: [decide(c, index, RULES) for c in cells], rounds=5)
        by_cells = each / len(cells) * size
        yield Figure(
            "The access matrix",
            f"{len(principals):,} principals x {len(names):,} topics x 10 operations, {acls:,} ACLs, "
            "against cell by cell",
            by_cells / painted,
            goal=None if quick else 500,
            detail=f"painted in {painted:.1f} s, by cells {by_cells:,.0f} s (from {len(cells):,} cells; "
            f"{compared:,} compared)",
        )
