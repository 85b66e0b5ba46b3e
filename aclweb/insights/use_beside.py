"""Is what one cluster uses used on another too: topics, principals, ACLs?

Each side is what its own log holds, up to the last day of that log. "Not used" is said only where that log may say
so of an ACL too; a topic or ACL that a cluster does not have is called absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import compress, product
from typing import Protocol, overload

from django.db.models import (
    Case,
    Expression,
    IntegerField,
    Max,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models import (
    Window as Ranked,
)
from django.db.models.functions import Cast, Coalesce, RowNumber

from aclweb.acl.model import PermissionType, ResourceType
from aclweb.clusters import Known
from aclweb.insights.broker_days import read_late_days
from aclweb.insights.current import newest_loads
from aclweb.insights.models import AclUse, Load
from aclweb.insights.pairs import Pairs, moment_of, pairs_of
from aclweb.insights.result import in_utc
from aclweb.insights.unused import NO_LOG, evidence_of, shown_unused
from aclweb.insights.window import Window, evidence_in_days
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster, StoredAcl

TOPICS, PRINCIPALS, ACLS = "topics", "principals", "acls"
KINDS = (TOPICS, PRINCIPALS, ACLS)

USED, IDLE, ABSENT, UNKNOWN = "used", "idle", "absent", "unknown"

BOTH, ONLY_HERE, ONLY_THERE, OPEN = "both", "here", "there", "open"
RELATIONS = (ONLY_HERE, ONLY_THERE, BOTH, OPEN)

MOST_NAMES = 50_000
"""So many names or ACLs of each side are compared at most, those with most requests first."""

_MOST_KEPT = 5_000
"""Of so many ACLs of each side a comparison is kept, some 300 bytes for each; files compare more, once."""

# Each is given four times: SQLite takes 32,766 values in a query.
_KEYS_A_QUERY = 8_000


@dataclass(frozen=True, slots=True)
class Used:
    """What one log holds of a name or an ACL, in requests. An ACL settles those of its own permission alone: the other
    number is None.

    last: when the last one was, as pairs or the database have it: a page shows that of few of thousands.
    """

    permitted: int | None = 0
    denied: int | None = 0
    last: int | str | None = None

    @property
    def last_at(self) -> datetime | None:
        """When the last one was, on the brokers' clocks."""
        if self.last is None:
            return None
        if isinstance(self.last, int):
            return moment_of(self.last)
        return in_utc(datetime.fromisoformat(self.last))

    @property
    def counted(self) -> int:
        """The requests that make it used: those of a name that were permitted, those that an ACL settled."""
        return (self.denied if self.permitted is None else self.permitted) or 0


@dataclass(frozen=True, slots=True)
class OnSide:
    """A name or an ACL on one cluster. state: USED, IDLE, ABSENT or UNKNOWN."""

    state: str
    used: Used

    @property
    def permitted(self) -> int | None:
        """How many requests were permitted; None where nobody can tell, or it is not there."""
        return self.used.permitted if self.state in (USED, IDLE) else None

    @property
    def denied(self) -> int | None:
        """How many requests were denied; None as for `permitted`, save where its log holds some."""
        return self.used.denied if self.state in (USED, IDLE) else self.used.denied or None


@dataclass(frozen=True, slots=True)
class Compared:
    """One name, or the key of an ACL, on both clusters. relation: of RELATIONS."""

    name: str
    here: OnSide
    there: OnSide

    @property
    def relation(self) -> str:
        return _RELATION_OF[self.here.state, self.there.state]


@dataclass(frozen=True)
class Side:
    """One cluster of the comparison. why_not: why nothing can be called idle there; whole: whether all is counted."""

    cluster: Cluster
    load: Load | None
    first_at: datetime | None
    last_at: datetime | None
    why_not: str
    whole: bool = True


class ComparedRows(Sequence[Compared]):
    """The rows of a comparison, each of which is made when it is asked for; names and relations of all are at hand."""

    def __init__(
        self, names: Sequence[str], relations: Sequence[str], made: Callable[[str], Compared]
    ) -> None:
        self.names, self.relations, self._made = names, relations, made

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> Compared: ...

    @overload
    def __getitem__(self, place: slice) -> ComparedRows: ...

    def __getitem__(self, place: int | slice) -> Compared | ComparedRows:
        if isinstance(place, slice):
            return ComparedRows(self.names[place], self.relations[place], self._made)
        return self._made(self.names[place])

    def only(self, is_wanted: Iterable[bool]) -> ComparedRows:
        """Return those rows that are wanted; is_wanted: of each row, in this order."""
        wanted = list(is_wanted)
        return ComparedRows(
            list(compress(self.names, wanted)), list(compress(self.relations, wanted)), self._made
        )


@dataclass(frozen=True)
class Beside:
    """Two clusters beside each other; what both logs show with no permitted request is left out.

    most: how many names or ACLs of each side are compared.
    """

    here: Side
    there: Side
    most: int
    rows: ComparedRows

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(self.rows.relations)

    def count(self, relation: str) -> int:
        return self._counts[relation]


def _relation(here: str, there: str) -> str:
    if here == there == USED:
        return BOTH
    if here == USED and there in (IDLE, ABSENT):
        return ONLY_HERE
    if there == USED and here in (IDLE, ABSENT):
        return ONLY_THERE
    return OPEN


_STATES = (USED, IDLE, ABSENT, UNKNOWN)
_RELATION_OF = {states: _relation(*states) for states in product(_STATES, repeat=2)}

_NONE = Used()
_DENY = PermissionType.DENY.name


class _Judged(Protocol):
    """What one side says of each name or ACL that either side has logged."""

    @property
    def counted(self) -> Mapping[str, int]:
        """The requests of each that this side has logged that make it used."""

    def state(self, name: str) -> str:
        """Return what it is here, by the words of OnSide."""

    def used(self, name: str) -> Used:
        """Return what is logged of it here."""


def use_beside(
    here: Cluster,
    there: Cluster,
    *,
    kind: str,
    days: int | None,
    most: int | None = None,
    just_read: bool = False,
) -> Beside:
    """Return what is used on either cluster; at most nine queries a side, and one for each 8,000 ACLs.

    kind: of KINDS. days: of `window.WINDOWS`, the last ones of each log, None for all; of ACLs it is always all.
    most: at most so many names or ACLs of each side, and never more than MOST_NAMES. just_read: as in `in_force`, of
    either cluster; then one query less a side.
    """
    loads = newest_loads((here, there))
    read_late_days(loads.values())
    sides = [(cluster, loads.get(cluster.pk)) for cluster in (here, there)]
    most = MOST_NAMES if most is None else min(most, MOST_NAMES)
    if kind == ACLS:
        return _acls_compared(sides, most, just_read)
    return _names_compared(sides, kind, days, most, just_read)


_Sides = Sequence[tuple[Cluster, Load | None]]


def _names_compared(given: _Sides, kind: str, days: int | None, most: int, just_read: bool) -> Beside:
    sides, judged = [], []
    for cluster, load in given:
        window = None if load is None else Window.of(load, days)
        found, whole = _of_names(window, kind, most) if window else ([], True)
        why_not = _why_not(load, window, most, whole=whole)
        sides.append(_side(cluster, load, window, why_not, whole=whole))
        judged.append(_Names.of(cluster, kind, found, is_told=not why_not, just_read=just_read))
    return Beside(sides[0], sides[1], most, _rows(*judged))


_NameUse = tuple[str, int, int, int | str]
"""A name, its permitted and denied requests, and the last one as in Used."""


def _of_names(window: Window, kind: str, most: int) -> tuple[list[_NameUse], bool]:
    """Return what each name was used for, and whether every name is there."""
    pairs = pairs_of(window)
    found = _added(pairs, kind, most + 1) if pairs.whole else _summed(window, kind, most + 1)
    return found[:most], len(found) <= most


def _added(pairs: Pairs, kind: str, most: int) -> list[_NameUse]:
    """Return so many names of whole pairs, those with most requests first; as `_summed`."""
    names, places = (pairs.names, pairs.name) if kind == TOPICS else (pairs.principals, pairs.principal)
    permitted, denied, last = [0] * len(names), [0] * len(names), [0] * len(names)
    for place, allowed, lines, at in zip(places, pairs.allowed, pairs.lines, pairs.last, strict=True):
        (permitted if allowed else denied)[place] += lines
        if at > last[place]:
            last[place] = at
    logged = set(places)
    if kind == TOPICS:
        kinds, topic = pairs.kinds, ResourceType.TOPIC.name
        logged = {place for place in logged if kinds[place] == topic}
    # Names are sorted, so their places are in their order; one number at a time is what sorts fastest.
    ranked = sorted(logged)
    ranked.sort(key=denied.__getitem__, reverse=True)
    ranked.sort(key=permitted.__getitem__, reverse=True)
    return [(names[place], permitted[place], denied[place], last[place]) for place in ranked[:most]]


def _summed(window: Window, kind: str, most: int) -> list[_NameUse]:
    """Return so many names of a window, those with most requests first; one query that adds up all of its requests."""
    name = "request__resource_name" if kind == TOPICS else "request__principal"
    rows = window.requests()
    if kind == TOPICS:
        rows = rows.filter(request__resource_type=ResourceType.TOPIC.name)
    summed = rows.values_list(name).annotate(
        permitted=_lines(window, allowed=True),
        denied=_lines(window, allowed=False),
        last=Cast(Max("last_at"), TextField()),
    )
    return list(summed.order_by("-permitted", "-denied", name)[:most])


def _lines(window: Window, *, allowed: bool) -> Coalesce:
    return Coalesce(Sum(window.column, filter=Q(request__allowed=allowed)), 0)


@dataclass(frozen=True)
class _Names:
    """What one side says of topics or principals. idle: what it is here that is there, and of which nothing is logged.

    is_there: whether the cluster has it; None where nobody knows.
    """

    counted: Mapping[str, int]
    rows: Mapping[str, _NameUse]
    idle: str
    is_there: Callable[[str], bool] | None

    @classmethod
    def of(
        cls, cluster: Cluster, kind: str, found: Sequence[_NameUse], *, is_told: bool, just_read: bool
    ) -> _Names:
        """Return what is said of these uses. is_told: whether what is not logged is not used."""
        # Whether a principal is there, no list of a cluster tells.
        view = in_force(cluster, just_read=just_read) if kind == TOPICS else None
        all_known = view is not None and view.known(ResourceType.TOPIC) is Known.ALL
        held = partial(view.loaded.holds, ResourceType.TOPIC) if view is not None and all_known else None
        return cls(
            {name: permitted for name, permitted, *_ in found},
            {row[0]: row for row in found},
            IDLE if is_told else UNKNOWN,
            held,
        )

    def state(self, name: str) -> str:
        """Return what it is here; the log alone says that it is used."""
        if self.counted.get(name):
            return USED
        return self.idle if self.is_there is None or self.is_there(name) else ABSENT

    def used(self, name: str) -> Used:
        row = self.rows.get(name)
        return _NONE if row is None else Used(*row[1:])


def _acls_compared(given: _Sides, most: int, just_read: bool) -> Beside:
    windows = [None if load is None else Window.of(load, None) for _, load in given]

    def worked_out() -> _AclRows:
        return _acl_rows(given, most)

    if most <= _MOST_KEPT:
        view = in_force(given[0][0], just_read=just_read)
        question = ("ACLs of two clusters", most, *map(_depends_on, given))
        found = view.loaded.remember(question, worked_out)
    else:
        found = worked_out()
    sides = [
        _side(cluster, load, window, _why_not(load, window, most, whole=True), whole=whole)
        for (cluster, load), window, whole in zip(given, windows, found.whole, strict=True)
    ]
    return Beside(sides[0], sides[1], most, found.rows)


def _depends_on(given: tuple[Cluster, Load | None]) -> Hashable:
    """Return all that the rows depend on of one side. With times: a restored database gives numbers out again."""
    cluster, load = given
    revision = cluster.revision
    held = revision and (revision.pk, revision.read_at, revision.digest)
    if load is None:
        return cluster.pk, held, None
    evidence = evidence_of(load)
    return cluster.pk, held, load.pk, load.loaded_at, evidence.start, *evidence.claimable()


@dataclass(frozen=True)
class _AclRows:
    """The rows, and of each side whether all ACLs are there that its log has."""

    rows: ComparedRows
    whole: tuple[bool, ...]


def _acl_rows(given: _Sides, most: int) -> _AclRows:
    uses_of, more = _of_acls([load for _, load in given if load is not None], most)
    uses = [{} if load is None else uses_of[load.pk] for _, load in given]
    keys = list(dict.fromkeys(key for found in uses for key in found))
    in_force_on = _in_force_on(given, keys)
    # An ACL that is on neither cluster by now is not compared.
    permissions = {key: permission for own in in_force_on for key, (permission, _) in own.items()}
    here, there = (_Acls.of(found, own, permissions) for found, own in zip(uses, in_force_on, strict=True))
    return _AclRows(_rows(here, there), tuple(load is None or load.pk not in more for _, load in given))


def _of_acls(loads: Sequence[Load], most: int) -> tuple[dict[int, dict[str, tuple[int, str]]], set[int]]:
    """Return requests and last time of each ACL that settled some, by load, those of most requests; one query.

    And the loads with more than `most` such ACLs.
    """
    settled = AclUse.objects.filter(load__in=loads, requests__gt=0)
    by_requests = Ranked(RowNumber(), partition_by="load", order_by=("-requests", "key"))
    ranked = settled.annotate(place=by_requests, last=Cast("last_at", TextField())).filter(
        place__lte=most + 1
    )
    uses: dict[int, dict[str, tuple[int, str]]] = {load.pk: {} for load in loads}
    more = set()
    for load, place, key, requests, last in ranked.values_list("load", "place", "key", "requests", "last"):
        if place <= most:
            uses[load][key] = requests, last
        else:
            more.add(load)
    return uses, more


_InForce = tuple[str, bool]
"""Permission of an ACL in force, and whether the log of its cluster calls it unused."""


def _in_force_on(given: _Sides, keys: Sequence[str]) -> list[dict[str, _InForce]]:
    """Return which of these ACLs are in force on each side, by key."""
    found: dict[int, dict[str, _InForce]] = {cluster.pk: {} for cluster, _ in given}
    for start in range(0, len(keys), _KEYS_A_QUERY):
        some = keys[start : start + _KEYS_A_QUERY]
        first, *others = (part for cluster, load in given for part in _in_force_parts(cluster, load, some))
        for cluster, key, permission, is_unused in first.union(*others, all=True):
            found[cluster][key] = permission, bool(is_unused)
    return [found[cluster.pk] for cluster, _ in given]


def _in_force_parts(
    cluster: Cluster, load: Load | None, keys: Sequence[str]
) -> Iterator[QuerySet[StoredAcl, tuple[int, str, str, int]]]:
    """Yield what is not closed and what a sync is closing: each has an index, and asked for at once none is used."""
    revision = cluster.revision_id or 0
    held = StoredAcl.objects.filter(cluster=cluster, key__in=keys, added_in__lte=revision)
    columns = "cluster_id", "key", "permission_type", "unused"
    for part in (held.filter(removed_in__isnull=True), held.filter(removed_in__gt=revision)):
        yield part.annotate(unused=_is_unused(load)).values_list(*columns)


def _is_unused(load: Load | None) -> Expression:
    """Return 1 as a column for ACLs that `unused_acls` has, 0 for others."""
    shown = Q(pk__in=()) if load is None else shown_unused(load, evidence_of(load))
    return Case(When(shown, then=Value(1)), default=Value(0), output_field=IntegerField())


@dataclass(frozen=True)
class _Acls:
    """What one side says of ACLs. in_force, permissions: of those in force on this side, and on either."""

    counted: Mapping[str, int]
    uses: Mapping[str, tuple[int, str]]
    in_force: Mapping[str, _InForce]
    permissions: Mapping[str, str]

    @classmethod
    def of(
        cls,
        uses: Mapping[str, tuple[int, str]],
        in_force: Mapping[str, _InForce],
        permissions: Mapping[str, str],
    ) -> _Acls:
        counted = {key: requests for key, (requests, _) in uses.items() if key in permissions}
        return cls(counted, uses, in_force, permissions)

    def state(self, key: str) -> str:
        known = self.in_force.get(key)
        if known is None:
            return ABSENT
        if key in self.counted:
            return USED
        return IDLE if known[1] else UNKNOWN

    def used(self, key: str) -> Used:
        if key not in self.in_force:
            return _NONE
        requests, last = self.uses.get(key, (0, None))
        return Used(None, requests, last) if self.permissions[key] == _DENY else Used(requests, None, last)


def _why_not(load: Load | None, window: Window | None, most: int, *, whole: bool) -> str:
    if load is None:
        return NO_LOG
    if not whole:
        return f"{most:,} names are compared, and its log has more"
    return evidence_in_days(evidence_of(load), window).why_not[PermissionType.ALLOW]


def _side(cluster: Cluster, load: Load | None, window: Window | None, why_not: str, *, whole: bool) -> Side:
    first_at, last_at = (window.first_at, window.load.last_at) if window else (None, None)
    return Side(cluster, load, first_at, last_at, why_not, whole)


def _rows(here: _Judged, there: _Judged) -> ComparedRows:
    """Return what is used on either side or may be, that with most requests first."""
    counted = dict(here.counted)
    for name, number in there.counted.items():
        counted[name] = counted.get(name, 0) + number
    names = sorted(name for name, number in counted.items() if number)
    names.sort(key=counted.__getitem__, reverse=True)
    states = [(here.state(name), there.state(name)) for name in names]
    relations = [_RELATION_OF[each] for each in states]

    def made(name: str) -> Compared:
        sides = (OnSide(side.state(name), side.used(name)) for side in (here, there))
        return Compared(name, *sides)

    is_shown = (USED in each or UNKNOWN in each for each in states)
    return ComparedRows(names, relations, made).only(is_shown)
