"""What does one binding allow and deny, as bits? A mask joins what several come to."""

from __future__ import annotations

from aclweb.acl.model import Operation, PermissionType

ALL_BITS = 0xFFFF
DENY_SHIFT = 16
MAYBE_SHIFT = 32
"""A mask holds four fields of 16 operation bits: allowed, denied, perhaps allowed, perhaps denied."""

# What an ALLOW of one operation allows beside it; a DENY implies nothing.
IMPLIED: dict[Operation, Operation] = {
    Operation.READ: Operation.DESCRIBE,
    Operation.WRITE: Operation.DESCRIBE,
    Operation.DELETE: Operation.DESCRIBE,
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}


def mask_of(operation: Operation, permission: PermissionType) -> int:
    """Return what one binding with this operation and permission adds to a mask."""
    return MASKS[permission][operation]


def votes_in(mask: int) -> int:
    """Return the operations of which a mask says anything, as bits."""
    sure = mask | mask >> MAYBE_SHIFT
    return (sure | sure >> DENY_SHIFT) & ALL_BITS


def _mask(operation: Operation, permission: PermissionType) -> int:
    exact = ALL_BITS if operation is Operation.ALL else 1 << operation.code
    implied = IMPLIED.get(operation)
    allowing = exact | (1 << implied.code if implied is not None else 0)
    if operation is Operation.UNKNOWN:
        # An operation that we do not know could imply the one asked for, but only an ALLOW implies.
        return 0 if permission is PermissionType.DENY else ALL_BITS << MAYBE_SHIFT
    if permission is PermissionType.ALLOW:
        return allowing
    if permission is PermissionType.DENY:
        return exact << DENY_SHIFT
    return (allowing | exact << DENY_SHIFT) << MAYBE_SHIFT


MASKS: dict[PermissionType, dict[Operation, int]] = {
    permission: {
        operation: _mask(operation, permission) for operation in Operation if operation is not Operation.ANY
    }
    for permission in (PermissionType.ALLOW, PermissionType.DENY, PermissionType.UNKNOWN)
}
