"""When was what a group of an impact is about last permitted in the log, and how often was it denied?

A logged request belongs to the group that its principal, host, operation and name lie in; groups do not overlap.
Where a class of the impact holds several addresses or names, a request may lie in it or beside it: such a group is
not whole, its numbers are "at least", and of what was not seen nobody can tell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, reduce
from operator import or_
from posixpath import commonprefix
from typing import Self

from django.db.models import Q

from aclweb.acl.matching import in_range, is_host_glob, is_principal_glob, range_within
from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.simulate import Group, Impact, NameSet
from aclweb.insights.models import Load
from aclweb.insights.requests import principal_key, requests_of, resource_key

MOST_REQUESTS = 50_000
"""So many distinct requests are looked at unless who asks wants fewer, the newest first."""

_MOST_KEYS = 100  # of principals or names that the query of one group spells out
_MOST_CONDITIONS = 100  # of one query: of each group, or of each type of resource with some principals
_MOST_KEYS_OF_ALL = 1_000  # of principals or names of all groups of a query
_MOST_MERGED = 1_000  # groups that are put together for that

_COLUMNS = (
    "request__principal",
    "request__host",
    "request__operation",
    "request__resource_type",
    "request__resource_name",
    "request__allowed",
    "lines",
    "last_at",
)


@dataclass(frozen=True)
class SeenInGroup:
    """What one log holds of the requests of a group.

    last_permitted: on the brokers' clocks, None for never in the log. denied: so many records deny one of them.
    is_whole: whether there is no request of which nobody can tell that it is one of them.
    """

    last_permitted: datetime | None = None
    denied: int = 0
    is_whole: bool = True


def seen_in_any(seen: Iterable[SeenInGroup]) -> SeenInGroup:
    """Return what a load holds of the requests of any of some groups, by what it holds of each."""
    last, denied, is_whole = None, 0, True
    for each in seen:
        if each.last_permitted is not None and (last is None or last < each.last_permitted):
            last = each.last_permitted
        denied += each.denied
        is_whole = is_whole and each.is_whole
    return SeenInGroup(last, denied, is_whole)


def seen_in_groups(
    load: Load, impact: Impact, groups: Sequence[Group], *, most: int | None = None
) -> list[SeenInGroup]:
    """Return what a load holds of each of these groups of an impact, in their order; one query.

    most: requests that are looked at, MOST_REQUESTS unless given.
    """
    if not groups:
        return []
    most = MOST_REQUESTS if most is None else most
    parts = _parts(groups)
    keys = _by_their_keys(impact, parts)
    asked = requests_of(load, by_key=keys is not None).filter(
        keys or Q(), _may_be_of(impact, groups, parts), request__cluster=load.cluster_id
    )
    found = list(asked.order_by("-last_at", "request").values_list(*_COLUMNS)[: most + 1])
    sums = _Sums(impact, groups)
    for row in found[:most]:
        sums.add(*row)
    return sums.told(is_whole=len(found) <= most)


def _parts(groups: Sequence[Group]) -> list[_Part]:
    """Return what the groups are about in few parts; none where there would be many."""
    parts = [_Part.of(group) for group in groups] if len(groups) <= _MOST_MERGED else []
    if len(parts) > _MOST_CONDITIONS:
        parts = _merged(parts)
    return parts if len(parts) <= _MOST_CONDITIONS else []


def _by_their_keys(impact: Impact, parts: Sequence[_Part]) -> Q | None:
    """Return the keys of all their principals, or of all their names, as a condition; None where they are many.

    Those of all parts together, since databases look into an index for these, and not for each part's own.
    """
    for column, keys_of in (
        ("request__principal_key__in", _principal_keys),
        ("request__resource_key__in", _resource_keys),
    ):
        found: set[int] = set()
        for part in parts:
            keys = keys_of(impact, part)
            if keys is None:
                break
            found.update(keys)
        else:
            if 0 < len(found) <= _MOST_KEYS_OF_ALL:
                return Q(**{column: sorted(found)})
    return None


def _may_be_of(impact: Impact, groups: Sequence[Group], parts: Sequence[_Part]) -> Q:
    """Return a condition that every request of these groups meets; others may meet it too. parts: of the groups."""
    if parts:
        conditions = [
            _of_type(part.resource_type, part.operations)
            & _of_principals(impact, part)
            & _of_names(impact, part)
            for part in parts
        ]
        return reduce(or_, conditions)
    operations: dict[ResourceType, set[Operation]] = {}
    for group in groups:
        operations.setdefault(group.resource_type, set()).update(group.operations)
    return reduce(or_, (_of_type(kind, own) for kind, own in operations.items()))


@dataclass
class _Part:
    """Requests of which one condition finds all. principals, names: sets of places on the axes of the impact."""

    resource_type: ResourceType
    principals: int
    operations: set[Operation]
    names: int

    @classmethod
    def of(cls, group: Group) -> Self:
        """Return the requests of a group."""
        return cls(group.resource_type, group.principals, set(group.operations), group.names)


def _merged(parts: Iterable[_Part]) -> list[_Part]:
    """Return the parts of the same type and principals as one, which may hold more than they did."""
    found: dict[tuple[ResourceType, int], _Part] = {}
    for part in parts:
        known = found.setdefault((part.resource_type, part.principals), part)
        known.operations |= part.operations
        known.names |= part.names
    return list(found.values())


def _of_type(kind: ResourceType, operations: Iterable[Operation]) -> Q:
    names = sorted(operation.name for operation in operations)
    return Q(request__resource_type=kind.name, request__operation__in=names)


def _of_principals(impact: Impact, part: _Part) -> Q:
    keys = _principal_keys(impact, part)
    return Q() if keys is None else Q(request__principal_key__in=keys)


def _principal_keys(impact: Impact, part: _Part) -> list[int] | None:
    """Return the keys of the principals of a part; None where they are many, or not all known."""
    axis = impact.axes.principals
    if part.principals & axis.others or part.principals.bit_count() > _MOST_KEYS:
        return None
    texts = axis.named(part.principals)
    return None if any(is_principal_glob(text) for text in texts) else [principal_key(text) for text in texts]


def _resource_keys(impact: Impact, part: _Part) -> list[int] | None:
    """Return the keys of the names of a part; None where they are many, or not all known."""
    axis, names = impact.axes.names[part.resource_type], part.names
    if names & ~axis.all_exact or names.bit_count() > _MOST_KEYS:
        return None
    return [resource_key(part.resource_type.name, text) for _, text in NameSet(axis, names)]


def _of_names(impact: Impact, part: _Part) -> Q:
    """Return a condition on the names: their keys where they are few, else how all of them begin."""
    axis, names = impact.axes.names[part.resource_type], part.names
    keys = _resource_keys(impact, part)
    if keys is not None:
        return Q(request__resource_key__in=keys)
    exact = names & axis.all_exact
    if names >> axis.first_pattern:
        return Q()
    rest = names ^ exact
    # Both parts of the axis are sorted: what the first and the last have in common, all have.
    ends = [
        axis.name_class(place)[1]
        for part in (exact, rest)
        if part
        for place in ((part & -part).bit_length() - 1, part.bit_length() - 1)
    ]
    start = commonprefix(ends)
    return Q(request__resource_name__startswith=start) if start else Q()


class _Sums:
    """What is added up of each group, request by request."""

    def __init__(self, impact: Impact, groups: Sequence[Group]) -> None:
        self._impact, self._groups = impact, groups
        self._principals = cache(self._places_of_principal)
        self._hosts = cache(self._places_of_host)
        self._names = cache(self._places_of_name)
        self._of_caller = cache(self._groups_of_caller)
        # Thousands of groups share one set.
        unfolded: dict[int, int] = {}
        for group in groups:
            if id(group.compact_names) not in unfolded:
                unfolded[id(group.compact_names)] = group.names
        self._names_of = [unfolded[id(group.compact_names)] for group in groups]
        self._last: list[datetime | None] = [None] * len(groups)
        self._denied = [0] * len(groups)
        self._unsure = [False] * len(groups)

    def add(
        self,
        principal: str,
        host: str,
        operation: str,
        kind: str,
        name: str,
        allowed: bool,
        lines: int,
        last_at: datetime,
    ) -> None:
        candidates = self._of_caller(principal, kind, operation)
        if not candidates:
            return
        hosts, names = self._hosts(host), self._names(kind, name)
        for number, is_sure, at_hosts, of_names in candidates:
            of_name = names & of_names
            if not of_name or not (at_host := hosts & at_hosts):
                continue
            if not (is_sure and at_host == hosts and of_name == names):
                self._unsure[number] = True
                continue
            if not allowed:
                self._denied[number] += lines
            elif (last := self._last[number]) is None or last < last_at:
                self._last[number] = last_at
            return  # groups do not overlap

    def told(self, *, is_whole: bool) -> list[SeenInGroup]:
        """Return what was added up; is_whole: whether every request was added."""
        return [
            SeenInGroup(last, denied, is_whole and not unsure)
            for last, denied, unsure in zip(self._last, self._denied, self._unsure, strict=True)
        ]

    def _groups_of_caller(
        self, principal: str, kind: str, operation: str
    ) -> list[tuple[int, bool, int, int]]:
        """Return the groups that a principal and an operation may lie in: whether they surely do, hosts and names."""
        places = self._principals(principal)
        found = []
        for number, group in enumerate(self._groups):
            members = places & group.principals
            if members and group.resource_type.name == kind and Operation[operation] in group.operations:
                found.append((number, members == places, group.hosts, self._names_of[number]))
        return found

    def _places_of_principal(self, principal: str) -> int:
        """Return the classes that a principal may lie in: its own, or that of all others and of globs."""
        axis = self._impact.axes.principals
        if principal in axis.places:
            return axis.one(principal)
        return reduce(or_, (axis.one(own) for own in axis.texts if is_principal_glob(own)), axis.others)

    def _places_of_host(self, host: str) -> int:
        """Return the classes that an address may lie in: its own, or those that hold addresses nobody names."""
        axis = self._impact.axes.hosts
        if host in axis.places:
            return axis.one(host)
        globs = reduce(or_, (axis.one(own) for own in axis.texts if is_host_glob(own)), 0)
        ranges = [own for own in axis.texts if in_range(own, host)]
        if not ranges:
            return globs | axis.others
        narrowest = axis.one(next(own for own in ranges if all(range_within(own, wide) for wide in ranges)))
        # Of an axis that was cut down, an address or a narrower range may be among the others.
        return globs | narrowest | (axis.others if axis.classes_of_others > 1 else 0)

    def _places_of_name(self, kind: str, name: str) -> int:
        """Return the classes that a name may lie in: one, none, or several where globs overlap."""
        resource_type = ResourceType[kind]
        axis = self._impact.axes.names[resource_type]
        if exact := axis.one(name):
            return exact
        globs = ((1 << len(axis.patterns)) - 1) << axis.first_pattern
        starts = self._impact.starts.get(resource_type)
        if starts is None:
            # Of an impact that an older version stored, which of the names exist is unknown.
            return axis.all & ~axis.all_exact
        if not name.startswith(tuple(starts)):
            return globs
        place = axis.place_of_rest(_longest_start(axis.prefixes, name))
        return globs | (1 << place if place >= 0 else 0)


def _longest_start(prefixes: Sequence[str], name: str) -> str:
    """Return the longest of these sorted texts that a name begins with; empty for none."""
    start = name
    while start:
        place = bisect_right(prefixes, start) - 1
        if place < 0:
            return ""
        if start.startswith(prefixes[place]):
            return prefixes[place]
        # What both have in common is all that a shorter one can begin the name with.
        start = commonprefix([start, prefixes[place]])
    return ""
