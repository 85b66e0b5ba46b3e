"""What is compared: which two worlds, and which classes of names can differ between them?

A world is the ACLs in force and the authorizer settings, before the edit and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.matching import matching_of, why_no_address, why_no_resource
from aclweb.acl.model import (
    ANY_USER,
    OPERATIONS,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
    is_never_asked,
)
from tests.cell_by_cell.classes import EXACT, PREFIX, Names, Spot, Universe


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
    ) -> None:
        self.asked, self.merge_equal_hosts, self.met_only = delta, merge_equal_hosts, met_only
        self.index, self.names, self.settings, self.after_settings = index, names, settings, after_settings
        self.add = tuple(binding for binding in delta.add if binding not in index)
        self.remove = tuple(binding for binding in delta.remove if binding in index)
        self.added, self.removed = AclIndex(self.add), frozenset(self.remove)
        self.touching = AclIndex((*self.add, *self.remove))
        self.same_settings = settings.decides_like(after_settings)
        hosts = self._hosts_that_count() if merge_equal_hosts else index.hosts
        self.unmet = (
            frozenset(filter(self._is_nobodys, hosts | self.added.hosts | frozenset(names.hosts)))
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

    def _hosts_that_count(self) -> frozenset[str]:
        """Return the hosts of ACLs on which an answer that changes can hang.

        Where ACLs for principals by name change, only their own answers differ, or those of
        everybody alike, so that the hosts in ACLs for others tell no two addresses apart. Of a
        new name all that ACLs allow is a gain, whoever they are for.
        """
        principals = self.touching.principals
        is_for_all = any(binding.principal == ANY_USER for binding in self.touching)
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

    def is_no_resource(self, spot: Spot) -> bool:
        """Whether nothing can have a name of this class; what was given exists."""
        if spot.is_new or spot.kind not in (EXACT, PREFIX) or (spot.kind == EXACT and self.is_given(spot)):
            return False
        if spot.kind == PREFIX and not spot.text:
            return False
        pattern = PatternType.LITERAL if spot.kind == EXACT else PatternType.PREFIXED
        like = AclBinding(
            spot.resource_type, spot.text, pattern, ANY_USER, WILDCARD, Operation.READ, PermissionType.ALLOW
        )
        return why_no_resource(like) is not None

    def is_given(self, spot: Spot) -> bool:
        """Whether the name of this class was given, so that it exists."""
        if spot.resource_type not in self._given:
            self._given[spot.resource_type] = frozenset(self.universe.given(spot.resource_type))
        return spot.text in self._given[spot.resource_type]

    @cached_property
    def _given(self) -> dict[ResourceType, frozenset[str]]:
        return {}

    # Which classes of names can differ.

    def touched(self) -> Iterator[Spot]:
        """Yield the classes of names on which an answer can differ, and all new names."""
        for resource_type in OPERATIONS:
            untouched = dict(self.universe.new(resource_type))
            for spot in self._touched_of(resource_type):
                if spot.is_new:
                    untouched.pop(spot.text, None)
                yield spot
            yield from self.universe.exact_spots(resource_type, untouched)

    def _touched_of(self, resource_type: ResourceType) -> Iterator[Spot]:
        if not self.same_settings:
            return self.universe.all_spots(resource_type)
        shelf = self.touching.shelf(resource_type)
        if shelf is None:
            return iter(())
        nested = matching_of(self.settings).is_nested
        if not nested and not (shelf.wildcard or shelf.unknown_patterns or shelf.empty_prefix):
            return self.universe.spots_covered(shelf, resource_type)
        empty_covers_all = shelf.empty_prefix and self.settings.empty_prefix_covers_all
        if shelf.wildcard or shelf.unknown_patterns or empty_covers_all:
            return self.universe.all_spots(resource_type)
        literals = [*shelf.literals, ""] if shelf.empty_prefix else list(shelf.literals)
        return self.universe.spots_under(resource_type, literals, shelf.chain.prefixes)

    def asks_otherwise(self, resource_type: ResourceType) -> bool:
        """Whether brokers of only one side ask for some operation, so that ACLs which stay matter otherwise."""
        return any(
            is_never_asked(resource_type, operation, self.settings)
            != is_never_asked(resource_type, operation, self.after_settings)
            for operation in OPERATIONS[resource_type]
        )

    def resources(self) -> Iterator[Resource]:
        """Yield the given and new resources that the ACLs of the edit cover."""
        asked = AclIndex((*self.asked.add, *self.asked.remove))
        for resource_type in OPERATIONS:
            shelf = asked.shelf(resource_type)
            if shelf is None:
                continue
            names = dict.fromkeys(self.universe.given(resource_type)) | self.universe.new(resource_type)
            if not (shelf.wildcard or shelf.empty_prefix):
                under = self.universe.exact_under(shelf, resource_type)
                yield from (Resource(resource_type, name) for name in names if name in under)
                continue
            for name in names:
                if shelf.is_covered(name, self.settings) or shelf.is_covered(name, self.after_settings):
                    yield Resource(resource_type, name)
