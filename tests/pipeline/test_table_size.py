"""How large is the access table of a busy cluster? Months of it must be cheap to keep.

A day of the table is a file of its own once it is over, so one day with the rows of a busy cluster (5,000,000 lines in
24 days, by 800 principals on 4,000 topics) tells what each day takes; half its lines make half its rows or more.
ACLWEB_TEST_SCALE=full writes all 24 days with all their lines.

Most of a row is what no encoding makes small: when the request was first and last made (random milliseconds of a day,
5.2 bytes of information) and the digest of the ACL in the broker's reason, of which each day keeps those that it names.
"""

from __future__ import annotations

import os
from collections import Counter

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline import access
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.table.parts import ACCESS
from bench.logs import make_logs

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
DAYS = 24 if FULL else 1
LINES_A_DAY = 5_000_000 // 24 // (1 if FULL else 2)
# So many rows has a day of such a cluster; with much fewer, what each file begins and ends with would count.
LEAST_ROWS_A_DAY = 25_000
FOR_EVER = 40_000
MOST_BYTES = 20 if FULL else 22
"""Of a whole row. A day with half the lines names nearly as many digests of ACLs, each of them once."""

MOST_BYTES_OF_THE_REQUEST = 5
"""Of a row without its times and the digest: what was asked, how often, and the answer."""

LARGE = {"first_us", "last_us", "named_key"}


@pytest.mark.spark
@pytest.mark.long
def test_a_row_of_a_busy_clusters_day_takes_few_bytes(spark, tmp_path):
    logs = make_logs(tmp_path / "logs", LINES_A_DAY * DAYS, days=DAYS)
    looked = access.look(tmp_path / "table", "eu", [LogSource(str(file)) for file in logs.files])

    version = access.extend(spark, looked, keep_days=FOR_EVER).version

    parts = [part for day in version.days.values() for part in day.parts[ACCESS]]
    rows = sum(part.rows for part in parts)
    assert len(parts) == DAYS
    assert sum(part.lines for part in parts) == logs.lines
    assert rows >= LEAST_ROWS_A_DAY * DAYS
    whole = sum(part.bytes for part in parts) / rows
    columns = bytes_by_column([tmp_path / "table" / "cluster=eu" / part.name for part in parts])
    of_request = sum(size for name, size in columns.items() if name not in LARGE) / rows
    assert whole <= MOST_BYTES, columns
    assert of_request <= MOST_BYTES_OF_THE_REQUEST, columns
    assert columns.keys() >= LARGE


def bytes_by_column(files) -> Counter[str]:
    """Return the compressed bytes of each column in some Parquet files."""
    sizes: Counter[str] = Counter()
    for file in files:
        metadata = pq.ParquetFile(file).metadata
        for group in range(metadata.num_row_groups):
            for number in range(metadata.num_columns):
                column = metadata.row_group(group).column(number)
                sizes[column.path_in_schema] += column.total_compressed_size
    return sizes
