"""What can logs claim about ACLs that no logged request needed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from aclweb.acl.logged import BrokerDay, Evidence, Wanted, evidence_in, with_gone
from aclweb.pipeline.coverage import Row, added, in_span
from aclweb.pipeline.known_brokers import INFO
from aclweb.pipeline.manifest import Logged, broker_names, why_unread

_EPOCH = datetime.fromtimestamp(0, UTC).replace(tzinfo=None)


def evidence_of(logged: Logged, until: date, wanted: Wanted) -> Evidence:
    """Return what the logs can claim; until: the last day that a broker can have written about."""
    days = added(in_span(logged.coverage, until), "broker", "day")
    names = broker_names(days, logged.brokers.names)
    last_at = _moment(days, "last_us", max)
    found = (
        BrokerDay(names[row["broker"]], date.fromisoformat(row["day"]), row["hours"], row["permit_hours"])
        for row in days
    )
    return evidence_in(
        found if last_at is None else with_gone(found, logged.brokers.gone, last_at.date()),
        first_at=_moment(days, "first_us", min),
        last_at=last_at,
        permits_seen=any(row["permits"] for row in days),
        wanted=wanted,
        unread=why_unread(logged.sources.values()),
        at_info=[broker for broker, level in logged.levels(days).items() if level == INFO],
    )


def evidence_facts(evidence: Evidence) -> dict[str, Any]:
    """Return what a manifest says of it: the window, the brokers, and what is missing for each permission."""
    return {
        "days": evidence.days,
        "start": str(evidence.start) if evidence.start else None,
        "end": str(evidence.end) if evidence.end else None,
        "brokers": list(evidence.brokers),
        "missing": {permission.name: reason for permission, reason in evidence.why_not.items() if reason},
    }


def _moment(rows: Iterable[Row], name: str, choose: Callable[..., int | None]) -> datetime | None:
    """The time as the broker's clock showed it, or in UTC where its zone is known."""
    micros = choose((row[name] for row in rows if row[name] is not None), default=None)
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
