"""What does an impact mean, whatever ACLs settle its answers and however its cells are grouped?

Two impacts mean the same if the same sessions gain and lose the same operations on the same names. So each
kind of answer is laid out session by session, and what a session has in common with all others is
left out: then equal impacts look alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aclweb.acl.model import WILDCARD, Operation, ResourceType
from aclweb.acl.simulate.axes import Compact, NameClass, NameSet, Renumbering, TextAxis, places_in, set_of
from aclweb.acl.simulate.impact import Group, Impact, entries_of


class Answer(NamedTuple):
    """One kind of answer that differs. before: None for new names."""

    change: str
    operation: str
    resource_type: str
    before: str | None
    after: str


class Difference(NamedTuple):
    """One kind of answer of one session, `*` for all without answers of their own, from one host or all others."""

    answer: Answer
    principal: str
    host: str


class Met(NamedTuple):
    """Sessions and names that meet one kind of answer.

    principal, host: a text, or `*` for all but `except_principals` and all but `except_hosts`.
    """

    answer: Answer
    principal: str
    host: str
    except_principals: tuple[str, ...]
    except_hosts: tuple[str, ...]
    names: NameSet


ByHost = dict[str, NameSet]
ByPrincipal = dict[str, ByHost]


def meaning_of(impact: Impact, changes: Collection[str]) -> Meaning:
    """Return which answers differ, equal for impacts that mean the same. changes: the lists that count."""
    return Meaning(_met(impact, changes))


def digest_of(impact: Impact, changes: Collection[str]) -> str:
    """Return the SHA-256 of what an impact means. changes: the lists that count.

    What all have in common is written once. Of each other principal is written what it has beyond that and
    what it lacks, by sets of hosts. Groups do not overlap, so this is the same however cells are grouped.
    """
    axes = impact.axes
    whole: dict[ResourceType, int] = {}
    by_answer: dict[Answer, list[_Signed]] = {}
    for group in impact.groups:
        if group.change in changes:
            kind = group.resource_type
            whole[kind] = whole.get(kind, 0) | group.names
            for operation in group.operations:
                answer = _answer(group, operation)
                by_answer.setdefault(answer, []).append(
                    _Signed(False, group.principals, group.hosts, group.compact_names)
                )
    lines = [json.dumps([kind.name, list(axes.names[kind].classes(names))]) for kind, names in whole.items()]
    words = _Words(axes.hosts, {kind.name: Renumbering(names) for kind, names in whole.items()})
    for answer, found in by_answer.items():
        for principal, signed in _by_principal_told_apart(axes.principals, found):
            for hosts, net in _by_hosts(axes.hosts, signed):
                sets = " ".join(words.of_names(answer.resource_type, names) for names in net)
                lines.append(f"{json.dumps([*answer, principal])} {words.of_hosts(hosts)} {sets}")
    return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()


class _Words:
    """Sets as texts that are the same for equal impacts, each made once."""

    def __init__(self, hosts: TextAxis, numbers: Mapping[str, Renumbering]) -> None:
        # Names by their places among all names that differ: these are the same for equal impacts.
        self._hosts, self._numbers = hosts, numbers
        self._known_hosts: dict[int, str] = {}
        self._known_names: dict[tuple[str, int], str] = {}

    def of_hosts(self, members: int) -> str:
        if members not in self._known_hosts:
            self._known_hosts[members] = json.dumps(self._hosts.described(members))
        return self._known_hosts[members]

    def of_names(self, resource_type: str, names: int) -> str:
        key = (resource_type, names)
        if key not in self._known_names:
            moved = self._numbers[resource_type].compact(Compact.of(names))
            self._known_names[key] = json.dumps(list(moved.runs()))
        return self._known_names[key]


class _Signed(NamedTuple):
    """Names that some principals have from some hosts, or, if `lacks`, that they lack where all others have them."""

    lacks: bool
    principals: int
    hosts: int
    names: Compact


def _by_principal_told_apart(axis: TextAxis, found: Iterable[_Signed]) -> Iterator[tuple[str, list[_Signed]]]:
    """Yield what all principals without answers of their own have, under `*`; and for each other what is different."""
    rest: list[_Signed] = []
    told: dict[int, list[_Signed]] = {}
    for each in found:
        if not each.principals & axis.others:
            for place in places_in(each.principals):
                told.setdefault(place, []).append(each)
            continue
        rest.append(each)
        missing = each._replace(lacks=True)
        for place in places_in(axis.all & ~each.principals):
            told.setdefault(place, []).append(missing)
    yield WILDCARD, rest
    for place, own in told.items():
        yield axis.texts[place], own


_FEW_HOSTS = 8


class _Sum:
    """Names that are had, and names that are lacked, from one host or several."""

    __slots__ = ("had", "lacked")

    def __init__(self, had: int = 0, lacked: int = 0) -> None:
        self.had, self.lacked = had, lacked

    def add(self, names: int, *, lacks: bool) -> None:
        if lacks:
            self.lacked |= names
        else:
            self.had |= names


def _by_hosts(axis: TextAxis, found: Iterable[_Signed]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each set of hosts from which the same names are had and lacked, with these names.

    Groups do not overlap, so from one host neither do the names had, nor those lacked. Sets of few hosts,
    and of all but few, are heeded host by host; by others the hosts are parted.
    """
    joined: dict[tuple[int, bool], int] = {}
    for each in found:
        key = (each.hosts, each.lacks)
        joined[key] = joined.get(key, 0) | each.names.whole
    everywhere = _Sum()
    by_place: dict[int, tuple[_Sum, _Sum]] = {}  # of a host: what is everywhere but there, and only there
    parts = [(axis.all, 0, 0)]
    for (hosts, lacks), names in joined.items():
        rest = axis.all & ~hosts
        is_few = hosts.bit_count() <= _FEW_HOSTS
        if not is_few and rest.bit_count() > _FEW_HOSTS:
            parts = list(_parted(parts, hosts, names, lacks=lacks))
            continue
        if not is_few:
            everywhere.add(names, lacks=lacks)
        for place in places_in(hosts if is_few else rest):
            not_there, there = by_place.setdefault(place, (_Sum(), _Sum()))
            (there if is_few else not_there).add(names, lacks=lacks)
    by_net: dict[tuple[int, int], int] = {}
    for hosts, had, lacked in _by_part(parts, everywhere, by_place):
        net = (had & ~lacked, lacked & ~had)
        by_net[net] = by_net.get(net, 0) | hosts
    return ((hosts, net) for net, hosts in by_net.items() if hosts and any(net))


_Part = tuple[int, int, int]
"""Hosts, and the names had and lacked from them."""


def _parted(parts: Iterable[_Part], hosts: int, names: int, *, lacks: bool) -> Iterator[_Part]:
    for part, had, lacked in parts:
        if inside := part & hosts:
            yield (inside, had, lacked | names) if lacks else (inside, had | names, lacked)
        if outside := part & ~hosts:
            yield outside, had, lacked


def _by_part(
    parts: Iterable[_Part], everywhere: _Sum, by_place: Mapping[int, tuple[_Sum, _Sum]]
) -> Iterator[_Part]:
    """Yield the parts with what is had everywhere, and apart from them the hosts that differ."""
    apart = set_of(by_place)
    for part, own_had, own_lacked in parts:
        had, lacked = own_had | everywhere.had, own_lacked | everywhere.lacked
        yield part & ~apart, had, lacked
        for place in places_in(part & apart):
            not_there, there = by_place[place]
            yield 1 << place, had & ~not_there.had | there.had, lacked & ~not_there.lacked | there.lacked


def _answer(group: Group, operation: Operation) -> Answer:
    before = None if group.before is None else group.before.result.value
    return Answer(group.change, operation.name, group.resource_type.name, before, group.after.result.value)


def _met(impact: Impact, changes: Collection[str]) -> Iterator[Met]:
    axes = impact.axes
    for group in impact.groups:
        if group.change not in changes:
            continue
        names = NameSet(axes.names[group.resource_type], group.names)
        for operation in group.operations:
            answer = _answer(group, operation)
            for principal, less, _ in entries_of(axes.principals, group.principals):
                for host, less_hosts, _ in entries_of(axes.hosts, group.hosts):
                    yield Met(answer, principal, host, less, less_hosts, names)


class Meaning:
    """The answers of an impact, session by session; equal for impacts that mean the same."""

    def __init__(self, found: Iterable[Met]) -> None:
        by_answer: dict[Answer, list[Met]] = {}
        for met in found:
            by_answer.setdefault(met.answer, []).append(met)
        self._answers: dict[Answer, ByPrincipal] = {
            answer: _by_principal(alike) for answer, alike in by_answer.items()
        }

    def beyond(self, other: Meaning) -> Iterator[tuple[Difference, tuple[NameClass, ...]]]:
        """Yield each kind of answer that this impact has on names for which the other lacks it, and these names."""
        for answer, own in self._answers.items():
            theirs = other._answers.get(answer, _NOBODY)
            for principal in {**own, **theirs}:
                mine, others = own.get(principal, own[WILDCARD]), theirs.get(principal, theirs[WILDCARD])
                for host in {**mine, **others}:
                    names = _from(mine, host)
                    only = tuple(names.not_in(_from(others, host) or ())) if names is not None else ()
                    if only:
                        yield Difference(answer, principal, host), only


_NOBODY: Mapping[str, ByHost] = {WILDCARD: {}}


def _from(by_host: ByHost, host: str) -> NameSet | None:
    return by_host.get(host, by_host.get(WILDCARD))


def _by_principal(alike: Sequence[Met]) -> ByPrincipal:
    """Return the names by session and host, of those sessions alone that differ from all others."""
    for_many = [met for met in alike if met.principal == WILDCARD]
    by_name: dict[str, list[Met]] = {}
    for met in alike:
        if met.principal != WILDCARD:
            by_name.setdefault(met.principal, []).append(met)
    rest = _by_host(for_many)
    found: ByPrincipal = {WILDCARD: rest}
    named = dict.fromkeys((*by_name, *(text for met in for_many for text in met.except_principals)))
    for principal in named:
        shared = [met for met in for_many if principal not in met.except_principals]
        own = by_name.get(principal, [])
        if not own and len(shared) == len(for_many):
            continue
        by_host = _by_host([*own, *shared])
        if by_host != rest:
            # One that has nothing of what all others have is an exception, and is kept as one.
            found[principal] = by_host
    return found


def _by_host(alike: Sequence[Met]) -> ByHost:
    """Return the names by host, of those hosts alone that differ from all others."""
    rest = _joined([met.names for met in alike if met.host == WILDCARD])
    found: ByHost = {} if rest is None else {WILDCARD: rest}
    for host in dict.fromkeys(
        text for met in alike for text in (*met.except_hosts, met.host) if text != WILDCARD
    ):
        names = _joined(
            [
                met.names
                for met in alike
                if met.host == host or (met.host == WILDCARD and host not in met.except_hosts)
            ]
        )
        if names != rest:
            found[host] = alike[0].names.none if names is None else names
    return found


def _joined(sets: Sequence[NameSet]) -> NameSet | None:
    if not sets:
        return None
    first, *others = sets
    for names in others:
        first = first | names
    return first
