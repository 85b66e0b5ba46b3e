"""Keep of each sync when it began, how long it took and what it gave; of each cluster only the latest ones."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from aclweb.inventory.fields import storable
from aclweb.inventory.models import Cluster, SyncRun
from aclweb.inventory.stored_syncs import MOST_KEPT
from aclweb.inventory.sync.result import SyncResult

_Outcome = SyncRun.Outcome


def keep(cluster: Cluster, result: SyncResult, *, began_at: datetime, seconds: float, whole: bool) -> None:
    """Keep one sync that has ended, and let go of the oldest."""
    outcome = _outcome(result)
    is_stored = outcome is _Outcome.REVISION and result.revision is not None
    with transaction.atomic():
        mine = SyncRun.objects.filter(cluster=cluster)
        made = SyncRun.objects.create(
            cluster=cluster,
            began_at=began_at,
            seconds=seconds,
            outcome=outcome,
            whole=whole,
            acls=result.revision.acls if result.read and result.revision is not None else None,
            revision_number=result.revision.number if is_stored and result.revision is not None else None,
            acls_added=len(result.delta.add) if is_stored else 0,
            acls_removed=len(result.delta.remove) if is_stored else 0,
            sentence="" if result.read else storable(result.sentence),
        )
        if oldest := list(mine.filter(pk__lte=made.pk).values_list("pk", flat=True)[MOST_KEPT:]):
            mine.filter(pk__in=oldest).delete()


def _outcome(result: SyncResult) -> SyncRun.Outcome:
    if result.held:
        return _Outcome.QUARANTINED
    if result.read:
        return _Outcome.REVISION if result.changed else _Outcome.UNCHANGED
    return _Outcome.FAILED if result.failed else _Outcome.DROPPED
