"""Store snapshots as a process of its own, which a test can kill: `python -m tests.inventory.storing COUNT...`.

The database is DATABASE_URL and has its tables. Each COUNT is one sync of cluster `large`, whose
ACLs are then that many; after each it prints the revision in force. With COUNT:ROWS the process stops
itself (SIGSTOP) within the transaction in which the table gets its ROWS-th row.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from aclweb.inventory.models import Cluster, StoredAcl  # noqa: E402
from aclweb.inventory.store import staging  # noqa: E402
from aclweb.inventory.sync.run import sync  # noqa: E402
from tests.builders import allow  # noqa: E402
from tests.inventory.answering_cluster import Answers  # noqa: E402


def main(*counts: str) -> None:
    cluster, _ = Cluster.objects.get_or_create(
        slug="large", name="large", kind="admin", address="127.0.0.1:1"
    )
    for word in counts:
        count, _, rows = word.partition(":")
        if rows:
            stop_at(int(rows))
        answers = Answers([allow("User:bob", "READ", f"t{number}") for number in range(int(count))])
        print("reading", flush=True)
        revision = sync(cluster, client=answers).revision
        assert revision is not None
        print(f"revision {revision.number} of {revision.acls}", flush=True)


def stop_at(rows: int) -> None:
    in_turn = staging.in_turn

    @contextmanager
    def stopping() -> Iterator[None]:
        with in_turn():
            yield
            if StoredAcl.objects.count() >= rows:
                os.kill(os.getpid(), signal.SIGSTOP)

    staging.in_turn = stopping


if __name__ == "__main__":
    main(*sys.argv[1:])
