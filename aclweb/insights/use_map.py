"""Which principals are allowed, use or are denied topics, by the prefix of the topics' names?

What is used and denied is what brokers logged, in a window up to the last day of the log. What is configured is
the number of ALLOW ACLs that name the principal. Where permits are not logged, what is used is unknown and not 0;
where they are in part, there may have been more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet, Sum

from aclweb.acl.logged import NO_PERMITS
from aclweb.acl.model import WILDCARD, PatternType, PermissionType, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.models import Load, RequestTotals
from aclweb.insights.pairs import pairs_of
from aclweb.insights.requests import days_of, requests_of
from aclweb.insights.unused import NO_LOG, evidence_of
from aclweb.insights.window import Window
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.models import Cluster

USED, DENIED, CONFIGURED = "used", "denied", "configured"
KINDS = (USED, DENIED, CONFIGURED)
WINDOWS = (7, 30, 90)
"""Days of the log, up to the last one, that can be shown."""

OTHERS = ""
"""In the place of a principal or a prefix: those that have no row or column of their own."""

ALL = "*"
"""In the place of a prefix: all topics."""

LEVELS = 5

MOST_PRINCIPALS, MOST_PREFIXES = 40, 24
"""So many have a row or a column of their own."""

MOST_PAIRS = 50_000
"""So many pairs of principal and topic are added up for a map, those of most lines first."""

MOST_LISTED = 1_000
"""So many pairs a page lists; files have all."""

_DELIMITERS = "._-"
_PREFIX = re.compile(r"[^._-]*[._-]?")
_PAIR = ("request__principal", "request__resource_name")
_Cells = Counter[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """A number, and how strong it is among those of the map: 0 for none, else 1 to LEVELS."""

    number: int
    level: int


@dataclass(frozen=True)
class MapRow:
    """What one principal does, a cell for each column; `count` principals together where it stands for OTHERS."""

    principal: str
    count: int
    total: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Pair:
    """What one principal did with the topics of one prefix; None is what the log cannot tell.

    configured: the ALLOW ACLs that name both. An ACL on all topics is of the prefix `*`, which no topic has: its use is
    that of the other prefixes, so here None.
    """

    principal: str
    prefix: str
    used: int | None
    denied: int | None
    configured: int

    @property
    def is_all(self) -> bool:
        return self.prefix == ALL


@dataclass(frozen=True)
class Pairs:
    """Every pair with any of the three numbers, those of most requests first; days and whole as in UseMap."""

    load: Load | None
    rows: tuple[Pair, ...]
    days: int
    whole: bool


@dataclass(frozen=True)
class Together:
    """The three numbers as a map. principals, prefixes: as the columns of UseMap, by most requests, then most ACLs.

    cells: those with any number, as (place of the prefix, place of the principal, level of what is used, pair).
    """

    principals: tuple[tuple[str, int], ...]
    prefixes: tuple[tuple[str, int], ...]
    cells: tuple[tuple[int, int, int, Pair], ...]


@dataclass(frozen=True)
class Overview:
    """What a page shows of Pairs: the map, the first pairs, and how many there are.

    unused: those with ACLs and no request, denied: those with denials; days and whole as in Pairs.
    """

    shown: Together
    first: tuple[Pair, ...]
    pairs: int
    unused: int
    denied: int
    days: int
    whole: bool


@dataclass(frozen=True)
class UseMap:
    """Principals by prefixes; those with most come first, and what is beyond the limits is one row and one column.

    prefixes: each with its number of prefixes, 1 but for OTHERS. pairs, total: how many pairs of principal and prefix
    there are, and their sum. every: (principal, prefix, number) of all of them, largest first; empty in `shown_map`.
    days: how many days of the log are counted. whole: whether every logged pair is counted.
    unknown: whether the log cannot tell. why_not: why it cannot or, beside numbers, why more may have been permitted.
    """

    load: Load | None
    prefixes: tuple[tuple[str, int], ...] = ()
    rows: tuple[MapRow, ...] = ()
    pairs: int = 0
    total: int = 0
    every: tuple[tuple[str, str, int], ...] = ()
    days: int = 0
    whole: bool = True
    unknown: bool = False
    why_not: str = ""

    @property
    def most(self) -> int:
        """How many pairs of principal and topic are counted where it is not `whole`."""
        return MOST_PAIRS


def use_map(
    cluster: Cluster,
    *,
    kind: str,
    days: int,
    most_principals: int = MOST_PRINCIPALS,
    most_prefixes: int = MOST_PREFIXES,
) -> UseMap:
    """Return the map; at most three queries. kind: of KINDS; days: of WINDOWS."""
    load = current_load(cluster)
    if kind == CONFIGURED:
        return _drawn(load, _configured(in_force(cluster)), most_principals, most_prefixes)
    if load is None:
        return UseMap(load, unknown=True, why_not=NO_LOG)
    if kind == USED and not load.permits_seen:
        return UseMap(load, unknown=True, why_not=NO_PERMITS)
    cells, whole = _logged(load, allowed=kind == USED, days=days)
    return replace(
        _drawn(load, cells, most_principals, most_prefixes),
        days=len(days_of(load, most=days)),
        whole=whole,
        why_not=evidence_of(load).why_not[PermissionType.ALLOW] if kind == USED else "",
    )


def shown_map(cluster: Cluster, *, kind: str, days: int) -> UseMap:
    """Return what a page shows of `use_map`, without `every`; of what is configured it is drawn once a revision."""
    if kind != CONFIGURED:
        return replace(use_map(cluster, kind=kind, days=days), every=())
    view = in_force(cluster)

    def drawn() -> UseMap:
        return replace(_drawn(None, _configured(view), MOST_PRINCIPALS, MOST_PREFIXES), every=())

    return replace(view.loaded.remember("map of what is configured", drawn), load=current_load(cluster))


def overview(cluster: Cluster, *, days: int) -> Overview:
    """Return what a page shows of `used_denied_configured`; two queries where this process has told it before."""
    load = current_load(cluster)
    view = in_force(cluster)
    question = ("used, denied, configured", load and (load.pk, load.loaded_at), days)
    return view.loaded.remember(question, lambda: _overview(_pairs(load, view, days)))


def used_denied_configured(cluster: Cluster, *, days: int) -> Pairs:
    """Return what `use_map` tells of each of its kinds, together; at most three queries.

    The limit on what is added up is of permitted and denied requests together.
    """
    return _pairs(current_load(cluster), in_force(cluster), days)


def _overview(pairs: Pairs) -> Overview:
    return Overview(
        together(pairs),
        tuple(pairs.rows[:MOST_LISTED]),
        len(pairs.rows),
        sum(pair.configured > 0 and pair.used == 0 for pair in pairs.rows),
        sum(bool(pair.denied) for pair in pairs.rows),
        pairs.days,
        pairs.whole,
    )


def _pairs(load: Load | None, view: ClusterView, days: int) -> Pairs:
    configured = _configured(view)
    logged: dict[bool, _Cells] = {True: Counter(), False: Counter()}
    whole = True
    kept = None if load is None else _kept(load, days)
    if kept is not None:
        logged = kept
    elif load is not None:
        lines = f"lines_{days}"
        rows = requests_of(load).filter(request__resource_type=ResourceType.TOPIC.name, **{f"{lines}__gt": 0})
        summed, whole = _largest(rows, lines, (*_PAIR, "request__allowed"))
        for principal, topic, allowed, number in summed:
            logged[allowed][principal, prefix_of(topic)] += number
    permits = load is not None and load.permits_seen
    numbers = sorted(
        (-logged[True][names], -logged[False][names], -configured[names], *names)
        for names in {*logged[True], *logged[False], *configured}
    )
    rows_found = tuple(
        Pair(
            principal,
            prefix,
            -used if permits and prefix != ALL else None,
            -denied if load is not None and prefix != ALL else None,
            -acls,
        )
        for used, denied, acls, principal, prefix in numbers
    )
    return Pairs(load, rows_found, 0 if load is None else len(days_of(load, most=days)), whole)


def together(
    pairs: Pairs, *, most_principals: int = MOST_PRINCIPALS, most_prefixes: int = MOST_PREFIXES
) -> Together:
    """Return the pairs as a map; what is beyond the limits is one row and one column, as in `use_map`."""
    by_principal: Counter[str] = Counter()
    by_prefix: Counter[str] = Counter()
    for pair in pairs.rows:
        # Requests come first; an ACL only tells apart those without any.
        weight = ((pair.used or 0) + (pair.denied or 0)) * 1_000_000 + pair.configured
        by_principal[pair.principal] += weight
        by_prefix[pair.prefix] += weight
    principals = _with_others(_named(by_principal, most_principals), by_principal)
    prefixes = _with_others(_named(by_prefix, most_prefixes), by_prefix)
    rows = {name: place for place, (name, _) in enumerate(principals)}
    columns = {name: place for place, (name, _) in enumerate(prefixes)}
    found: dict[tuple[int, int], Pair] = {}
    for pair in pairs.rows:
        principal = pair.principal if pair.principal in rows else OTHERS
        prefix = pair.prefix if pair.prefix in columns else OTHERS
        place = columns[prefix], rows[principal]
        before = found.get(place)
        found[place] = Pair(
            principal,
            prefix,
            pair.used if before is None or before.used is None else before.used + (pair.used or 0),
            pair.denied if before is None or before.denied is None else before.denied + (pair.denied or 0),
            pair.configured + (before.configured if before else 0),
        )
    uses = [pair.used for pair in found.values() if pair.used]
    span = min(uses, default=0), max(uses, default=0)
    return Together(
        tuple(principals),
        tuple(prefixes),
        tuple((*place, _level(pair.used or 0, *span), pair) for place, pair in sorted(found.items())),
    )


def prefix_of(topic: str) -> str:
    """Return the beginning of a topic's name up to its first delimiter, which is one of `.`, `-` and `_`."""
    found = _PREFIX.match(topic)
    return found[0] if found else topic


def _logged(load: Load, *, allowed: bool, days: int) -> tuple[_Cells, bool]:
    """Return the requests of each cell, and whether every pair of principal and topic is counted."""
    kept = _kept(load, days)
    if kept is not None:
        return kept[allowed], True
    lines = f"lines_{days}"
    rows = requests_of(load).filter(
        request__resource_type=ResourceType.TOPIC.name, request__allowed=allowed, **{f"{lines}__gt": 0}
    )
    summed, whole = _largest(rows, lines, _PAIR)
    found: _Cells = Counter()
    for principal, topic, number in summed:
        found[principal, prefix_of(topic)] += number
    return found, whole


def _kept(load: Load, days: int) -> dict[bool, _Cells] | None:
    """Return the requests of each cell, permitted and denied, by the kept pairs; None where these are not all."""
    window = Window.of(load, days)
    found = pairs_of(window) if window.days else None
    if found is None or not found.whole:
        return None
    topic = ResourceType.TOPIC.name
    prefixes = [
        prefix_of(name) if kind == topic else None
        for kind, name in zip(found.kinds, found.names, strict=True)
    ]
    cells: dict[bool, _Cells] = {True: Counter(), False: Counter()}
    for principal, name, allowed, lines in zip(
        found.principal, found.name, found.allowed, found.lines, strict=True
    ):
        prefix = prefixes[name]
        if prefix is not None:
            cells[bool(allowed)][found.principals[principal], prefix] += lines
    return cells


def _largest(
    rows: QuerySet[RequestTotals], lines: str, names: tuple[str, ...]
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the sums of `lines` by these columns, the largest first, and whether these are all."""
    sums = rows.values_list(*names).annotate(number=Sum(lines)).order_by("-number", *names)
    summed = list(sums[: MOST_PAIRS + 1])
    return summed[:MOST_PAIRS], len(summed) <= MOST_PAIRS


def _configured(view: ClusterView) -> _Cells:
    """Count the ALLOW ACLs on topics by whom they name; one on the beginning of many prefixes is of what it says."""
    return view.index.count_by_group(ResourceType.TOPIC, PermissionType.ALLOW, _prefixes_configured)


def _prefixes_configured(names: Iterable[str], pattern: PatternType) -> Iterator[str]:
    """Yield the prefix that each pattern counts for. names: sorted."""
    shared = ""  # once it ends with a delimiter, it is that of every name with this beginning
    for name in names:
        if shared and name.startswith(shared):
            yield shared
            continue
        # A prefix without a character is the beginning of every name.
        is_all = not name or (name == WILDCARD and pattern is PatternType.LITERAL)
        prefix = ALL if is_all else prefix_of(name)
        shared = prefix if prefix[-1] in _DELIMITERS else ""
        yield prefix


def _drawn(load: Load | None, cells: _Cells, most_principals: int, most_prefixes: int) -> UseMap:
    by_principal, by_prefix = _sums(cells, 0), _sums(cells, 1)
    principals = _named(by_principal, most_principals)
    prefixes = _named(by_prefix, most_prefixes)
    shown: _Cells = Counter()
    for (principal, prefix), number in cells.items():
        shown[principal if principal in principals else OTHERS, prefix if prefix in prefixes else OTHERS] += (
            number
        )
    columns = _with_others(prefixes, by_prefix)
    span = (min(shown.values(), default=0), max(shown.values(), default=0))
    rows = []
    for principal, count in _with_others(principals, by_principal):
        numbers = [shown[principal, prefix] for prefix, _ in columns]
        of_row = tuple(Cell(number, _level(number, *span)) for number in numbers)
        rows.append(MapRow(principal, count, sum(numbers), of_row))
    every = sorted(((*names, number) for names, number in cells.items()), key=lambda each: (-each[2], each))
    return UseMap(load, tuple(columns), tuple(rows), len(every), sum(cells.values()), tuple(every))


def _sums(cells: Mapping[tuple[str, str], int], place: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for names, number in cells.items():
        found[names[place]] += number
    return found


def _named(sums: Mapping[str, int], most: int) -> dict[str, int]:
    """Return those with the largest sums, the largest first."""
    return dict(sorted(sums.items(), key=lambda each: (-each[1], each[0]))[:most])


def _with_others(named: Iterable[str], sums: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return each name with 1, and OTHERS with how many there are beyond, if there are any."""
    found = [(name, 1) for name in named]
    beyond = len(sums) - len(found)
    return [*found, (OTHERS, beyond)] if beyond else found


def _level(number: int, least: int, most: int) -> int:
    """Return how strong a number is between the least and the most, on a logarithmic scale."""
    if not number:
        return 0
    if least == most:
        return LEVELS
    share = math.log(number / least) / math.log(most / least)
    return 1 + min(LEVELS - 1, math.floor(LEVELS * share))
