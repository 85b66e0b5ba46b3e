"""Which denials does the log hold, in groups that people work through, and what has been said of each group?

The state of a group is what a person has set for it, kept by cluster, principal, operation and resource, so it
survives the next load. A fixed group that is denied again is new, and so is one that was ignored until a past day.
A group of which nobody said anything is fixed after a week without a denial, where the log can tell (see `quiet`).

Groups of one principal, operation, resource type, state and cause are folded to one row, as long as every cause is
known; a row of a fold has the figures of all of them, and is opened as the list of them.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

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
    When,
)
from django.db.models.functions import Coalesce

from aclweb.acl.authorizer import Decision
from aclweb.acl.logged import Cause, Used
from aclweb.acl.model import AccessRequest, Operation, Resource, ResourceType, computed_once
from aclweb.insights.current import current_load, current_loads
from aclweb.insights.denial_bursts import Burst
from aclweb.insights.denial_causes import Causes, cause_of, causes_of, decision_of, request_of
from aclweb.insights.denial_groups import WINDOWS
from aclweb.insights.denial_marks import settled, state_of, with_state
from aclweb.insights.models import DenialGroup, DenialMark, Load
from aclweb.insights.requests import (
    answers_by_day,
    days_of,
    principal_key,
    requests_of,
    resource_key,
)
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.lists import LazyRows, OwnerBook, may_be_short, short_key, with_key_like
from aclweb.inventory.models import Cluster, OwnedNames

State = DenialMark.State

USUAL_DAYS = 14
"""Days of the log whose denials are listed unless somebody asks otherwise, and counted beside the word Denials."""

MOST_TOGETHER = 200
"""So many groups may be chosen together."""

MOST_REQUESTS = 5_000
"""So many denied requests of them are looked at, those with most denials first."""

LAST_DAY_COUNTS = 10
"""The weight of a group is its denials, those of the last day of the log counted so many times."""

SORTS = {"weight": "weight", "times": "in_window", "latest": "last_at"}
_OPEN = (State.NEW, State.BEING_FIXED)
_EXPORTED_AT_ONCE = 500
_MOST_HOSTS = 500
_DRAWN = 40
"""The days of a fold are those of so many of its groups, the ones with most denials."""
_ROWS_AT_ONCE = 1_000

EXPORTED = (
    "state",
    "owner",
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

    state: one of State, "" for all, open ones first. cause: the kind of a Cause, "" for all. owner: of principals, ""
    for those that nobody is said to own, None for all. bursts: those with a burst alone. days: a number of WINDOWS up
    to the last day of the log, 0 for the whole log. sort: one of SORTS. closed: whether those that are expected, fixed
    or ignored are listed among all. folds: whether groups that are alike but for their name are one row. like: the key
    of a group, or its beginning, for those alone that are alike.
    """

    state: str = ""
    cause: str = ""
    owner: str | None = None
    bursts: bool = False
    days: int = 0
    sort: str = "weight"
    closed: bool = True
    folds: bool = False
    like: str = ""

    @property
    def narrows(self) -> bool:
        """Whether it leaves out groups of any state."""
        return bool(self.cause) or self.owner is not None or self.bursts or bool(self.like)


EVERYTHING = Wanted()


@dataclass(frozen=True)
class Denial:
    """What one principal was denied on one resource, from all hosts together.

    state: one of State. mark: what was said of it last, which may be out of date: see `state`.
    lines: in the window asked for; last_day: on the last day of the log. hosts: how many.
    days: (day, lines) for each day of the window, none left out. burst: the latest one of the window.
    request: the latest one; now: what is in force, and answers it. owner: of the principal, "" for nobody.
    quiet_days: how many days of the log passed since its last denial, where that alone is why it is fixed.
    brokers: who wrote it, how often in the whole log, and when last; empty where the load does not tell.
    names: how many groups are folded to this one, itself included; the figures are then those of all of them.
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
    request: AccessRequest
    now: ClusterView = field(repr=False, compare=False)
    cause: Cause
    owner: str = ""
    quiet_days: int = 0
    names: int = 1
    brokers: tuple[tuple[str, int, str], ...] = ()

    @computed_once
    def decision(self) -> Decision:
        """What the ACLs in force say to the latest of these requests."""
        return decision_of(self.request, self.now)

    @property
    def short_key(self) -> str:
        """The beginning of its key, by which an address names it."""
        return short_key(self.key)

    @property
    def last_broker(self) -> str:
        """Who wrote the last record; empty where the load does not tell."""
        return max(self.brokers, key=lambda each: (each[2], each[0]), default=("", 0, ""))[0]

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
    group: returns the one with a key, or with its beginning, also where it is not among these, with its denials of the
    whole log; empty where the log has none; one query.
    """

    load: Load | None
    rows: Sequence[Denial]
    counts: Mapping[str, int]
    lines: int = 0
    new_lines: int = 0
    principals: int = 0
    last_day: int = 0
    day_before: int | None = None
    shown: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)
    owners: Mapping[str, int] = field(default_factory=dict)
    new_causes: Mapping[str, int] = field(default_factory=dict)
    bursts: int = 0
    all_judged: bool = True
    folded: int = 0
    closed: Mapping[str, int] = field(default_factory=dict)
    closed_lines: int = 0
    group: Callable[[str], tuple[Denial, ...]] = field(default=lambda _: (), repr=False, compare=False)

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


def inbox(
    cluster: Cluster,
    wanted: Wanted = EVERYTHING,
    *,
    in_force_since: InForceSince,
    just_read: bool = False,
) -> Inbox:
    """Return the groups of denials; four queries, and two for each page of rows.

    Where not all groups are judged, one more, and one for each filter.

    What is known of the groups with most denials is worked out once for a load and the ACLs in force. just_read: as in
    `in_force`; then one query less.
    """
    load = current_load(cluster)
    if load is None:
        return Inbox(None, (), {})
    groups = groups_of(load, wanted.days)
    states = states_of(cluster, load, groups_of(load, 0), in_force_since)
    now = in_force(cluster, just_read=just_read)
    causes = causes_of(load, now)
    rows_known = _narrow_rows(load, causes, wanted.days, states)
    sums = _added(rows_known, causes) if causes.whole else _summed(groups, states)
    owners = OwnerBook(cluster, OwnedNames.Kind.PRINCIPAL.value)
    found = _sifted(groups, rows_known, states, causes, owners, wanted)
    shown = found.shown if causes.whole else sums.counts
    known = (now, owners, states, days_of(load, wanted.days))
    rows: Sequence[Denial]
    if causes.whole:
        rows = LazyRows(len(found.folds), partial(_folded_rows, groups, found.folds, partial(_row, *known)))
    else:
        chosen = _chosen(groups, causes, owners, wanted)
        shown = _counts(chosen.aggregate(**states.counts())) if wanted.narrows else sums.counts
        listed = _ordered(chosen, states, wanted)
        number = shown[wanted.state] if wanted.state else sum(shown.values())
        if not (wanted.state or wanted.closed):
            listed, number = listed.filter(is_closed=0), sum(shown[state] for state in _OPEN)
        rows = LazyRows(number, partial(_rows, *known, listed))
    return Inbox(
        load=load,
        rows=rows,
        counts=sums.counts,
        lines=sums.lines,
        new_lines=sums.new_lines,
        principals=sums.principals,
        last_day=sums.last_day,
        day_before=sums.day_before,
        shown=shown,
        causes=found.causes,
        owners=found.owners,
        new_causes=found.new_causes,
        bursts=found.bursts,
        all_judged=causes.whole,
        folded=found.folded if causes.whole else len(rows),
        closed={state: number for state, number in shown.items() if number and state not in _OPEN}
        if not (wanted.state or wanted.closed)
        else {},
        closed_lines=found.closed_lines,
        group=partial(_with_key, load, known),
    )


def _with_key(load: Load, known: _Known, key: str) -> tuple[Denial, ...]:
    # No database looks for every text, such as one with a NUL.
    found = _rows(*known, groups_of(load, 0).filter(with_key_like(key)), 0, 2) if may_be_short(key) else ()
    return found if len(found) == 1 else ()


def new_count(cluster: Cluster, load: Load, *, days: int, in_force_since: InForceSince) -> int:
    """Return how many groups of the window are new; two queries."""
    groups = groups_of(load, days)
    return groups.filter(states_of(cluster, load, groups, in_force_since).q(State.NEW)).count()


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
    stirs = Q(lines_7__gt=0) | Q(load__tells_quiet=False) | Exists(marks.filter(state=State.NEW))
    return DenialGroup.objects.filter(stirs, load=Subquery(newest), **{f"{column}__gt": 0}).exclude(
        Exists(settled(marks, last_at=OuterRef("last_at"), applied_at=applied_at))
    )


def denial(cluster: Cluster, key: str, *, in_force_since: InForceSince) -> Denial | None:
    """Return one group by its key, or by its beginning; None where the log has none."""
    load = current_load(cluster)
    if load is None:
        return None
    states = states_of(cluster, load, groups_of(load, 0), in_force_since)
    owners = OwnerBook(cluster, OwnedNames.Kind.PRINCIPAL.value)
    return next(iter(_with_key(load, (in_force(cluster), owners, states, days_of(load, 0)), key)), None)


def with_keys(
    cluster: Cluster, keys: Collection[str], *, like: Collection[str] = (), in_force_since: InForceSince
) -> tuple[Denial, ...]:
    """Return the groups with these keys, and those that are folded with a group in `like`, at most MOST_TOGETHER.

    keys, like: each whole, or as short as `Denial.short_key`. Those with most denials first; nine queries at most. Of
    keys that the log does not have there is no group.
    """
    load = current_load(cluster)
    if load is None:
        return ()
    now = in_force(cluster)
    groups = groups_of(load, 0)
    states = states_of(cluster, load, groups, in_force_since)
    # No database looks for every text, such as one with a NUL.
    wanted, alike = ({key for key in given if may_be_short(key)} for given in (keys, like))
    if alike:
        causes = causes_of(load, now)
        rows = _narrow_rows(load, causes, 0, states)
        places = {_place(causes, row) for row in rows if not alike.isdisjoint((row.key, short_key(row.key)))}
        wanted |= {row.key for row in rows if _place(causes, row) in places}
    owners = OwnerBook(cluster, OwnedNames.Kind.PRINCIPAL.value)
    found = groups.filter(_with_keys(wanted)).order_by("-lines", "key")
    shown = _rows(now, owners, states, days_of(load, 0), found, 0, MOST_TOGETHER)
    begun = Counter(each.short_key for each in shown)
    return tuple(each for each in shown if each.key in wanted or begun[each.short_key] == 1)


def _with_keys(keys: Collection[str]) -> Q:
    """Return the filter for groups with these keys; of short ones, at most MOST_TOGETHER, as SQLite takes them."""
    whole = [key for key in keys if short_key(key) != key]
    found = Q(key__in=whole)
    for key in sorted({*keys} - {*whole})[:MOST_TOGETHER]:
        found |= with_key_like(key)
    return found


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
    states = states_of(cluster, load, groups, in_force_since)
    owners = OwnerBook(cluster, OwnedNames.Kind.PRINCIPAL.value)
    group: Any  # with the annotations of the query
    for group in _ordered(_stormy(groups, wanted), states, wanted).iterator(_EXPORTED_AT_ONCE):
        cause = cause_of(request_of(group), now).kind
        owner = _owner(owners, group.principal)
        if wanted.cause not in ("", cause) or wanted.owner not in (None, owner):
            continue
        known = states.said.get(group.key)
        mark = known.mark if known else None
        values = (
            states.of(group.key, group.lines_7),
            owner,
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


def requests_denied(cluster: Cluster, found: Sequence[Denial]) -> tuple[Load | None, tuple[Used, ...]]:
    """Return the denied requests of these groups, one of each host, at most MOST_REQUESTS; two queries."""
    load = current_load(cluster)
    if load is None or not found:
        return load, ()
    wanted = {(each.principal, each.operation, each.resource) for each in found}
    rows = requests_of(load).filter(
        request__cluster=load.cluster_id,
        request__principal_key__in={principal_key(principal) for principal, _, _ in wanted},
        request__resource_key__in={
            resource_key(resource.resource_type.name, resource.name) for _, _, resource in wanted
        },
        request__allowed=False,
    )
    columns = (
        "request__principal",
        "request__host",
        "request__operation",
        "request__resource_type",
        "request__resource_name",
    )
    denied = []
    # Keys of principals and resources lead to requests of other pairs of them too.
    for *names, lines in rows.order_by("-lines", "request").values_list(*columns, "lines")[:MOST_REQUESTS]:
        principal, host, operation, kind, name = names
        request = AccessRequest(principal, host, Operation[operation], ResourceType[kind], name)
        if (principal, request.operation, request.resource) in wanted:
            denied.append(Used(request, lines))
    return load, tuple(denied)


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
    return denials_in(load, cluster, resource=resource, principal=principal, in_force_since=in_force_since)


def denials_in(
    load: Load,
    cluster: Cluster,
    *,
    resource: Resource | None = None,
    principal: str | None = None,
    in_force_since: InForceSince,
    number: int | None = None,
    just_read: bool = False,
) -> Sequence[Denial]:
    """Return the same of one load. number: how many there are, where the caller knows. just_read: as in `in_force`."""
    groups = _about(groups_of(load, 0), resource, principal)
    states = states_of(cluster, load, groups, in_force_since)
    window = days_of(load, 0)
    now = in_force(cluster, just_read=just_read)
    made = partial(_rows, now, None, states, window, groups.order_by("-last_at", "key"))
    return LazyRows(groups.count() if number is None else number, made)


def load_with_denials(
    cluster: Cluster, *, resource: Resource | None = None, principal: str | None = None
) -> tuple[Load | None, int]:
    """Return the current load and how many groups of denials it holds: see `denials_of`; one query."""
    groups = _about(DenialGroup.objects.filter(load=OuterRef("pk"), lines__gt=0), resource, principal)
    number = groups.order_by().values("load").annotate(number=Count("pk")).values("number")
    load = current_loads(cluster).annotate(denials_on=Coalesce(Subquery(number), 0)).first()
    return load, load.denials_on if load is not None else 0


def detail(load: Load, found: Denial) -> Detail:
    """Return what the log holds about the requests of one group, denied or permitted; two queries.

    Of all records only the newest is read.
    """
    rows = requests_of(load, resource=found.resource, principal=found.principal)
    rows = rows.filter(request__operation=found.operation.name)
    hosts: dict[str, dict[bool, int]] = defaultdict(lambda: {False: 0, True: 0})
    numbers: dict[bool, list[int]] = {False: [], True: []}
    api_names: set[str] = set()
    newest = rows.filter(request__allowed=False).order_by("-last_at", "-pk").values("pk")[:1]
    is_newest = When(pk=Subquery(newest), then=F("sample"))
    with_record = rows.annotate(record=Case(is_newest, default=None, output_field=KafkaTextField()))
    sample, sample_at = "", None
    columns = ("request", "request__host", "request__allowed", "lines", "last_at", "api_names", "record")
    for number, host, allowed, lines, last_at, names, record in with_record.values_list(*columns).iterator(
        _ROWS_AT_ONCE
    ):
        hosts[host][allowed] += lines
        numbers[allowed].append(number)
        if not allowed:
            api_names.update(names)
        if record is not None:
            sample, sample_at = record, last_at
    by_day = answers_by_day(load, permitted=numbers[True], denied=numbers[False])
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
        sample=sample,
        sample_at=sample_at,
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


def _about(
    groups: QuerySet[DenialGroup], resource: Resource | None, principal: str | None
) -> QuerySet[DenialGroup]:
    """Return the groups on one resource, of one principal, or both."""
    if resource is not None:
        groups = groups.filter(resource_type=resource.resource_type.name, resource_name=resource.name)
    return groups if principal is None else groups.filter(principal=principal)


def _stormy(groups: Any, wanted: Wanted) -> QuerySet[DenialGroup]:
    """Return the groups with a burst alone where these are asked for."""
    chosen: QuerySet[DenialGroup] = groups.filter(has_burst=True) if wanted.bursts else groups
    return chosen


def _chosen(groups: Any, causes: Causes, owners: OwnerBook, wanted: Wanted) -> QuerySet[DenialGroup]:
    """Return the groups with the cause and the owner that are asked for, and those with a burst alone where these are.

    Of a cause or an owner only groups with a known cause.
    """
    chosen = _stormy(groups, wanted)
    if wanted.cause:
        chosen = chosen.filter(key__in=[key for key, kind in causes.kinds.items() if kind == wanted.cause])
    if wanted.owner is not None:
        own = [key for key, names in causes.names.items() if _owner(owners, names[0]) == wanted.owner]
        chosen = chosen.filter(key__in=own)
    return chosen


def _owner(owners: OwnerBook | None, principal: str) -> str:
    """Return who is said to own a principal, "" for nobody."""
    found = owners.of(OwnedNames.Kind.PRINCIPAL.value, principal) if owners is not None else None
    return found.owner if found else ""


_Known = tuple[ClusterView, OwnerBook | None, "States", Sequence[str]]
"""What is in force, whose principals are, in which states groups are, and the days that are drawn."""


class _Narrow(NamedTuple):
    """What is known of each group of a window. lines: of the window. before: of the day before the last one."""

    key: str
    state: str
    has_burst: bool
    lines: int
    last_day: int
    last_at: datetime
    before: int | None


@dataclass(frozen=True)
class _Sums:
    """What all groups of a window add up to: see Inbox."""

    counts: Mapping[str, int]
    lines: int
    new_lines: int
    principals: int
    last_day: int
    day_before: int | None


def _added(rows: Sequence[_Narrow], causes: Causes) -> _Sums:
    before = [row.before for row in rows]
    told = [each for each in before if each is not None]
    return _Sums(
        dict.fromkeys(State.values, 0) | Counter(row.state for row in rows),
        lines=sum(row.lines for row in rows),
        new_lines=sum(row.lines for row in rows if row.state == State.NEW),
        principals=len({causes.names[row.key][0] for row in rows}),
        last_day=sum(row.last_day for row in rows),
        day_before=sum(told) if len(told) == len(before) else None,
    )


def _summed(groups: Any, states: States) -> _Sums:
    found = groups.aggregate(
        **states.counts(),
        lines=Coalesce(Sum("in_window"), 0),
        new_lines=Coalesce(Sum("in_window", filter=states.q(State.NEW)), 0),
        last_day=Coalesce(Sum("lines_1"), 0),
        day_before=Coalesce(Sum("lines_before"), 0),
        untold=Count("pk", filter=Q(lines_before=None)),
        principals=Count("principal", distinct=True),
    )
    return _Sums(
        _counts(found),
        found["lines"],
        found["new_lines"],
        found["principals"],
        found["last_day"],
        None if found["untold"] else found["day_before"],
    )


def _counts(found: Mapping[str, int]) -> dict[str, int]:
    """Return how many groups are in each state, of the answer to `States.counts`."""
    return {state: found[state.replace("-", "_")] for state in State.values}


def _narrow_rows(load: Load, causes: Causes, days: int, states: States) -> list[_Narrow]:
    """Return what is known of the groups with a known cause; as `groups_of` has them, and no query."""
    lines_of = attrgetter(f"lines_{days}" if days in WINDOWS else "lines")
    since = load.last_at.date() - timedelta(days=days) if days in WINDOWS and load.last_at else date.min
    return [
        _Narrow(
            each.key,
            states.of(each.key, each.lines_7),
            each.burst_day is not None and each.burst_day > since,
            lines,
            each.lines_1,
            each.last_at,
            each.lines_before,
        )
        for each in causes.figures
        if (lines := lines_of(each)) > 0
    ]


_Place = tuple[str, str, str, str, str]


def _place(causes: Causes, row: _Narrow) -> _Place:
    """Return what all groups of a fold have alike."""
    return (*causes.names[row.key], causes.kinds[row.key], row.state)


@dataclass(frozen=True)
class _Fold:
    """Groups that are one row: their keys, the one that stands for them first, and their figures together."""

    keys: tuple[str, ...]
    lines: int
    last_day: int


@dataclass(frozen=True)
class _Sifted:
    """What is known of the groups with a known cause, one by one: see Inbox."""

    folds: tuple[_Fold, ...]
    folded: int
    shown: Mapping[str, int]
    causes: Mapping[str, int]
    owners: Mapping[str, int]
    new_causes: Mapping[str, int]
    bursts: int
    closed_lines: int


def _sifted(
    groups: Any,
    rows: Sequence[_Narrow],
    states: States,
    causes: Causes,
    owners: OwnerBook,
    wanted: Wanted,
) -> _Sifted:
    """Return what is known of these groups with a known cause; no query where every cause is known."""
    owner_of = {
        principal: _owner(owners, principal) for principal in {name for name, *_ in causes.names.values()}
    }
    like = next(
        (_place(causes, row) for row in rows if wanted.like in (row.key, short_key(row.key))),
        None,
    )
    shown = dict.fromkeys(State.values, 0)
    kinds, of_owner, new_causes = Counter[str](), Counter[str](), Counter[str]()
    bursts = closed_lines = 0
    listed: dict[_Place | str, list[_Narrow]] = defaultdict(list)
    any_cause, any_owner, any_burst = not wanted.cause, wanted.owner is None, not wanted.bursts
    folds = wanted.folds and not wanted.like
    leaves_out_closed = not (wanted.state or wanted.closed)
    for row in rows:
        key, state = row.key, row.state
        kind, owner = causes.kinds[key], owner_of[causes.names[key][0]]
        if state == State.NEW:
            new_causes[kind] += 1
        if wanted.like and (like is None or _place(causes, row) != like):
            continue
        of_cause = any_cause or kind == wanted.cause
        of_its_owner = any_owner or owner == wanted.owner
        in_burst = any_burst or row.has_burst
        fits = of_cause and of_its_owner and in_burst
        shown[state] += fits
        if wanted.state not in ("", state):
            continue
        kinds[kind] += of_its_owner and in_burst
        of_owner[owner] += of_cause and in_burst
        bursts += row.has_burst and of_cause and of_its_owner
        if not fits:
            continue
        if leaves_out_closed and state not in _OPEN:
            closed_lines += row.lines
            continue
        listed[_place(causes, row) if folds else key].append(row)
    if not (wanted.cause or wanted.owner is not None or causes.whole):
        bursts = groups.filter(states.q(wanted.state), has_burst=True).count()
    found = tuple(_folds(listed.values(), wanted)) if causes.whole else ()
    return _Sifted(
        folds=found,
        folded=sum(len(fold.keys) for fold in found),
        shown=shown,
        causes=dict((+kinds).most_common()),
        owners=dict(sorted((+of_owner).items())),
        new_causes=dict(new_causes.most_common()),
        bursts=bursts,
        closed_lines=closed_lines,
    )


def _folds(listed: Iterable[list[_Narrow]], wanted: Wanted) -> Iterator[_Fold]:
    """Yield the rows of a list in its order."""
    sorted_by: list[tuple[bool, float, str, _Fold]] = []
    for rows in listed:
        if len(rows) > 1:
            rows.sort(key=lambda row: (-_weight(row.lines, row.last_day), row.key))
        lines, last_day = sum([row.lines for row in rows]), sum([row.last_day for row in rows])
        if wanted.sort == "latest":
            rank = max(row.last_at for row in rows).timestamp()
        else:
            rank = float(lines if wanted.sort == "times" else _weight(lines, last_day))
        fold = _Fold(tuple([row.key for row in rows]), lines, last_day)
        sorted_by.append((rows[0].state not in _OPEN, -rank, fold.keys[0], fold))
    yield from (fold for *_, fold in sorted(sorted_by, key=lambda each: each[:3]))


def _weight(lines: int, last_day: int) -> int:
    return lines + (LAST_DAY_COUNTS - 1) * last_day


def _folded_rows(
    groups: Any, folds: Sequence[_Fold], make: Callable[[Any], Denial], start: int, stop: int
) -> tuple[Denial, ...]:
    """Return rows of a list of folds; one query, and one for the days of others that are folded with them."""
    shown = folds[start:stop]
    found = {group.key: group for group in groups.filter(key__in=[fold.keys[0] for fold in shown])}
    others = [key for fold in shown for key in fold.keys[1:_DRAWN]]
    drawn = dict(groups.filter(key__in=others).values_list("key", "days")) if others else {}
    return tuple(
        _with_others(make(found[fold.keys[0]]), fold, drawn) for fold in shown if fold.keys[0] in found
    )


def _with_others(first: Denial, fold: _Fold, drawn: Mapping[str, list[list[Any]]]) -> Denial:
    if len(fold.keys) == 1:
        return first
    of_day = Counter(dict(first.days))
    for key in fold.keys[1:_DRAWN]:
        for day, lines in drawn.get(key, ()):
            of_day[day] += lines
    days = tuple((day, of_day[day]) for day, _ in first.days)
    return replace(first, days=days, lines=fold.lines, last_day=fold.last_day, names=len(fold.keys))


@dataclass(frozen=True)
class _Said:
    """What a person said of a group that the log holds, and its state today."""

    mark: DenialMark
    state: str


@dataclass(frozen=True)
class States:
    """The state of each group of a load.

    said: what people said, by key. tells_quiet: of the load. marks: for a query of groups, those of each of them, with
    its state as `state_now`.
    """

    said: Mapping[str, _Said]
    tells_quiet: bool
    marks: Any

    def of(self, key: str, lines_7: int) -> str:
        """Return the state of a group, by its key and its denials of the last week of the log."""
        said = self.said.get(key)
        if said is not None:
            return said.state
        return State.FIXED if self.tells_quiet and not lines_7 else State.NEW

    def q(self, state: str) -> Q:
        """Return which groups are in a state, "" for any."""
        if not state:
            return Q()
        # The database looks the marks up: of so many keys no statement could hold each.
        is_said = any(each.state == state for each in self.said.values())
        told = Q(Exists(self.marks.filter(state_now=state))) if is_said else Q(pk__in=())
        if state not in (State.NEW, State.FIXED):
            return told
        untold = ~Q(Exists(self.marks)) if self.said else Q()
        if self.tells_quiet:
            untold &= Q(lines_7__gt=0) if state == State.NEW else Q(lines_7=0)
        elif state == State.FIXED:
            return told
        return told | untold if is_said else untold

    def counts(self) -> dict[str, Count]:
        """Return how many groups are in each state, as expressions of one query."""
        return {state.replace("-", "_"): Count("pk", filter=self.q(state)) for state in State.values}


def states_of(
    cluster: Cluster, load: Load, groups: QuerySet[DenialGroup], in_force_since: InForceSince
) -> States:
    """Return the states of these groups; a query, and another one where changes are meant to fix some."""
    own = groups.filter(key=OuterRef("key"))
    marks = DenialMark.objects.filter(cluster=cluster).annotate(
        last_at=Subquery(own.values("last_at")[:1]), lines_7=Subquery(own.values("lines_7")[:1])
    )
    found = [(mark, mark.last_at, mark.lines_7) for mark in marks if mark.last_at is not None]
    numbers = {
        mark.change for mark, *_ in found if mark.state == State.BEING_FIXED and mark.change is not None
    }
    since = in_force_since(numbers) if numbers else {}
    said = {
        mark.key: _Said(
            mark,
            state_of(
                mark,
                last_at,
                load.last_at or last_at,
                since,
                is_quiet=load.tells_quiet and not lines_7,
            ),
        )
        for mark, last_at, lines_7 in found
    }
    of_each = with_state(
        DenialMark.objects.filter(cluster=cluster, key=OuterRef("key")),
        since,
        last_at=OuterRef("last_at"),
        lines_7=OuterRef("lines_7"),
        log_end=load.last_at,
        tells_quiet=load.tells_quiet,
    )
    return States(said, load.tells_quiet, of_each)


def _ordered(groups: QuerySet[DenialGroup], states: States, wanted: Wanted) -> Any:
    """Return the groups in the state asked for, or all with the open ones first, in the order asked for."""
    is_open = states.q(State.NEW) | states.q(State.BEING_FIXED)
    return (
        groups.filter(states.q(wanted.state))
        .annotate(
            weight=F("in_window") + (LAST_DAY_COUNTS - 1) * F("lines_1"),
            is_closed=Case(When(is_open, then=0), default=1),
        )
        .order_by("is_closed", f"-{SORTS[wanted.sort]}", "key")
    )


def _rows(
    now: ClusterView,
    owners: OwnerBook | None,
    states: States,
    window: Sequence[str],
    ordered: QuerySet[DenialGroup],
    start: int,
    stop: int,
) -> tuple[Denial, ...]:
    return tuple(_row(now, owners, states, window, group) for group in ordered[start:stop])


def _row(
    now: ClusterView, owners: OwnerBook | None, states: States, window: Sequence[str], group: Any
) -> Denial:
    resource = Resource(ResourceType[group.resource_type], group.resource_name)
    operation = Operation[group.operation]
    request = request_of(group)
    of_day: dict[str, int] = dict(group.days)
    said = states.said.get(group.key)
    state = states.of(group.key, group.lines_7)
    is_quiet = state == State.FIXED and states.tells_quiet and not group.lines_7
    return Denial(
        key=group.key,
        principal=group.principal,
        operation=operation,
        resource=resource,
        state=state,
        mark=said.mark if said else None,
        lines=group.in_window,
        last_day=group.lines_1,
        hosts=group.hosts,
        latest_host=group.latest_host,
        first_at=group.first_at,
        last_at=group.last_at,
        days=tuple((day, of_day.get(day, 0)) for day in window),
        burst=Burst(group.burst_day, group.burst_lines, group.burst_usual) if group.has_burst else None,
        request=request,
        now=now,
        cause=cause_of(request, now),
        owner=_owner(owners, group.principal),
        brokers=tuple((broker, lines, last) for broker, lines, last in group.brokers),
        quiet_days=(date.fromisoformat(window[-1]) - group.last_at.date()).days
        if is_quiet and window and (said is None or said.mark.state != State.FIXED)
        else 0,
    )
