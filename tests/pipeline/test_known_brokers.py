"""What brokers are called, and which are gone: is it read from a file, and heard where an ACL may be called unused?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from aclweb.acl.logged.evidence import ALL_HOURS, BrokerDay, Wanted, evidence_in, with_gone
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.known_brokers import read_brokers
from aclweb.pipeline.log_sources import LogSource, broker_levels

FIRST = date(2026, 10, 1)


def written(tmp_path, content) -> object:
    path = tmp_path / "brokers.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_broker_has_the_name_of_its_log_and_the_day_since_which_it_is_gone(tmp_path):
    path = written(
        tmp_path,
        [
            {"broker": "kafka-1", "path": "/logs/1/authorizer.log.2026-11-20.gz", "level": "INFO"},
            {"broker": "kafka-2", "gone_since": "2026-11-01"},
        ],
    )

    known = read_brokers(path)

    assert known.names == {"/logs/1/authorizer.log": "kafka-1"}
    assert known.gone == {"kafka-2": date(2026, 11, 1)}
    assert known.levels == {"/logs/1/authorizer.log": "INFO"}


@pytest.mark.parametrize(
    "content, told",
    [
        ("{", "cannot be read"),
        ({"broker": "b"}, "is no JSON list"),
        ([{"path": "/logs/b"}], "The broker of broker 1 is None; write a text."),
        (
            [{"broker": "b", "since": "x"}],
            "Broker 1 has 'since'; write an object with broker, path, level, gone_since.",
        ),
        (["b"], "Broker 1 has 'b'; write an object"),
        ([{"broker": "b", "path": "a", "level": "WARN"}], "'WARN' is no level; use DEBUG or INFO."),
        ([{"broker": "b", "gone_since": "Monday"}], "'Monday'; write a day such as 2026-11-30."),
    ],
)
def test_a_file_that_is_none_gets_a_sentence(tmp_path, content, told):
    with pytest.raises(SourceError, match=told.replace(".", r"\.")):
        read_brokers(written(tmp_path, content))


def days_of(broker: str, days: int) -> list[BrokerDay]:
    return [BrokerDay(broker, FIRST + timedelta(days=day), ALL_HOURS, ALL_HOURS) for day in range(days)]


def why_not(found, at_info=()) -> set[str]:
    evidence = evidence_in(
        found,
        first_at=datetime(2026, 10, 1),
        last_at=datetime(2026, 11, 9, 23),
        permits_seen=True,
        wanted=Wanted(),
        at_info=at_info,
    )
    return set(evidence.why_not.values())


def test_a_broker_that_is_gone_is_missed_until_that_day_only():
    found = [*days_of("a", 40), *days_of("b", 20)]
    last, stopped = FIRST + timedelta(days=39), FIRST + timedelta(days=20)

    assert any("b: permits in" in reason for reason in why_not(found))
    assert why_not(with_gone(found, {"b": stopped}, last)) == {""}
    assert why_not(with_gone(found, {"b": stopped + timedelta(days=9)}, last)) != {""}, "it was silent before"


def test_a_broker_that_has_written_since_is_not_gone():
    found = [*days_of("a", 40), *days_of("b", 20), BrokerDay("b", FIRST + timedelta(days=30), 1, 1)]

    assert list(with_gone(found, {"b": FIRST + timedelta(days=20)}, FIRST + timedelta(days=39))) == found


def test_a_broker_that_the_log_does_not_name_adds_nothing():
    found = days_of("a", 3)

    assert list(with_gone(found, {"c": FIRST}, FIRST + timedelta(days=2))) == found


def test_a_broker_at_info_is_the_reason_unless_it_logs_permits_all_the_same():
    without = [replace(each, broker="b", permit_hours=0) for each in days_of("a", 40)]

    reasons = why_not([*days_of("a", 40), *without], at_info=["a", "b"])

    assert reasons == {"b is declared to log denials only (INFO)", ""}, (
        "a is declared wrongly; denials are whole"
    )


def test_a_broker_has_no_level_where_its_logs_have_two():
    one, two = LogSource("/a", level="INFO"), LogSource("/b", level="DEBUG")

    assert broker_levels({"/l/1/x.log": one, "/l/1/x.log.1.gz": one, "/l/2/x.log": two}) == {
        "/l/1/x.log": "INFO",
        "/l/2/x.log": "DEBUG",
    }
    assert broker_levels({"/l/1/x.log": one, "/l/1/x.log.1.gz": two}) == {}
