"""Which worlds of two ACLs and one edit are there over a small alphabet, and what does each edit change?

What is expected comes from `decide`, asked for every cell before and after, and from the reference, which
says which ALLOWs match a cell. A cell is a name, a principal, a host and an operation, and a set of cells
is one integer, so that a set of ACLs is decided once for all edits that lead to it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations, product
from math import comb

from aclweb.acl.authorizer import AclIndex, Basis, Result, decide
from aclweb.acl.model import (
    OPERATIONS,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    operations_of,
)
from aclweb.acl.simulate import Names
from tests import reference

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = PermissionType.ALLOW, PermissionType.DENY
ADA, EVERYBODY, SOMEBODY = "User:ada", "User:*", "User:nobody-names-me"
HOST, ELSEWHERE = "10.0.0.7", "172.16.0.1"
PRINCIPALS, HOSTS = (ADA, SOMEBODY), (HOST, ELSEWHERE)
GIVEN = ("a", "abc")
STARRED = "*-"
ASKED = ("", "a", "ab", "abc", "*", "a-", "ab-", "b", STARRED)
"""Names of which each class of names has one at least; those with `-`, and `b`, are in no ACL."""

SETTINGS = tuple(
    AuthorizerSettings(authorizer, allow_everyone=allow_everyone)
    for authorizer in ("standard", "acl")
    for allow_everyone in (False, True)
)
_MOST = 2

Acls = tuple[int, ...]
"""ACLs of an alphabet by number, in ascending order."""


@dataclass(frozen=True)
class SmallWorld:
    """ACLs before and after one edit, which adds one, removes one, replaces one, or changes the settings."""

    before: Acls
    after: Acls
    settings: AuthorizerSettings
    after_settings: AuthorizerSettings


@dataclass(frozen=True)
class Alphabet:
    """All ACLs of a resource type that these parts make."""

    title: str
    resource_type: ResourceType
    patterns: Sequence[tuple[PatternType, str]]
    principals: Sequence[str]
    hosts: Sequence[str]
    operations: Sequence[Operation]

    @cached_property
    def acls(self) -> tuple[AclBinding, ...]:
        return tuple(
            AclBinding(self.resource_type, name, kind, principal, host, operation, permission)
            for (kind, name), principal, host, operation, permission in product(
                self.patterns, self.principals, self.hosts, self.operations, (ALLOW, DENY)
            )
        )

    @property
    def count(self) -> int:
        """How many worlds there are."""
        some = len(self.acls)
        added = sum(size * comb(some, size) for size in range(1, _MOST + 2))
        removed = sum(size * comb(some, size) for size in range(1, _MOST + 1))
        replaced = sum(size * (size - 1) * comb(some, size) for size in range(2, _MOST + 2))
        otherwise = len(other_settings(SETTINGS[0])) * sum(comb(some, size) for size in range(_MOST + 1))
        return len(SETTINGS) * (added + removed + replaced + otherwise)

    def worlds(self, settings: AuthorizerSettings, first: int) -> Iterator[SmallWorld]:
        """Yield every world under these settings of whose ACLs this has the lowest number.

        first: -1 for the world without ACLs. Worlds of the same ACLs follow each other.
        """
        if first < 0:
            yield from _to_other_settings((), settings)
            return
        for size in range(_MOST + 1):
            for more in combinations(range(first + 1, len(self.acls)), size):
                acls = (first, *more)
                less = [tuple(own for own in acls if own != acl) for acl in acls]
                for one in less:
                    yield SmallWorld(one, acls, settings, settings)
                for one, other in permutations(less, 2):
                    yield SmallWorld(one, other, settings, settings)
                if size < _MOST:
                    yield from (SmallWorld(acls, one, settings, settings) for one in less)
                    yield from _to_other_settings(acls, settings)

    def random_world(self, chance: random.Random, settings: AuthorizerSettings) -> SmallWorld:
        """Return one of the worlds under these settings."""
        acls = tuple(sorted(chance.sample(range(len(self.acls)), chance.choice((1, 2, 3, 3)))))
        one, other = (tuple(own for own in acls if own != acl) for acl in chance.choices(acls, k=2))
        turn = chance.random()
        if turn < 0.1:
            return chance.choice(list(_to_other_settings(one, settings)))
        if turn < 0.4 and one != other:
            return SmallWorld(one, other, settings, settings)
        if turn < 0.7 and len(acls) <= _MOST:
            return SmallWorld(acls, one, settings, settings)
        return SmallWorld(one, acls, settings, settings)

    def delta(self, world: SmallWorld) -> Delta:
        """Return the edit of a world."""
        return Delta(
            tuple(self.acls[acl] for acl in world.after if acl not in world.before),
            tuple(self.acls[acl] for acl in world.before if acl not in world.after),
        )

    def index(self, acls: Acls) -> AclIndex:
        """Return an index of these ACLs."""
        return AclIndex(self.acls[acl] for acl in acls)

    @property
    def names(self) -> Names:
        """Return what exists."""
        return Names(topics=GIVEN) if self.resource_type is ResourceType.TOPIC else Names(groups=GIVEN)


def other_settings(settings: AuthorizerSettings) -> tuple[AuthorizerSettings, ...]:
    """Return the settings with one of them changed."""
    return (
        AuthorizerSettings(
            "acl" if settings.is_standard else "standard", allow_everyone=settings.allow_everyone
        ),
        replace(settings, allow_everyone=not settings.allow_everyone),
        replace(settings, super_users=frozenset({ADA})),
    )


def _to_other_settings(acls: Acls, settings: AuthorizerSettings) -> Iterator[SmallWorld]:
    return (SmallWorld(acls, acls, settings, other) for other in other_settings(settings))


@dataclass(frozen=True)
class Answers:
    """What `decide` says of a set of ACLs: the cells of each basis, and those that are allowed."""

    allowed: int
    by_basis: Mapping[Basis, int]


class Judge:
    """Knows what each edit of an alphabet changes."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.operations = OPERATIONS[alphabet.resource_type]
        self._bits = len(self.operations)
        self._known: dict[tuple[Acls, AuthorizerSettings], Answers] = {}
        self._latest: tuple[tuple[Acls, AuthorizerSettings], Answers] | None = None
        self._matching: dict[tuple[int, AuthorizerSettings], int] = {}

    # What is asked.

    @cached_property
    def requests(self) -> tuple[AccessRequest, ...]:
        """The request of each cell, in the order of the bits of a set of cells."""
        kind = self.alphabet.resource_type
        return tuple(
            AccessRequest(principal, host, operation, kind, name)
            for name, principal, host, operation in product(ASKED, PRINCIPALS, HOSTS, self.operations)
        )

    def cells(
        self,
        names: Iterable[str],
        principals: Iterable[str],
        hosts: Iterable[str],
        operations: Iterable[Operation],
    ) -> int:
        """Return the set of all combinations of these."""
        codes = sum(1 << self.operations.index(operation) for operation in operations)
        places = list(product(map(PRINCIPALS.index, principals), map(HOSTS.index, hosts)))
        of_a_name = sum(codes << self._bits * (who * len(HOSTS) + where) for who, where in places)
        width = self._bits * len(PRINCIPALS) * len(HOSTS)
        return sum(of_a_name << width * ASKED.index(name) for name in names)

    def cells_of(
        self, principals: tuple[str, ...], hosts: tuple[str, ...], operations: tuple[Operation, ...]
    ) -> int:
        """Return the same for every name."""
        key = (principals, hosts, operations)
        if key not in self._cells:
            self._cells[key] = self.cells(ASKED, *key)
        return self._cells[key]

    @cached_property
    def _cells(self) -> dict[tuple[tuple[str, ...], tuple[str, ...], tuple[Operation, ...]], int]:
        return {}

    # What is decided.

    def answers(self, acls: Acls, settings: AuthorizerSettings) -> Answers:
        """Return what `decide` says of every cell under these ACLs."""
        key = (acls, settings)
        if len(acls) <= _MOST:
            if key not in self._known:
                self._known[key] = self._decided(*key)
            return self._known[key]
        if self._latest is None or self._latest[0] != key:
            self._latest = (key, self._decided(*key))
        return self._latest[1]

    def _decided(self, acls: Acls, settings: AuthorizerSettings) -> Answers:
        index = self.alphabet.index(acls)
        allowed, by_basis = 0, dict.fromkeys(Basis, 0)
        for place, request in enumerate(self.requests):
            result, basis = decide(request, index, settings)
            by_basis[basis] |= 1 << place
            if result is Result.ALLOWED:
                allowed |= 1 << place
        return Answers(allowed, by_basis)

    def matching(self, acl: int, settings: AuthorizerSettings) -> int:
        """Return the cells that an ACL matches, by the reference."""
        key = (acl, settings)
        if key not in self._matching:
            binding = self.alphabet.acls[acl]
            self._matching[key] = sum(
                1 << place
                for place, request in enumerate(self.requests)
                if reference.covers(binding, request.resource_type, request.resource_name or "", settings)
                and reference.matches_entry(binding, request, settings)
            )
        return self._matching[key]

    # What changes.

    def expected(self, world: SmallWorld) -> dict[str, int]:
        """Return the cells of each list of the impact, by deciding before and after."""
        before = self.answers(world.before, world.settings)
        after = self.answers(world.after, world.after_settings)
        both = before.allowed & after.allowed
        alike = sum(before.by_basis[basis] & after.by_basis[basis] for basis in Basis)
        by_acls = before.by_basis[Basis.ALLOW_ACL] & after.by_basis[Basis.ALLOW_ACL]
        shared = 0
        for acl in set(world.before) & set(world.after):
            if self.alphabet.acls[acl].permission_type is ALLOW:
                shared |= self.matching(acl, world.settings) & self.matching(acl, world.after_settings)
        return {
            "gains": after.allowed & ~before.allowed,
            "loses": before.allowed & ~after.allowed,
            "recovered": both & ~alike | both & by_acls & ~shared,
            "depends": 0,
        }

    # Classes of names, principals and hosts, worked out anew and not as the simulation does.

    def classes(self, world: SmallWorld) -> Mapping[tuple[str, str], int]:
        """Return the cells of each class of names, by its kind and text."""
        acls = [self.alphabet.acls[acl] for acl in {*world.before, *world.after}]
        literals = frozenset(b.resource_name for b in acls if b.pattern_type is LITERAL)
        prefixes = frozenset(b.resource_name for b in acls if b.pattern_type is PREFIXED)
        standards = world.settings.is_standard + world.after_settings.is_standard
        key = (literals, prefixes, standards)
        found = self._classes.get(key)
        if found is None:
            names: dict[tuple[str, str], list[str]] = {}
            for name in ASKED:
                if own := self._class_of(name, literals, prefixes, standards):
                    names.setdefault(own, []).append(name)
            found = self._classes[key] = {
                own: self.cells(some, PRINCIPALS, HOSTS, self.operations) for own, some in names.items()
            }
        return found

    @cached_property
    def _classes(self) -> dict[tuple[frozenset[str], frozenset[str], int], Mapping[tuple[str, str], int]]:
        return {}

    def _class_of(
        self, name: str, literals: frozenset[str], prefixes: frozenset[str], standards: int
    ) -> tuple[str, str] | None:
        """Return the class of a name; None where the name is none that this type of resource can have."""
        free = self.alphabet.resource_type is ResourceType.GROUP
        exact = {*GIVEN, *literals} - {"*"}
        if "" in prefixes and standards < 2:
            exact.add("")
        if not standards:
            prefixes -= {""}
        if free and standards and "*" in literals:
            prefixes |= {"*"}
        if free and "*" in prefixes:
            exact.add("*")
        if name in exact:
            return "EXACT", name
        longest = max((own for own in prefixes if name.startswith(own)), key=len, default=None)
        if name in ("", "*") or (name == STARRED and not free and longest != "*"):
            return None
        return ("ANY_OTHER", "") if longest is None else ("PREFIX", longest)

    def operations_asked(self, world: SmallWorld) -> int:
        """Return the cells of the operations that brokers ask for before or after."""
        kind = self.alphabet.resource_type
        key = (world.settings.authorizer, world.after_settings.authorizer)
        if key not in self._asked:
            asked = {*operations_of(kind, world.settings), *operations_of(kind, world.after_settings)}
            self._asked[key] = self.cells(ASKED, PRINCIPALS, HOSTS, asked)
        return self._asked[key]

    @cached_property
    def _asked(self) -> dict[tuple[str, str], int]:
        return {}
