"""Real brokers tell who can log in, who is limited and who consumes; what a login may not know is unknown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ScramMechanism, UserScramCredentialUpsertion
from kafka.protocol.admin import ListTransactionsRequest

from aclweb.acl.model import AuthorizerSettings
from aclweb.clusters import DetailKind as Kind
from aclweb.clusters import Details, GroupType, Known, ListedGroup
from aclweb.clusters.admin_api import details
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.admin_api.messages import COORDINATOR_LOADING
from aclweb.clusters.admin_api.session import Node
from aclweb.clusters.client import Login
from devstack.servers import KafkaBroker
from tests.builders import allow, deny
from tests.clusters import joining
from tests.servers import create_topic, settings_of, settle, wipe

SETTINGS = AuthorizerSettings(super_users=frozenset({"User:admin"}))
NEW_PROTOCOLS = {"group.version": 1, "share.version": 1, "streams.version": 1}


@pytest.fixture(params=["kafka44", "kafka39"])
def broker(request) -> KafkaBroker:
    broker: KafkaBroker = request.getfixturevalue(request.param)
    wipe(broker)
    return broker


@contextmanager
def plain(broker: KafkaBroker, user: str) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(**settings_of(broker, user), client_id=f"{user}-app")
    try:
        yield client
    finally:
        client.close()


def told(broker: KafkaBroker, user: str, is_there: Callable[[Details], bool] = lambda _told: True) -> Details:
    """Return what the broker tells this user, once that is there: it hears of a write a moment later."""
    deadline = time.monotonic() + 60
    while True:
        with AdminClient(broker.connection(user)) as client:
            client.describe()
            client.read_groups()
            found = client.read_details(SETTINGS)
        if is_there(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def names(found: Details, kind: Kind) -> set[str]:
    return {each.name for each in found.lists[kind].details}


def test_a_super_user_is_told_everything(broker, fresh):
    with plain(broker, "admin") as admin:
        credential = UserScramCredentialUpsertion(
            fresh, ScramMechanism.SCRAM_SHA_512, "secret-of-erin", iterations=4096
        )
        admin.alter_user_scram_credentials([credential])
        joining.limit(admin, {"user": fresh, "client-id": None}, 1024)
        joining.begin_transactions(admin, fresh)
        token = joining.make_token(admin, "bob")

    def is_there(found: Details) -> bool:
        return (
            fresh in names(found, Kind.SCRAM_USERS)
            and any(each.user == fresh for each in found.lists[Kind.QUOTAS].details)
            and token in names(found, Kind.TOKENS)
        )

    found = told(broker, "admin", is_there)

    assert {kind: each.known for kind, each in found.lists.items()} == dict.fromkeys(Kind, Known.ALL)
    scram = next(each for each in found.lists[Kind.SCRAM_USERS].details if each.user == fresh)
    assert scram.facts == {"mechanisms": {"SCRAM-SHA-512": 4096}}
    quota = next(each for each in found.lists[Kind.QUOTAS].details if each.user == fresh)
    assert quota.name == f"user {fresh}, every other client-id"
    assert quota.facts == {
        "entity": {"user": fresh, "client-id": None},
        "limits": {"producer_byte_rate": 1024.0},
    }
    assert fresh in names(found, Kind.TRANSACTIONAL_IDS)
    held = next(each for each in found.lists[Kind.TOKENS].details if each.name == token)
    assert held.principal == "User:admin"
    assert held.facts["requester"] == "User:admin"
    assert held.facts["renewers"] == ["User:bob"]


def test_no_answer_keeps_the_secret_of_a_token(broker):
    with plain(broker, "admin") as admin:
        joining.make_token(admin, "bob")

    found = told(broker, "admin")

    for each in found.lists[Kind.TOKENS].details:
        assert set(each.facts) == {"requester", "renewers", "issued", "expires", "ends"}
        assert not any(isinstance(value, bytes) for value in each.facts.values())


def test_what_a_login_may_not_know_is_unknown_and_the_command_is_told(broker, fresh):
    settle(broker, add=[allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER")])
    with plain(broker, "admin") as admin:
        joining.begin_transactions(admin, fresh)
        joining.make_token(admin, "bob")

    found = told(broker, "alice")

    assert found.lists[Kind.SCRAM_USERS].known is Known.ALL  # Describe on the cluster is enough
    quotas = found.lists[Kind.QUOTAS]
    assert (quotas.known, quotas.details) == (Known.UNKNOWN, ())
    assert quotas.command.endswith("--add --allow-principal User:alice --operation DescribeConfigs --cluster")
    hidden = found.lists[Kind.TRANSACTIONAL_IDS]
    assert hidden.known is Known.VISIBLE
    assert fresh not in names(found, Kind.TRANSACTIONAL_IDS)
    assert hidden.command.endswith("--operation Describe --transactional-id '*'")
    tokens = found.lists[Kind.TOKENS]
    assert (tokens.known, tokens.details) == (Known.VISIBLE, ())
    assert tokens.command.endswith("--operation Describe --delegation-token '*'")


def test_the_commands_that_are_told_grant_what_was_missing(broker, fresh):
    settle(
        broker,
        add=[
            allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:alice", "DESCRIBE_CONFIGS", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:alice", "DESCRIBE", "*", resource_type="TRANSACTIONAL_ID"),
            allow("User:alice", "DESCRIBE", "*", resource_type="DELEGATION_TOKEN"),
        ],
    )
    with plain(broker, "admin") as admin:
        joining.begin_transactions(admin, fresh)
        token = joining.make_token(admin, "bob")

    found = told(broker, "alice", lambda found: token in names(found, Kind.TOKENS))

    assert {kind: each.known for kind, each in found.lists.items()} == dict.fromkeys(Kind, Known.ALL)
    assert fresh in names(found, Kind.TRANSACTIONAL_IDS)
    assert token in names(found, Kind.TOKENS)


def test_a_deny_leaves_transactional_ids_visible_only(broker, fresh):
    settle(
        broker,
        add=[
            allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:alice", "DESCRIBE", "*", resource_type="TRANSACTIONAL_ID"),
            deny("User:alice", "DESCRIBE", fresh, resource_type="TRANSACTIONAL_ID"),
        ],
    )

    assert told(broker, "alice").lists[Kind.TRANSACTIONAL_IDS].known is Known.VISIBLE


def test_groups_of_every_type_tell_their_members(kafka44, fresh):
    wipe(kafka44)
    create_topic(kafka44, fresh)
    with plain(kafka44, "admin") as admin:
        joining.switch_on(admin, NEW_PROTOCOLS)
        joining.join_classic(admin, f"{fresh}-classic")
        joining.join_consumer(admin, f"{fresh}-consumer", fresh)
        joining.join_share(admin, f"{fresh}-share", fresh)
        joining.join_streams(admin, f"{fresh}-streams", fresh)

        with AdminClient(kafka44.connection()) as client:
            client.describe()
            client.read_groups()
            listed = client.read_details(SETTINGS).groups
            mine = [group for group in listed if group.name.startswith(fresh)]
            described = {group.name: group for group in client.describe_groups(mine)}

    assert {(group.name, group.type) for group in mine} == {
        (f"{fresh}-classic", GroupType.CLASSIC),
        (f"{fresh}-consumer", GroupType.CONSUMER),
        (f"{fresh}-share", GroupType.SHARE),
        (f"{fresh}-streams", GroupType.STREAMS),
    }
    for kind in ("classic", "consumer", "share", "streams"):
        (member,) = described[f"{fresh}-{kind}"].members
        assert (member.client_id, member.host) == ("admin-app", "127.0.0.1")
    assert described[f"{fresh}-consumer"].members[0].instance_id == "first"


def test_members_are_unknown_without_describe_on_the_group(broker, fresh):
    settle(
        broker,
        add=[
            allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
            deny("User:alice", "DESCRIBE", fresh, resource_type="GROUP"),
        ],
    )
    with plain(broker, "admin") as admin:
        joining.join_classic(admin, fresh)

        with AdminClient(broker.connection("alice")) as client:
            client.read_groups()
            (found,) = client.describe_groups([ListedGroup(fresh, GroupType.CLASSIC)])

    assert found.members is None
    assert found.sentence == "Brokers show its members only to a login with Describe on the group."


def test_a_group_that_is_gone_is_not_described(broker, fresh):
    with plain(broker, "admin") as admin:
        joining.join_classic(admin, fresh)
    with AdminClient(broker.connection()) as client:
        client.read_groups()
        node, _ = client._groups[fresh]
        client._groups["gone"] = (node, ListedGroup("gone"))

        assert [each.name for each in client.describe_groups([ListedGroup("gone"), ListedGroup(fresh)])] == [
            fresh
        ]


@pytest.mark.parametrize("loading", [1, 2])
def test_brokers_that_are_still_loading_list_no_transactional_ids_and_prove_nothing(loading):
    nodes = (Node(1, "one:9092"), Node(2, "two:9092"))
    busy = SimpleNamespace(error_code=COORDINATOR_LOADING[0], transaction_states=[])
    ready = SimpleNamespace(error_code=0, transaction_states=[SimpleNamespace(transactional_id="pay")])
    session = SimpleNamespace(
        nodes=nodes,
        answering=lambda: nodes,
        offers=lambda request: request is ListTransactionsRequest,
        ask=lambda _make, _what, *, node: busy if node.number <= loading else ready,
    )

    found = details.read_lists(session, Login(), lambda *_: True)[Kind.TRANSACTIONAL_IDS]

    assert found.has_failed is (loading == 2)
    assert found.known is (Known.UNKNOWN if loading == 2 else Known.VISIBLE)
    assert [each.name for each in found.details] == ["pay"] * (2 - loading)
