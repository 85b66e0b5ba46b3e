"""What becomes of the log data of a cluster that is removed: analyses end, and its access table is deleted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from aclweb.audit import trail
from aclweb.insights.analyses import keeping
from aclweb.insights.models import ANALYSES, Analysis, DaySet, Load, Refresh
from aclweb.insights.staging import delete_day
from aclweb.inventory import leases
from aclweb.inventory.admin import deleting, removing
from aclweb.inventory.models import Cluster
from aclweb.inventory.store import in_turn


def table_folder(slug: str) -> Path:
    """Return where the access table of a cluster is, as the pipeline lays it out."""
    return Path(settings.ACLWEB_ACCESS_TABLE) / f"cluster={slug}"


def _deleted(cluster: Cluster) -> Iterator[str]:
    load = Load.objects.filter(cluster=cluster, current=True).defer("manifest").first()
    if load is not None or table_folder(cluster.slug).exists():
        lines = f" of {load.lines_read:,} log lines" if load is not None else ""
        yield f"What was read{lines}: requests, use of ACLs, denials, and analyses. The logs themselves stay."


def _end(cluster: Cluster, actor: trail.Named | str) -> str:
    why = removing.ended(cluster)
    beside = _beside(cluster.slug)
    ANALYSES.cancel_all(Q(cluster=cluster) | Q(pk__in=beside), why)
    who = actor if isinstance(actor, str) else actor.get_username()
    Refresh.objects.filter(leases.is_held(), cluster=cluster).update(cancelled_by=who)
    # By this name another cluster is found once it has it.
    for row in Analysis.objects.filter(pk__in=beside).only("options"):
        others = [slug for slug in row.beside if slug != cluster.slug]
        named = ",".join([*others, cluster.slug_once_removed])
        Analysis.objects.filter(pk=row.pk).update(options=row.options | {"beside": named})
    return ""


def _beside(slug: str) -> list[int]:
    """Return the keys of the analyses of other clusters that are about this one, too."""
    named = Analysis.objects.filter(options__has_key="beside").only("options")
    return [row.pk for row in named if slug in row.beside]


def _delete(cluster: Cluster) -> Iterator[int]:
    shutil.rmtree(table_folder(cluster.removed_slug), ignore_errors=True)
    for row in Analysis.objects.filter(pk__in=_beside(cluster.slug)):
        keeping.forget_rows(Analysis.objects.filter(pk=row.pk))
        with in_turn():
            row.delete()
        yield 1
    for day in DaySet.objects.filter(cluster=cluster).order_by("pk"):
        yield from delete_day(day, in_turn)


def _is_read(cluster: Cluster) -> bool:
    """Return whether a worker still reads its logs: it may write into the access table until it notices."""
    return Refresh.objects.filter(leases.is_held(), cluster=cluster).exists()


removing.register("insights", removing.Room(kept=lambda _: (), deleted=_deleted, end=_end))
deleting.register("insights", deleting.Deletion(_delete, _is_read))
