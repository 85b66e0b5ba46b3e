"""What does the access table of a cluster hold, of all days or of some?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from aclweb.pipeline import schemas
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.part_columns import FILES
from aclweb.pipeline.storage import Folder, LocalFolder
from aclweb.pipeline.table.parts import (
    ACCESS,
    COVERAGE,
    COVERAGE_SCHEMA,
    DENIED,
    NOTES,
    NOTES_SCHEMA,
    SAMPLES,
    NoTableError,
    Part,
    check,
    rows_of,
)
from aclweb.pipeline.table.versions import Version, latest

_CLUSTER = "cluster="


@dataclass(frozen=True)
class Window:
    """The days from `first` to `last`, both included and both as in the table; None is without an end."""

    first: str | None = None
    last: str | None = None

    @property
    def is_all(self) -> bool:
        return self.first is None and self.last is None

    def __contains__(self, day: str) -> bool:
        """Whether a day is in the window; a record without a day is in no window with an end."""
        return self.is_all or (bool(day) and (self.first or "") <= day <= (self.last or day))


def folder_of(table: Folder | Path, cluster: str) -> Folder:
    """Return the folder of one cluster in a table; a path is a folder of this machine."""
    return _folder(table).below(f"{_CLUSTER}{quote(cluster, safe='')}")


def clusters_in(table: Folder | Path) -> list[str]:
    """Return the names of the clusters in a table, sorted."""
    found = [name for name in _folder(table).names() if name.startswith(_CLUSTER)]
    return sorted(unquote(name.removeprefix(_CLUSTER)) for name in found)


def _folder(table: Folder | Path) -> Folder:
    return LocalFolder(table) if isinstance(table, Path) else table


@dataclass(frozen=True)
class Table:
    """One version of a cluster's access table, every part of which is there."""

    folder: Folder
    version: Version

    @classmethod
    def open(cls, table: Folder | Path, cluster: str) -> Table:
        """Return the cluster's table as it is now.

        Raises NoTableError where there is none, and TableError where it is not whole.
        """
        folder = folder_of(table, cluster)
        version = latest(folder)
        if version is None:
            there = ", ".join(map(repr, clusters_in(table)))
            raise NoTableError(
                f"{table} has no access table of the cluster {cluster!r}; "
                + (f"it has {there}." if there else "make one with `python -m aclweb.pipeline access`.")
            )
        check(folder, version.all_parts())
        return cls(folder, version)

    @property
    def state(self) -> str:
        """A word for what the table holds, and what it could not read: while it is the same, so is every answer."""
        names = sorted(part.name for part in self.version.all_parts())
        told = json.dumps([names, self.version.problems], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()

    def access(self, spark: SparkSession, window: Window) -> DataFrame:
        """Return the access rows of a window (schemas.ACCESS); the same key may be in several."""
        return self.read(spark, ACCESS, schemas.ACCESS, self.parts(ACCESS, window))

    def samples(self, spark: SparkSession) -> DataFrame:
        """Return samples (schemas.SAMPLES); a request may be in several."""
        return self.read(spark, SAMPLES, schemas.SAMPLES, self.version.samples)

    def coverage(self, window: Window) -> list[Row]:
        """Return what each file held of each day, with `day`, null for records without a time."""
        return self._small(COVERAGE, COVERAGE_SCHEMA, window)

    def notes(self, window: Window) -> list[Row]:
        """Return what is no decision (`totals.notes`)."""
        return self._small(NOTES, NOTES_SCHEMA, window)

    def denied_by_hour(self, spark: SparkSession, window: Window) -> DataFrame:
        """Return denials by hour (schemas.DENIED); the same key may be in several rows."""
        return self.read(spark, DENIED, schemas.DENIED, self.parts(DENIED, window))

    def days_by_hour(self, window: Window) -> frozenset[str]:
        """Return the days whose denials the table has by hour, all of them; earlier versions of aclweb wrote none."""
        denied: Counter[str] = Counter()
        for row in self.coverage(window):
            if row["day"]:
                denied[row["day"]] += row["decisions"] - row["permits"]
        by_hour = {
            day: sum(part.lines for part in found.parts[DENIED]) for day, found in self.version.days.items()
        }
        return frozenset(day for day, lines in denied.items() if by_hour[day] == lines)

    def bytes_in(self, window: Window) -> int:
        """Return the size of what is read for a window."""
        return sum(part.bytes for part in self.all_in(window))

    def rows_in(self, window: Window) -> int:
        """Return how many rows are read for a window."""
        return sum(part.rows for part in self.all_in(window))

    def all_in(self, window: Window) -> list[Part]:
        """Return the parts of the access rows of a window, and of all samples."""
        return [*self.parts(ACCESS, window), *self.version.samples]

    def files(self, spark: SparkSession, parts: Iterable[Part]) -> DataFrame:
        """Return the files of parts (FILES), for workers that read them in columns."""
        files = [self.folder.pattern(part.name) for part in parts]
        if not files:
            return spark.createDataFrame([], FILES)
        return spark.read.format("binaryFile").load(files).select("path", "content")

    def parts(self, dataset: str, window: Window) -> list[Part]:
        return [
            part
            for day, found in sorted(self.version.days.items())
            if day in window
            for part in found.parts[dataset]
        ]

    def read(self, spark: SparkSession, dataset: str, schema: str, parts: Iterable[Part]) -> DataFrame:
        """Return the rows of these parts; a column that an earlier format did not have is null."""
        files = [self.folder.pattern(part.name) for part in parts]
        if not files:
            return spark.createDataFrame([], StructType.fromDDL(schema))
        reader = spark.read.schema(schema).option("basePath", self.folder.address(dataset))
        return reader.parquet(*files)

    def _small(self, dataset: str, schema: pa.Schema, window: Window) -> list[Row]:
        parts = [
            (day, part)
            for day, found in sorted(self.version.days.items())
            if day in window
            for part in found.parts[dataset]
        ]
        rows = rows_of(self.folder, [part for _, part in parts], schema)
        return [
            {"day": day or None, **row} for (day, _), found in zip(parts, rows, strict=True) for row in found
        ]
