"""Whether a cluster answers, and what the login may do there: what people asked a worker, and what it found."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from aclweb.inventory.job_rows import JobRow, JobRows


class ConnectionCheck(JobRow):
    """One try of a cluster's connection by a worker. Nothing of it is read by answers."""

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waiting for a worker"
        WORKING = "WORKING", "under way"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "replaced"

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="checks")
    asked_by = models.CharField(max_length=254)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED, db_index=True)
    # A line a right, as `clusters.rights.Right.as_dict` has them; filled while it is under way.
    rights = models.JSONField(default=list)
    # The answer, or why there is none.
    sentence = models.TextField(blank=True)
    is_ok = models.BooleanField(default=False)
    seconds = models.FloatField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(state="WORKING"), name="one_check_at_a_time_a_cluster"
            )
        ]

    def __str__(self) -> str:
        return f"check {self.pk} of cluster {self.cluster_id}: {self.get_state_display()}"

    @property
    def is_open(self) -> bool:
        """Whether a worker has it, or will have it."""
        return self.state in (self.State.QUEUED, self.State.WORKING)


CHECKS = JobRows(
    ConnectionCheck,
    queued=ConnectionCheck.State.QUEUED,
    at_work=ConnectionCheck.State.WORKING,
    failed=ConnectionCheck.State.FAILED,
    cancelled=ConnectionCheck.State.CANCELLED,
    group="cluster",
    reason="sentence",
    most_attempts=2,
    at_first={"rights": []},
    related=("cluster",),
)
