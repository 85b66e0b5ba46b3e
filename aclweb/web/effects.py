"""How is a difference in access told to a person?

Turns the promised what-if JSON (also what a stored change holds) into rows of a table:
who, what, where, before and after in words. The order is the order of fear: losses first.
A draft can have a hundred thousand differences and a page shows fifty, so only the rows
that are asked for are put into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, Operation, ResourceType
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.reach import is_address

KINDS = ("loses", "gains", "recovered", "depends")


# An answer can hang on many ACLs that say the same; this many are spelled out.
MOST_TOLD = 2


@dataclass(frozen=True)
class Side:
    """One half of a difference: the answer and why; of those that gave it the first ACLs, and how many more."""

    allowed: bool | None  # None: cannot be decided
    words: str
    bindings: tuple[AclBinding, ...]
    more: int


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

    @property
    def tells_acls(self) -> bool:
        """Whether the ACLs are all that differs, so that without them the row would say nothing."""
        return self.kind == "recovered"


@dataclass(frozen=True)
class Tile:
    kind: str
    label: str
    count: int
    hint: str


class Rows(Sequence[Row]):
    """Differences in their order, each put into words when it is asked for."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self._groups = groups

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [_row(group) for group in self._groups[place]]
        return _row(self._groups[place])

    def holding(self, principal: str, name: str) -> Rows:
        """Return the rows whose principal and resource hold these texts, given in small letters."""
        if not principal and not name:
            return self
        return Rows(
            [
                group
                for group in self._groups
                if principal in group.entry["principal"].casefold()
                and name in (group.entry["names"]["text"] or "").casefold()
            ]
        )


@dataclass(frozen=True)
class _Group:
    """Operations that differ in the same way for the same caller and resource: `entry` is the first of them."""

    kind: str
    entry: Mapping[str, Any]
    operations: str


def rows(impact: Mapping[str, Any], *kinds: str) -> Rows:
    """Return the differences of these kinds, one after the other, in each those of named principals first.

    Operations that differ in the same way for the same caller and resource share a row.
    """
    return Rows([group for kind in kinds for group in _groups(kind, impact[kind])])


def _groups(kind: str, entries: Iterable[Mapping[str, Any]]) -> list[_Group]:
    grouped: dict[tuple[object, ...], tuple[Mapping[str, Any], list[str]]] = {}
    for entry in entries:
        found = grouped.get(key := _key(kind, entry))
        if found is None:
            found = grouped[key] = (entry, [])
        found[1].append(entry["operation"])
    groups = [_Group(kind, entry, _words(tuple(names))) for entry, names in grouped.values()]
    return sorted(groups, key=_place)


def _key(kind: str, entry: Mapping[str, Any]) -> tuple[object, ...]:
    """Return all that two differences must have in common to share a row."""
    before, after, names = entry["before"], entry["after"], entry["names"]
    excepted = entry.get("except")
    return (
        entry["principal"],
        entry["host"],
        excepted and (bool(excepted.get("principals")), *excepted.get("hosts", ())),
        entry["resource_type"],
        names["kind"],
        names["text"],
        before and (before["result"], before["basis"]),
        (after["result"], after["basis"]),
        entry.get("reason"),
        # Which ACLs gave the answer is all that differs here, so a row tells them.
        repr((before and before["determining"], after["determining"])) if kind == "recovered" else None,
    )


def _place(group: _Group) -> tuple[object, ...]:
    entry = group.entry
    principal = entry["principal"]
    is_any_name = entry["resource_name"] is None
    return (principal == WILDCARD, principal, is_any_name, entry["names"]["text"] or "", group.operations)


@lru_cache(maxsize=1_000)
def _words(operations: tuple[str, ...]) -> str:
    """Return operations, each named once, in Kafka's own order."""
    members = sorted({Operation[name] for name in operations}, key=lambda operation: operation.code)
    return ", ".join(member.pascal for member in members)


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


def _row(group: _Group) -> Row:
    entry = group.entry
    excepted = entry.get("except", {})
    hosts = excepted.get("hosts", [])
    host = entry["host"]
    if hosts:
        host = (
            f"any host but {', '.join(hosts)}" if len(hosts) < 3 else f"any host but {len(hosts)} named ones"
        )
    return Row(
        kind=group.kind,
        principal=entry["principal"],
        principal_words=principal_words(entry["principal"], excepted.get("principals", [])),
        host=host,
        operations=group.operations,
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
    "NOT_ASKED": "brokers never ask for it",
}


def _side(side: Mapping[str, Any]) -> Side:
    return Side(
        allowed={"ALLOWED": True, "DENIED": False}.get(side["result"]),
        words=_BASIS_WORDS[side["basis"]],
        bindings=tuple(map(binding_from_dict, side["determining"][:MOST_TOLD])),
        more=max(0, len(side["determining"]) - MOST_TOLD),
    )
