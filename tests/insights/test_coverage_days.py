"""Does each day show what each broker logged, and does a broker that is gone stop hiding what is unused?"""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta

import pytest

from aclweb.acl.logged.evidence import ALL_HOURS
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import PermissionType
from aclweb.acl.notation.files import binding_key
from aclweb.audit.models import Event
from aclweb.changes.replaying import replay_of
from aclweb.insights import queries
from aclweb.insights.broker_days import broker_days
from aclweb.insights.coverage_days import coverage_days
from aclweb.insights.current import current_load
from aclweb.insights.models import Load, LogDay, RetiredBroker
from aclweb.insights.retired import RetiredError, retire, take_back
from aclweb.insights.unused import evidence_of, why_permits_lack_since
from aclweb.inventory.current import in_force
from tests.insights.conftest import BINDINGS
from tests.insights.held import unused_count
from tests.insights.results import FIRST, LAST, log_days

DAY = timedelta(days=1)
MIDDLE = FIRST + 6 * DAY  # 13 November


def found(days=90):
    return coverage_days(Load.objects.get(current=True), days=days)


def kinds(broker):
    (each,) = [each for each in found().brokers if each.broker == broker]
    return "".join(cell.kind[0] for cell in each.days)


@pytest.fixture
def one_stopped(given):
    """Two brokers that logged in all hours; b2 wrote its last line on 13 November."""
    return given(coverage=[*log_days("b1"), *log_days("b2", last=MIDDLE)])


def test_each_day_of_each_broker_shows_what_it_logged(given):
    quiet = log_days("b2", permit_hours=())
    for day in quiet[2:4]:
        day["hours"] = list(range(3, 9))
    given(coverage=[*log_days("b1"), *quiet[:8]])

    assert kinds("b1") == "p" * 14
    assert kinds("b2") == "ddggdddd" + "n" * 6
    assert "".join(kind[0] for kind in found().together) == "ddnndddd" + "n" * 6
    assert (found().whole, found().denials_whole) == (0, 6)


def test_the_first_and_the_last_day_want_only_the_hours_of_the_log(given):
    """The log begins at 08:00 and ends at 20:00."""
    days = log_days("b1")
    days[0] |= {"hours": list(range(8, 24)), "permit_hours": list(range(8, 24))}
    days[-1] |= {"hours": list(range(21)), "permit_hours": list(range(21))}
    given(coverage=days)

    assert kinds("b1") == "p" * 14


def test_days_in_a_row_with_the_same_fault_are_one_line_with_its_hours(given):
    torn = log_days("b1")
    torn[4]["hours"] = torn[4]["permit_hours"] = [*range(2), *range(9, 22)]
    given(
        coverage=[*torn, *(day for day in log_days("b2") if day["day"] not in ("2026-11-15", "2026-11-16"))]
    )

    missing = [(each.broker, each.first.day, each.days, each.words, each.hours) for each in found().missing]

    assert missing == [
        ("b2", 15, 2, "no log", ""),
        ("b1", 11, 1, "hours missing", "02:00–09:00, 22:00–24:00"),
    ]


def test_month_ends_are_named_where_all_brokers_logged_permits(given):
    given(coverage=log_days("b1", first=FIRST - 20 * DAY))
    Load.objects.update(first_at=(FIRST - 20 * DAY).replace(tzinfo=UTC))

    assert found().month_ends == (date(2026, 10, 31),)
    assert len(found(days=7).days) == 7


def test_the_last_day_of_a_month_counts_only_once_it_is_whole(given):
    ends = FIRST - 7 * DAY  # 31 October
    given(coverage=log_days("b1", first=ends - 3 * DAY, last=ends))

    def month_ends_at(hour, minute):
        last = ends.replace(hour=hour, minute=minute, tzinfo=UTC)
        Load.objects.update(first_at=last - 2 * DAY, last_at=last)
        return found().month_ends

    assert month_ends_at(0, 10) == ()
    assert month_ends_at(23, 50) == (date(2026, 10, 31),)


def test_without_days_nothing_is_shown(given):
    given(rows={"usage": 0, "requests": 0})

    assert (found().brokers, set(found().together), found().whole) == ((), {"none"}, 0)
    assert coverage_days(None, days=9).days == ()


# --- Files that could not be understood ---


def test_a_file_that_nobody_understood_lets_nothing_be_called_unused(given, read_cluster):
    days = [*log_days("b1"), *log_days("b2")]
    given(coverage=days)
    assert unused_count(read_cluster) == len(BINDINGS)

    given(coverage=days, unread="the log file '/logs/b3.log' could not be read or understood")

    assert unused_count(read_cluster) is None
    use = next(
        iter(
            queries.usage_of(
                read_cluster, [binding_key(BINDINGS[0])], load=current_load(read_cluster)
            ).values()
        )
    )
    assert use.sentence == (
        "Cannot tell whether it is used: the log file '/logs/b3.log' could not be read or understood."
    )


# --- Retired brokers ---


def test_a_broker_that_is_gone_no_longer_hides_what_is_unused(one_stopped, read_cluster, ada):
    assert unused_count(read_cluster) is None

    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada, reason="scaled down")

    assert unused_count(read_cluster) == len(BINDINGS)
    assert kinds("b2") == "p" * 7 + "g" * 7
    assert found().whole == 14
    told = Event.objects.get(verb="broker.retired").facts
    assert (told["broker"], told["since"], told["why"]) == ("b2", "2026-11-14", ": scaled down")


def test_days_are_read_once_a_process_and_again_when_a_broker_is_called_gone(
    one_stopped, read_cluster, ada, django_assert_num_queries
):
    def why_permits_lack() -> str:
        return evidence_of(current_load(read_cluster)).why_not[PermissionType.ALLOW]

    assert "b2" in why_permits_lack()
    with django_assert_num_queries(1):  # the load alone
        assert "b2" in why_permits_lack()

    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada)
    assert why_permits_lack() == ""
    take_back(cluster=read_cluster, broker="b2", actor=ada)
    assert "b2" in why_permits_lack()


def test_a_replay_no_longer_misses_the_log_of_a_broker_that_is_called_gone(one_stopped, read_cluster, ada):
    def doubted() -> bool:
        found = replay_of(in_force(read_cluster), Delta(remove=(BINDINGS[0],)), None)
        return found is not None and "b2" in found.why_not

    assert doubted()
    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada)
    assert not doubted()


def test_taking_it_back_hides_it_again(one_stopped, read_cluster, ada):
    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada)

    assert take_back(cluster=read_cluster, broker="b2", actor=ada)
    assert not take_back(cluster=read_cluster, broker="b2", actor=ada)

    assert unused_count(read_cluster) is None
    assert Event.objects.filter(verb="broker.returned").count() == 1


def test_hours_before_it_was_gone_are_still_missed(given, read_cluster, ada):
    given(coverage=[*log_days("b1"), *log_days("b2", last=MIDDLE, permit_hours=range(12))])

    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada)

    evidence = evidence_of(Load.objects.get(current=True))
    assert "b2: permits in" in evidence.why_not[PermissionType.ALLOW]
    assert evidence.why_not[PermissionType.DENY] == ""


def test_a_broker_that_writes_again_is_missed_again(one_stopped, given, read_cluster, ada):
    retire(cluster=read_cluster, broker="b2", since=date(2026, 11, 14), actor=ada)

    given(coverage=[*log_days("b1"), *log_days("b2", last=MIDDLE), *log_days("b2", first=LAST)])

    assert unused_count(read_cluster) is None
    (back,) = [each for each in found().brokers if each.broker == "b2"]
    assert back.is_back
    assert kinds("b2") == "p" * 7 + "n" * 6 + "p"


@pytest.mark.parametrize(
    "broker, since, field",
    [
        ("b9", date(2026, 11, 14), "broker"),
        ("b2", date(2026, 11, 13), "since"),
        ("b2", date(2999, 1, 1), "since"),
    ],
)
def test_a_broker_that_the_log_contradicts_is_not_retired(
    one_stopped, read_cluster, ada, broker, since, field
):
    with pytest.raises(RetiredError) as refused:
        retire(cluster=read_cluster, broker=broker, since=since, actor=ada)

    assert refused.value.field == field
    assert not RetiredBroker.objects.exists()


def test_saying_it_twice_keeps_the_later_day(one_stopped, read_cluster, ada):
    for day in (14, 16):
        retire(cluster=read_cluster, broker="b2", since=date(2026, 11, day), actor=ada)

    assert [row.since.day for row in RetiredBroker.objects.all()] == [16]


def test_each_hour_of_a_broker_shows_what_it_wrote(given):
    """The log begins on 7 November at 08:00 and ends on the 20th at 20:00."""
    days = log_days("b1", permit_hours=(9, 10))
    days[3]["hours"] = [9, 10, 11]
    given(coverage=[*days, *log_days("b2")])

    (b1,) = coverage_days(Load.objects.get(current=True), days=90, broker="b1").brokers

    letters = ["".join(kind[0] for kind in cell.by_hour) for cell in b1.days]
    assert letters[1] == "d" * 9 + "pp" + "d" * 13
    assert letters[3] == "n" * 9 + "ppd" + "n" * 12
    assert b1.days[0].day.isoformat() == "2026-11-07"


def test_hours_outside_of_the_log_and_those_of_a_broker_gone_say_so(given, cluster, dot):
    first, *rest = log_days("b1", last=MIDDLE)
    hours = list(range(8, 24))
    given(coverage=[first | {"hours": hours, "permit_hours": hours}, *rest, *log_days("b2")])
    retire(cluster=cluster, broker="b1", since=MIDDLE.date() + 2 * DAY, actor=dot)

    (b1,) = coverage_days(Load.objects.get(current=True), days=90, broker="b1").brokers

    shown = [Counter(cell.by_hour) for cell in b1.days]
    assert shown[0] == {"outside": 8, "permits": 16}
    assert shown[7] == {"none": 24}
    assert shown[8] == {"gone": 24}


def test_of_a_broker_that_no_log_names_nothing_is_found(given):
    given(coverage=log_days("b1"))

    assert coverage_days(Load.objects.get(current=True), days=90, broker="b").brokers == ()


def test_what_a_window_shows_of_brokers_is_what_all_their_days_show(read_cluster):
    rng = random.Random("brokers that come and go")
    last = datetime(2026, 11, 20, 20, tzinfo=UTC)
    short, gone = 0, 0
    for _ in range(40):
        row = Load.objects.create(
            cluster=read_cluster, first_at=last - 300 * DAY, last_at=last, lines_read=1, lines_parsed=1,
            lines_unparsed=0, permits_seen=True, manifest={},
        )  # fmt: skip
        RetiredBroker.objects.all().delete()
        for number in range(rng.randint(1, 4)):
            wrote_last = rng.choice((0, 0, 3, 20, 29, 30, 31, 89, 90, 91, 200))
            days = [last.date() - back * DAY for back in range(wrote_last, 300) if rng.random() < 0.98]
            hours = {"hours": ALL_HOURS, "permit_hours": rng.choice((ALL_HOURS, ALL_HOURS, 0xFFF))}
            LogDay.objects.bulk_create(
                LogDay(load=row, broker=f"b{number}", day=day, lines=1, decisions=1, permits=1, **hours)
                for day in days
            )
            if rng.random() < 0.5:
                since = last.date() - rng.choice((0, 2, 10, 30, 60, 89, 91, 150, 199, 201)) * DAY
                RetiredBroker.objects.create(
                    cluster=read_cluster, broker=f"b{number}", since=since, set_by="ada", set_at=last
                )
                gone += 1
        start = datetime.combine(last.date() - rng.choice((6, 29, 89, 120)) * DAY, time(), tzinfo=UTC)
        narrow, whole = Load.objects.get(pk=row.pk), Load.objects.get(pk=row.pk)
        broker_days(whole)

        assert evidence_of(narrow) == evidence_of(whole)
        assert why_permits_lack_since(narrow, start) == why_permits_lack_since(whole, start)
        short += not evidence_of(whole).is_complete
    assert 5 < short < 40
    assert gone > 10
