"""What can the logs prove of a cluster, and what can they not tell?

A log that was never read, holds no permits or misses hours proves little; each such gap is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aclweb.acl.logged import Evidence
from aclweb.acl.model import PermissionType, number_of
from aclweb.insights.broker_days import broker_days
from aclweb.insights.current import current_load
from aclweb.insights.models import Load, Refresh
from aclweb.insights.unused import NO_LOG, evidence_of
from aclweb.inventory.models import Cluster

WHOLE = "read"  # the state of a file that was read to its end


@dataclass(frozen=True)
class LogFile:
    """One file of the log: `permits` are decisions in it that allowed something.

    state: how far it could be read, "read" for to its end; `reason` says what was in the way. broker: whose log it is,
    and layout: how its records are written, both empty where the load does not tell.
    """

    name: str
    lines: int
    unparsed: int
    permits: int
    first_at: str | None
    last_at: str | None
    state: str = WHOLE
    reason: str = ""
    broker: str = ""
    layout: str = ""
    path: str = ""

    @property
    def is_whole(self) -> bool:
        return self.state == WHOLE


@dataclass(frozen=True)
class Unread:
    """Lines that could not be understood for one reason. broker: who wrote them, "" where the load does not tell."""

    reason: str
    lines: int
    sample: str
    broker: str = ""


@dataclass(frozen=True)
class Coverage:
    """What the log can prove.

    cannot_tell: nothing can be said about the use of ALLOW ACLs; `reason` says why.
    sentences: the whole of it for a person, in order. problem: since when and why the logs were not
    read again, empty if they were. tried: the last try to read them.
    """

    load: Load | None
    cannot_tell: bool
    reason: str
    sentences: tuple[str, ...]
    files: tuple[LogFile, ...] = ()
    unparsed: tuple[Unread, ...] = ()
    problem: str = ""
    window: str = ""
    tried: Refresh | None = None


def coverage(cluster: Cluster, *, all_days: bool = False) -> Coverage:
    """Return what the newest load can and cannot tell.

    all_days: whether the caller then asks for all days of the log, so that they are read at once.
    """
    load = current_load(cluster, manifest=True)
    if load is not None and all_days:
        broker_days(load)
    tried = Refresh.objects.filter(cluster=cluster).first()
    problem = _problem(tried, load)
    if load is None:
        sentence = (
            "No authorizer log of this cluster has been read yet, so the use of its ACLs and its denials are unknown."
            if cluster.log_sources.exists()
            else "Nobody has said where this cluster's authorizer logs are, so the use of its ACLs is unknown."
        )
        return Coverage(None, True, NO_LOG, (sentence,), problem=problem, tried=tried)
    files = tuple(_file(file) for file in load.manifest.get("files", ()))
    unparsed = tuple(unread for entry in load.unparsed for unread in _unread(entry))
    evidence = evidence_of(load)
    reason = evidence.why_not[PermissionType.ALLOW]
    return Coverage(
        load=load,
        cannot_tell=bool(reason),
        reason=reason,
        sentences=tuple(_coverage_sentences(load, files, evidence)),
        files=files,
        unparsed=unparsed,
        problem=problem,
        window=evidence.window if evidence.is_complete else "",
        tried=tried,
    )


@dataclass(frozen=True)
class Freshness:
    """How old is what pages show of the log?

    log_end: its last record, on the brokers' clocks. read_at: when it was last read, whether or not anything was
    new. problem: as `problem_of` says it.
    """

    log_end: datetime | None
    read_at: datetime | None
    problem: str


def freshness(cluster: Cluster, load: Load | None) -> Freshness:
    """Return how old a load is, and why there is no newer one; one query."""
    tried = Refresh.objects.filter(cluster=cluster).first()
    problem = _problem(tried, load)
    if load is None:
        return Freshness(None, None, problem)
    return Freshness(load.last_at, _read_at(tried, load), problem)


def problem_of(cluster: Cluster, load: Load | None) -> str:
    """Return since when and why the logs were not read again; empty if they were."""
    return _problem(Refresh.objects.filter(cluster=cluster).first(), load)


def _problem(tried: Refresh | None, load: Load | None) -> str:
    if tried is None or tried.tried_at is None or not tried.problem:
        return ""
    if load is None:
        return f"The logs could not be read on {tried.tried_at:%Y-%m-%d %H:%M} UTC. {tried.problem}"
    if load.loaded_at > tried.tried_at:
        return ""
    return (
        f"Not refreshed since {_read_at(tried, load):%Y-%m-%d %H:%M} UTC: the last try, on "
        f"{tried.tried_at:%Y-%m-%d %H:%M} UTC, {'ended early' if tried.cancelled_by else 'failed'}. {tried.problem}"
    )


def _read_at(tried: Refresh | None, load: Load) -> datetime:
    """Return when the logs were last read; a read that found nothing new made no load."""
    if tried is None or tried.read_at is None:
        return load.loaded_at
    return max(load.loaded_at, tried.read_at)


def _unread(entry: Mapping[str, Any]) -> Iterable[Unread]:
    """Yield a row for each broker, and one for what no broker is known of."""
    reason, left = entry["reason"], entry["lines"]
    for each in entry.get("brokers", ()):
        left -= each["lines"]
        yield Unread(reason, each["lines"], each["sample"], each["broker"])
    if left > 0:
        yield Unread(reason, left, entry["sample"])


def _file(file: Mapping[str, Any]) -> LogFile:
    return LogFile(
        name=str(file.get("name") or file["path"]),
        lines=file["lines"],
        unparsed=file["unparsed"],
        permits=file["permits"],
        first_at=file["first_at"],
        last_at=file["last_at"],
        state=file.get("state", WHOLE),
        reason=file.get("reason", ""),
        broker=file.get("broker") or "",
        layout=file.get("layout") or "",
        path=str(file["path"]),
    )


def _coverage_sentences(load: Load, files: tuple[LogFile, ...], evidence: Evidence) -> Iterable[str]:
    lines = number_of(load.lines_read, "line", "lines")
    if load.first_at is None or load.last_at is None:
        yield f"The log has {lines}, and none that begins with a time."
    else:
        yield (
            f"The log covers {load.first_at:%Y-%m-%d %H:%M} to {load.last_at:%Y-%m-%d %H:%M} of the brokers' clocks, "
            f"with {lines} in {number_of(len(files), 'file', 'files')}."
        )
    if load.lines_other:
        yield _other_sentence(load)
    for file in files:
        if not file.is_whole:
            yield f"{file.name}: {file.state}. {file.reason}"
    blind = [file.name for file in files if file.lines and not file.permits]
    if not load.permits_seen:
        yield (
            "Permits are not logged, so the log does not show which ALLOW ACLs are used; denials are complete. "
            "Brokers write permits when the logger kafka.authorizer.logger is set to DEBUG."
        )
    elif blind:
        yield f"Permits are missing in {', '.join(blind)}, so what is counted may have happened more often."
    else:
        yield "Permits and denials are logged."
    yield from _unused_sentences(load, evidence)
    if broken := load.manifest.get("lines", {}).get("not_utf8"):
        yield (
            f"{number_of(broken, 'line of the log holds', 'lines of the log hold')} bytes that are not UTF-8; "
            f"these are shown as �, as in: {load.manifest.get('not_utf8_sample') or ''}"
        )
    if load.lines_unparsed:
        yield (
            f"{number_of(load.lines_unparsed, 'line', 'lines')} could not be understood and "
            f"{'is' if load.lines_unparsed == 1 else 'are'} in no count."
        )
    if load.disagreements:
        yield (
            f"{load.disagreements:,} decisions of the log would be made otherwise now: the ACLs have changed since, "
            "or a declaration is wrong."
        )


def _other_sentence(load: Load) -> str:
    """Return how many lines are decisions, and what the others are that were understood."""
    decisions = number_of(load.lines_parsed, "line is a decision", "lines are decisions")
    counted = f"{decisions}, {number_of(load.lines_other, 'is', 'are')} something else"
    # Manifests of earlier versions do not say what.
    kinds = [f"{note['lines']:,} × {note['reason']}" for note in load.manifest.get("other", ())]
    return f"{counted}: {', '.join(kinds)}." if kinds else f"{counted}."


def _unused_sentences(load: Load, evidence: Evidence) -> Iterable[str]:
    reason = evidence.why_not[PermissionType.ALLOW]
    if reason and load.permits_seen:
        yield f"Which ALLOW ACLs are unused is unknown: {reason}."
    elif not reason:
        yield (
            f"An ACL is called unused if no request needed it {evidence.window}. The log names "
            f"{number_of(len(evidence.brokers), 'broker', 'brokers')}: "
            f"{', '.join(evidence.brokers)}. The log cannot show whether the cluster has more."
        )
