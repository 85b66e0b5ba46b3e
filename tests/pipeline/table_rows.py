"""What does an access table hold, read without Spark?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from aclweb.pipeline.table import Table
from aclweb.pipeline.table.parts import ACCESS, check_content
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
    names = [part.name for day in found.version.days.values() for part in day.parts[ACCESS]]
    with found.folder.copies(names) as files:
        for file in files:
            for row in pq.ParquetFile(file).read().to_pylist():
                rows[row["principal"], row["resource_name"]] += row["lines"]
    return rows
