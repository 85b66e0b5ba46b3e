"""Is what one cluster uses used on another too: topics, principals, ACLs?

Each side is what its own log holds, up to the last day of that log. "Not used" is said only where that log may say
so of an ACL too; a topic or ACL that a cluster does not have is called absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Max, Q, Sum, TextField
from django.db.models.functions import Cast, Coalesce

from aclweb.acl.model import PermissionType, ResourceType
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.models import AclUse, Load
from aclweb.insights.pairs import Pairs, moment_of, pairs_of
from aclweb.insights.result import in_utc
from aclweb.insights.unused import NO_LOG, evidence_of, is_unused
from aclweb.insights.window import Window, evidence_in_days
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster, Revision, StoredAcl, stored_in_force

TOPICS, PRINCIPALS, ACLS = "topics", "principals", "acls"
KINDS = (TOPICS, PRINCIPALS, ACLS)

USED, IDLE, ABSENT, UNKNOWN = "used", "idle", "absent", "unknown"

BOTH, ONLY_HERE, ONLY_THERE, OPEN = "both", "here", "there", "open"
RELATIONS = (ONLY_HERE, ONLY_THERE, BOTH, OPEN)

MOST_NAMES = 50_000
"""So many names or ACLs of each side are compared at most, those with most requests first."""


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
        states = self.here.state, self.there.state
        if states == (USED, USED):
            return BOTH
        if self.here.state == USED and self.there.state in (IDLE, ABSENT):
            return ONLY_HERE
        if self.there.state == USED and self.here.state in (IDLE, ABSENT):
            return ONLY_THERE
        return OPEN


@dataclass(frozen=True)
class Side:
    """One cluster of the comparison. why_not: why nothing can be called idle there; whole: whether all is counted."""

    cluster: Cluster
    load: Load | None
    first_at: datetime | None
    last_at: datetime | None
    why_not: str
    whole: bool = True


@dataclass(frozen=True)
class Beside:
    """Two clusters beside each other; what both logs show with no permitted request is left out.

    most: how many names or ACLs of each side are compared.
    """

    here: Side
    there: Side
    most: int
    rows: tuple[Compared, ...]

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(row.relation for row in self.rows)

    def count(self, relation: str) -> int:
        return self._counts[relation]


_KEYS_A_QUERY = 20_000

_Uses = Mapping[str, Used]
_Judge = Callable[[str, Used], OnSide]
_NONE = Used()
_DENY = PermissionType.DENY.name


def use_beside(
    here: Cluster,
    there: Cluster,
    *,
    kind: str,
    days: int | None,
    most: int | None = None,
    just_read: bool = False,
) -> Beside:
    """Return what is used on either cluster; at most nine queries a side.

    kind: of KINDS. days: of `window.WINDOWS`, the last ones of each log, None for all; of ACLs it is always all.
    most: at most so many names or ACLs of each side, and never more than MOST_NAMES. just_read: as in `in_force`, of
    either cluster; then one query less a side.
    """
    most = MOST_NAMES if most is None else min(most, MOST_NAMES)
    if kind == ACLS:
        return _acls_compared(here, there, most)
    return _names_compared(here, there, kind, days, most, just_read)


def _names_compared(
    here: Cluster, there: Cluster, kind: str, days: int | None, most: int, just_read: bool
) -> Beside:
    sides, uses, judges = [], [], []
    for cluster in (here, there):
        load = current_load(cluster)
        window = None if load is None else Window.of(load, days)
        found, whole = _of_names(window, kind, most) if window else ({}, True)
        why_not = _why_not(load, window, most, whole=whole)
        sides.append(_side(cluster, load, window, why_not, whole=whole))
        uses.append(found)
        judges.append(_judge(cluster, kind, is_told=not why_not, just_read=just_read))
    return Beside(sides[0], sides[1], most, _rows(uses, judges))


_NameUse = tuple[str, int, int, int | str]
"""A name, its permitted and denied requests, and the last one as in Used."""


def _of_names(window: Window, kind: str, most: int) -> tuple[dict[str, Used], bool]:
    """Return what each name was used for, and whether every name is there."""
    pairs = pairs_of(window)
    found = _added(pairs, kind, most + 1) if pairs.whole else _summed(window, kind, most + 1)
    uses = {name: Used(permitted, denied, last) for name, permitted, denied, last in found[:most]}
    return uses, len(found) <= most


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


def _judge(cluster: Cluster, kind: str, *, is_told: bool, just_read: bool) -> _Judge:
    """Return what tells of a name what it is on this cluster. The log alone says that it is used."""
    idle = IDLE if is_told else UNKNOWN
    # Whether a principal is there, no list of a cluster tells.
    view = in_force(cluster, just_read=just_read) if kind == TOPICS else None
    all_known = view is not None and view.known(ResourceType.TOPIC) is Known.ALL

    def judge(name: str, used: Used) -> OnSide:
        if used.counted:
            return OnSide(USED, used)
        is_there = view is None or not all_known or view.loaded.holds(ResourceType.TOPIC, name)
        return OnSide(idle if is_there else ABSENT, used)

    return judge


def _acls_compared(here: Cluster, there: Cluster, most: int) -> Beside:
    clusters = (here, there)
    loads = [current_load(cluster) for cluster in clusters]
    logged = [_of_acls(load, most) for load in loads]
    keys = list(dict.fromkeys(key for found, _ in logged for key in found))
    facts = [_facts(cluster, keys) for cluster in clusters]
    # An ACL that is on neither cluster by now is not compared.
    permissions = {key: permission for own in facts for key, (permission, *_) in own.items()}
    sides, uses, judges = [], [], []
    for cluster, load, (found, whole), own in zip(clusters, loads, logged, facts, strict=True):
        window = None if load is None else Window.of(load, None)
        sides.append(_side(cluster, load, window, _why_not(load, window, most, whole=True), whole=whole))
        uses.append(
            {key: _settled(permissions[key], *use) for key, use in found.items() if key in permissions}
        )
        idle = _idle(load, {key: fact for key, fact in own.items() if key not in found})
        judges.append(_acl_judge(own, permissions, idle))
    rows = [row for row in _rows(uses, judges) if {row.here.state, row.there.state} & {USED, UNKNOWN}]
    return Beside(sides[0], sides[1], most, tuple(rows))


def _of_acls(load: Load | None, most: int) -> tuple[dict[str, tuple[int, str]], bool]:
    """Return requests and last time of each ACL that settled some, and whether every such ACL is there."""
    settled = AclUse.objects.filter(load=load, requests__gt=0).order_by("-requests", "key")
    as_text = settled.annotate(last=Cast("last_at", TextField()))
    found = list(as_text.values_list("key", "requests", "last")[: most + 1])
    return {key: (requests, last) for key, requests, last in found[:most]}, len(found) <= most


_Fact = tuple[str, int]
"""Permission of an ACL in force, and the key of the revision that added it."""


def _facts(cluster: Cluster, keys: Sequence[str]) -> dict[str, _Fact]:
    """Return what is known of those that are in force on the cluster, by key."""
    here = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster)
    rows = (
        here.filter(key__in=some).values_list("key", "permission_type", "added_in") for some in _parts(keys)
    )
    return {key: (permission, added_in) for some in rows for key, permission, added_in in some}


def _idle(load: Load | None, facts: Mapping[str, _Fact]) -> frozenset[str]:
    """Return the keys of those of a cluster's ACLs that its log calls unused; as `unused_acls`."""
    if load is None or not facts:
        return frozenset()
    evidence = evidence_of(load)
    # Many ACLs have few revisions: a time of each row would cost more than all else here.
    added = Revision.objects.in_bulk({added_in for _, added_in in facts.values()})
    open_keys = [
        key
        for key, (permission, added_in) in facts.items()
        if is_unused(evidence, PermissionType[permission], added[added_in].number, added[added_in].read_at)
    ]
    settles = Q(requests__gt=0) | Q(needed__gt=0)
    used = (AclUse.objects.filter(settles, load=load, key__in=some) for some in _parts(open_keys))
    return frozenset(open_keys).difference(*(uses.values_list("key", flat=True) for uses in used))


def _parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the keys, as many at once as a query takes."""
    return (keys[start : start + _KEYS_A_QUERY] for start in range(0, len(keys), _KEYS_A_QUERY))


def _settled(permission: str, requests: int = 0, last: str | None = None) -> Used:
    if permission == _DENY:
        return Used(None, requests, last)
    return Used(requests, None, last)


def _acl_judge(there_now: Container[str], permissions: Mapping[str, str], idle: Container[str]) -> _Judge:
    """Return what tells of an ACL what it is on a cluster.

    there_now: the keys of those in force there. idle: of those that its log calls unused.
    """

    def judge(key: str, used: Used) -> OnSide:
        if key not in there_now:
            return OnSide(ABSENT, _NONE)
        if used.counted:
            return OnSide(USED, used)
        return OnSide(IDLE if key in idle else UNKNOWN, _settled(permissions[key]))

    return judge


def _why_not(load: Load | None, window: Window | None, most: int, *, whole: bool) -> str:
    if load is None:
        return NO_LOG
    if not whole:
        return f"{most:,} names are compared, and its log has more"
    return evidence_in_days(evidence_of(load), window).why_not[PermissionType.ALLOW]


def _side(cluster: Cluster, load: Load | None, window: Window | None, why_not: str, *, whole: bool) -> Side:
    first_at, last_at = (window.first_at, window.load.last_at) if window else (None, None)
    return Side(cluster, load, first_at, last_at, why_not, whole)


def _rows(uses: Collection[_Uses], judges: Iterable[_Judge]) -> tuple[Compared, ...]:
    """Return what is used on either side, that with most requests first."""
    here, there = uses
    judge_here, judge_there = judges
    counted = {name: used.counted for name, used in here.items()}
    for name, used in there.items():
        counted[name] = counted.get(name, 0) + used.counted
    names = sorted(name for name, number in counted.items() if number)
    names.sort(key=counted.__getitem__, reverse=True)
    return tuple(
        Compared(name, judge_here(name, here.get(name, _NONE)), judge_there(name, there.get(name, _NONE)))
        for name in names
    )
