"""What is compared: which two worlds, and which classes of names can differ between them?

A world is the ACLs in force and the authorizer settings, before the edit and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.matching import matching_of, nobodys, why_no_address
from aclweb.acl.model import (
    ANY_USER,
    OPERATIONS,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    PatternType,
    ResourceType,
    computed_once,
    is_never_asked,
)
from aclweb.acl.simulate.classes import FREE_NAMES, Names, Universe
from aclweb.acl.simulate.sets import flags_of, run, set_of

_MANY_ASKED = 10_000
"""Of an edit of more ACLs each is looked up in a set of all that are there, and not by what they are filed by."""


class Worlds:
    """The two worlds, and what counts in them."""

    def __init__(
        self,
        delta: Delta,
        index: AclIndex,
        names: Names,
        settings: AuthorizerSettings,
        after_settings: AuthorizerSettings,
        *,
        merge_equal_hosts: bool = False,
        met_only: bool = False,
        with_acls: bool = True,
    ) -> None:
        self.asked, self.merge_equal_hosts, self.met_only = delta, merge_equal_hosts, met_only
        self.with_acls = with_acls
        self.index, self.names, self.settings, self.after_settings = index, names, settings, after_settings
        is_large = len(delta.add) + len(delta.remove) > _MANY_ASKED
        there = frozenset(index.bindings) if is_large else index
        self.add = tuple(binding for binding in delta.add if binding not in there)
        self.remove = tuple(binding for binding in delta.remove if binding in there)
        self.added, self.removed = AclIndex(self.add), frozenset(self.remove)
        self.touching = AclIndex((*self.add, *self.remove)) if self.remove else self.added
        self.same_settings = settings.decides_like(after_settings)
        hosts = self._hosts_that_count() if merge_equal_hosts else index.hosts
        self.unmet = (
            frozenset(
                filter(
                    self._is_nobodys,
                    (hosts - index.addresses) | self.added.hosts | frozenset(names.hosts),
                )
            )
            if met_only
            else frozenset[str]()
        )
        self.universe = Universe(
            index, self.added, names, settings, after_settings, hosts, without=self.unmet
        )
        self.shelves = {kind: (index.shelf(kind), self.added.shelf(kind)) for kind in OPERATIONS}
        index.require_known(settings)
        if index.first_glob is not None or self.added.first_glob is not None:
            AclIndex(b for b in (*index, *self.add) if b not in self.removed).require_known(after_settings)

    def starts(self, resource_type: ResourceType) -> tuple[str, ...]:
        """Return with what the names begin on which the answers of somebody can differ, by the patterns that change."""
        shelf = self.touching.shelf(resource_type)
        starts = set(shelf.chain.prefixes) if shelf is not None else set()
        if not self.same_settings or (shelf is not None and (shelf.wildcard or shelf.empty_prefix)):
            starts.add("")
        return tuple(sorted(starts))

    def _hosts_that_count(self) -> frozenset[str]:
        """Return the hosts of ACLs on which an answer that changes can hang.

        Where ACLs for principals by name change, only their own answers differ, or those of
        everybody alike, so that the hosts in ACLs for others tell no two addresses apart. Of a
        new name all that ACLs allow is a gain, whoever they are for.
        """
        principals = self.touching.principals
        # An unknown pattern may be on any name, so that the default for everybody hangs on it.
        is_for_all = any(
            binding.principal == ANY_USER or binding.pattern_type is PatternType.UNKNOWN
            for binding in self.touching
        )
        if is_for_all or not self.same_settings or not matching_of(self.settings).is_nested:
            return self.index.hosts
        shelves = filter(None, map(self.index.shelf, OPERATIONS))
        return frozenset(
            binding.host
            for shelf in shelves
            for principal in (*principals, ANY_USER)
            for binding in shelf.by_principal.get(principal, ())
        ) | frozenset(self._hosts_of_new_names())

    def _hosts_of_new_names(self) -> Iterator[str]:
        """Yield the hosts of the ACLs that cover a new name, or perhaps do."""
        for resource_type in OPERATIONS:
            shelf = self.index.shelf(resource_type)
            if shelf is None:
                continue
            for name in self.names.new(resource_type):
                for binding in (*shelf.covering(name, self.settings), *shelf.unknown_patterns):
                    yield binding.host

    def _is_nobodys(self, host: str) -> bool:
        """Whether no client's address can be this host in either world."""
        return all(
            why_no_address(host, settings) is not None for settings in {self.settings, self.after_settings}
        )

    def without_resource(self, resource_type: ResourceType, among: int) -> int:
        """Return those of these classes of which nothing can have a name; what was given exists."""
        if resource_type in FREE_NAMES:
            return 0
        axis = self.universe.axis(resource_type)
        unsure = among & run(0, axis.first_pattern) & ~(axis.given | axis.new)
        flags = flags_of(unsure, axis.first_pattern)
        names = nobodys(resource_type, compress(axis.exact, flags), are_literal=True)
        starts = nobodys(resource_type, compress(axis.prefixes, flags[len(axis.exact) :]), are_literal=False)
        # The pattern for all names is no name of its own.
        return set_of(
            chain(
                (axis.place_of(name) for name in names if name != WILDCARD),
                (axis.place_of_rest(start) for start in starts if start),
            )
        )

    def asks_otherwise(self, resource_type: ResourceType) -> bool:
        """Whether brokers of only one side ask for some operation, so that ACLs which stay matter otherwise."""
        return any(
            is_never_asked(resource_type, operation, self.settings)
            != is_never_asked(resource_type, operation, self.after_settings)
            for operation in OPERATIONS[resource_type]
        )

    def asks_about(self, resource_type: ResourceType) -> bool:
        """Whether the edit has ACLs of a type, in force or not."""
        return self._asked.shelf(resource_type) is not None

    def asked_names(self, resource_type: ResourceType, covered: Callable[[Iterable[AclBinding]], int]) -> int:
        """Return the given and new names that the ACLs of the edit cover, in force or not."""
        shelf = self._asked.shelf(resource_type)
        if shelf is None:
            return 0
        axis = self.universe.axis(resource_type)
        known = [b for b in shelf.unsorted if b.pattern_type is not PatternType.UNKNOWN]
        return covered(known) & (axis.given | axis.new)

    @computed_once
    def _asked(self) -> AclIndex:
        add, remove = self.asked.add, self.asked.remove
        is_same = len(add) == len(self.add) and len(remove) == len(self.remove)
        return self.touching if is_same else AclIndex((*add, *remove))
