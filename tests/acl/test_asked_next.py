"""Which right does a client ask for once the one that was denied is there?"""

import pytest

from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.needs import asked_next


@pytest.mark.parametrize(
    "operation, kind, apis, following",
    [
        ("DESCRIBE", "TOPIC", ["Metadata"], {"WRITE": "writes records", "READ": "reads a topic"}),
        ("DESCRIBE", "TOPIC", ["METADATA", "FETCH"], {"WRITE": "writes records", "READ": "reads a topic"}),
        ("DESCRIBE", "TOPIC", [], {"WRITE": "writes records", "READ": "reads a topic"}),
        ("DESCRIBE", "GROUP", ["FindCoordinator"], {"READ": "reads a topic as a member of a group"}),
        ("DESCRIBE", "TRANSACTIONAL_ID", [], {"WRITE": "in transactions"}),
        ("DESCRIBE", "TOPIC", ["DescribeLogDirs"], {}),
        ("DESCRIBE", "TOPIC", ["no such call"], {}),
        ("WRITE", "TOPIC", ["Produce"], {}),
        ("READ", "GROUP", ["JoinGroup"], {}),
        ("CLUSTER_ACTION", "CLUSTER", [], {}),
    ],
)
def test_only_what_brings_the_denied_right_along_is_asked_next(operation, kind, apis, following):
    found = asked_next(Operation[operation], ResourceType[kind], apis, AuthorizerSettings())

    assert {right.name for right in found} == set(following)
    for right, does in found.items():
        assert following[right.name] in does
