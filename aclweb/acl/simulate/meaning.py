"""What does an impact mean, whatever ACLs settle its answers and however its cells are grouped?

Two impacts mean the same if the same sessions gain and lose the same operations on the same names. So each
kind of answer is laid out session by session, and what a session has in common with all others is
left out: then equal impacts look alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aclweb.acl.model import WILDCARD
from aclweb.acl.simulate.axes import NameClass, NameSet, Renumbering, runs_of


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


class Meaning:
    """The answers of an impact, session by session; equal for impacts that mean the same."""

    def __init__(self, found: Iterable[Met]) -> None:
        by_answer: dict[Answer, list[Met]] = {}
        for met in found:
            by_answer.setdefault(met.answer, []).append(met)
        self._answers: dict[Answer, ByPrincipal] = {
            answer: _by_principal(alike) for answer, alike in by_answer.items()
        }

    def beyond(self, other: Meaning) -> Iterator[tuple[Difference, NameClass]]:
        """Yield each kind of answer and name that this impact has and the other lacks."""
        for answer, own in self._answers.items():
            theirs = other._answers.get(answer, _NOBODY)
            for principal in {**own, **theirs}:
                mine, others = own.get(principal, own[WILDCARD]), theirs.get(principal, theirs[WILDCARD])
                for host in {**mine, **others}:
                    names = _from(mine, host)
                    if names is not None:
                        difference = Difference(answer, principal, host)
                        yield from ((difference, name) for name in names.not_in(_from(others, host) or ()))

    def digest(self) -> str:
        """Return the SHA-256 of what the impact means."""
        whole: dict[str, NameSet] = {}
        for answer, _, _, names in self._each():
            same = whole.get(answer.resource_type)
            whole[answer.resource_type] = names if same is None else same | names
        # Each set by its places among all names that differ: these are the same for equal impacts.
        numbers = {kind: Renumbering(names.members) for kind, names in whole.items()}
        lines = [json.dumps([kind, list(names)]) for kind, names in whole.items()]
        for answer, principal, host, names in self._each():
            places = list(runs_of(numbers[answer.resource_type].of(names.members)))
            lines.append(json.dumps([*answer, principal, host, places]))
        return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()

    def _each(self) -> Iterator[tuple[Answer, str, str, NameSet]]:
        for answer, by_principal in self._answers.items():
            for principal, by_host in by_principal.items():
                for host, names in by_host.items():
                    yield answer, principal, host, names


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
