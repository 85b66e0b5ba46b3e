"""Does the page about the pipeline have every column of every table, with its type?"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclweb.pipeline import coverage, schemas
from aclweb.pipeline.table import parts
from tests.pipeline.usage_job import manifest_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pipeline.md"
WORDS = {
    "string": "string",
    "int64": "long",
    "int32": "int",
    "list<item: int32>": "list of int",
    "list<item: string>": "list of string",
    "list<element: string>": "list of string",
    "bool": "boolean",
    "timestamp[us]": "timestamp",
    "list<element: struct<day: string, lines: int64>>": "list of (`day`, `lines`)",
}


def on_the_page(heading: str) -> dict[str, str]:
    """Return the columns in the first table behind a heading, with their types."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n### {heading}")
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]+) \|", rest.partition("\n##")[0], re.M)
    return {name: kind for names, kind in rows for name in re.findall(r"`(\w+)`", names)}


def of_ddl(columns: str) -> dict[str, str]:
    return dict(column.split() for column in columns.split(","))


def of_arrow(schema: pa.Schema) -> dict[str, str]:
    return {field.name: WORDS[str(field.type).replace(" not null", "")] for field in schema}


@pytest.mark.parametrize(
    "heading, columns",
    [
        ("`access`: a row", of_ddl(schemas.ACCESS)),
        ("`denied_by_hour`: a row", of_ddl(schemas.DENIED)),
        ("`samples`: a row", of_ddl(schemas.SAMPLES)),
        ("`coverage` of the table", of_arrow(parts.COVERAGE_SCHEMA)),
        ("`notes`: a row", of_arrow(parts.NOTES_SCHEMA)),
        ("`coverage.parquet`", of_arrow(coverage.SCHEMA)),
    ],
)
def test_the_page_names_every_column_with_its_type(heading, columns):
    assert on_the_page(heading) == columns


@pytest.mark.spark
@pytest.mark.parametrize("table", ["usage", "requests", "unparsed"])
def test_the_page_names_every_column_that_usage_writes(usage, table):
    assert on_the_page(f"`{table}.parquet`") == of_arrow(pq.read_schema(usage / f"{table}.parquet"))


@pytest.mark.spark
def test_the_page_names_every_key_of_the_manifest_of_usage(usage):
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("\n### `manifest.json`")
    keys = {
        name
        for names in re.findall(r"^\| (`[^|]*`) \|", rest.partition("\n##")[0], re.M)
        for name in re.findall(r"`(\w+)`", names)
    }

    # Only a result from a whole access table has a state.
    assert keys == {*manifest_of(usage), "state"}
