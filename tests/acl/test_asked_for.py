"""The calls that ask for a right are those whose checks name it, on this version and authorizer."""

from __future__ import annotations

import pytest

from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.needs import APIS, calls_asking_for

NEW = AuthorizerSettings(authorizer="standard", kafka_version="4.4")
OLD = AuthorizerSettings(authorizer="acl", kafka_version="3.9")


def names(operation: str, resource_type: str, settings: AuthorizerSettings = NEW) -> list[str]:
    return [api.name for api in calls_asking_for(Operation[operation], ResourceType[resource_type], settings)]


@pytest.mark.parametrize(
    ("right", "some"),
    [
        (("READ", "TOPIC"), {"FETCH", "OFFSET_COMMIT", "TXN_OFFSET_COMMIT"}),
        (("WRITE", "TOPIC"), {"PRODUCE", "ADD_PARTITIONS_TO_TXN"}),
        (("DESCRIBE", "TOPIC"), {"METADATA", "LIST_OFFSETS"}),
        (("READ", "GROUP"), {"JOIN_GROUP", "HEARTBEAT", "SYNC_GROUP"}),
        (("ALTER", "CLUSTER"), {"CREATE_ACLS", "DELETE_ACLS"}),
    ],
)
def test_the_calls_of_a_right_are_named(right, some):
    assert some <= set(names(*right))


def test_every_check_of_a_call_is_found_by_its_right():
    for api in APIS.values():
        for case in api.cases:
            for check in case.checks:
                for right in check.any_of:
                    if all(str(each.span) == "" for each in (api, case, check, right)):
                        found = calls_asking_for(right.operation, right.resource_type, NEW)
                        assert api in found, (api.name, right)


def test_a_call_of_kraft_alone_is_not_among_those_of_zookeeper():
    assert "DESCRIBE_QUORUM" in names("DESCRIBE", "CLUSTER")
    assert "DESCRIBE_QUORUM" not in names("DESCRIBE", "CLUSTER", OLD)


def test_no_call_asks_for_what_no_broker_asks():
    assert names("CREATE", "TRANSACTIONAL_ID") == []


def test_what_asks_for_one_resource_does_not_ask_for_any():
    def asking(operation: str, settings: AuthorizerSettings) -> list[str]:
        found = calls_asking_for(Operation[operation], ResourceType.TOPIC, settings, any_one=True)
        return [api.name for api in found]

    assert asking("WRITE", NEW) == ["INIT_PRODUCER_ID"]
    assert asking("WRITE", AuthorizerSettings(authorizer="acl", kafka_version="2.7")) == []
    assert asking("DESCRIBE", NEW) == []
