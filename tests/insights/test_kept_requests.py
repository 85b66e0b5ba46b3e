"""Does a load hold what its result says and nothing else, whatever was loaded before, and whatever died in between?"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from aclweb.acl.model.vocabulary import Resource, ResourceType
from aclweb.insights import queries
from aclweb.insights.current import current_load
from aclweb.insights.denials import inbox
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import (
    AclUse,
    DaySet,
    DenialGroup,
    Load,
    LogDay,
    LoggedRequest,
    RequestDay,
    RequestTotals,
)
from aclweb.insights.requests import requests_of
from aclweb.insights.staging import OvertakenError, begin, clear, close, publish, take_back
from aclweb.insights.traffic import traffic
from aclweb.inventory.store import in_turn
from tests.insights.conftest import BINDINGS
from tests.insights.held import held_in
from tests.insights.results import LAST, request, use, write_result

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
# PostgreSQL, which repeats what SQLite holds, is asked a third of it.
SHARE = 3 if connection.vendor == "postgresql" else 1
SEEDS = 40 if FULL else 3 // SHARE
# Of the moments at which something may happen to a load, each fifth one is tried; at full scale every one.
STEP = 1 if FULL else 5 * SHARE
TABLES = (AclUse, LogDay, DenialGroup, LoggedRequest, RequestTotals, DaySet, RequestDay, Load)


class KilledError(BaseException):
    """The process is gone: nothing of it runs any more."""


def random_requests(rng: random.Random, *, share: float = 0.7) -> list[dict[str, Any]]:
    """Some of 24 requests, each with some days that may be before those that are kept."""
    found = []
    for number in range(24):
        if rng.random() > share:
            continue
        back = sorted(rng.sample(range(0, 100, 4), rng.randint(0, 4)), reverse=True)
        days: list[dict[str, Any]] = [
            {"day": (LAST - timedelta(days=each)).date().isoformat(), "lines": rng.randint(1, 9)}
            for each in back
        ]
        found.append(
            request(
                f"User:u{number % 3}",
                "READ",
                f"topic-{number // 6}",
                host=f"10.0.0.{number % 2}",
                allowed=number % 4 > 1,
                lines=sum(day["lines"] for day in days) + 1,
                last_at=LAST - timedelta(hours=rng.randint(0, 2)),
                days=days,
                decided_now=rng.choice(("ALLOWED", "DENIED")),
            )
        )
    return list({tuple(row[name] for name in NAMES): row for row in found}.values())


NAMES = ("principal", "host", "operation", "resource_type", "resource_name", "allowed")


def expected(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What `held_in` is to say of a load of these rows, worked out a row at a time."""
    found = {}
    for row in rows:
        days = tuple((day["day"], day["lines"]) for day in row["days"])

        lately = partial(lines_of_last, days)
        kept = tuple((day, lines) for day, lines in days if (LAST.date() - date.fromisoformat(day)).days < 90)
        times = (row["first_at"].replace(tzinfo=UTC), row["last_at"].replace(tzinfo=UTC))
        found[tuple(row[name] for name in NAMES)] = (
            *(row["lines"], lately(7), lately(30), lately(90), *times, tuple(row["api_names"])),
            "" if row["allowed"] else row["sample"],
            row["decided_now"],
            kept,
        )
    return found


def lines_of_last(days: tuple[tuple[str, int], ...], count: int) -> int:
    first = LAST.date() - timedelta(days=count - 1)
    return sum(lines for day, lines in days if date.fromisoformat(day) >= first)


@pytest.fixture
def results(read_cluster, tmp_path) -> Callable[[list[dict[str, Any]]], Path]:
    """Write a result with these requests; each has a use of its own number of requests."""
    made: list[Path] = []

    def write(requests: list[dict[str, Any]]) -> Path:
        made.append(tmp_path / f"result-{len(made)}")
        return write_result(
            made[-1], BINDINGS, usage=[use(BINDINGS[0], requests=len(made))], requests=requests
        )

    return write


@contextmanager
def interrupted(monkeypatch, number: int, act: Callable[[], None]) -> Iterator[list[int]]:
    """Call `act` before the transaction of this number, counted from 1; the block gets how many there were."""
    passed = [0]

    def pass_point() -> None:
        passed[0] += 1
        if passed[0] == number:
            act()

    @contextmanager
    def turn() -> Iterator[None]:
        pass_point()
        with in_turn():
            yield

    def published(*args: Any, **facts: Any) -> None:
        pass_point()
        publish(*args, **facts)
        pass_point()

    with monkeypatch.context() as patched:
        patched.setattr("aclweb.insights.staging.in_turn", turn)
        patched.setattr("aclweb.insights.load.publish", published)
        # Several transactions for a few rows.
        patched.setattr("aclweb.insights.request_rows._REQUESTS_AT_ONCE", 7)
        patched.setattr("aclweb.insights.request_rows._DAY_ROWS_AT_ONCE", 9)
        patched.setattr("aclweb.insights.staging._ROWS_AT_ONCE", 5)
        yield passed


def die() -> None:
    raise KilledError


def told(cluster) -> tuple[object, ...]:
    """What pages say of the log."""
    shown = current_load(cluster)
    found = inbox(cluster, in_force_since=lambda numbers: {})
    of_topic = traffic(cluster, resource=Resource(ResourceType.TOPIC, "topic-1"))
    of_user = traffic(cluster, principal="User:u1")
    return (
        shown,
        held_in(shown) if shown else None,
        [(row.key, row.lines, row.days) for row in found.rows],
        (of_topic.days, of_topic.permitted, of_topic.denied),
        (of_user.days, of_user.permitted, of_user.denied),
        queries.keys_by_use(shown, "requests"),
        sorted(AclUse.objects.filter(load=shown).values_list("key", "requests", "requests_30")),
    )


def counts() -> dict[str, int]:
    return {table.__name__: table.objects.count() for table in TABLES}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_load_holds_what_its_result_says_whatever_was_loaded_before(seed, results, read_cluster):
    rng = random.Random(seed)
    before: tuple[Load, dict[tuple[Any, ...], tuple[Any, ...]]] | None = None
    for _ in range(6):
        rows = random_requests(rng, share=rng.choice((0.0, 0.5, 0.9)))
        loaded = load(results(rows), read_cluster)
        assert held_in(loaded) == expected(rows)
        if before:
            assert held_in(before[0]) == before[1], "a page that began before reads what it was"
        before = (loaded, expected(rows))
    empty = results([])
    load(empty, read_cluster)
    load(empty, read_cluster)
    assert [table.objects.count() for table in (LoggedRequest, RequestTotals, DaySet, RequestDay)] == [0] * 4


def test_the_same_result_again_stores_no_request_and_no_day(results, read_cluster):
    rows = random_requests(random.Random(1))
    load(results(rows), read_cluster)
    kept = {
        table: set(table.objects.values_list("pk", flat=True))
        for table in (LoggedRequest, RequestTotals, DaySet)
    }

    load(results(rows), read_cluster)

    assert {table: set(table.objects.values_list("pk", flat=True)) for table in kept} == kept


def test_one_more_hour_stores_the_requests_and_the_day_that_it_changed(results, read_cluster):
    rows = [
        request("User:eve", "READ", f"t{n}", lines=2, days=[{"day": "2026-11-19", "lines": 2}])
        for n in range(9)
    ]
    first = load(results(rows), read_cluster)
    days = [{"day": "2026-11-19", "lines": 2}, {"day": "2026-11-20", "lines": 1}]
    later = rows[0] | {"lines": 3, "days": days}

    second = load(results([later, *rows[1:]]), read_cluster)

    assert RequestTotals.objects.filter(added_in=second.pk).count() == 1
    of_first = set(first.day_sets.values_list("day", "pk"))
    assert of_first < set(second.day_sets.values_list("day", "pk"))
    assert held_in(second) == expected([later, *rows[1:]])


def test_other_acls_change_what_is_decided_now_of_each_request_and_no_day(results, read_cluster):
    rows = [request("User:eve", "READ", f"t{n}", allowed=True, decided_now="DENIED") for n in range(9)]
    load(results(rows), read_cluster)
    sets = set(DaySet.objects.values_list("pk", flat=True))

    changed = load(results([row | {"decided_now": "ALLOWED"} for row in rows]), read_cluster)

    assert set(requests_of(changed).values_list("decided_now", flat=True)) == {"ALLOWED"}
    assert queries.disagreements(read_cluster) == ()
    assert set(DaySet.objects.values_list("pk", flat=True)) == sets


def test_a_load_that_dies_between_any_two_steps_leaves_what_was_and_no_rows(
    results, read_cluster, monkeypatch
):
    rng = random.Random(7)
    first, second, third = (random_requests(rng) for _ in range(3))
    for rows in (first, second):
        load(results(rows), read_cluster)
    before, result = told(read_cluster), results(third)
    number, survived = 0, False
    while not survived:
        number += STEP
        with interrupted(monkeypatch, number, die) as passed, monkeypatch.context() as patched:
            patched.setattr("aclweb.insights.load.take_back", lambda fresh: None)
            try:
                load(result, read_cluster)
            except KilledError:
                # The last point is passed when pages show the new load already.
                shown = current_load(read_cluster)
                if shown == before[0]:
                    assert told(read_cluster) == before, f"before transaction {number}"
                else:
                    assert held_in(shown) == expected(third)
                    break
            survived = passed[0] < number
    assert number > 20, "there are many transactions to die between"

    for _ in range(2):
        load(result, read_cluster)
    whole = counts()
    assert held_in(current_load(read_cluster)) == expected(third)
    Load.objects.all().delete()
    for _ in range(2):
        load(result, read_cluster)
    assert counts() == whole, "what died has left nothing"


@pytest.mark.parametrize("number", [2, 4, 6, 9, 12, 15, 18] if FULL else [2, 9, 18])
def test_of_two_loads_at_once_the_one_that_is_overtaken_leaves_nothing(
    number, results, read_cluster, monkeypatch
):
    rng = random.Random(number)
    first, slow, fast = (random_requests(rng) for _ in range(3))
    load(results(first), read_cluster)
    slow_result, fast_result = results(slow), results(fast)

    def other() -> None:
        with monkeypatch.context() as patched:
            patched.setattr("aclweb.insights.staging.in_turn", in_turn)
            load(fast_result, read_cluster)

    with interrupted(monkeypatch, number, other), pytest.raises(OvertakenError, match="Another process"):
        load(slow_result, read_cluster)

    assert held_in(current_load(read_cluster)) == expected(fast)
    assert not Load.objects.filter(published=False).exists()
    assert not RequestTotals.objects.exclude(added_in__in=Load.objects.values("pk")).exclude(
        added_in__lte=current_load(read_cluster).pk
    )


@pytest.mark.parametrize("loaded_before", [True, False])
def test_a_load_that_goes_on_after_another_began_deletes_nothing_of_it(
    loaded_before, results, read_cluster, monkeypatch
):
    rng = random.Random(3)
    first, wanted = random_requests(rng), random_requests(rng)
    number = 1
    while True:
        number += STEP
        if loaded_before:
            load(results(first), read_cluster)
        overtaken = begun(read_cluster)

        def go_on(overtaken: Load = overtaken) -> None:
            with suppress(OvertakenError):
                clear(overtaken)

        with interrupted(monkeypatch, number, go_on) as passed:
            loaded = load(results(wanted), read_cluster)
        if passed[0] < number:
            break

        assert current_load(read_cluster) == loaded
        assert held_in(loaded) == expected(wanted), f"before transaction {number}"
        Load.objects.all().delete()
    assert number > 15, "there are many transactions to go on between"


def test_a_load_that_is_taken_back_late_opens_no_row_that_another_has_closed(
    results, read_cluster, monkeypatch
):
    before = load(results(random_requests(random.Random(1))), read_cluster)
    fast = results([])
    slow = begun(read_cluster)
    close(slow, list(requests_of(before).values_list("pk", flat=True)))

    def other() -> None:
        with monkeypatch.context() as patched:
            patched.setattr("aclweb.insights.staging.in_turn", in_turn)
            load(fast, read_cluster)

    with interrupted(monkeypatch, 1, other):
        take_back(slow)

    assert held_in(current_load(read_cluster)) == {}


def begun(cluster) -> Load:
    return begin(cluster, lines_read=1, lines_parsed=1, lines_unparsed=0, manifest={})


@pytest.mark.parametrize("number", [1, 4, 8, 12])
def test_a_load_for_a_cluster_that_is_removed_leaves_no_row(number, results, read_cluster, monkeypatch):
    load(results(random_requests(random.Random(1))), read_cluster)
    result = results(random_requests(random.Random(2)))
    remove = partial(type(read_cluster).objects.get(pk=read_cluster.pk).delete)

    with interrupted(monkeypatch, number, remove), pytest.raises(InsightsError, match="was removed while"):
        load(result, read_cluster)

    assert counts() == dict.fromkeys(counts(), 0)


def test_rows_of_a_day_are_deleted_some_at_a_time(results, read_cluster, monkeypatch):
    rows = [request("User:eve", "READ", f"t{n}") for n in range(23)]
    load(results(rows), read_cluster)
    load(results(rows[:1]), read_cluster)
    deleted: list[int] = []

    @contextmanager
    def turn() -> Iterator[None]:
        before = RequestDay.objects.count()
        with in_turn():
            yield
        deleted.append(before - RequestDay.objects.count())

    monkeypatch.setattr("aclweb.insights.staging.in_turn", turn)
    monkeypatch.setattr("aclweb.insights.staging._ROWS_AT_ONCE", 5)
    load(results(rows[:1]), read_cluster)

    assert sum(deleted) == 23
    assert max(deleted) == 5
    assert DaySet.objects.count() == 1


# --- How pages ask ---


def test_requests_of_a_topic_or_a_principal_are_found_by_an_index(results, read_cluster):
    if connection.vendor != "sqlite":
        pytest.skip("the plan is read as SQLite writes it")
    loaded = load(results(random_requests(random.Random(1))), read_cluster)

    by_topic = requests_of(loaded, resource=Resource(ResourceType.TOPIC, "topic-1")).explain()
    by_principal = requests_of(loaded, principal="User:u1").explain()

    assert "USING INDEX logged_by_resource (cluster_id=? AND resource_key=?)" in by_topic
    assert "USING INDEX logged_by_principal (cluster_id=? AND principal_key=?)" in by_principal
    assert "SCAN" not in by_topic + by_principal


def test_days_of_requests_are_found_by_their_key_and_not_by_reading_whole_days(results, read_cluster):
    if connection.vendor != "sqlite":
        pytest.skip("the plan is read as SQLite writes it")
    loaded = load(results(random_requests(random.Random(1))), read_cluster)
    sets = list(loaded.day_sets.values_list("pk", flat=True))

    plan = RequestDay.objects.filter(day_set__in=sets, request__in=range(2_000)).explain()

    assert "SEARCH insights_requestday USING PRIMARY KEY (day_set_id=? AND request=?)" in plan


@pytest.mark.parametrize("count", [3, 300])
def test_the_traffic_of_a_topic_takes_four_queries_however_many_requests(
    count, results, read_cluster, django_assert_num_queries
):
    load(results([request("User:eve", "READ", "orders", host=f"h{n}") for n in range(count)]), read_cluster)

    with django_assert_num_queries(4):
        found = traffic(read_cluster, resource=Resource(ResourceType.TOPIC, "orders"))

    assert found.denied == 3 * count
    assert found.days[-1] == ("2026-11-20", 0, 3 * count)
