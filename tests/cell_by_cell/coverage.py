"""Which ACLs cover a class of names before and after, and which classes have the same?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from aclweb.acl.authorizer import AclIndex, ResourceShelf
from aclweb.acl.matching import empty_prefix_covers, wildcard_covers
from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, AuthorizerSettings, ResourceType
from tests.cell_by_cell.budget import Meter
from tests.cell_by_cell.classes import Spot
from tests.cell_by_cell.cover import Cover, Group
from tests.cell_by_cell.impact import Side
from tests.cell_by_cell.worlds import Worlds


class Coverage:
    """The bindings that cover each class of names, before and after."""

    def __init__(self, worlds: Worlds, meter: Meter) -> None:
        self.worlds, self._meter = worlds, meter
        self._sides: dict[tuple[object, ...], Side] = {}

    @cached_property
    def near(self) -> Mapping[ResourceType, ResourceShelf | None]:
        """The bindings of the callers that the edit names, for types where nobody else can be changed.

        Names that differ in ACLs for others alone are then one class. Empty unless equal hosts are merged.
        """
        principals = {binding.principal for binding in self.worlds.touching}
        if (
            not (self.worlds.merge_equal_hosts and self.worlds.same_settings)
            or not self.worlds.universe.matching.is_nested
            or ANY_USER in principals
        ):
            return {}
        shelves = {
            kind: both
            for kind, both in self.worlds.shelves.items()
            if self.worlds.touching.shelf(kind) is not None
        }
        if any(shelf is not None and shelf.unknown_patterns for both in shelves.values() for shelf in both):
            return {}
        near = AclIndex(
            binding
            for shelf, _ in shelves.values()
            if shelf is not None
            for principal in (*sorted(principals), ANY_USER)
            for binding in shelf.by_principal.get(principal, ())
        )
        return {kind: near.shelf(kind) for kind in shelves}

    def is_covered_near(self, spot: Spot) -> tuple[bool, bool] | None:
        """Return whether any ACL covers the names before and after, where `near` has all else that counts."""
        kind, name = spot.resource_type, spot.sample
        if spot.is_new or kind not in self.near:
            return None
        shelf, added = self.worlds.shelves[kind]
        before = shelf is not None and shelf.is_covered(name, self.worlds.settings)
        after = before or (added is not None and added.is_covered(name, self.worlds.settings))
        if before and self.worlds.remove and shelf is not None:
            self._meter.spend(1)
            after = self._stays_covered(shelf, name) or (
                added is not None and added.is_covered(name, self.worlds.settings)
            )
        # Where the last ACL of a name goes, or its first comes, a default that allows touches everybody.
        return None if before != after and self.worlds.settings.allow_everyone else (before, after)

    def _stays_covered(self, shelf: ResourceShelf, name: str) -> bool:
        """Whether an ACL that stays covers a name, where the settings stay too."""
        covering: list[list[AclBinding]] = []
        if shelf.wildcard and name != WILDCARD and wildcard_covers(name, self.worlds.settings):
            covering.append(shelf.wildcard)
        if name in shelf.literals:
            covering.append(shelf.literals[name])
        covering += [shelf.prefixed[place] for place in shelf.chain.places(name)]
        if shelf.empty_prefix and empty_prefix_covers(name, self.worlds.settings):
            covering.append(shelf.empty_prefix)
        return any(binding not in self.worlds.removed for bindings in covering for binding in bindings)

    def key(self, spot: Spot, covered: tuple[bool, bool] | None) -> object:
        """Return a key that is equal only for classes of names with the same bindings on both sides."""
        name = spot.sample
        shelf, added = self.worlds.shelves[spot.resource_type]
        return (
            spot.resource_type,
            spot.is_new,
            covered,
            name == "",
            wildcard_covers(name, self.worlds.settings),
            wildcard_covers(name, self.worlds.after_settings),
            *(
                (
                    name if name in shelf.literals else None,
                    shelf.chain.longest(name),
                    tuple(shelf.glob_set.matching(name)) if shelf.globs else (),
                )
                for shelf in (shelf if covered is None else self.near[spot.resource_type], added)
                if shelf is not None
            ),
        )

    def covers(self, spot: Spot, covered: tuple[bool, bool] | None = None) -> tuple[Cover, Cover]:
        """Return the bindings that cover the class of names before and after.

        covered: whether any does, where those of the callers that the edit names are enough.
        """
        shelf, added = self.worlds.shelves[spot.resource_type]
        if covered is not None:
            shelf = self.near[spot.resource_type]
        before: list[Group] = []
        after: list[Group] = []
        unknown_before: list[AclBinding] = []
        unknown_after: list[AclBinding] = []
        if shelf is not None:
            before = self._groups(shelf, spot.sample, self.worlds.settings)
            kept = (
                before
                if self.worlds.same_settings
                else self._groups(shelf, spot.sample, self.worlds.after_settings)
            )
            after = self._left_of(kept)
            unknown_before = shelf.unknown_patterns
            unknown_after = [binding for binding in unknown_before if binding not in self.worlds.removed]
        if added is not None:
            after = after + self._groups(added, spot.sample, self.worlds.after_settings)
            unknown_after = unknown_after + added.unknown_patterns
        kind = spot.resource_type
        was, comes = covered or (None, None)
        brief = self.worlds.merge_equal_hosts
        return (
            Cover(
                kind,
                before,
                unknown_before,
                self.worlds.settings,
                self._sides,
                merge_equal_hosts=brief,
                covered=was,
            ),
            Cover(
                kind,
                after,
                unknown_after,
                self.worlds.after_settings,
                self._sides,
                merge_equal_hosts=brief,
                covered=comes,
            ),
        )

    def _groups(self, shelf: ResourceShelf, name: str, settings: AuthorizerSettings) -> list[Group]:
        """Return the bindings of a shelf that cover a name, pattern by pattern."""
        found = [shelf.literals[name]] if name in shelf.literals else []
        found += [shelf.prefixed[place] for place in shelf.chain.places(name)]
        if shelf.wildcard and name != WILDCARD and wildcard_covers(name, settings):
            found.append(shelf.wildcard)
        if shelf.empty_prefix and empty_prefix_covers(name, settings):
            found.append(shelf.empty_prefix)
        groups = [self._group_of(bindings) for bindings in found]
        if shelf.globs and (globs := shelf.globs_covering(name, settings)):
            groups.append(Group(globs))
        return groups

    def _group_of(self, bindings: list[AclBinding]) -> Group:
        """Return the group of a list that a shelf holds, the same for the same list."""
        found = self._known_groups.get(id(bindings))
        if found is None:
            found = self._known_groups[id(bindings)] = Group(bindings)
        return found

    @cached_property
    def _known_groups(self) -> dict[int, Group]:
        return {}

    def _left_of(self, groups: list[Group]) -> list[Group]:
        """Return what is left of each group when the removed bindings are gone."""
        left: list[Group] = []
        for group in groups:
            if id(group) not in self._left:
                kept = [binding for binding in group.bindings if binding not in self.worlds.removed]
                same = len(kept) == len(group.bindings)
                self._left[id(group)] = (group, group if same else Group(kept))
            found = self._left[id(group)][1]
            if found.bindings:
                left.append(found)
        return left

    @cached_property
    def _left(self) -> dict[int, tuple[Group, Group]]:
        return {}
