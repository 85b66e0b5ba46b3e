"""How do counted records become rows of an access table, all in one step?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from aclweb.pipeline import schemas, totals
from aclweb.pipeline.coverage import Row, added, has_notes
from aclweb.pipeline.manifest import added_notes
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table.changing import (
    MOST_SAMPLE_PARTS,
    Written,
    adopt_frames,
    commit_and_sweep,
    days_to_fold,
    next_version,
    write_rows,
)
from aclweb.pipeline.table.parts import (
    ACCESS,
    COVERAGE,
    COVERAGE_SCHEMA,
    DENIED,
    NOTES,
    NOTES_SCHEMA,
    SAMPLES,
    Part,
    place_of,
)
from aclweb.pipeline.table.reading import Table, Window
from aclweb.pipeline.table.versions import Version

_FILE_ROWS = 10_000_000
# What the access rows of a table have beside those of a usage job.
_OF_TABLE = ("broker", "ambiguous")


@dataclass(frozen=True)
class Added:
    """version: the new one. lines, decisions: what was added. too_old: records of days that are no longer kept."""

    version: Version
    lines: int
    decisions: int
    too_old: int


@dataclass(frozen=True)
class Writing:
    """One change of a cluster's table. unfinished: a folder of its folder. oldest_day: the first day that is kept."""

    spark: SparkSession
    folder: Folder
    cluster: str
    base: Version | None
    unfinished: str
    oldest_day: str

    def add(
        self,
        lines: DataFrame,
        coverage: Sequence[Row],
        *,
        sources: Sequence[Mapping[str, Any]],
        problems: Mapping[str, Mapping[str, Any]],
        zones: Mapping[str, str | None],
        offsets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
        anew: Collection[str] = (),
    ) -> Added:
        """Add records to the table and return its new version.

        lines: schemas.LINES with brokers, kept. coverage: the rows of `totals.coverage` for all of them, with the
        `file` and `broker` that the table shows. anew: days of which the table is to hold these records alone. The
        others are those of `next_version`.

        Raises TableError where the table cannot be changed.
        """
        rows = [row for row in coverage if self._is_kept(row["day"])]
        by_day = {row["day"] or "": row for row in added(rows, "day")}
        folded = {
            day
            for day in days_to_fold(self.base, by_day)
            if day not in anew and (not day or self._is_kept(day))
        }
        parts = {
            ACCESS: self._write_access(lines, folded),
            COVERAGE: self._write_coverage(rows, folded),
            NOTES: self._write_notes(lines, rows, folded),
            DENIED: self._write_denied(lines, rows, folded),
        }
        written = {
            day: Written(
                lines=by_day[day]["lines"] if day in by_day else 0,
                decisions=by_day[day]["decisions"] if day in by_day else 0,
                parts={dataset: found.get(day, ()) for dataset, found in parts.items()},
                is_folded=day in folded,
                is_anew=day in anew,
            )
            for day in {*by_day, *folded}
        }
        version = next_version(
            self.base,
            self.cluster,
            written,
            samples=self._write_samples(lines),
            sources=sources,
            problems=problems,
            zones=zones,
            oldest_day=self.oldest_day,
            offsets=offsets,
        )
        commit_and_sweep(self.folder, version)
        kept = sum(row["lines"] for row in rows)
        return Added(
            version,
            lines=kept,
            decisions=sum(row["decisions"] for row in rows),
            too_old=sum(row["lines"] for row in coverage) - kept,
        )

    def _is_kept(self, day: str | None) -> bool:
        return day is None or day >= self.oldest_day

    def _write_access(self, lines: DataFrame, folded: set[str]) -> dict[str, tuple[Part, ...]]:
        rows = totals.access_rows(lines, *_OF_TABLE).filter(F.col("day") >= self.oldest_day)
        if old := self._parts(ACCESS, folded):
            both = rows.unionByName(self._read(ACCESS, schemas.ACCESS, old))
            rows = totals.added(both, "day", *schemas.ACCESS_KEY, *_OF_TABLE)
        ordered = rows.select(*StructType.fromDDL(schemas.ACCESS).names).repartition("day")
        self._write(ordered.sortWithinPartitions("day", *schemas.ACCESS_KEY, "broker"), ACCESS, "day")
        return adopt_frames(f"{self.unfinished}/{ACCESS}", self.folder, ACCESS)

    def _write_denied(
        self, lines: DataFrame, coverage: Sequence[Row], folded: set[str]
    ) -> dict[str, tuple[Part, ...]]:
        """Write how often each principal was denied in each hour; coverage: the rows of days that are kept."""
        old = self._parts(DENIED, folded)
        if not old and all(row["decisions"] == row["permits"] for row in coverage):
            return {}
        rows = totals.denied_by_hour(lines).filter(F.col("day") >= self.oldest_day)
        if old:
            rows = totals.hours_added(rows.unionByName(self._read(DENIED, schemas.DENIED, old)))
        placed = rows.repartition("day").sortWithinPartitions("day", "principal", "hour")
        self._write(placed, DENIED, "day")
        return adopt_frames(f"{self.unfinished}/{DENIED}", self.folder, DENIED)

    def _parts(self, dataset: str, days: set[str]) -> list[Part]:
        """Return the parts that the table has of some days."""
        return [part for day in days for part in self.base.days[day].parts[dataset]] if self.base else []

    def _read(self, dataset: str, schema: str, parts: Sequence[Part]) -> DataFrame:
        assert self.base is not None
        return Table(self.folder, self.base).read(self.spark, dataset, schema, parts)

    def _write_samples(self, lines: DataFrame) -> tuple[Part, ...]:
        """Write the latest record of each request; return the parts that the next version has."""
        base = self.base
        kept = base.samples if base else ()
        oldest = datetime.fromisoformat(self.oldest_day).replace(tzinfo=UTC)
        is_kept = F.col("last_us") >= round(oldest.timestamp()) * 1_000_000
        found = totals.samples(lines.filter(is_kept))
        if base and len(kept) >= MOST_SAMPLE_PARTS:
            known = Table(self.folder, base).samples(self.spark).filter(is_kept)
            found, kept = totals.latest(found.unionByName(known)), ()
        self._write(found.sortWithinPartitions(*schemas.REQUEST, "allowed"), SAMPLES)
        new = adopt_frames(f"{self.unfinished}/{SAMPLES}", self.folder, SAMPLES)
        return (*kept, *new.get("", ()))

    def _write_coverage(self, rows: Sequence[Row], folded: set[str]) -> dict[str, tuple[Part, ...]]:
        old = self._known(Table.coverage, folded)
        return self._write_rows(COVERAGE, COVERAGE_SCHEMA, added([*old, *rows], "day", "file", "broker"))

    def _write_notes(
        self, lines: DataFrame, coverage: Sequence[Row], folded: set[str]
    ) -> dict[str, tuple[Part, ...]]:
        """Write what is no decision, and what is no UTF-8; coverage: the rows of days that are kept."""
        new = []
        if has_notes(coverage):
            new = [row.asDict() for row in totals.notes(lines).collect() if self._is_kept(row["day"])]
        return self._write_rows(NOTES, NOTES_SCHEMA, added_notes([*self._known(Table.notes, folded), *new]))

    def _write_rows(
        self, dataset: str, schema: pa.Schema, rows: Sequence[Row]
    ) -> dict[str, tuple[Part, ...]]:
        by_day: dict[str, list[Row]] = {}
        for row in rows:
            by_day.setdefault(row["day"] or "", []).append(row)
        return {
            day: write_rows(found, schema, self.unfinished, self.folder, place_of(dataset, day))
            for day, found in by_day.items()
        }

    def _known(self, read: Callable[[Table, Window], list[Row]], days: set[str]) -> list[Row]:
        """Return the rows that the table has of some days."""
        if not (days and self.base):
            return []
        table = Table(self.folder, self.base)
        return [row for row in read(table, Window()) if (row["day"] or "") in days]

    def _write(self, rows: DataFrame, dataset: str, *by: str) -> None:
        """Have the executors write rows into the unfinished folder."""
        writer = rows.write.option("compression", "zstd").option("maxRecordsPerFile", _FILE_ROWS)
        writer.partitionBy(*by).parquet(self.folder.address(f"{self.unfinished}/{dataset}"))
