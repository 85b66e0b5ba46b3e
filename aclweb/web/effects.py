"""How is a difference in access told to a person?

Turns the promised what-if JSON (also what a stored change holds) into rows of a table:
who, what, where, before and after in words. The order is the order of fear: losses first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, Operation, ResourceType
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.reach import is_address

KINDS = ("loses", "gains", "recovered", "depends")


@dataclass(frozen=True)
class Side:
    """One half of a difference: the answer, why, and the ACLs that gave it."""

    allowed: bool | None  # None: cannot be decided
    words: str
    bindings: tuple[AclBinding, ...]


@dataclass(frozen=True)
class Row:
    kind: str
    principal: str
    principal_words: str
    host: str
    operations: str  # "Read, Describe"
    resource_type: str
    resource_name: str | None
    resource_words: str  # "any other topic that starts with", or "" for one named resource
    resource_text: str
    before: Side | None
    after: Side
    reason: str


@dataclass(frozen=True)
class Tile:
    kind: str
    label: str
    count: int
    hint: str


def rows(impact: Mapping[str, Any], kind: str) -> list[Row]:
    """Return the differences of one kind ("loses", "gains", "recovered", "depends"), named principals first.

    Operations that differ in the same way for the same caller and resource share a row.
    """
    grouped: dict[tuple[object, ...], tuple[Row, list[Operation]]] = {}
    for entry in impact[kind]:
        row = _row(kind, entry)
        same = (row.principal_words, row.host, row.resource_type, row.resource_words, row.resource_text)
        sides = (row.before and row.before.words, row.after.words, row.reason)
        grouped.setdefault((*same, *sides), (row, []))[1].append(Operation[entry["operation"]])
    found = [
        replace(row, operations=", ".join(operation.pascal for operation in sorted(operations, key=_code)))
        for row, operations in grouped.values()
    ]
    return sorted(
        found,
        key=lambda row: (
            row.principal == WILDCARD,
            row.principal,
            row.resource_name is None,
            row.resource_text,
            row.operations,
        ),
    )


def _code(operation: Operation) -> int:
    return operation.code


def tiles(impact: Mapping[str, Any]) -> list[Tile]:
    """Return the five numbers, losses first."""

    def people(kind: str) -> str:
        named = {entry["principal"] for entry in impact[kind]}
        if not named:
            return "nobody"
        if WILDCARD in named:
            return "anybody" if len(named) == 1 else f"{len(named) - 1} named, and anybody"
        return "1 principal" if len(named) == 1 else f"{len(named)} principals"

    return [
        Tile("loses", "Loses access", len(impact["loses"]), people("loses")),
        Tile("gains", "Gains access", len(impact["gains"]), people("gains")),
        Tile("recovered", "Re-covered", len(impact["recovered"]), "same answer, other ACL"),
        Tile("depends", "Depends", len(impact["depends"]), "cannot tell from here"),
        Tile("unchanged", "Unchanged", impact["unchanged"], "answers looked at"),
    ]


def principal_words(principal: str, excepted: Sequence[str]) -> str:
    if principal == WILDCARD:
        return "Anybody else" if excepted else "Anybody"
    return "Any user" if principal == ANY_USER else principal


def _row(kind: str, entry: Mapping[str, Any]) -> Row:
    excepted = entry.get("except", {})
    hosts = excepted.get("hosts", [])
    host = entry["host"]
    if hosts:
        host = (
            f"any host but {', '.join(hosts)}" if len(hosts) < 3 else f"any host but {len(hosts)} named ones"
        )
    return Row(
        kind=kind,
        principal=entry["principal"],
        principal_words=principal_words(entry["principal"], excepted.get("principals", [])),
        host=host,
        operations="",
        resource_type=entry["resource_type"],
        resource_name=entry["resource_name"],
        resource_words=_resource_words(entry),
        resource_text=entry["names"]["text"] or "",
        before=None if entry["before"] is None else _side(entry["before"]),
        after=_side(entry["after"]),
        reason=entry.get("reason", "") or _why_nobody(entry["host"]),
    )


def _why_nobody(host: str) -> str:
    """Say that a difference meets nobody, where an ACL names a host that no client can have."""
    if host == WILDCARD or is_address(host):
        return ""
    return f"No client's address is {host!r}, so nobody meets this difference."


def _resource_words(entry: Mapping[str, Any]) -> str:
    thing = ResourceType[entry["resource_type"]].name.lower().replace("_", " ")
    words: dict[str, str] = {
        "EXACT": "",
        "PREFIX": f"any other {thing} that starts with",
        "PATTERN": f"any {thing} that matches",
        "ANY_OTHER": f"any other {thing}",
    }
    return words[entry["names"]["kind"]]


_BASIS_WORDS = {
    "SUPER_USER": "super user",
    "DENY_ACL": "refused by a DENY",
    "ALLOW_ACL": "allowed",
    "NO_ALLOW_ACL": "no ACL allows it",
    "DEFAULT_ALLOW": "open: no ACL at all",
    "DEFAULT_DENY": "no ACL at all, refused",
    "UNKNOWN_VALUE": "cannot tell",
}


def _side(side: Mapping[str, Any]) -> Side:
    return Side(
        allowed={"ALLOWED": True, "DENIED": False}.get(side["result"]),
        words=_BASIS_WORDS[side["basis"]],
        bindings=tuple(binding_from_dict(found) for found in side["determining"]),
    )
