"""How is a row of an analysis shown: which cells has it, and which ACLs, principals and resources do these link to?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.insights.analyses import JOBS, Column, ResultTable, acls_of, found_in, values_of
from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.web.browse.findings import MOST_REMOVED

_TOPIC = ResourceType.TOPIC.name


@dataclass(frozen=True)
class Cell:
    """One value as the template shows it: `shown` says how, `value` is what; `more` counts what is left out.

    An `acl` has a binding, an `hour` its sentence, `acls` have a list of them, a `resource` has its type in `kind`.
    What a cluster does has in `kind` whether its ACLs allow what it does not use.
    """

    heading: str
    shown: str
    value: Any
    kind: str = ""
    tone: str = ""
    more: int = 0


@dataclass(frozen=True)
class ShownRow:
    cells: tuple[Cell, ...]


def shown_rows(of: Analysis, table: ResultTable, rows: Iterable[AnalysisRow]) -> list[ShownRow]:
    """Return rows as a page shows them; at most one query, for the ACLs or the clusters that they name by key."""
    found = [values_of(row) for row in rows]
    keys = {
        key
        for column in table.columns
        if column.shown == "acls"
        for each in found
        for key in each[column.name]
    }
    acls = acls_of([of.cluster], keys) if keys else {}
    clusters = of.cluster_names if JOBS[of.job].beside else {}
    return [
        ShownRow(
            tuple(cell for column in table.columns for cell in _cells(column, each, table, acls, clusters))
        )
        for each in found
    ]


def headings(of: Analysis, table: ResultTable) -> list[tuple[str, bool]]:
    """Return what the columns of a page are called, and whether each holds numbers."""
    told: list[tuple[str, bool]] = []
    for column in table.columns:
        if column.shown == "clusters":
            told += [(name, False) for name in of.cluster_names.values()]
        else:
            told.append((column.heading, column.shown == "number"))
    return told


def removable_keys(row: Analysis) -> list[str]:
    """Return the keys of the ACLs that may go together, in the order of the job, at most MOST_REMOVED."""
    table = JOBS[row.job].tables[0]
    rows = found_in(row, table, kind="replaceable").filter(values__contains='"removable": true')
    return [values_of(each)["binding_key"] for each in rows[:MOST_REMOVED]]


# What a cluster does with a row, by the column that names it then.
_DOES = {"used_on": "used", "denied_on": "denied", "not_used_on": "not used", "unknown_on": "unknown"}


def _cells(
    column: Column,
    values: Mapping[str, Any],
    table: ResultTable,
    acls: Mapping[str, AclBinding],
    clusters: Mapping[str, str],
) -> Iterator[Cell]:
    """Yield the cells of a column, which are as many as the clusters where it is about these."""
    if column.shown != "clusters":
        yield _cell(column, values, table, acls)
        return
    for slug, name in clusters.items():
        does = next((word for where, word in _DOES.items() if slug in values[where]), "")
        yield Cell(name, "cluster", does, kind="allowed" if slug in values["allowed_on"] else "")


def _cell(
    column: Column, values: Mapping[str, Any], table: ResultTable, acls: Mapping[str, AclBinding]
) -> Cell:
    value = values.get(column.name)
    if column.shown == "acl":
        return Cell(column.heading, "acl", _binding(values))
    if column.shown == "acls":
        return _acls(column, value or [], acls)
    if column.shown in ("resource", "topic"):
        kind = values.get("resource_type") or _TOPIC
        return Cell(column.heading, "resource", value, kind=kind if kind in ResourceType.__members__ else "")
    if column.shown == "moment":
        return Cell(column.heading, "moment", datetime.fromisoformat(value) if value else None)
    if column.shown == "hour":
        return Cell(column.heading, "hour", _hour(values))
    if column.name == table.by:
        kind = table.word_of(value or "")
        return Cell(column.heading, "kind", kind.word, tone=kind.tone)
    return Cell(column.heading, column.shown, value)


def _hour(values: Mapping[str, Any]) -> str:
    """Return what was denied in an hour, empty where it is none: `13:00, 1,100 denied, usually 2`."""
    if values.get("hour") is None:
        return ""
    return f"{values['hour']:02}:00, {values['hour_denied']:,} denied, usually {values['hour_usual']:,}"


def _binding(values: Mapping[str, Any]) -> AclBinding:
    return AclBinding(
        ResourceType[values["resource_type"]],
        values["resource_name"],
        PatternType[values["pattern_type"]],
        values["principal"],
        values["host"],
        Operation[values["operation"]],
        PermissionType[values["permission_type"]],
    )


def _acls(column: Column, keys: Iterable[str], acls: Mapping[str, AclBinding]) -> Cell:
    """Return the first of these ACLs that the cluster had, and how many more there are."""
    known = [acls[key] for key in keys if key in acls]
    return Cell(column.heading, "acls", known[:1], more=max(0, len(known) - 1))
