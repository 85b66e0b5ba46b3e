"""What has a person said of a group of denials, who was it, and is it still so?

A mark is kept by the key of the group, so it survives the next load. Each is recorded in the audit trail.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import (
    Case,
    CharField,
    DateTimeField,
    Expression,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast
from django.utils import timezone

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.insights.current import current_load
from aclweb.insights.models import DenialGroup, DenialMark
from aclweb.inventory.models import Cluster

State = DenialMark.State

_MOST_HISTORY = 20
# Brokers' clocks may be in any zone, so a time of ours is compared with theirs by this margin.
_CLOCKS_APART = timedelta(days=1)

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
    facts = {
        "state": state,
        "until": until if state == State.IGNORED else None,
        "change": change if state in (State.BEING_FIXED, State.FIXED) else None,
        "reason": reason.strip(),
        "set_by": actor.get_username(),
        "set_at": now,
        "fixed_at": _last_logged(cluster, key) if state in (State.FIXED, State.BEING_FIXED) else None,
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


def _last_logged(cluster: Cluster, key: str) -> datetime | None:
    """Return when the log that is loaded has the last denial of a group, on the brokers' clocks."""
    load = current_load(cluster)
    return DenialGroup.objects.filter(load=load, key=key).values_list("last_at", flat=True).first()


def state_of(
    said: DenialMark,
    last_at: datetime,
    log_end: datetime,
    in_force_since: Mapping[int, datetime],
    *,
    is_quiet: bool = False,
) -> str:
    """Return the state of a group today.

    last_at: its last denial. log_end: the last record of the log. Both are on the brokers' clocks. is_quiet: whether
    the log proves that it has had no denial for a week. Then it is fixed, unless somebody called it new, expected or
    ignored, or works on it in a change that is not in force.
    """
    state = _state_said(said, last_at, log_end, in_force_since)
    if state == State.NEW and said.state != State.NEW:
        return State.FIXED if is_quiet else State.NEW
    if state == State.BEING_FIXED and said.change is None and is_quiet:
        return State.FIXED
    return state


def _state_said(
    said: DenialMark, last_at: datetime, log_end: datetime, in_force_since: Mapping[int, datetime]
) -> str:
    if said.state == State.IGNORED and said.until is not None and said.until < datetime.now(UTC).date():
        return State.NEW
    if said.state == State.BEING_FIXED and said.change is not None:
        applied_at = in_force_since.get(said.change)
        return said.state if applied_at is None else _after_change(said, applied_at, last_at, log_end)
    if said.state == State.FIXED and said.fixed_at is not None:
        return State.NEW if last_at > said.fixed_at else State.FIXED
    return said.state


def accepted(cluster: Cluster) -> QuerySet[DenialMark]:
    """Return the marks by which `state_of` calls their group expected or ignored, whatever the log holds of it."""
    return DenialMark.objects.filter(_is_accepted(), cluster=cluster)


def _is_accepted() -> Q:
    until_now = Q(until__isnull=True) | Q(until__gte=datetime.now(UTC).date())
    return Q(state=State.EXPECTED) | (Q(state=State.IGNORED) & until_now)


def settled(
    marks: QuerySet[DenialMark], *, last_at: OuterRef, applied_at: Expression | Subquery
) -> QuerySet[DenialMark]:
    """Return those of these marks by which `state_of` would call their group anything but new.

    last_at: the last denial of the group. applied_at: when the change that a mark names came into force, or null.
    """
    dated = marks.annotate(applied=applied_at)
    seen_before = Q(fixed_at__isnull=False, fixed_at__gte=last_at)
    by_change = (
        Q(change__isnull=True)
        | Q(applied__isnull=True)
        | (Q(set_at__lte=F("applied")) & seen_before)
        | Q(applied__gte=last_at - _CLOCKS_APART)
    )
    return dated.filter(
        _is_accepted()
        | (Q(state=State.FIXED) & (Q(fixed_at__isnull=True) | seen_before))
        | (Q(state=State.BEING_FIXED) & by_change)
    )


def with_state(
    marks: QuerySet[DenialMark],
    in_force_since: Mapping[int, datetime],
    *,
    last_at: OuterRef,
    lines_7: OuterRef,
    log_end: datetime | None,
    tells_quiet: bool,
) -> QuerySet[DenialMark, Any]:
    """Return these marks with what `state_of` says of their group as `state_now`, for one query without their rows.

    last_at, lines_7: the last denial of the group, and its denials of the last week of the log. log_end: the last
    record of the log, None for a log without times. It names changes that are in force, and no mark.
    """
    numbers = list(in_force_since)
    by_number = {
        "applied": in_force_since,
        "long_before": {number: at - _CLOCKS_APART for number, at in in_force_since.items()},
        "long_after": {number: at + _CLOCKS_APART for number, at in in_force_since.items()},
    }
    moments = {
        name: Case(
            *(When(change=number, then=Value(at)) for number, at in of_change.items()),
            default=None,
            output_field=DateTimeField(),
        )
        for name, of_change in by_number.items()
    }
    ended = [
        number for number in numbers if log_end is not None and log_end > by_number["long_after"][number]
    ]
    by_change = Q(state=State.BEING_FIXED, change__in=numbers)
    seen_before = Q(set_at__lte=F("applied"), fixed_at__gte=last_at)
    not_since = Q(long_after__gte=last_at)
    is_over = Q(long_before__gte=last_at) | Q(change__in=ended)
    is_fixed = by_change & (seen_before | (not_since & is_over))
    is_back = (
        Q(state=State.IGNORED, until__lt=datetime.now(UTC).date())
        | Q(by_change, long_after__lt=last_at)
        | Q(state=State.FIXED, fixed_at__lt=last_at)
    )
    # Of a group without a denial for a week, as far as the log proves that.
    quiet = Value(State.FIXED.value)
    is_quiet = Q(lines_of_week=0) if tells_quiet else Q(pk__in=())
    waits = Q(state=State.BEING_FIXED, change__isnull=True)
    return marks.annotate(
        **moments, lines_of_week=ExpressionWrapper(lines_7, output_field=IntegerField())
    ).annotate(
        state_now=Case(
            When(is_fixed, then=quiet),
            When(is_back & is_quiet, then=quiet),
            When(is_back, then=Value(State.NEW.value)),
            When(waits & is_quiet, then=quiet),
            default=F("state"),
            output_field=CharField(),
        )
    )


def _after_change(said: DenialMark, applied_at: datetime, last_at: datetime, log_end: datetime) -> str:
    """Return the state of a group whose change was applied then, by our clock; being fixed where nobody can tell."""
    if said.set_at <= applied_at and said.fixed_at is not None and last_at <= said.fixed_at:
        # The log held this last denial before the change was applied.
        return State.FIXED
    if last_at > applied_at + _CLOCKS_APART:
        return State.NEW
    was_before = last_at <= applied_at - _CLOCKS_APART
    none_since = log_end > applied_at + _CLOCKS_APART
    return State.FIXED if was_before or none_since else State.BEING_FIXED
