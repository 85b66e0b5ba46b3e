"""Do the transforms of the usage job give what their docstrings say, on three rows each?"""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.notation.files import binding_key
from aclweb.pipeline import schemas, totals, usage
from aclweb.pipeline.coverage import added, in_span
from aclweb.pipeline.decisions import shipped
from aclweb.pipeline.folding import Rows
from aclweb.pipeline.record_lines import TEXT_LENGTH
from aclweb.pipeline.seen import counted_in, parted, seen_requests, uses
from aclweb.pipeline.sums import Facts
from tests.builders import allow
from tests.pipeline.made_logs import in_lists

pytestmark = pytest.mark.spark

REQUEST = {
    "principal": "User:bob",
    "host": "10.0.0.7",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "orders",
}
MORNING, NOON, EVENING = (datetime(2026, 11, 20, hour) for hour in (8, 12, 20))
UNTIL = date(2026, 11, 22)
LINES = schemas.LINES
DECIDED = schemas.DECIDED
READS = allow("User:bob", "READ", "orders")


def of_file(**facts):
    """A row of what a file holds of a day."""
    row = {"file": "a.log", "day": "2026-11-20", "lines": 1, "hours": 0, "not_utf8": False}
    row |= {"first_us": micros(MORNING), "last_us": micros(NOON)}
    return row | {"kind": "decision", "allowed": True, "ambiguous": False} | facts


def text(*, day="2026-11-20", lines=1, last_at=NOON, more_days=(), broker=None, **facts):
    """A row of a text that was written on one day, and on more of them."""
    days = [(broker, day, lines, micros(MORNING), micros(last_at)), *more_days]
    row = {"raw": "text", "lines": sum(entry[2] for entry in days), "not_utf8": False, "days": days}
    row |= {"first_us": micros(MORNING), "last_us": max(entry[4] for entry in days)}
    return row | {"kind": "decision", "allowed": True, "ambiguous": False, **REQUEST} | facts


def seen_in(spark, logged, *bindings):
    """What the requests of the log were answered, and what these ACLs answer."""
    from tests.pipeline.test_load_bearing import snapshot_of

    snapshot = spark.sparkContext.broadcast(shipped(snapshot_of(list(bindings))))
    return seen_requests(Rows(logged), snapshot)


def micros(moment):
    return round((moment - datetime(1970, 1, 1)).total_seconds()) * 1_000_000


def frame(spark, rows, schema):
    from pyspark.sql.types import StructType

    fields = StructType.fromDDL(schema)
    return spark.createDataFrame([tuple(row.get(name) for name in fields.names) for row in rows], fields)


def test_requests_are_put_together_over_files_and_days(spark):
    next_day = (None, "2026-11-21", 2, micros(MORNING), micros(NOON))
    lines = [
        of_file(lines=17),
        text(lines=2, api_name="Fetch", raw="z"),
        text(
            lines=1,
            last_at=EVENING,
            more_days=[next_day],
            api_name="Metadata",
            raw="y" * TEXT_LENGTH + "later",
        ),
        text(lines=5, allowed=False, api_name="Fetch", raw="refused"),
        text(kind="probe", lines=7),
    ]
    found = parted(seen_in(spark, totals.logged_in(frame(spark, lines, LINES)), READS)).requests.collect()

    allowed = next(row for row in found if row.allowed)
    refused = next(row for row in found if not row.allowed)
    assert len(found) == 2
    assert (allowed.lines, refused.lines) == (5, 5)
    assert (allowed.first_at, allowed.last_at) == (MORNING, EVENING)
    assert allowed.api_names == ["Fetch", "Metadata"]
    assert [(entry.day, entry.lines) for entry in allowed.days] == [("2026-11-20", 3), ("2026-11-21", 2)]
    assert allowed.sample == "[2026-11-20 20:00:00,000] " + "y" * TEXT_LENGTH
    assert refused.sample == "[2026-11-20 12:00:00,000] refused"
    assert (allowed.differs, refused.differs) == (False, True)
    assert (refused.decided_now, refused.basis_now) == ("ALLOWED", "ALLOW_ACL")
    assert refused.determining == refused.one_of == [binding_key(READS)]


def test_samples_with_rows_of_their_own_say_nothing_else_of_a_request(spark):
    access = [
        {**REQUEST, "day": "2026-11-20", "allowed": True, "lines": 2}
        | {"first_us": micros(MORNING), "last_us": micros(NOON)}
    ]
    samples = [
        {**REQUEST, "allowed": True, "last_us": micros(MORNING), "raw": "older"},
        {**REQUEST, "allowed": True, "last_us": micros(EVENING), "raw": "of another day"},
        {**REQUEST, "allowed": False, "last_us": micros(EVENING), "raw": "refused on another day"},
    ]
    rows = totals.logged_on(
        in_lists(frame(spark, access, schemas.ACCESS)), frame(spark, samples, schemas.SAMPLES)
    )

    (found,) = parted(seen_in(spark, rows, READS)).requests.collect()

    assert (found.lines, found.last_at, [entry.day for entry in found.days]) == (2, NOON, ["2026-11-20"])
    assert found.sample == "[2026-11-20 20:00:00,000] of another day"
    assert found.api_names == []


def test_an_acl_is_used_where_it_settles_what_the_log_says_and_nowhere_else(spark):
    import pyarrow as pa

    lists, moments = pa.list_(pa.string()), [micros(at) for at in (NOON, EVENING, NOON)]
    used = uses(
        pa.array([["a"], ["a", "b"], ["a"]], lists),
        pa.array([["a"], ["a", "b"], ["a"]], lists),
        np.array([True, True, False]),
        Facts(*(np.array(column) for column in ([2, 3, 5], [micros(MORNING)] * 3, moments, [0] * 3))),
    )
    named = [("b", 4, micros(NOON)), ("gone", 6, micros(EVENING))]
    rows = [*used.to_pylist()] + [
        {"binding_key": key, "named": lines, "first_named_us": last, "last_named_us": last}
        for key, lines, last in named
    ]
    told = frame(spark, rows, schemas.USES.replace(":", ""))
    found = {row.binding_key: row for row in usage.usage(told).collect()}

    assert (found["a"].requests, found["a"].alone, found["a"].named) == (5, 2, 0)
    assert (found["b"].requests, found["b"].alone, found["b"].named) == (3, 0, 4)
    assert (found["gone"].requests, found["gone"].alone, found["gone"].named) == (0, 0, 6)
    assert (found["a"].needed, found["a"].replaceable_by) == (2, [])
    assert (found["b"].needed, found["b"].replaceable_by) == (0, ["a"])
    assert found["a"].last_at == EVENING
    assert found["gone"].last_at == EVENING


def test_a_file_tells_what_it_holds_and_from_when_to_when_permits_are_in_it(spark):
    untimed = {"day": None, "first_us": None, "last_us": None, "allowed": None}
    lines = [
        of_file(lines=2, allowed=False),
        of_file(lines=3, first_us=micros(NOON), last_us=micros(EVENING)),
        of_file(kind="unparsed", **untimed),
        of_file(day="0001-01-01", first_us=-62_135_596_800_000_000, last_us=-62_135_596_800_000_000),
        of_file(day="9999-12-31", first_us=253_402_214_400_000_000, last_us=253_402_214_400_000_000),
        of_file(lines=9, file="b.log", allowed=False),
        text(lines=17, last_at=EVENING),
    ]

    rows = [row.asDict() for row in totals.coverage(frame(spark, lines, LINES)).collect()]
    held = {row["file"]: row for row in added(rows, "file")}
    spans = {row["file"]: row for row in added(in_span(rows, UNTIL), "file")}

    assert [held["a.log"][name] for name in ("lines", "decisions", "unparsed")] == [8, 7, 1]
    assert (spans["a.log"]["permits"], spans["a.log"]["first_permit_us"]) == (3, micros(NOON))
    assert (spans["a.log"]["first_us"], spans["a.log"]["last_us"]) == (micros(MORNING), micros(EVENING))
    assert (spans["b.log"]["permits"], spans["b.log"]["first_permit_us"]) == (0, None)


def test_a_day_of_a_file_tells_in_which_hours_it_has_records_and_permits(spark):
    lines = [
        of_file(lines=2, allowed=False, hours=1 << 3),
        of_file(lines=3, hours=1 << 0 | 1 << 23),
        of_file(lines=4, kind="other", allowed=None, hours=1 << 5),
        of_file(lines=9, day="9999-12-31", hours=1),
    ]

    rows = totals.coverage(frame(spark, lines, LINES)).collect()
    (found,) = in_span([row.asDict() for row in rows], UNTIL)

    assert (found["file"], found["day"]) == ("a.log", "2026-11-20")
    assert (found["lines"], found["decisions"], found["permits"]) == (9, 5, 3)
    assert found["hours"] == 1 << 0 | 1 << 3 | 1 << 5 | 1 << 23
    assert found["permit_hours"] == 1 << 0 | 1 << 23


def test_reasons_that_brokers_give_become_facts_about_declarations(spark):
    lines = [
        text(lines=2, broker_rule="SuperUser"),
        text(lines=3, broker_rule="DefaultDeny", allowed=False),
        text(lines=4, broker_rule="DefaultAllow"),
        text(lines=7, broker_rule="DefaultDeny", allowed=False, principal="User:eve", resource_name="news"),
        text(lines=8, broker_rule="MatchingAcl"),
    ]
    # Eve's request meets an ACL, so that its denial says nothing of the default.
    other = allow("User:x", "READ", "news")
    logged = totals.logged_in(frame(spark, lines, LINES))
    found = counted_in(seen_in(spark, logged, other)).facts

    assert {(row.fact, row.principal): row.lines for row in found} == {
        ("super_user", "User:bob"): 2,
        ("default_allow", None): 4,
        ("default_deny", None): 3,
    }
    assert "MatchingAcl" in {row.broker_rule for row in totals.asked_in(logged).collect()}


def test_what_was_not_understood_is_counted_by_reason_with_a_sample(spark):
    lines = [
        text(kind="unparsed", reason="no log record", raw="b", lines=2),
        text(kind="unparsed", reason="no log record", raw="a", lines=3),
        text(kind="other", reason="record of another logger", raw="c", lines=4, not_utf8=True),
        text(kind="other", reason="note", noted="User:root", raw="d", lines=5, principal=None),
        text(raw="e", lines=5, not_utf8=True),
    ]

    found = totals.notes(frame(spark, lines, LINES)).collect()

    assert {(row.kind, row.reason, row.noted, row.lines, row.sample) for row in found} == {
        ("unparsed", "no log record", None, 5, "a"),
        ("other", "record of another logger", None, 4, "c"),
        ("other", "note", "User:root", 5, "d"),
        ("not_utf8", None, None, 9, "c"),
    }


def test_the_last_acl_on_a_name_that_would_open_is_called_needless_by_nobody():
    import pyarrow as pa

    from tests.pipeline.test_load_bearing import snapshot_of

    pay, covered = allow("User:bob", "READ", "pay"), allow("User:c", "READ", "news")
    bindings = [pay, covered, allow("User:c", "READ", "n", pattern="PREFIXED")]
    rows = [
        {"binding_key": binding_key(each), "needed": 0, "replaceable_by": ["a"]} for each in (pay, covered)
    ]
    rows.append({"binding_key": "gone", "needed": 0, "replaceable_by": []})
    table = pa.Table.from_pylist(rows)

    opened = usage.without_last_covers(table, snapshot_of(bindings, AuthorizerSettings(allow_everyone=True)))

    assert [(row["needed"], row["replaceable_by"]) for row in opened.to_pylist()] == [
        (None, []),
        (0, ["a"]),
        (0, []),
    ]
    assert usage.without_last_covers(table, snapshot_of(bindings)).equals(table)
