"""Which ACL matches all that another matches, where one of the two has a glob?

Between globs nothing can be looked up by its beginning, so the ACLs are tried one by one,
the cheap parts first. The work is bounded: where there are very many globs, some ACLs are not
compared and count as not found, and so does a pattern whose comparison is given up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from aclweb.acl.matching import (
    WITH_GLOBS,
    Shape,
    Verdict,
    compared,
    covers,
    is_principal_glob,
    part_shapes,
    shape_of,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)

WORK = 3_000_000
"""How many pairs of ACLs are looked at for one answer."""

COMPARISON = 50
"""A comparison of two shapes counts as so many pairs, and one more for each of their characters."""

PLACE = 20
"""A place looked at in the texts of two hosts counts as so many pairs."""

_Place = tuple[ResourceType, PermissionType, Operation, str | None]
"""Where an ACL is filed; its principal is the last part, None for all principals that are globs."""


class GlobSubsumption:
    """The ACLs of an index that may be wider than another because of a glob in one of the two."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        self._all: dict[_Place, list[AclBinding]] = {}
        self._with_globs: dict[_Place, list[AclBinding]] = {}
        self._compared_hosts: set[tuple[str, str]] = set()
        self._left = WORK
        self.stopped_early = False
        """Whether some pairs were not compared, or not to the end."""
        for binding in bindings:
            if binding.has_unknown or split_principal(binding.principal) is None:
                continue
            principal = None if is_principal_glob(binding.principal) else binding.principal
            place = binding.resource_type, binding.permission_type, binding.operation, principal
            self._all.setdefault(place, []).append(binding)
            if WITH_GLOBS.has_glob(binding):
                self._with_globs.setdefault(place, []).append(binding)

    def find(
        self, binding: AclBinding, permission: PermissionType, operations: Sequence[Operation]
    ) -> AclBinding | None:
        """Return another binding with this permission and one of these operations that is at least as wide.

        Pairs without any glob are not tried.
        """
        candidates = self._all if WITH_GLOBS.has_glob(binding) else self._with_globs
        for operation, principal in product(operations, dict.fromkeys((binding.principal, ANY_USER, None))):
            for other in candidates.get((binding.resource_type, permission, operation, principal), ()):
                if self._left <= 0:
                    self.stopped_early = True
                    return None
                self._left -= 1
                if other != binding and self._is_wider(other, binding):
                    return other
        return None

    def _is_wider(self, wide: AclBinding, narrow: AclBinding) -> bool:
        plain = PatternType.GLOB not in (wide.pattern_type, narrow.pattern_type)
        return (
            (not plain or _is_wider_name(wide, narrow))
            and self._is_wider_principal(wide.principal, narrow.principal)
            and self._is_wider_host(wide.host, narrow.host)
            and (plain or wide.pattern == narrow.pattern or self._covers(shape_of(wide), shape_of(narrow)))
        )

    def _is_wider_principal(self, wide: str, narrow: str) -> bool:
        """Whether a principal of an ACL, with a type, is for every session that another is for."""
        if wide in (ANY_USER, narrow):
            return True
        outer = part_shapes(wide) if is_principal_glob(wide) else None
        # `User:*` is for principals of every type.
        inner = part_shapes(f"{WILDCARD}:{WILDCARD}" if narrow == ANY_USER else narrow)
        if outer is None or inner is None:
            return False
        return self._covers(outer[0], inner[0]) and self._covers(outer[1], inner[1])

    def _is_wider_host(self, wide: str, narrow: str) -> bool:
        is_wider, places = compared(wide, narrow)
        if places and (wide, narrow) not in self._compared_hosts:
            self._compared_hosts.add((wide, narrow))
            self._left -= COMPARISON + PLACE * places
        return is_wider

    def _covers(self, wide: Shape, narrow: Shape) -> bool:
        self._left -= COMPARISON + sum(shape.shortest + len(shape.parts) for shape in (wide, narrow))
        cover = covers(wide, narrow)
        self.stopped_early |= cover.verdict is Verdict.UNKNOWN
        return bool(cover)


def _is_wider_name(wide: AclBinding, narrow: AclBinding) -> bool:
    """Whether a LITERAL or PREFIXED pattern covers all that another covers; the wildcard covers every name."""
    own, other = wide.resource_name, narrow.resource_name
    if wide.pattern_type is PatternType.LITERAL:
        return own == WILDCARD or (own == other and narrow.pattern_type is PatternType.LITERAL)
    is_everything = narrow.pattern_type is PatternType.LITERAL and other == WILDCARD
    return not own or (other.startswith(own) and not is_everything)
