"""What do the ACLs that match a principal give it? A row for each resource pattern, host and permission.

ACLs that differ by their operation alone share a row. Each row tells which existing names it reaches, and what the
principal may do with them when all ACLs are counted; what no ACL grants has a row of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.matching import covers_name
from aclweb.acl.model import ANY_USER, AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.clusters import Known
from aclweb.inventory.access import PrincipalAccess, Reach
from aclweb.inventory.current import ClusterView

NAMES_SHOWN = 4  # of those that a row reaches

OWN, ANY, DENY = "own", "any", "deny"
SHOWS = (OWN, ANY, DENY)


@dataclass(frozen=True)
class Right:
    """One ACL of a row. idle: whether it allows nothing now: no existing name matches, a DENY counts, or no request."""

    acl: AclBinding
    idle: bool = False


@dataclass(frozen=True)
class Row:
    """ACLs that differ by their operation alone, DENY or ALLOW; none where no ACL is needed.

    reaches: the existing names that it matches and that the principal may do something with, in order.
    """

    rights: tuple[Right, ...]
    reaches: tuple[Reach, ...] = ()

    @property
    def binding(self) -> AclBinding | None:
        """The first ACL, for what all have alike."""
        return self.rights[0].acl if self.rights else None

    @property
    def acls(self) -> tuple[AclBinding, ...]:
        return tuple(right.acl for right in self.rights)

    @property
    def is_deny(self) -> bool:
        return self.binding is not None and self.binding.permission_type is PermissionType.DENY

    @property
    def is_for_any_user(self) -> bool:
        return self.binding is not None and self.binding.principal == ANY_USER

    @property
    def resource_type(self) -> ResourceType:
        return self.binding.resource_type if self.binding else self.reaches[0].resource.resource_type

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What may be done without any ACL."""
        return self.reaches[0].operations if self.reaches and not self.rights else ()

    @property
    def opens(self) -> bool:
        """Whether the names that it reaches say more than its pattern."""
        if self.binding is None:
            return bool(self.reaches)
        is_one_name = (
            self.binding.pattern_type is PatternType.LITERAL and not self.binding.pattern.is_wildcard
        )
        return bool(self.reaches) and not is_one_name

    @property
    def shown(self) -> tuple[Reach, ...]:
        return self.reaches[:NAMES_SHOWN]

    @property
    def more(self) -> int:
        return len(self.reaches) - len(self.shown)


def rows_of(found: PrincipalAccess, show: str = "") -> list[Row]:
    """Return the rows of a principal: what denies, its own, those for any user, and what needs no ACL.

    show: of SHOWS, or all.
    """
    denies = sorted(found.denies, key=lambda acl: acl.principal == ANY_USER)
    allows = [acl for acl in (*found.own, *found.inherited) if acl.permission_type is not PermissionType.DENY]
    alike: dict[AclBinding, list[AclBinding]] = {}
    for acl in (*denies, *allows):
        alike.setdefault(replace(acl, operation=Operation.ALL), []).append(acl)
    rows = [Row(tuple(map(Right, acls))) for acls in alike.values()]
    if show == DENY:
        return [row for row in rows if row.is_deny]
    if show in (OWN, ANY):
        return [row for row in rows if row.is_for_any_user == (show == ANY)]
    return rows + _without_acl(found.resources)


def with_reaches(rows: Sequence[Row], found: PrincipalAccess, view: ClusterView) -> list[Row]:
    """Return the rows with the names that each reaches, and with the ACLs that allow nothing.

    No ACL is said to allow nothing where not all names of its type are known and looked at, or where what one of the
    principal's ACLs of the type means is unknown.
    """
    by_type: dict[ResourceType, list[Reach]] = {}
    for reach in found.resources:
        by_type.setdefault(reach.resource.resource_type, []).append(reach)
    is_whole = found.total <= len(found.resources)
    unsure = {acl.resource_type for acl in (*found.own, *found.inherited) if acl.has_unknown}

    def told(row: Row) -> Row:
        if row.is_deny or row.binding is None:
            return row
        binding, kind = row.binding, row.resource_type
        matched = tuple(
            reach
            for reach in by_type.get(kind, ())
            if covers_name(binding, reach.resource.name, view.settings)
        )
        able = {operation for reach in matched for operation in reach.operations}
        can_tell = is_whole and kind not in unsure and view.known(kind) is Known.ALL
        return Row(tuple(Right(acl, can_tell and not _gives(acl, able)) for acl in row.acls), matched)

    return [told(row) for row in rows]


def _gives(acl: AclBinding, able: Collection[Operation]) -> bool:
    """Return whether an ACL may be why one of these operations is allowed."""
    if acl.operation is Operation.ALL:
        return bool(able)
    return acl.operation in able or IMPLIED.get(acl.operation) in able


def _without_acl(resources: Iterable[Reach]) -> list[Row]:
    """Return a row for each type and operations of what is allowed though no ACL allows it."""
    alike: dict[tuple[object, ...], list[Reach]] = {}
    for reach in resources:
        if not reach.determining:
            alike.setdefault((reach.resource.resource_type, reach.operations), []).append(reach)
    return [Row((), tuple(reaches)) for reaches in alike.values()]
