"""Does the demo company look like one, and hold the mistakes it promises?"""

from __future__ import annotations

import json

import pytest

from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.clusters import Connection, connect
from aclweb.clusters.snapshot import SNAPSHOT
from devstack.demo import company
from devstack.demo.table import read_table

CLUSTERS = (company.PROD, company.EDGE)


def test_prod_eu_is_as_big_as_a_company():
    bindings = company.bindings(company.PROD)

    assert 240 <= len(bindings) <= 260
    assert 55 <= len(company.topics(company.PROD)) <= 70
    assert 35 <= len({binding.principal for binding in bindings}) <= 55
    assert len(company.groups(company.PROD)) >= 30
    assert {topic.name for topic in company.topics() if topic.internal} == {
        "__consumer_offsets",
        "__transaction_state",
    }


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_acl_stands_twice(cluster):
    bindings = company.bindings(cluster)

    assert len(set(bindings)) == len(bindings)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_name_starts_below_an_asterisk(cluster):
    names = [binding.resource_name for binding in company.bindings(cluster)]
    names += [topic.name for topic in company.topics(cluster)]
    names += [*company.groups(cluster), *company.transactional_ids(cluster)]

    assert [name for name in names if not name or name[0] < "*"] == []


def test_the_certificates_of_prod_eu_have_commas_and_one_a_letter_beyond_ascii():
    certificates = {binding.principal for binding in company.bindings() if "CN=" in binding.principal}

    assert len(certificates) >= 5
    assert any("," in name for name in certificates)
    assert any(not name.isascii() for name in certificates)


def _meaningless(binding: AclBinding) -> bool:
    return binding.resource_type is ResourceType.GROUP and binding.operation is Operation.WRITE


@pytest.mark.parametrize(
    "mistake, found",
    [
        ("a prefix without a delimiter", lambda acl: _is(acl, "PREFIXED", "payments-eu")),
        ("an IPv6 address as people write it", lambda acl: acl.host == "::1"),
        ("a host name", lambda acl: acl.host == "search-01.nordhavn.internal"),
        ("spaces in a certificate's name", lambda acl: ", OU=risk, O=" in acl.principal),
        ("an asterisk as a prefix", lambda acl: _is(acl, "PREFIXED", "*")),
        ("a principal's type in lower case", lambda acl: acl.principal.startswith("user:")),
        ("a space after the colon", lambda acl: acl.principal.startswith("User: ")),
        ("a range of addresses before Kafka 4.4", lambda acl: acl.host == "10.40.0.0/16"),
        ("a topic that is gone", lambda acl: acl.resource_name == "legacy.orders"),
        ("an operation that a group does not have", _meaningless),
    ],
)
def test_prod_eu_holds_the_mistake_of(mistake, found):
    assert any(found(binding) for binding in company.bindings()), mistake


def test_the_group_right_of_the_export_is_missing_beside_its_topic_right():
    own = [binding for binding in company.bindings() if binding.principal == "User:bi-export"]

    assert any(binding.resource_type is ResourceType.TOPIC for binding in own)
    assert "bi-export-2" in company.groups()
    assert not any(
        binding.resource_type is ResourceType.GROUP and binding.resource_name == "bi-export-2"
        for binding in own
    )


def test_a_deny_of_read_leaves_describe_open_for_the_explorer():
    own = [binding for binding in company.bindings() if binding.principal == "User:data-explorer"]

    denied = {binding.operation for binding in own if binding.permission_type is PermissionType.DENY}
    allowed = {binding.operation for binding in own if binding.pattern.is_wildcard}
    assert denied == {Operation.READ}
    assert Operation.DESCRIBE in allowed


def test_rights_on_topics_that_are_gone_are_kept():
    topics = {topic.name for topic in company.topics()}
    orphans = {
        binding.resource_name
        for binding in company.bindings()
        if binding.resource_type is ResourceType.TOPIC
        and binding.pattern_type is PatternType.LITERAL
        and not binding.pattern.is_wildcard
        and binding.resource_name not in topics
    }

    assert len(orphans) >= 4


def test_edge_eu_is_small_and_its_accounts_are_those_of_its_acls():
    bindings = company.bindings(company.EDGE)

    named = {binding.principal for binding in bindings} - {"User:*"}
    assert 25 <= len(bindings) <= 35
    assert len(company.topics(company.EDGE)) == 12
    assert named == {f"User:{name}" for name in company.users()}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_snapshot_file_holds_the_cluster_and_every_acl(cluster):
    header, *acls = [json.loads(line) for line in company.snapshot_text(cluster).splitlines()]

    assert header["cluster"] == cluster
    assert [topic["name"] for topic in header["topics"]] == [topic.name for topic in company.topics(cluster)]
    assert header["config"]["super.users"] == company.super_users(cluster)
    assert acls == [binding.as_dict() for binding in company.bindings(cluster)]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_snapshot_file_is_read_back_as_the_cluster_it_is_of(cluster, tmp_path):
    path = tmp_path / "snapshot.jsonl"
    path.write_text(company.snapshot_text(cluster), encoding="utf-8")

    with connect(Connection(kind=SNAPSHOT, address=str(path))) as client:
        assert client.read_acls().bindings == company.bindings(cluster)
        assert client.read_topics() == company.topics(cluster)
        assert client.read_groups() == company.groups(cluster)


def test_a_table_that_repeats_a_binding_names_both_lines():
    with pytest.raises(ValueError, match="repeats a binding"):
        read_table("ALLOW | User:a | READ | TOPIC t\nALLOW | User:a | WRITE READ | TOPIC t\n")


def _is(binding: AclBinding, pattern_type: str, name: str) -> bool:
    return binding.pattern_type.name == pattern_type and binding.resource_name == name
