"""Whose answers can the edit change, on which names, and by which of their bindings?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from aclweb.acl.matching import matching_of
from aclweb.acl.model import ANY_USER, AclBinding, PatternType, split_principal
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.patterns import Pattern, operations_of_binding
from aclweb.acl.simulate.worlds import Worlds

ALL_OPERATIONS = -1
"""Every operation, as a set of their codes."""

_Patterns = dict[tuple[int, str], Pattern]


@dataclass(frozen=True, slots=True)
class Caller:
    """One session that is to be looked at, and on which names.

    principal: None for all that have no class of their own. region: the classes of names on which its
    answers can differ, for the operations that its own changes are about; everywhere: those on which
    they can for any operation. is_super: whether it is a super user on both sides; is_turned: on one.
    """

    principal: str | None
    region: int = 0
    everywhere: int = 0
    is_super: bool = False
    is_turned: bool = False


class Callers:
    """The sessions of one resource type whose answers can differ, and their bindings."""

    def __init__(self, worlds: Worlds, coverage: Coverage) -> None:
        self.worlds, self.coverage = worlds, coverage
        self._matching = worlds.universe.matching
        self._read_before, self._read_after = map(matching_of, (worlds.settings, worlds.after_settings))
        self._shelves = [shelf for shelf in (coverage.shelf, coverage.added) if shelf is not None]
        self._latest: dict[tuple[str, int], _Patterns] = {}
        self.unknown_old: list[AclBinding] = []
        self.unknown_new: list[AclBinding] = []
        if coverage.shelf is not None:
            self.unknown_old = coverage.shelf.unknown_patterns
            self.unknown_new = [b for b in self.unknown_old if b not in worlds.removed]
        if coverage.added is not None:
            self.unknown_new = self.unknown_new + coverage.added.unknown_patterns

    # Which names.

    @cached_property
    def everywhere(self) -> int:
        """The classes of names on which any answer to anybody can differ."""
        worlds, coverage, axis = self.worlds, self.coverage, self.coverage.axis
        if worlds.asks_otherwise(coverage.resource_type):
            return axis.all
        names = axis.new
        settings, after_settings = worlds.settings, worlds.after_settings
        if settings.allow_everyone or after_settings.allow_everyone:
            # Where the first ACL comes or the last one goes, the default gives way or comes back.
            names |= coverage.before ^ coverage.after
            if settings.allow_everyone != after_settings.allow_everyone:
                names |= axis.all & ~coverage.before
            if self._changes_unknown_patterns:
                return axis.all
        return names

    @cached_property
    def _changes_unknown_patterns(self) -> bool:
        if self.unknown_old != self.unknown_new:
            return True
        return any(self._is_read_otherwise(binding) for binding in self.unknown_old)

    def _is_read_otherwise(self, binding: AclBinding) -> bool:
        return not self.worlds.same_settings and not self._read_before.reads_caller_as(
            self._read_after, binding
        )

    # Who.

    def touched(self, without: int) -> Iterator[Caller]:
        """Yield the callers whose answers can differ; all others come first. without: names left out."""
        supers = self.worlds.settings.super_users | self.worlds.after_settings.super_users
        turned = self.worlds.settings.super_users ^ self.worlds.after_settings.super_users
        everywhere = self.everywhere & ~without
        others = Caller(None, self._region(self.others) & ~without & ~everywhere, everywhere)
        is_for_all = bool(others.region | others.everywhere)
        if is_for_all:
            yield others
        for principal in sorted(self._candidates(is_for_all) | (supers if is_for_all else turned)):
            if principal in turned:
                yield Caller(principal, everywhere=self.coverage.axis.all & ~without, is_turned=True)
                continue
            if principal in supers:
                yield Caller(principal, is_super=True)
                continue
            region = self._region(self.principals_for(principal)) & ~without & ~everywhere
            if region | everywhere or is_for_all:
                yield Caller(principal, region, everywhere)

    def _candidates(self, is_for_all: bool) -> set[str]:
        """Return the principals that a binding names, all of them or those in the edit."""
        if is_for_all:
            named = {principal for shelf in self._shelves for principal in shelf.by_principal}
        elif self.worlds.same_settings:
            shelf = self.worlds.touching.shelf(self.coverage.resource_type)
            named = set(shelf.by_principal) if shelf is not None else set()
        else:
            named = {p for shelf in self._shelves for p in shelf.by_principal if self._region([p])}
        named = {principal for principal in named if split_principal(principal) is not None}
        globs = self._matching.principal_globs(named)
        if globs and is_for_all:
            named |= self.worlds.universe.principals
        elif globs:
            universe = self.worlds.universe
            named |= {
                caller
                for caller in universe.principals
                if any(self._matching.is_for(own, universe.session(caller)) for own in globs)
            }
        return named - {ANY_USER}

    @cached_property
    def others(self) -> list[str]:
        """The principals of the bindings for a session that has no class of its own."""
        return self.principals_for(None)

    def principals_for(self, principal: str | None) -> list[str]:
        """Return the principals of the bindings for a session."""
        session = self.worlds.universe.session(principal)
        found = self._matching.principals_for(session, self._named)
        return [own for own in dict.fromkeys(found) if own == ANY_USER or split_principal(own) is not None]

    def _named(self) -> list[str]:
        return self._all_named

    @cached_property
    def _all_named(self) -> list[str]:
        return list(dict.fromkeys(p for shelf in self._shelves for p in shelf.by_principal))

    def names_of_its_own(self, caller: Caller, principals: Sequence[str]) -> int:
        """Return the classes of names on which bindings tell a session from those without a class of their own."""
        own = set(principals) ^ set(self.others)
        if any(binding.principal in own for binding in (*self.unknown_old, *self.unknown_new)):
            return self.coverage.axis.all
        names = 0
        operations = ALL_OPERATIONS
        if not caller.everywhere:
            operations = self.operations_changed({*principals, *self.others})
        for pattern in self.patterns(own, operations):
            names |= pattern.before | pattern.after
        return names

    # Their bindings.

    def _region(self, principals: Iterable[str]) -> int:
        """Return the classes of names on which a binding for one of these principals changes."""
        names = 0
        for principal in principals:
            if principal not in self._regions:
                self._regions[principal] = self._region_of(principal)
            names |= self._regions[principal]
        return names

    @cached_property
    def _regions(self) -> dict[str, int]:
        return {}

    def _region_of(self, principal: str) -> int:
        if self.worlds.same_settings:
            shelf = self.worlds.touching.shelf(self.coverage.resource_type)
            return self.coverage.joined(shelf.by_principal.get(principal, ())) if shelf is not None else 0
        if any(
            (binding in self.unknown_old) != (binding in self.unknown_new) or self._is_read_otherwise(binding)
            for binding in (*self.unknown_old, *self.unknown_new)
            if binding.principal == principal
        ):
            return self.coverage.axis.all
        names = 0
        for pattern in self._patterns_of(principal, ALL_OPERATIONS).values():
            names |= pattern.changed
        return names

    def operations_changed(self, principals: Iterable[str]) -> int:
        """Return the operations about which a binding for these principals that changes says something."""
        operations = 0
        for principal in principals:
            if not self.worlds.same_settings:
                return ALL_OPERATIONS
            shelf = self.worlds.touching.shelf(self.coverage.resource_type)
            for binding in shelf.by_principal.get(principal, ()) if shelf is not None else ():
                operations |= operations_of_binding(binding)
        return operations

    def read_for(
        self, principal: str | None, old: list[AclBinding], new: list[AclBinding]
    ) -> tuple[list[AclBinding], list[AclBinding]]:
        """Return those of the bindings before and after that are for a session as their side reads principals."""
        if self._read_before.is_nested == self._read_after.is_nested:
            return old, new
        session = self.worlds.universe.session(principal)
        return (
            [binding for binding in old if self._read_before.is_for(binding.principal, session)],
            [binding for binding in new if self._read_after.is_for(binding.principal, session)],
        )

    def unknown_operations(self, principals: Iterable[str]) -> int:
        """Return the operations about which a changed binding with an unknown pattern says something."""
        if self.unknown_old == self.unknown_new and self.worlds.same_settings:
            return 0
        own, before, after = set(principals), set(self.unknown_old), set(self.unknown_new)
        operations = 0
        for binding in before | after:
            is_changed = (binding in before) != (binding in after) or self._is_read_otherwise(binding)
            if binding.principal in own and is_changed:
                operations |= operations_of_binding(binding)
        return operations

    def patterns(self, principals: Iterable[str], operations: int) -> Iterable[Pattern]:
        """Return the patterns of the bindings for these principals that say something about these operations."""
        found: _Patterns = {}
        for principal in principals:
            key = (principal, operations)
            if principal in self.others:
                if key not in self._shared:
                    self._shared[key] = self._patterns_of(principal, operations)
                own = self._shared[key]
            else:
                if key not in self._latest:
                    self._latest = {key: self._patterns_of(principal, operations)}
                own = self._latest[key]
            if not found:
                found = dict(own)
                continue
            for pattern, there in own.items():
                same = found.get(pattern)
                found[pattern] = there if same is None else same.joined_with(there)
        return found.values()

    @cached_property
    def _shared(self) -> dict[tuple[str, int], _Patterns]:
        return {}

    def _patterns_of(self, principal: str, operations: int) -> _Patterns:
        found: _Patterns = {}
        worlds, shelf, added = self.worlds, self.coverage.shelf, self.coverage.added
        for binding in shelf.by_principal.get(principal, ()) if shelf is not None else ():
            told = operations_of_binding(binding)
            if not told & operations or binding.pattern_type is PatternType.UNKNOWN:
                continue
            pattern = self._pattern(found, binding)
            pattern.old.append(binding)
            if binding in worlds.removed:
                pattern.changed = pattern.before | pattern.after
                pattern.operations |= told
                continue
            pattern.new.append(binding)
            if not worlds.same_settings:
                if self._is_read_otherwise(binding):
                    pattern.changed = pattern.before | pattern.after
                    pattern.operations |= told
                elif pattern.before != pattern.after:
                    pattern.changed |= pattern.before ^ pattern.after
                    pattern.operations |= told
        for binding in added.by_principal.get(principal, ()) if added is not None else ():
            told = operations_of_binding(binding)
            if told & operations and binding.pattern_type is not PatternType.UNKNOWN:
                pattern = self._pattern(found, binding)
                pattern.new.append(binding)
                pattern.changed = pattern.before | pattern.after
                pattern.operations |= told
        return found

    def _pattern(self, found: _Patterns, binding: AclBinding) -> Pattern:
        # `_value_` because the hash of an enum is a Python function, and this is called for every binding.
        pattern_type, text = binding.pattern_type, binding.resource_name
        key = (pattern_type._value_, text)
        pattern = found.get(key)
        if pattern is None:
            worlds = self.worlds
            before = after = self.coverage.of(pattern_type, text, worlds.settings)
            if not worlds.same_settings:
                after = self.coverage.of(pattern_type, text, worlds.after_settings)
            pattern = found[key] = Pattern(pattern_type, text, before, after)
        return pattern
