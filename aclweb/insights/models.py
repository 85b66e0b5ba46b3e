"""What the authorizer logs say, as the pipeline counted it.

One Load is one run of `python -m aclweb.pipeline usage` for one cluster; what the newest
published one holds is what pages show. Where the log does not hold permits, or stops
early, a page says "cannot tell" and never 0: the Load keeps what is needed to know.

Requests, their totals and their days are kept from load to load, and a load writes what differs
from the one before. A row of RequestTotals says from which load and until which one it holds; the rows
of a DaySet never change, and loads in which a day is the same share one. So nothing that an
unfinished load writes is part of what pages show.

What people say of denials is in rows of its own, which outlive every load.

One Analysis is one run of another job that somebody asked for; its result is in AnalysisRow.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Any

from django.db import models
from django.utils.functional import cached_property

from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.job_rows import JobRow, JobRows, one_at_work, state_of
from aclweb.inventory.leases import Leased
from aclweb.inventory.models import Cluster


class Load(models.Model):
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="loads")
    loaded_at = models.DateTimeField(auto_now_add=True)
    revision_number = models.PositiveIntegerField(null=True)
    # Broker-local times as written in the log (it holds no zone), shown as they are.
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    lines_read = models.PositiveBigIntegerField()
    lines_parsed = models.PositiveBigIntegerField()
    lines_other = models.PositiveBigIntegerField(default=0)  # understood, and not a decision
    lines_unparsed = models.PositiveBigIntegerField()
    unparsed = models.JSONField(default=list)  # [{"reason", "lines", "sample"}]
    permits_seen = models.BooleanField(default=False)
    # Which files could not be read or understood, as the reason to call nothing unused; empty if none.
    unread = KafkaTextField(default="")
    # Decisions of the log that today's ACLs would answer otherwise.
    disagreements = models.PositiveBigIntegerField(default=0)
    # What rule texts say about the declarations: {"super_users": {principal: lines},
    # "default_allow": lines, "default_deny_uncovered": lines}
    declarations = models.JSONField(default=dict)
    # By the name of a broker, the level that somebody declared for its log: DEBUG or INFO.
    levels = models.JSONField(default=dict)
    # Every broker wrote its denials on each of the last seven days, so a group without one then has none.
    tells_quiet = models.BooleanField(default=False)
    manifest = models.JSONField()
    current = models.BooleanField(default=True)
    # Whole: it is, or was, what pages show. While it is False, somebody stores it, or has died over it.
    published = models.BooleanField(default=True)
    # How many ACLs in force it shows to be unused, null where it cannot tell, and by what that was counted: see
    # `unused_counts`.
    unused = models.PositiveIntegerField(null=True)
    unused_by = models.CharField(max_length=120, blank=True)
    # Not published and not to be: another process takes its rows away.
    given_up = models.BooleanField(default=False)
    day_sets: models.ManyToManyField[DaySet, Any] = models.ManyToManyField("DaySet", related_name="loads")

    class Meta:
        ordering = ["-loaded_at"]

    def __str__(self) -> str:
        return f"{self.cluster} {self.loaded_at:%Y-%m-%d %H:%M}"


class LogDay(models.Model):
    """In which hours of one day one broker wrote its log, and permits into it."""

    load = models.ForeignKey(Load, on_delete=models.CASCADE, related_name="days")
    broker = KafkaTextField()  # as much of the path of its files as tells it from the others
    day = models.DateField()
    lines = models.PositiveBigIntegerField()
    decisions = models.PositiveBigIntegerField()
    permits = models.PositiveBigIntegerField()
    # Bit h is the hour that begins at h o'clock of the broker's clock.
    hours = models.PositiveIntegerField()
    permit_hours = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["load", "day"], name="log_days_of_a_load_by_day")]

    def __str__(self) -> str:
        return f"{self.broker} {self.day}: {self.lines} lines"


class RetiredBroker(models.Model):
    """A broker of which an administrator says that it is gone, so that its log is not missed."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="retired_brokers")
    broker = KafkaTextField()  # as in LogDay
    since = models.DateField()  # the first day on which it did not run any more
    reason = models.TextField(blank=True)
    set_by = models.CharField(max_length=254)
    set_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.broker} is gone since {self.since}"


class Refresh(Leased):
    """The last try to read a cluster's logs; `problem` is a sentence, empty if it went well.

    Its lease is held while a worker reads them, on whatever host.
    """

    # When somebody last asked that they be read at once; null once a worker has begun.
    asked_at = models.DateTimeField(null=True)
    asked_by = models.CharField(max_length=254, blank=True)
    # Of the try at work, or of the last one: how far it is, as an Analysis has it, and who cancelled it.
    step = models.CharField(max_length=300, blank=True)
    steps_done = models.PositiveSmallIntegerField(default=0)
    steps = models.PositiveSmallIntegerField(default=0)
    tasks_done = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)
    cancelled_by = models.CharField(max_length=254, blank=True)

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="logs_refresh")
    tried_at = models.DateTimeField(null=True)  # null until the first try has ended
    # When a try last went well, whether anything was new or not; null where none did since this is kept.
    read_at = models.DateTimeField(null=True)
    problem = KafkaTextField(default="")

    def __str__(self) -> str:
        when = "being read" if self.tried_at is None else f"{self.tried_at:%Y-%m-%d %H:%M}"
        return f"{self.cluster} {when}: {self.problem or 'read'}"


class AclUse(models.Model):
    """How often one binding counted in a decision of the log."""

    load = models.ForeignKey(Load, on_delete=models.CASCADE, related_name="uses")
    key = models.CharField(max_length=64)
    requests = models.PositiveBigIntegerField()  # decisions it was a determining binding of
    alone = models.PositiveBigIntegerField()  # ... and the only one
    named = models.PositiveBigIntegerField()  # lines in which the broker named it as the rule
    # Decisions that would be otherwise without it; null in a load of an earlier version.
    needed = models.PositiveBigIntegerField(null=True)
    # Keys of other ACLs that settle the same requests, those of most lines first; empty where it is needed.
    replaceable_by = models.JSONField(default=list)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    # Of `requests`, those of the last 30 days of the log; null in a load of an earlier version.
    requests_30 = models.PositiveBigIntegerField(null=True)
    days = models.JSONField(default=list)  # of `requests`: [["2026-11-20", lines]], the last 90 days at most

    class Meta:
        constraints = [models.UniqueConstraint(fields=["load", "key"], name="one_use_an_acl_and_load")]

    def __str__(self) -> str:
        return f"{self.key[:12]}: {self.requests} requests"


class LoggedRequest(models.Model):
    """A distinct request of the log with its answer: principal, host, operation, resource, allowed or not.

    It is kept from load to load. Names can be longer than any index allows, so they are found by their keys
    (see `requests`).
    """

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="logged_requests", db_index=False
    )
    key = models.CharField(max_length=32)
    principal = KafkaTextField()
    principal_key = models.BigIntegerField()
    host = KafkaTextField()
    operation = models.CharField(max_length=20)
    resource_type = models.CharField(max_length=20)
    resource_name = KafkaTextField()
    resource_key = models.BigIntegerField()
    allowed = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "key"], name="one_logged_request_a_cluster")
        ]
        indexes = [
            models.Index(fields=["cluster", "principal_key"], name="logged_by_principal"),
            models.Index(fields=["cluster", "resource_key"], name="logged_by_resource"),
        ]

    def __str__(self) -> str:
        answer = "allowed" if self.allowed else "refused"
        return f"{self.principal} {self.operation} {self.resource_type}:{self.resource_name} {answer}"


class RequestTotals(models.Model):
    """How often a request was logged in all, when, and what the ACLs of the snapshot say: from load to load."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="request_totals", db_index=False
    )
    # Both go with their cluster, or are taken away together: no database has to look for the other.
    request = models.ForeignKey(
        LoggedRequest, on_delete=models.DO_NOTHING, related_name="totals", db_constraint=False
    )
    # The numbers of loads: it holds in those from the first on, before the second. Earlier loads are deleted.
    added_in = models.PositiveBigIntegerField()
    removed_in = models.PositiveBigIntegerField(null=True)
    digest = models.BigIntegerField()  # of all that follows
    lines = models.PositiveBigIntegerField()
    # Lines in the last 7, 30 and 90 days of the log.
    lines_7 = models.PositiveBigIntegerField()
    lines_30 = models.PositiveBigIntegerField()
    lines_90 = models.PositiveBigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    api_names = models.JSONField(default=list)  # protocol requests, such as ["Fetch"]
    sample = KafkaTextField(default="")  # of a denial the latest record, as the broker wrote it
    decided_now = models.CharField(max_length=10)  # ALLOWED, DENIED or UNDECIDED by the ACLs of the snapshot

    class Meta:
        indexes = [models.Index(fields=["cluster", "removed_in"], name="totals_of_cluster")]

    def __str__(self) -> str:
        return f"{self.lines} lines from load {self.added_in} on"


class LoadedPairs(models.Model):
    """How often each principal was permitted and denied each name in one load, packed: see `pairs`.

    A load of an earlier version has none.
    """

    load = models.OneToOneField(Load, on_delete=models.CASCADE, related_name="pairs")
    texts = models.BinaryField()
    numbers = models.BinaryField()

    def __str__(self) -> str:
        return f"pairs of {self.load}"


class LoggedPrincipal(models.Model):
    """When one load saw a principal, and how often it was permitted and denied: see `logged_principals`.

    A load of an earlier version has none.
    """

    load = models.ForeignKey(Load, on_delete=models.CASCADE, related_name="principals")
    principal = KafkaTextField()
    permitted = models.PositiveBigIntegerField()
    denied = models.PositiveBigIntegerField()
    denied_7 = models.PositiveBigIntegerField()  # in the last 7 days of the log
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.principal} in load {self.load_id}"


class DaySet(models.Model):
    """How often each request was logged on one day. Loads in which the day is the same share it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="day_sets")
    day = models.DateField()
    digest = models.CharField(max_length=32)  # of its rows

    def __str__(self) -> str:
        return f"{self.cluster} {self.day}"


class RequestDay(models.Model):
    """How often one request was logged on the day of a DaySet."""

    pk = models.CompositePrimaryKey("day_set", "request")
    # No index and no check of its own: the key begins with it, and rows are stored under its load's lock.
    day_set = models.ForeignKey(
        DaySet, on_delete=models.CASCADE, related_name="rows", db_index=False, db_constraint=False
    )
    request = models.BigIntegerField()  # the number of a LoggedRequest
    lines = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"request {self.request}: {self.lines} lines"


class DenialGroup(models.Model):
    """The denials of one principal, operation and resource in one load, from all hosts together."""

    load = models.ForeignKey(Load, on_delete=models.CASCADE, related_name="denial_groups")
    key = models.CharField(max_length=64)  # the same in every load: see denial_groups.key_of
    principal = KafkaTextField()
    operation = models.CharField(max_length=20)
    resource_type = models.CharField(max_length=20)
    resource_name = KafkaTextField()
    # Lines in all, on the last day of the log, and in its last 7, 14 and 30 days.
    lines = models.PositiveBigIntegerField()
    lines_1 = models.PositiveBigIntegerField()
    lines_7 = models.PositiveBigIntegerField()
    lines_14 = models.PositiveBigIntegerField()
    lines_30 = models.PositiveBigIntegerField()
    # On the day before the last one of the log; null in a load of an earlier version.
    lines_before = models.PositiveBigIntegerField(null=True)
    hosts = models.PositiveIntegerField()
    latest_host = KafkaTextField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    days = models.JSONField(default=list)  # [["2026-11-20", lines]], in order, days without any left out
    # [[broker, lines, "2026-11-20 20:00:00"]], those of most lines, at most 10; empty where the load does not tell.
    brokers = models.JSONField(default=list)
    # The latest day with far more denials than usual: see denial_bursts. Null where there is none.
    burst_day = models.DateField(null=True)
    burst_lines = models.PositiveBigIntegerField(default=0)
    burst_usual = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["load", "key"], name="one_denial_group_a_key_and_load")
        ]

    def __str__(self) -> str:
        return f"{self.principal} {self.operation} {self.resource_type}:{self.resource_name}: {self.lines} denials"


class DenialMark(models.Model):
    """What a person has said of a group of denials. A group without one is new."""

    class State(models.TextChoices):
        NEW = "new", "new"
        BEING_FIXED = "being-fixed", "being fixed"
        EXPECTED = "expected", "expected"
        FIXED = "fixed", "fixed"
        IGNORED = "ignored", "ignored"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="denial_marks")
    key = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices)
    until = models.DateField(null=True)  # ignored to the end of this day, UTC
    change = models.PositiveBigIntegerField(null=True)  # the number of the change that fixes it
    reason = models.TextField(blank=True)
    set_by = models.CharField(max_length=254)
    set_at = models.DateTimeField()
    # For fixed and being fixed: the last denial that the log held then, on the brokers' clocks.
    # A later one brings a fixed group back as new.
    fixed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "key"], name="one_mark_a_denial_group")]

    def __str__(self) -> str:
        return f"{self.key[:12]}: {self.state}, by {self.set_by}"


def new_address() -> str:
    """Return a text that nobody can guess."""
    return token_hex(16)


class Analysis(JobRow):
    """One run of a job over the logs of a cluster: who asked for it, how far it is, and what it found in short.

    Whoever may look at the cluster sees it.
    """

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waits for a worker"
        RUNNING = "RUNNING", "at work"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "cancelled"

    OPEN = (State.QUEUED, State.RUNNING)

    address = models.CharField(max_length=32, unique=True, default=new_address)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="analyses")
    job = models.CharField(max_length=20)
    options = models.JSONField(default=dict)  # the value of each option of the job, by its name
    delta = KafkaTextField(default="")  # of a job about an edit: the edit, as JSON lines
    asked_by = models.CharField(max_length=254)
    state = state_of(State)

    # The step at work, as the job says it, how many came before it, and how many there are.
    step = models.CharField(max_length=200, blank=True)
    steps_done = models.PositiveSmallIntegerField(default=0)
    steps = models.PositiveSmallIntegerField(default=0)
    # Of this step: the tasks of the stages that Spark works on.
    tasks_done = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)

    problem = KafkaTextField(default="")  # why it has no result, for people

    revision_number = models.PositiveIntegerField(null=True)  # of the ACLs that it worked with
    sentences = models.JSONField(default=list)  # what it read and found, for people
    facts = models.JSONField(default=dict)  # the manifest, without the list of files
    # Of each table: rows of each kind that are kept, and in "" all.
    counts = models.JSONField(default=dict)
    rows_kept = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        constraints = [one_at_work("cluster", "one_analysis_at_a_time_a_cluster", at_work="RUNNING")]

    def __str__(self) -> str:
        return f"{self.job} of {self.cluster}: {self.get_state_display()}"

    @property
    def beside(self) -> list[str]:
        """The other clusters that it is about, by their names in addresses, sorted; none where it is about one."""
        named: str = self.options.get("beside", "")
        return named.split(",") if named else []

    @cached_property
    def cluster_names(self) -> dict[str, str]:
        """What its clusters are called on pages, by their names in addresses, its own first; one query, once."""
        others = Cluster.objects.filter(slug__in=self.beside).order_by("slug").values_list("slug", "name")
        return {self.cluster.slug: self.cluster.name, **dict(others)}


ANALYSES = JobRows(
    Analysis,
    reason="problem",
    most_attempts=2,
    at_first={"step": "", "steps_done": 0, "steps": 0, "tasks_done": 0, "tasks": 0},
    related=("cluster__revision",),
)


class AnalysisRow(models.Model):
    """One row of a table of a result, in the order in which the job wrote them."""

    analysis = models.ForeignKey(Analysis, on_delete=models.CASCADE, related_name="rows")
    table = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=20
    )  # what the table is filtered by: a state, a cause; empty without one
    principal = KafkaTextField()
    name = KafkaTextField()  # of the resource or host that it is about
    values = models.TextField()  # the whole row, as JSON

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["analysis", "table", "number"], name="one_row_a_number_and_table_of_an_analysis"
            )
        ]
        indexes = [models.Index(fields=["analysis", "table", "kind", "number"])]

    def __str__(self) -> str:
        return f"{self.table} {self.number}: {self.kind} {self.principal} {self.name}"
