"""Write an approved change to its cluster: exactly what was approved, once, whatever dies on the way.

    claim      the row, with a new epoch and a lease on the database's clock
    preflight  read the cluster afresh; plan, approvals, rights and effect must still hold
    write      phase by phase in the safe order; INTENT is committed before each call
    settle     where the cluster gave no answer, read back what became of it
    verify     read back every touched pattern; only then is the change in force

The leases are renewed all the while, so they are short. A worker may die between any two
lines. The sweep rings again when its lease ran out, and
the next worker starts over: items found written are not written twice, so running again
is always safe. A worker that lost its lease sends nothing more and stores nothing more.

The transaction that stores INTENT also writes the audit event of what is about to be
sent; if that event cannot be written, nothing is sent.
"""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import replace

from django.conf import settings
from django.db.models import Q

from aclweb.changes import failpoints
from aclweb.changes.models import EFFECTS, UNDER_WAY, Change, ChangeItem
from aclweb.changes.rollout.hold import LeaseLost, Run, Stop, claim, kept, no_scheduled_sync, wait
from aclweb.changes.rollout.preflight import check_paper, preflight
from aclweb.changes.rollout.verify import verify
from aclweb.changes.rollout.write import write
from aclweb.clusters import ClusterClient, ClusterError, connect
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import Written, register_writer

logger = logging.getLogger(__name__)


_REQUEST_TIMEOUT = "request.timeout.ms"  # an option of the Admin API's client


def written_since_sync(cluster: Cluster) -> Written:
    """Return what workers wrote to the cluster, or may have, and no stored snapshot can have shown.

    A worker that was lost between its call and the reading after it leaves such items.
    """
    unread = Q(change__state__in=UNDER_WAY)
    if cluster.read_at is not None:
        unread |= Q(change__finished_at__gte=cluster.read_at)
    sent = Q(state__in=EFFECTS) | Q(evidence__sent__gt=0)
    items = list(ChangeItem.objects.filter(unread, sent, change__cluster=cluster))
    return Written(
        added=frozenset(item.binding for item in items if item.op == ChangeItem.Op.ADD),
        removed=frozenset(item.binding for item in items if item.op == ChangeItem.Op.REMOVE),
    )


register_writer(written_since_sync)


def apply(change_id: int, *, worker: str = "") -> str:
    """Take the change up if it waits for a worker, and return its state afterwards.

    Does nothing if another worker holds it, if it waits for its time, or if another
    change is under way on the same cluster. Raises only for errors of this program or
    its database; the lease then runs out and the sweep rings again.
    """
    worker = worker or f"{socket.gethostname()}:{os.getpid()}"
    run = claim(change_id, worker)
    if run is not None:
        failpoints.hit("claimed")
        try:
            _carry_out(run)
        except LeaseLost:
            logger.warning("%s lost its lease on %s and stopped.", worker, run.change.key)
        except Stop:
            logger.info("%s: %s", run.change.key, run.change.sentence)
    state: str = Change.objects.values_list("state", flat=True).get(pk=change_id)
    return state


def _carry_out(run: Run) -> None:
    check_paper(run)
    try:
        with no_scheduled_sync(run), kept(run), _open(run) as client:
            preflight(run, client)
            write(run, client)
            verify(run, client)
    except ClusterError as error:
        raise wait(run, str(error)) from error
    failpoints.hit("finished")


def _open(run: Run) -> ClusterClient:
    connection = connection_of(run.change.cluster)
    # A call must end well before the lease does, or another worker could be sending too.
    most = settings.ACLWEB_LEASE_SECONDS / 3
    options = dict(connection.options)
    if _REQUEST_TIMEOUT in options:
        options[_REQUEST_TIMEOUT] = str(min(int(options[_REQUEST_TIMEOUT]), int(most * 1000)))
    seconds = min(connection.timeout_seconds, most)
    return connect(replace(connection, options=options, timeout_seconds=seconds))
