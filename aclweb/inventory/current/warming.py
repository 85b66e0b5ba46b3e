"""Who builds the index of a new revision, so that no visitor waits for it?

At 100,000 ACLs that takes a second or more of a processor, in every process that answers
pages. A thread of each such process looks every few seconds at the clusters that people have
asked about lately, and builds what pages will ask for where a newer revision is in force.
Clusters that nobody opens are left alone: they would push out of memory what people use. It
is a convenience only: a request that comes first builds it itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from django.db import DatabaseError, connections

from aclweb.inventory.current.view import ClusterView, LoadedRevision, asked_lately, in_force
from aclweb.inventory.models import Cluster
from aclweb.runtime import loading

logger = logging.getLogger(__name__)

_EVERY_SECONDS = 5.0
_IN_USE_SECONDS = 1800.0

# What a room above keeps of a revision for its pages.
Prepare = Callable[[ClusterView], object]


def start(*also: Prepare, beside: Iterable[Prepare] = ()) -> None:
    """Start the thread of this process; it ends with the process. also, beside: as of `warm`."""
    named = {"beside": tuple(beside)}
    threading.Thread(target=_keep_warm, args=also, kwargs=named, name="aclweb-warming", daemon=True).start()


def warm(
    before: dict[int, LoadedRevision], *also: Prepare, beside: Iterable[Prepare] = ()
) -> dict[int, LoadedRevision]:
    """Prepare what is in force on clusters that are in use and was not so `before`; return it by cluster.

    also: prepare what rooms above keep of it. beside: those that depend on something else too and are asked each time;
    each must be cheap where nothing is new.
    """
    held: dict[int, LoadedRevision] = {}
    for cluster in Cluster.objects.filter(pk__in=asked_lately(_IN_USE_SECONDS)):
        if cluster.pk not in asked_lately(_IN_USE_SECONDS):
            continue  # let go of meanwhile, for one that somebody opened
        begun = time.monotonic()
        view = in_force(cluster, asked=False)
        loaded = view.loaded
        if before.get(cluster.pk) is not loaded:
            with loading.making_what_lasts(loaded.weight):
                loaded.prepare()
                for prepare in also:
                    prepare(view)
            logger.info(
                "Prepared the %d ACLs of cluster %s for pages in %.1f s.",
                len(loaded.index),
                cluster.slug,
                time.monotonic() - begun,
            )
        for prepare in beside:
            prepare(view)
        held[cluster.pk] = loaded
    return held


def _keep_warm(*also: Prepare, beside: Iterable[Prepare]) -> None:
    held: dict[int, LoadedRevision] = {}
    while True:
        try:
            held = warm(held, *also, beside=beside)
        except DatabaseError:
            # Not there yet, being migrated or gone for a while: pages say so, here it only waits.
            logger.debug("Nothing could be prepared for pages.", exc_info=True)
        except Exception:  # whatever is wrong, the page that meets it tells it better
            logger.exception("Pages build their index themselves from now on, because preparing it failed.")
            return
        finally:
            connections.close_all()  # of this thread; none is held while it sleeps
        time.sleep(_EVERY_SECONDS)
