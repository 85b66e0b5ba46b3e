"""Which denials does the log hold, in groups that people work through, and what has been said of each group?

The state of a group is what a person has set for it, kept by cluster, principal, operation and resource, so it
survives the next load. A fixed group that is denied again is new, and so is one that was ignored until a past day.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    Expression,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from aclweb.acl.authorizer import Decision
from aclweb.acl.logged import Cause
from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.denial_bursts import Burst
from aclweb.insights.denial_causes import Causes, causes_of, judged
from aclweb.insights.denial_groups import WINDOWS
from aclweb.insights.denial_marks import settled, state_of
from aclweb.insights.models import DenialGroup, DenialMark, Load, RequestTotals
from aclweb.insights.requests import answers_by_day, days_of, requests_of
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists import LazyRows
from aclweb.inventory.models import Cluster

State = DenialMark.State

USUAL_DAYS = 14
"""Days of the log whose denials are listed unless somebody asks otherwise, and counted beside the word Denials."""

LAST_DAY_COUNTS = 10
"""The weight of a group is its denials, those of the last day of the log counted so many times."""

SORTS = {"weight": "weight", "times": "in_window", "latest": "last_at"}
_OPEN = (State.NEW, State.BEING_FIXED)
_EXPORTED_AT_ONCE = 500
_MOST_HOSTS = 500
_ROWS_AT_ONCE = 1_000
_KEY = re.compile("[0-9a-f]{64}")

EXPORTED = (
    "state",
    "principal",
    "operation",
    "resource_type",
    "resource_name",
    "cause",
    "denials",
    "on_the_last_day",
    "burst_day",
    "burst_denials",
    "hosts",
    "latest_host",
    "first",
    "last",
    "reason",
    "set_by",
    "set_at",
)


@dataclass(frozen=True)
class Wanted:
    """Which groups are asked for, and in which order.

    state: one of State, "" for all, open ones first. cause: the kind of a Cause, "" for all. bursts: those with a burst
    alone. days: a number of WINDOWS up to the last day of the log, 0 for the whole log. sort: one of SORTS.
    """

    state: str = ""
    cause: str = ""
    bursts: bool = False
    days: int = 0
    sort: str = "weight"

    @property
    def narrows(self) -> bool:
        """Whether it leaves out groups of any state."""
        return bool(self.cause) or self.bursts


EVERYTHING = Wanted()


@dataclass(frozen=True)
class Denial:
    """What one principal was denied on one resource, from all hosts together.

    state: one of State. mark: what was said of it last, which may be out of date: see `state`.
    lines: in the window asked for; last_day: on the last day of the log. hosts: how many.
    days: (day, lines) for each day of the window, none left out. burst: the latest one of the window.
    decision: what the ACLs in force say to the latest of these requests.
    """

    key: str
    principal: str
    operation: Operation
    resource: Resource
    state: str
    mark: DenialMark | None
    lines: int
    last_day: int
    hosts: int
    latest_host: str
    first_at: datetime
    last_at: datetime
    days: tuple[tuple[str, int], ...]
    burst: Burst | None
    decision: Decision
    cause: Cause

    @property
    def is_back(self) -> bool:
        """Whether it is new again after a person had said otherwise."""
        return self.state == State.NEW and self.mark is not None and self.mark.state != State.NEW

    @property
    def word(self) -> str:
        """Its state today, as a person reads it."""
        if self.is_back:
            return "new again"
        if self.state == State.IGNORED and self.mark is not None and self.mark.until is not None:
            return f"ignored until {self.mark.until.day} {self.mark.until:%b}"
        return State(self.state).label


@dataclass(frozen=True)
class Inbox:
    """The groups that were asked for, and figures about all groups of the window.

    rows: those that were asked for, sorted. counts: how many groups are in each state.
    new_lines: denials in new groups. last_day: denials of the last day of the log.
    shown: how many groups are in each state, with the cause asked for, and bursts alone where these are.
    causes, bursts: how many groups of the state asked for each filter would leave. all_judged: whether the causes of
    all groups of the log are known; otherwise only the MOST_GROUPS with most denials are listed and counted by cause.
    """

    load: Load | None
    rows: Sequence[Denial]
    counts: Mapping[str, int]
    lines: int = 0
    new_lines: int = 0
    principals: int = 0
    last_day: int = 0
    shown: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)
    bursts: int = 0
    all_judged: bool = True

    @property
    def groups(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class HostShare:
    """How many requests of one host were denied and permitted."""

    host: str
    denied: int
    permitted: int


@dataclass(frozen=True)
class Detail:
    """What the log holds about one group: each day of the window, and the newest record.

    hosts: at most 500, those with most denials first. host_count: how many there are. denied: lines of all hosts.
    """

    hosts: tuple[HostShare, ...]
    host_count: int
    denied: int
    days: tuple[tuple[str, int, int], ...]  # day, denied, permitted
    api_names: tuple[str, ...]
    sample: str
    sample_at: datetime | None
    permits_logged: bool


InForceSince = Callable[[Collection[int]], Mapping[int, datetime]]
"""Returns since when each of these changes is in force, without those that are not."""


def inbox(cluster: Cluster, wanted: Wanted = EVERYTHING, *, in_force_since: InForceSince) -> Inbox:
    """Return the groups of denials; six queries, eight with a filter, one more
    for bursts where not all groups are judged, and one for each page of rows.

    The causes of the groups with most denials are worked out once for a load and the ACLs in force.
    """
    load = current_load(cluster)
    if load is None:
        return Inbox(None, (), {})
    groups = groups_of(load, wanted.days)
    said = said_of(cluster, load, groups, in_force_since)
    not_new = [key for key, each in said.items() if each.state != State.NEW]
    settled = {"settled": Coalesce(Sum("in_window", filter=Q(key__in=not_new)), 0)} if not_new else {}
    sums = groups.aggregate(
        **settled,
        n=Count("pk"),
        lines=Coalesce(Sum("in_window"), 0),
        last_day=Coalesce(Sum("lines_1"), 0),
        principals=Count("principal", distinct=True),
    )
    now = in_force(cluster)
    causes = causes_of(load, now)
    kinds, bursts = _facets(_in_state(groups, said, wanted.state), causes, wanted)
    chosen = _chosen(groups, causes, wanted)
    shown = _by_state(*_narrowed(chosen, said)) if wanted.narrows else _by_state(sums["n"], said.values())
    made = partial(_rows, now, _ordered(chosen, said, wanted), said, days_of(load, wanted.days))
    return Inbox(
        load=load,
        rows=LazyRows(shown[wanted.state] if wanted.state else sum(shown.values()), made),
        counts=_by_state(sums["n"], said.values()),
        lines=sums["lines"],
        new_lines=sums["lines"] - sums.get("settled", 0),
        principals=sums["principals"],
        last_day=sums["last_day"],
        shown=shown,
        causes=kinds,
        bursts=bursts,
        all_judged=causes.whole,
    )


def new_count(cluster: Cluster, load: Load, *, days: int, in_force_since: InForceSince) -> int:
    """Return how many groups of the window are new; two queries."""
    groups = groups_of(load, days)
    said = said_of(cluster, load, groups, in_force_since)
    return groups.count() - sum(each.state != State.NEW for each in said.values())


def new_groups(
    cluster: QuerySet[Cluster, Any], *, days: int, applied_at: Expression | Subquery
) -> QuerySet[DenialGroup]:
    """Return the groups of the window that are new, as `new_count` counts them, for one query without their rows.

    cluster: a query for the number of one. applied_at: when the
    change that a DenialMark names came into force, as an expression; null where it is not in force.
    """
    column = f"lines_{days}" if days in WINDOWS else "lines"
    newest = Load.objects.filter(cluster__in=cluster, current=True).order_by("-loaded_at").values("pk")[:1]
    marks = DenialMark.objects.filter(cluster__in=cluster, key=OuterRef("key"))
    return DenialGroup.objects.filter(load=Subquery(newest), **{f"{column}__gt": 0}).exclude(
        Exists(settled(marks, last_at=OuterRef("last_at"), applied_at=applied_at))
    )


def denial(cluster: Cluster, key: str, *, days: int = 0, in_force_since: InForceSince) -> Denial | None:
    """Return one group by its key; None where the log has none."""
    load = current_load(cluster)
    # No database looks for every text, such as one with a NUL.
    if load is None or not _KEY.fullmatch(key):
        return None
    found = groups_of(load, 0).filter(key=key)
    said = said_of(cluster, load, found, in_force_since)
    rows = _rows(in_force(cluster), found, said, days_of(load, days), 0, 1)
    return rows[0] if rows else None


def exported(
    cluster: Cluster, wanted: Wanted = EVERYTHING, *, in_force_since: InForceSince
) -> Iterator[dict[str, str | int | None]]:
    """Yield EXPORTED of each group that `inbox` would list, in its order; times are the brokers' own, but set_at.

    With a cause it has every group with it, also those that are too small for `inbox` to know their cause.
    """
    load = current_load(cluster)
    if load is None:
        return
    now = in_force(cluster)
    groups = groups_of(load, wanted.days)
    said = said_of(cluster, load, groups, in_force_since)
    group: Any  # with the annotations of the query
    for group in _ordered(_stormy(groups, wanted), said, wanted).iterator(_EXPORTED_AT_ONCE):
        cause = judged(group, now)[1].kind
        if wanted.cause not in ("", cause):
            continue
        known = said.get(group.key)
        mark = known.mark if known else None
        values = (
            known.state if known else State.NEW,
            group.principal,
            group.operation,
            group.resource_type,
            group.resource_name,
            cause,
            group.in_window,
            group.lines_1,
            group.burst_day.isoformat() if group.has_burst else None,
            group.burst_lines if group.has_burst else None,
            group.hosts,
            group.latest_host,
            f"{group.first_at:%Y-%m-%d %H:%M:%S}",
            f"{group.last_at:%Y-%m-%d %H:%M:%S}",
            mark.reason if mark else None,
            mark.set_by if mark else None,
            f"{mark.set_at:%Y-%m-%d %H:%M:%S}" if mark else None,
        )
        yield dict(zip(EXPORTED, values, strict=True))


def in_words(found: Denial) -> str:
    """Return what was denied to whom, for a sentence: `READ on TOPIC orders.eu, User:bob`."""
    kind = found.resource.resource_type.name
    return f"{found.operation.name} on {kind} {found.resource.name}, {found.principal}"


def denials_of(
    cluster: Cluster,
    *,
    resource: Resource | None = None,
    principal: str | None = None,
    in_force_since: InForceSince,
) -> Sequence[Denial]:
    """Return the groups on one resource, of one principal, or both; the latest first, made when they are asked for."""
    load = current_load(cluster)
    if load is None:
        return ()
    groups = groups_of(load, 0)
    if resource is not None:
        groups = groups.filter(resource_type=resource.resource_type.name, resource_name=resource.name)
    if principal is not None:
        groups = groups.filter(principal=principal)
    said = said_of(cluster, load, groups, in_force_since)
    made = partial(_rows, in_force(cluster), groups.order_by("-last_at", "key"), said, days_of(load, 0))
    return LazyRows(groups.count(), made)


def detail(load: Load, found: Denial) -> Detail:
    """Return what the log holds about the requests of one group, denied or permitted; six queries.

    Of all records only the newest is read.
    """
    rows = requests_of(load, resource=found.resource, principal=found.principal)
    rows = rows.filter(request__operation=found.operation.name)
    hosts: dict[str, dict[bool, int]] = defaultdict(lambda: {False: 0, True: 0})
    numbers: dict[bool, list[int]] = {False: [], True: []}
    api_names: set[str] = set()
    denied: list[tuple[datetime, int]] = []
    columns = ("pk", "request", "request__host", "request__allowed", "lines", "last_at", "api_names")
    for pk, number, host, allowed, lines, last_at, names in rows.values_list(*columns).iterator(
        _ROWS_AT_ONCE
    ):
        hosts[host][allowed] += lines
        numbers[allowed].append(number)
        if not allowed:
            api_names.update(names)
            denied = [max([*denied, (last_at, pk)])]
    by_day = answers_by_day(load, permitted=numbers[True], denied=numbers[False])
    newest = RequestTotals.objects.filter(pk__in=[pk for _, pk in denied])
    record = newest.values_list("sample", "last_at").first()
    shares = (HostShare(host, counts[False], counts[True]) for host, counts in hosts.items())
    return Detail(
        hosts=tuple(
            heapq.nsmallest(
                _MOST_HOSTS, shares, key=lambda share: (-share.denied, -share.permitted, share.host)
            )
        ),
        host_count=len(hosts),
        denied=sum(counts[False] for counts in hosts.values()),
        days=tuple((day, denied, permitted) for day, permitted, denied in by_day),
        api_names=tuple(sorted(api_names)),
        sample=record[0] if record else "",
        sample_at=record[1] if record else None,
        permits_logged=load.permits_seen,
    )


def groups_of(load: Load, days: int) -> QuerySet[DenialGroup]:
    column = f"lines_{days}" if days in WINDOWS else "lines"
    bursts = Q(burst_day__isnull=False)
    if days in WINDOWS and load.last_at is not None:
        bursts &= Q(burst_day__gt=load.last_at.date() - timedelta(days=days))
    groups = DenialGroup.objects.filter(load=load).annotate(
        in_window=F(column), has_burst=Case(When(bursts, then=True), default=False)
    )
    return groups.filter(in_window__gt=0)


def _stormy(groups: Any, wanted: Wanted) -> QuerySet[DenialGroup]:
    """Return the groups with a burst alone where these are asked for."""
    chosen: QuerySet[DenialGroup] = groups.filter(has_burst=True) if wanted.bursts else groups
    return chosen


def _chosen(groups: Any, causes: Causes, wanted: Wanted) -> QuerySet[DenialGroup]:
    """Return the groups with the cause that is asked for, and those with a burst alone where these are."""
    chosen = _stormy(groups, wanted)
    if wanted.cause:
        chosen = chosen.filter(key__in=[key for key, kind in causes.kinds.items() if kind == wanted.cause])
    return chosen


def _narrowed(chosen: QuerySet[DenialGroup], said: Mapping[str, _Said]) -> tuple[int, list[_Said]]:
    """Return how many groups these are, and what was said of them."""
    of_them = chosen.filter(key__in=list(said)).values_list("key", flat=True) if said else ()
    return chosen.count(), [said[key] for key in of_them]


def _by_state(number: int, said: Collection[_Said]) -> dict[str, int]:
    """Return how many of so many groups are in each state; those of which nothing was said are new."""
    counts = dict.fromkeys(State.values, 0)
    for each in said:
        counts[each.state] += 1
    counts[State.NEW] += number - len(said)
    return counts


def _facets(groups: Any, causes: Causes, wanted: Wanted) -> tuple[dict[str, int], int]:
    """Return how many of these groups each filter would leave: by cause, the most frequent first, and with a burst.

    groups: with the annotations of `_of_window`.
    """
    # The groups with a known cause come first in this order, as `causes_of` has it, whatever the window and the state.
    rows = groups.order_by("-lines", "key").values_list("key", "has_burst")[: len(causes.kinds)]
    found = [(causes.kinds[key], has_burst) for key, has_burst in rows if key in causes.kinds]
    kinds = Counter(kind for kind, has_burst in found if has_burst or not wanted.bursts)
    if wanted.cause or causes.whole:
        bursts = sum(has_burst for kind, has_burst in found if wanted.cause in ("", kind))
    else:
        bursts = groups.filter(has_burst=True).count()
    return dict(kinds.most_common()), bursts


@dataclass(frozen=True)
class _Said:
    """What a person said of a group that the log holds, and its state today."""

    mark: DenialMark
    state: str


def said_of(
    cluster: Cluster, load: Load, groups: QuerySet[DenialGroup], in_force_since: InForceSince
) -> dict[str, _Said]:
    """Return, by key, what was said of those of these groups of which anything was."""
    own = groups.filter(key=OuterRef("key"))
    marks = DenialMark.objects.filter(cluster=cluster).annotate(last_at=Subquery(own.values("last_at")[:1]))
    found = [(mark, mark.last_at) for mark in marks if mark.last_at is not None]
    numbers = {
        mark.change for mark, _ in found if mark.state == State.BEING_FIXED and mark.change is not None
    }
    since = in_force_since(numbers) if numbers else {}
    return {
        mark.key: _Said(mark, state_of(mark, last_at, load.last_at or last_at, since))
        for mark, last_at in found
    }


def _ordered(
    groups: QuerySet[DenialGroup], said: Mapping[str, _Said], wanted: Wanted
) -> QuerySet[DenialGroup]:
    """Return the groups in the state asked for, or all with the open ones first, in the order asked for."""
    closed = [key for key, each in said.items() if each.state not in _OPEN]
    return (
        _in_state(groups, said, wanted.state)
        .annotate(
            weight=F("in_window") + (LAST_DAY_COUNTS - 1) * F("lines_1"),
            is_closed=Case(When(key__in=closed, then=1), default=0) if closed else Value(0),
        )
        .order_by("is_closed", f"-{SORTS[wanted.sort]}", "key")
    )


def _in_state(groups: QuerySet[DenialGroup], said: Mapping[str, _Said], wanted: str) -> QuerySet[DenialGroup]:
    if not wanted:
        return groups
    if wanted == State.NEW:
        return groups.exclude(key__in=[key for key, each in said.items() if each.state != State.NEW])
    return groups.filter(key__in=[key for key, each in said.items() if each.state == wanted])


def _rows(
    now: ClusterView,
    ordered: QuerySet[DenialGroup],
    said: Mapping[str, _Said],
    window: Sequence[str],
    start: int,
    stop: int,
) -> tuple[Denial, ...]:
    return tuple(_row(group, said.get(group.key), window, now) for group in ordered[start:stop])


def _row(group: Any, said: _Said | None, window: Sequence[str], now: ClusterView) -> Denial:
    resource = Resource(ResourceType[group.resource_type], group.resource_name)
    operation = Operation[group.operation]
    decision, cause = judged(group, now)
    of_day: dict[str, int] = dict(group.days)
    return Denial(
        key=group.key,
        principal=group.principal,
        operation=operation,
        resource=resource,
        state=said.state if said else State.NEW,
        mark=said.mark if said else None,
        lines=group.in_window,
        last_day=group.lines_1,
        hosts=group.hosts,
        latest_host=group.latest_host,
        first_at=group.first_at,
        last_at=group.last_at,
        days=tuple((day, of_day.get(day, 0)) for day in window),
        burst=Burst(group.burst_day, group.burst_lines, group.burst_usual) if group.has_burst else None,
        decision=decision,
        cause=cause,
    )
