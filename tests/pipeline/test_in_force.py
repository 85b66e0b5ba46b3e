"""Is each logged request counted for the ACLs that were in force when it was made?"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer import AclIndex, Basis, Result, authorize
from aclweb.acl.logged import one_of
from aclweb.acl.model import AclBinding, AuthorizerSettings
from aclweb.acl.notation import binding_key
from aclweb.pipeline.history import History, Period
from aclweb.pipeline.in_force import THEN
from tests.builders import allow, deny
from tests.pipeline.made_logs import Line, logged, micros
from tests.pipeline.test_load_bearing import snapshot_of

pytestmark = pytest.mark.spark

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"

LONG_AGO = datetime(2026, 9, 1, tzinfo=UTC)
SETTINGS = AuthorizerSettings()
HALF_A_DAY = timedelta(hours=12)


def november(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


OLD, NEW = allow("User:x", "READ", "orders"), allow("User:x", "READ", "orders", host="10.0.0.7")
AGAIN, STAYS = allow("User:y", "READ", "orders"), allow("User:z", "READ", "news")
FORBIDS = deny("User:z", "WRITE", "news")
SNAPSHOT = [NEW, AGAIN, STAYS, FORBIDS]
HISTORY = History(
    (
        Period(OLD, 1, LONG_AGO, 8, november(19)),
        Period(NEW, 8, november(19), None, None),
        Period(AGAIN, 1, LONG_AGO, 4, november(5)),
        Period(AGAIN, 6, november(15, 13), None, None),
        Period(STAYS, 1, LONG_AGO, None, None),
        Period(FORBIDS, 7, november(18, 12), None, None),
    )
)
LINES = [
    Line("User:x", "READ", "orders", lines=10, days_ago=5),
    Line("User:x", "READ", "orders", lines=3),
    Line("User:y", "READ", "orders", lines=4, days_ago=18),
    Line("User:y", "READ", "orders", allowed=False, lines=2, days_ago=10),
    # On the day of the change, before and after it.
    Line("User:y", "READ", "orders", allowed=False, lines=5, days_ago=5, hour=12),
    Line("User:y", "READ", "orders", lines=6, days_ago=5, hour=13),
    Line("User:z", "READ", "news", lines=7, days_ago=9),
    Line("User:z", "READ", "news", lines=1, days_ago=90),
    Line("User:z", "WRITE", "news", allowed=False, lines=9, days_ago=3),
    Line("User:z", "WRITE", "news", allowed=False, lines=8, days_ago=1),
    Line("User:z", "WRITE", "news", lines=11, days_ago=2),
]


def run(spark, out: Path, bindings, lines, history, *, is_utc: bool = True) -> tuple[Any, dict[str, Any]]:
    """Return what the manifest says of the history, and the rows of usage by key."""
    from aclweb.pipeline.job import keeping, write_usage

    with keeping() as keep:
        log = replace(logged(spark, lines, days=100), is_utc=is_utc)
        write_usage(spark, snapshot_of(bindings), log, out, keep, history)
    rows = pq.read_table(out / "usage.parquet").to_pylist()
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return manifest["history"], {row["binding_key"]: row for row in rows}


@pytest.fixture(scope="module")
def planted(spark, tmp_path_factory) -> tuple[Any, dict[str, Any]]:
    return run(spark, tmp_path_factory.mktemp("then") / "out", SNAPSHOT, LINES, HISTORY)


def test_an_acl_counts_for_the_time_in_which_it_was_in_force_with_today_beside_it(planted):
    rows = {
        binding: tuple(planted[1][binding_key(binding)][name] for name in ("requests", "requests_then"))
        for binding in (OLD, NEW, AGAIN, STAYS, FORBIDS)
    }

    assert rows == {NEW: (13, 3), OLD: (0, 10), AGAIN: (10, 10), STAYS: (8, 7), FORBIDS: (17, 8)}
    new = planted[1][binding_key(NEW)]
    assert (new["needed"], new["needed_then"]) == (13, 3)
    assert str(new["first_then_at"]) == "2026-11-20 12:00:00"
    assert str(new["first_at"]) == "2026-11-15 12:00:00"


def test_what_the_acls_of_the_time_do_not_tell_is_counted(planted):
    counted = 10 + 3 + 4 + 2 + 5 + 6 + 7 + 9 + 8

    assert planted[0] == {
        "periods": 6,
        "lines": {"counted then": counted, "otherwise then": 11, "before history": 1},
    }


def test_without_a_history_nobody_knows(spark, tmp_path):
    told, rows = run(spark, tmp_path / "out", SNAPSHOT, LINES, None)

    assert told is None
    for row in rows.values():
        assert [row[name] for name in ("requests_then", "needed_then", "first_then_at", "last_then_at")] == [
            None
        ] * 4


def test_load_bearing_has_it_beside_its_states(spark, tmp_path):
    from tests.pipeline.test_load_bearing import run as run_load_bearing

    lines = [*_since_history(), *(replace(LINES[0], days_ago=back) for back in range(20, 31))]
    unused_then = [*SNAPSHOT, allow("User:q", "READ", "orders")]
    history = History((*HISTORY.periods, Period(unused_then[-1], 9, november(20, 20), None, None)))
    lines.append(Line("User:q", "READ", "orders", lines=2))

    manifest, rows = run_load_bearing(spark, tmp_path / "out", unused_then, lines, history=history)

    late = rows[binding_key(unused_then[-1])]
    assert (late["state"], late["requests"], late["requests_then"]) == ("needed", 2, 2)
    never = rows[binding_key(NEW)]
    assert (never["state"], never["needed"] > never["needed_then"] > 0) == ("needed", True)
    assert manifest["history"]["lines"]["before history"] == 0


def _since_history() -> list[Line]:
    return [line for line in LINES if line.days_ago < 60]


def test_an_acl_that_the_acls_of_the_time_did_not_need_says_so(spark, tmp_path):
    from tests.pipeline.test_load_bearing import run as run_load_bearing

    late = allow("User:x", "READ", "orders", host="10.0.0.7")
    history = History((Period(OLD, 1, LONG_AGO, 8, november(21)), Period(late, 8, november(21), None, None)))
    lines = [Line("User:x", "READ", "orders", days_ago=back) for back in range(31)]

    manifest, rows = run_load_bearing(spark, tmp_path / "out", [late], lines, history=history)

    row = rows[binding_key(late)]
    assert manifest["history"]["lines"] == {"counted then": 31, "otherwise then": 0, "before history": 0}
    assert (row["state"], row["requests"], row["requests_then"]) == ("needed", 31, 0)
    assert row["reason"] == "By the ACLs in force when they were made, it settled none of these requests."


@pytest.mark.parametrize("begins", [november(19), november(19, 13)], ids=["a day later", "within the day"])
def test_where_the_history_begins_within_the_log_nothing_is_said_of_then(spark, tmp_path, begins):
    from tests.pipeline.test_load_bearing import run as run_load_bearing

    history = History((Period(STAYS, 1, begins, None, None),))
    # In the hours before and after the history begins.
    lines = [Line("User:z", "READ", "news", lines=7, days_ago=1, hour=hour) for hour in (12, 14)]
    lines += [Line("User:z", "READ", "news", days_ago=back) for back in range(31)]

    manifest, rows = run_load_bearing(spark, tmp_path / "out", [STAYS], lines, history=history)

    row = rows[binding_key(STAYS)]
    assert manifest["history"]["lines"]["before history"] > 0
    assert (row["state"], row["reason"], row["requests"]) == ("needed", "", 45)
    assert [row[name] for name in ("requests_then", "needed_then", "last_then_at")] == [None] * 3


# --- Against a plain count ---


def plain(
    lines: Iterable[Line], history: History, *, off: timedelta
) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return requests and needed by key, and lines by the words of THEN, by `authorize` on lists of ACLs."""
    days: dict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        days[line.request, line.allowed, line.days_ago].append(line)
    used: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    told = dict.fromkeys(THEN, 0)
    counted, otherwise, before = THEN
    assert history.start is not None
    changes = sorted(
        {at for period in history.periods for at in (period.since, period.until) if at is not None}
    )
    for (request, allowed, _), some in days.items():
        count = sum(line.lines for line in some)
        times = [datetime.fromtimestamp(micros(line) / 1e6, UTC) for line in some]
        first, last = min(times) - off, max(times) + timedelta(seconds=1) + off
        if first < history.start:
            told[before] += count
            continue
        for at in (first, *(change for change in changes if first < change <= last)):
            held = AclIndex(period.binding for period in history.periods if period.is_in_force(at))
            decision = authorize(request, held, SETTINGS)
            if decision.result is (Result.ALLOWED if allowed else Result.DENIED):
                told[counted] += count
                if decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL):
                    for binding in decision.determining:
                        used[binding_key(binding)][0] += count
                needed = one_of(decision)
                if len(needed) == 1:
                    used[binding_key(needed[0])][1] += count
                break
        else:
            told[otherwise] += count
    return dict(used), told


def made_history(dice: random.Random, acls: Sequence[AclBinding]) -> tuple[list[AclBinding], History]:
    """A history in which ACLs come and go at random, and what is in force at its end."""
    periods, revision = [], 1
    now: dict[AclBinding, tuple[int, datetime]] = {
        acl: (1, november(1)) for acl in acls if dice.random() < 0.6
    }
    start = dict(now)
    at = november(1)
    while at < november(20):
        at += timedelta(hours=dice.randrange(1, 40))
        revision += 1
        acl = dice.choice(acls)
        if acl in now:
            first, since = now.pop(acl)
            periods.append(Period(acl, first, since, revision, at))
        else:
            now[acl] = (revision, at)
    assert start
    periods += [Period(acl, first, since, None, None) for acl, (first, since) in now.items()]
    dice.shuffle(periods)
    return list(now), History(tuple(periods))


@pytest.mark.parametrize("seed", range(4 if FULL else 2))
def test_random_histories_count_as_a_plain_program_counts(spark, tmp_path, seed):
    dice = random.Random(seed)
    names, users = ("orders", "orders.eu", "news"), ("User:a", "User:b", "User:c")
    acls = [
        make(user, operation, name, **({"pattern": "PREFIXED"} if dice.random() < 0.4 else {}))
        for make in (allow, deny)
        for user in (*users, "User:*")
        for name in names
        for operation in ("READ", "ALL", "WRITE")
        if dice.random() < (0.6 if make is allow else 0.12)
    ]
    lines = [
        Line(
            dice.choice(users),
            dice.choice(("READ", "WRITE", "DESCRIBE")),
            dice.choice(names),
            allowed=dice.random() < 0.6,
            lines=dice.randrange(1, 9),
            days_ago=dice.randrange(24),
            hour=dice.randrange(24),
        )
        for _ in range(300)
    ]
    today, history = made_history(dice, acls)

    told, rows = run(spark, tmp_path / "out", today, lines, history, is_utc=bool(seed % 2))

    used, by_word = plain(lines, history, off=timedelta(0) if seed % 2 else HALF_A_DAY)
    found = {
        key: [row["requests_then"], row["needed_then"]] for key, row in rows.items() if row["requests_then"]
    }
    assert found == {key: counts for key, counts in used.items() if counts[0]}
    assert told["lines"] == by_word
    assert min(by_word.values()) > 0
    assert Counter(row["requests"] == row["requests_then"] for row in rows.values())[False] > 3
