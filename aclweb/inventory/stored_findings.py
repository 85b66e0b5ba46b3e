"""What was found wrong, redundant or dangerous in the ACLs of a revision: one lint run, and a row for each finding.

A lint run belongs to one revision, under certain authorizer settings by a certain version of the
finders; its key says which. Only a cluster's newest run is kept.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.leases import Leased


class LintRun(Leased):
    """One run of all finders on a revision: asked for, done, or failed with a sentence."""

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="searches")
    revision = models.ForeignKey("inventory.Revision", on_delete=models.CASCADE, related_name="+")
    # SHA-256 over the authorizer settings, whether groups are known, and the version of the finders.
    key = models.CharField(max_length=64)
    asked_at = models.DateTimeField()
    # When the run was last enqueued. A message can be lost, so whoever still waits enqueues it again.
    rung_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)
    # Where the finders stopped before the end: {"findings": [sentence], "proposals": [sentence]}.
    limits = models.JSONField(default=dict, blank=True)
    # How many there are, by the names of `posture.COUNTED`; empty in a run of an earlier version.
    counts = models.JSONField(default=dict, blank=True)

    class Meta:
        db_table = "inventory_search"
        constraints = [
            models.UniqueConstraint(fields=["cluster", "revision", "key"], name="one_search_a_question")
        ]

    def __str__(self) -> str:
        return f"Lint run of revision {self.revision_id} of cluster {self.cluster_id}"


class PostureDay(models.Model):
    """How a cluster was at the end of a day, UTC, on which its ACLs were linted; see `posture`."""

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="posture_days")
    day = models.DateField()
    # How many there are, by the names of `posture.COUNTED`, without what was dismissed.
    counts = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "day"], name="one_posture_a_day")]

    def __str__(self) -> str:
        return f"Posture of cluster {self.cluster_id} on {self.day}"


class StoredFinding(models.Model):
    """One ACL that breaks a lint rule or could be removed, or one ACL that could replace several."""

    search = models.ForeignKey(LintRun, on_delete=models.CASCADE, related_name="found")
    # The order of the list: errors first, then one ACL in place of several; those that save most come first.
    place = models.PositiveIntegerField()
    is_proposal = models.BooleanField(default=False)
    rule = models.CharField(max_length=40)
    severity = models.CharField(max_length=10)
    sentence = models.TextField()
    # Principal and resource name in small letters, for whoever looks for a part of them.
    names = KafkaTextField()
    # Canonical JSON: of the ACL, and of those that the sentence speaks of or that a proposal replaces.
    acl = models.TextField()
    by = models.TextField()
    # Whether it can go together with all others of which this is true, without changing a decision.
    can_go = models.BooleanField(default=False)
    # Of a proposal: how many answers it would change, and one of them in a sentence.
    extra = models.PositiveIntegerField(default=0)
    counterexample = models.TextField(blank=True)
    # The last day on which it is left out of counts and lists; null where nobody has dismissed it.
    dismissed_until = models.DateField(null=True)

    class Meta:
        db_table = "inventory_found"
        ordering = ["search", "place"]
        constraints = [models.UniqueConstraint(fields=["search", "place"], name="one_finding_a_place")]
        indexes = [
            models.Index(fields=["search", "is_proposal", "severity", "rule"], name="findings_by_rule"),
            models.Index(fields=["search", "place"], condition=Q(can_go=True), name="findings_that_can_go"),
            # With the day, or SQLite would rather look at all findings of the run by the index above.
            models.Index(
                fields=["search", "dismissed_until"],
                condition=Q(dismissed_until__isnull=False),
                name="findings_dismissed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.severity} {self.rule}: {self.sentence}"


class DismissedFinding(models.Model):
    """A finding that somebody has answered for: a lint rule's, of one ACL, for good or through a day.

    It outlives the runs: each newer one leaves the finding out of its counts, too.
    """

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=40)
    # Of the ACL, as `acl` holds it: names can be longer than any index allows.
    acl_key = models.CharField(max_length=64)
    acl = models.TextField()
    sentence = models.TextField()
    reason = models.TextField()
    # The last day on which it is left out; without one it stays so.
    until = models.DateField(null=True)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "rule", "acl_key"], name="one_dismissal_a_finding")
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.reason}"
