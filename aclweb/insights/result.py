"""What does a result of a job hold, and is it a whole one?

The manifest is checked when the result is opened. Its tables are read in batches, so that a long log takes no more
memory than a short one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aclweb.insights.errors import InsightsError

FORMAT = 1
USAGE = "usage"
_TABLES = ("usage", "requests")
DENIED_BY_BROKER = "denied_by_broker"
# Results of earlier versions tell no hours, and those of logs without an access table no broker of a denial.
_LATER_TABLES = ("coverage", DENIED_BY_BROKER)


@dataclass(frozen=True)
class Result:
    """The folder that a job wrote, with its manifest."""

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Result:
        """Return the result of the usage job; raises InsightsError if it is not whole, or of another job."""
        result = cls(folder, _manifest(folder, USAGE))
        for name in (*_TABLES, *(table for table in _LATER_TABLES if result.has(table))):
            result._check(name)
        return result

    @classmethod
    def of_job(cls, folder: Path, job: str, tables: Iterable[str]) -> Result:
        """Return the result of a job in a folder; raises InsightsError as `open` does."""
        result = cls(folder, _manifest(folder, job))
        for name in tables:
            result._check(name)
        return result

    def has(self, table: str) -> bool:
        return table in self.manifest["rows"]

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return int(self.manifest["rows"][table])

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns: results of earlier versions have fewer."""
        names: list[str] = self._file(table).schema_arrow.names
        return names

    def batches(self, table: str, rows: int, columns: list[str] | None = None) -> Iterator[Any]:
        """Yield the rows of a table as Arrow record batches of so many rows; columns: all unless given."""
        yield from self._file(table).iter_batches(rows, columns=columns)

    def rows(self, table: str, at_once: int) -> Iterator[list[dict[str, Any]]]:
        """Yield the rows of a table, so many at once."""
        for batch in self.batches(table, at_once):
            yield batch.to_pylist()

    def facts(self) -> dict[str, Any]:
        """Return what a Load keeps of the manifest, by the names of its fields."""
        lines, coverage = self.manifest["lines"], self.manifest["coverage"]
        return {
            "first_at": _moment(coverage["first_at"]),
            "last_at": _moment(coverage["last_at"]),
            "lines_read": lines["read"],
            "lines_parsed": lines["parsed"],
            "lines_other": lines["other"],
            "lines_unparsed": lines["unparsed"],
            "unparsed": self.manifest["unparsed"],
            "permits_seen": coverage["permits_seen"],
            # Results of earlier versions do not tell it.
            "unread": self.manifest.get("unread", ""),
            "disagreements": self.manifest["disagreements"]["lines"],
            "declarations": self.manifest["declarations"],
            "levels": self.manifest.get("levels", {}),
            "manifest": self.manifest,
        }

    def _file(self, table: str) -> Any:
        path = self.folder / f"{table}.parquet"
        # Imported here, because the site loads this module too, and runs where nothing of Spark is installed.
        try:
            from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - the site has no pyarrow
        except ImportError as error:
            raise InsightsError(
                f"{path} cannot be read without the Python package pyarrow; install requirements.txt."
            ) from error
        return ParquetFile(path)

    def _check(self, table: str) -> None:
        path = self.folder / f"{table}.parquet"
        found = self._file(table).metadata.num_rows if path.is_file() else None
        if found != self.count(table):
            raise InsightsError(
                f"{path} should hold {self.count(table)} rows and "
                f"{'is missing' if found is None else f'holds {found}'}; run the job again."
            )


def in_utc(moment: datetime) -> datetime:
    """The log names no zone; its times are kept and shown as they are."""
    return moment.replace(tzinfo=UTC)


def _moment(text: str | None) -> datetime | None:
    return in_utc(datetime.fromisoformat(text)) if text else None


def _manifest(folder: Path, job: str) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InsightsError(
            f"{folder} holds no manifest.json, so it is no result of the pipeline; name the folder given to --out."
        ) from error
    except (OSError, ValueError) as error:
        raise InsightsError(f"{path} cannot be read as a manifest: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("job") != job:
        raise InsightsError(
            f"{path} is not of the job {job!r}; load a result of `python -m aclweb.pipeline {job}`."
        )
    if manifest.get("format") != FORMAT:
        raise InsightsError(
            f"{path} has the format {manifest.get('format')!r} and this aclweb reads {FORMAT}; run the job again."
        )
    return manifest
