"""A list of topics counts as complete only where ACLs and rights prove it; what is not proven may be hidden."""

from __future__ import annotations

import pytest

from aclweb.acl.model.authorizers import TOOL_OPERATIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import Operation, ResourceType
from aclweb.clusters import Known, Login
from aclweb.clusters.admin_api.visibility import names_known
from tests.builders import allow, deny

OPEN_QUESTIONS = AuthorizerSettings(undeclared=frozenset({"super_users", "allow_everyone"}))
CLOSED = AuthorizerSettings(undeclared=frozenset({"super_users"}))
EVERYTHING = frozenset(TOOL_OPERATIONS[ResourceType.CLUSTER])
DESCRIBE = frozenset({Operation.DESCRIBE})

ON_CLUSTER = allow("User:aclweb", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER")
ON_ALL_TOPICS = allow("User:aclweb", "DESCRIBE", "*")
ON_ORDERS = allow("User:aclweb", "DESCRIBE", "orders-", pattern="PREFIXED")


def topics(*acls, principal="User:aclweb", operations=DESCRIBE, authorizer_settings=OPEN_QUESTIONS) -> Known:
    return known(
        *acls, principal=principal, operations=operations, authorizer_settings=authorizer_settings
    ).topics


def known(
    *acls, principal="User:aclweb", operations=DESCRIBE, authorizer_settings=OPEN_QUESTIONS, all_brokers=True
):
    login = Login(principal, operations)
    return names_known(login, acls, authorizer_settings, groups_listed=True, all_brokers=all_brokers)


def test_describe_on_the_cluster_alone_shows_no_topic_for_certain():
    assert topics(ON_CLUSTER) is Known.VISIBLE


@pytest.mark.parametrize(
    "right",
    [
        ON_ALL_TOPICS,
        allow("User:*", "DESCRIBE", "*"),
        allow("User:aclweb", "ALL", "*"),
        allow("User:aclweb", "READ", "*"),
    ],
    ids=lambda right: f"{right.principal}-{right.operation.name}",
)
def test_a_right_on_every_topic_that_brings_describe_shows_all(right):
    assert topics(ON_CLUSTER, right) is Known.ALL


@pytest.mark.parametrize(
    "right",
    [
        ON_ORDERS,
        allow("User:aclweb", "DESCRIBE", "*", host="10.0.0.7"),
        allow("User:other", "DESCRIBE", "*"),
        allow("User:aclweb", "CREATE", "*"),
        allow("User:aclweb", "DESCRIBE", "*", pattern="PREFIXED"),
        allow("User:aclweb", "DESCRIBE", "*", resource_type="GROUP"),
    ],
    ids=str,
)
def test_a_narrower_right_shows_some(right):
    assert topics(ON_CLUSTER, right) is Known.VISIBLE


@pytest.mark.parametrize(
    ("denial", "expected"),
    [
        (deny("User:aclweb", "DESCRIBE", "pay-", pattern="PREFIXED"), Known.VISIBLE),
        (deny("User:*", "ALL", "pay"), Known.VISIBLE),
        (deny("User:aclweb", "DESCRIBE", "pay", host="10.9.9.9"), Known.VISIBLE),
        (deny("User:aclweb", "READ", "pay"), Known.ALL),
        (deny("User:other", "DESCRIBE", "pay"), Known.ALL),
    ],
    ids=str,
)
def test_a_denial_hides_where_it_is_of_describe_and_of_this_login(denial, expected):
    assert topics(ON_CLUSTER, ON_ALL_TOPICS, denial) is expected


def test_a_declared_super_user_sees_all_and_denials_hide_nothing_from_it():
    authorizer_settings = AuthorizerSettings(super_users=frozenset({"User:aclweb"}))

    assert (
        topics(ON_CLUSTER, deny("User:*", "ALL", "*"), authorizer_settings=authorizer_settings) is Known.ALL
    )


def test_rights_on_the_cluster_that_no_acl_explains_are_a_super_users():
    elsewhere = allow("User:ops", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER")

    assert topics(elsewhere, principal=None, operations=EVERYTHING) is Known.ALL


def test_rights_on_the_cluster_that_somebodys_acl_explains_prove_nothing():
    everything = allow("User:ops", "ALL", "kafka-cluster", resource_type="CLUSTER")

    assert topics(everything, principal=None, operations=EVERYTHING) is Known.VISIBLE
    assert topics(everything, principal="User:aclweb", operations=EVERYTHING) is Known.VISIBLE


def test_without_an_acl_on_the_cluster_the_default_may_be_what_lets_this_login_in():
    on_a_topic = allow("User:bob", "READ", "orders")

    assert topics(on_a_topic, operations=EVERYTHING) is Known.VISIBLE
    assert topics(on_a_topic, operations=EVERYTHING, authorizer_settings=CLOSED) is Known.ALL
    assert topics(operations=EVERYTHING) is Known.ALL  # no topic has ACLs, so the default shows them all


def test_a_login_whose_principal_is_not_known_sees_all_only_by_what_everybody_may():
    assert topics(ON_CLUSTER, ON_ALL_TOPICS, principal=None) is Known.VISIBLE
    assert topics(ON_CLUSTER, allow("User:*", "DESCRIBE", "*"), principal=None) is Known.ALL
    assert (
        topics(ON_CLUSTER, allow("User:*", "DESCRIBE", "*"), deny("User:x", "ALL", "y"), principal=None)
        is Known.VISIBLE
    )


def test_a_topic_is_gone_only_if_it_would_certainly_be_seen():
    found = known(ON_CLUSTER, ON_ORDERS, deny("User:*", "DESCRIBE", "orders-secret"))

    assert found.sees(ResourceType.TOPIC, "orders-eu")
    assert not found.sees(ResourceType.TOPIC, "orders-secret")
    assert not found.sees(ResourceType.TOPIC, "stock")


def test_groups_are_all_only_with_describe_on_the_cluster_and_from_every_broker():
    assert known(ON_CLUSTER).groups is Known.ALL
    assert known(ON_CLUSTER, all_brokers=False).groups is Known.VISIBLE
    assert known(operations=frozenset({Operation.ALTER_CONFIGS})).groups is Known.VISIBLE
    assert (
        names_known(Login(), (), AuthorizerSettings(), groups_listed=False, all_brokers=False).groups
        is Known.UNKNOWN
    )
