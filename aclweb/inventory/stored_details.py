"""What brokers tell beside ACLs and names: SCRAM users, quotas, transactional ids, tokens, and who is in a group.

No decision reads it. A list that could not be read stays as it was; how complete each is, and when it was read, is in
its DetailsRead.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from aclweb.clusters import DetailKind, Known
from aclweb.inventory.fields import KafkaTextField

KINDS = [(kind.value, kind.value) for kind in DetailKind]
GROUPS = "groups"
"""The kind of the one DetailsRead of a cluster that counts its groups; their entries are rows of StoredGroup."""
KNOWN = [(known.value, known.value) for known in Known]


class DetailsRead(models.Model):
    """How complete the entries of one kind are that a cluster's brokers told, and when that was."""

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="details_read")
    kind = models.CharField(max_length=20, choices=[*KINDS, (GROUPS, GROUPS)])
    known = models.CharField(max_length=10, choices=KNOWN, default=Known.UNKNOWN)
    # Why not all are known, or why there is none; and the command that would grant the missing right.
    sentence = models.TextField(blank=True)
    command = models.TextField(blank=True)
    # When brokers last answered, and what went wrong since; null and empty where nothing did.
    at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)
    count = models.PositiveIntegerField(default=0)
    # SHA-256 over the entries: equal digests mean that nothing differs.
    digest = models.CharField(max_length=64, blank=True)
    # Of groups: {"types": {"consumer": 3}, "described": of how many the members are known, "oldest": time or null}.
    figures: models.JSONField[Any, Any] = models.JSONField(default=dict)
    # The number of the sync that read it.
    reading = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind"], name="one_read_a_kind_of_detail")]

    def __str__(self) -> str:
        return f"{self.kind} of cluster {self.cluster_id}: {self.known}"


class StoredDetail(models.Model):
    """One entry that brokers told, from `first_at` on.

    `gone_at` is when a complete list of SCRAM users or quotas first lacked it; others are deleted then.
    """

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="details")
    kind = models.CharField(max_length=20, choices=KINDS)
    key = models.CharField(max_length=64)  # SHA-256 of the name
    name = KafkaTextField()
    user = KafkaTextField(default="")
    principal = KafkaTextField(default="")
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)  # as in aclweb.clusters.Detail
    first_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "kind", "key"],
                condition=Q(gone_at__isnull=True),
                name="one_detail_there_is",
            )
        ]
        indexes = [models.Index(fields=["cluster", "kind", "gone_at"], name="details_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class StoredGroup(models.Model):
    """A group that brokers list, with its type, and who was in it when it was last described."""

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="groups_told")
    key = models.CharField(max_length=64)  # SHA-256 of the name
    name = KafkaTextField()
    type = models.CharField(max_length=10, blank=True)  # of GroupType
    # When brokers last told who is in it; null before they did. The rest is of then.
    described_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=30, blank=True)
    # [{"client_id", "host", "instance_id"}], the first of them; null where brokers do not tell, as `sentence` says.
    members: models.JSONField[Any, Any] = models.JSONField(null=True)
    members_total = models.PositiveIntegerField(default=0)
    sentence = models.TextField(blank=True)
    # When brokers were last asked for its members, whether they answered or not.
    tried_at = models.DateTimeField(null=True)
    # When somebody asked for its members; null once brokers were asked.
    asked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "key"], name="one_row_a_group_told")]
        indexes = [models.Index(fields=["cluster", "tried_at"], name="groups_to_describe")]

    def __str__(self) -> str:
        return f"group {self.name} of cluster {self.cluster_id}"
