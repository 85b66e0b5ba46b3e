"""Are denials grouped, counted, sorted and kept in the states that people gave them, from load to load?"""

from __future__ import annotations

import re
from datetime import UTC, date, timedelta

import pytest
from django.db import connection
from django.db.models import Case, DateTimeField, Value, When
from django.db.models.functions import Cast
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aclweb.acl.model.vocabulary import Operation, Resource, ResourceType
from aclweb.audit.models import Event
from aclweb.insights import denial_causes, denials
from aclweb.insights.denial_bursts import Span, burst_facts, burst_in
from aclweb.insights.denial_groups import key_of
from aclweb.insights.denial_marks import DenialError, accepted, history, mark
from aclweb.insights.denials import State
from aclweb.insights.models import DenialGroup, DenialMark, Load
from aclweb.insights.retired import retire, take_back
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS
from tests.insights.results import FIRST, LAST, log_days, request

EVE = request("User:eve", "READ", "payments.eu")
DAY = timedelta(days=1)


def no_change(numbers):
    return {}


def inbox(cluster, *, in_force_since=no_change, **wanted):
    return denials.inbox(cluster, denials.Wanted(**wanted), in_force_since=in_force_since)


def exported(cluster, **wanted):
    return list(denials.exported(cluster, denials.Wanted(**wanted), in_force_since=no_change))


def on_days(lines_of_day, **facts):
    """A denial with so many lines on each day, by how many days before the last one."""
    days = [
        {"day": (LAST - back * DAY).date().isoformat(), "lines": lines}
        for back, lines in sorted(lines_of_day.items(), reverse=True)
    ]
    told = {
        "lines": sum(lines_of_day.values()),
        "first_at": LAST - max(lines_of_day) * DAY,
        "last_at": LAST - min(lines_of_day) * DAY,
        "days": days,
    }
    return EVE | told | facts


@pytest.fixture
def say(read_cluster, ada):
    """Return a function that sets the state of a group, eve's unless another is given."""

    def said(state, found=None, **facts):
        found = found or inbox(read_cluster).rows[0]
        words = denials.in_words(found)
        return mark(cluster=read_cluster, key=found.key, denial=words, actor=ada, state=state, **facts)

    return said


TODAY = timezone.now().date()
END = LAST.replace(tzinfo=UTC)  # as it is stored
MARKS = [
    {"state": State.EXPECTED},
    {"state": State.NEW},
    {"state": State.IGNORED},
    {"state": State.IGNORED, "until": TODAY + DAY},
    {"state": State.IGNORED, "until": TODAY - DAY},
    {"state": State.FIXED},
    {"state": State.FIXED, "fixed_at": END},
    {"state": State.FIXED, "fixed_at": END - DAY},
    {"state": State.BEING_FIXED},
    {"state": State.BEING_FIXED, "change": 1},
    *(
        {"state": State.BEING_FIXED, "change": 7, "set_at": END + set_after, "fixed_at": fixed_at}
        for set_after in (-9 * DAY, 9 * DAY)
        for fixed_at in (None, END, END - DAY)
    ),
]


@pytest.mark.parametrize("applied", [END - 3 * DAY, END - DAY, END, END + 3 * DAY])
def test_one_query_counts_the_new_groups_that_the_list_counts_mark_by_mark(given, read_cluster, applied):
    given(requests=[EVE])
    group, load = DenialGroup.objects.get(), Load.objects.get()
    here = Cluster.objects.filter(pk=read_cluster.pk).values("pk")
    in_force = Case(When(change=7, then=Value(applied)), output_field=DateTimeField())
    answers = []
    for mark_facts in [None, *MARKS]:
        DenialMark.objects.all().delete()
        if mark_facts is not None:
            facts = {"set_at": END, "set_by": "ada"} | mark_facts
            DenialMark.objects.create(cluster=read_cluster, key=group.key, **facts)
        by_one = denials.new_groups(here, days=14, applied_at=in_force).count()
        listed = denials.new_count(
            read_cluster, load, days=14, in_force_since=lambda numbers: {7: applied} if 7 in numbers else {}
        )
        answers.append((mark_facts, by_one, listed))

    assert [each for each in answers if each[1] != each[2]] == []
    assert {listed for _, _, listed in answers} == {0, 1}


@pytest.fixture
def marked(given, read_cluster):
    """Return the load of many groups: one without a mark and one with each mark, denied in the last week or not."""
    given(requests=[EVE])
    group, load = DenialGroup.objects.get(), Load.objects.get()
    DenialGroup.objects.all().delete()
    groups, marks = [], []
    for facts in [None, *MARKS]:
        for lines_7, last_at in ((3, END), (0, END - 8 * DAY)):
            key = f"{len(groups):064x}"
            kept = {field.name: getattr(group, field.name) for field in DenialGroup._meta.fields}
            changed = {"id": None, "key": key, "lines_7": lines_7, "last_at": last_at}
            groups.append(DenialGroup(**kept | changed))
            if facts is not None:
                marks.append(
                    DenialMark(cluster=read_cluster, key=key, **{"set_at": END, "set_by": "ada"} | facts)
                )
    DenialGroup.objects.bulk_create(groups)
    DenialMark.objects.bulk_create(marks)
    return load


@pytest.mark.parametrize("tells_quiet", [True, False])
@pytest.mark.parametrize("log_end", [END, END - 9 * DAY, None])
def test_the_database_gives_each_group_the_state_that_one_by_one_it_has(
    marked, read_cluster, tells_quiet, log_end
):
    Load.objects.update(tells_quiet=tells_quiet, last_at=log_end)
    load = Load.objects.get()
    groups = denials.groups_of(load, 0)
    seen = set()
    for back in (0, 1, 9):
        applied = END - back * DAY
        states = denials.states_of(
            read_cluster, load, groups, lambda numbers, at=applied: {7: at} if 7 in numbers else {}
        )
        wanted = {group.key: states.of(group.key, group.lines_7) for group in groups}

        found = {
            key: state
            for state in State.values
            for key in groups.filter(states.q(state)).values_list("key", flat=True)
        }
        counts = groups.aggregate(**states.counts())

        assert found == wanted, back
        assert sum(counts.values()) == len(wanted)
        assert {state: counts[state.replace("-", "_")] for state in State.values} == {
            state: list(wanted.values()).count(state) for state in State.values
        }
        seen |= set(wanted.items())
    assert {state for _, state in seen} == set(State.values)
    assert len(seen) > len(wanted), "the day of the change plays a part"


@pytest.mark.parametrize("wanted", [{}, {"state": State.NEW}, {"state": State.FIXED, "sort": "latest"}])
def test_a_statement_is_as_long_for_many_marks_as_for_few(marked, read_cluster, monkeypatch, wanted):
    monkeypatch.setattr(denial_causes, "MOST_GROUPS", 5)

    def longest() -> int:
        with CaptureQueriesContext(connection) as asked:
            list(inbox(read_cluster, **wanted).rows)
        return max(len(each["sql"]) for each in asked if "denialmark" in each["sql"])

    longest()
    few = longest()
    assert few > 500
    DenialMark.objects.bulk_create(
        DenialMark(cluster=read_cluster, key=f"{number:064x}", state=State.EXPECTED, set_at=END, set_by="ada")
        for number in range(1_000, 1_400)
    )
    kept = {
        field.name: getattr(DenialGroup.objects.first(), field.name) for field in DenialGroup._meta.fields
    }
    DenialGroup.objects.bulk_create(
        DenialGroup(**kept | {"id": None, "key": f"{number:064x}"}) for number in range(1_000, 1_400)
    )

    assert abs(longest() - few) < 200


def test_accepted_are_the_marks_of_groups_that_the_list_calls_expected_or_ignored(given, read_cluster):
    given(requests=[EVE])
    group = DenialGroup.objects.get()
    answers = []
    for facts in MARKS:
        DenialMark.objects.all().delete()
        DenialMark.objects.create(
            cluster=read_cluster, key=group.key, **{"set_at": END, "set_by": "ada"} | facts
        )
        counts = inbox(read_cluster).counts
        listed = counts[State.EXPECTED] + counts[State.IGNORED]
        answers.append((facts, accepted(read_cluster).count(), listed))

    assert [each for each in answers if each[1] != each[2]] == []
    assert {listed for _, _, listed in answers} == {0, 1}


def test_denials_are_grouped_by_principal_operation_and_resource(given, read_cluster):
    given(
        requests=[
            EVE | {"host": "10.0.0.1", "lines": 2, "days": [{"day": "2026-11-20", "lines": 2}]},
            EVE | {"host": "10.0.0.2", "lines": 3, "last_at": LAST - timedelta(minutes=1)},
            request("User:eve", "WRITE", "payments.eu", lines=4, last_at=LAST - DAY),
            request("User:bob", "READ", "payments.eu", allowed=True),
        ]
    )

    found = inbox(read_cluster)

    assert (len(found.rows), found.groups, found.lines, found.principals) == (2, 2, 9, 1)
    first = found.rows[0]
    assert (first.principal, first.operation, first.lines) == ("User:eve", Operation.READ, 5)
    assert (first.hosts, first.latest_host, first.last_at) == (2, "10.0.0.1", LAST.replace(tzinfo=UTC))
    assert first.days[-1] == ("2026-11-20", 5)
    assert len(first.days) == 14


def test_a_window_counts_its_own_days_and_lists_no_other_groups(given, read_cluster):
    old = on_days({9: 40}, resource_name="old")
    given(requests=[on_days({0: 1, 5: 20, 8: 300}), old])

    counted = {days: [row.lines for row in inbox(read_cluster, days=days).rows] for days in (1, 7, 14, 30, 0)}

    assert counted == {1: [1], 7: [21], 14: [321, 40], 30: [321, 40], 0: [321, 40]}
    assert [len(inbox(read_cluster, days=days).rows[0].days) for days in (1, 7, 0)] == [1, 7, 14]
    assert inbox(read_cluster, days=7).last_day == 1


def test_the_last_day_counts_ten_times_in_the_weight(given, read_cluster):
    given(
        requests=[
            on_days({0: 10}, resource_name="ten today"),
            on_days({3: 99}, resource_name="99 before"),
            on_days({3: 101}, resource_name="101 before"),
        ]
    )

    names = {
        sort: [row.resource.name for row in inbox(read_cluster, sort=sort).rows] for sort in denials.SORTS
    }

    assert names["weight"] == ["101 before", "ten today", "99 before"]
    assert names["times"] == ["101 before", "99 before", "ten today"]
    assert names["latest"][0] == "ten today"


def test_rows_of_a_page_are_those_of_the_whole_list(given, read_cluster):
    given(
        requests=[
            request("User:eve", "READ", f"topic-{number:02}", lines=50 - number) for number in range(30)
        ]
    )

    rows = inbox(read_cluster).rows

    assert [row.resource.name for row in rows[3:6]] == ["topic-03", "topic-04", "topic-05"]
    assert [row.key for row in rows] == [
        row.key for start in range(0, 30, 7) for row in rows[start : start + 7]
    ]


def test_the_denials_of_one_resource_and_of_one_principal_are_found(given, read_cluster):
    given(requests=[EVE, request("User:eve", "READ", "orders"), request("User:bob", "READ", "orders")])
    orders = Resource(ResourceType.TOPIC, "orders")

    on_orders = denials.denials_of(read_cluster, resource=orders, in_force_since=no_change)
    of_eve = denials.denials_of(read_cluster, principal="User:eve", in_force_since=no_change)

    assert sorted(row.principal for row in on_orders) == ["User:bob", "User:eve"]
    assert sorted(row.resource.name for row in of_eve) == ["orders", "payments.eu"]


def test_an_inbox_takes_few_queries_however_many_groups_there_are(
    given, read_cluster, say, django_assert_num_queries
):
    given(requests=[request("User:eve", "READ", f"topic-{number}") for number in range(60)])
    say(State.EXPECTED, reason="a probe")
    inbox(read_cluster).rows[:1]  # what is in force is in memory from here on

    with django_assert_num_queries(5) as asked:
        found = inbox(read_cluster)
        assert len(found.rows[:25]) == 25
    with django_assert_num_queries(6):
        assert len(inbox(read_cluster, folds=True).rows[:25]) == 2

    wide = [query["sql"] for query in asked if '"sample"' in query["sql"] or '"manifest"' in query["sql"]]
    assert wide == []


# --- States ---


def test_a_state_survives_the_next_load(given, read_cluster, say):
    given(requests=[EVE])
    say(State.EXPECTED, reason="a probe of the platform")

    given(requests=[EVE | {"lines": 9}, request("User:bob", "READ", "other")])

    found = inbox(read_cluster)
    assert (found.counts["expected"], found.counts["new"]) == (1, 1)
    (expected,) = inbox(read_cluster, state="expected").rows
    assert (expected.principal, expected.mark.set_by) == ("User:eve", "ada")
    assert expected.mark.reason == "a probe of the platform"
    assert [row.principal for row in inbox(read_cluster, state="new").rows] == ["User:bob"]


@pytest.mark.parametrize("later, state", [(timedelta(), "fixed"), (400 * DAY, "new")])
def test_a_fixed_group_is_new_again_once_it_is_denied_later(given, read_cluster, say, later, state):
    given(requests=[EVE])
    say(State.FIXED)
    assert inbox(read_cluster).rows[0].state == "fixed"

    given(requests=[EVE | {"last_at": LAST + later}])

    (found,) = inbox(read_cluster).rows
    assert found.state == state
    assert found.is_back == (state == "new")


def test_a_denial_after_the_log_of_a_fix_is_new_whatever_our_clock_is(given, read_cluster, say):
    given(requests=[EVE])
    say(State.FIXED)

    given(requests=[EVE | {"last_at": LAST + timedelta(minutes=1)}])

    assert inbox(read_cluster).rows[0].word == "new again"


def test_an_ignored_group_is_new_once_its_day_is_past(given, read_cluster, say):
    given(requests=[EVE])
    say(State.IGNORED, until=timezone.now().date())
    assert inbox(read_cluster).counts["ignored"] == 1

    DenialMark.objects.update(until=timezone.now().date() - DAY)

    assert inbox(read_cluster).rows[0].is_back


def test_a_group_is_fixed_when_its_change_is_in_force_and_nothing_was_denied_since(given, read_cluster, say):
    given(requests=[EVE])
    say(State.BEING_FIXED, change=7)
    logged = LAST.replace(tzinfo=UTC)
    DenialMark.objects.update(set_at=logged + 9 * DAY)

    def state_if(since):
        return denials.inbox(read_cluster, in_force_since=lambda numbers: since).rows[0].state

    assert state_if({}) == "being-fixed"
    assert state_if({7: logged + DAY}) == "fixed"
    assert state_if({7: logged - 2 * DAY}) == "new"


@pytest.mark.parametrize("hours", [-9, -1, 1, 9])
def test_a_change_within_a_day_of_the_last_denial_waits_for_more_log(given, read_cluster, say, hours):
    """The brokers' clocks may be in any zone, so the log cannot tell which of both was first."""
    given(requests=[EVE])
    say(State.BEING_FIXED, change=7)
    applied = LAST.replace(tzinfo=UTC) + timedelta(hours=hours)
    DenialMark.objects.update(set_at=applied + DAY)

    def state_with_log_to(log_end):
        Load.objects.update(last_at=log_end)
        return denials.inbox(read_cluster, in_force_since=lambda numbers: {7: applied}).rows[0].state

    assert state_with_log_to(LAST.replace(tzinfo=UTC)) == "being-fixed"
    assert state_with_log_to(applied + 2 * DAY) == "fixed"


def test_a_change_fixes_a_group_that_was_not_denied_since_it_was_marked(given, read_cluster, say):
    given(requests=[EVE])
    say(State.BEING_FIXED, change=7)
    applied = LAST.replace(tzinfo=UTC) - timedelta(hours=1)
    DenialMark.objects.update(set_at=applied - timedelta(minutes=5))

    (found,) = denials.inbox(read_cluster, in_force_since=lambda numbers: {7: applied}).rows

    assert (found.state, found.word) == ("fixed", "fixed")


def test_open_groups_come_before_closed_ones_whatever_their_weight(given, read_cluster, say):
    heavy = request("User:eve", "READ", "heavy", lines=900)
    given(requests=[heavy, request("User:eve", "READ", "light", lines=1)])
    say(State.EXPECTED, reason="known")

    assert [row.resource.name for row in inbox(read_cluster).rows] == ["light", "heavy"]
    found = inbox(read_cluster)
    assert (found.lines, found.new_lines) == (901, 1)


def test_each_state_that_is_set_is_in_the_audit_trail(given, read_cluster, say):
    given(requests=[EVE])
    say(State.BEING_FIXED, change=7, reason="in review")
    say(State.EXPECTED, reason="a probe")

    key = key_of("User:eve", "READ", "TOPIC", "payments.eu")
    kept = history(read_cluster, key)

    assert [event.facts["told"] for event in kept] == ["expected: a probe", "being fixed by CR-7: in review"]
    assert history(read_cluster, "0" * 64) == []
    assert {event.target for event in Event.objects.filter(verb="denial.marked")} == {"cluster:test-eu"}


@pytest.mark.parametrize(
    "state, facts, field",
    [
        ("broken", {}, "state"),
        (State.IGNORED, {}, "until"),
        (State.IGNORED, {"until": FIRST.date() - 9999 * DAY}, "until"),
        (State.EXPECTED, {"reason": "  "}, "reason"),
    ],
)
def test_a_state_without_the_fact_that_it_needs_is_refused(given, read_cluster, say, state, facts, field):
    given(requests=[EVE])

    with pytest.raises(DenialError) as refused:
        say(state, **facts)

    assert refused.value.field == field
    assert not DenialMark.objects.exists()
    assert not Event.objects.filter(verb="denial.marked").exists()


# --- One group ---


def test_a_group_shows_who_else_asked_and_when(given, read_cluster):
    given(
        requests=[
            on_days({0: 5, 1: 2}, host="10.0.0.1", sample="newest"),
            on_days({3: 1}, host="10.0.0.2", sample="older"),
            on_days({9: 40}, host="10.0.0.3", allowed=True),
        ]
    )
    found = inbox(read_cluster)

    detail = denials.detail(found.load, found.rows[0])

    assert [(share.host, share.denied, share.permitted) for share in detail.hosts] == [
        ("10.0.0.1", 7, 0),
        ("10.0.0.2", 1, 0),
        ("10.0.0.3", 0, 40),
    ]
    assert detail.days[-1] == ("2026-11-20", 5, 0)
    assert detail.days[-10] == ("2026-11-11", 0, 40)
    assert (detail.sample, detail.permits_logged) == ("newest", True)


def test_a_group_of_many_hosts_keeps_the_first_and_counts_the_others(
    given, read_cluster, django_assert_num_queries
):
    given(requests=[EVE | {"host": f"10.0.{n // 250}.{n % 250}", "lines": n + 1} for n in range(502)])
    found = inbox(read_cluster)
    row = found.rows[0]

    with django_assert_num_queries(2) as asked:
        detail = denials.detail(found.load, row)

    assert (len(detail.hosts), detail.host_count, detail.denied) == (500, 502, 502 * 503 // 2)
    assert (detail.hosts[0].host, detail.hosts[0].denied) == ("10.0.2.1", 502)
    assert ['"sample"' in query["sql"] for query in asked] == [True, False]
    assert re.search(r' LIMIT 1\) THEN [^ ]*"sample" ELSE NULL', asked[0]["sql"])


def test_an_export_has_every_group_of_the_list_in_its_order(given, read_cluster, say):
    given(requests=[request("User:eve", "READ", f"topic-{number}", lines=number + 1) for number in range(40)])
    say(State.FIXED, reason="done")

    rows = exported(read_cluster)

    listed = [
        (row.state, row.principal, row.resource.name, row.lines, row.cause.kind)
        for row in inbox(read_cluster).rows
    ]
    columns = ("state", "principal", "resource_name", "denials", "cause")
    assert [tuple(row[name] for name in columns) for row in rows] == listed
    assert (rows[-1]["reason"], rows[-1]["set_by"], rows[0]["set_by"]) == ("done", "ada", None)
    assert all(tuple(row) == denials.EXPORTED for row in rows)


def test_the_groups_of_an_earlier_load_go_with_it(given, read_cluster):
    given(requests=[EVE])
    given(requests=[request("User:bob", "READ", "x")])

    given(requests=[request("User:cat", "READ", "x")])

    assert sorted(group.principal for group in DenialGroup.objects.all()) == ["User:bob", "User:cat"]
    assert [row.principal for row in inbox(read_cluster).rows] == ["User:cat"]


def test_without_a_log_there_is_no_denial(read_cluster):
    found = inbox(read_cluster)

    assert (found.load, len(found.rows), found.groups) == (None, 0, 0)
    assert exported(read_cluster) == []


# --- Causes ---


def test_groups_are_found_and_counted_by_their_cause(given, read_cluster, say):
    given(
        requests=[
            EVE,
            request("User:eve", "WRITE", "payments.eu"),
            request("User:zoe", "READ", "elsewhere"),
            request("User:ANONYMOUS", "READ", "orders", days=[{"day": "2026-11-18", "lines": 3}]),
        ]
    )
    say(State.EXPECTED, found=inbox(read_cluster, cause="no-rule").rows[0], reason="a probe")

    denied = inbox(read_cluster, cause="deny", state=State.NEW)

    assert [row.cause.kind for row in denied.rows] == ["deny", "deny"]
    assert (denied.shown[State.NEW], denied.shown[State.EXPECTED]) == (2, 0)
    assert (denied.counts[State.NEW], denied.counts[State.EXPECTED]) == (3, 1), "of all causes"
    assert denied.causes == {"deny": 2, "anonymous": 1}, "of the state that is asked for"
    assert inbox(read_cluster, state=State.EXPECTED).causes == {"no-rule": 1}
    assert inbox(read_cluster, cause="no-rule", days=1).shown[State.EXPECTED] == 1
    assert not inbox(read_cluster, cause="name").rows
    assert [row["principal"] for row in exported(read_cluster, cause="anonymous")] == ["User:ANONYMOUS"]


def test_a_cause_is_that_of_the_acls_in_force_and_not_of_those_at_the_load(given, read_cluster):
    given(requests=[request("User:zoe", "READ", "elsewhere")])
    before = inbox(read_cluster).causes

    sync(read_cluster, client=FakeCluster([*BINDINGS, allow("User:zoe", "READ", "elsewhere")]))
    read_cluster.refresh_from_db()

    assert (before, inbox(read_cluster).causes) == ({"no-rule": 1}, {"allowed-now": 1})


def test_causes_beyond_the_largest_groups_are_not_counted_and_that_is_said(given, read_cluster, monkeypatch):
    monkeypatch.setattr(denial_causes, "MOST_GROUPS", 2)
    of_days = {"large": {9: 700}, "middle": {0: 2, 1: 500}, "small": {0: 2, 1: 400}}
    given(requests=[on_days(days, resource_name=name) for name, days in of_days.items()])

    found, lately = inbox(read_cluster), inbox(read_cluster, days=7)

    assert (len(found.rows), found.causes, found.all_judged) == (3, {"no-rule": 2}, False)
    closed_last = [row.lines for row in inbox(read_cluster, cause="no-rule").rows]
    assert closed_last == [502, 700], "the largest has no denial for a week, so it is fixed"
    assert lately.causes == {"no-rule": 1}, "of the same groups as in the whole log"
    assert len(inbox(read_cluster, days=7, cause="no-rule").rows) == 1
    assert (found.bursts, lately.bursts) == (3, 2), "these are known of all groups"
    assert inbox(read_cluster, cause="no-rule").bursts == 2
    assert [row["denials"] for row in exported(read_cluster, cause="no-rule")] == [502, 402, 700]
    assert exported(read_cluster, cause="deny") == []


def test_as_many_groups_as_can_be_judged_are_all_of_them(given, read_cluster, monkeypatch):
    monkeypatch.setattr(denial_causes, "MOST_GROUPS", 2)
    given(requests=[request("User:zoe", "READ", f"topic-{number}") for number in (1, 2)])

    assert inbox(read_cluster).all_judged


def test_causes_of_the_newest_load_are_known_before_anybody_asks(given, read_cluster, monkeypatch):
    denial_causes.prepare(in_force(read_cluster))
    given(requests=[request("User:zoe", "READ", "topic-1")])
    denial_causes.prepare(in_force(read_cluster))

    monkeypatch.setattr(denial_causes, "_causes", None)  # would fail if anything were worked out now
    assert inbox(read_cluster).causes == {"no-rule": 1}
    denial_causes.prepare(in_force(read_cluster))


# --- Bursts ---


@pytest.mark.parametrize(
    "lines, of_log, burst",
    [
        ({20: 100}, 3, (20, 100, 0)),
        ({20: 99}, 3, None),
        ({18: 12, 19: 12, 20: 121}, 3, (20, 121, 12)),
        ({18: 12, 19: 12, 20: 120}, 3, None),
        ({18: 500, 19: 1, 20: 400}, 5, (20, 400, 1)),
        ({18: 500, 19: 1, 20: 2}, 3, (18, 500, 2)),
        ({20: 5_000}, 1, None),
        ({19: 5_000, 20: 5_000}, 2, None),
        ({19: 5_000, 20: 5_000}, 4, None),
        ({19: 5_000, 20: 5_001}, 5, (20, 5_001, 0)),
        ({}, 0, None),
    ],
)
def test_a_burst_is_a_day_with_far_more_denials_than_the_median_day(lines, of_log, burst):
    days = [(f"2026-11-{day}", count) for day, count in lines.items()]

    found = burst_in(days, of_log)

    assert (found and (found.day.day, found.lines, found.usual)) == burst


def test_days_before_the_span_are_not_compared_with():
    def back(days):
        return (LAST - days * DAY).date()

    earlier = [(back(days).isoformat(), 40) for days in range(200, 150, -1)]
    facts = burst_facts([*earlier, (back(0).isoformat(), 300)], Span(back(89), 90))

    assert facts == {"burst_day": back(0), "burst_lines": 300, "burst_usual": 0}
    assert burst_facts([(back(90).isoformat(), 300)], Span(back(89), 90))["burst_day"] is None
    assert burst_facts([(back(89).isoformat(), 300)], Span(back(89), 90))["burst_day"] == back(89)


def test_a_burst_of_a_long_log_is_found_among_its_last_ninety_days(given, read_cluster):
    given(
        requests=[on_days({0: 300} | dict.fromkeys(range(151, 201), 40))],
        coverage=log_days("b1", first=LAST - 200 * DAY),
    )

    assert [row.burst and (row.burst.lines, row.burst.usual) for row in inbox(read_cluster).rows] == [
        (300, 0)
    ]


def test_groups_with_a_burst_in_the_days_asked_about_are_found(given, read_cluster):
    given(
        requests=[
            on_days({0: 3, 1: 400}, resource_name="yesterday"),
            on_days({0: 3, 9: 400}, resource_name="before"),
            on_days({0: 3, 1: 3}, resource_name="never"),
        ]
    )

    found = {
        days: [row.resource.name for row in inbox(read_cluster, days=days, bursts=True).rows]
        for days in (1, 7, 0)
    }

    assert {days: sorted(names) for days, names in found.items()} == {
        1: [],
        7: ["yesterday"],
        0: ["before", "yesterday"],
    }
    assert inbox(read_cluster, days=7).bursts == 1
    bursts = {row.resource.name: row.burst and row.burst.lines for row in inbox(read_cluster, days=7).rows}
    assert bursts == {"yesterday": 400, "before": None, "never": None}
    listed = {
        row["resource_name"]: (row["burst_day"], row["burst_denials"]) for row in exported(read_cluster)
    }
    assert listed["yesterday"] == ("2026-11-19", 400)
    assert listed["never"] == (None, None)


def test_days_that_no_broker_logged_are_no_days_without_denials(given, read_cluster):
    """Of 14 days 6 were logged, and on 4 of those it was denied as often."""
    of_days = {0: 300, 1: 200, 2: 200, 3: 200}
    logged = [
        {**day, "hours": [12], "permit_hours": []}
        for day in log_days("b1")
        if (LAST.date() - date.fromisoformat(day["day"])).days < 6
    ]

    given(requests=[on_days(of_days)], coverage=logged)
    assert inbox(read_cluster).bursts == 0

    given(requests=[on_days(of_days)], coverage=[])
    assert inbox(read_cluster).bursts == 1


@pytest.mark.half
@pytest.mark.parametrize(
    "asked, kind, told",
    [
        (request("User:eve", "READ", "payments.eu"), "deny", "Deny User:eve"),
        (request("User:CN=fraud, OU=risk", "READ", "orders"), "name", "differ in spaces"),
        (request("User:cn=FRAUD,OU=risk", "READ", "orders"), "name", "differ in upper and lower case"),
        (request("User:bob", "WRITE", "orders"), "host", "Has the client moved"),
        (
            request(
                "User:ops",
                "DESCRIBE",
                "kafka-cluster",
                resource_type="CLUSTER",
                host="0:0:0:0:0:0:0:1",
            ),
            "host",
            "Brokers write this address as 0:0:0:0:0:0:0:1",
        ),
        (request("User:indexer", "READ", "images"), "host", "is no address"),
        (request("User:ANONYMOUS", "READ", "orders"), "anonymous", "listener without authentication"),
        (request("User:bob", "READ", "billing", resource_type="GROUP"), "group", "as well as on the topic"),
        (request("User:bob", "WRITE", "payments.eu"), "operation", "and nothing more"),
        (request("User:zoe", "READ", "elsewhere"), "no-rule", "No ACL gives this right to User:zoe"),
        (request("User:bob", "READ", "payments.eu"), "allowed-now", "allowed today"),
    ],
)
def test_the_likely_cause_of_a_denial_is_reported(given, read_cluster, asked, kind, told):
    given(requests=[asked])

    (found,) = inbox(read_cluster).rows

    assert found.cause.kind == kind
    assert told in found.cause.sentence


def test_a_range_of_addresses_is_told_to_count_for_nobody_before_kafka_4_4(given, read_cluster):
    read_cluster.kafka_version = "4.3"
    read_cluster.save()
    given(requests=[request("User:notes", "READ", "customers", host="10.40.3.17")])

    (found,) = inbox(read_cluster).rows

    assert "never matches" in found.cause.sentence


# --- Quiet groups ---


QUIET = on_days({9: 4}, resource_name="quiet")
GAP = [*log_days("broker-1.log"), *log_days("broker-2.log", last=LAST - 3 * DAY)]


def states(cluster, **wanted):
    return {row.resource.name: row.state for row in inbox(cluster, **wanted).rows}


def new_by_badge(cluster):
    nothing = Cast(None, DateTimeField())
    clusters = Cluster.objects.filter(pk=cluster.pk).values("pk")
    return denials.new_groups(clusters, days=14, applied_at=nothing).count()


@pytest.mark.parametrize("coverage, state", [(None, State.FIXED), (GAP, State.NEW)])
def test_a_week_without_a_denial_is_fixed_only_where_every_broker_wrote(given, read_cluster, coverage, state):
    facts = {} if coverage is None else {"coverage": coverage}
    given(requests=[QUIET, on_days({1: 2}, resource_name="lately")], **facts)

    assert states(read_cluster, days=14) == {"quiet": state, "lately": State.NEW}
    found = inbox(read_cluster, days=14)
    new = denials.new_count(read_cluster, found.load, days=14, in_force_since=no_change)
    assert new == new_by_badge(read_cluster) == found.counts[State.NEW]
    assert {row["resource_name"]: row["state"] for row in exported(read_cluster)} == states(read_cluster)


def test_what_a_person_says_of_a_quiet_group_counts(given, read_cluster, say):
    given(requests=[QUIET])
    found = inbox(read_cluster).rows[0]

    say(State.NEW, found=found)
    said_new = (states(read_cluster), new_by_badge(read_cluster))
    say(State.EXPECTED, found=found, reason="a probe")
    expected = (states(read_cluster), new_by_badge(read_cluster))
    say(State.BEING_FIXED, found=found)

    assert said_new == ({"quiet": State.NEW}, 1)
    assert expected == ({"quiet": State.EXPECTED}, 0)
    assert (states(read_cluster), new_by_badge(read_cluster)) == ({"quiet": State.FIXED}, 0)


def test_a_broker_that_is_called_gone_changes_what_is_quiet(given, read_cluster, ada):
    given(requests=[QUIET], coverage=GAP)

    before = states(read_cluster)
    retire(cluster=read_cluster, broker="broker-2.log", since=(LAST - 2 * DAY).date(), actor=ada)
    gone = states(read_cluster)
    take_back(cluster=read_cluster, broker="broker-2.log", actor=ada)

    assert [before, gone, states(read_cluster)] == [
        {"quiet": State.NEW},
        {"quiet": State.FIXED},
        {"quiet": State.NEW},
    ]


def test_lists_by_rows_and_by_query_agree_but_for_folds(given, read_cluster, say, monkeypatch):
    given(
        requests=[
            QUIET,
            *(on_days({day: 3 + day}, resource_name=f"t{day}") for day in range(5)),
            request("User:zoe", "READ", "elsewhere"),
        ]
    )
    say(State.EXPECTED, reason="a probe", found=inbox(read_cluster).rows[2])

    def told():
        return [
            (
                [(row.resource.name, row.state, row.lines) for row in found.rows],
                dict(found.counts),
                dict(found.shown),
                (found.lines, found.new_lines, found.last_day, found.day_before, found.principals),
            )
            for state in ("", State.NEW, State.FIXED)
            for sort in denials.SORTS
            for closed in (True, False)
            for found in [inbox(read_cluster, state=state, sort=sort, closed=closed)]
        ]

    by_rows = told()
    monkeypatch.setattr(denial_causes, "MOST_GROUPS", 1)
    sync(read_cluster, client=FakeCluster([*BINDINGS, allow("User:new", "READ", "new")]))
    read_cluster.refresh_from_db()

    assert not inbox(read_cluster).all_judged
    assert told() == by_rows
