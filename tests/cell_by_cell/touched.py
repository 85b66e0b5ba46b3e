"""Whose answers on one class of names can the edit change, and for which operations?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT
from aclweb.acl.matching import matching_of
from aclweb.acl.model import ANY_USER, AclBinding, Operation, PatternType, split_principal
from tests.cell_by_cell.classes import Spot
from tests.cell_by_cell.cover import Cover, joined_masks
from tests.cell_by_cell.worlds import Worlds


class Touched:
    """The callers and operations that the edit can change, class of names by class of names."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds, self._matching = worlds, worlds.universe.matching

    def differing(
        self, spot: Spot, before: Cover, after: Cover
    ) -> tuple[set[str], bool, Sequence[Operation]]:
        """Return where answers can differ: named principals, whether all others too, and operations."""
        operations = self.worlds.universe.operations(spot.resource_type)
        touching = self._touching(spot, before, after)
        allowing = self.worlds.settings.allow_everyone or self.worlds.after_settings.allow_everyone
        default_moves = allowing and (
            bool(before) != bool(after)
            or (
                self.worlds.settings.allow_everyone != self.worlds.after_settings.allow_everyone
                and not before
            )
            or any(binding.pattern_type is PatternType.UNKNOWN for binding in touching)
        )
        if self.worlds.same_settings and not spot.is_new and not default_moves:
            touched = joined_masks(touching)
            touched |= touched >> MAYBE_SHIFT
            touched |= touched >> DENY_SHIFT
            operations = tuple(op for op in operations if touched & 1 << op._value_)
        asks_otherwise = self.worlds.asks_otherwise(spot.resource_type)
        if spot.is_new or default_moves or asks_otherwise or any(map(self._is_for_others, touching)):
            supers = self.worlds.settings.super_users | self.worlds.after_settings.super_users
            named = before.principals | after.principals | supers
            if self._matching.principal_globs(named):
                named |= self.worlds.universe.principals
            return named - {ANY_USER}, True, operations
        callers = {b.principal for b in touching if split_principal(b.principal) is not None}
        callers |= self._matched_by(self._matching.principal_globs(callers))
        return (
            callers | (self.worlds.settings.super_users ^ self.worlds.after_settings.super_users),
            False,
            operations,
        )

    def _touching(self, spot: Spot, before: Cover, after: Cover) -> list[AclBinding]:
        """Return the bindings that cover these names on one side only, or are read otherwise there."""
        if self.worlds.same_settings:
            shelf = self.worlds.touching.shelf(spot.resource_type)
            return (
                []
                if shelf is None
                else shelf.covering(spot.sample, self.worlds.settings) + shelf.unknown_patterns
            )
        old = {*before.bindings, *before.unknown_patterns}
        new = {*after.bindings, *after.unknown_patterns}
        read_before, read_after = map(matching_of, (self.worlds.settings, self.worlds.after_settings))
        otherwise = [b for b in old & new if not read_before.reads_caller_as(read_after, b)]
        return [*(old ^ new), *otherwise]

    def _is_for_others(self, binding: AclBinding) -> bool:
        """Whether a binding is for callers that nobody names."""
        return self._matching.is_for(binding.principal, self.worlds.universe.session(None))

    def _matched_by(self, globs: Iterable[str]) -> set[str]:
        """Return the named callers that one of these globs of principals is for."""
        found: set[str] = set()
        for own in globs:
            if own not in self._callers_of:
                self._callers_of[own] = {
                    caller
                    for caller in self.worlds.universe.principals
                    if self._matching.is_for(own, self.worlds.universe.session(caller))
                }
            found |= self._callers_of[own]
        return found

    @cached_property
    def _callers_of(self) -> dict[str, set[str]]:
        return {}
