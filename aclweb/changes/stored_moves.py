"""Another way to read a cluster: what somebody wants to take, and what a worker found both ways to hold."""

from __future__ import annotations

from django.db import models

from aclweb.changes.stored_impact import KeepsImpact
from aclweb.clusters import ClusterKind, kind_named
from aclweb.inventory.fields import EncryptedJSONField
from aclweb.inventory.job_rows import ConnectingRow, JobRows, one_at_work, state_of
from aclweb.inventory.models import Cluster, Revision, kinds


class Moves(models.Manager["Move"]):
    """Leaves the login and the impact in the database until somebody asks a row for them."""

    def get_queryset(self) -> models.QuerySet[Move]:
        return super().get_queryset().defer("options", "packed_impact")


class Move(KeepsImpact, ConnectingRow):
    """A wish to read a cluster from somewhere else, compared before anything is switched.

    kind, address, options, authorizer and kafka_version are what the cluster is to have. The impact leads from what is
    stored to what the other way showed.
    """

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waiting for a worker"
        WORKING = "WORKING", "under way"
        DONE = "DONE", "compared"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "given up"
        MOVED = "MOVED", "moved"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="moves")
    state = state_of(State)
    kind = models.CharField(max_length=12, choices=kinds)
    address = models.CharField(max_length=1000)
    # Emptied once nobody can switch to it any more: by then it is the cluster's own, or nobody's.
    options = EncryptedJSONField(default=dict, blank=True)
    authorizer = models.CharField(max_length=10, choices=Cluster.Authorizer.choices)
    kafka_version = models.CharField(max_length=20, blank=True)
    held_to_hosts = models.BooleanField(default=False)
    # With which revision it was compared; null for a cluster of which nothing was read.
    revision = models.ForeignKey(Revision, null=True, on_delete=models.CASCADE, related_name="+")
    # What was found, as `moving.comparing.Found.as_dict` has it; null until then.
    found = models.JSONField(null=True)

    objects = Moves()

    class Meta:
        ordering = ["-pk"]
        constraints = [one_at_work("cluster", "one_move_at_a_time_a_cluster")]

    def __str__(self) -> str:
        return f"move {self.pk} of cluster {self.cluster_id}: {self.get_state_display()}"

    @property
    def source(self) -> ClusterKind:
        """What the cluster would be read from."""
        return kind_named(self.kind)


MOVES = JobRows(
    Move,
    most_attempts=2,
    forgotten={"options": {}},
    related=("cluster__revision",),
)
