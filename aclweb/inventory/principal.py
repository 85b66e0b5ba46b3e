"""What can one principal do on a cluster, and through which ACLs?

Names that the same patterns cover get the same answers. So the sorted names are cut
where a pattern of this principal begins or ends to cover them, one name of each piece is
decided, and fifty thousand topics cost no more than the principal has ACLs.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aclweb.acl.explain import name_text
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    Resource,
    ResourceType,
)
from aclweb.acl.patterns import covers_name
from aclweb.acl.profiles import operations_of
from aclweb.inventory import exposure
from aclweb.inventory.access import AccessRow, Matrix
from aclweb.inventory.current import InForce, in_force, span
from aclweb.inventory.models import Cluster

# Whoever may reach everything is told so in a sentence; nobody reads fifty thousand rows.
MOST_RESOURCES = 1000

_TYPES = (
    ResourceType.CLUSTER,
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.DELEGATION_TOKEN,
    ResourceType.USER,
)
# How many names of a type one can do an operation with, as a sentence tells it.
_TOLD: tuple[tuple[ResourceType, Operation, str, str, str], ...] = (
    (ResourceType.TOPIC, Operation.READ, "read", "topic", "topics"),
    (ResourceType.TOPIC, Operation.WRITE, "write to", "topic", "topics"),
    (ResourceType.GROUP, Operation.READ, "consume with", "group", "groups"),
    (ResourceType.TRANSACTIONAL_ID, Operation.WRITE, "use", "transactional id", "transactional ids"),
    (ResourceType.CLUSTER, Operation.ALTER, "change the ACLs of", "the cluster", ""),
)


class Reach(NamedTuple):
    """A resource, what the principal may do with it (from some host at least), and the ACLs that allow it."""

    resource: Resource
    operations: tuple[Operation, ...]
    determining: tuple[AclBinding, ...]


@dataclass(frozen=True)
class PrincipalAccess:
    """What one principal can do.

    own, inherited: the bindings that name it, and those for `User:*`. denies: the DENYs
    among both. resources: the existing names that it may do something with, what is
    particular first, at most MOST_RESOURCES of `total`. counts: names by type and operation.
    """

    principal: str
    is_super_user: bool
    sentences: tuple[str, ...]
    own: tuple[AclBinding, ...]
    inherited: tuple[AclBinding, ...]
    denies: tuple[AclBinding, ...]
    resources: tuple[Reach, ...]
    total: int
    counts: dict[tuple[ResourceType, Operation], int]


def principal_access(cluster: Cluster, principal: str) -> PrincipalAccess:
    """Return what this principal can do now; `User:*` means somebody whom no ACL names."""
    here = in_force(cluster)
    question = ("principal_access", principal, here.rules, here.groups_known)
    return here.holdings.remember(question, lambda: access_of(here, principal))


def access_of(here: InForce, principal: str) -> PrincipalAccess:
    """Return what this principal can do, by what `here` holds."""
    own: list[AclBinding] = []
    inherited: list[AclBinding] = []
    for binding in here.holdings.in_reading_order:
        if binding.principal == principal:
            own.append(binding)
        elif binding.principal == ANY_USER:
            inherited.append(binding)
    matrix = Matrix(here)
    counts: Counter[tuple[ResourceType, Operation]] = Counter()
    found: list[tuple[bool, Reach]] = []
    total = 0
    for kind in _TYPES:
        mine = [binding for binding in (*own, *inherited) if binding.resource_type is kind]
        for names, row in _pieces(here, matrix, principal, kind, mine):
            cells = [cell for cell in row.cells if cell.is_allowed_somewhere]
            if not cells:
                continue
            total += len(names)
            counts.update({(kind, cell.operation): len(names) for cell in cells})
            operations = tuple(cell.operation for cell in cells)
            determining = tuple(
                dict.fromkeys(
                    binding for cell in cells for binding in cell.determining if not binding.is_deny
                )
            )
            particular = any(not binding.pattern.is_wildcard for binding in determining)
            found += (
                (not particular, Reach(Resource(kind, name), operations, determining))
                for name in names[:MOST_RESOURCES]
            )
    found.sort(key=lambda item: item[0])  # stable: types and names stay in order
    is_super_user = principal in here.rules.super_users
    return PrincipalAccess(
        principal=principal,
        is_super_user=is_super_user,
        sentences=_sentences(here, principal, is_super_user, counts, own, inherited),
        own=tuple(own),
        inherited=tuple(inherited),
        denies=tuple(binding for binding in (*own, *inherited) if binding.is_deny),
        resources=tuple(reach for _, reach in found[:MOST_RESOURCES]),
        total=total,
        counts=dict(counts),
    )


def _pieces(
    here: InForce, matrix: Matrix, principal: str, kind: ResourceType, mine: Sequence[AclBinding]
) -> Iterator[tuple[Sequence[str], AccessRow]]:
    """Yield names that get the same answers, with the row of cells that holds for each of them."""
    names = _names(here, kind, mine)
    operations = operations_of(kind, here.rules)
    cuts = {0, len(names), *_edges_of(names, mine)}
    ordered = sorted(cut for cut in cuts if cut <= len(names))
    for start, end in itertools.pairwise(ordered):
        piece = names[start:end]
        for part in _parted_by_default(here, kind, piece, mine):
            resource = Resource(kind, part[0])
            covering = [
                binding
                for binding in mine
                if binding.pattern_type is PatternType.UNKNOWN or covers_name(binding, part[0], here.rules)
            ]
            if principal == ANY_USER:
                yield part, matrix.any_user(resource, operations, covering, here.principals)
            else:
                yield part, matrix.row(principal, resource, operations, covering)


def _names(here: InForce, kind: ResourceType, mine: Iterable[AclBinding]) -> tuple[str, ...]:
    """Return the names that exist, or for types that nobody lists the names that these ACLs mention."""
    if kind is ResourceType.CLUSTER:
        return (CLUSTER_NAME,)
    if kind is ResourceType.TOPIC or (kind is ResourceType.GROUP and here.groups is not None):
        return here.holdings.names[kind]
    mentioned = {
        binding.resource_name
        for binding in mine
        if binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard
    }
    return tuple(sorted(mentioned))


def _edges_of(names: tuple[str, ...], mine: Iterable[AclBinding]) -> set[int]:
    """Return the places where the answer can change: where a pattern begins or ends to cover the names."""
    edges: set[int] = set()
    for name, pattern_type in {(binding.resource_name, binding.pattern_type) for binding in mine}:
        edges.update(span(names, name, pattern_type))
    # `*` covers names that begin with an asterisk only in some authorizers, an empty prefix likewise.
    edges.update(span(names, WILDCARD, PatternType.PREFIXED))
    for special in ("", WILDCARD):
        place = bisect_left(names, special)
        edges.update((place, place + 1))
    return edges


def _parted_by_default(
    here: InForce, kind: ResourceType, piece: Sequence[str], mine: Iterable[AclBinding]
) -> Iterator[Sequence[str]]:
    """Yield the piece, parted where the cluster allows everyone what no ACL of anybody covers."""
    if not piece:
        return
    shelf = here.index.shelf(kind)
    open_by_default = here.rules.allow_everyone or "allow_everyone" in here.rules.undeclared
    if not open_by_default or shelf is None or any(covers_name(own, piece[0], here.rules) for own in mine):
        yield piece
        return
    covered = [name for name in piece if shelf.is_covered(name, here.rules)]
    uncovered = [name for name in piece if not shelf.is_covered(name, here.rules)]
    yield from (part for part in (covered, uncovered) if part)


def _sentences(
    here: InForce,
    principal: str,
    is_super_user: bool,
    counts: Counter[tuple[ResourceType, Operation]],
    own: Sequence[AclBinding],
    inherited: Sequence[AclBinding],
) -> tuple[str, ...]:
    who = "Somebody whom no ACL names" if principal == ANY_USER else name_text(principal)
    caveats = exposure.caveats(here.rules, default_applies=False)
    if is_super_user:
        return (f"{who} is a super user: it may do everything, and no ACL about it is looked at.", *caveats)
    told = [
        f"{verb} {one if not many else _number(counts[kind, operation], one, many)}"
        for kind, operation, verb, one, many in _TOLD
        if counts[kind, operation]
    ]
    if told:
        first = f"{who} can {exposure.joined(told)}."
    elif counts:
        first = f"{who} can neither read nor write anything that exists now, but is not without rights."
    else:
        first = f"{who} can do nothing with anything that exists now."
    denies = sum(binding.is_deny for binding in (*own, *inherited))
    if principal == ANY_USER:
        through = f"{_number(len(own), 'ACL names', 'ACLs name')} any user"
    else:
        through = (
            f"{_number(len(own), 'ACL names', 'ACLs name')} it and "
            f"{_number(len(inherited), 'counts', 'count')} for any user"
        )
    refusing = f"; {denies} of them {'is a DENY' if denies == 1 else 'are DENYs'}" if denies else ""
    return (first, f"{through}{refusing}.", *caveats)


def _number(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"
