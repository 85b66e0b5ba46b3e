"""Which ACLs settled each logged request when it was made?

A history says which ACLs were in force when. Most names were under the same ACLs as long as the log goes back: what the
ACLs of the snapshot answer there holds for all of it. Of the other names, requests that were made under the same ACLs
are decided together, whatever their day.

Where the ACLs changed between the first and the last record of a request on a day, the first ACLs of that time that
answer as the broker did are those that settled it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import Row, SparkSession

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.logged import Settling
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Resource, number_of
from aclweb.acl.notation import binding_key
from aclweb.pipeline.batch import requests_of
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.folding import Folded
from aclweb.pipeline.history import History, Period
from aclweb.pipeline.manifest import Logged
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.sums import NO_LAST, Facts, Numbers, Truths, summed

COUNTED, OTHERWISE, BEFORE = "counted then", "otherwise then", "before history"
THEN = (COUNTED, OTHERWISE, BEFORE)
"""What becomes of a logged decision: the ACLs of its time answer as the broker did, or otherwise, or are not known."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HALF_A_DAY = timedelta(hours=12) // _MICROSECOND

_TEXTS = pa.list_(pa.string())


@dataclass(frozen=True)
class InForce:
    """What travels to the executors. begin: when the log begins. off: how far its clocks may be from UTC.

    Both in microseconds.
    """

    history: History
    settings: AuthorizerSettings
    begin: int
    off: int

    @property
    def start(self) -> int:
        """When the history begins, in microseconds since 1970."""
        assert self.history.start is not None
        return _micros(self.history.start)


def in_force(history: History | None, settings: AuthorizerSettings, logged: Logged) -> InForce | None:
    """Return what is asked of the executors; None without a history, or with an empty one."""
    if history is None or history.start is None:
        return None
    firsts = [row["first_us"] for row in logged.coverage if row["first_us"] is not None]
    off = 0 if logged.is_utc else _HALF_A_DAY
    return InForce(history, settings, min(firsts, default=0) - off, off)


@contextmanager
def shipped_history(
    spark: SparkSession, history: History | None, settings: AuthorizerSettings, logged: Logged
) -> Iterator[Broadcast[InForce] | None]:
    """Yield what the executors are asked about a history until the end of the block; None where there is none."""
    question = in_force(history, settings, logged)
    if question is None:
        yield None
        return
    sent = spark.sparkContext.broadcast(question)
    try:
        yield sent
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            sent.destroy()


class Settled(NamedTuple):
    """What settled requests when they were made: the keys of the ACLs as in schemas.DECIDED, and what is known of each.

    is_settled: whether what they answer is what the log says. lines: by the words of THEN.
    """

    determining: pa.Array
    one_of: pa.Array
    is_settled: Truths
    facts: Facts
    lines: Mapping[str, int]


def settled_then(
    question: InForce,
    keys: Mapping[AclBinding, str],
    found: Folded,
    decided: pa.RecordBatch,
    agrees: Truths,
) -> Settled:
    """Return what settled the requests of a worker when they were made.

    keys: of the ACLs of the snapshot. decided: schemas.DECIDED by these, and agrees: whether they answer as the log.
    """
    then = _then_of(question, keys)
    key, _, _, facts = found.days
    # What may have been before the history is not known, and so are records without a time.
    is_known = (facts.last != NO_LAST) & (facts.first - question.off >= question.start)
    is_other = then.is_other(found.keys)[key]
    same, _, of_same = summed(*_zeroed(key, is_known & ~is_other), facts.at(is_known & ~is_other))
    others = then.settled(found.keys, key, facts, np.flatnonzero(is_known & is_other))
    columns = [
        pa.concat_arrays([decided.column(name).take(pa.array(same)), pa.array(lists, _TEXTS)])
        for name, lists in (("determining", others.determining), ("one_of", others.one_of))
    ]
    settled = np.concatenate([agrees[same], np.ones(len(others.determining), np.bool_)])
    both = Facts(*(np.concatenate(pair) for pair in zip(of_same, others.facts, strict=True)))
    lines = {
        COUNTED: int(both.lines[settled].sum()),
        OTHERWISE: int(both.lines[~settled].sum()) + others.otherwise,
        BEFORE: int(facts.lines[~is_known].sum()),
    }
    return Settled(columns[0], columns[1], settled, both, lines)


def then_facts(history: History | None, then: Iterable[Row]) -> dict[str, Any] | None:
    """Return what a manifest says of a history: its periods, and the decisions by the words of THEN.

    then: rows of schemas.FACTS.
    """
    if history is None:
        return None
    lines: Counter[str] = Counter()
    for row in then:
        lines[row["fact"]] += row["lines"]
    return {"periods": len(history.periods), "lines": {word: lines[word] for word in THEN}}


def then_summary(found: Mapping[str, Any] | None) -> list[str]:
    """Return what a person wants to know of decisions and the ACLs of their time; found: of `then_facts`."""
    if found is None:
        return []
    lines = found["lines"]
    report = [
        f"The ACLs in force at the time answer {number_of(lines[COUNTED], 'decision')} as the brokers did."
    ]
    if lines[OTHERWISE]:
        report.append(f"Of {lines[OTHERWISE]:,} these ACLs say otherwise; `disagreement` tells more.")
    if lines[BEFORE]:
        report.append(f"Of {lines[BEFORE]:,} the ACLs of their time are not in the history.")
    return report


def _zeroed(key: Numbers, chosen: Truths) -> tuple[Numbers, Numbers]:
    return key[chosen], np.zeros(int(chosen.sum()), np.int64)


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


# --- On the executors -----------------------------------------------------------------


class _Others(NamedTuple):
    """What settled requests whose ACLs changed, by request and ACLs in force. otherwise: lines that none settles."""

    determining: list[list[str]]
    one_of: list[list[str]]
    facts: Facts
    otherwise: int


class _Then:
    """A history on one worker."""

    def __init__(self, question: InForce, today: Collection[AclBinding]) -> None:
        self._question = question
        self._settings = question.settings
        self._periods: dict[AclBinding, list[Period]] = {}
        for period in question.history.periods:
            self._periods.setdefault(period.binding, []).append(period)
        self._all = AclIndex(self._periods)
        begin = max(question.begin, question.start)
        self._changed = AclIndex(
            binding
            for binding in self._periods.keys() | set(today)
            if _has_changed(self._periods.get(binding, ()), begin, is_there=binding in today)
        )
        self._is_other: dict[tuple[str, str], bool] = {}
        self._near: dict[Resource, _Near] = {}
        self._keys: dict[AclBinding, str] = {}

    def is_other(self, keys: pa.RecordBatch) -> Truths:
        """Return of which requests the ACLs on the name were not always those of the snapshot."""
        asked, found = requests_of(keys.select(REQUEST)), []
        names = zip(
            *(keys.column(name).to_pylist() for name in ("resource_type", "resource_name")), strict=True
        )
        for place, name in enumerate(names):
            known = self._is_other.get(name)
            if known is None:
                affecting = self._changed.affecting(asked.row(place).resource, self._settings)
                known = self._is_other[name] = bool(affecting)
            found.append(known)
        return np.array(found, np.bool_)

    def settled(self, keys: pa.RecordBatch, key: Numbers, facts: Facts, entries: Numbers) -> _Others:
        """Return what settled the entries of some requests and days. key, facts: of all entries."""
        asked = requests_of(keys.select(REQUEST))
        allowed = keys.column("allowed").to_pylist()
        groups: dict[tuple[int, frozenset[AclBinding]], int] = {}
        answers: list[_Answer] = []
        of_entry: list[int] = []
        chosen: list[int] = []
        otherwise = 0
        for entry in entries.tolist():
            place = int(key[entry])
            request, wanted = asked.row(place), Result.ALLOWED if allowed[place] else Result.DENIED
            near = self._near_of(request.resource)
            for held in near.held(
                int(facts.first[entry]) - self._question.off, int(facts.last[entry]) + self._question.off
            ):
                group = groups.get((place, held))
                if group is None:
                    group = groups[place, held] = len(answers)
                    answers.append(near.answer(request, held))
                if answers[group].result is wanted:
                    of_entry.append(group)
                    chosen.append(entry)
                    break
            else:
                otherwise += int(facts.lines[entry])
        used, _, sums = summed(
            np.array(of_entry, np.int64),
            np.zeros(len(of_entry), np.int64),
            facts.at(np.array(chosen, np.int64)),
        )
        settling = [answers[group] for group in used.tolist()]
        return _Others(
            [self._keys_of(each.determining) for each in settling],
            [self._keys_of(each.one_of) for each in settling],
            sums,
            otherwise,
        )

    def _near_of(self, resource: Resource) -> _Near:
        if resource not in self._near:
            found = self._all.affecting(resource, self._settings)
            periods = [period for binding in found for period in self._periods[binding]]
            self._near[resource] = _Near(periods, self._settings)
        return self._near[resource]

    def _keys_of(self, acls: Sequence[AclBinding]) -> list[str]:
        for binding in acls:
            if binding not in self._keys:
                self._keys[binding] = binding_key(binding)
        return sorted(map(self._keys.__getitem__, acls))


def _has_changed(periods: Sequence[Period], begin: int, *, is_there: bool) -> bool:
    """Return whether an ACL was not always since `begin` in force or not, as it is by the snapshot."""
    if is_there:
        return not any(period.until is None and _micros(period.since) <= begin for period in periods)
    return any(period.until is None or _micros(period.until) > begin for period in periods)


class _Answer(NamedTuple):
    result: Result
    determining: tuple[AclBinding, ...]
    one_of: tuple[AclBinding, ...]


class _Near:
    """The ACLs on one name, and when each of them was in force."""

    def __init__(self, periods: Sequence[Period], settings: AuthorizerSettings) -> None:
        self._settings = settings
        spans = [
            (period.binding, _micros(period.since), None if period.until is None else _micros(period.until))
            for period in periods
        ]
        changes = {at for _, since, until in spans for at in (since, until) if at is not None}
        self._changes = sorted(changes)
        # What is in force before each change, and after the last one.
        self._held = [
            frozenset(
                binding for binding, since, until in spans if since <= at and (until is None or at < until)
            )
            for at in (self._changes[0] - 1 if changes else 0, *self._changes)
        ]
        self._made: dict[frozenset[AclBinding], tuple[AclIndex, Settling]] = {}

    def held(self, since: int, until: int) -> Iterator[frozenset[AclBinding]]:
        """Yield the ACLs in force from a time to another, both included, in order."""
        first = bisect_right(self._changes, since)
        yield from self._held[first : bisect_right(self._changes, max(since, until)) + 1]

    def answer(self, request: AccessRequest, held: frozenset[AclBinding]) -> _Answer:
        """Return what these ACLs answer to a request on the name."""
        made = self._made.get(held)
        if made is None:
            index = AclIndex(held)
            made = self._made[held] = index, Settling(index, self._settings)
        result, basis = decide(request, made[0], self._settings)
        return _Answer(result, *made[1].of(request, basis))


_known: list[tuple[InForce, _Then]] = []


def _then_of(question: InForce, keys: Mapping[AclBinding, str]) -> _Then:
    """Return this worker's history, made the first time it is asked for."""
    if not _known or _known[0][0] is not question:
        _known[:] = [(question, _Then(question, keys.keys()))]
    return _known[0][1]
