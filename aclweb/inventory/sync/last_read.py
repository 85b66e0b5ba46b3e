"""What did the last sync of a cluster read, and may this one read only what has changed since?

Every quarter of an hour, after a failure, and where somebody asked for it, a sync reads everything: that finds what
no mark shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now

from aclweb.acl.model import PatternType, ResourceType
from aclweb.clusters import AclSnapshot, Earlier, Marks, TopicInfo
from aclweb.inventory.models import Cluster, StoredAcl, StoredName, stored_in_force

WHOLE_EVERY = timedelta(minutes=15)


@dataclass(frozen=True)
class LastRead:
    """What is kept of the last sync. now: by the database's clock. marks: None where this sync reads everything."""

    row: Cluster
    now: datetime
    marks: Mapping[str, Any] | None

    @classmethod
    def of(cls, cluster: Cluster, *, whole: bool = False) -> LastRead:
        """Return what a sync may build on. whole: whether it is to read everything all the same."""
        now = ExpressionWrapper(Now(), output_field=DateTimeField())
        row = Cluster.objects.defer(None).defer("options").annotate(now=now).get(pk=cluster.pk)
        return cls(row, row.now, None if whole else _usable(row, row.now))

    def earlier(self, cluster_id: str | None) -> Earlier | None:
        """Return what the last sync found; None where this one reads everything.

        cluster_id: what the cluster that answers now calls itself.
        """
        if self.marks is None or (cluster_id or "") != self.row.cluster_id:
            return None
        return Earlier(Marks(self.marks["acls"], self.marks["topics"]), self._names, self._topics)

    def marks_after(self, marks: Marks, acls: AclSnapshot, *, keeps_topics: bool) -> Mapping[str, Any] | None:
        """Return what the cluster's row is to keep after this sync; None where the next one reads everything.

        Problems are found by reading: a cluster that has any is read whole until they are gone.
        """
        if marks.acls is None or acls.problems or acls.unreadable:
            return None
        whole_at = self.now.isoformat()
        if acls.patterns is not None and self.marks is not None:
            whole_at = self.marks["whole_at"]
        return {
            "kind": self.row.kind,
            "address": self.row.address,
            "whole_at": whole_at,
            "acls": marks.acls,
            "topics": marks.topics if keeps_topics else None,
        }

    def _names(self, resource_type: ResourceType, pattern_type: PatternType) -> frozenset[str]:
        in_force = StoredAcl.objects.filter(stored_in_force(self.row.revision_id), cluster=self.row)
        alike = in_force.filter(resource_type=resource_type.name, pattern_type=pattern_type.name)
        return frozenset(alike.order_by().values_list("resource_name", flat=True).distinct())

    def _topics(self) -> Mapping[str, TopicInfo]:
        in_force = StoredName.objects.filter(
            stored_in_force(self.row.revision_id), cluster=self.row, resource_type=ResourceType.TOPIC.name
        )
        rows = in_force.order_by().values_list("name", "partitions", "internal")
        return {name: TopicInfo(name, partitions, internal) for name, partitions, internal in rows}


def _usable(row: Cluster, now: datetime) -> Mapping[str, Any] | None:
    """Return the marks that the row keeps; None where everything is to be read, or they are of something else."""
    kept: Mapping[str, Any] | None = row.read_marks
    if kept is None or row.revision_id is None or row.failures or row.held is not None:
        return None
    if kept["kind"] != row.kind or kept["address"] != row.address:
        return None
    whole_at = datetime.fromisoformat(kept["whole_at"])
    asked_since = row.sync_asked_at is not None and row.sync_asked_at >= whole_at
    return None if asked_since or now - whole_at >= WHOLE_EVERY else kept
