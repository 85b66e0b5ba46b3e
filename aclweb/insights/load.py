"""Bring the result of the pipeline into the database, whole or not at all.

The manifest says which ACLs the job worked with; a result for other ACLs than the cluster
ever had is refused. What the load before has already is not stored again. Pages change over to
a load in one step when all of it is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from aclweb.insights.current import current_load
from aclweb.insights.denial_bursts import burst_facts, span_of
from aclweb.insights.denial_groups import Groups, key_of
from aclweb.insights.errors import InsightsError
from aclweb.insights.logged_principals import keep_principals
from aclweb.insights.models import AclUse, DenialGroup, Load, LogDay
from aclweb.insights.pairs import keep_pairs
from aclweb.insights.quiet import settle_quiet
from aclweb.insights.request_rows import Days, store_requests
from aclweb.insights.result import DENIED_BY_BROKER, Result, in_utc
from aclweb.insights.staging import begin, clear, publish, step, take_back
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.store import insert

logger = logging.getLogger(__name__)

_ROWS_AT_ONCE = 5_000
_LATELY = 30  # the days of AclUse.requests_30
_MOST_BROKERS = 10  # of a group of denials
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_USE_FIELDS = (
    *("load", "key", "requests", "alone", "named", "needed", "replaceable_by"),
    *("first_at", "last_at", "requests_30", "days"),
)
_DAY_FIELDS = ("load", "broker", "day", "lines", "decisions", "permits", "hours", "permit_hours")
_GROUP_FIELDS = (
    *("key", "principal", "operation", "resource_type", "resource_name"),
    *("lines", "lines_1", "lines_7", "lines_14", "lines_30", "lines_before"),
    *("hosts", "latest_host", "first_at", "last_at", "days", "brokers"),
    *("burst_day", "burst_lines", "burst_usual"),
)


def load(directory: Path | str, cluster: Cluster) -> Load:
    """Load the result of the usage job in `directory` and make it what pages show.

    Raises InsightsError, and changes nothing, for a folder that is no complete result of
    this job, one made with ACLs that the cluster never held, and where another process loads a result meanwhile.
    """
    result = Result.open(Path(directory))
    revision = _revision_of(result.manifest, cluster)
    fresh = begin(cluster, **result.facts(), revision_number=revision.number)
    try:
        clear(fresh)
        base = current_load(cluster)
        _store(result, fresh, base)
        keep_pairs(fresh)
        keep_principals(fresh)
        with step(fresh):
            settle_quiet(fresh)
        publish(fresh, base=base)
    except BaseException:
        take_back(fresh)
        raise
    logger.info(
        "Loaded insights of cluster %s: %d log lines, %d ACLs used, %d requests.",
        cluster.slug,
        fresh.lines_read,
        result.count("usage"),
        result.count("requests"),
    )
    return fresh


def _store(result: Result, fresh: Load, base: Load | None) -> None:
    learned = store_requests(fresh, result, base=base)
    days = learned.acl_days if "determining" in result.columns("requests") else None
    for rows in result.rows("usage", _ROWS_AT_ONCE):
        uses = [_use(fresh, row, days) for row in rows]
        with step(fresh):
            insert(AclUse, _USE_FIELDS, uses)
    if result.has("coverage"):
        for rows in result.rows("coverage", _ROWS_AT_ONCE):
            log_days = [_log_day(fresh, row) for row in rows]
            with step(fresh):
                insert(LogDay, _DAY_FIELDS, log_days)
    for groups in _grouped(fresh, learned.groups, _brokers_of(result)):
        with step(fresh):
            insert(DenialGroup, ("load", *_GROUP_FIELDS), groups)


def _revision_of(manifest: dict[str, Any], cluster: Cluster) -> Revision:
    digest = manifest["snapshot"]["digest"]
    revision = cluster.revisions.filter(digest=digest).order_by("-number").first()
    if revision is None:
        raise InsightsError(
            f"The result was made with ACLs (digest {digest[:12]}…) that {cluster} never held; "
            "run the job with a snapshot of this cluster."
        )
    return revision


def _use(fresh: Load, row: dict[str, Any], days: Mapping[str, Days] | None) -> tuple[Any, ...]:
    """Return the row of an ACL; days: of all ACLs, None in a result of an earlier version."""
    own = [] if days is None else days.get(row["binding_key"], [])
    return (
        fresh.pk,
        row["binding_key"],
        row["requests"],
        row["alone"],
        row["named"],
        # Results of earlier versions do not tell these.
        row.get("needed"),
        row.get("replaceable_by") or [],
        in_utc(row["first_at"]),
        in_utc(row["last_at"]),
        None if days is None else _lately(own, fresh),
        own,
    )


def _lately(days: Days, fresh: Load) -> int | None:
    if fresh.last_at is None:
        return None
    begin_day = (fresh.last_at.date() - timedelta(days=_LATELY - 1)).isoformat()
    return sum(lines for day, lines in days if day >= begin_day)


def _log_day(fresh: Load, row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        fresh.pk,
        row["broker"],
        date.fromisoformat(row["day"]),
        row["lines"],
        row["decisions"],
        row["permits"],
        sum(1 << hour for hour in row["hours"]),
        sum(1 << hour for hour in row["permit_hours"]),
    )


_Brokers = dict[str, list[tuple[str, int, str]]]


def _brokers_of(result: Result) -> _Brokers:
    """Return by the key of a group which brokers wrote its denials: those of most lines, their number and the last."""
    found: _Brokers = {}
    if not result.has(DENIED_BY_BROKER):
        return found
    names = result.manifest.get("broker_names", {})
    for rows in result.rows(DENIED_BY_BROKER, _ROWS_AT_ONCE):
        for row in rows:
            key = key_of(row["principal"], row["operation"], row["resource_type"], row["resource_name"])
            last = _EPOCH + timedelta(microseconds=row["last_us"])
            told = (names.get(row["broker"], row["broker"]), row["lines"], f"{last:%Y-%m-%d %H:%M:%S}")
            found[key] = sorted([*found.get(key, ()), told], key=lambda each: (-each[1], each[0]))[
                :_MOST_BROKERS
            ]
    return found


def _grouped(fresh: Load, groups: Groups, brokers: _Brokers) -> Iterator[list[tuple[Any, ...]]]:
    span = span_of(fresh)
    facts = (
        each | burst_facts(each["days"], span) | {"brokers": brokers.get(each["key"], [])}
        for each in groups.facts(fresh.last_at)
    )
    while some := list(islice(facts, _ROWS_AT_ONCE)):
        yield [(fresh.pk, *(each[name] for name in _GROUP_FIELDS)) for each in some]
