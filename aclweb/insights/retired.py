"""Which brokers are gone for good, so that their missing logs hide nothing?

A broker that was switched off writes no log, and without it nothing could be called unused. An administrator says
since which day it is gone; nothing before that day changes, and a broker that has written since is not gone.
"""

from __future__ import annotations

from datetime import date, timedelta

from django.db import transaction
from django.utils import timezone

from aclweb.audit import trail
from aclweb.insights.current import current_load
from aclweb.insights.models import LogDay, RetiredBroker
from aclweb.insights.quiet import settle_quiet
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
        _settle(cluster)
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
            _settle(cluster)
    return bool(gone)


def _settle(cluster: Cluster) -> None:
    load = current_load(cluster)
    if load is not None:
        settle_quiet(load)
