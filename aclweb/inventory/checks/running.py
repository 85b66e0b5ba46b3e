"""Check the cluster that has waited longest, and write down each line as soon as it is known."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from django.db.models import QuerySet

from aclweb.clusters import ClusterClient, Connection
from aclweb.clusters.rights import Right
from aclweb.inventory.checks.checking import check, sentence_of
from aclweb.inventory.checks.same import same_kafka_cluster
from aclweb.inventory.fields import storable, storable_json
from aclweb.inventory.models import CHECKS, Cluster, ConnectionCheck

logger = logging.getLogger(__name__)

State = ConnectionCheck.State


def run_next(owner: str, connect: Callable[[Connection], ClusterClient]) -> bool:
    """Check the cluster that has waited longest; return False where no check may be taken."""
    row = CHECKS.take_next(owner)
    if row is None:
        return False
    mine = CHECKS.taken_by(owner, row)
    began = time.monotonic()
    try:
        with CHECKS.held(mine):
            values = _checked(row.cluster, mine, connect)
    except Exception as error:  # told on the page, where it can be asked for again
        logger.exception("The check of cluster %s failed.", row.cluster.slug)
        values = {
            "state": State.FAILED,
            "sentence": f"The check failed: {type(error).__name__}. The worker's log says more.",
        }
    CHECKS.end(mine, {**values, "seconds": time.monotonic() - began})
    logger.info(
        "Checked cluster %s: %s, %.1f s.", row.cluster.slug, values["state"], time.monotonic() - began
    )
    return True


def _checked(
    cluster: Cluster, mine: QuerySet[ConnectionCheck], connect: Callable[[Connection], ClusterClient]
) -> dict[str, object]:
    """Return the columns of what was found."""
    found = check(cluster, connect, lambda rights: _note(mine, rights))
    sentence = sentence_of(cluster, found)
    same = same_kafka_cluster(cluster, found.facts.cluster_id or "", Cluster.objects.all())
    if same:
        sentence = f"{sentence} {same}"
    return {
        "state": State.DONE,
        "rights": _lines(found.rights),
        "sentence": storable(sentence),
        "is_ok": found.is_ok,
    }


def _note(mine: QuerySet[ConnectionCheck], rights: Sequence[Right]) -> None:
    mine.update(rights=_lines(rights))


def _lines(rights: Sequence[Right]) -> object:
    return storable_json([right.as_dict() for right in rights])
