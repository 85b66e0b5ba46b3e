"""What does a replay cost that somebody waits for on a page, once the log is loaded?

    python -m bench.page_replay SNAPSHOT RESULT

Loads a result of the usage job into a throw-away site, and replays the same edit as `bench.spark_rounds replay`, as
the pages of a what-if, a review and a comparison do. Prints one JSON object: `page`, CPU seconds of this process, the
fewest of several rounds; `denied`, the logged requests that would be denied.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from aclweb.pipeline.snapshot import read_snapshot
from bench import site
from bench.spark_rounds import edit_of
from bench.timing import fastest

_ROUNDS = 5


def measured(directory: Path, snapshot_file: Path, result: Path) -> dict[str, Any]:
    """Return the CPU seconds of a replay on a page, and what it finds."""
    site.set_up_django(directory)
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from aclweb.acl.authorizer import AclIndex
    from aclweb.insights.load import load
    from aclweb.insights.replay import Replay, replay
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from tests.fake_cluster import FakeCluster

    snapshot = read_snapshot(snapshot_file)
    bindings = tuple(snapshot.bindings.values())
    cluster = Cluster.objects.create(slug="bench", name="bench", kind="snapshot", address="x")
    sync(cluster, client=FakeCluster(bindings))
    cluster.refresh_from_db()
    loaded, delta, index = load(result, cluster), edit_of(snapshot), AclIndex(bindings)
    found: list[Replay] = []
    (seconds,) = fastest(
        lambda: found.append(replay(loaded, delta, index, snapshot.settings)), rounds=_ROUNDS
    )
    if found[0].left_out:
        raise SystemExit(f"{found[0].left_out:,} requests were left out, so less is compared.")
    return {"page": seconds, "denied": found[0].denied_lines}


def main(snapshot: str, result: str) -> None:
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        print(json.dumps(measured(Path(directory), Path(snapshot), Path(result))))


if __name__ == "__main__":
    main(*sys.argv[1:])
