"""Compare for the move that has waited longest, and write down what was found."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from aclweb.changes.impact import impact_hash
from aclweb.changes.moving.comparing import Compared, compare
from aclweb.changes.moving.sentences import sentence_of
from aclweb.changes.stored_impact import stored
from aclweb.changes.stored_moves import MOVES, Move
from aclweb.clusters import ClusterClient, ClusterError, Connection
from aclweb.inventory.fields import storable, storable_json
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

State = Move.State


def run_next(owner: str, connect: Callable[[Connection], ClusterClient]) -> bool:
    """Compare for the move that has waited longest; return False where none may be taken."""
    row = MOVES.take_next(owner)
    if row is None:
        return False
    mine = MOVES.taken_by(owner, row)
    began = time.monotonic()
    try:
        with MOVES.held(mine):
            values = columns_of(row.cluster, compare(candidate_of(row), connect))
    except ClusterError as error:
        values = {"state": State.FAILED, "sentence": storable(str(error))}
    except Exception as error:  # told on the page, where it can be asked for again
        logger.exception("The comparison for a move of cluster %s failed.", row.cluster.slug)
        sentence = f"The comparison failed: {type(error).__name__}. The worker's log says more."
        values = {"state": State.FAILED, "sentence": sentence}
    MOVES.end(mine, {**values, "seconds": time.monotonic() - began})
    logger.info(
        "Compared for a move of cluster %s: %s, %.1f s.",
        row.cluster.slug,
        values["state"],
        time.monotonic() - began,
    )
    return True


def candidate_of(move: Move) -> Cluster:
    """Return the cluster's row as it is to be, not stored."""
    cluster = Cluster.objects.select_related("revision").get(pk=move.cluster_id)
    if cluster.kind != move.kind:
        cluster.settings_read = None
    cluster.kind, cluster.address, cluster.options = move.kind, move.address, move.options
    cluster.authorizer, cluster.kafka_version = move.authorizer, move.kafka_version
    cluster.held_to_hosts = move.held_to_hosts
    return cluster


def columns_of(cluster: Cluster, compared: Compared) -> dict[str, Any]:
    """Return the columns of what was found."""
    impact = compared.impact
    # A login at another cluster, to which nobody can switch, is kept for nothing.
    forgotten = MOVES.forgotten if compared.found.is_same is False else {}
    return {
        "state": State.DONE,
        "found": storable_json(compared.found.as_dict()),
        "sentence": storable(sentence_of(cluster, compared.found)),
        "revision": compared.revision,
        **stored(impact),
        "impact_hash": impact_hash(impact) if impact is not None else "",
        **forgotten,
    }
