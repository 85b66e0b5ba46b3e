"""Do the answers from the logs say what they know, and "cannot tell" where they do not?"""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from django.db import connection

from aclweb.acl.logged.evidence import NO_HOURS
from aclweb.acl.notation.files import binding_key
from aclweb.insights import queries, unused
from aclweb.insights.coverage import Unread, coverage
from aclweb.insights.current import current_load
from aclweb.insights.declarations import declarations
from aclweb.insights.models import Load
from aclweb.inventory.models import Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS
from tests.insights.held import unused_count
from tests.insights.results import FIRST, LAST, file, log_days, request, use

PREFIX, _, FRAUD, _, _, _, DENY = BINDINGS
REFUSALS_ONLY = [file("broker-1.log"), file("broker-2.log")]


def use_of(cluster, binding):
    return queries.usage_of(cluster, [binding_key(binding)], load=current_load(cluster))[binding_key(binding)]


def unused_keys(cluster):
    load = current_load(cluster)
    return queries.unused_keys(cluster, load, unused.evidence_of(load))


# --- Use ---


def test_a_used_acl_tells_how_often_and_when_last(given, read_cluster):
    given(usage=[use(PREFIX, requests=1200, alone=1)])

    found = use_of(read_cluster, PREFIX)

    assert (found.state, found.requests, found.alone) == ("used", 1200, 1)
    assert (
        found.sentence
        == "It settled 1,200 requests, last on 2026-11-20 20:00; 1 of them were decided by it alone."
    )


@pytest.mark.parametrize(
    ("needed", "told"),
    [
        (2, "Without it 2 would be answered otherwise."),
        (0, "Without it each would be answered the same."),
    ],
)
def test_a_used_acl_tells_whether_any_request_needed_it(given, read_cluster, needed, told):
    given(usage=[use(PREFIX, needed=needed)])

    assert use_of(read_cluster, PREFIX).sentence.endswith(told)


def test_an_acl_that_only_ends_the_default_for_others_is_not_called_unused(given, read_cluster):
    given(usage=[use(FRAUD, requests=0, alone=0, needed=3)])

    assert unused_count(read_cluster) == len(BINDINGS) - 1
    assert use_of(read_cluster, FRAUD).state == "used"


def test_an_acl_without_a_request_is_unused_where_every_hour_of_the_window_is_logged(given, read_cluster):
    given(usage=[use(PREFIX)])

    found = use_of(read_cluster, FRAUD)

    assert found.state == "unused"
    assert found.sentence.startswith("No request of the log needed it in the 13 days to 2026-11-20 21:00.")
    assert unused_count(read_cluster) == len(BINDINGS) - 1


def test_two_lines_of_a_log_make_no_acl_unused(given, read_cluster, settings):
    """One permit by one broker in one second, and one refusal by another whose permits are off."""
    settings.ACLWEB_UNUSED_DAYS = 30
    permit = log_days("b1.log", first=LAST, hours=[20], permit_hours=[20])
    refusal = log_days("b2.log", first=LAST, hours=[20], permit_hours=[])

    given(coverage=[*permit, *refusal], files=[file("b1.log", permits=1), file("b2.log")])
    Load.objects.update(first_at=LAST.replace(tzinfo=UTC), last_at=LAST.replace(tzinfo=UTC))

    assert {use_of(read_cluster, binding).state for binding in BINDINGS} == {"cannot-tell"}
    assert "the log covers 1 hour, and at least 30 days are needed" in use_of(read_cluster, FRAUD).sentence
    assert unused_count(read_cluster) is None
    assert unused_keys(read_cluster) == frozenset()


def test_a_log_that_is_shorter_than_the_window_claims_nothing(given, read_cluster, settings):
    given()
    settings.ACLWEB_UNUSED_DAYS = 30

    found = use_of(read_cluster, FRAUD)

    assert found.state == "cannot-tell"
    assert "the log covers 14 days, and at least 30 days are needed" in found.sentence
    assert use_of(read_cluster, DENY).state == "cannot-tell"


@pytest.mark.parametrize(
    "hours, state", [(24, "unused"), (23, "unused"), (22, "cannot-tell"), (0, "cannot-tell")]
)
def test_one_broker_without_enough_hours_of_permits_is_named_and_ends_the_claim(
    given, read_cluster, hours, state
):
    second = log_days("b2.log", permit_hours=range(hours))
    given(coverage=[*log_days("b1.log"), *second])

    found = use_of(read_cluster, FRAUD)

    assert found.state == state
    assert ("b2.log: permits in" in found.sentence) == (state == "cannot-tell")
    assert "b1.log" not in found.sentence
    # The log has lines of it in every hour, so a DENY that forbade something would show.
    assert use_of(read_cluster, DENY).state == "unused"
    assert unused_count(read_cluster) == (len(BINDINGS) if state == "unused" else None)


def test_a_broker_that_stopped_to_log_ends_the_claim(given, read_cluster):
    gone = log_days("b2.log", last=FIRST + timedelta(days=6))
    given(coverage=[*log_days("b1.log"), *gone])

    assert "b2.log: permits in" in use_of(read_cluster, FRAUD).sentence
    assert "b2.log: records in" in use_of(read_cluster, DENY).sentence


def test_a_result_of_an_earlier_version_claims_nothing(given, read_cluster):
    given(rows={"usage": 0, "requests": 0})

    assert use_of(read_cluster, FRAUD).reason == NO_HOURS
    assert unused_count(read_cluster) is None


def test_without_permits_in_the_log_the_use_of_an_allow_is_unknown(given, read_cluster):
    given(files=REFUSALS_ONLY)

    found = use_of(read_cluster, PREFIX)

    assert (found.state, found.requests) == ("cannot-tell", 0)
    assert "permits are not in the log" in found.sentence
    assert unused_count(read_cluster) is None


def test_without_permits_in_the_log_an_unused_deny_is_unused_all_the_same(given, read_cluster):
    given(files=REFUSALS_ONLY)

    assert use_of(read_cluster, DENY).state == "unused"
    assert unused_keys(read_cluster) == {binding_key(DENY)}


def test_an_unused_acl_of_unknown_age_says_so(given, read_cluster):
    given()
    Revision.objects.update(read_at=LAST.replace(tzinfo=UTC))

    assert (
        "Its age is unknown: the first sync found it on 2026-11-20." in use_of(read_cluster, FRAUD).sentence
    )


def test_without_any_log_nothing_is_known(read_cluster):
    found = use_of(read_cluster, PREFIX)

    assert (found.state, found.reason) == ("cannot-tell", unused.NO_LOG)
    assert coverage(read_cluster).cannot_tell
    assert unused_count(read_cluster) is None


@pytest.mark.parametrize("added_days_ago", [0, 3, 12])
def test_an_acl_younger_than_the_window_is_not_called_unused(given, read_cluster, added_days_ago):
    given()
    new = allow("User:new", "READ", "orders")
    names = {"topics": ["orders", "payments.eu"], "groups": ["billing"]}
    sync(read_cluster, client=FakeCluster([*BINDINGS, new], **names))
    read_cluster.refresh_from_db()
    added = LAST.replace(tzinfo=UTC) - timedelta(days=added_days_ago)
    Revision.objects.filter(number=2).update(read_at=added)

    assert use_of(read_cluster, new).reason == queries.TOO_YOUNG
    assert use_of(read_cluster, FRAUD).state == "unused"
    assert unused_count(read_cluster) == len(BINDINGS)


def test_the_number_of_unused_acls_is_that_of_the_acls_called_so(given, read_cluster):
    """One fact, one function: the number, the list and each ACL agree, with a young ACL and used ones."""
    given(usage=[use(PREFIX), use(FRAUD, requests=0, named=4)])
    new = allow("User:new", "READ", "orders")
    names = {"topics": ["orders", "payments.eu"], "groups": ["billing"]}
    sync(read_cluster, client=FakeCluster([*BINDINGS[:-1], new], **names))
    read_cluster.refresh_from_db()
    given(usage=[use(PREFIX), use(FRAUD, requests=0, named=4)])

    keys = [binding_key(binding) for binding in [*BINDINGS, new]]
    called = {
        key
        for key, found in queries.usage_of(read_cluster, keys, load=current_load(read_cluster)).items()
        if found.state == "unused"
    }

    assert called == unused_keys(read_cluster)
    assert len(called) == unused_count(read_cluster) == len(BINDINGS) - 2
    assert binding_key(FRAUD) in called
    assert (
        queries.usage_of(read_cluster, [keys[-2]], load=current_load(read_cluster))[keys[-2]].reason
        == queries.NOT_IN_FORCE
    )


def test_the_use_of_many_acls_takes_few_queries(given, read_cluster, django_assert_max_num_queries):
    given(usage=[use(PREFIX)])

    with django_assert_max_num_queries(5):
        queries.usage_of(
            read_cluster, [binding_key(binding) for binding in BINDINGS], load=current_load(read_cluster)
        )


# --- Requests, coverage, declarations ---


def test_requests_that_would_be_answered_otherwise_now_are_found(given, read_cluster):
    given(
        requests=[
            request("User:old", "READ", "orders", allowed=True, decided_now="DENIED"),
            request("User:eve", "READ", "payments.eu"),
        ],
        disagreements={"requests": 1, "lines": 3},
    )

    assert [seen.request.principal for seen in queries.disagreements(read_cluster)] == ["User:old"]
    assert {seen.request.principal: seen.differs for seen in queries.recent_requests(read_cluster)} == {
        "User:old": True,
        "User:eve": False,
    }
    assert "3 decisions of the log would be made otherwise now" in " ".join(coverage(read_cluster).sentences)


def test_coverage_tells_the_span_and_what_was_not_understood(given, read_cluster):
    given(unparsed=[{"reason": "no log record", "lines": 7, "sample": "java.io.IOException"}])

    found = coverage(read_cluster)

    assert not found.cannot_tell
    assert found.sentences[0].startswith("The log covers 2026-11-07 08:00 to 2026-11-20 20:00")
    assert "7 lines could not be understood" in " ".join(found.sentences)
    assert found.unparsed == (Unread("no log record", 7, "java.io.IOException"),)
    assert [entry.name for entry in found.files] == ["broker-1.log", "broker-2.log"]


def test_coverage_says_what_the_lines_are_that_are_no_decision(given, read_cluster):
    given(other=[{"reason": "record of another logger", "lines": 10, "sample": "x"}])

    told = coverage(read_cluster).sentences

    assert "190 lines are decisions, 10 are something else: 10 × record of another logger." in told


def test_coverage_counts_other_lines_where_the_result_does_not_say_what_they_are(given, read_cluster):
    given()

    assert "190 lines are decisions, 10 are something else." in coverage(read_cluster).sentences


def test_coverage_names_the_brokers_that_do_not_log_permits(given, read_cluster):
    given(files=[file("broker-1.log", permits=9), file("broker-2.log")])

    assert "Permits are missing in broker-2.log" in " ".join(coverage(read_cluster).sentences)


@pytest.mark.parametrize(
    "declared, seen, kinds",
    [
        ("User:admin", {"User:admin": 3}, ["confirms"]),
        ("User:admin", {"User:root": 3}, ["contradicts"]),
        (None, {"User:root": 3}, ["suggests"]),
        ("User:admin", {}, []),
    ],
)
def test_super_users_of_the_log_confirm_or_contradict_the_declared_ones(
    given, read_cluster, declared, seen, kinds
):
    read_cluster.super_users = declared
    given(declarations={"super_users": seen, "default_allow": 0, "default_deny_uncovered": 0})

    assert [check.kind for check in declarations(read_cluster)] == kinds


@pytest.mark.parametrize(
    "declared, allowed, refused, kinds",
    [
        (False, 0, 4, ["confirms"]),
        (False, 4, 0, ["contradicts"]),
        (True, 4, 0, ["confirms"]),
        (None, 0, 4, ["suggests"]),
        (True, 0, 0, []),
    ],
)
def test_the_default_mode_is_confirmed_or_contradicted(
    given, read_cluster, declared, allowed, refused, kinds
):
    read_cluster.allow_everyone = declared
    given(declarations={"super_users": {}, "default_allow": allowed, "default_deny_uncovered": refused})

    assert [check.kind for check in declarations(read_cluster)] == kinds


def test_levels_of_logs_are_confirmed_or_contradicted_by_their_last_days(given, read_cluster):
    before = [day | {"permits": 30} for day in log_days("was-debug", last=LAST - timedelta(days=8))]
    after = [day | {"permits": 0} for day in log_days("was-debug", first=LAST - timedelta(days=7))]
    silent = [day | {"permits": 0} for day in log_days("silent")]
    levels = {"was-debug": "INFO", "silent": "DEBUG", "b1": "DEBUG", "b2": "INFO", "unread": "INFO"}
    given(levels=levels, coverage=[*before, *after, *silent, *log_days("b1"), *log_days("b2")])

    assert [(check.kind, check.sentence) for check in declarations(read_cluster)] == [
        (
            "contradicts",
            "silent is declared to log permits (DEBUG), but has no permit in the last 7 days of the log.",
        ),
        ("confirms", "b1 is declared to log permits (DEBUG), and has permits in the last 7 days of the log."),
        (
            "confirms",
            "was-debug is declared to log denials only (INFO), and has no permit in the last 7 days of the log.",
        ),
        (
            "contradicts",
            "b2 is declared to log denials only (INFO), but has permits in the last 7 days of the log.",
        ),
    ]


def test_a_log_at_info_is_the_reason_to_call_nothing_unused(given, read_cluster):
    given(levels={"b2": "INFO"}, coverage=[*log_days("b1"), *log_days("b2", permit_hours=())])

    assert coverage(read_cluster).reason == "b2 is declared to log denials only (INFO)"


@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks SQLite how it would search")
def test_acls_are_dated_by_the_index_of_their_keys(given):
    cluster = given().cluster
    keys = [binding_key(binding) for binding in BINDINGS]
    sync(cluster, client=FakeCluster(BINDINGS[1:], topics=["orders"]))
    cluster.refresh_from_db()

    found = {key: number for key, _, number, _ in unused.dated(cluster, keys)}

    assert found == dict.fromkeys(keys[1:], 1)
    assert "one_row_an_acl_in_force (cluster_id=? AND key=?)" in unused.dated(cluster, keys).explain()
