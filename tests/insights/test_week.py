"""What the log says of its last seven days, beside the seven before: nothing that it cannot show is a number."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from django.db import connection

from aclweb.insights.current import current_load
from aclweb.insights.denial_groups import key_of
from aclweb.insights.denial_marks import mark
from aclweb.insights.models import DenialMark
from aclweb.insights.week import SHOWN, log_week
from tests.insights.results import log_days, request

BEGIN, END = date(2026, 11, 14), date(2026, 11, 20)


def denied(principal, days, **facts):
    """A request that was refused so often on these days of November."""
    at = [datetime(2026, 11, day, 12) for day in days]
    return request(
        principal,
        "READ",
        "orders",
        lines=sum(days.values()),
        first_at=at[0],
        last_at=at[-1],
        days=[{"day": f"2026-11-{day:02}", "lines": lines} for day, lines in days.items()],
        **facts,
    )


@pytest.fixture
def week(read_cluster, given):
    def week(*requests, **facts):
        given(requests=requests, **facts)
        return log_week(read_cluster, current_load(read_cluster))

    return week


def principals(some):
    return [each.principal for each in some.rows]


def test_each_group_is_of_the_kind_that_its_days_say(week):
    found = week(
        denied("User:first", {14: 1, 20: 4}),
        denied("User:grown", {13: 10, 15: 30}),
        denied("User:little", {13: 1, 15: 20}),
        denied("User:same", {13: 30, 15: 40}),
        denied("User:ended", {8: 2, 13: 5}),
    )

    assert (found.begin, found.end) == (BEGIN, END)
    assert (found.lines, found.before, found.groups) == (5 + 30 + 20 + 40, 10 + 1 + 30 + 7, 4)
    assert principals(found.first) == ["User:first"]
    assert principals(found.grown) == ["User:grown"], "19 more is too few, and so is a third more"
    assert principals(found.ended) == ["User:ended"]
    (first,), (ended,) = found.first.rows, found.ended.rows
    assert (first.lines, first.before, first.last_at.day) == (5, 0, 20)
    assert (ended.lines, ended.before) == (0, 7)
    assert found.whole == 7
    assert found.left_out == 0
    assert not found.has_grown, "95 are less than twice 48"


@pytest.mark.parametrize(("lines", "has_grown"), [(20, False), (21, True)])
def test_far_more_denials_than_before_are_no_week_like_any_other(week, lines, has_grown):
    found = week(denied("User:grown", {13: 1, 15: lines}))

    assert (found.before, found.has_grown) == (1, has_grown)


def test_a_burst_of_the_week_is_one_and_an_older_one_is_not(week):
    found = week(
        denied("User:now", {8: 1, 9: 1, 19: 300}),
        denied("User:then", {8: 300, 19: 1}),
    )

    assert principals(found.bursts) == ["User:now"]


def test_the_groups_with_most_denials_are_listed_and_all_counted(week):
    found = week(*(denied(f"User:p{number:02}", {20: number}) for number in range(1, SHOWN + 4)))

    assert found.first.count == SHOWN + 3
    assert [each.lines for each in found.first.rows] == list(range(SHOWN + 3, 3, -1))


@pytest.mark.parametrize("state", ["expected", "ignored"])
def test_what_people_expect_or_ignore_is_in_no_list(read_cluster, given, ada, state):
    given(requests=[denied("User:probe", {20: 4}), denied("User:new", {20: 1})])
    until = {"until": datetime.now().date() + timedelta(days=9)} if state == "ignored" else {}
    key = key_of("User:probe", "READ", "TOPIC", "orders")
    mark(cluster=read_cluster, key=key, denial="it", actor=ada, state=state, reason="a probe", **until)

    found = log_week(read_cluster, current_load(read_cluster))

    assert principals(found.first) == ["User:new"]
    assert (found.left_out, found.lines) == (1, 5)


def test_a_log_that_begins_within_the_week_compares_nothing(read_cluster, given):
    loaded = given(requests=[denied("User:bob", {20: 4})])
    loaded.first_at = loaded.last_at - timedelta(days=3)

    found = log_week(read_cluster, loaded)

    assert (found.lines, found.groups) == (4, 1)
    assert (found.before, found.first, found.grown, found.ended) == (None, None, None, None)
    assert found.bursts.count == 0


def test_where_a_broker_missed_days_nothing_grew_or_ended_for_certain(week):
    found = week(
        denied("User:grown", {13: 10, 15: 30}),
        denied("User:ended", {13: 5}),
        coverage=[*log_days("b1"), *log_days("b2", last=datetime(2026, 11, 16))],
    )

    assert (found.grown, found.ended) == (None, None)
    assert found.before == 15, "what the log holds is a number all the same"
    assert found.first.count == 0
    assert found.whole == 3


def test_a_log_without_times_has_no_week(read_cluster, given):
    loaded = given()
    loaded.first_at = loaded.last_at = None

    assert log_week(read_cluster, loaded) is None


def test_it_takes_the_same_queries_for_many_groups_as_for_few(
    read_cluster, given, django_assert_max_num_queries
):
    given(requests=[denied(f"User:p{number}", {13: 1, 20: 9}) for number in range(60)])
    load = current_load(read_cluster)

    with django_assert_max_num_queries(3):
        log_week(read_cluster, load)


def test_no_statement_holds_more_values_where_people_accept_more(read_cluster, given):
    given(requests=[denied(f"User:p{number}", {13: 1, 20: 9}) for number in range(40)])
    load = current_load(read_cluster)
    few = most_values(lambda: log_week(read_cluster, load))

    DenialMark.objects.bulk_create(
        DenialMark(cluster=read_cluster, key=key, state="expected", set_by="ada", set_at=load.loaded_at)
        for key in load.denial_groups.values_list("key", flat=True)
    )

    assert most_values(lambda: log_week(read_cluster, load)) == few, "SQLite takes 999 or 32,766 of them"
    assert log_week(read_cluster, load).left_out == 40


def most_values(ask):
    """Return how many values the longest statement holds."""
    held = []

    def count(execute, sql, params, many, context):
        held.append(len(params or ()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        ask()
    return max(held)
