"""Store snapshots as a process of its own, which a test can kill: `python -m tests.inventory.storing COUNT...`.

The database is DATABASE_URL and has its tables. Each COUNT is one sync of cluster `large`, whose
ACLs are then that many; after each it prints the revision in force.
"""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from aclweb.inventory.models import Cluster  # noqa: E402
from aclweb.inventory.sync.run import sync  # noqa: E402
from tests.builders import allow  # noqa: E402
from tests.inventory.answering_cluster import Answers  # noqa: E402


def main(*counts: str) -> None:
    cluster, _ = Cluster.objects.get_or_create(
        slug="large", name="large", kind="admin", address="127.0.0.1:1"
    )
    for count in counts:
        answers = Answers([allow("User:bob", "READ", f"t{number}") for number in range(int(count))])
        print("reading", flush=True)
        revision = sync(cluster, client=answers).revision
        assert revision is not None
        print(f"revision {revision.number} of {revision.acls}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
