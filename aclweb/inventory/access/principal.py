"""What can one principal do on a cluster, and through which ACLs?

Names that the same patterns cover get the same answers. So the sorted names are cut
where a pattern of this principal begins or ends to cover them, one name of each piece is
decided, and fifty thousand topics cost no more than the principal has ACLs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    AclBinding,
    Operation,
    PatternType,
    Resource,
    ResourceType,
    name_text,
    operations_of,
)
from aclweb.clusters import Known
from aclweb.inventory.access.cells import AccessRow
from aclweb.inventory.access.covered_names import cut
from aclweb.inventory.access.matrix import Joined, Matrix
from aclweb.inventory.access.sentences import caveats, joined
from aclweb.inventory.current import ClusterView, Moment, in_force
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster

# Whoever may reach everything is told so in a sentence; nobody reads fifty thousand rows.
MOST_RESOURCES = 1000

TYPES = (
    ResourceType.CLUSTER,
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.DELEGATION_TOKEN,
    ResourceType.USER,
)
# Of which types and operations a sentence counts the names, and in which words.
_RIGHTS: tuple[tuple[ResourceType, Operation, str, str, str], ...] = (
    (ResourceType.TOPIC, Operation.READ, "read", "topic", "topics"),
    (ResourceType.TOPIC, Operation.WRITE, "write to", "topic", "topics"),
    (ResourceType.GROUP, Operation.READ, "consume with", "group", "groups"),
    (ResourceType.TRANSACTIONAL_ID, Operation.WRITE, "use", "transactional id", "transactional ids"),
    (ResourceType.CLUSTER, Operation.ALTER, "change the ACLs of", "the cluster", ""),
)


# Types of which the sentences count what exists.
_COUNTED = (ResourceType.TOPIC, ResourceType.GROUP)
_EXISTS = {
    Known.ALL: "exists now",
    Known.VISIBLE: "aclweb can see",
    Known.UNKNOWN: "ACLs name exactly",
}


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


def principal_access(
    cluster: Cluster, principal: str, *, as_of: Moment | None = None, just_read: bool = False
) -> PrincipalAccess:
    """Return what this principal can do, now or `as_of`; `User:*` means somebody whom no ACL names.

    just_read: as in `in_force`.
    """
    view = in_force(cluster, as_of, just_read=just_read)
    question = ("principal_access", principal, view.settings, view.known_of_all)
    return view.loaded.remember(question, lambda: access_of(view, principal))


def access_of(view: ClusterView, principal: str) -> PrincipalAccess:
    """Return what this principal can do, by what `view` holds."""
    inherited = view.loaded.naming(ANY_USER)
    own = view.loaded.naming(principal)
    if principal == ANY_USER:
        inherited = ()
    matrix = Matrix(view)
    counts: Counter[tuple[ResourceType, Operation]] = Counter()
    particular: list[_Piece] = []
    through_all: list[_Piece] = []
    total = 0
    for kind in TYPES:
        mine = [binding for binding in (*own, *inherited) if binding.resource_type is kind]
        for piece in pieces(view, matrix, principal, kind, mine):
            able = [verdict for verdict in piece.row.verdicts if verdict.is_allowed_somewhere]
            if not able:
                continue
            total += len(piece.names)
            for verdict in able:
                counts[kind, verdict.operation] += len(piece.names)
            (particular if any(verdict.is_particular for verdict in able) else through_all).append(piece)
    is_super_user = principal in view.settings.super_users
    return PrincipalAccess(
        principal=principal,
        is_super_user=is_super_user,
        sentences=_sentences(view, principal, is_super_user, counts, own, inherited),
        own=own,
        inherited=inherited,
        denies=tuple(binding for binding in (*own, *inherited) if binding.is_deny),
        resources=tuple(itertools.islice(_reaches((*particular, *through_all)), MOST_RESOURCES)),
        total=total,
        counts=dict(counts),
    )


class _Piece(NamedTuple):
    """Names that get the same answers, with the row that holds for each of them."""

    names: Sequence[str]
    row: AccessRow


def _reaches(found: Iterable[_Piece]) -> Iterator[Reach]:
    """Yield what each name of these pieces gives, working out who gives it only for those that are taken."""
    for names, row in found:
        able = [verdict for verdict in row.verdicts if verdict.is_allowed_somewhere]
        operations = tuple(verdict.operation for verdict in able)
        determining = tuple(
            dict.fromkeys(
                binding for verdict in able for binding in row.determining(verdict) if not binding.is_deny
            )
        )
        for name in names:
            yield Reach(Resource(row.resource.resource_type, name), operations, determining)


def pieces(
    view: ClusterView, matrix: Matrix, principal: str, kind: ResourceType, mine: Sequence[AclBinding]
) -> Iterator[_Piece]:
    """Yield the names of this type in pieces that the same of these ACLs cover."""
    names = names_for(view, kind, mine)
    operations = operations_of(kind, view.settings)
    for start, end, covering in cut(names, mine, view.settings):
        own = Joined.of(binding for binding in covering if binding.principal != ANY_USER)
        for_any_user = Joined.of(binding for binding in covering if binding.principal == ANY_USER)
        covers = own.covers or for_any_user.covers
        for part in parted_by_default(view, kind, names[start:end], covers=covers):
            resource = Resource(kind, part[0])
            if principal == ANY_USER:
                yield _Piece(part, matrix.any_user(resource, operations, for_any_user))
            else:
                yield _Piece(part, matrix.row(principal, resource, operations, own, for_any_user))


def names_for(view: ClusterView, kind: ResourceType, mine: Iterable[AclBinding]) -> tuple[str, ...]:
    """Return the names that exist, or for types that nobody lists the names that these ACLs mention."""
    if kind is ResourceType.CLUSTER:
        return (CLUSTER_NAME,)
    if kind in view.loaded.names and view.known(kind) is not Known.UNKNOWN:
        return view.loaded.names[kind]
    mentioned = {
        binding.resource_name
        for binding in mine
        if binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard
    }
    return tuple(sorted(mentioned))


def parted_by_default(
    view: ClusterView, kind: ResourceType, piece: Sequence[str], *, covers: bool
) -> Iterator[Sequence[str]]:
    """Yield the piece, parted where the cluster allows everyone what no ACL of anybody covers.

    covers: whether one of the principal's own ACLs covers it, or one for any user.
    """
    if not piece:
        return
    shelf = view.index.shelf(kind)
    open_by_default = view.settings.allow_everyone or "allow_everyone" in view.settings.undeclared
    if covers or not open_by_default or shelf is None:
        yield piece
        return
    parts: tuple[list[str], list[str]] = ([], [])
    for name in piece:
        parts[not shelf.is_covered(name, view.settings)].append(name)
    yield from (part for part in parts if part)


def _sentences(
    view: ClusterView,
    principal: str,
    is_super_user: bool,
    counts: Counter[tuple[ResourceType, Operation]],
    own: Sequence[AclBinding],
    inherited: Sequence[AclBinding],
) -> tuple[str, ...]:
    who = "Somebody whom no ACL names" if principal == ANY_USER else name_text(principal)
    limits = (
        *(sentence for kind in _COUNTED if (sentence := incomplete(view, kind))),
        *caveats(view.settings, default_applies=False),
    )
    if is_super_user:
        return (f"{who} is a super user: it may do everything, and no ACL about it is looked at.", *limits)
    rights = [
        f"{verb} {one if not many else _names_words(view, kind, counts[kind, operation], one, many)}"
        for kind, operation, verb, one, many in _RIGHTS
        if counts[kind, operation]
    ]
    exists = _EXISTS[view.known(ResourceType.TOPIC)]
    if rights:
        first = f"{who} can {joined(rights)}."
    elif counts:
        first = f"{who} can neither read nor write anything that {exists}, but has other rights."
    else:
        first = f"{who} can do nothing with anything that {exists}."
    denies = sum(binding.is_deny for binding in (*own, *inherited))
    if principal == ANY_USER:
        through = f"{_number(len(own), 'ACL names', 'ACLs name')} any user"
    else:
        through = (
            f"{_number(len(own), 'ACL names', 'ACLs name')} it and "
            f"{_number(len(inherited), 'counts', 'count') if inherited else 'none counts'} for any user"
        )
    total = len(own) + len(inherited)
    of_all = "it" if total == 1 else f"{denies:,} of these {total:,}"
    refusing = f"; {of_all} {'is a DENY' if denies == 1 else 'are DENYs'}" if denies else ""
    return (first, f"{through}{refusing}.", *limits)


def _names_words(view: ClusterView, kind: ResourceType, count: int, one: str, many: str) -> str:
    """Return how many names these are, and in the same breath that there may be others."""
    count_words = _number(count, one, many)
    if kind not in _COUNTED or view.known(kind) is Known.ALL:
        return count_words
    return f"at least {count_words}" if view.known(kind) is Known.VISIBLE else f"{count_words} that ACLs name"


def incomplete(view: ClusterView, kind: ResourceType) -> str:
    """Return why the names of this type that are counted may not be all; empty where they are."""
    return names_known(view.cluster, kind, declared=view.declared).sentence


def _number(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"
