"""A change: what somebody wants added and removed, who agreed, and what became of each binding.

The row is the truth and the task queue only rings. A transition is one conditional
UPDATE on (id, state, epoch) that must hit one row, in one transaction with its audit
event; `Change.move` is the only way. Approvals hold the hash of the plan they saw.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.models import Cluster, Revision


class ChangeError(Exception):
    """A step that this change, or this person, may not take now; the message is for that person."""


class Change(models.Model):
    class State(models.TextChoices):
        DRAFT = "DRAFT", "draft"
        IN_REVIEW = "IN_REVIEW", "waiting for review"
        REJECTED = "REJECTED", "rejected"
        CANCELLED = "CANCELLED", "withdrawn"
        APPROVED = "APPROVED", "approved"
        QUEUED = "QUEUED", "queued"
        PREFLIGHT = "PREFLIGHT", "checking"
        APPLYING = "APPLYING", "applying"
        UNKNOWN = "UNKNOWN", "outcome unknown"
        VERIFYING = "VERIFYING", "reading back"
        APPLIED = "APPLIED", "in force"
        PARTIAL = "PARTIAL", "partly written"
        FAILED = "FAILED", "failed"
        BLOCKED_STALE = "BLOCKED_STALE", "out of date"
        QUARANTINED = "QUARANTINED", "stopped after 5 tries"

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="changes")
    title = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="changes")
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT, db_index=True)
    undo_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    approvals_needed = models.PositiveSmallIntegerField(default=1)

    # What the author saw when submitting: the same dict that changes.preview gives pages.
    revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    impact = models.JSONField(null=True)
    plan_hash = models.CharField(max_length=64, blank=True)
    impact_hash = models.CharField(max_length=64, blank=True)

    # The worker's claim.
    epoch = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)

    sentence = models.TextField(blank=True)  # the last result or refusal, for people
    applied_revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    @property
    def key(self) -> str:
        return f"CR-{self.pk}"

    def __str__(self) -> str:
        return f"{self.key} {self.title}"


class ChangeItem(models.Model):
    """One binding to add or remove, and what became of it."""

    class Op(models.TextChoices):
        ADD = "add", "add"
        REMOVE = "remove", "remove"

    class State(models.TextChoices):
        PENDING = "PENDING", "not written yet"
        INTENT = "INTENT", "being written"
        APPLIED = "APPLIED", "written"
        NOOP_ALREADY = "NOOP_ALREADY", "was so already"
        UNKNOWN = "UNKNOWN", "no answer"
        FAILED = "FAILED", "refused"
        SKIPPED = "SKIPPED", "not tried"

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="items")
    # Position in the safe order: add DENY, add ALLOW, remove ALLOW, remove DENY (phases 1 to 4).
    position = models.PositiveIntegerField()
    phase = models.PositiveSmallIntegerField()
    op = models.CharField(max_length=6, choices=Op.choices)
    resource_type = models.CharField(max_length=20)
    resource_name = KafkaTextField()
    pattern_type = models.CharField(max_length=10)
    principal = KafkaTextField()
    host = KafkaTextField()
    operation = models.CharField(max_length=20)
    permission_type = models.CharField(max_length=10)
    state = models.CharField(max_length=12, choices=State.choices, default=State.PENDING)
    sentence = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)
    written_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["change", "position"], name="one_item_a_position")]


class Approval(models.Model):
    """One person's yes to exactly this plan with exactly this effect."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="approvals")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="approvals")
    plan_hash = models.CharField(max_length=64)
    impact_hash = models.CharField(max_length=64)
    comment = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["change", "reviewer"], name="one_approval_a_reviewer")]
