"""Read the demo's tables of ACLs: one line for each right.

    ALLOW | User:orders-api | WRITE DESCRIBE | TOPIC orders.created.v2
    DENY | User:data-explorer | READ | PREFIXED TOPIC payments. | 10.20.9.5

A line gives one binding for each operation; without a last column the host is `*`. Lines
that start with `#` say why the lines below them are there.
"""

from __future__ import annotations

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType


def read_table(text: str) -> tuple[AclBinding, ...]:
    """Return the bindings of a table, in its order; two lines for the same binding are an error."""
    bindings: dict[AclBinding, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        for binding in _read_line(line):
            if binding in bindings:
                raise ValueError(
                    f"{line!r} repeats a binding of {bindings[binding]!r}; leave one of them out."
                )
            bindings[binding] = line
    return tuple(bindings)


def _read_line(line: str) -> list[AclBinding]:
    permission, principal, operations, resource, *hosts = (cell.strip(" ") for cell in line.split(" | "))
    prefixed = resource.startswith("PREFIXED ")
    resource_type, _, name = resource.removeprefix("PREFIXED ").partition(" ")
    return [
        AclBinding(
            resource_type=ResourceType.parse(resource_type),
            resource_name=name,
            pattern_type=PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            principal=principal,
            host=hosts[0] if hosts else "*",
            operation=Operation.parse(operation),
            permission_type=PermissionType.parse(permission),
        )
        for operation in operations.split()
    ]
