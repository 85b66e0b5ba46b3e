"""Does the demo's log look like one that brokers of this company would write?"""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest
from aclweb.acl.notation.authorizer_log import AccessEvent, NotDecision, parse_record, records
from devstack.demo import company, traffic

UNTIL = date(2026, 11, 21)


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> list[str]:
    paths = traffic.write_log(tmp_path_factory.mktemp("logs"), until=UNTIL)
    return [_text(path) for path in paths]


@pytest.fixture(scope="module")
def parsed(logs) -> list[AccessEvent | NotDecision]:
    return [parse_record(record) for text in logs for record in records(text.splitlines(keepends=True))]


@pytest.fixture(scope="module")
def events(parsed) -> list[AccessEvent]:
    return [found for found in parsed if isinstance(found, AccessEvent)]


def test_the_log_has_about_two_hundred_thousand_lines_in_two_files(logs):
    assert len(logs) == 2
    assert 180_000 <= sum(text.count("\n") for text in logs) <= 220_000


def test_the_same_day_gives_the_same_bytes(tmp_path, logs):
    again = traffic.write_log(tmp_path, until=UNTIL)

    assert [_text(path) for path in again] == logs
    assert {path.name for path in tmp_path.iterdir()} == set(traffic.FILES)


def test_the_log_covers_fourteen_days_and_ends_the_day_before(events):
    days = sorted({event.time[:10] for event in events})

    assert len(days) == traffic.DAYS
    assert days[0] == "2026-11-07"
    assert days[-1] == "2026-11-20"


def test_the_lines_of_each_broker_are_in_order_of_time(logs):
    for text in logs:
        stamps = [line[1:24] for line in text.splitlines() if line.startswith("[2026") and len(line) > 30]
        assert stamps == sorted(stamps)


def test_every_line_of_a_decision_is_of_the_zookeeper_authorizer(events):
    assert {event.family for event in events} == {"acl"}
    assert not any(event.ambiguous for event in events)


def test_a_full_disk_cut_off_a_few_lines(parsed):
    reasons = Counter(found.reason for found in parsed if isinstance(found, NotDecision))

    notes = sum(count for reason, count in reasons.items() if reason.startswith("note "))
    broken = sum(count for reason, count in reasons.items() if not reason.startswith("note "))
    assert notes > 50_000
    assert 1 <= broken <= 20


def test_working_hours_are_busier_than_the_night(events):
    hours = Counter(int(event.time[11:13]) for event in events)

    assert hours[10] > 2 * hours[4]


def test_todays_acls_answer_nearly_every_line_as_the_log_does(events):
    settings = AuthorizerSettings.read(
        authorizer=company.authorizer(),
        kafka_version=company.kafka_version(),
        config={"super.users": company.super_users()},
    )
    index = AclIndex(company.bindings())
    lines = Counter(
        (
            event.principal,
            event.host,
            event.operation,
            event.resource_type,
            event.resource_name,
            event.allowed,
        )
        for event in events
        if event.ref_count
    )

    differs = Counter()
    for (*asked, allowed), count in lines.items():
        if authorize(AccessRequest(*asked), index, settings).allowed != allowed:
            differs[asked[0]] += count

    assert set(differs) == {"User:jlund", "User:returns-portal"}
    assert 50 < differs.total() < 500


def test_both_answers_and_a_probe_are_in_the_log(events):
    refused = sum(not event.allowed for event in events)

    assert 1_000 < refused < len(events) / 20
    assert any(event.resource_name == "NONE" and event.ref_count == 0 for event in events)


def test_most_acls_are_used_and_some_are_idle(events):
    used = {event.principal for event in events if event.allowed}
    holders = {binding.principal for binding in company.bindings()}

    assert {"User:crm-sync", "User:CN=fraud-detector, OU=risk, O=Nordhavn"} <= holders - used
    assert len(holders & used) > 35


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
