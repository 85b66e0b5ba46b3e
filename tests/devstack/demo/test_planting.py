"""Does the demo company stand on real servers as it does on paper?"""

from __future__ import annotations

import json

import pytest
from kazoo.client import KazooClient

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, Operation, PermissionType
from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.clusters import Connection, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from devstack.demo import company, edge_traffic, prod_eu
from devstack.servers import KafkaBroker
from tests.servers import need_jars, need_java


@pytest.fixture
def prod(zookeeper_server, fresh):
    """The address of a chroot into which prod-eu has just been planted."""
    address = f"{zookeeper_server.address}/{fresh}"
    assert company.plant(address)
    return address


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    need_java()
    users = {name: f"{name}-secret" for name in ("admin", *company.users())}
    with KafkaBroker(tmp_path_factory.mktemp("edge"), need_jars("4.4.0"), users=users) as broker:
        assert company.plant_broker(bootstrap=broker.bootstrap, username="admin", password=users["admin"])
        yield broker


@pytest.mark.zookeeper
def test_prod_eu_is_read_from_zookeeper_as_it_was_written(prod):
    with connect(Connection(kind=ZOOKEEPER, address=prod)) as client:
        reading = client.read_acls()
        topics = client.read_topics()
        facts = client.describe()

    assert set(reading.bindings) == set(company.bindings())
    assert (reading.problems, reading.unreadable) == ((), ())
    assert {(topic.name, topic.partitions) for topic in topics} == set(prod_eu.TOPICS.items())
    assert facts.cluster_id == prod_eu.CLUSTER_ID


@pytest.mark.zookeeper
def test_planting_again_leaves_what_people_did(prod):
    servers, _, chroot = prod.partition("/")
    client = KazooClient(servers)
    client.start()
    client.delete(f"/{chroot}/kafka-acl/Topic/legacy.orders")

    assert not company.plant(prod)

    assert client.exists(f"/{chroot}/kafka-acl/Topic/legacy.orders") is None
    client.stop()
    client.close()


@pytest.mark.zookeeper
def test_a_planting_that_was_interrupted_is_finished(prod):
    servers, _, chroot = prod.partition("/")
    client = KazooClient(servers)
    client.start()
    client.delete(f"/{chroot}/cluster/id")
    client.set(f"/{chroot}/brokers/topics/orders.created.v2", b"")

    assert company.plant(prod)

    stored = json.loads(client.get(f"/{chroot}/brokers/topics/orders.created.v2")[0])
    assert len(stored["partitions"]) == 24
    client.stop()
    client.close()


@pytest.mark.kafka
def test_edge_eu_is_read_from_its_broker_as_it_was_made(edge):
    with connect(edge.connection()) as client:
        reading = client.read_acls()
        topics = {topic.name for topic in client.read_topics() if not topic.internal}

    assert set(reading.bindings) == set(company.bindings(company.EDGE))
    assert {topic.name for topic in company.topics(company.EDGE)} <= topics


@pytest.mark.kafka
def test_a_broker_with_acls_gets_no_more_of_them(edge):
    assert not company.plant_broker(bootstrap=edge.bootstrap, username="admin", password=edge.users["admin"])


@pytest.mark.kafka
def test_the_clients_of_edge_eu_leave_permits_refusals_and_a_deny_in_its_log(edge):
    refused = edge_traffic.drive(bootstrap=edge.bootstrap, passwords=edge.users, rounds=1)

    assert refused >= 4
    settings = AuthorizerSettings.read(config={"super.users": company.super_users(company.EDGE)})
    index = AclIndex(company.bindings(company.EDGE))
    with edge.authorizer_log.open(encoding="utf-8") as log:
        found = [parse_record(record) for record in records(log)]
    events = [event for event in found if isinstance(event, AccessEvent) and event.principal != "User:admin"]
    of_clients = {event.principal for event in events}
    assert {f"User:{work.user}" for work in edge_traffic.WORK} <= of_clients
    assert {event.allowed for event in events} == {True, False}
    assert any(event.acl and event.acl.permission_type is PermissionType.DENY for event in events)
    for event in events:
        if event.ref_count and event.operation is not Operation.UNKNOWN:
            asked = (event.principal, event.host, event.operation, event.resource_type, event.resource_name)
            assert authorize(AccessRequest(*asked), index, settings).allowed == event.allowed, event
