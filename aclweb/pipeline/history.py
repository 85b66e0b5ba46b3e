"""Which ACLs were in force when?

A history file has an ACL a line, as JSON with its seven keys and from when to when it was in force: `from_revision` and
`from_at`, `to_revision` and `to_at` (null while it is). `manage.py export CLUSTER --format history` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AclError,
    AuthorizerSettings,
    NotationError,
    computed_once,
    lines_of,
)
from aclweb.acl.notation import binding_from_dict, parse_object
from aclweb.pipeline.given import text_of

_KEYS = ("from_revision", "from_at", "to_revision", "to_at")


@dataclass(frozen=True, slots=True)
class Period:
    """One ACL in force from one revision until before another; `until` and `last` are None while it is."""

    binding: AclBinding
    first: int
    since: datetime
    last: int | None
    until: datetime | None

    def is_in_force(self, at: datetime) -> bool:
        return self.since <= at and (self.until is None or at < self.until)


@dataclass(frozen=True)
class History:
    """All periods of a cluster, in the order of the file."""

    periods: tuple[Period, ...]

    def __getstate__(self) -> tuple[Period, ...]:
        return self.periods

    def __setstate__(self, periods: tuple[Period, ...]) -> None:
        object.__setattr__(self, "periods", periods)

    @computed_once
    def start(self) -> datetime | None:
        """When the first revision was read; of the time before nothing is known."""
        return min((period.since for period in self.periods), default=None)

    @computed_once
    def _index(self) -> AclIndex:
        return AclIndex(period.binding for period in self.periods)

    @computed_once
    def _of_acl(self) -> dict[AclBinding, list[Period]]:
        found: dict[AclBinding, list[Period]] = {}
        for period in self.periods:
            found.setdefault(period.binding, []).append(period)
        return found

    def answers(
        self, request: AccessRequest, settings: AuthorizerSettings, since: datetime
    ) -> Iterator[tuple[int, datetime, Result]]:
        """Yield the answers to a request from a time on, in order: first that of then, then after each revision.

        Each has the revision that changed its ACLs, and the time from which it holds.
        """
        near = [
            period
            for binding in self._index.affecting(request.resource, settings)
            for period in self._of_acl[binding]
        ]
        changes = {(period.first, period.since) for period in near}
        changes |= {
            (period.last, period.until)
            for period in near
            if period.last is not None and period.until is not None
        }
        before = max((revision for revision, at in changes if at <= since), default=0)
        later = sorted((revision, at) for revision, at in changes if at > since)
        for revision, at in ((before, since), *later):
            held = AclIndex(period.binding for period in near if period.is_in_force(at))
            yield revision, at, decide(request, held, settings)[0]


@dataclass(frozen=True)
class Ages:
    """Which ACLs in force were first seen after a time, and when.

    young: those that came after it. unknown: those that the first sync found after it, so they may be of any age.
    """

    young: Mapping[AclBinding, datetime]
    unknown: Mapping[AclBinding, datetime]


def ages(history: History | None, start: datetime | None) -> Ages:
    """Return which ACLs in force were first seen after `start`, on the brokers' clocks; none without either."""
    young: dict[AclBinding, datetime] = {}
    unknown: dict[AclBinding, datetime] = {}
    if history is None or start is None:
        return Ages(young, unknown)
    # The history has UTC, and the log the times of the brokers' clocks.
    from_here = start.replace(tzinfo=UTC)
    for period in history.periods:
        if period.until is None and period.since > from_here:
            # The first sync finds ACLs that are older than it; only later ones date them.
            (young if period.first > 1 else unknown)[period.binding] = period.since
    return Ages(young, unknown)


def read_history(path: Path) -> History:
    """Return what the file says; raise NotationError with a sentence for the first bad line."""
    text = text_of(path, "The history")
    periods = []
    for number, line in enumerate(lines_of(text), start=1):
        if line.strip():
            try:
                periods.append(_period(line))
            except AclError as error:
                raise NotationError(f"{path}:{number}: {error}") from error
    return History(tuple(periods))


def _period(line: str) -> Period:
    given = parse_object(line)
    missing = [key for key in _KEYS if key not in given]
    if missing:
        raise NotationError(f"The key {missing[0]!r} is missing; write an ACL with {', '.join(_KEYS)}.")
    binding = binding_from_dict({key: value for key, value in given.items() if key not in _KEYS})
    first, since = _revision(given["from_revision"]), _moment(given["from_at"])
    if given["to_revision"] is None and given["to_at"] is None:
        return Period(binding, first, since, None, None)
    return Period(binding, first, since, _revision(given["to_revision"]), _moment(given["to_at"]))


def _revision(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise NotationError(f"The revision is {value!r}; write a whole number.")


def _moment(value: object) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        raise NotationError(f"The time is {value!r}; write it as 2026-11-20T12:00:00+00:00.") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
