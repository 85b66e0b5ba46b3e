"""A change: what to add and remove, who approved it, and the outcome of each ACL. And an impact that a worker computes.

The row is the truth and the task queue only rings. A transition is one conditional
UPDATE on (id, state, epoch) that must hit one row, in one transaction with its audit
event; `Change.move` is the only way. Approvals hold the hash of the plan they saw.
No way leads from a state with effects to one that says that nothing happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property

from aclweb.acl.model import (
    AclBinding,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    number_of,
    shown,
)
from aclweb.changes.stored_impact import KeepsImpact
from aclweb.changes.stored_moves import MOVES as MOVES
from aclweb.changes.stored_moves import Move as Move
from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.job_rows import JobRow, JobRows, one_at_work, state_of
from aclweb.inventory.leases import Leased
from aclweb.inventory.models import Cluster, Revision


class ChangeError(Exception):
    """A step that this change, or this person, may not take now; the message is for that person."""


class Changes(models.Manager["Change"]):
    """Leaves the stored effect in the database until somebody asks a change for it: it may be a megabyte."""

    def get_queryset(self) -> models.QuerySet[Change]:
        return super().get_queryset().defer("packed_impact")


class Change(KeepsImpact, Leased):
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
    ticket = models.CharField(max_length=500, blank=True)  # a key, or an address that begins with http
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="changes")
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT, db_index=True)
    undo_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    # What the gates of the cluster said when it was submitted or last decided on: `gates.Verdict.as_dict` of each.
    gates = models.JSONField(default=list)

    # The impact is what the author saw when submitting, and None for a draft.
    revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    plan_hash = models.CharField(max_length=64, blank=True)

    # The worker's claim, beside its lease.
    epoch = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    # Times that a worker gave the change back because the cluster could not be read. They
    # are not attempts: an outage of a day must not end in quarantine.
    waits = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(null=True)

    sentence = models.TextField(blank=True)  # the last result or refusal, for people
    applied_revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = Changes()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster"],
                condition=Q(state__in=["PREFLIGHT", "APPLYING", "UNKNOWN", "VERIFYING"]),
                name="one_change_under_way_a_cluster",
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.title}"

    @property
    def key(self) -> str:
        return f"CR-{self.pk}"

    @property
    def delta(self) -> Delta:
        """Return what is to be added and removed, in the order of the items."""
        items = list(self.items.all())
        return Delta(
            add=tuple(item.binding for item in items if item.op == ChangeItem.Op.ADD),
            remove=tuple(item.binding for item in items if item.op == ChangeItem.Op.REMOVE),
        )

    @property
    def has_effects(self) -> bool:
        """Whether something was written to the cluster, or may have been."""
        return any(item.has_effect for item in self.items.all())

    def move(self, *, to: str, where: Q | None = None, **values: Any) -> bool:
        """Move to another state from the state and epoch this object was read with.

        Returns False, and changes nothing, if somebody else moved the row first or
        `where` does not hold for it. After a move this object is read afresh.
        """
        here = Change.objects.filter(where or Q(), pk=self.pk, state=self.state, epoch=self.epoch)
        moved = here.update(state=to, **values)
        if moved:
            self.refresh_from_db()
        return bool(moved)


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

    def __str__(self) -> str:
        return f"{self.op} {self.permission_type} {self.principal} {self.operation} {self.resource_name}"

    @cached_property
    def binding(self) -> AclBinding:
        """The ACL, made once: a page of a long plan asks for it many times, and no field of it ever changes."""
        return AclBinding(
            resource_type=ResourceType[self.resource_type],
            resource_name=self.resource_name,
            pattern_type=PatternType[self.pattern_type],
            principal=self.principal,
            host=self.host,
            operation=Operation[self.operation],
            permission_type=PermissionType[self.permission_type],
        )

    @property
    def has_effect(self) -> bool:
        """Whether aclweb wrote this item, or may have: a call without an answer counts until it is settled."""
        return self.state in EFFECTS or self.sent > 0

    @property
    def sent(self) -> int:
        """How many calls for this item took effect, or may have."""
        return int(self.evidence.get("sent", 0))

    def in_place(self, bindings: frozenset[AclBinding]) -> bool:
        """Whether a cluster that holds exactly `bindings` is as this item wants it."""
        return (self.binding in bindings) == (self.op == ChangeItem.Op.ADD)


# Item states of something written, or perhaps written.
EFFECTS = (ChangeItem.State.INTENT, ChangeItem.State.APPLIED, ChangeItem.State.UNKNOWN)

# States in which a worker holds the change under a lease.
UNDER_WAY = (Change.State.PREFLIGHT, Change.State.APPLYING, Change.State.UNKNOWN, Change.State.VERIFYING)

# What a user reads beside a state: quiet, waiting, busy, good or bad.
TONES: Mapping[str, str] = {
    Change.State.DRAFT: "quiet",
    Change.State.IN_REVIEW: "waiting",
    Change.State.REJECTED: "bad",
    Change.State.CANCELLED: "quiet",
    Change.State.APPROVED: "waiting",
    Change.State.QUEUED: "busy",
    Change.State.PREFLIGHT: "busy",
    Change.State.APPLYING: "busy",
    Change.State.UNKNOWN: "busy",
    Change.State.VERIFYING: "busy",
    Change.State.APPLIED: "good",
    Change.State.PARTIAL: "bad",
    Change.State.FAILED: "bad",
    Change.State.BLOCKED_STALE: "bad",
    Change.State.QUARANTINED: "bad",
}


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

    def __str__(self) -> str:
        return f"{self.reviewer} approved {self.change.key}"


class Comment(models.Model):
    """What somebody said of a change, or of one of its ACLs, without deciding."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="comments")
    # The ACL (notation.binding_key), which may have left the plan since; empty for the whole change.
    acl_key = models.CharField(max_length=64, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.author} on {self.change.key}"


class PolicyGate(models.Model):
    """What an edit of a cluster must not do without more approvals, or without an administrator's."""

    class Kind(models.TextChoices):
        NO_WILDCARD = "no-wildcard", "No ACL for all resources or any user"
        NO_TRAFFIC_LOST = "no-traffic-lost", "Nobody in logged traffic loses access"
        NOT_THE_FIRST = "not-the-first", "Not the first ACL on an open resource"
        NOT_OWN_RIGHTS = "not-own-rights", "Not aclweb's own rights"
        NO_NEW_ACCESS = "no-new-access", "No new access to names that start with a prefix"
        LABELLED = "no-access-label", "No new access to names with a label"
        MANAGED = "managed", "Nothing that another tool manages, by a prefix"
        MANAGED_REFUSED = "managed-refused", "Refuse what another tool manages, by a prefix"

    # Those about names that start with a prefix, or have a label.
    WITH_PREFIX = (Kind.NO_NEW_ACCESS, Kind.LABELLED, Kind.MANAGED, Kind.MANAGED_REFUSED)

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="policy_gates")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    # Of WITH_PREFIX, for LABELLED the label; empty for the others.
    name_prefix = KafkaTextField(blank=True)
    # So many must approve where it is not met, and whether one of them must be an administrator of the cluster.
    approvals = models.PositiveSmallIntegerField(default=2)
    by_administrator = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "kind", "name_prefix"], name="one_gate_of_a_kind")
        ]

    def __str__(self) -> str:
        if self.kind == self.Kind.NO_NEW_ACCESS:
            return f"No new access to names that start with {shown(self.name_prefix)}"
        if self.kind == self.Kind.LABELLED:
            return f"No new access to names with the label {shown(self.name_prefix)}"
        if self.kind == self.Kind.MANAGED:
            return f"Another tool manages what starts with {shown(self.name_prefix)}"
        if self.kind == self.Kind.MANAGED_REFUSED:
            return f"Refuse what another tool manages: what starts with {shown(self.name_prefix)}"
        return self.get_kind_display()


def new_address() -> str:
    """Return a text that nobody can guess."""
    return token_hex(16)


class Computations(models.Manager["Computation"]):
    """Leaves what was asked, and the impact, in the database until somebody asks a row for it."""

    def get_queryset(self) -> models.QuerySet[Computation]:
        return super().get_queryset().defer("question", "packed_impact")


class Computation(KeepsImpact, JobRow):
    """An impact that is too much for a page, so that a worker computes it: what was asked, and how far it is.

    Whoever has its address and may look at its clusters sees it.
    """

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waits for a worker"
        WORKING = "WORKING", "being computed"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        TOO_MUCH = "TOO_MUCH", "too much for a worker"
        CANCELLED = "CANCELLED", "cancelled"

    class Kind(models.TextChoices):
        WHAT_IF = "what-if", "what-if"
        COMPARISON = "comparison", "comparison"

    # Nobody can guess it; it is the last part of the address of the page.
    address = models.CharField(max_length=32, unique=True, default=new_address)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # SHA-256 of all that the impact depends on: equal keys have equal impacts.
    key = models.CharField(max_length=64, db_index=True)
    # The JSON of what was asked, compressed: never read for a list.
    question = models.BinaryField()
    # Where it was asked, as an address of this site; empty where a program asked.
    asked_from = models.TextField(blank=True)
    acls_added = models.PositiveIntegerField(default=0)
    acls_removed = models.PositiveIntegerField(default=0)
    new_topics = models.PositiveIntegerField(default=0)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    # Of a comparison, the side to the right.
    other_cluster = models.ForeignKey(Cluster, null=True, on_delete=models.CASCADE, related_name="+")
    other_revision = models.ForeignKey(Revision, null=True, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The change that waits to be submitted with it, where one does.
    for_change = models.ForeignKey(Change, null=True, on_delete=models.CASCADE, related_name="+")

    state = state_of(State)
    steps_done = models.PositiveBigIntegerField(default=0)
    steps_at_most = models.PositiveBigIntegerField(default=0)
    sentence = models.TextField(blank=True)  # why it has no impact, for people

    # Who is missing from the impact, as in a comparison.
    left_out = models.JSONField(default=list)

    objects = Computations()

    class Meta:
        ordering = ["-id"]
        constraints = [one_at_work("owner", "one_computation_at_a_time_a_person")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}: {self.get_state_display()}"

    @property
    def asked_words(self) -> str:
        """What a what-if is about: `5,000 ACLs to add, 3 ACLs to remove and 1 new topic`."""
        parts = [
            (self.acls_added, "ACL", " to add"),
            (self.acls_removed, "ACL", " to remove"),
            (self.new_topics, "new topic", ""),
        ]
        words = [f"{number_of(number, noun)}{end}" for number, noun, end in parts if number]
        return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


COMPUTATIONS = JobRows(
    Computation,
    group="owner",
    most_attempts=3,
    at_first={"steps_done": 0},
    related=("cluster", "revision", "other_cluster", "other_revision"),
)
