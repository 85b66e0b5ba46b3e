"""Which requests does a load hold, and how often was each logged on which days?

Texts of any length are found by short keys of them, since no index takes the texts themselves. A key only leads to the
few rows that may be meant; the texts decide.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.model import Resource
from aclweb.insights.models import Load, RequestDay, RequestTotals

NEWEST_DAYS = 90
"""Days of the log, up to the last one, of which it is known how often each request was logged."""

_REQUESTS_AT_ONCE = 2_000  # in one SQL statement


def key_of(
    principal: str, host: str, operation: str, resource_type: str, resource_name: str, allowed: bool
) -> str:
    """Return the key of a request and its answer: 32 hexadecimal digits, whatever the names hold."""
    texts = (principal, host, operation, resource_type, resource_name, "allowed" if allowed else "denied")
    return _hashed(texts, 16).hex()


def principal_key(principal: str) -> int:
    """Return a number of 64 bits that leads to the requests of a principal."""
    return _number(principal)


def resource_key(resource_type: str, resource_name: str) -> int:
    """Return a number of 64 bits that leads to the requests on a resource."""
    return _number(resource_type, resource_name)


def requests_of(
    load: Load, *, resource: Resource | None = None, principal: str | None = None, by_key: bool = False
) -> QuerySet[RequestTotals]:
    """Return the totals of all requests of a load, of those on one resource, of one principal, or both.

    Their texts are in `request`. by_key: whether a filter by keys of principals or resources is to follow.
    """
    held = Q(added_in__lte=load.pk) & (Q(removed_in__isnull=True) | Q(removed_in__gt=load.pk))
    rows = RequestTotals.objects.filter(held)
    if resource is None and principal is None and not by_key:
        return rows.filter(cluster=load.cluster_id)
    # The cluster of the request begins the indexes by key.
    rows = rows.filter(request__cluster=load.cluster_id)
    if resource is not None:
        kind, name = resource.resource_type.name, resource.name
        rows = rows.filter(
            request__resource_key=resource_key(kind, name),
            request__resource_type=kind,
            request__resource_name=name,
        )
    if principal is not None:
        rows = rows.filter(request__principal_key=principal_key(principal), request__principal=principal)
    return rows


def days_of(load: Load, days: int = 0, *, most: int = 31) -> list[str]:
    """Return every day of the window, at most so many last ones of the log."""
    if load.first_at is None or load.last_at is None:
        return []
    last = load.last_at.date()
    count = min(most, days or most, (last - load.first_at.date()).days + 1)
    return [(last - timedelta(days=back)).isoformat() for back in reversed(range(count))]


def answers_by_day(
    load: Load, *, permitted: Sequence[int], denied: Sequence[int], most: int = 31
) -> tuple[tuple[str, int, int], ...]:
    """Return (day, permitted, denied) for each of the last days of the log, none left out.

    permitted, denied: numbers of LoggedRequests whose lines are added. One query for each 2,000 of them.
    """
    window = days_of(load, most=most)
    allowed: dict[str, int] = defaultdict(int)
    refused: dict[str, int] = defaultdict(int)
    either = [*((number, True) for number in permitted), *((number, False) for number in denied)]
    for start in range(0, len(either) if window else 0, _REQUESTS_AT_ONCE):
        some = either[start : start + _REQUESTS_AT_ONCE]
        for day, of_allowed, of_both in _sums_of_both(load, window, some):
            allowed[day.isoformat()] += of_allowed
            refused[day.isoformat()] += of_both - of_allowed
    return tuple((day, allowed.get(day, 0), refused.get(day, 0)) for day in window)


def lines_by_day(load: Load, requests: Sequence[int], *, first: date, last: date) -> dict[str, int]:
    """Return how often these requests were logged on each day of a window, days without any left out.

    requests: numbers of LoggedRequests. One query, and one for each 2,000 requests.
    """
    return _lines_of(_sets_of(load, first=first, last=last), requests) if requests else {}


def _sets_of(load: Load, *, first: date, last: date) -> dict[int, date]:
    return dict(load.day_sets.filter(day__range=(first, last)).values_list("pk", "day"))


def _lines_of(sets: Mapping[int, date], requests: Sequence[int]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for start in range(0, len(requests), _REQUESTS_AT_ONCE):
        some = requests[start : start + _REQUESTS_AT_ONCE]
        for key, lines in _sums(sets, some):
            found[sets[key].isoformat()] += lines
    return dict(sorted(found.items()))


def _sums(sets: Collection[int], requests: Sequence[int]) -> QuerySet[RequestDay, tuple[int, int]]:
    rows = RequestDay.objects.filter(day_set__in=sets, request__in=requests)
    return rows.values_list("day_set").annotate(Sum("lines")).order_by()


def _sums_of_both(
    load: Load, window: Sequence[str], requests: Sequence[tuple[int, bool]]
) -> QuerySet[RequestDay, tuple[date, int, int]]:
    """Return (day, lines of the permitted ones, lines of all) for each day of the window that has any.

    requests: each with whether it was permitted.
    """
    rows = RequestDay.objects.filter(
        day_set__loads=load,
        day_set__day__range=(window[0], window[-1]),
        request__in=[number for number, _ in requests],
    )
    of_allowed = Q(request__in=[number for number, is_allowed in requests if is_allowed])
    sums = {"of_allowed": Coalesce(Sum("lines", filter=of_allowed), 0), "of_both": Sum("lines")}
    return rows.values_list("day_set__day").annotate(**sums).order_by()


def _number(*texts: str) -> int:
    return int.from_bytes(_hashed(texts, 8), "big", signed=True)


def _hashed(texts: Collection[str], size: int) -> bytes:
    whole = "".join([f"{len(text)}:{text}" for text in texts])
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=size).digest()
