"""Brokers tell of no edit, so their list of all ACLs is asked for each time, and decoded only where it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from kafka.protocol.admin import DescribeAclsResponse

from aclweb.acl.model import AuthorizerSettings
from aclweb.clusters import AclSnapshot, ClusterError, Earlier, Marks, connect
from aclweb.clusters.admin_api import undecoded
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import sync
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.servers import settle, wipe

BOB = allow("User:bob", "READ", "orders")
ANN = allow("User:ann", "READ", "orders")
OWN = [
    allow("User:carol", "DESCRIBE", "*"),
    allow("User:carol", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
]
SETTINGS = AuthorizerSettings()


@contextmanager
def opened(broker: KafkaBroker, user: str = "admin") -> Iterator[AdminClient]:
    with connect(broker.connection(user)) as client:
        assert isinstance(client, AdminClient)
        yield client


def earlier(marks: Marks) -> Earlier:
    return Earlier(marks, lambda *_: frozenset(), dict)


@pytest.fixture
def decoded(monkeypatch) -> Callable[[], int]:
    """Return how often a list of all ACLs was decoded."""
    count = 0
    decode = vars(undecoded.UndecodedAcls)["decoded"].func

    def counted(self):
        nonlocal count
        count += 1
        return decode(self)

    monkeypatch.setattr(undecoded.UndecodedAcls, "decoded", property(counted))
    return lambda: count


@pytest.mark.kafka
def test_the_marks_of_a_broker_stay_while_its_acls_do_and_change_with_them(kafka44):
    wipe(kafka44)
    settle(kafka44, add=[BOB, *OWN])
    seen = []
    for edit in ({}, {"add": [ANN]}, {"remove": [ANN]}):
        settle(kafka44, **edit)
        for _ in range(2):
            with opened(kafka44) as client:
                client.describe()
                seen.append(client.marks().acls)

    assert seen[0] == seen[1] == seen[4] == seen[5]
    assert seen[2] == seen[3] != seen[0]


@pytest.mark.kafka
@pytest.mark.parametrize("user", ["admin", "carol"])
def test_what_a_login_sees_is_known_as_well_without_decoding_all_acls(kafka44, decoded, user):
    wipe(kafka44)
    settle(kafka44, add=[BOB, *OWN])
    with opened(kafka44, user) as client:
        client.describe()
        marks, acls = client.marks(), client.read_acls()
        client.read_topics()
        client.read_groups()
        whole = client.names_known(acls, SETTINGS)
    assert set(acls.bindings) == {BOB, *OWN}
    before = decoded()

    with opened(kafka44, user) as client:
        client.describe()
        assert client.marks(earlier(marks)) == marks
        client.read_topics()
        client.read_groups()
        known = client.names_known(AclSnapshot((), patterns=frozenset()), SETTINGS)

    assert (known.topics, known.groups) == (whole.topics, whole.groups)
    # Whether a super user sees all is a question of the ACLs of everybody, where no topic has one for it.
    assert user != "carol" or decoded() == before


@pytest.mark.kafka
@pytest.mark.django_db
def test_a_sync_of_unchanged_acls_decodes_none_and_the_next_edit_is_stored(kafka44, decoded):
    wipe(kafka44)
    settle(kafka44, add=[BOB, *OWN])
    connection = kafka44.connection("carol")
    cluster = Cluster.objects.create(
        slug="live", name="live", kind="admin", address=connection.address, options=dict(connection.options)
    )
    assert sync(cluster).revision.acls == 3
    before = decoded()

    quiet = sync(cluster)

    assert (quiet.read, quiet.changed, decoded()) == (True, False, before)
    assert "3 ACLs" in quiet.sentence

    settle(kafka44, add=[ANN])
    assert sync(cluster).delta.add == (ANN,)


def answer(*acls: tuple[str, str], throttle: int = 0, error: int = 0) -> bytes:
    resource = DescribeAclsResponse.DescribeAclsResource
    rows = [
        resource(
            resource_type=2,
            resource_name=name,
            pattern_type=3,
            acls=[resource.AclDescription(principal=who, host="*", operation=3, permission_type=3)],
        )
        for name, who in acls
    ]
    found = DescribeAclsResponse(
        throttle_time_ms=throttle, error_code=error, error_message=None, resources=rows
    )
    return bytes(found.encode(version=3))


def test_the_throttle_time_of_an_answer_is_no_difference_and_all_else_is():
    digests = {
        name: undecoded.UndecodedAcls(data, 3).digest
        for name, data in {
            "one": answer(("orders", "User:bob")),
            "throttled": answer(("orders", "User:bob"), throttle=500),
            "another": answer(("orders", "User:ann")),
            "more": answer(("orders", "User:bob"), ("pay", "User:bob")),
            "none": answer(),
            "refused": answer(error=31),
        }.items()
    }

    assert digests["one"] == digests["throttled"]
    assert len(set(digests.values())) == 5


@pytest.mark.kafka
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-7], lambda data: b"", lambda data: data[:8] + b"\xff" * 40]
)
def test_a_list_that_is_cut_or_damaged_is_an_error_and_no_smaller_list(kafka44, damage):
    with opened(kafka44) as client:
        client._all_acls = undecoded.UndecodedAcls(
            damage(answer(("orders", "User:bob"), ("pay", "User:ann"))), 3
        )

        with pytest.raises(ClusterError):
            client.read_acls()
