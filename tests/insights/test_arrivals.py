"""Who is new or back in the last week of a log, as far as the log can tell?"""

from __future__ import annotations

from datetime import timedelta

from aclweb.insights.arrivals import SHOWN, arrivals
from aclweb.insights.models import Load
from tests.insights.results import FIRST, LAST, file, log_days, request

DAY = timedelta(days=1)
LONG_AGO = LAST - 60 * DAY


def asked(principal, *back, host="10.0.0.7", name="orders", allowed=True):
    """A request, once on each of these days before the last one."""
    days = [(LAST - place * DAY).date().isoformat() for place in sorted(back, reverse=True)]
    return request(
        principal,
        "READ",
        name,
        host=host,
        allowed=allowed,
        lines=len(back),
        first_at=LAST - max(back) * DAY,
        last_at=LAST - min(back) * DAY,
        days=[{"day": day, "lines": 1} for day in days],
    )


def told(given, first, *requests, permits=True, days=None):
    files = [file("b1", permits=5 if permits else 0)]
    load = given(
        requests=requests, files=files, coverage=log_days("b1", first=first) if days is None else days
    )
    load.first_at = first.replace(tzinfo=load.last_at.tzinfo)
    load.save()
    return arrivals(load)


def names(arrived):
    return [(each.principal, each.host) if each.host else each.principal for each in arrived.rows]


def test_new_is_what_no_earlier_record_has_and_back_is_after_a_silence(given):
    found = told(
        given,
        LONG_AGO,
        asked("User:new", 0, 6, host="10.0.0.1"),
        asked("User:new", 1, host="10.0.0.2", allowed=False),
        asked("User:known", 0, 7),
        asked("User:known", 2, host="10.0.0.9"),
        asked("User:back", 1, 40),
        asked("User:often", 1, 20, 40),
        asked("User:gone", 40),
    )

    assert names(found.principals) == ["User:new"]
    assert (found.principals.rows[0].lines, found.principals.rows[0].denied) == (3, 1)
    assert names(found.hosts) == [("User:known", "10.0.0.9")], "those of a new principal are not told again"
    assert names(found.back) == ["User:back"]
    assert (found.why_not, found.why_not_back, found.doubt) == ("", "", "")


def test_what_is_new_is_worked_out_once_for_a_load_and_anew_for_the_next(
    given, django_assert_max_num_queries
):
    first = told(given, LONG_AGO, asked("User:new", 0), asked("User:known", 0, 7))
    load = Load.objects.get(current=True)
    with django_assert_max_num_queries(1):
        assert arrivals(load) == first

    second = told(given, LONG_AGO, asked("User:other", 0), asked("User:known", 0, 7))
    assert (names(first.principals), names(second.principals)) == (["User:new"], ["User:other"])


def test_a_log_that_is_too_short_cannot_tell(given):
    week = told(given, LAST - 5 * DAY, asked("User:new", 0))
    month = told(given, LAST - 20 * DAY, asked("User:new", 0))

    assert (week.principals, week.hosts, week.back) == (None, None, None)
    assert week.why_not == "the log does not hold an earlier day"
    assert names(month.principals) == ["User:new"]
    assert month.back is None
    assert "does not hold a day before" in month.why_not_back


def test_without_permits_nobody_is_called_new(given):
    found = told(given, LONG_AGO, asked("User:new", 0, allowed=False), permits=False)

    assert (found.principals, found.back) == (None, None)
    assert "permits are not in the log" in found.why_not


def test_missing_permits_of_the_days_before_are_said_beside_the_numbers(given):
    days = [*log_days("b1", first=LONG_AGO), *log_days("b2", first=LAST - 2 * DAY)]

    found = told(given, LONG_AGO, asked("User:new", 0), days=days)

    assert names(found.principals) == ["User:new"]
    assert "b2" in found.doubt


def test_all_are_counted_and_some_are_listed(given):
    found = told(given, FIRST, *(asked(f"User:{number}", 0) for number in range(SHOWN + 3)))

    assert (found.principals.count, len(found.principals.rows)) == (SHOWN + 3, SHOWN)
