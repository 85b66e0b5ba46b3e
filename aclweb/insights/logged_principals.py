"""When was each principal last seen in the log, and how often was it permitted and denied something?

That is the same for as long as a load is shown, so a load keeps it beside its rows, and a list of principals need not
add up every request of the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, Min, Q, Sum
from django.db.models.functions import Coalesce

from aclweb.insights.models import Load, LoggedPrincipal
from aclweb.insights.requests import principal_key, requests_of
from aclweb.insights.staging import step
from aclweb.inventory.store import insert

LATELY = 7
"""Days, up to the last one of the log, that denials are counted in apart."""

_FIELDS = ("principal", "permitted", "denied", "denied_7", "first_at", "last_at")
_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class LoggedUse:
    """How many requests of a principal were permitted and denied. denied_7: in the last 7 days of the log."""

    permitted: int
    denied: int
    denied_7: int
    first_at: datetime
    last_at: datetime


def logged_principals(load: Load, among: Collection[str] | None = None) -> Mapping[str, LoggedUse]:
    """Return each principal of the log; one query, or two where the load has not kept them.

    among: at least those of these, who are few; a query more where it has none of them.
    """
    kept = LoggedPrincipal.objects.filter(load=load)
    if among is not None:
        found = kept.filter(principal__in=among).values_list(*_FIELDS)
        if found or kept.exists():
            return _by_name(found)
    return _by_name(kept.values_list(*_FIELDS) or _counted(load))


def last_requests(load: Load, principals: Collection[str]) -> Mapping[str, datetime]:
    """Return when each of these principals, who are few, last asked for something, permitted or denied.

    Those that the log never names are left out. One query; two more where the load has kept none of them.
    """
    kept = LoggedPrincipal.objects.filter(load=load)
    found = dict(kept.filter(principal__in=principals).values_list("principal", "last_at"))
    if found or not principals or kept.exists():
        return found
    rows = requests_of(load, by_key=True).filter(
        request__principal_key__in=[principal_key(principal) for principal in principals],
        request__principal__in=principals,
    )
    return dict(rows.values_list("request__principal").annotate(last=Max("last_at")).order_by())


def _by_name(rows: Iterable[tuple[Any, ...]]) -> Mapping[str, LoggedUse]:
    return {principal: LoggedUse(*rest) for principal, *rest in rows}


def keep_principals(fresh: Load) -> None:
    """Keep the principals of a load whose requests are stored; raises OvertakenError where it is no longer wanted."""
    found = [(fresh.pk, *row) for row in _counted(fresh)]
    for start in range(0, len(found), _ROWS_AT_ONCE):
        with step(fresh):
            insert(LoggedPrincipal, ("load", *_FIELDS), found[start : start + _ROWS_AT_ONCE])


def _counted(load: Load) -> Iterable[tuple[Any, ...]]:
    """Return a row of _FIELDS for each principal; one query."""
    sums = (
        requests_of(load)
        .values_list("request__principal")
        .annotate(
            permitted=_lines("lines", allowed=True),
            denied=_lines("lines", allowed=False),
            denied_7=_lines(f"lines_{LATELY}", allowed=False),
            first=Min("first_at"),
            last=Max("last_at"),
        )
    )
    return sums.order_by()


def _lines(column: str, *, allowed: bool) -> Coalesce:
    return Coalesce(Sum(column, filter=Q(request__allowed=allowed)), 0)
