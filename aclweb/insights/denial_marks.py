"""What has a person said of a group of denials, who was it, and is it still so?

A mark is kept by the key of the group, so it survives the next load. Each is recorded in the audit trail.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.insights.current import current_load
from aclweb.insights.models import DenialMark
from aclweb.inventory.models import Cluster

State = DenialMark.State

_MOST_HISTORY = 20

trail.register("denial.marked", "{actor} marked “{denial}” as {told}.")


class DenialError(Exception):
    """A state that cannot be set; `field` names what is wrong, the message is for the person who sets it."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def mark(
    *,
    cluster: Cluster,
    key: str,
    denial: str,
    actor: trail.Named,
    state: str,
    reason: str = "",
    until: date | None = None,
    change: int | None = None,
) -> DenialMark:
    """Store what a person says of a group, with an audit event; raises DenialError for a state without its fact.

    denial: the group in words. until, change: of those states alone that have them.
    """
    now = timezone.now()
    if state not in State.values:
        raise DenialError(f"{state!r} is no state; choose one of {', '.join(State.labels)}.", "state")
    if state == State.IGNORED and until is None:
        raise DenialError("Name the day until which these denials are ignored, such as 2026-12-31.", "until")
    if state == State.IGNORED and until is not None and until < now.date():
        raise DenialError(f"{until} is past; name today or a later day.", "until")
    if state == State.EXPECTED and not reason.strip():
        raise DenialError("Say why these denials are expected, so that the next reader knows it.", "reason")
    load = current_load(cluster)
    # The brokers' clocks may be ahead of ours; what the log holds already is not a new denial.
    logged = load.last_at if load and load.last_at else now
    facts = {
        "state": state,
        "until": until if state == State.IGNORED else None,
        "change": change if state in (State.BEING_FIXED, State.FIXED) else None,
        "reason": reason.strip(),
        "set_by": actor.get_username(),
        "set_at": now,
        "fixed_at": max(now, logged) if state == State.FIXED else None,
    }
    with transaction.atomic():
        row, _ = DenialMark.objects.update_or_create(cluster=cluster, key=key, defaults=facts)
        trail.record(
            actor=actor,
            verb="denial.marked",
            target=f"cluster:{cluster.slug}",
            denial=denial,
            told=_in_words(row),
            key=key,
            state=state,
            reason=row.reason,
        )
    return row


def history(cluster: Cluster, key: str) -> list[Event]:
    """Return what was said of a group, newest first."""
    about = Event.objects.filter(target=f"cluster:{cluster.slug}", verb="denial.marked")
    return list(
        about.annotate(text=Cast("facts", TextField()))
        .filter(text__contains=f'"key":"{key}"')
        .order_by("-sequence")[:_MOST_HISTORY]
    )


def _in_words(row: DenialMark) -> str:
    parts = [row.get_state_display()]
    if row.until is not None:
        parts.append(f"until {row.until}")
    if row.change is not None:
        parts.append(f"by CR-{row.change}")
    words = " ".join(parts)
    return f"{words}: {row.reason}" if row.reason else words


def state_of(said: DenialMark, last_at: datetime, in_force_since: Mapping[int, datetime]) -> str:
    """Return the state of a group today, whose last denial was then."""
    if said.state == State.IGNORED and said.until is not None and said.until < datetime.now(UTC).date():
        return State.NEW
    fixed_at = said.fixed_at
    if said.state == State.BEING_FIXED and said.change is not None:
        fixed_at = in_force_since.get(said.change)
    if fixed_at is not None:
        return State.NEW if last_at > fixed_at else State.FIXED
    return said.state
