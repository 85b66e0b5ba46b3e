"""Authorizer logs of every family are read; what cannot be read for sure says so."""

from __future__ import annotations

import re
from dataclasses import replace
from time import process_time_ns

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.notation.authorizer_log import (
    MATCH_NOTE,
    NO_ACL_NOTE,
    NO_LAYOUT,
    OTHER_LOGGER,
    SUPER_USER_NOTE,
    UNREADABLE,
    AccessEvent,
    NotDecision,
    parse_record,
    parse_suffix,
    records,
)
from tests.hostile import round_trip
from tests.log_records import FAMILIES, decisions, message_of, printed
from tests.real_outputs import real_output

LAYOUT = "[2026-11-21 13:28:48,372] DEBUG {} (kafka.authorizer.logger)"
STANDARD = (
    "Principal = {principal} is Denied operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:{name} "
    "for request = Fetch with resourceRefCount = 3 based on rule {rule}"
)
ACL_FAMILY = (
    "Principal = {principal} is Allowed Operation = DescribeConfigs from host = 0:0:0:0:0:0:0:1 "
    "on resource = TransactionalId:LITERAL:{name} for request = 99 with resourceRefCount = 1"
)
IMITATION = "x is Denied operation = READ from host = 1.2.3.4 on resource = Topic:LITERAL:y"


def read(message: str) -> AccessEvent | NotDecision:
    return parse_record(LAYOUT.format(message))


def rule_of(acl: AclBinding, *, brackets: str) -> str:
    return (
        f"MatchingAcl(acl=StandardAcl{brackets[0]}resourceType={acl.resource_type.name}, "
        f"resourceName={acl.resource_name}, patternType={acl.pattern_type.name}, principal={acl.principal}, "
        f"host={acl.host}, operation={acl.operation.name}, permissionType={acl.permission_type.name}{brackets[1]})"
    )


@pytest.mark.parametrize(
    ("name", "decisions", "notes", "ambiguous"),
    [
        ("acl-3.9.2", 75, 75, 0),
        ("standard-4.0.2", 29, 0, 0),
        ("standard-4.1.2", 28, 0, 0),
        ("standard-4.3.1", 32, 0, 0),
        ("standard-4.4.0", 200, 0, 0),
        ("standard-4.4.0-odd", 82, 0, 7),
    ],
)
def test_every_record_of_a_real_log_is_read(name, decisions, notes, ambiguous):
    log = real_output(f"audit/{name}.log")
    events = [parse_record(record) for record in records(log.splitlines(keepends=True))]

    assert sum(isinstance(event, AccessEvent) for event in events) == decisions
    assert [event.reason for event in events if isinstance(event, NotDecision)] == [SUPER_USER_NOTE] * notes
    assert sum(event.ambiguous for event in events if isinstance(event, AccessEvent)) == ambiguous


def test_the_broker_rule_of_a_real_log_names_the_acl_in_both_kinds_of_brackets():
    for name in ("standard-4.0.2", "standard-4.1.2", "standard-4.3.1", "standard-4.4.0-odd"):
        log = real_output(f"audit/{name}.log")
        events = [parse_record(record) for record in records(log.split("\n"))]
        named = [event for event in events if isinstance(event, AccessEvent) and event.rule == "MatchingAcl"]

        assert named
        for event in named:
            assert event.acl is not None
            assert event.acl.principal in (event.principal, "User:*") or event.ambiguous
            assert event.allowed == (event.acl.permission_type is PermissionType.ALLOW) or event.ambiguous


def test_a_real_group_name_with_a_line_break_is_read_whole():
    log = real_output("audit/standard-4.4.0-odd.log")
    events = [parse_record(record) for record in records(log.split("\n"))]

    found = [
        event for event in events if isinstance(event, AccessEvent) and event.resource_name == "line\nbreak"
    ]
    assert len(found) > 5
    assert {event.acl.resource_name for event in found if event.acl} == {"line\nbreak"}


def test_a_record_of_the_standard_authorizer_gives_all_its_parts():
    acl = AclBinding(
        ResourceType.TOPIC, "alp", PatternType.PREFIXED, "User:bob", "*", Operation.READ, PermissionType.DENY
    )
    event = read(STANDARD.format(principal="User:bob", name="alpha", rule=rule_of(acl, brackets="()")))

    assert event == AccessEvent(
        time="2026-11-21 13:28:48,372",
        level="DEBUG",
        principal="User:bob",
        allowed=False,
        operation=Operation.READ,
        host="10.0.0.7",
        resource_type=ResourceType.TOPIC,
        resource_name="alpha",
        pattern_type=PatternType.LITERAL,
        api_name="Fetch",
        ref_count=3,
        rule="MatchingAcl",
        acl=acl,
        family="standard",
        ambiguous=False,
    )


def test_a_record_of_the_zookeeper_authorizer_has_no_broker_rule():
    event = read(ACL_FAMILY.format(principal="User:alice", name="tx-1"))

    assert (event.family, event.rule, event.acl) == ("acl", None, None)
    assert (event.operation, event.resource_type) == (
        Operation.DESCRIBE_CONFIGS,
        ResourceType.TRANSACTIONAL_ID,
    )
    assert (event.api_name, event.ref_count, event.allowed) == ("99", 1, True)


@pytest.mark.parametrize(
    ("resource", "family", "pattern_type", "name"),
    [
        ("Topic:LITERAL:payments", "simple-2.0", PatternType.LITERAL, "payments"),
        ("Topic:payments", "simple-0.9", None, "payments"),
        ("Group:team:one", "simple-0.9", None, "team:one"),
    ],
)
def test_records_of_the_oldest_authorizers_end_with_the_resource(resource, family, pattern_type, name):
    event = read(
        f"Principal = User:alice is Denied Operation = Read from host = 192.168.0.1 on resource = {resource}"
    )

    assert (event.family, event.pattern_type, event.resource_name) == (family, pattern_type, name)
    assert (event.api_name, event.ref_count, event.rule) == (None, None, None)


def test_the_question_by_resource_type_is_read_as_logged():
    event = read(
        "Principal = User:a is Denied Operation = Write from host = 1.1.1.1 on resource = Topic:UNKNOWN:NONE "
        "for request = InitProducerId with resourceRefCount = 0"
    )

    assert (event.pattern_type, event.resource_name, event.ref_count) == (PatternType.UNKNOWN, "NONE", 0)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (
            LAYOUT.format("principal = User:a is a super user, allowing operation without checking acls."),
            SUPER_USER_NOTE,
        ),
        (
            LAYOUT.format(
                "operation = READ on resource = ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL) from "
                "host = 1.2.3.4 is ALLOW based on acl = User:a has ALLOW permission for operations: ALL from hosts: *"
            ),
            MATCH_NOTE,
        ),
        (
            LAYOUT.format(
                "No acl found for resource ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL), "
                "authorized = false"
            ),
            NO_ACL_NOTE,
        ),
        ("[2026-11-21 13:28:48,372] INFO Started. (kafka.server.KafkaServer)", OTHER_LOGGER),
        ("", NO_LAYOUT),
        ("\tat java.base/java.lang.Thread.run(Thread.java:840)", NO_LAYOUT),
        (LAYOUT.format("Principal = User:a is Allowed"), UNREADABLE),
        ("[2026-11-21 13:28:48,372] INFO Principal = User:a is Den", UNREADABLE),
        (
            LAYOUT.format(STANDARD.format(principal="User:a", name="t", rule="MatchingAcl(acl=null)")),
            UNREADABLE,
        ),
        (LAYOUT.format(STANDARD.format(principal="User:a", name="t", rule="Luck")), UNREADABLE),
    ],
)
def test_what_is_no_decision_says_why(record, reason):
    assert parse_record(record) == NotDecision(reason)


@pytest.mark.parametrize(
    ("message", "ambiguous"),
    [
        (STANDARD.format(principal="User:a", name="plain", rule="DefaultDeny"), False),
        (
            STANDARD.format(principal="User:a is Denied", name="on resource = Topic:", rule="DefaultDeny"),
            False,
        ),
        (STANDARD.format(principal="User:a", name=IMITATION, rule="DefaultDeny"), True),
        (STANDARD.format(principal=f"User:{IMITATION}", name="t", rule="DefaultDeny"), True),
        (
            STANDARD.format(
                principal="User:a", name="t for request = X with resourceRefCount = 1", rule="SuperUser"
            ),
            True,
        ),
        (ACL_FAMILY.format(principal="User:a", name="plain"), False),
        (ACL_FAMILY.format(principal="User:a", name="t for request = X with resourceRefCount = 1"), True),
        (ACL_FAMILY.format(principal="User:a for request = X with resourceRefCount = 1", name="t"), False),
    ],
)
def test_a_record_that_can_be_read_in_two_ways_says_so(message, ambiguous):
    assert read(message).ambiguous is ambiguous


@pytest.mark.parametrize(("template", "word"), [(STANDARD, "operation"), (ACL_FAMILY, "Operation")])
def test_a_name_that_imitates_a_record_without_pattern_type_does_not_hide_its_own(template, word):
    name = IMITATION.replace("operation", word).replace(":LITERAL", "")
    event = read(template.format(principal="User:a", name=name, rule="DefaultDeny"))

    assert (event.principal, event.resource_name, event.ambiguous) == ("User:a", name, True)


def test_a_record_of_the_oldest_authorizer_may_end_as_later_ones_do():
    event = read(
        "Principal = User:a is Denied Operation = Read from host = 10.0.0.7 on resource = "
        "Topic:t for request = Fetch with resourceRefCount = 1"
    )

    assert (event.family, event.resource_name) == (
        "simple-0.9",
        "t for request = Fetch with resourceRefCount = 1",
    )


def test_the_broker_rule_may_repeat_a_name_that_imitates_an_ending():
    name = "x for request = Fetch with resourceRefCount = 1 based on rule SuperUser"
    acl = AclBinding(
        ResourceType.GROUP, name, PatternType.LITERAL, "User:a", "*", Operation.READ, PermissionType.ALLOW
    )
    event = read(STANDARD.format(principal="User:a", name=name, rule=rule_of(acl, brackets="[]")))

    assert (event.resource_name, event.rule, event.acl) == (name, "MatchingAcl", acl)
    assert event.ambiguous


def test_a_suffix_is_read_like_its_record_without_time_and_level():
    message = STANDARD.format(principal="User:bob", name="alpha", rule="DefaultDeny")
    whole = read(message)

    for suffix in (message, f"{message} (kafka.authorizer.logger)"):
        event = parse_suffix(suffix)
        assert (event.time, event.level) == (None, None)
        assert event.as_dict() == whole.as_dict() | {"time": None, "level": None}


def test_records_are_joined_at_the_next_time_and_not_at_a_line_end():
    lines = ["stray\n", "\n", LAYOUT.format("a\nb") + "\n", LAYOUT.format("c") + "\r\n", "\n"]
    lines = "".join(lines).splitlines(keepends=True)

    assert list(records(lines)) == ["stray", LAYOUT.format("a\nb"), LAYOUT.format("c")]
    assert list(records([])) == []


def test_a_log_line_gives_the_promised_keys():
    event = read(STANDARD.format(principal="User:bob", name="alpha", rule="DefaultDeny"))

    assert list(event.as_dict()) == [
        "level", "time", "principal", "result", "operation", "host", "resource_type", "resource_name", "pattern_type",
        "request", "ref_count", "rule", "acl", "family", "ambiguous",
    ]  # fmt: skip
    assert event.as_dict()["result"] == "DENIED"


def test_what_stands_behind_a_record_does_not_spoil_it():
    whole = LAYOUT.format(ACL_FAMILY.format(principal="User:a", name="t"))
    trace = ["java.io.IOException: broken", "\tat kafka.Foo.bar(Foo.scala:7)"]
    parted = LAYOUT.format(
        ACL_FAMILY.format(principal="User:a", name="one\ntwo (kafka.authorizer.logger)\nthree")
    )

    assert list(records([whole, *trace, whole, "", whole])) == [whole, "\n".join(trace), whole, whole]
    assert list(records([*parted.split("\n"), *trace])) == [parted, "\n".join(trace)]
    assert list(records([*trace, whole])) == ["\n".join(trace), whole]


@pytest.mark.parametrize(
    "foreign", ["OpenJDK 64-Bit Server VM warning: an option is gone (deprecated)", "   ", " \t\n\n "]
)
def test_a_foreign_line_that_ends_as_a_record_or_is_blank_costs_no_decision(foreign):
    whole = LAYOUT.format(ACL_FAMILY.format(principal="User:a", name="t"))

    found = list(records([whole, *foreign.split("\n"), whole]))

    assert found == [whole, *([foreign] if foreign.strip() else []), whole]


SEPARATOR = re.compile(
    r" is (Allowed|Denied) [oO]peration = [A-Za-z_]+ from host = \S+ on resource = [A-Za-z]+:"
)
ENDING = re.compile(r" for request = \w+ with resourceRefCount = [0-9]+")


def imitations(event: AccessEvent, pattern: re.Pattern[str]) -> int:
    """How often the names of a record hold such words, joined as the record joins them."""
    record = message_of(event)
    return len(re.findall(f"(?={pattern.pattern})", record)) - 1


@pytest.mark.parametrize("brackets", ["()", "[]"])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_broker_prints_is_read_back_or_flagged_where_a_name_imitates_a_record(family, brackets):
    @round_trip
    @given(decisions(family))
    def holds(event: AccessEvent) -> None:
        # Such names make a whole record of a later family; nothing in the log tells.
        if family == "simple-2.0":
            assume(not ENDING.search(event.resource_name))
        if family == "simple-0.9":
            assume(not re.match("[A-Z]+:", event.resource_name))
        found = parse_record(printed(event, brackets=brackets))

        assert isinstance(found, AccessEvent)
        if found.ambiguous:
            assert imitations(event, SEPARATOR) or imitations(event, ENDING)
        else:
            assert found == event
        if imitations(replace(event, rule=None, acl=None), SEPARATOR):
            assert found.ambiguous
        if family in ("standard", "acl") and ENDING.search(event.resource_name):
            assert found.ambiguous

    holds()


@round_trip
@given(st.lists(st.sampled_from(FAMILIES).flatmap(decisions), max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_the_records_of_a_log_are_distinguished_though_names_hold_line_breaks(events, end):
    whole = [printed(event) for event in events]
    starts = re.compile(r"[\r\n]\[[0-9]{4}-")
    assume(not any(starts.search(record) or record.endswith("\r") for record in whole))

    assert list(records(f"{end.join(whole)}{end}".split("\n"))) == whole


@pytest.mark.parametrize("damage", [", operation=read", ""])
def test_a_broker_rule_full_of_separators_is_given_up_in_linear_time(damage):
    def steps(size: int) -> int:
        hostile = ", patternType=LITERAL, principal=x, host=y" * size
        rule = f"MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName={hostile}{damage}])"
        started = process_time_ns()
        assert isinstance(read(STANDARD.format(principal="User:a", name="t", rule=rule)), NotDecision)
        return process_time_ns() - started

    # Twenty times the length; a search that tries every pair of separators takes 400 times as long.
    assert min(steps(2_000) for _ in range(3)) < 100 * min(steps(100) for _ in range(3))
