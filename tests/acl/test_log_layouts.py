"""Every layout in which brokers log is read as Kafka's own, as log4j 2 and reload4j really write it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.model import NotationError
from aclweb.acl.notation import (
    KAFKA,
    LAYOUTS,
    LONGEST_RECORD,
    SOME_TIME,
    UNKNOWN,
    UNREADABLE,
    AccessEvent,
    LogTime,
    NotDecision,
    detected,
    events_in,
    layout_of,
    of_pattern,
    parse_record,
)
from aclweb.acl.notation.authorizer_log import LOGGER, records
from tests.hostile import round_trip
from tests.layouts.framing import FRAMED, framed
from tests.layouts.recorded import COUNT, WRITTEN, ZONE, Written, cases, recorded
from tests.pipeline.test_sources import log

NAMED = [written for written in WRITTEN if not written.layout.startswith("pattern:")]
UNFRAMED = [written for written in NAMED if "+" not in written.layout]
MESSAGE = (
    "Principal = User:a is Allowed operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:x for request = "
    "Fetch with resourceRefCount = 1 based on rule DefaultAllow"
)
DECISION = {
    "time": "2026-11-20T10:00:00.123+01:00",
    "principal": "User:a",
    "host": "10.0.0.7",
    "operation": "Read",
    "resourceType": "TOPIC",
    "resourceName": "x",
    "allowed": True,
}


def lines_of(file: str) -> list[str]:
    return recorded()[file].decode().split("\n")


def truth() -> list[AccessEvent | NotDecision]:
    """What Kafka's own layout says of each event."""
    return [
        parse_record(f"{SOME_TIME}{case['level']} {case['message']} ({case['logger']})") for case in cases()
    ]


def micros(case: dict[str, object], zone: str) -> int:
    """The time of an event as a clock of the zone shows it."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(str(case["millis"])))
    shown = at.astimezone(ZoneInfo(zone)).replace(tzinfo=UTC)
    return (shown - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_the_recorded_events_are_hostile():
    messages = [case["message"] for case in cases()]

    assert len(messages) == COUNT
    assert len(set(messages)) > COUNT * 0.8
    assert sum("\n" in message for message in messages) > 50
    assert sum(f" ({LOGGER})" in message for message in messages) > 10
    assert sum(isinstance(event, AccessEvent) and event.ambiguous for event in truth()) > 10


@pytest.mark.parametrize("written", WRITTEN, ids=lambda written: written.file)
def test_no_record_that_log4j_wrote_is_read_wrongly(written: Written):
    found = list(layout_of(written.layout).read(lines_of(written.file)))

    assert len(found) == COUNT
    unsure = 0
    for record, case, true in zip(found, cases(), truth(), strict=True):
        assert record.time == LogTime(micros(case, "UTC" if written.has_zone else ZONE), written.has_zone)
        event = parse_record(SOME_TIME + record.text)
        if event == NotDecision(UNREADABLE) and true != event:
            # Where nothing stands behind the message, nobody knows where a name over several lines ends.
            unsure += 1
            assert written.option.endswith("%m%n")
            assert case["message"].endswith("\r") or "\n" in case["message"]
        elif isinstance(event, AccessEvent) and isinstance(true, AccessEvent):
            assert replace(event, level=true.level) == true
        else:
            assert event == true
    assert unsure < COUNT / 10


@pytest.mark.parametrize("frame", FRAMED)
@pytest.mark.parametrize("written", UNFRAMED, ids=lambda written: written.file)
def test_what_a_container_or_syslog_puts_around_a_log_changes_nothing(written: Written, frame: str):
    lines = lines_of(written.file)[:600]
    whole = [record for record in layout_of(written.layout).read(lines) if record.time]

    around = framed(frame, lines)
    found = list(layout_of(f"{frame}+{written.layout}").read(around))

    assert [record.text for record in found if record.time] == [record.text for record in whole]
    assert [record.time for record in found if record.time] == [record.time for record in whole]
    assert sum(record.lines for record in found) <= len(around)


@pytest.mark.parametrize(
    ("written", "frame"),
    [*((written, "") for written in NAMED), *((written, frame) for written in UNFRAMED for frame in FRAMED)],
)
def test_the_layout_of_a_log_is_found(written: Written, frame: str):
    lines = lines_of(written.file)[:120]
    # A start-up report, a stack trace and a torn line stand between the records.
    lines = [
        "Preparing truststore",
        "",
        *lines[:40],
        "java.io.IOException: x",
        "\tat a.B",
        lines[40][:9],
        *lines[40:],
    ]

    expected = f"{frame}+{written.layout}" if frame else written.layout
    assert detected(framed(frame, lines) if frame else lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["", " "],
        ["2026/11/20 10:00 Principal = User:a is Allowed", "x"],
        ["{", "}"],
        ['{"a": 1}'],
        ["[" * 100_000],
        ["\x00" * 100],
    ],
)
def test_a_layout_that_nobody_knows_is_unknown_and_each_line_counts(lines):
    assert detected(lines) == UNKNOWN

    found = list(layout_of(UNKNOWN).read(lines))

    assert [record.text for record in found] == [line for line in lines if line.strip()]
    assert all(record.time is None for record in found)


@round_trip
@given(log())
def test_kafkas_own_layout_is_read_as_the_core_reads_it(made):
    lines = made[0].decode("utf-8", "replace").split("\n")

    found = [record.text for record in layout_of(KAFKA).read(lines)]

    assert found == [_behind_its_time(record) for record in records(lines)]


def _behind_its_time(record: str) -> str:
    body = layout_of(KAFKA).body
    assert body is not None
    return record[len(SOME_TIME) :] if body.starts(record) else record


@round_trip
@given(st.lists(st.text(), max_size=8), st.sampled_from([*LAYOUTS, UNKNOWN]))
def test_no_text_stops_a_reader_and_no_line_is_lost(lines, name):
    lines = [part for line in lines for part in line.split("\n")]

    found = list(layout_of(name).read(lines))

    assert sum(record.lines for record in found) <= len(lines)
    assert all(record.text.encode() for record in found)
    list(events_in(lines, layout_of(name)))
    detected(lines)


def test_a_torn_or_foreign_line_in_a_log_of_json_costs_itself():
    whole = json.dumps(
        {"@timestamp": "2026-11-20T10:00:00Z", "log.level": "INFO", "message": MESSAGE, "log.logger": LOGGER}
    )
    lines = [whole, whole[:60], whole, "OpenJDK warning }", "x", whole, '{"other": 1}', whole]

    found = list(layout_of("ecs").read(lines))

    assert [record.time is not None for record in found] == [
        True,
        False,
        True,
        False,
        False,
        True,
        False,
        True,
    ]


def test_parts_of_two_streams_are_joined_apart():
    record = f"[2026-11-20 10:00:00,000] DEBUG {MESSAGE} ({LOGGER})"
    at = "2026-11-20T09:00:00.000000001Z"
    lines = [
        f"{at} stdout P {record[:50]}",
        f"{at} stderr F a warning",
        f"{at} stdout P {record[50:90]}",
        f"{at} stdout F {record[90:]}",
        f"{at} stdout P {record[:50]}",
    ]

    layout = layout_of("cri+kafka")
    found = list(layout.read(lines))

    assert [one.text for one in found if one.time] == [record[len(SOME_TIME) :], "DEBUG Principal = User:a"]
    assert [one.text for one in found if not one.time] == ["a warning"]
    assert layout.goes_on(lines[0])
    assert not layout.goes_on(lines[3])
    assert not found[-1].is_whole


def test_a_time_without_a_day_is_that_of_what_is_around_the_line():
    name = of_pattern("%d{ABSOLUTE} %p %m (%c)%n")
    line = f"10:00:00,000 DEBUG {MESSAGE} ({LOGGER})"

    plain = next(layout_of(name).read([line]))
    inside = next(layout_of(f"cri+{name}").read([f"2026-11-20T09:00:00.5Z stdout F {line}"]))

    assert plain.time == LogTime(None, is_utc=False)
    assert inside.time == LogTime(1_795_165_200_500_000, is_utc=True)


def test_what_has_no_end_within_16_mb_is_cut():
    line = "x" * (1 << 20)
    lines = [
        f"[2026-11-20 10:00:00,000] INFO {line}",
        *[line] * 40,
        f"[2026-11-20 10:00:00,000] DEBUG {MESSAGE} ({LOGGER})",
    ]

    found = list(layout_of("docker+kafka").read(lines))

    assert max(len(record.text) for record in found) <= LONGEST_RECORD
    assert isinstance(parse_record(SOME_TIME + found[-1].text), AccessEvent)


@pytest.mark.parametrize(
    ("pattern", "time"),
    [
        ("%d{dd.MM.yy h:mm:ss.SSS a} %m%n", "20.11.26 9:00:00.250 PM"),
        ("%date{yyyy-MM-dd'T'HH:mm:ss.SSSZ} %msg%n", "2026-11-20T22:00:00.250+0100"),
        ("%d{yyyyMMdd HHmmss.SSS z} %m%n", "20261120 210000.250 UTC"),
        ("%d{UNIX_MILLIS} %m%n", "1795208400250"),
        ("%d{EEE d MMM yyyy 'at' HH:mm:ss,nnnnnn}{GMT+1} %m%n", "Fri 20 Nov 2026 at 22:00:00,250000"),
    ],
)
def test_a_time_is_read_as_the_pattern_says(pattern, time):
    (event,) = events_in([f"{time} {MESSAGE}"], layout_of(of_pattern(pattern)))

    assert isinstance(event, AccessEvent)
    assert event.time is not None
    assert event.time.removesuffix("Z") == "2026-11-20 21:00:00,250"
    assert event.level is None


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("[%d] %p (%c)%n", "has no message (%m)"),
        ("%m %d%n", "does not say where a record starts; put the time (%d) before the message (%m)"),
        ("[%d] %.50m%n", "cuts or changes the message (%m)"),
        ("[%d] %enc{%m}{JSON}%n", "has %enc, which cannot be read back"),
        ("[%d] %highlight{%p} %m%n", "has %highlight, which cannot be read back"),
        ("[%d] %m%n%p", "has something behind %n; a record has to end there"),
        ("[%d] %d %m%n", "has %d twice"),
        ("[%d] %m %c{1.2.*}%n", "has %c{1.2.*}, which cannot be read back"),
        (
            "[%d{HH:mm w}] %m%n",
            "has 'w', which cannot be read back; use one such as yyyy-MM-dd HH:mm:ss,SSS.",
        ),
        ("%d{ISO8601}{Mars/North} %m%n", "'Mars/North' is no time zone; write it as Europe/Berlin or GMT+1."),
        ("100 % %d %m%n", "which log4j does not write"),
    ],
)
def test_a_pattern_that_cannot_be_read_back_is_refused_with_a_sentence(pattern, told):
    with pytest.raises(NotationError) as error:
        of_pattern(pattern)

    assert told in str(error.value)


def test_decision_records_are_read_whatever_their_names_hold():
    name = f'"}} ({LOGGER}) for request = x\n[2026-11-20 10:00:00,000] INFO \ud800'
    lines = [
        json.dumps(DECISION | {"resourceName": name, "api": "Fetch"}),
        json.dumps(DECISION | {"allowed": "yes"}),
    ]

    event, other = events_in(lines, layout_of("decisions"))

    assert detected(lines) == "decisions"
    assert isinstance(event, AccessEvent)
    assert (event.time, event.resource_name) == ("2026-11-20 09:00:00,123Z", name.replace("\ud800", "?"))
    assert (event.api_name, event.allowed, event.ambiguous, event.level) == ("Fetch", True, False, None)
    assert isinstance(other, NotDecision)


@pytest.mark.parametrize(
    "wrong",
    [
        {"principal": 1},
        {"host": None},
        {"allowed": 1},
        {"patternType": "SOME"},
        {"api": 7},
        {"resourceName": ["x"]},
    ],
)
def test_a_decision_record_that_lacks_something_is_no_decision(wrong):
    (found,) = events_in([json.dumps(DECISION | wrong)], layout_of("decisions"))

    assert isinstance(found, NotDecision)


def test_a_name_of_no_layout_is_refused_with_those_there_are():
    with pytest.raises(NotationError, match=r"'log5j' is no layout; use kafka, strimzi, json"):
        layout_of("log5j")
