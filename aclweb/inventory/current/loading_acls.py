"""How do the ACLs of a revision come into memory: from columns of it, from those of another one, or from rows?

Rows are what is true. Columns of another revision become those of this one by the rows that differ, where these are
few.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Q

from aclweb.acl.authorizer import AclColumns, columns_after, columns_from_bytes
from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.inventory.fields import as_stored, unescape
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredColumns, stored_in_force
from aclweb.runtime import loading

logger = logging.getLogger(__name__)

# Fewer are read from rows as fast as anybody notices.
_MANY = 50_000
# All ACLs divided by this many that differ: columns become others several times as fast as rows are read.
_ONE_IN = 20
_REVISIONS_BETWEEN = 500  # so many numbers, or fewer, are told to the database
BINDING_COLUMNS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
)


@dataclass(frozen=True)
class Held:
    """The columns of one revision."""

    revision: Revision
    columns: AclColumns


def has_columns(revision: Revision) -> bool:
    """Whether it has so many ACLs that columns are stored of them while it is the newest revision."""
    return revision.acls >= _MANY


def had_columns(cluster: Cluster) -> bool:
    """Whether a revision of the cluster, the newest or another, has so many ACLs."""
    return Revision.objects.filter(cluster=cluster, acls__gte=_MANY).exists()


def load_acls(cluster: Cluster, revision: Revision) -> AclColumns:
    """Return the ACLs of a revision."""
    stored = _stored(cluster, revision) if has_columns(revision) else None
    columns = _edited(cluster, stored, revision) if stored is not None else None
    return _lasting(columns if columns is not None else acls_of_rows(cluster, revision))


def acls_near(cluster: Cluster, held: Held, revision: Revision) -> AclColumns | None:
    """Return the ACLs of a revision, made of those of another one of the cluster; None where it is not near.

    An ACL that both have is one value then, once somebody has asked about it.
    """
    columns = _edited(cluster, held, revision) if has_columns(revision) else None
    return _lasting(columns) if columns is not None else None


def _lasting(columns: AclColumns) -> AclColumns:
    # Whoever asks for all of them leaves as many objects, which stay as long as the revision does.
    columns.making_all = loading.making_what_lasts
    return columns


def acls_of_rows(cluster: Cluster, revision: Revision) -> AclColumns:
    """Return the ACLs of a revision as its rows have them."""
    then = Q(cluster=cluster) & stored_in_force(revision)
    rows = StoredAcl.objects.filter(then).order_by("pk").values_list("pk", *map(as_stored, BINDING_COLUMNS))
    # A key is in force once, and it is that of the whole ACL.
    return AclColumns.of_rows(rows.iterator(chunk_size=5000), unescape)


def rows_between(cluster: Cluster, one: Revision, other: Revision) -> int | None:
    """Return how many rows were added or closed from one revision to the other; None where they are too many to read.

    Also where the database has another revision in the place of one of them, as after it was restored.
    """
    between = _between(cluster, one, other)
    return None if between is None else between.rows


def _edited(cluster: Cluster, held: Held, revision: Revision) -> AclColumns | None:
    """Return what the columns are with the rows that differ; None where these are many or do not fit."""
    if (between := _between(cluster, held.revision, revision)) is None:
        return None
    columns = held.columns
    try:
        if between.rows:
            columns = _with_rows_of(between, columns, held.revision, revision)
        if len(columns) != revision.acls:
            raise ValueError(f"They have {len(columns)} ACLs, and the revision {revision.acls}.")
    except ValueError as error:
        logger.warning("The columns of cluster %s are not read, but its rows: %s", cluster.slug, error)
        return None
    return columns


def _with_rows_of(between: _Between, columns: AclColumns, before: Revision, after: Revision) -> AclColumns:
    differs = Q(added_in__in=between.numbers) | Q(removed_in__in=between.numbers)
    rows = StoredAcl.objects.filter(differs).values_list(
        "added_in_id", "removed_in_id", "pk", *map(as_stored, BINDING_COLUMNS)
    )
    gone, come = list[int](), list[tuple[object, ...]]()
    for added_in, removed_in, *row in rows:
        was, is_now = (
            added_in <= then and (removed_in is None or removed_in > then) for then in (before.pk, after.pk)
        )
        if was and not is_now:
            gone.append(row[0])
        elif is_now and not was:
            come.append(tuple(row))
    return columns_after(columns, gone=gone, come=come, read=unescape)


@dataclass(frozen=True)
class _Between:
    """The numbers of the revisions behind one and up to another that edit ACLs, and how many rows they edit."""

    numbers: list[int]
    rows: int


def _between(cluster: Cluster, one: Revision, other: Revision) -> _Between | None:
    if one.pk == other.pk and _is_same(one, other):
        return _Between([], 0)
    first, last = sorted((one, other), key=lambda revision: revision.pk)
    of_then = Revision.including_unpublished.filter(cluster=cluster, pk__gte=first.pk, pk__lte=last.pk)
    found = {each.pk: each for each in of_then[: _REVISIONS_BETWEEN + 2]}
    if not all(each.pk in found and _is_same(each, found[each.pk]) for each in (one, other)):
        return None
    edits = {pk: each.acls_added + each.acls_removed for pk, each in found.items() if pk > first.pk}
    between = _Between([pk for pk, rows in edits.items() if rows], sum(edits.values()))
    return between if between.rows * _ONE_IN <= max(one.acls, other.acls) else None


def _is_same(one: Revision, other: Revision) -> bool:
    # A database that was rolled back or restored gives numbers out again.
    return (one.read_at, one.digest) == (other.read_at, other.digest)


def _stored(cluster: Cluster, revision: Revision) -> Held | None:
    """Return the columns that are stored of this revision, or else of another one; None where none are whole."""
    own = StoredColumns.objects.filter(cluster=cluster).order_by("revision", "part")
    parts: dict[int, list[tuple[int, bytes | memoryview[int]]]] = {}
    for number, part, content in own.values_list("revision_id", "part", "content"):
        parts.setdefault(number, []).append((part, content))
    whole = [number for number, those in parts.items() if those[0][0] == 0]
    if not whole:
        return None
    number = revision.pk if revision.pk in whole else max(whole)
    try:
        columns = columns_from_bytes(b"".join(content for _, content in parts[number]))
    except ValueError as error:
        logger.warning("The columns of cluster %s are not read, but its rows: %s", cluster.slug, error)
        return None
    of_then = revision if number == revision.pk else Revision.objects.filter(pk=number).first()
    return Held(of_then, columns) if of_then is not None else None


def bindings_of(rows: Iterable[tuple[str, ...]]) -> Iterator[AclBinding]:
    """Yield a binding for each row of BINDING_COLUMNS; equal texts share one string."""
    texts: dict[str, str] = {}
    # An enum's own look-up by name is Python code, and there are four for each row.
    types, patterns = dict(ResourceType.__members__), dict(PatternType.__members__)
    operations, permissions = dict(Operation.__members__), dict(PermissionType.__members__)
    for kind, name, pattern, principal, host, operation, permission in rows:
        yield AclBinding(
            types[kind],
            texts.setdefault(name, name),
            patterns[pattern],
            texts.setdefault(principal, principal),
            texts.setdefault(host, host),
            operations[operation],
            permissions[permission],
        )
