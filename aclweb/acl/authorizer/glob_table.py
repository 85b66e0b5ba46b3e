"""What may one session do with one name, where names, principals and hosts may be globs?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aclweb.acl.authorizer.mask_table import Masks, RangeTable, Slot, same_ranges
from aclweb.acl.authorizer.masks import MASKS
from aclweb.acl.matching import (
    WITH_GLOBS,
    GlobSet,
    Shape,
    glob_shape,
    is_host_glob,
    is_principal_glob,
)
from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, AuthorizerSettings, PatternType, split_principal


class GlobTable:
    """The bindings of one resource type as masks, for the authorizer `glob`.

    Principals without a wildcard are filed as in a MaskTable. The others, globs of principals or
    hosts, are found by a set of the principals' globs.
    """

    def __init__(self, groups: Mapping[str, Iterable[AclBinding]]) -> None:
        """Take the bindings by principal."""
        bindings = [binding for group in groups.values() for binding in group]
        self.unknown_patterns = tuple(b for b in bindings if b.pattern_type is PatternType.UNKNOWN)
        known = [b for b in bindings if b.pattern_type is not PatternType.UNKNOWN]
        # A principal whose patterns are all unknown is one for a question about the whole type, too.
        entries: dict[str, dict[str, list[AclBinding]]] = {
            principal: {} for principal in groups if split_principal(principal) is not None
        }
        for binding in known:
            if binding.principal in entries:
                entries[binding.principal].setdefault(binding.host, []).append(binding)
        self._hosts = {principal: _HostTable(hosts) for principal, hosts in entries.items()}
        self._globs = tuple(filter(is_principal_glob, entries))
        self._glob_set = GlobSet(map(glob_shape, self._globs))
        # Whether any binding covers a name, whoever it is for.
        self.covered = GlobCover((binding, 1) for binding in known)

    def principals_for(self, principal: str) -> Iterator[str]:
        """Yield the principals of bindings that are for this session."""
        for own in dict.fromkeys((principal, ANY_USER)):
            if own in self._hosts:
                yield own
        # The set reads each text as one glob: that finds all whose two parts match, and perhaps more.
        for place in self._glob_set.matching(principal):
            own = self._globs[place]
            if own != principal and WITH_GLOBS.is_for(own, principal):
                yield own

    def mask(self, principal: str, host: str, name: str, settings: AuthorizerSettings) -> int:
        """Return the joined masks of the bindings for this session that cover `name`."""
        mask = 0
        for own in self.principals_for(principal):
            for slot in self._hosts[own].admitting(host):
                mask |= slot.mask(name, settings)
        return mask

    def slots_of(self, principal: str, host: str, settings: AuthorizerSettings) -> Iterator[Slot]:
        """Yield the slots of the ACLs with this principal that admit the address."""
        if principal in self._hosts:
            yield from self._hosts[principal].admitting(host)


class _HostTable:
    """The bindings of one principal by host."""

    __slots__ = ("_globs", "_ranges", "_slots")

    def __init__(self, hosts: dict[str, list[AclBinding]]) -> None:
        self._slots = {
            host: GlobSlot((binding, MASKS[binding.permission_type][binding.operation]) for binding in group)
            for host, group in hosts.items()
        }
        self._globs = tuple(filter(is_host_glob, hosts))
        self._ranges = RangeTable(
            {
                found: self._slots[same[0]]
                if len(same) == 1
                else GlobSlot(
                    (binding, MASKS[binding.permission_type][binding.operation])
                    for host in same
                    for binding in hosts[host]
                )
                for found, same in same_ranges(hosts).items()
            }
        )

    def admitting(self, host: str) -> Iterator[Slot]:
        for own in dict.fromkeys((WILDCARD, host)):
            if own in self._slots:
                yield self._slots[own]
        yield from self._ranges.holding(host)
        for own in self._globs:
            if own != host and WITH_GLOBS.comes_from(own, host):
                yield self._slots[own]


class GlobSlot(Slot):
    """A slot that holds GLOB patterns beside the others."""

    __slots__ = ("_glob_masks", "_globs")

    def __init__(self, bindings: Iterable[tuple[AclBinding, int]]) -> None:
        plain: tuple[Masks, Masks] = ({}, {})
        globs: dict[Shape, int] = {}
        for binding, mask in bindings:
            name = binding.resource_name
            if binding.pattern_type is PatternType.GLOB:
                shape = glob_shape(name)
                globs[shape] = globs.get(shape, 0) | mask
            else:
                names = plain[0 if binding.pattern_type is PatternType.LITERAL else 1]
                names[name] = names.get(name, 0) | mask
        super().__init__(*plain)
        self._globs = GlobSet(globs)
        self._glob_masks = tuple(globs.values())

    @property
    def globs(self) -> Iterator[tuple[Shape, int]]:
        """Each GLOB pattern with its mask."""
        return zip(self._globs.shapes, self._glob_masks, strict=True)

    def mask(self, name: str, settings: AuthorizerSettings) -> int:
        """Return the masks of all patterns that cover `name`, joined."""
        found = super().mask(name, settings)
        if self._glob_masks:
            for place in self._globs.matching(name):
                found |= self._glob_masks[place]
        return found


class GlobCover(GlobSlot):
    """Whether any of many patterns covers a name, whoever they are for."""

    __slots__ = ()

    def covers(self, name: str, settings: AuthorizerSettings) -> bool:
        """Whether a pattern covers `name`."""
        return bool(self.mask(name, settings))
