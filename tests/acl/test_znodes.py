"""ZooKeeper nodes are read as a broker reads them, and written so that a broker can."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from aclweb.acl.model.vocabulary import (
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.notation import znodes
from aclweb.acl.notation.znodes import (
    ZnodeError,
    change_node,
    decode,
    encode,
    path_of,
    pattern_of,
    read_change_node,
    read_node,
)
from tests.hostile import acls, round_trip
from tests.real_outputs import real_output

ORDERS = ResourcePattern(ResourceType.TOPIC, "orders", PatternType.LITERAL)
PREFIXED_ORDERS = ResourcePattern(ResourceType.TOPIC, "orders", PatternType.PREFIXED)
BOB_READS = AclBinding(
    ResourceType.TOPIC, "orders", PatternType.LITERAL, "User:bob", "*", Operation.READ, PermissionType.ALLOW
)


def node(*entries: dict[str, object], version: object = 1) -> bytes:
    return json.dumps({"acls": list(entries), "version": version}).encode()


def entry(**changes: object) -> dict[str, object]:
    words = {"principal": "User:bob", "permissionType": "Allow", "host": "*", "operation": "Read"} | changes
    return {key: value for key, value in words.items() if value is not None}


def real_nodes() -> list[dict[str, object]]:
    return [json.loads(line) for line in real_output("znodes-3.9.2.jsonl").splitlines()]


def test_every_acl_node_of_a_real_cluster_is_found_read_and_written_back_the_same():
    found = 0
    for real in real_nodes():
        pattern = pattern_of(real["path"])
        if pattern is None:
            assert real["data"] is None or "acl_changes_" in real["path"]
            continue
        found += 1
        bindings = decode(pattern, real["data"].encode())

        assert path_of(pattern) == real["path"]
        assert all(binding.pattern == pattern for binding in bindings)
        assert encode(bindings).decode() == real["data"]
    assert found == 15


def test_change_nodes_are_written_as_a_real_broker_writes_them():
    by_path = {real["path"]: real["data"] for real in real_nodes()}
    written = [change_node(pattern_of(path)) for path in by_path if pattern_of(path)]
    real_changes = {
        (path.rpartition("/")[0], data) for path, data in by_path.items() if "acl_changes_" in path
    }

    assert {(parent, data.decode()) for parent, data in written} == {
        change for change in real_changes if change[1] != "TOPIC:tmp"
    }


def test_the_change_nodes_of_a_real_cluster_name_its_patterns():
    nodes = real_nodes()
    patterns = {pattern_of(real["path"]) for real in nodes} - {None}
    changed = {
        read_change_node(real["path"].rpartition("/")[0], real["data"].encode())
        for real in nodes
        if "acl_changes_" in real["path"]
    }

    # One pattern was changed and is gone again.
    assert changed - patterns == {ResourcePattern(ResourceType.TOPIC, "tmp", PatternType.LITERAL)}
    assert patterns <= changed


@pytest.mark.parametrize(
    ("parent", "data", "resource_type"),
    [
        (znodes.LITERAL_CHANGES, "TOPIC:a:b", ResourceType.TOPIC),
        (znodes.LITERAL_CHANGES, "TransactionalId:a:b", ResourceType.TRANSACTIONAL_ID),
        (znodes.LITERAL_CHANGES, "TRANSACTIONAL_ID:a:b", ResourceType.TRANSACTIONAL_ID),
        (znodes.LITERAL_CHANGES, "Thing:a:b", ResourceType.UNKNOWN),
        (
            znodes.EXTENDED_CHANGES,
            '{"version":1,"resourceType":"Group","name":"a:b","patternType":"PREFIXED"}',
            ResourceType.GROUP,
        ),
    ],
)
def test_change_nodes_of_old_brokers_are_read_too(parent, data, resource_type):
    pattern = read_change_node(parent, data.encode())

    assert (pattern.resource_type, pattern.name) == (resource_type, "a:b")
    assert parent == znodes.CHANGE_ROOTS[pattern.pattern_type]


@pytest.mark.parametrize(
    ("parent", "data", "what"),
    [
        (znodes.LITERAL_CHANGES, b"orders", "a colon"),
        (znodes.LITERAL_CHANGES, b"TOPIC:\xff", "not UTF-8"),
        (znodes.LITERAL_ROOT, b"TOPIC:a", "holds no change nodes"),
        (znodes.EXTENDED_CHANGES, b"TOPIC:a", "a JSON object"),
        (znodes.EXTENDED_CHANGES, b"[]", "a JSON object"),
        (
            znodes.EXTENDED_CHANGES,
            b'{"version":2,"resourceType":"TOPIC","name":"a","patternType":"PREFIXED"}',
            "version 2",
        ),
        (
            znodes.EXTENDED_CHANGES,
            b'{"version":1,"resourceType":"TOPIC","name":"a","patternType":"LITERAL"}',
            "'LITERAL'",
        ),
    ],
)
def test_a_change_node_that_no_broker_writes_is_refused(parent, data, what):
    with pytest.raises(ZnodeError, match=what):
        read_change_node(parent, data)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (node(entry(), version=2), "version 2"),
        (node(entry(host=None)), "no key 'host'"),
        (node(entry(principal="bob")), "'bob', which has no colon"),
    ],
    ids=["version 2", "missing key", "no colon"],
)
def test_a_node_with_which_no_broker_starts_is_refused_with_the_hazard(data, what):
    with pytest.raises(ZnodeError) as refusal:
        decode(ORDERS, data)

    assert what in refusal.value.sentence
    assert refusal.value.hazard == znodes.NO_START
    assert "orders" in str(refusal.value)


def test_an_unknown_operation_is_read_as_unknown_with_a_remark():
    reading = read_node(ORDERS, node(entry(operation="Fly")))

    assert [binding.operation for binding in reading.bindings] == [Operation.UNKNOWN]
    assert "'Fly'" in reading.remarks[0]
    assert "fail to describe" in reading.remarks[0]


@pytest.mark.parametrize(
    "data", [b"", None, b"no json", b"{", b"\xff\xfe", b'{"version": NaN}', b"[" * 99_999]
)
def test_a_node_that_is_empty_or_no_json_is_read_as_no_acls_with_a_remark(data):
    reading = read_node(ORDERS, data)

    assert reading.bindings == ()
    assert "brokers read no ACLs from it" in reading.remarks[0]


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"1",
        b'"text"',
        b'{"version":1}',
        b'{"acls":[]}',
        b'{"version":"1","acls":[]}',
        b'{"version":true,"acls":[]}',
        b'{"version":1.0,"acls":[]}',
        b'{"version":1,"acls":{}}',
        b'{"version":1,"acls":[1]}',
        node(entry(host=7)),
        node(entry(operation="Any")),
        node(entry(permissionType="ANY")),
    ],
)
def test_json_that_is_no_acl_document_is_refused_with_the_hazard(data):
    with pytest.raises(ZnodeError) as refusal:
        decode(ORDERS, data)

    assert refusal.value.hazard == znodes.NO_START


def test_loose_json_is_read_as_brokers_read_it():
    one = '{"operation":"READ","x":0,"permissionType":"aLLOW","host":"*","principal":"User:bob"}'
    same = '{"principal":"User:bob","host":"*","permissionType":"Allow","operation":"read"}'
    loose = f' {{"extra":1,"version":1,"acls":[{one},{same}]}} what follows does not count'

    assert decode(ORDERS, loose.encode()) == (BOB_READS,)


def test_words_with_underscores_are_unknown_to_zookeeper():
    bindings = decode(ORDERS, node(entry(operation="DESCRIBE_CONFIGS"), entry(operation="describeconfigs")))

    assert [binding.operation for binding in bindings] == [Operation.UNKNOWN, Operation.DESCRIBE_CONFIGS]


@pytest.mark.parametrize(
    "path",
    [
        "/kafka-acl",
        "/kafka-acl/Topic",
        "/kafka-acl/Topic/",
        "/kafka-acl/Group/a/b",
        "/kafka-acl/Nothing/a",
        "/kafka-acl/topic/a",
        "/kafka-acl-extended/PREFIXED/Topic/a",
        "/kafka-acl-changes/acl_changes_0000000001",
        "/kafka-extended-acl/Topic/a",
        "kafka-acl/Topic/a",
    ],
)
def test_other_nodes_hold_no_pattern(path):
    assert pattern_of(path) is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\0", "a\n", "a\x7f", "a\ud800", "a\ue000", "a😀", "a\uffff"]
)
def test_a_name_that_zookeeper_refuses_gets_no_path(name):
    with pytest.raises(ZnodeError, match="cannot be a ZooKeeper node"):
        path_of(ResourcePattern(ResourceType.GROUP, name, PatternType.LITERAL))


@pytest.mark.parametrize(
    "pattern",
    [
        ResourcePattern(ResourceType.TOPIC, "a", PatternType.GLOB),
        ResourcePattern(ResourceType.TOPIC, "a", PatternType.UNKNOWN),
        ResourcePattern(ResourceType.UNKNOWN, "a", PatternType.LITERAL),
    ],
)
def test_a_pattern_that_zookeeper_mode_does_not_know_gets_no_path(pattern):
    with pytest.raises(ZnodeError, match="has no place"):
        path_of(pattern)


@pytest.mark.parametrize(
    "changes",
    [
        {"principal": "bob"},
        {"operation": Operation.UNKNOWN},
        {"permission_type": PermissionType.UNKNOWN},
        {"host": "\ud800"},
    ],
)
def test_nothing_is_written_that_would_harm_a_broker(changes):
    values = {
        "principal": "User:bob",
        "host": "*",
        "operation": Operation.READ,
        "permission_type": PermissionType.ALLOW,
    }
    harmful = AclBinding(ResourceType.TOPIC, "orders", PatternType.LITERAL, **(values | changes))

    with pytest.raises(ZnodeError):
        encode([harmful])


@round_trip
@given(acls())
def test_what_is_written_is_read_back_unless_it_is_refused(binding):
    try:
        path, data = path_of(binding.pattern), encode([binding])
    except ZnodeError:
        return

    assert decode(pattern_of(path), data) == (binding,)
    assert read_change_node(*change_node(binding.pattern)) == binding.pattern
