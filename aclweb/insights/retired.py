"""Which brokers are gone for good, so that their missing logs hide nothing?

A broker that was switched off writes no log, and without it nothing could be called unused. An administrator says
since which day it is gone; nothing before that day changes, and a broker that has written since is not gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from aclweb.acl.logged import BrokerDay, with_gone
from aclweb.audit import trail
from aclweb.insights.models import Load, LogDay, RetiredBroker
from aclweb.inventory.models import Cluster

trail.register("broker.retired", "{actor} said that broker {broker} of {cluster} is gone since {since}{why}.")
trail.register("broker.returned", "{actor} took back that broker {broker} of {cluster} is gone.")


class RetiredError(Exception):
    """A broker that cannot be called gone so; `field` is what is wrong, the message is for the person who says it."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def retire(
    *, cluster: Cluster, broker: str, since: date, actor: trail.Named, reason: str = ""
) -> RetiredBroker:
    """Store that a broker is gone since the start of a day; raises RetiredError if the log says otherwise."""
    days = LogDay.objects.filter(load__cluster=cluster, load__current=True, broker=broker)
    last = days.order_by("-day").values_list("day", flat=True).first()
    if last is None:
        raise RetiredError(f"The log names no broker {broker!r}; choose one of the list.", "broker")
    if last >= since:
        raise RetiredError(
            f"{broker} wrote its log on {last}, so it is not gone since {since}; name a later day.", "since"
        )
    if since > timezone.now().date() + timedelta(days=1):
        raise RetiredError(f"{since} is to come; say that a broker is gone when it is.", "since")
    facts = {
        "since": since,
        "reason": reason.strip(),
        "set_by": actor.get_username(),
        "set_at": timezone.now(),
    }
    with transaction.atomic():
        # Two people at once would make two rows: whoever comes second waits here.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        row, _ = RetiredBroker.objects.update_or_create(cluster=cluster, broker=broker, defaults=facts)
        trail.record(
            actor=actor,
            verb="broker.retired",
            target=f"cluster:{cluster.slug}",
            cluster=cluster.name,
            broker=broker,
            since=since.isoformat(),
            why=f": {row.reason}" if row.reason else "",
        )
    return row


def take_back(*, cluster: Cluster, broker: str, actor: trail.Named) -> bool:
    """Forget that a broker is gone; return False if nobody had said so."""
    with transaction.atomic():
        gone, _ = RetiredBroker.objects.filter(cluster=cluster, broker=broker).delete()
        if gone:
            trail.record(
                actor=actor,
                verb="broker.returned",
                target=f"cluster:{cluster.slug}",
                cluster=cluster.name,
                broker=broker,
            )
    return bool(gone)


def broker_days(load: Load) -> QuerySet[LogDay]:
    """Return the days of the load, each with `gone`: since when its broker is gone, None if it is not."""
    said = RetiredBroker.objects.filter(cluster=load.cluster_id, broker=OuterRef("broker"))
    return LogDay.objects.filter(load=load).annotate(gone=Subquery(said.values("since")[:1]))


def days_with_gone(load: Load, last: date) -> Iterator[BrokerDay]:
    """Yield what brokers wrote to the last day of the log, each that is gone as if it still did; one query."""
    columns = ("broker", "day", "hours", "permit_hours", "gone")
    rows = list(broker_days(load).values_list(*columns))
    gone = {broker: since for broker, *_, since in rows if since is not None}
    return with_gone((BrokerDay(*facts) for *facts, _ in rows), gone, last)
