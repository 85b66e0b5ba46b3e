"""Which rows of a result are asked for, and what is in them?"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from django.db.models import Q, QuerySet

from aclweb.acl.model import AclBinding
from aclweb.insights.analyses.jobs import ResultTable
from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of
from aclweb.inventory.fields import escape
from aclweb.inventory.models import Cluster, StoredAcl

_ROWS_AT_ONCE = 1_000


ON: Mapping[str, tuple[str, ...]] = {
    "used_on": ("used_on",),
    "not_on": ("not_used_on", "denied_on"),
    "allowed_on": ("allowed_on",),
}
"""Filters of a job about several clusters, each of which takes one: in which columns of a row it has to be named."""


def found_in(
    row: Analysis,
    table: ResultTable,
    *,
    kind: str = "",
    text: str = "",
    on: Mapping[str, str] = MappingProxyType({}),
) -> QuerySet[AnalysisRow]:
    """Return the rows of a table in the order of the job: of one kind, with a text in the principal or the name.

    on: of a job about several clusters, one for each filter of ON that is wanted, by its name in addresses.
    """
    rows = AnalysisRow.objects.filter(analysis=row, table=table.name).order_by("number")
    if kind:
        rows = rows.filter(kind=kind)
    if text:
        # As names are stored.
        part = escape(text)
        rows = rows.filter(Q(principal__icontains=part) | Q(name__icontains=part))
    for name, cluster in on.items():
        # No quotation mark of a name stands in JSON without a backslash before it.
        columns = "|".join(ON[name])
        rows = rows.filter(values__regex=rf'"({columns})": \[[^]]*"{re.escape(cluster)}"')
    return rows


def values_of(row: AnalysisRow) -> dict[str, Any]:
    """Return a row as the job wrote it; times are texts such as `2026-11-20 12:00:00`."""
    found: dict[str, Any] = json.loads(row.values)
    return found


def exported(rows: QuerySet[AnalysisRow]) -> Iterator[dict[str, Any]]:
    """Yield the values of rows, some at a time from the database."""
    for text in rows.values_list("values", flat=True).iterator(_ROWS_AT_ONCE):
        yield json.loads(text)


def acls_of(clusters: Collection[Cluster], keys: Collection[str]) -> dict[str, AclBinding]:
    """Return the ACLs that these keys stand for, as far as one of the clusters ever had them; one query."""
    rows = StoredAcl.objects.filter(key__in=set(keys)).values_list("key", *BINDING_COLUMNS)
    # Keys of one cluster that are not closed have an index; asked for all at once, every row is read.
    first, *others = (
        rows.filter(cluster=cluster, removed_in__isnull=is_in_force)
        for cluster in clusters
        for is_in_force in (True, False)
    )
    found = {key: columns for key, *columns in first.union(*others, all=True)}
    return dict(zip(found, bindings_of(found.values()), strict=True))
