"""How does the result of a job come into the database?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from aclweb.insights.analyses.jobs import AnalysisJob, ResultTable
from aclweb.insights.analyses.keeping import MOST_ROWS
from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.insights.result import Result
from aclweb.inventory.fields import storable
from aclweb.inventory.store import in_turn

# Columns that a row's name is taken from, the first that it has.
_NAMES = ("resource_name", "topic", "host")

_ROWS_AT_ONCE = 1_000


def opened(job: AnalysisJob, folder: Path) -> Result:
    """Return the result of a job; raises InsightsError where the folder holds no whole one."""
    return Result.of_job(folder, job.name, (table.name for table in job.tables))


def facts_of(result: Result) -> dict[str, Any]:
    """Return the manifest of a result without its list of files."""
    return {key: value for key, value in result.manifest.items() if key != "files"}


def store_rows(
    row: Analysis, job: AnalysisJob, result: Result, still_wanted: Callable[[], None]
) -> tuple[dict[str, dict[str, int]], int]:
    """Store the first MOST_ROWS rows of each table; return how many of each kind, with all in "", and their sum.

    still_wanted: called first in each transaction, so that it can lock what it looks at; what it raises is passed on.
    """
    counts = {table.name: _store(row, table, result, still_wanted) for table in job.tables}
    return counts, sum(found[""] for found in counts.values())


def _store(
    row: Analysis, table: ResultTable, result: Result, still_wanted: Callable[[], None]
) -> dict[str, int]:
    found: Counter[str] = Counter()
    stored = 0
    for batch in result.rows(table.name, _ROWS_AT_ONCE):
        objects = [
            _row(row, table, stored + place, values)
            for place, values in enumerate(batch[: MOST_ROWS - stored])
        ]
        if not objects:
            break
        with in_turn():
            still_wanted()
            AnalysisRow.objects.bulk_create(objects)
        stored += len(objects)
        found.update(each.kind for each in objects if each.kind)
    return {"": stored, **found}


def _row(row: Analysis, table: ResultTable, number: int, values: Mapping[str, Any]) -> AnalysisRow:
    name = next((values[column] for column in _NAMES if values.get(column)), "")
    return AnalysisRow(
        analysis=row,
        table=table.name,
        number=number,
        kind=storable(str(values[table.by] or "")) if table.by else "",
        principal=values.get("principal") or "",
        name=name,
        values=json.dumps(values, default=_text),
    )


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{value!r} is no value of a result.")
