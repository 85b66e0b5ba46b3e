"""What does an impact mean, whatever ACLs settle its answers and however its cells are grouped?

Two impacts mean the same if the same sessions gain and lose the same operations on the same names. So each
kind of answer is laid out session by session, and what a session has in common with all others is
left out: then equal impacts look alike. To lay out is costly where groups are many, so groups that two
impacts share are set aside first (`apart`), and `sessions_in` says what is left to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from aclweb.acl.model import WILDCARD, Operation, ResourceType
from aclweb.acl.simulate.axes import NameClass, NameSet, TextAxis
from aclweb.acl.simulate.impact import Group, Impact, entries_of
from aclweb.acl.simulate.sets import Places


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


def apart(one: Impact, other: Impact, changes: Collection[str]) -> tuple[Impact, Impact]:
    """Return both impacts without the groups that they share, and without the lists that do not count.

    Groups of one impact do not overlap, so all that either has beyond the other is still there.
    """
    same_names = one.axes.names == other.axes.names
    ours, theirs = (
        {keys.of(group): group for group in impact.groups if group.change in changes}
        for impact, keys in ((each, _Keys(each, same_names=same_names)) for each in (one, other))
    )
    return (
        replace(one, groups=tuple(group for key, group in ours.items() if key not in theirs)),
        replace(other, groups=tuple(group for key, group in theirs.items() if key not in ours)),
    )


def sessions_in(impact: Impact) -> int:
    """Return how many sessions are looked at one by one to lay out an impact: principals, hosts and exceptions."""
    axes = impact.axes
    return sum(
        _few_of(axes.principals, group.principals) * _few_of(axes.hosts, group.hosts) * len(group.operations)
        for group in impact.groups
    )


def _few_of(axis: TextAxis, members: int) -> int:
    """Return how many texts a set names: those in it or, where it holds all others, those that are not."""
    return 1 + (axis.all & ~members).bit_count() if members & axis.others else members.bit_count()


class _Keys:
    """Of which cells is a group, and what becomes of them? Equal for equal groups of two impacts.

    same_names: whether both impacts part names alike, so that sets of them can be compared as they are.
    """

    def __init__(self, impact: Impact, *, same_names: bool) -> None:
        self._axes, self._same_names = impact.axes, same_names
        self._names: dict[tuple[ResourceType, Places], Hashable] = {}
        self._texts: dict[tuple[int, bool], tuple[bool, tuple[str, ...]]] = {}

    def of(self, group: Group) -> Hashable:
        """Return the key of a group."""
        axes = self._axes
        return (
            *(_answer(group, operation) for operation in group.operations),
            self._described(axes.principals, group.principals, is_host=False),
            self._described(axes.hosts, group.hosts, is_host=True),
            self._names_of(group),
        )

    def _described(self, axis: TextAxis, members: int, *, is_host: bool) -> tuple[bool, tuple[str, ...]]:
        key = (members, is_host)
        if key not in self._texts:
            self._texts[key] = axis.described(members)
        return self._texts[key]

    def _names_of(self, group: Group) -> Hashable:
        names = group.compact_names.least
        if self._same_names:
            return names
        key = (group.resource_type, names)
        if key not in self._names:
            classes = list(self._axes.names[group.resource_type].classes(names.whole))
            self._names[key] = hashlib.sha256(json.dumps(classes).encode("ascii")).digest()
        return self._names[key]


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
