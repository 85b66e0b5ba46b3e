"""A worker host of its own that reads a cluster's logs: `python -m tests.insights.refresher ACTION`.

The database is DATABASE_URL, the host's own directory ACLWEB_DATA_DIR. A stand-in for the job
says that it runs, and ends when a line arrives.

    setup      make a cluster with logs in a database with tables
    refresh    read the logs; prints `running` when the job begins, and at last what came of it
"""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from aclweb.insights import refresh as refreshing  # noqa: E402
from aclweb.insights.errors import InsightsError  # noqa: E402
from aclweb.inventory.models import Cluster  # noqa: E402
from aclweb.inventory.sync.run import sync  # noqa: E402
from tests.builders import allow  # noqa: E402
from tests.fake_cluster import FakeCluster  # noqa: E402


def setup() -> None:
    cluster = Cluster.objects.create(slug="eu", name="eu", kind="snapshot", address="x")
    cluster.log_sources.create(path="/logs/*")
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"]))


def refresh() -> None:
    refreshing._job = job
    try:
        found = refreshing.refresh(Cluster.objects.get())
    except InsightsError as error:
        print(error, flush=True)
    else:
        print("left to another worker" if found is None else "loaded", flush=True)


def job(arguments: object, tell: object) -> tuple[int, str]:
    print("running", flush=True)
    sys.stdin.readline()
    return 1, "The stand-in has ended."


if __name__ == "__main__":
    {"setup": setup, "refresh": refresh}[sys.argv[1]]()
