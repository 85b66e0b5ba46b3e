"""The ACLs of a list are grouped by what they make of their principal, as kafka-acls and the needs of clients say."""

from __future__ import annotations

import pytest

from aclweb.acl.kafka import plan
from aclweb.acl.model import AuthorizerSettings
from aclweb.inventory import lists
from aclweb.inventory.current import in_force
from aclweb.inventory.lists import AclListFilters, acls_in, grouped_acls, missing, roles_of
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

TOOL = "kafka-acls --bootstrap-server b:1 --add --allow-principal User:bob"
EVERYBODY = AclListFilters()


@pytest.fixture
def view_of(cluster):
    def view(*acls):
        sync(cluster, client=Answers(list(acls)))
        cluster.refresh_from_db()
        return in_force(cluster)

    return view


def of(view) -> dict[str, dict[str, int]]:
    """Return the number of ACLs of each role of each principal."""
    found: dict[str, dict[str, int]] = {}
    for group in grouped_acls(view, EVERYBODY, "role"):
        found.setdefault(group.example.principal, {})[group.role] = group.acls
    return found


@pytest.mark.parametrize(
    ("options", "role"),
    [
        ("--consumer --topic orders --group bobs", "consumer"),
        ("--producer --topic orders", "producer"),
        ("--producer --idempotent --topic orders", "producer"),
        ("--producer --topic orders --transactional-id tx", "transactional-producer"),
    ],
)
def test_what_the_tool_gives_a_client_is_one_group_of_its_role(view_of, options, role):
    made = plan(f"{TOOL} {options}", AuthorizerSettings())
    assert made.acls

    assert of(view_of(*made.acls)) == {"User:bob": {role: len(made.acls)}}


def test_describe_goes_with_the_right_beside_it_and_stands_alone_without(view_of):
    view = view_of(
        allow("User:bob", "READ", "a"), allow("User:bob", "DESCRIBE", "a"),
        allow("User:bob", "DESCRIBE", "b"), allow("User:cat", "WRITE", "a"), allow("User:cat", "DESCRIBE", "a"),
    )  # fmt: skip

    assert of(view) == {"User:bob": {"consumer": 2, "observer": 1}, "User:cat": {"producer": 2}}


def test_an_application_whose_topics_begin_with_its_group_is_of_streams(view_of):
    acls = [
        allow("User:app", "READ", "orders"),
        allow("User:app", "WRITE", "totals"),
        allow("User:app", "READ", "sums", resource_type="GROUP"),
        allow("User:app", "ALL", "sums-", pattern="PREFIXED"),
    ]

    assert of(view_of(*acls)) == {"User:app": {"streams": 4}}
    assert of(view_of(*acls[:3])) == {"User:app": {"consumer": 2, "producer": 1}}


@pytest.mark.parametrize(
    ("acl", "role"),
    [
        (deny("User:bob", "READ", "orders"), "denied"),
        (allow("User:bob", "ALL", "orders"), "everything"),
        (allow("User:bob", "DELETE", "orders"), "administrator"),
        (allow("User:bob", "ALTER", "kafka-cluster", resource_type="CLUSTER"), "administrator"),
        (allow("User:bob", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"), "administrator"),
        (allow("User:bob", "CLUSTER_ACTION", "kafka-cluster", resource_type="CLUSTER"), "broker"),
        (allow("User:bob", "CREATE", "orders"), "administrator"),
        (allow("User:bob", "UNKNOWN", "orders"), "unknown"),
    ],
)
def test_each_acl_has_one_role(view_of, acl, role):
    assert roles_of(view_of(acl)) == {acl: role}


def test_a_consumer_without_a_group_is_incomplete_until_any_acl_allows_one(view_of):
    reads = allow("User:bob", "READ", "orders")

    alone = view_of(reads)
    assert missing(alone, "User:bob", "consumer") == ("no ACL allows it Read on a group",)
    anybody = view_of(reads, allow("User:*", "READ", "*", resource_type="GROUP"))
    assert missing(anybody, "User:bob", "consumer") == ()


def test_nothing_is_incomplete_where_all_are_allowed_anyway(cluster, view_of):
    cluster.super_users, cluster.allow_everyone = "User:root", False
    cluster.save()
    view = view_of(allow("User:root", "READ", "orders"))
    assert missing(view, "User:root", "consumer") == ()

    cluster.allow_everyone = True
    cluster.save()
    assert missing(in_force(cluster), "User:bob", "consumer") == ()


def test_the_role_filters_the_list_and_its_groups_part_all_of_it(view_of):
    acls = [allow("User:bob", "READ", "a"), allow("User:bob", "WRITE", "a"), deny("User:cat", "READ", "a")]
    view = view_of(*acls)

    groups = grouped_acls(view, EVERYBODY, "role")
    assert [(group.role, group.example.principal) for group in groups] == [
        ("denied", "User:cat"), ("consumer", "User:bob"), ("producer", "User:bob"),
    ]  # fmt: skip
    for group in groups:
        filters = AclListFilters(role=group.role, principal=group.example.principal)
        assert len(acls_in(view, filters)) == group.acls
    assert sum(group.acls for group in groups) == len(acls)
    assert set(lists.ROLES) >= {group.role for group in groups}
