"""Which ACLs will there be, after an edit, on the names that it is about, or of the principals that it names?

ACLs are found by how they are filed, so that the answer takes about as long as it has rows, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    PatternType,
    ResourcePattern,
)

REMOVED, ADDED, KEPT = STATES = ("removed", "added", "kept")

RESOURCES, PRINCIPALS = "resources", "principals"

MOST_KEPT = 5_000
"""So many ACLs that stay are listed."""


@dataclass(frozen=True)
class AclAfter:
    """One ACL, and what becomes of it."""

    state: str
    binding: AclBinding


@dataclass(frozen=True)
class AclsAfter:
    """The ACLs before and after an edit, those that change first. of: RESOURCES or PRINCIPALS.

    removed, added, kept: how many. is_cut: whether more are kept than are listed.
    """

    of: str
    rows: Sequence[AclAfter]
    removed: int
    added: int
    kept: int
    is_cut: bool


def acls_after(index: AclIndex, settings: AuthorizerSettings, delta: Delta, *, of: str) -> AclsAfter:
    """Return what becomes of the ACLs that can match a name which an ACL of the edit matches.

    of: PRINCIPALS for those that name a principal which an ACL of the edit names, instead.
    """
    removed = {binding for binding in delta.remove if binding in index}
    added = [binding for binding in dict.fromkeys(delta.add) if binding not in index]
    beside = _of_principals(index, delta) if of == PRINCIPALS else _on_names(index, settings, delta)
    found = list(islice(_not_in(beside, removed), MOST_KEPT + 1))
    kept = found[:MOST_KEPT]
    rows = [
        AclAfter(state, binding)
        for state, bindings in ((REMOVED, removed), (ADDED, added), (KEPT, kept))
        for binding in sorted(bindings, key=_order)
    ]
    return AclsAfter(of, rows, len(removed), len(added), len(kept), is_cut=len(found) > MOST_KEPT)


def _not_in(bindings: Iterable[AclBinding], others: set[AclBinding]) -> Iterator[AclBinding]:
    """Yield each binding once that is not among others."""
    seen = set(others)
    for binding in bindings:
        if binding not in seen:
            seen.add(binding)
            yield binding


def _of_principals(index: AclIndex, delta: Delta) -> Iterator[AclBinding]:
    for principal in sorted({binding.principal for binding in (*delta.add, *delta.remove)}):
        yield from index.of_principal(principal)


def _on_names(index: AclIndex, settings: AuthorizerSettings, delta: Delta) -> Iterator[AclBinding]:
    patterns = {binding.pattern for binding in (*delta.add, *delta.remove)}
    for pattern in sorted(patterns, key=lambda each: (each.resource_type.name, each.name)):
        yield from _meeting(index, settings, pattern)


def _meeting(index: AclIndex, settings: AuthorizerSettings, pattern: ResourcePattern) -> Iterator[AclBinding]:
    """Yield the ACLs that can match a name which a pattern matches too; some may come twice."""
    shelf = index.shelf(pattern.resource_type)
    if shelf is None:
        return
    name = pattern.name
    if pattern.pattern_type is PatternType.LITERAL and name != WILDCARD:
        yield from shelf.covering(name, settings)
    elif pattern.pattern_type is PatternType.PREFIXED:
        yield from shelf.covering(name, settings)
        yield from shelf.beginning_with(name)
    else:
        yield from shelf.one_by_one()


def _order(binding: AclBinding) -> tuple[object, ...]:
    return (
        binding.resource_type.name,
        binding.resource_name,
        binding.pattern_type.name,
        not binding.is_deny,
        binding.principal,
        binding.operation.code,
        binding.host,
    )
