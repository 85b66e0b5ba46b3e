"""Which revisions added or removed ACLs that match a resource?

A stored ACL has the revision that added it and the one that removed it. So the database counts them by revision, and
only the rows of the revisions of a page are read; no revision is read whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Expression, F, Q, QuerySet, Subquery, TextField, Value, When, Window
from django.db.models.functions import Left, Length, RowNumber

from aclweb.acl.matching import empty_prefix_covers, wildcard_covers
from aclweb.acl.model import WILDCARD, AclBinding, AuthorizerSettings, PatternType, PermissionType, Resource
from aclweb.acl.notation import binding_key
from aclweb.inventory.current import BINDING_COLUMNS, ClusterView, bindings_of
from aclweb.inventory.fields import escape
from aclweb.inventory.lists.rows import LazyRows
from aclweb.inventory.models import Revision, StoredAcl

_MOST_KEYS = 2_000  # of one query

ACLS_SHOWN = 6
"""So many ACLs are listed of those that a revision added, and of those that it removed, DENY first."""


@dataclass(frozen=True)
class RevisionOfResource:
    """One revision that added or removed ACLs that match a resource.

    revision: its row, with whatever was asked for beside. added, removed: how many; the first of them are listed.
    """

    revision: Any
    added: int
    removed: int
    acls_added: tuple[AclBinding, ...]
    acls_removed: tuple[AclBinding, ...]

    @property
    def more(self) -> int:
        """How many ACLs are not listed."""
        return self.added + self.removed - len(self.acls_added) - len(self.acls_removed)

    @property
    def is_first(self) -> bool:
        """Whether it is the first sync, of which nobody knows since when its ACLs are there."""
        return bool(self.revision.number == 1)


def history_of(
    view: ClusterView, resource: Resource, **beside: Expression | Subquery
) -> Sequence[RevisionOfResource]:
    """Return these revisions up to that of `view`, newest first; one query, and three for each page.

    beside: what to ask of each revision too, as expressions of a query.
    """
    if view.revision is None:
        return ()
    matching = StoredAcl.objects.filter(
        cluster=view.cluster, resource_type=resource.resource_type.name
    ).filter(_matches(resource.name, view.settings))
    added = _up_to(view.revision, _found_by_key(view, resource, matching), "added_in")
    removed = _up_to(view.revision, matching, "removed_in")
    came, went = Counter[int](), Counter[int]()
    for number, is_added, pk in _counts(added, "added_in", True).union(
        _counts(removed, "removed_in", False), all=True
    ):
        (came if is_added else went)[pk] = number
    revisions = sorted({*came, *went}, reverse=True)

    def rows(start: int, stop: int) -> tuple[RevisionOfResource, ...]:
        shown = revisions[start:stop]
        found: dict[int, Any] = Revision.objects.annotate(**beside).in_bulk(shown)
        acls_added = _first_of_each(added, "added_in", shown)
        acls_removed = _first_of_each(removed, "removed_in", shown)
        return tuple(
            RevisionOfResource(
                found[pk], came[pk], went[pk], acls_added.get(pk, ()), acls_removed.get(pk, ())
            )
            for pk in shown
            if pk in found
        )

    return LazyRows(len(revisions), rows)


def _matches(name: str, settings: AuthorizerSettings) -> Q:
    """Return the condition that a pattern matches the name, as the core decides it; for columns of StoredAcl."""
    literal = Q(resource_name=name)
    if wildcard_covers(name, settings):
        literal |= Q(resource_name=WILDCARD)
    # Escapes of different characters never begin with one another, so a prefix stays one when both are escaped.
    begins = Left(Value(escape(name), output_field=TextField()), Length("resource_name"))
    prefixed = Q(resource_name=begins)
    if not empty_prefix_covers(name, settings):
        prefixed &= ~Q(resource_name="")
    return Q(literal, pattern_type=PatternType.LITERAL.name) | Q(
        prefixed, pattern_type=PatternType.PREFIXED.name
    )


def _found_by_key(
    view: ClusterView, resource: Resource, matching: QuerySet[StoredAcl]
) -> QuerySet[StoredAcl]:
    """Return the same rows as `matching`, up to the revision of a view, without reading all ACLs of the cluster.

    No index has the names of ACLs. Those that nobody has removed are in memory, and their rows are found by their keys.
    """
    shelf = view.index.shelf(resource.resource_type)
    covering = shelf.covering(resource.name, view.settings) if shelf is not None else []
    if len(covering) > _MOST_KEYS:
        return matching
    keys = list(map(binding_key, covering))
    in_force = StoredAcl.objects.filter(cluster=view.cluster, removed_in__isnull=True, key__in=keys)
    gone = matching.filter(removed_in__isnull=False)
    return StoredAcl.objects.filter(pk__in=in_force.values("pk").union(gone.values("pk"), all=True))


def _up_to(revision: Revision, rows: QuerySet[StoredAcl], by: str) -> QuerySet[StoredAcl]:
    # Of a revision that is still being stored nothing is known yet.
    return rows.filter(**{f"{by}__lte": revision.pk, f"{by}__published": True})


def _counts(rows: Any, by: str, is_added: bool) -> Any:
    """Return (how many, whether they were added, the number of the revision) for each revision."""
    counted = rows.order_by().values(by).annotate(number=Count("pk"), is_added=Value(is_added))
    return counted.values_list("number", "is_added", by)


def _first_of_each(
    rows: QuerySet[StoredAcl], by: str, revisions: Sequence[int]
) -> dict[int, tuple[AclBinding, ...]]:
    """Return the first ACLs of each of these revisions; one query."""
    in_order = [
        Case(When(permission_type=PermissionType.DENY.name, then=0), default=1).asc(),
        F("pattern_type").asc(),
        F("resource_name").desc(),
        F("principal").asc(),
        F("pk").asc(),
    ]
    place = Window(RowNumber(), partition_by=F(by), order_by=in_order)
    found: dict[int, list[AclBinding]] = {}
    chosen = rows.filter(**{f"{by}__in": revisions}).annotate(place=place).filter(place__lte=ACLS_SHOWN)
    for revision, *columns in chosen.order_by(by, "place").values_list(by, *BINDING_COLUMNS):
        found.setdefault(revision, []).extend(bindings_of([tuple(columns)]))
    return {revision: tuple(several) for revision, several in found.items()}
