"""Which of the rows that people asked for does a worker take next, and for how long is it that worker's?

The row is the truth, and a message to the workers only says that there is one. A worker takes the row that was asked
for first, under a lease; one that dies loses its lease, and the next takes the row up again, a few times at most. Of
each group, such as a person or a cluster, one row is at work at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from aclweb.inventory import leases
from aclweb.inventory.leases import Leased


class JobRow(Leased):
    """Something that a person asked for and a worker does on a cluster.

    Its model has a `state` (`state_of`), a `cluster`, and a constraint a group (`one_at_work`).
    """

    # States of one that has no end yet: before a worker takes it, and while one has it.
    OPEN: ClassVar[tuple[str, str]] = ("QUEUED", "WORKING")

    attempts = models.PositiveSmallIntegerField(default=0)
    asked_at = models.DateTimeField()  # this and the next two by the database's clock
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_open(self) -> bool:
        """Whether a worker has it, or will have it."""
        return getattr(self, "state") in self.OPEN  # noqa: B009 - each model has states of its own


class ConnectingRow(JobRow):
    """One for which a worker connects to the cluster. asked_by: the name of an account, or of whoever is at the shell.

    sentence: the answer, or why there is none. seconds: how long it took; null until its end.
    """

    asked_by = models.CharField(max_length=254)
    sentence = models.TextField(blank=True)
    seconds = models.FloatField(null=True)

    class Meta:
        abstract = True


def state_of(states: type[models.TextChoices]) -> models.CharField[str, str]:
    """Return the column of a row's state, which waits for a worker at first."""
    return models.CharField(max_length=10, choices=states.choices, default="QUEUED", db_index=True)


def one_at_work(group: str, name: str, *, at_work: str = JobRow.OPEN[1]) -> models.UniqueConstraint:
    """Return the constraint by which one row of a group is at work at a time. group: a column."""
    return models.UniqueConstraint(fields=[group], condition=Q(state=at_work), name=name)


Row = TypeVar("Row", bound=JobRow)


@dataclass(frozen=True)
class JobRows(Generic[Row]):
    """The rows of one model, in its own words.

    failed, cancelled: states. group: the column of whom one is at work at a time; the database must
    hold this too. reason: the column for the sentence why a row has no result. most_attempts: so many workers may be
    lost over a row. at_first: columns as a worker finds them when it begins. forgotten: columns that a row without a
    result loses, such as a login. related: what is read with a row.
    """

    model: type[Row]
    most_attempts: int
    group: str = "cluster"
    reason: str = "sentence"
    failed: str = "FAILED"
    cancelled: str = "CANCELLED"
    at_first: Mapping[str, Any] = field(default_factory=dict)
    forgotten: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[str, ...] = ()

    @property
    def queued(self) -> str:
        return self.model.OPEN[0]

    @property
    def at_work(self) -> str:
        return self.model.OPEN[1]

    def are_waiting(self) -> bool:
        """Return whether a worker could take one."""
        return bool(self._candidates())

    def take_next(self, owner: str) -> Row | None:
        """Take the row that has waited longest; None where none may be taken. One that cost too many workers fails."""
        for pk in self._candidates():
            row = self._rows.filter(self._claimable(), pk=pk)
            if self._given_up(row):
                continue
            try:
                with transaction.atomic():  # the database itself allows one at work a group
                    taken = row.update(
                        state=self.at_work,
                        attempts=F("attempts") + 1,
                        started_at=Now(),
                        lease_owner=owner,
                        lease_until=leases.later(settings.ACLWEB_LEASE_SECONDS),
                        **self.at_first,
                    )
            except IntegrityError:
                continue
            if taken:
                return self._rows.select_related(*self.related).get(pk=pk)
        return None

    def taken_by(self, owner: str, row: Row) -> QuerySet[Row]:
        """Return the query that finds a row only as long as it is this worker's."""
        return self._rows.filter(pk=row.pk, state=self.at_work, lease_owner=owner)

    @contextmanager
    def held(self, mine: QuerySet[Row]) -> Iterator[None]:
        """Renew the lease of a row while the block works on it, as long as `mine` finds it."""

        def renew() -> bool:
            return bool(mine.update(lease_until=leases.later(settings.ACLWEB_LEASE_SECONDS)))

        with leases.renewed(renew, every_seconds=settings.ACLWEB_LEASE_SECONDS / 3):
            yield

    def end(self, mine: QuerySet[Row], values: Mapping[str, Any]) -> None:
        """Give a row its end, with these values; does nothing where it is not this worker's any more."""
        forgotten = self.forgotten if values.get("state") == self.failed else {}
        with transaction.atomic():
            mine.update(**{**values, **forgotten, **_WITHOUT_WORKER})

    def cancel(self, row: Row, reason: str) -> bool:
        """End a row that waits or is at work; return False where it has ended."""
        is_open = self._rows.filter(pk=row.pk, state__in=(self.queued, self.at_work))
        return bool(self._end_without_result(is_open, self.cancelled, reason))

    def cancel_all(self, of: Q, reason: str) -> int:
        """End the rows that wait or are at work and fulfil the condition; return how many they are."""
        is_open = self._rows.filter(of, state__in=(self.queued, self.at_work))
        return self._end_without_result(is_open, self.cancelled, reason)

    def _end_without_result(self, rows: QuerySet[Row], state: str, reason: str) -> int:
        return rows.update(**{"state": state, self.reason: reason, **self.forgotten, **_WITHOUT_WORKER})

    @property
    def _rows(self) -> QuerySet[Row]:
        return self.model._default_manager.all()

    def _claimable(self) -> Q:
        """Waiting for a worker, or held by one whose lease ran out; by the database's clock."""
        return Q(state=self.queued) | Q(leases.is_free(), state=self.at_work)

    def _candidates(self) -> list[int]:
        """Return the ids of what a worker could take, the oldest of each group that has none at work.

        None is of a removed cluster: its removal ends all, and one that was asked for at that moment is deleted.
        """
        busy = self._rows.filter(leases.is_held(), state=self.at_work).values(self.group)
        waiting = self._rows.filter(self._claimable(), cluster__removed_at__isnull=True).exclude(
            **{f"{self.group}__in": busy}
        )
        # One whose worker was lost comes first: it is the one at work of its group.
        lost_first = Case(When(state=self.at_work, then=0), default=1)
        first: dict[int, int] = {}
        for pk, group in waiting.order_by(lost_first, "pk").values_list("pk", self.group):
            first.setdefault(group, pk)
        return sorted(first.values())

    def _given_up(self, row: QuerySet[Row]) -> bool:
        """Fail the row if too many workers were lost over it; return whether they were."""
        sentence = f"Stopped after {self.most_attempts} tries: each worker that took it was lost."
        lost = row.filter(attempts__gte=self.most_attempts)
        return bool(self._end_without_result(lost, self.failed, sentence))


_WITHOUT_WORKER: Mapping[str, Any] = {"finished_at": Now(), "lease_owner": "", "lease_until": None}
