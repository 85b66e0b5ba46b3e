"""What would the requests of the log be answered with other ACLs?

Each distinct request that brokers logged and that an edit may turn is decided twice, by the ACLs before and after it,
with the code that answers every other question. What a log does not hold it cannot bring back: without permits
nobody can tell whom an edit would stop, and a number is "at least" wherever an hour may be missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from sys import intern
from typing import Any

from django.db.models import Count, Q, Sum

from aclweb.acl.authorizer import AclIndex, Result, decide, may_turn
from aclweb.acl.matching import matching_of
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    Resource,
    ResourcePattern,
    ResourceType,
    number_of,
)
from aclweb.insights.kept import KeptOfLoads
from aclweb.insights.models import Load
from aclweb.insights.requests import principal_key, resource_key
from aclweb.insights.window import Window
from aclweb.inventory.fields import as_stored, time_stored, unescape

MOST_REQUESTS = 50_000
"""So many distinct requests are decided again while somebody waits; about a second of one core."""

_MOST_PATTERNS = 50  # of one query; with more, every request of their resource types is looked at
_MOST_PRINCIPALS = 50  # of one query; requests of others are read and then put aside
_FEW_ACLS = 1_000  # of larger edits every request is read
_FEW_RESOURCES = 50  # for so many, the ACLs on them are looked up; for more, all are filed anew


SAMPLES = 3
"""So many requests of a row are kept as examples, those that were logged most often."""


@dataclass(frozen=True)
class Sample:
    """One request of the log.

    lines: how often it was logged in the days of the replay. last_at: on the brokers' clocks.
    """

    operation: Operation
    resource: Resource
    host: str
    lines: int
    last_at: datetime


@dataclass(frozen=True)
class Flip:
    """Requests of one principal for one operation on one resource whose answer would turn, from all hosts together.

    lines: how often they were logged, in the days of the replay. hosts are sorted. The times are the brokers' own;
    first_at is that of the whole log. requests: the numbers of these LoggedRequests, those with most lines first.
    samples: SAMPLES of them at most, in that order.
    """

    principal: str
    operation: Operation
    resource: Resource
    before: Result
    after: Result
    hosts: tuple[str, ...]
    lines: int
    first_at: datetime
    last_at: datetime
    requests: tuple[int, ...]
    samples: tuple[Sample, ...] = ()

    @property
    def change(self) -> str:
        """Its kind, in the words of an impact: `loses`, `gains` or `depends`."""
        if Result.UNDECIDED in (self.before, self.after):
            return "depends"
        return "loses" if self.after is Result.DENIED else "gains"


@dataclass(frozen=True)
class Replay:
    """The requests of one log, answered before and after an edit.

    denied, allowed, unclear: whose answer would turn from allowed to denied, from denied to allowed, or to or from one
    that the ACLs alone do not give; the most lines first. lines: logged decisions in all. unparsed: lines of the
    log that cannot be replayed. left_out: distinct requests that were not decided again, for their number. why_not:
    why the log does not hold all permits; empty where it does. permits_seen: whether it holds any. takes_away:
    whether the edit could deny anything at all; if not, permits do not matter. load: its number. days: of the window,
    whole days counted back from the log's last; None for the whole log. days_asked: those that were asked for, which
    a log whose records have no time cannot give.
    """

    denied: tuple[Flip, ...]
    allowed: tuple[Flip, ...]
    unclear: tuple[Flip, ...]
    lines: int
    unparsed: int
    left_out: int
    first_at: datetime | None
    last_at: datetime | None
    permits_seen: bool
    why_not: str
    takes_away: bool
    load: int
    days: int | None = None
    days_asked: int | None = None

    @property
    def unchanged(self) -> int:
        """Lines whose answer stays; at most, if some were left out."""
        return self.lines - sum(flip.lines for flip in self.flips)

    @property
    def denied_lines(self) -> int:
        return sum(flip.lines for flip in self.denied)

    @property
    def allowed_lines(self) -> int:
        return sum(flip.lines for flip in self.allowed)

    @property
    def flips(self) -> tuple[Flip, ...]:
        """All of them, those that would be denied first."""
        return (*self.denied, *self.allowed, *self.unclear)

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are all that happened, and not only what is known of it."""
        return not ((self.why_not and self.takes_away) or self.left_out or self.unparsed)

    @property
    def is_blind(self) -> bool:
        """Whether the log cannot show what the edit would deny."""
        return self.takes_away and not self.permits_seen

    @property
    def weight(self) -> int:
        """About how many bytes this takes."""
        return 1_000 + sum(1_000 + 300 * len(flip.samples) + 40 * len(flip.requests) for flip in self.flips)

    @property
    def sentence(self) -> str:
        """The answer, as far as the log can give it."""
        parts = [
            f"{_counted(flips)} would be {words}"
            for flips, words in (
                (self.denied, "newly refused"),
                (self.allowed, "newly allowed"),
                (self.unclear, "decided by what the ACLs alone do not say"),
            )
            if flips
        ]
        if parts:
            return f"{'' if self.is_whole else 'At least '}{'; '.join(parts)}."
        if self.is_blind:
            return "Cannot tell whether anything that is in use would be refused."
        limit = "" if self.is_whole else ", as far as it goes"
        return f"No request of {self._span} would be answered otherwise{limit}."

    @property
    def _span(self) -> str:
        return "the log" if self.days is None else f"the last {self.days} days of the log"

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is missing, a sentence each."""
        found = []
        if self.days != self.days_asked:
            found.append("The records of this log have no time, so all of it is replayed.")
        if self.is_blind:
            found.append(
                f"{self._span.capitalize()} {'holds' if self.days is None else 'hold'} no permits, "
                "so it does not show what is in use. "
                "Brokers write them when the logger kafka.authorizer.logger is set to DEBUG."
            )
        elif self.why_not and self.takes_away:
            found.append(f"More may have happened: {self.why_not}.")
        elif self.why_not:
            found.append("The log may lack permits, which does not matter here: this takes nothing away.")
        if self.left_out:
            found.append(
                f"The {MOST_REQUESTS:,} requests that were logged most often were decided again; "
                f"{number_of(self.left_out, 'other was', 'others were')} not."
            )
        if self.unparsed:
            found.append(
                f"{number_of(self.unparsed, 'line', 'lines')} of the {'log' if self.days is None else 'whole log'} "
                f"could not be understood, "
                f"so {'it was' if self.unparsed == 1 else 'they were'} not replayed."
            )
        return tuple(found)


def replay(
    load: Load,
    delta: Delta,
    index: AclIndex,
    settings: AuthorizerSettings,
    settings_after: AuthorizerSettings | None = None,
    *,
    index_after: AclIndex | None = None,
    takes_away: bool = True,
    days: int | None = None,
) -> Replay:
    """Return what the requests of a load would be answered after `delta`.

    index: the ACLs before. settings_after: where these differ too. index_after: the ACLs after, where they are
    filed already. takes_away: False where it is known that the
    edit denies nothing. days: of WINDOWS; None for the whole log. Four queries, however long the log, a window or not,
    three where it has no more than MOST_REQUESTS, and one fewer where the log was replayed before.
    """
    after = settings_after or settings
    window = Window.of(load, days)
    seen = window.requests()
    lines, requests = _totals(window)
    same_settings = after == settings
    few = same_settings and len(delta.add) + len(delta.remove) <= _FEW_ACLS
    near = _may_match(delta) if few else Q()
    # A part of so few requests need not be counted.
    left_out = max(0, seen.filter(near).count() - MOST_REQUESTS) if requests > MOST_REQUESTS else 0
    theirs = _by_their_principals(delta, settings) if same_settings and not left_out else Q()
    if theirs or (few and _are_few(_patterns_of(delta))) or requests > MOST_REQUESTS:
        asked: Sequence[_Asked] = _read(window, near, theirs)
    else:
        asked = _all_of(window)
    is_filed = index_after is not None and len(delta.add) + len(delta.remove) > len(asked)
    if same_settings and not is_filed:  # to file an ACL takes about as long as to decide a request
        edited = AclIndex((*delta.add, *delta.remove))
        asked = [each for each in asked if may_turn(each.request, edited, settings)]
    old, new = (index, index_after) if index_after is not None else _both(asked, delta, index, settings)
    flips = _flips(asked, old, settings, new, after)
    return Replay(
        denied=tuple(flip for flip in flips if flip.change == "loses"),
        allowed=tuple(flip for flip in flips if flip.change == "gains"),
        unclear=tuple(flip for flip in flips if flip.change == "depends"),
        lines=lines,
        unparsed=load.lines_unparsed,
        left_out=left_out,
        first_at=window.first_at,
        last_at=load.last_at,
        permits_seen=window.permits_seen,
        why_not=window.why_not,
        takes_away=takes_away,
        load=load.pk,
        days=window.days,
        days_asked=days,
    )


def _totals(window: Window) -> tuple[int, int]:
    """Return how many lines and how many distinct requests a window has; one query, and none where they are kept."""
    known = _known_totals.get(window.load, window.days)
    if known is None:
        found = window.requests().aggregate(lines=Sum(window.column), requests=Count("pk"))
        known = (found["lines"] or 0, found["requests"])
        _known_totals.keep(window.load, known, window.days)
    return known


_known_totals: KeptOfLoads[tuple[int, int]] = KeptOfLoads(256)


def _read(window: Window, near: Q, theirs: Q) -> list[_Asked]:
    """Return the requests of a window that meet two conditions, those that were logged most often first; one query.

    theirs: by keys of principals, where there are any.
    """
    rows = window.requests(by_key=bool(theirs)).filter(near, theirs).order_by(f"-{window.column}", "request")
    return list(map(_Asked.of, rows.values_list(*_REQUEST, window.column, *_TIMES)[:MOST_REQUESTS]))


def _all_of(window: Window) -> Sequence[_Asked]:
    """Return all requests of a window in the same order, of which there are few enough; from memory where kept."""
    known = _logs.get(window.load, window.days)
    if known is None:
        known = tuple(_read(window, Q(), Q()))
        if _weight(known) <= MOST_REQUESTS:
            _logs.keep(window.load, known, window.days)
    return known


def _weight(log: Iterable[_Asked]) -> int:
    """Return as how many requests these count in memory: clients write names of any length into a log."""
    requests = (each.request for each in log)
    return sum(
        1 + len(f"{asked.principal}{asked.host}{asked.resource_name}") // _CHARACTERS_OF_ONE
        for asked in requests
    )


_CHARACTERS_OF_ONE = 400

# The logs that were replayed last, since each edit is replayed on the same one: as much as MOST_REQUESTS with short
# names in all, some 20 MB.
_logs: KeptOfLoads[tuple[_Asked, ...]] = KeptOfLoads(MOST_REQUESTS, _weight)

_REQUEST = (
    as_stored("request__principal"),
    as_stored("request__host"),
    "request__operation",
    "request__resource_type",
    as_stored("request__resource_name"),
)
_TIMES = (as_stored("first_at"), as_stored("last_at"), "request")

_OPERATIONS, _TYPES = dict(Operation.__members__), dict(ResourceType.__members__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A distinct request of the log: how often it was made, and when.

    first_stored, last_stored: as the database holds these times, since hardly any of thousands is asked for.
    """

    request: AccessRequest
    lines: int
    first_stored: Any
    last_stored: Any
    number: int

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> _Asked:
        principal, host, operation, kind, name, *rest = row
        # Thousands of requests share a principal, and a host: each is one text.
        who, where = intern(unescape(principal)), intern(unescape(host))
        request = AccessRequest(who, where, _OPERATIONS[operation], _TYPES[kind], unescape(name))
        return cls(request, *rest)

    @property
    def resource(self) -> Resource:
        return self.request.resource

    @property
    def first_at(self) -> datetime:
        return time_stored(self.first_stored)

    @property
    def last_at(self) -> datetime:
        return time_stored(self.last_stored)


def _patterns_of(delta: Delta) -> set[ResourcePattern]:
    return {binding.pattern for binding in (*delta.add, *delta.remove)}


def _are_few(patterns: Collection[ResourcePattern]) -> bool:
    """Whether a query spells these patterns out."""
    return len(patterns) <= _MOST_PATTERNS


def _may_match(delta: Delta) -> Q:
    """Return a condition that no request misses whose answer this edit could turn; others may meet it too."""
    patterns = _patterns_of(delta)
    by_name = Q(pk__in=())
    whole_types = set()
    for pattern in patterns:
        of_type = Q(request__resource_type=pattern.resource_type.name)
        if pattern.pattern_type is PatternType.LITERAL and pattern.name != "*":
            by_name |= Q(request__resource_key=resource_key(pattern.resource_type.name, pattern.name))
        elif pattern.pattern_type is PatternType.PREFIXED and pattern.name:
            by_name |= of_type & Q(request__resource_name__startswith=pattern.name)
        else:
            whole_types.add(pattern.resource_type.name)
    if not _are_few(patterns):
        return Q(request__resource_type__in={pattern.resource_type.name for pattern in patterns})
    return by_name | Q(request__resource_type__in=whole_types)


def _by_their_principals(delta: Delta, settings: AuthorizerSettings) -> Q:
    """Return the same by whom the edit is for; none where it may be for anybody, or is for many."""
    principals = {binding.principal for binding in (*delta.add, *delta.remove)}
    if settings.allow_everyone or ANY_USER in principals or len(principals) > _MOST_PRINCIPALS:
        return Q()
    if matching_of(settings).principal_globs(principals):
        return Q()
    return Q(request__principal_key__in={principal_key(principal) for principal in principals})


_Key = tuple[str, Operation, Resource, Result, Result]


def _flips(
    asked: Iterable[_Asked],
    before: AclIndex,
    settings: AuthorizerSettings,
    after: AclIndex,
    settings_after: AuthorizerSettings,
) -> list[Flip]:
    """Return the requests whose result differs, the most lines first."""
    turned: dict[_Key, list[_Asked]] = defaultdict(list)
    for each in asked:
        request = each.request
        old, _ = decide(request, before, settings)
        new, _ = decide(request, after, settings_after)
        if old is not new:
            turned[request.principal, request.operation, each.resource, old, new].append(each)
    found = [_flip(key, rows) for key, rows in turned.items()]
    return sorted(
        found, key=lambda flip: (-flip.lines, flip.principal, flip.operation.code, flip.resource.name)
    )


def _flip(key: _Key, rows: Sequence[_Asked]) -> Flip:
    return Flip(
        *key,
        hosts=tuple(sorted({row.request.host for row in rows})),
        lines=sum(row.lines for row in rows),
        first_at=min(row.first_at for row in rows),
        last_at=max(row.last_at for row in rows),
        requests=tuple(row.number for row in rows),
        samples=tuple(
            Sample(row.request.operation, row.resource, row.request.host, row.lines, row.last_at)
            for row in rows[:SAMPLES]
        ),
    )


def _both(
    asked: Sequence[_Asked], delta: Delta, index: AclIndex, settings: AuthorizerSettings
) -> tuple[AclIndex, AclIndex]:
    """Return the ACLs before and after, all of those that matter to these requests."""
    resources = {each.resource for each in asked}
    if len(resources) > _FEW_RESOURCES:
        return index, AclIndex(delta.applied_to(index.bindings))
    near: dict[AclBinding, None] = {}
    for resource in resources:
        near |= dict.fromkeys(index.affecting(resource, settings))
    return AclIndex(near), AclIndex(delta.applied_to(near))


def _counted(flips: Sequence[Flip]) -> str:
    lines = number_of(sum(flip.lines for flip in flips), "logged request", "logged requests")
    return f"{lines} of {number_of(len({flip.principal for flip in flips}), 'principal', 'principals')}"
