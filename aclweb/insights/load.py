"""Bring the result of the pipeline into the database, whole or not at all.

The manifest says which ACLs the job worked with; a result for other ACLs than the cluster
ever had is refused. Rows are stored in short transactions under a load that is not current,
so nobody waits for the database; pages change over to it in one step, and the rows of the
earlier load go afterwards.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from aclweb.insights.denial_groups import grouped
from aclweb.insights.models import AclUse, DenialGroup, Load, LogDay, SeenRequest
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.store import in_turn

logger = logging.getLogger(__name__)

FORMAT = 1
_ROWS_AT_ONCE = 1_000
# Of each request; pages show a month of days, and a table may have years.
_NEWEST_DAYS = 90
_JOB = "usage"
_TABLES = ("usage", "requests")

# A load that is not current after so long was left by a process that was killed.
_GIVEN_UP_AFTER = timedelta(hours=1)


class InsightsError(Exception):
    """A result that cannot be loaded, or a job that could not run; the message is a sentence."""


def load(directory: Path | str, cluster: Cluster) -> Load:
    """Load the result of the usage job in `directory` and make it what pages show.

    Raises InsightsError, and changes nothing, for a folder that is no complete result of
    this job, or one made with ACLs that the cluster never held.
    """
    folder = Path(directory)
    manifest = _manifest(folder)
    revision = _revision_of(manifest, cluster)
    fresh = Load.objects.create(
        cluster=cluster, current=False, **_facts(manifest), revision_number=revision.number
    )
    try:
        for rows in _rows(folder, manifest, fresh):
            with in_turn():
                type(rows[0])._default_manager.bulk_create(rows)
        replaced = _make_current(fresh)
    except BaseException:
        _forget(fresh)
        raise
    for old in replaced:
        _forget(old)
    logger.info(
        "Loaded insights of cluster %s: %d log lines, %d ACLs used, %d requests.",
        cluster.slug,
        fresh.lines_read,
        manifest["rows"]["usage"],
        manifest["rows"]["requests"],
    )
    return fresh


def _rows(folder: Path, manifest: dict[str, Any], fresh: Load) -> Iterator[list[models.Model]]:
    """Yield the rows of each table, so many at a time as one transaction stores."""
    for rows in _batches(folder / "usage.parquet"):
        yield [_use(fresh, row) for row in rows]
    for rows in _batches(folder / "requests.parquet"):
        yield [_seen(fresh, row) for row in rows]
    if "coverage" in manifest["rows"]:
        for rows in _batches(folder / "coverage.parquet"):
            yield [_log_day(fresh, row) for row in rows]
    yield from grouped(fresh, seen=SeenRequest.objects.all(), group=DenialGroup, at_once=_ROWS_AT_ONCE)


def _make_current(fresh: Load) -> list[Load]:
    """Have pages show this load; return those that nobody needs any more."""
    others = Load.objects.filter(cluster=fresh.cluster).exclude(pk=fresh.pk)
    with transaction.atomic():
        # Two loads at once would both be current: whoever comes second waits here.
        Cluster.objects.select_for_update().get(pk=fresh.cluster_id)
        replaced = list(others.filter(current=True).defer("manifest"))
        others.update(current=False)
        fresh.current = True
        fresh.save(update_fields=["current"])
    given_up = others.filter(current=False, loaded_at__lt=timezone.now() - _GIVEN_UP_AFTER)
    return [*replaced, *given_up.exclude(pk__in=[load.pk for load in replaced]).defer("manifest")]


def _forget(load: Load) -> None:
    """Delete a load and its rows, in short transactions."""
    for rows in (AclUse.objects, SeenRequest.objects, LogDay.objects, DenialGroup.objects):
        own = rows.filter(load=load).order_by("pk")
        while keys := list(own.values_list("pk", flat=True)[:_ROWS_AT_ONCE]):
            with in_turn():
                rows.filter(load=load, pk__lte=keys[-1]).delete()
    load.delete()


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InsightsError(
            f"{folder} holds no manifest.json, so it is no result of the pipeline; name the folder given to --out."
        ) from error
    except (OSError, ValueError) as error:
        raise InsightsError(f"{path} cannot be read as a manifest: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("job") != _JOB:
        raise InsightsError(
            f"{path} is not of the job {_JOB!r}; load a result of `python -m aclweb.pipeline usage`."
        )
    if manifest.get("format") != FORMAT:
        raise InsightsError(
            f"{path} has the format {manifest.get('format')!r} and this aclweb reads {FORMAT}; run the job again."
        )
    # Results of earlier versions tell no hours.
    for name in (*_TABLES, *(("coverage",) if "coverage" in manifest["rows"] else ())):
        table = folder / f"{name}.parquet"
        found = _parquet(table).metadata.num_rows if table.is_file() else None
        if found != manifest["rows"][name]:
            raise InsightsError(
                f"{table} should hold {manifest['rows'][name]} rows and "
                f"{'is missing' if found is None else f'holds {found}'}; run the job again."
            )
    return manifest


def _revision_of(manifest: dict[str, Any], cluster: Cluster) -> Revision:
    digest = manifest["snapshot"]["digest"]
    revision = cluster.revisions.filter(digest=digest).order_by("-number").first()
    if revision is None:
        raise InsightsError(
            f"The result was made with ACLs (digest {digest[:12]}…) that {cluster} never held; "
            "run the job with a snapshot of this cluster."
        )
    return revision


def _facts(manifest: dict[str, Any]) -> dict[str, Any]:
    lines, coverage = manifest["lines"], manifest["coverage"]
    return {
        "first_at": _moment(coverage["first_at"]),
        "last_at": _moment(coverage["last_at"]),
        "lines_read": lines["read"],
        "lines_parsed": lines["parsed"],
        "lines_other": lines["other"],
        "lines_unparsed": lines["unparsed"],
        "unparsed": manifest["unparsed"],
        "permits_seen": coverage["permits_seen"],
        # Results of earlier versions do not tell it.
        "unread": manifest.get("unread", ""),
        "disagreements": manifest["disagreements"]["lines"],
        "declarations": manifest["declarations"],
        "manifest": manifest,
    }


def _parquet(path: Path) -> Any:
    # Imported here, because the site loads this module too, and runs where nothing of Spark is installed.
    try:
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - the site has no pyarrow
    except ImportError as error:
        raise InsightsError(
            f"{path} cannot be read without the Python package pyarrow; install requirements.txt."
        ) from error
    return ParquetFile(path)


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    for batch in _parquet(path).iter_batches(_ROWS_AT_ONCE):
        yield batch.to_pylist()


def _use(load: Load, row: dict[str, Any]) -> AclUse:
    return AclUse(
        load=load,
        key=row["binding_key"],
        requests=row["requests"],
        alone=row["alone"],
        named=row["named"],
        # Results of earlier versions do not tell these.
        needed=row.get("needed"),
        replaceable_by=row.get("replaceable_by") or [],
        first_at=_in_utc(row["first_at"]),
        last_at=_in_utc(row["last_at"]),
    )


def _seen(load: Load, row: dict[str, Any]) -> SeenRequest:
    return SeenRequest(
        load=load,
        principal=row["principal"],
        host=row["host"],
        operation=row["operation"],
        resource_type=row["resource_type"],
        resource_name=row["resource_name"],
        allowed=row["allowed"],
        lines=row["lines"],
        first_at=_in_utc(row["first_at"]),
        last_at=_in_utc(row["last_at"]),
        api_names=row["api_names"],
        days=[[_day(entry["day"]), entry["lines"]] for entry in row["days"][-_NEWEST_DAYS:]],
        sample=row["sample"] or "",
        decided_now=row["decided_now"],
    )


def _log_day(load: Load, row: dict[str, Any]) -> LogDay:
    return LogDay(
        load=load,
        broker=row["broker"],
        day=date.fromisoformat(row["day"]),
        lines=row["lines"],
        decisions=row["decisions"],
        permits=row["permits"],
        hours=sum(1 << hour for hour in row["hours"]),
        permit_hours=sum(1 << hour for hour in row["permit_hours"]),
    )


def _day(day: date | str) -> str:
    return day if isinstance(day, str) else day.isoformat()


def _moment(text: str | None) -> datetime | None:
    return _in_utc(datetime.fromisoformat(text)) if text else None


def _in_utc(moment: datetime) -> datetime:
    """The log names no zone; its times are kept and shown as they are."""
    return moment.replace(tzinfo=UTC)
