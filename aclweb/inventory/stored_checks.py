"""Whether a cluster answers, and what the login may do there: what people asked a worker, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.db import models

from aclweb.inventory.job_rows import ConnectingRow, JobRows, one_at_work, state_of


class ConnectionCheck(ConnectingRow):
    """One try of a cluster's connection by a worker. Nothing of it is read by answers."""

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waiting for a worker"
        WORKING = "WORKING", "under way"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "replaced"

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="checks")
    state = state_of(State)
    # A line a right, as `clusters.rights.Right.as_dict` has them; filled while it is under way.
    rights = models.JSONField(default=list)
    is_ok = models.BooleanField(default=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [one_at_work("cluster", "one_check_at_a_time_a_cluster")]

    @property
    def answers(self) -> Mapping[str, int]:
        """How many lines have each answer of `clusters.rights.Answer`."""
        return Counter(str(right.get("answer")) for right in self.rights)

    def __str__(self) -> str:
        return f"check {self.pk} of cluster {self.cluster_id}: {self.get_state_display()}"


CHECKS = JobRows(
    ConnectionCheck,
    most_attempts=2,
    at_first={"rights": []},
    related=("cluster",),
)
