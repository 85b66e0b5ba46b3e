"""What ZooKeeper shows cheaply of a change is the whole change, or a whole read follows."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient

from aclweb.acl.model import PatternType, ResourcePattern, ResourceType
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation import znodes
from aclweb.clusters import Connection, Earlier, Marks, TopicInfo, Verb, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from devstack.servers import lay_out
from tests.builders import allow

pytestmark = pytest.mark.zookeeper

BOB = allow("User:bob", "READ", "orders")
ANN = allow("User:ann", "READ", "orders")
PREFIX = allow("User:bob", "READ", "pay", pattern="PREFIXED")
OTHER = allow("User:bob", "READ", "payments")


@pytest.fixture
def address(zookeeper_server, fresh) -> str:
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="zk-1", topics={"orders": 3})
    return address


@pytest.fixture
def raw(address) -> Iterator[KazooClient]:
    keeper = KazooClient(hosts=address)
    keeper.start(timeout=60)
    yield keeper
    keeper.stop()
    keeper.close()


class Reader:
    """Reads again and again, and keeps what a sync would store."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.stored: set[AclBinding] = set()
        self.topics: dict[str, TopicInfo] = {}
        self.marks: Marks | None = None

    def open(self) -> ZooKeeperClient:
        client = connect(Connection(ZOOKEEPER, self.address, timeout_seconds=60))
        assert isinstance(client, ZooKeeperClient)
        return client

    def read(self) -> frozenset[ResourcePattern] | None:
        """Read what has changed; return the patterns that were read, None for all of them."""
        earlier = None
        if self.marks is not None:
            earlier = Earlier(self.marks, self.names, lambda: self.topics)
        with self.open() as client:
            marks = client.marks()
            found = client.read_acls(earlier)
            self.topics = {topic.name: topic for topic in client.read_topics(earlier)}
        if found.patterns is not None:
            self.stored = {one for one in self.stored if one.pattern not in found.patterns}
            self.stored |= set(found.bindings)
        else:
            self.stored = set(found.bindings)
        self.marks = marks
        return found.patterns

    def names(self, resource_type: ResourceType, pattern_type: PatternType) -> frozenset[str]:
        return frozenset(
            one.resource_name
            for one in self.stored
            if one.resource_type is resource_type and one.pattern_type is pattern_type
        )


def whole(address: str) -> set[AclBinding]:
    with connect(Connection(ZOOKEEPER, address, timeout_seconds=60)) as client:
        return set(client.read_acls().bindings)


def write(address: str, verb: Verb, *bindings: AclBinding) -> None:
    with connect(Connection(ZOOKEEPER, address, timeout_seconds=60)) as client:
        client.write(verb, bindings)


def test_marks_stay_equal_while_nothing_changes_and_differ_after_each_edit(address):
    write(address, Verb.ADD, BOB)
    reader = Reader(address)
    seen = []
    for edit in (None, (Verb.ADD, ANN), (Verb.ADD, PREFIX), (Verb.REMOVE, PREFIX), (Verb.REMOVE, BOB)):
        if edit:
            write(address, *edit)
        with reader.open() as client:
            first, second = client.marks(), client.marks()
        assert first == second
        seen.append(first.acls)

    assert all(one != other for place, one in enumerate(seen) for other in seen[:place])


def test_only_the_patterns_that_changed_are_read_again(address):
    write(address, Verb.ADD, BOB, OTHER)
    reader = Reader(address)
    assert reader.read() is None

    write(address, Verb.ADD, ANN, PREFIX)
    assert reader.read() == {ANN.pattern, PREFIX.pattern}
    assert reader.stored == {BOB, ANN, OTHER, PREFIX}

    write(address, Verb.REMOVE, OTHER)
    assert reader.read() == {OTHER.pattern}
    assert reader.stored == {BOB, ANN, PREFIX} == whole(address)

    assert reader.read() == frozenset()


def test_a_node_that_was_made_or_removed_without_a_change_node_is_found_too(address, raw):
    write(address, Verb.ADD, BOB)
    reader = Reader(address)
    reader.read()

    raw.create("/kafka-acl/Topic/payments", znodes.encode([OTHER]))
    assert reader.read() == {OTHER.pattern}
    raw.delete("/kafka-acl/Topic/orders")
    assert reader.read() == {BOB.pattern}
    assert reader.stored == {OTHER}


@pytest.mark.parametrize("change", ["gone", "no pattern", "a new type", "a new root"])
def test_where_the_marks_do_not_tell_everything_is_read(address, raw, change):
    write(address, Verb.ADD, BOB)
    reader = Reader(address)
    reader.read()

    write(address, Verb.ADD, ANN)
    root = znodes.LITERAL_CHANGES
    if change == "gone":
        # As after 15 minutes, when another edit makes brokers remove old change nodes.
        for name in raw.get_children(root):
            raw.delete(f"{root}/{name}")
    elif change == "no pattern":
        raw.create(f"{root}/{znodes.CHANGE_PREFIX}", b"orders", sequence=True)
    elif change == "a new type":
        raw.create("/kafka-acl/Planet", b"")
    else:
        raw.delete(root, recursive=True)
        raw.create(root, b"")

    assert reader.read() is None
    assert reader.stored == {BOB, ANN}


def test_removing_old_change_nodes_changes_no_acl(address, raw):
    write(address, Verb.ADD, BOB)
    reader = Reader(address)
    reader.read()

    for name in raw.get_children(znodes.LITERAL_CHANGES):
        raw.delete(f"{znodes.LITERAL_CHANGES}/{name}")
    assert reader.read() == frozenset()

    write(address, Verb.ADD, ANN)
    assert reader.read() == {ANN.pattern}
    assert reader.stored == {BOB, ANN}


def test_new_topics_alone_are_read_again(address, raw):
    reader = Reader(address)
    reader.read()

    raw.create("/brokers/topics/audit", b'{"version":2,"partitions":{"0":[1],"1":[1]}}')
    raw.set("/brokers/topics/orders", b"{}")
    reader.read()

    assert reader.topics == {"audit": TopicInfo("audit", 2), "orders": TopicInfo("orders", 3)}


def test_fifty_thousand_nodes_or_five_cost_a_quiet_poll_the_same_few_requests(address, monkeypatch):
    calls: list[object] = []
    ask = KazooClient._call

    def counted(self, request, answer):
        calls.append(request)
        return ask(self, request, answer)

    monkeypatch.setattr(KazooClient, "_call", counted)
    costs = []
    for count in (5, 500):
        write(address, Verb.ADD, *(allow("User:bob", "READ", f"topic-{n}") for n in range(count)))
        reader = Reader(address)
        reader.read()
        before = len(calls)
        with reader.open() as client:
            client.describe()
            assert client.marks() == reader.marks
        costs.append(len(calls) - before)

    assert costs[0] == costs[1] <= 30


def test_following_the_marks_through_many_edits_ends_where_a_whole_read_does(address):
    chance = random.Random(7)
    reader = Reader(address)
    reader.read()
    there: list[AclBinding] = []
    partial = 0
    for _ in range(25):
        for _ in range(chance.randrange(4)):
            if there and chance.random() < 0.4:
                write(address, Verb.REMOVE, there.pop(chance.randrange(len(there))))
            else:
                one = allow(
                    f"User:u{chance.randrange(9)}",
                    "READ",
                    f"t{chance.randrange(6)}",
                    pattern=chance.choice(["LITERAL", "PREFIXED"]),
                )
                write(address, Verb.ADD, one)
                there += [one] if one not in there else []
        partial += reader.read() is not None
        assert reader.stored == set(there)

    assert partial == 25
