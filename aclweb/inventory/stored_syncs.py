"""How long each sync of a cluster took and what it found: the latest ones, for people who look after the site."""

from __future__ import annotations

from django.db import models

MOST_KEPT = 60
"""Of one cluster; older ones leave."""


class SyncRun(models.Model):
    """One sync, whether it succeeded or not. Nothing of it is read by answers."""

    class Outcome(models.TextChoices):
        UNCHANGED = "unchanged", "unchanged"
        REVISION = "revision", "a revision"
        QUARANTINED = "quarantined", "quarantined"
        DROPPED = "dropped", "dropped"
        FAILED = "failed", "failed"

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="sync_runs")
    began_at = models.DateTimeField()
    seconds = models.FloatField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    # Whether it read everything; false where it read only what had changed.
    whole = models.BooleanField(default=True)
    # How many ACLs the cluster had by it; null where none were read.
    acls = models.PositiveIntegerField(null=True)
    # Of the revision that it stored; null where it stored none.
    revision_number = models.PositiveIntegerField(null=True)
    acls_added = models.PositiveIntegerField(default=0)
    acls_removed = models.PositiveIntegerField(default=0)
    # Why it was quarantined, dropped or failed.
    sentence = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["cluster", "-id"], name="sync_runs_of_cluster")]

    def __str__(self) -> str:
        return f"sync {self.pk} of cluster {self.cluster_id}: {self.outcome}"
