"""Somebody who works with an installation, as a process of its own: `python -m tests.machine.person`.

ACLWEB_DATA_DIR says which installation. Reads one JSON list a line, [action, argument...],
and answers with one JSON value.
"""

import json
import sys

import django

django.setup()

from aclweb.accounts.models import User  # noqa: E402
from aclweb.acl.model.delta import Delta  # noqa: E402
from aclweb.changes import review  # noqa: E402
from aclweb.changes.models import UNDER_WAY, Change  # noqa: E402
from aclweb.inventory import leases  # noqa: E402
from aclweb.inventory.models import Cluster  # noqa: E402
from aclweb.inventory.sync import tasks as sync_tasks  # noqa: E402
from aclweb.inventory.work import scheduling  # noqa: E402
from tests.builders import allow  # noqa: E402

SLUG = "killed"


def add(address):
    """Add a cluster in ZooKeeper on which everything is allowed to happen."""
    Cluster.objects.create(
        slug=SLUG,
        name=SLUG,
        kind="zookeeper",
        address=address,
        authorizer="acl",
        authorizer_declared="on",
        super_users="",
        allow_everyone=False,
        changes_enabled=True,
    )


def is_read():
    return Cluster.objects.get(slug=SLUG).revision_id is not None


def approve(name):
    """Have a new change approved, and return its id."""
    # The demo's people have no role here; the one that administers everything asks, another approves.
    ada, ben = User.objects.get(username="ada"), User.objects.get(username="ben")
    User.objects.filter(pk__in=(ada.pk, ben.pk)).update(is_superuser=True)
    ada.refresh_from_db()
    ben.refresh_from_db()
    change = review.draft(
        cluster=Cluster.objects.get(slug=SLUG),
        author=ada,
        title=name,
        delta=Delta(add=(allow("User:bob", "READ", name),), remove=()),
    )
    change = review.submit(change=change, actor=ada)
    return review.approve(change=change, reviewer=ben).pk


def state(pk):
    return str(Change.objects.values_list("state", flat=True).get(pk=pk))


def is_being_applied(pk):
    return Change.objects.filter(pk=pk, state__in=UNDER_WAY).exists()


def sync():
    cluster = Cluster.objects.get(slug=SLUG)
    Cluster.objects.filter(pk=cluster.pk).update(sync_asked_at=None)
    return sync_tasks.ask_for_sync(cluster)


def is_being_synced():
    return (leases.holder(Cluster.objects.filter(slug=SLUG)) or "").startswith("sync ")


def waiting():
    return scheduling.due().count()


ACTIONS = {
    action.__name__: action
    for action in (add, is_read, approve, state, is_being_applied, sync, is_being_synced, waiting)
}


if __name__ == "__main__":
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(ACTIONS[name](*arguments)), flush=True)
