"""What does an access table hold, read without Spark?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from aclweb.pipeline.table import Table
from aclweb.pipeline.table.parts import ACCESS, DENIED, check_content
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import latest

Asked = tuple[str, str]
"""Who asked, and for which name."""


def lines_in_table(table: Path, cluster: str) -> Counter[Asked]:
    """Return how many lines a table has of what each principal did to each name; its parts have to be whole."""
    rows: Counter[Asked] = Counter()
    if latest(folder_of(table, cluster)) is None:
        return rows
    found = Table.open(table, cluster)
    check_content(found.folder, found.version.all_parts())
    for _, row in _rows_of(found, ACCESS):
        rows[row["principal"], row["resource_name"]] += row["lines"]
    return rows


def denied_by_day(table: Path, cluster: str) -> Counter[tuple[str, str]]:
    """Return how often each principal was denied on each day, by the access rows."""
    rows: Counter[tuple[str, str]] = Counter()
    for day, row in _rows_of(Table.open(table, cluster), ACCESS):
        if day and not row["allowed"]:
            rows[day, row["principal"]] += row["lines"]
    return rows


def denied_by_hour(table: Path, cluster: str) -> Counter[tuple[str, str, int]]:
    """Return how often each principal was denied in each hour of each day."""
    rows: Counter[tuple[str, str, int]] = Counter()
    for day, row in _rows_of(Table.open(table, cluster), DENIED):
        rows[day, row["principal"], row["hour"]] += row["lines"]
    return rows


def _rows_of(found: Table, dataset: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for day, held in found.version.days.items():
        with found.folder.copies([part.name for part in held.parts[dataset]]) as files:
            for file in files:
                yield from ((day, row) for row in pq.ParquetFile(file).read().to_pylist())
