"""A replay says which logged requests an edit would answer otherwise, and what the log cannot show."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.insights import replay as replaying
from aclweb.insights import replay_totals
from aclweb.insights.kept import KeptOfLoads
from aclweb.insights.models import Load
from aclweb.insights.replay import Flip, Replay, replay
from aclweb.insights.replay_totals import by_day, by_principal, by_resource, days_are_whole
from tests.builders import acl, allow, deny
from tests.insights.results import LAST, file, log_days, request
from tests.random_cases import (
    SCALE,
    random_binding,
    random_request,
    random_settings,
    random_world,
)
from tests.reference import answer

SETTINGS = AuthorizerSettings()
NOW = [allow("User:bob", "READ", "orders"), allow("User:cat", "READ", "orders", host="10.0.0.9")]


def delta(*, add=(), remove=()) -> Delta:
    return Delta(add=tuple(add), remove=tuple(remove))


def replayed(found: Load, edit: Delta, **facts) -> Replay:
    return replay(found, edit, AclIndex(NOW), SETTINGS, **facts)


@pytest.mark.half
@pytest.mark.parametrize("seed", range(40 * SCALE))
def test_what_turns_is_what_the_reference_answers_otherwise(given, seed, monkeypatch):
    rng = random.Random(seed)
    if seed % 2:
        # As of an edit of many patterns and principals, for which the whole log is read.
        monkeypatch.setattr(replaying, "_MOST_PATTERNS", 0)
        monkeypatch.setattr(replaying, "_MOST_PRINCIPALS", 0)
    world = random_world(rng, authorizer=rng.choice(("standard", "acl", "glob")))
    settings_after = (
        random_settings(rng, authorizer=world.settings.authorizer) if rng.random() < 0.2 else None
    )
    edit = delta(
        add=[random_binding(rng, world.settings) for _ in range(rng.randint(0, 3))],
        remove=rng.sample(world.bindings, min(len(world.bindings), rng.randint(0, 4))),
    )
    asked = list(dict.fromkeys(random_request(rng, world) for _ in range(60)))
    found = given(requests=[row_of(each, lines=place + 1) for place, each in enumerate(asked)])

    shown = replay(found, edit, AclIndex(world.bindings), world.settings, settings_after)

    after = edit.applied_to(world.bindings)
    expected: Counter[tuple[object, ...]] = Counter()
    for place, each in enumerate(asked):
        old = answer(each, world.bindings, world.settings)[0]
        new = answer(each, after, settings_after or world.settings)[0]
        if old != new:
            key = (each.principal, each.operation, each.resource_type, each.resource_name, old, new)
            expected[key] += place + 1
    assert {key_of(flip): flip.lines for flip in shown.flips} == expected
    assert shown.unchanged == sum(range(1, len(asked) + 1)) - expected.total()


def key_of(flip: Flip) -> tuple[object, ...]:
    named = (flip.resource.resource_type, flip.resource.name)
    return (flip.principal, flip.operation, *named, flip.before.name, flip.after.name)


def row_of(asked, *, lines: int):
    return request(
        asked.principal,
        asked.operation.name,
        asked.resource_name,
        resource_type=asked.resource_type.name,
        host=asked.host,
        allowed=True,
        lines=lines,
        decided_now="ALLOWED",
    )


LOGGED = [
    request("User:bob", "READ", "orders", host="10.0.0.7", allowed=True, lines=40),
    request(
        "User:bob",
        "READ",
        "orders",
        host="10.0.0.8",
        allowed=True,
        lines=2,
        last_at=LAST - timedelta(hours=1),
    ),
    request("User:cat", "READ", "orders", host="10.0.0.7", lines=5),
    request("User:eve", "WRITE", "stock", lines=3),
]


def test_only_requests_that_an_edited_acl_matches_are_decided_again(given, monkeypatch):
    now = [allow(f"User:p{n}", "READ", "orders.", pattern="PREFIXED") for n in range(40)]
    requests = [
        request(f"User:p{n}", "READ", f"orders.{place}", allowed=True, lines=1)
        for n in range(40)
        for place in range(5)
    ]
    found = given(requests=requests)
    decided = []
    decide = replaying.decide
    monkeypatch.setattr(replaying, "decide", lambda *given: decided.append(given[0]) or decide(*given))
    read = []
    read_row = replaying._Asked.of
    monkeypatch.setattr(replaying._Asked, "of", lambda row: read.append(row) or read_row(row))

    shown = replay(found, delta(remove=now[:2]), AclIndex(now), SETTINGS)

    assert {flip.principal for flip in shown.denied} == {"User:p0", "User:p1"}
    assert len(decided) == 2 * 2 * 5
    assert len(read) == 2 * 5


def test_edits_of_many_patterns_read_a_log_once(given, monkeypatch):
    rows = [request(f"User:p{n}", "READ", f"orders.{n}", allowed=True, lines=n + 1) for n in range(70)]
    now = [allow(f"User:p{n}", "READ", f"orders.{n}") for n in range(70)]
    first = given(requests=rows)
    read = []
    read_row = replaying._Asked.of
    monkeypatch.setattr(replaying._Asked, "of", lambda row: read.append(row) or read_row(row))

    shown = [replay(first, delta(remove=now[start:]), AclIndex(now), SETTINGS) for start in (0, 5)]

    assert [[flip.lines for flip in each.denied] for each in shown] == [
        list(range(70, 0, -1)),
        list(range(70, 5, -1)),
    ]
    assert len(read) == 70
    # Few patterns are asked for by themselves, and another log is another one.
    assert len(replay(first, delta(remove=now[:1]), AclIndex(now), SETTINGS).denied) == 1
    assert len(read) == 71
    second = given(requests=rows[:60])
    assert len(replay(second, delta(remove=now), AclIndex(now), SETTINGS).denied) == 60
    assert len(read) == 71 + 60


def logs_of(monkeypatch, most: int) -> KeptOfLoads:
    """Return an empty memory of logs for so many requests, as that of the process."""
    kept = KeptOfLoads(most, replaying._weight)
    monkeypatch.setattr(replaying, "MOST_REQUESTS", most)
    monkeypatch.setattr(replaying, "_logs", kept)
    return kept


def test_so_many_requests_of_logs_stay_in_memory(given, monkeypatch):
    kept = logs_of(monkeypatch, 100)
    now = [allow(f"User:p{n}", "READ", f"orders.{n}") for n in range(70)]
    for count in (60, 65, 70):
        rows = [request(f"User:p{n}", "READ", f"orders.{n}", allowed=True, lines=1) for n in range(count)]
        assert len(replay(given(requests=rows), delta(remove=now), AclIndex(now), SETTINGS).denied) == count

    assert [len(log) for log in kept._answers.values()] == [70]


def test_a_log_with_names_of_any_length_stays_only_where_they_are_short(given, monkeypatch):
    kept = logs_of(monkeypatch, 100)
    now = [allow(f"User:p{n}", "READ", f"orders.{n}", pattern="PREFIXED") for n in range(70)]
    for length in (1, 1_000):
        rows = [
            request(f"User:p{n}", "READ", f"orders.{n}." + "x" * length, allowed=True, lines=1)
            for n in range(70)
        ]
        assert len(replay(given(requests=rows), delta(remove=now), AclIndex(now), SETTINGS).denied) == 70

    (log,) = kept._answers.values()
    assert max(len(each.request.resource_name or "") for each in log) < 100


def test_hosts_of_one_principal_operation_and_resource_are_one_row(given):
    found = replayed(given(requests=LOGGED), delta(remove=NOW[:1]))

    (flip,) = found.denied
    assert (flip.principal, flip.lines, flip.hosts) == ("User:bob", 42, ("10.0.0.7", "10.0.0.8"))
    assert flip.last_at == LAST.replace(tzinfo=flip.last_at.tzinfo)
    assert (found.unchanged, found.lines) == (8, 50)
    assert found.sentence == "42 logged requests of 1 principal would be newly refused."


def test_totals_by_principal_resource_and_day_add_up_to_what_would_turn(given, monkeypatch):
    day = {"2026-11-19": 2, "2026-11-20": 3}
    days = [{"day": name, "lines": lines} for name, lines in day.items()]
    bob = request("User:bob", "READ", "orders", allowed=True, lines=5, days=days)
    dan = request("User:dan", "READ", "orders", lines=4, days=[{"day": "2026-11-20", "lines": 4}])
    other = request("User:dan", "READ", "stock", lines=1, days=[{"day": "2026-11-18", "lines": 1}])
    edit = delta(
        add=[allow("User:dan", "READ", "orders"), allow("User:dan", "READ", "stock")], remove=NOW[:1]
    )

    found = replayed(given(requests=[bob, dan, other]), edit)

    assert [(total.about, total.denied, total.allowed) for total in by_principal(found)] == [
        ("User:bob", 5, 0),
        ("User:dan", 0, 5),
    ]
    assert [(str(total.about), total.denied, total.allowed) for total in by_resource(found)] == [
        ("TOPIC:orders", 5, 4),
        ("TOPIC:stock", 0, 1),
    ]
    assert [(total.about, total.denied, total.allowed) for total in by_day(found)] == [
        ("2026-11-20", 3, 4),
        ("2026-11-19", 2, 0),
        ("2026-11-18", 0, 1),
    ]
    assert days_are_whole(found)
    monkeypatch.setattr(replay_totals, "MOST_REQUESTS", 1)
    assert not days_are_whole(found)
    assert sum(total.allowed for total in by_day(found)) == 4, "of the request with most lines"
    Load.objects.all().delete()
    assert by_day(found) == ()


def test_denials_and_permits_that_turn_are_told_apart(given):
    found = replayed(given(requests=LOGGED), delta(add=[allow("User:cat", "READ", "orders")], remove=NOW[:1]))

    assert [flip.change for flip in found.flips] == ["loses", "gains"]
    assert found.sentence == (
        "42 logged requests of 1 principal would be newly refused; "
        "5 logged requests of 1 principal would be newly allowed."
    )


def test_an_answer_that_the_acls_do_not_give_is_neither_refused_nor_allowed(given):
    unclear = acl("UNKNOWN", "User:bob", "READ", "orders")
    found = replayed(given(requests=LOGGED), delta(add=[unclear]))

    assert [flip.change for flip in found.unclear] == ["depends"]
    assert found.sentence == (
        "42 logged requests of 1 principal would be decided by what the ACLs alone do not say."
    )


def test_an_edit_of_other_resources_turns_nothing(given):
    found = replayed(given(requests=LOGGED), delta(add=[deny("User:*", "ALL", "stocks")]))

    assert (found.flips, found.unchanged) == ((), 50)
    assert found.sentence == "No request of the log would be answered otherwise."


def test_without_permits_nobody_can_tell_what_would_be_refused(given):
    blind = given(requests=LOGGED[2:], files=[file("a.log")])
    taking = replayed(blind, delta(remove=NOW[:1]))
    giving = replayed(blind, delta(add=[allow("User:cat", "READ", "orders")]), takes_away=False)

    assert taking.sentence == "Cannot tell whether anything that is in use would be refused."
    assert taking.doubts[0].startswith("The log holds no permits, so it does not show what is in use.")
    assert giving.sentence == "5 logged requests of 1 principal would be newly allowed."
    assert giving.doubts == (
        "The log may lack permits, which does not matter here: this takes nothing away.",
    )


def test_a_log_with_gaps_gives_least_numbers_and_says_what_is_missing(given, settings):
    settings.ACLWEB_UNUSED_DAYS = 30
    found = replayed(given(requests=LOGGED), delta(remove=NOW[:1]))

    assert found.sentence == "At least 42 logged requests of 1 principal would be newly refused."
    assert found.doubts[0].startswith("More may have happened: the log covers 14 days")


def test_lines_that_nobody_understood_are_not_replayed_and_counted(given):
    lost = [{"reason": "cut off", "lines": 12, "sample": "[2026"}]
    found = replayed(given(requests=LOGGED, unparsed=lost), delta(add=[deny("User:*", "ALL", "stocks")]))

    assert found.sentence == "No request of the log would be answered otherwise, as far as it goes."
    assert found.doubts == ("12 lines of the log could not be understood, so they were not replayed.",)


def test_requests_beyond_the_bound_are_left_out_and_counted(given, monkeypatch):
    monkeypatch.setattr(replaying, "MOST_REQUESTS", 1)
    found = replayed(given(requests=LOGGED), delta(remove=NOW[:1]))

    assert (found.denied_lines, found.left_out) == (40, 2)
    assert found.sentence.startswith("At least 40")
    assert found.doubts == (
        "The 1 requests that were logged most often were decided again; 2 others were not.",
    )


def test_queries_do_not_grow_with_the_log(given, django_assert_num_queries):
    few = given(requests=LOGGED[:1])
    with django_assert_num_queries(2):
        replayed(few, delta(remove=NOW[:1]))
    many = given(requests=[request("User:bob", "READ", f"t{number}", allowed=True) for number in range(500)])
    with django_assert_num_queries(2):
        replayed(many, delta(add=[deny("User:bob", "READ", "t", pattern="PREFIXED")]))


OLD = "2026-11-10"


def logged_on(row, day: str, *, earlier: int = 0):
    """This request, logged on a day, and so often on the tenth of November."""
    days = [{"day": OLD, "lines": earlier}] if earlier else []
    return row | {"lines": row["lines"] + earlier, "days": [*days, {"day": day, "lines": row["lines"]}]}


def test_a_window_holds_whole_days_back_from_the_last_of_the_log(given):
    rows = [
        logged_on(LOGGED[0], "2026-11-14", earlier=100),  # the first of seven days
        logged_on(LOGGED[1], "2026-11-13"),  # the day before it
        logged_on(LOGGED[2], "2026-11-20"),
    ]
    found = given(requests=rows)
    edit = delta(add=[allow("User:cat", "READ", "orders")], remove=NOW[:1])
    whole, week, month = (replayed(found, edit, days=days) for days in (None, 7, 30))

    assert (whole.denied_lines, whole.lines, whole.unchanged) == (142, 147, 0)
    assert (week.denied_lines, week.allowed_lines, week.lines) == (40, 5, 45)
    assert (month.denied_lines, month.lines) == (142, 147)
    assert [flip.hosts for flip in week.denied] == [("10.0.0.7",)]
    assert str(week.first_at) == "2026-11-14 00:00:00+00:00"
    assert month.first_at == whole.first_at == found.first_at
    assert [(total.about, total.denied, total.allowed) for total in by_day(week)] == [
        ("2026-11-20", 0, 5),
        ("2026-11-14", 40, 0),
    ]
    assert [total.about for total in by_day(whole)] == ["2026-11-20", "2026-11-14", "2026-11-13", OLD]


def test_the_coverage_of_a_window_is_that_of_its_days(given, settings):
    settings.ACLWEB_UNUSED_DAYS = 30
    found = given(requests=LOGGED)
    edit = delta(remove=NOW[:1])

    assert replayed(found, edit).doubts[0].startswith("More may have happened: the log covers 14 days")
    assert replayed(found, edit, days=7).doubts == ()
    assert (
        replayed(found, edit, days=7).sentence == "42 logged requests of 1 principal would be newly refused."
    )
    assert replayed(found, edit, days=30).doubts == (
        "More may have happened: too few hours of the last 30 days are logged with permits (broker-1.log: permits in "
        "333 of 717 hours; broker-2.log: permits in 333 of 717 hours); 95 % are needed.",
    )


def test_days_without_permits_are_blind_though_the_log_has_some(given):
    early = log_days("broker-1.log", last=LAST - timedelta(days=8))
    late = log_days("broker-1.log", first=LAST - timedelta(days=7), permit_hours=())
    found = given(requests=LOGGED[2:], coverage=[*early, *({**day, "permits": 0} for day in late)])
    edit = delta(remove=NOW[:1])

    assert not replayed(found, edit).is_blind
    assert (
        replayed(found, edit, days=7)
        .doubts[0]
        .startswith("The last 7 days of the log hold no permits, so it does not show what is in use.")
    )


def test_lines_that_nobody_understood_have_no_day(given):
    lost = [{"reason": "cut off", "lines": 12, "sample": "[2026"}]
    found = replayed(
        given(requests=LOGGED, unparsed=lost), delta(add=[deny("User:*", "ALL", "stocks")]), days=7
    )

    assert (
        found.sentence
        == "No request of the last 7 days of the log would be answered otherwise, as far as it goes."
    )
    assert found.doubts == ("12 lines of the whole log could not be understood, so they were not replayed.",)


def test_a_log_without_a_time_has_no_last_days_and_is_replayed_whole(given):
    timeless = given(requests=LOGGED, coverage=())
    timeless.first_at = timeless.last_at = None
    found = replayed(timeless, delta(remove=NOW[:1]), days=7)

    assert (found.days, found.denied_lines) == (None, 42)
    assert found.doubts[0] == "The records of this log have no time, so all of it is replayed."


def test_a_window_takes_few_queries_more_than_the_whole_log(given, django_assert_max_num_queries):
    many = given(requests=[request("User:bob", "READ", f"t{number}", allowed=True) for number in range(500)])
    with django_assert_max_num_queries(6):
        replayed(many, delta(add=[deny("User:bob", "READ", "t", pattern="PREFIXED")]), days=7)


def test_a_row_has_the_three_requests_that_were_logged_most_often(given, django_assert_num_queries):
    hosts = [
        request("User:bob", "READ", "orders", host=f"10.0.0.{n}", allowed=True, lines=n) for n in range(1, 6)
    ]
    found = replayed(given(requests=hosts), delta(remove=NOW[:1]))

    with django_assert_num_queries(0):
        (flip,), (total,) = found.denied, by_principal(found)
    assert [(sample.host, sample.lines) for sample in flip.samples] == [
        ("10.0.0.5", 5),
        ("10.0.0.4", 4),
        ("10.0.0.3", 3),
    ]
    assert total.samples == flip.samples


def test_the_samples_of_a_principal_are_of_all_its_rows(given):
    rows = [
        request("User:bob", "READ", "orders", allowed=True, lines=2),
        request("User:bob", "WRITE", "stock", lines=9),
        request("User:bob", "WRITE", "bills", lines=4),
        request("User:bob", "WRITE", "costs", lines=1),
    ]
    edit = delta(add=[allow("User:bob", "WRITE", "*")], remove=NOW[:1])
    (total,) = by_principal(replayed(given(requests=rows), edit))

    assert [(str(sample.resource), sample.lines) for sample in total.samples] == [
        ("TOPIC:stock", 9),
        ("TOPIC:bills", 4),
        ("TOPIC:orders", 2),
    ]
