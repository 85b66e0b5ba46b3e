"""What is in force on each cluster now, and what was.

A Revision is one complete reading that differed from the one before. A stored row has
the revision that added it and the one that removed it, so "what was in force on Monday"
is one filter. A reading that failed changes `Cluster.state` and nothing else.

The default mode and the super users cannot be read from a cluster, so they are declared
by a person: None (null) means that nobody has, and every answer that depends on them says so.
What was declared, and since when, stays known as rows of Declaration.
"""

from __future__ import annotations

from typing import Any

from django.db import models, transaction
from django.db.models import Q

from aclweb.clusters import KINDS, ClusterKind, ClusterState, Known, kind_named
from aclweb.inventory.fields import EncryptedJSONField, KafkaTextField
from aclweb.inventory.leases import Leased
from aclweb.inventory.stored_checks import CHECKS as CHECKS
from aclweb.inventory.stored_checks import ConnectionCheck as ConnectionCheck
from aclweb.inventory.stored_columns import StoredColumns as StoredColumns
from aclweb.inventory.stored_details import DetailsRead as DetailsRead
from aclweb.inventory.stored_details import StoredDetail as StoredDetail
from aclweb.inventory.stored_details import StoredGroup as StoredGroup
from aclweb.inventory.stored_findings import DismissedFinding as DismissedFinding
from aclweb.inventory.stored_findings import LintRun as LintRun
from aclweb.inventory.stored_findings import PostureDay as PostureDay
from aclweb.inventory.stored_findings import StoredFinding as StoredFinding
from aclweb.inventory.stored_syncs import SyncRun as SyncRun


class AllClusters(models.Manager["Cluster"]):
    """Clusters without their logins, which are decrypted only by whoever asks a cluster for `options`."""

    def get_queryset(self) -> models.QuerySet[Cluster]:
        return super().get_queryset().defer("options", "read_marks")


class ClusterManager(models.Manager["Cluster"]):
    """The same, without the clusters that somebody has removed."""

    def get_queryset(self) -> models.QuerySet[Cluster]:
        return super().get_queryset().defer("options", "read_marks").filter(removed_at__isnull=True)


KNOWN = [(known.value, known.value) for known in Known]


def kinds() -> list[tuple[str, str]]:
    """Return the choices of `Cluster.kind`; asked for each time, so that a new kind needs no migration."""
    return [(name, name.title()) for name in KINDS]


class Cluster(Leased):
    class Authorizer(models.TextChoices):
        STANDARD = "standard", "KRaft (StandardAuthorizer)"
        ACL = "acl", "ZooKeeper (AclAuthorizer)"

    class Declared(models.TextChoices):
        """What somebody says of a ZooKeeper cluster, whose znodes cannot tell whether brokers use them."""

        UNDECLARED = "", "not declared"
        ON = "on", "on"
        OFF = "off", "off"

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=12, choices=kinds)
    address = models.CharField(max_length=1000)
    options = EncryptedJSONField(default=dict, blank=True)
    authorizer = models.CharField(max_length=10, choices=Authorizer.choices, default=Authorizer.STANDARD)
    kafka_version = models.CharField(max_length=20, blank=True)
    authorizer_declared = models.CharField(
        max_length=10, choices=Declared.choices, default=Declared.UNDECLARED, blank=True
    )
    # The text of super.users as the brokers have it; null while nobody has declared it, "" for none.
    super_users = models.TextField(null=True, blank=True)
    allow_everyone = models.BooleanField(null=True)
    # The managed service that runs the brokers, by its name in `aclweb.acl.model.SERVICES`; empty for none.
    service = models.CharField(max_length=20, blank=True)
    # First contact is read-only: nothing is written until an administrator switches changes on.
    changes_enabled = models.BooleanField(default=False)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    cluster_id = models.CharField(max_length=100, blank=True)
    state = models.CharField(
        max_length=20, blank=True, choices=[(state.value, state.name) for state in ClusterState]
    )
    state_sentence = models.TextField(blank=True)
    problems = models.JSONField(default=list, blank=True)  # [{"where", "sentence", "hazard"}]
    tried_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    # What brokers told of their own settings; null where they never did. {"at", "where", "authorizer_class",
    # "principal_builder", "ssl_rules", "kerberos_rules", "proven": names of fields here that were read,
    # "overruled": what was declared of those instead, by field}
    settings_read = models.JSONField(null=True, blank=True)
    # Which of the existing topics and groups the stored names are.
    topics_listed = models.CharField(max_length=10, choices=KNOWN, default=Known.UNKNOWN)
    groups_listed = models.CharField(max_length=10, choices=KNOWN, default=Known.UNKNOWN)
    revision = models.ForeignKey("Revision", null=True, on_delete=models.SET_NULL, related_name="+")
    # A reading that lost too much to be believed, or came from another cluster: kept back until a person
    # accepts it. {"reason": "drop"|"other-cluster", "cluster_id", "sentence", "at", "accepted_by",
    # "losses": {"ACLs" or "topics": {"missing", "stored"}}}
    held = models.JSONField(null=True)
    # Readings are numbered when they begin. One that began before the newest stored one is not stored.
    readings_begun = models.PositiveBigIntegerField(default=0)
    reading_stored = models.PositiveBigIntegerField(default=0)
    # What shows a sync whether anything has changed since the last one: {"kind", "address": what was read,
    # "whole_at": when the last whole read began, by the database's clock, "acls", "topics": marks}; null where
    # the next sync reads everything.
    read_marks = models.JSONField(null=True)
    # How long the last sync took that stored few rows; a cluster that takes long is synced less often.
    sync_seconds = models.FloatField(default=0.0)
    # When the next scheduled sync is due; null is at once. A sync that begins moves it on.
    next_sync_at = models.DateTimeField(null=True, db_index=True)
    # Attempts in a row that did not reach the cluster: each doubles the time until the next.
    failures = models.PositiveIntegerField(default=0)
    # When somebody last asked for a sync at once, so that it is asked for once however many people press.
    sync_asked_at = models.DateTimeField(null=True)
    # Since when nothing connects to it, and who paused it; null while it is synced.
    paused_at = models.DateTimeField(null=True)
    paused_by = models.CharField(max_length=254, blank=True)
    # When somebody last said what its principals are called; null where nobody has.
    principals_named_at = models.DateTimeField(null=True)
    # Whether its address was given on a page, so that it may lead only to hosts that the deployment allows.
    held_to_hosts = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    # Since when it is removed, and who did it; null while it is there. Its changes keep the row.
    removed_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=254, blank=True)
    # What `slug` was: another cluster may have that name once the bulk of this one is deleted.
    removed_slug = models.CharField(max_length=60, blank=True)
    # How many rows workers have deleted of it, and when the last one was; null while some may be left.
    rows_deleted = models.PositiveBigIntegerField(default=0)
    deleted_at = models.DateTimeField(null=True)
    # Its events in the audit trail: those after this one, which ends a removed cluster of the same slug,
    # and, once it is removed itself, up to that one.
    events_after = models.PositiveBigIntegerField(default=0)
    events_to = models.PositiveBigIntegerField(null=True)

    objects = ClusterManager()
    including_removed = AllClusters()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Store the row; what is declared of a new cluster is known from here on."""
        is_new = self._state.adding
        with transaction.atomic():
            super().save(*args, **options)
            if is_new:
                Declaration.objects.create(cluster=self, since=self.created_at, **Declaration.values_of(self))

    @property
    def source(self) -> ClusterKind:
        """What this cluster is read from, with what aclweb can do with such a cluster."""
        return kind_named(self.kind)

    @property
    def groups_known(self) -> bool:
        return self.groups_listed != Known.UNKNOWN

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def is_removed(self) -> bool:
        return self.removed_at is not None

    @property
    def slug_once_removed(self) -> str:
        """What `slug` is then: no cluster can be registered under it, and addresses may hold it, to lead nowhere."""
        return f"_removed-{self.pk}"


class ClusterWatch(Leased):
    """Which worker watches a cluster, to know at once when its ACLs change; the lease is its right to do so."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="watch")
    # Since when the session is up, by the database's clock; null while it is not.
    connected_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"watch of {self.cluster}"


class LogSource(models.Model):
    """Where authorizer logs of a cluster are, and what somebody says of them. None: insights cannot tell anything."""

    class Level(models.TextChoices):
        UNDECLARED = "", "not declared"
        DEBUG = "DEBUG", "permits and denials (DEBUG)"
        INFO = "INFO", "denials only (INFO)"

    class BrokerBy(models.TextChoices):
        """What names the broker of a record of a topic; its path names that of a log file."""

        NOTHING = "", "–"
        KEY = "key", "the key of each message"
        TOPIC = "topic", "nothing: no hour counts as covered"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="log_sources")
    # A file, a folder or a pattern with *, on the machine of the worker; empty for a topic.
    path = models.CharField(max_length=1000, blank=True)
    # Whether a folder means the files of the folders in it too.
    recursive = models.BooleanField(default=False)
    # A topic whose messages are records, on which cluster it is, and what names their brokers; empty for a path.
    topic = models.CharField(max_length=249, blank=True)
    topic_cluster = models.ForeignKey(
        Cluster, null=True, on_delete=models.CASCADE, related_name="topics_with_logs"
    )
    broker_by = models.CharField(max_length=5, choices=BrokerBy.choices, default=BrokerBy.NOTHING, blank=True)
    # What results call the broker; empty to name it after its files.
    broker = models.CharField(max_length=200, blank=True)
    # That of the broker's clock; empty to keep times as they are written.
    time_zone = models.CharField(max_length=64, blank=True)
    # A name of `aclweb.acl.notation.LAYOUTS`, or a pattern of log4j; neither to look for the layout of each file.
    layout = models.CharField(max_length=60, blank=True)
    pattern = models.CharField(max_length=500, blank=True)
    level = models.CharField(max_length=5, choices=Level.choices, default=Level.UNDECLARED, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "path"], condition=~Q(path=""), name="log_source_once"
            ),
            models.UniqueConstraint(
                fields=["cluster", "topic", "topic_cluster"], condition=~Q(topic=""), name="log_topic_once"
            ),
        ]

    def __str__(self) -> str:
        return self.called

    @property
    def called(self) -> str:
        return f"topic {self.topic} on {self.topic_cluster}" if self.topic else self.path

    @property
    def topic_on(self) -> str:
        """The short name of the cluster that has the topic; empty for a path."""
        return self.topic_cluster.slug if self.topic_cluster else ""


class OwnedNames(models.Model):
    """Who owns a name of a cluster, or all names that begin so, and how they are labelled. No access depends on it."""

    class Kind(models.TextChoices):
        TOPIC = "TOPIC", "topic"
        GROUP = "GROUP", "group"
        TRANSACTIONAL_ID = "TRANSACTIONAL_ID", "transactional id"
        PRINCIPAL = "PRINCIPAL", "principal"

    class Pattern(models.TextChoices):
        LITERAL = "LITERAL", "this name"
        PREFIXED = "PREFIXED", "all that begin so"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="owned_names")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    pattern_type = models.CharField(max_length=8, choices=Pattern.choices)
    name = models.CharField(max_length=500)
    owner = models.CharField(max_length=100, blank=True)
    # Words, separated by a comma and a space.
    labels = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["kind", "name", "pattern_type"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "kind", "name", "pattern_type"], name="owned_once")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def label_words(self) -> list[str]:
        return self.labels.split(", ") if self.labels else []


class PrincipalName(models.Model):
    """What people call a principal of a cluster whose ACLs hold an id. No decision reads it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="principal_names")
    principal = models.CharField(max_length=500)
    name = models.CharField(max_length=100)

    class Meta:
        ordering = ["principal"]
        constraints = [models.UniqueConstraint(fields=["cluster", "principal"], name="principal_named_once")]

    def __str__(self) -> str:
        return self.name


class Declaration(models.Model):
    """What answers depend on besides ACLs and names, from `since` until the cluster's next row. Never changed.

    People declare it, but for the version and how complete names are, which readings find.
    The first row represents all that was before it, of which nothing is known.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="declarations")
    since = models.DateTimeField()
    authorizer = models.CharField(max_length=10, choices=Cluster.Authorizer.choices)
    kafka_version = models.CharField(max_length=20, blank=True)
    super_users = models.TextField(null=True, blank=True)
    allow_everyone = models.BooleanField(null=True)
    service = models.CharField(max_length=20, blank=True)
    topics_listed = models.CharField(max_length=10, choices=KNOWN, default=Known.UNKNOWN)
    groups_listed = models.CharField(max_length=10, choices=KNOWN, default=Known.UNKNOWN)
    # Who made it so, as the audit trail names them; empty for the first row.
    who = models.CharField(max_length=254, blank=True)

    class Meta:
        ordering = ["cluster", "since", "pk"]
        indexes = [models.Index(fields=["cluster", "since"], name="declared_since")]

    def __str__(self) -> str:
        return f"{self.cluster} since {self.since:%Y-%m-%d %H:%M:%S}"

    @property
    def groups_known(self) -> bool:
        return self.groups_listed != Known.UNKNOWN

    @staticmethod
    def values_of(cluster: Cluster) -> dict[str, Any]:
        """Return what the cluster's own row says today, by the names of the fields here."""
        return {
            name: getattr(cluster, name)
            for name in (
                "authorizer",
                "kafka_version",
                "super_users",
                "allow_everyone",
                "service",
                "topics_listed",
                "groups_listed",
            )
        }


class PublishedRevisions(models.Manager["Revision"]):
    """Revisions that are whole. One that is still being stored is seen by nobody but who stores it."""

    def get_queryset(self) -> models.QuerySet[Revision]:
        return super().get_queryset().filter(published=True)


class Revision(models.Model):
    """One stored snapshot that differed from the one before it.

    The rows of a large one are stored in several short transactions, under a revision that
    is not published; the last transaction publishes it. Until then nothing of it is in force.
    """

    class Cause(models.TextChoices):
        READING = "reading", "a regular reading"
        OURS = "ours", "a change made with aclweb"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    read_at = models.DateTimeField()
    cause = models.CharField(max_length=10, choices=Cause.choices, default=Cause.READING)
    acls = models.PositiveIntegerField()
    acls_added = models.PositiveIntegerField()
    acls_removed = models.PositiveIntegerField()
    names_added = models.PositiveIntegerField(default=0)
    names_removed = models.PositiveIntegerField(default=0)
    # SHA-256 over the sorted keys of the bindings: equal digests mean equal ACLs.
    digest = models.CharField(max_length=64)
    published = models.BooleanField(default=True)

    objects = PublishedRevisions()
    including_unpublished: models.Manager[Revision] = models.Manager()

    class Meta:
        ordering = ["cluster", "-number"]
        constraints = [models.UniqueConstraint(fields=["cluster", "number"], name="one_revision_a_number")]
        indexes = [models.Index(fields=["cluster", "read_at"], name="revision_read_at")]

    def __str__(self) -> str:
        return f"{self.cluster} revision {self.number}"


def stored_in_force(revision: Revision | int | models.OuterRef | None) -> Q:
    """Return the condition on StoredAcl and StoredName for what this revision of their cluster holds.

    Rows that a sync is still storing, or about to close, carry a later revision.
    """
    if revision is None:
        return Q(pk__in=())
    return Q(added_in__lte=revision) & (Q(removed_in__isnull=True) | Q(removed_in__gt=revision))


class StoredAcl(models.Model):
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="acls")
    # SHA-256 of the canonical binding (acl.notation.binding_key): names can be longer than any index allows.
    key = models.CharField(max_length=64)
    resource_type = models.CharField(max_length=20)
    resource_name = KafkaTextField()
    pattern_type = models.CharField(max_length=10)
    principal = KafkaTextField()
    host = KafkaTextField()
    operation = models.CharField(max_length=20)
    permission_type = models.CharField(max_length=10)
    added_in = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="added_acls")
    removed_in = models.ForeignKey(Revision, null=True, on_delete=models.CASCADE, related_name="removed_acls")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "key"],
                condition=Q(removed_in__isnull=True),
                name="one_row_an_acl_in_force",
            )
        ]
        indexes = [models.Index(fields=["cluster", "removed_in"])]

    def __str__(self) -> str:
        return f"{self.permission_type} {self.principal} {self.operation} {self.resource_type}:{self.resource_name}"


class StoredName(models.Model):
    """A topic or group that exists, or did."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="names")
    resource_type = models.CharField(max_length=20)
    key = models.CharField(max_length=64)
    name = KafkaTextField()
    partitions = models.PositiveIntegerField(null=True)
    internal = models.BooleanField(default=False)
    added_in = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="added_names")
    removed_in = models.ForeignKey(
        Revision, null=True, on_delete=models.CASCADE, related_name="removed_names"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "resource_type", "key"],
                condition=Q(removed_in__isnull=True),
                name="one_row_a_name_in_force",
            )
        ]
        indexes = [models.Index(fields=["cluster", "removed_in", "resource_type"])]

    def __str__(self) -> str:
        return f"{self.resource_type}:{self.name}"


class Pulse(models.Model):
    """When a queue's workers last finished a heartbeat task, or the beat last looked at its schedule."""

    name = models.CharField(max_length=30, primary_key=True)
    at = models.DateTimeField()  # by the database's clock

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}"
