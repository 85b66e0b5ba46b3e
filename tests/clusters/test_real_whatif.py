"""What a what-if says of a change, real clients meet: each decision is probed before and after, for random changes.

The changes follow each other on one broker, so that what is probed after one is what is before the next.
A client asks for each operation by a call that needs it on that resource alone, for many resources at once.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.protocol import admin, consumer, metadata, producer

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Delta, Operation, ResourceType
from aclweb.acl.simulate import Impact, Names, simulate
from devstack.servers import KafkaBroker
from tests.builders import acl
from tests.clusters.calls import REFUSALS, Caller, Used, end_transaction, heartbeat, records
from tests.random_cases import SCALE
from tests.servers import SETTLED_SECONDS, settings_of, settle, wipe

pytestmark = pytest.mark.kafka

BROKERS = {
    "kafka44": AuthorizerSettings("standard", "4.4", super_users=frozenset({"User:admin"})),
    "kafka39": AuthorizerSettings("acl", "3.9", super_users=frozenset({"User:admin"})),
}
CHANGES = 100 if SCALE > 1 else 6
HOST = "127.0.0.1"
USERS = ("alice", "bob", "carol")
TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
OPERATIONS = {
    TOPIC: ("READ", "WRITE", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    GROUP: ("READ", "DESCRIBE", "DELETE"),
    ID: ("WRITE", "DESCRIBE"),
}
MOST_ACLS = 14

Asked = tuple[str, Operation, ResourceType, str]
"""User, operation, resource type and name."""


@dataclass(frozen=True)
class Ground:
    """The names that the changes are about. to_come: a topic that does not exist."""

    topics: tuple[str, ...]
    to_come: str
    groups: tuple[str, ...]
    ids: tuple[str, ...]
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, word: str) -> Ground:
        pay, ship = f"{word}-pay", f"{word}-ship"
        return cls(
            topics=(f"{pay}.eu", f"{pay}.us", pay, ship),
            to_come=f"{pay}.new",
            groups=(f"{pay}-readers", f"{ship}-readers"),
            ids=(f"{pay}-writer", f"{ship}-writer"),
            prefixes=(word, pay, f"{pay}.", f"{pay}-", ship),
        )

    @property
    def names(self) -> Names:
        return Names(
            topics=self.topics,
            groups=self.groups,
            transactional_ids=self.ids,
            principals=tuple(f"User:{user}" for user in USERS),
            hosts=(HOST,),
        )

    def of_type(self, kind: ResourceType) -> tuple[str, ...]:
        return {TOPIC: self.topics, GROUP: self.groups, ID: self.ids}[kind]


def random_acl(chance: random.Random, ground: Ground, engine: str) -> AclBinding:
    kind = chance.choice((TOPIC, TOPIC, GROUP, ID))
    name, pattern = chance.choice(
        (
            (chance.choice(ground.of_type(kind)), "LITERAL"),
            (chance.choice(ground.prefixes), "PREFIXED"),
            ("*", "LITERAL"),
        )
    )
    ranges = ("127.0.0.0/8", "10.0.0.0/8") if engine == "standard" else ()
    return acl(
        "DENY" if chance.random() < 0.25 else "ALLOW",
        chance.choice((*(f"User:{user}" for user in USERS), "User:*")),
        chance.choice(("ALL", *OPERATIONS[kind])),
        name,
        pattern=pattern,
        resource_type=kind.name,
        host=chance.choice(("*", "*", HOST, "10.0.0.7", *ranges)),
    )


def random_change(chance: random.Random, ground: Ground, engine: str, present: Sequence[AclBinding]) -> Delta:
    """Return a change of up to five ACLs; what is present does not grow for ever."""
    added = {random_acl(chance, ground, engine) for _ in range(chance.randint(0, 3))} - set(present)
    least = 0 if added else 1
    fewest = max(least, len(present) + len(added) - MOST_ACLS)
    removed = chance.sample(present, min(len(present), chance.randint(fewest, max(fewest, 2))))
    if not added and not removed:
        added = {random_acl(chance, ground, engine)}
    return Delta(tuple(sorted(added, key=str)), tuple(removed))


# --- what a real client meets ---


class Probe:
    """One user, who asks a broker for everything that is probed."""

    def __init__(self, broker: KafkaBroker, user: str, ground: Ground) -> None:
        self.user, self._ground, self._caller = user, ground, Caller(broker, user)

    def close(self) -> None:
        self._caller.close()

    def allowed(self) -> Iterator[tuple[Asked, bool]]:
        """Yield each question and whether the broker lets the user do it."""
        ground = self._ground
        for operation, (request, codes) in _of_topics(ground).items():
            for name, code in codes(self._caller.answer(request)):
                yield (self.user, Operation[operation], TOPIC, name), code not in REFUSALS
        yield from self._coordinators(GROUP, ground.groups)
        yield from self._coordinators(ID, ground.ids)
        deleted = self._caller.answer(admin.DeleteGroupsRequest(groups_names=list(ground.groups)))
        for result in deleted.results:
            yield (self.user, Operation.DELETE, GROUP, result.group_id), result.error_code not in REFUSALS
        for group in ground.groups:
            refused = self._caller.refusals(heartbeat(Used(ground.topics[0], group, ground.ids[0])))
            yield (self.user, Operation.READ, GROUP, group), not refused
        for own in ground.ids:
            refused = self._caller.refusals(end_transaction(Used(ground.topics[0], ground.groups[0], own)))
            yield (self.user, Operation.WRITE, ID, own), not refused

    def _coordinators(self, kind: ResourceType, names: Sequence[str]) -> Iterator[tuple[Asked, bool]]:
        request = metadata.FindCoordinatorRequest(
            key=names[0], key_type=int(kind is ID), coordinator_keys=list(names), min_version=4, max_version=5
        )
        for found in self._caller.answer(request).coordinators:
            yield (self.user, Operation.DESCRIBE, kind, found.key), found.error_code not in REFUSALS


Codes = Callable[[Any], Iterable[tuple[str, int]]]


def _of_topics(ground: Ground) -> dict[str, tuple[Any, Codes]]:
    """Return for each operation the call that needs it, and how to read its error for each topic."""
    existing, every = ground.topics, (*ground.topics, ground.to_come)
    seen, sent, read = metadata.MetadataRequest, producer.ProduceRequest, consumer.FetchRequest
    made, more, cut = admin.CreateTopicsRequest, admin.CreatePartitionsRequest, admin.DeleteRecordsRequest
    configs, altered = admin.DescribeConfigsRequest, admin.IncrementalAlterConfigsRequest
    partition = sent.TopicProduceData.PartitionProduceData(index=0, records=records())
    fetched = read.FetchTopic.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    first = cut.DeleteRecordsTopic.DeleteRecordsPartition(partition_index=0, offset=0)

    def by(items: str, name: str, parts: str = "") -> Codes:
        def codes(answer: Any) -> Iterable[tuple[str, int]]:
            for item in getattr(answer, items):
                (one,) = getattr(item, parts) if parts else (item,)
                yield getattr(item, name), one.error_code

        return codes

    return {
        "DESCRIBE": (
            seen(
                topics=[seen.MetadataRequestTopic(name=name) for name in every],
                allow_auto_topic_creation=False,
                max_version=9,
            ),
            by("topics", "name"),
        ),
        "WRITE": (
            sent(
                transactional_id=None,
                acks=1,
                timeout_ms=5000,
                topic_data=[sent.TopicProduceData(name=name, partition_data=[partition]) for name in every],
                max_version=12,
            ),
            by("responses", "name", "partition_responses"),
        ),
        "READ": (
            read(
                replica_id=-1,
                max_wait_ms=1,
                min_bytes=0,
                max_bytes=1000,
                topics=[read.FetchTopic(topic=name, partitions=[fetched]) for name in every],
                max_version=12,
            ),
            by("responses", "topic", "partitions"),
        ),
        "CREATE": (
            made(
                topics=[
                    made.CreatableTopic(
                        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
                    )
                    for name in existing
                ],
                timeout_ms=5000,
                validate_only=True,
            ),
            by("topics", "name"),
        ),
        "ALTER": (
            more(
                topics=[
                    more.CreatePartitionsTopic(name=name, count=2, assignments=None) for name in existing
                ],
                timeout_ms=5000,
                validate_only=True,
            ),
            by("results", "name"),
        ),
        "DELETE": (
            cut(
                topics=[cut.DeleteRecordsTopic(name=name, partitions=[first]) for name in existing],
                timeout_ms=5000,
            ),
            by("topics", "name", "partitions"),
        ),
        "DESCRIBE_CONFIGS": (
            configs(
                resources=[
                    configs.DescribeConfigsResource(
                        resource_type=2, resource_name=name, configuration_keys=["retention.ms"]
                    )
                    for name in existing
                ],
                include_synonyms=False,
                include_documentation=False,
            ),
            by("results", "resource_name"),
        ),
        "ALTER_CONFIGS": (
            altered(
                resources=[
                    altered.AlterConfigsResource(resource_type=2, resource_name=name, configs=[])
                    for name in existing
                ],
                validate_only=True,
            ),
            by("responses", "resource_name"),
        ),
    }


# --- what is foretold ---


def change_of(impact: Impact, asked: Asked) -> str | None:
    """Return the list of the impact that holds a cell, None for an unchanged one."""
    user, operation, kind, name = asked
    axis = impact.axes.names.get(kind)
    if axis is None:
        return None
    place = axis.place_of(name)
    if place < 0:
        longest = max((own for own in axis.prefixes if name.startswith(own)), key=len, default=None)
        place = axis.size - 1 if longest is None else len(axis.exact) + list(axis.prefixes).index(longest)
    who, where = impact.axes.principals.one(f"User:{user}"), impact.axes.hosts.one(HOST)
    found = [
        group.change
        for group in impact.groups
        if group.resource_type is kind
        and operation in group.operations
        and group.principals & who
        and group.hosts & where
        and group.names >> place & 1
    ]
    assert len(found) <= 1
    return found[0] if found else None


def foretold(was: dict[Asked, bool], impact: Impact) -> dict[Asked, bool]:
    """Return what clients will meet. Fails where they met before what the what-if does not say."""
    comes: dict[Asked, bool] = {}
    for asked, allowed in was.items():
        change = change_of(impact, asked)
        if change is not None:
            assert allowed == (change != "gains"), (asked, change)
        comes[asked] = change != "loses" if change is not None else allowed
    return comes


@pytest.fixture(params=BROKERS)
def probing(request, fresh) -> Iterator[tuple[KafkaBroker, AuthorizerSettings, Ground, list[Probe]]]:
    """A real broker without ACLs, its settings, the topics of the changes, and clients of three users."""
    broker: KafkaBroker = request.getfixturevalue(request.param)
    wipe(broker)
    ground = Ground.of(fresh)
    with closing(KafkaAdminClient(**settings_of(broker, "admin"))) as client:
        client.create_topics([NewTopic(topic, 1, 1) for topic in ground.topics])
    with ExitStack() as clients:
        probes = [clients.enter_context(closing(Probe(broker, user, ground))) for user in USERS]
        yield broker, BROKERS[request.param], ground, probes
    wipe(broker)


def met(probes: Iterable[Probe], expected: dict[Asked, bool] | None = None) -> dict[Asked, bool]:
    """Return what every client meets, once that is what is expected or no patience is left.

    KRaft tells its controller and its broker of a write one after the other.
    """
    deadline = time.monotonic() + SETTLED_SECONDS
    while True:
        found = {asked: allowed for probe in probes for asked, allowed in probe.allowed()}
        if expected is None or found == expected or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def test_real_clients_meet_what_the_what_if_of_each_random_change_says(probing) -> None:
    broker, settings, ground, probes = probing
    chance = random.Random(f"what-ifs on {broker.engine}")
    present: list[AclBinding] = []
    seen: Counter[str] = Counter()
    was = met(probes)
    assert not any(was.values())
    for _ in range(CHANGES):
        delta = random_change(chance, ground, broker.engine, present)
        impact = simulate(delta, AclIndex(present), ground.names, settings)
        expected = foretold(was, impact)
        settle(broker, add=delta.add, remove=delta.remove)
        is_now = met(probes, expected)
        present = list(delta.applied_to(present))
        wrong = {asked: allowed for asked, allowed in is_now.items() if allowed != expected[asked]}
        assert wrong == {}, (delta, present)
        assert is_now == {asked: decided(asked, present, settings) for asked in is_now}
        seen.update(str(change_of(impact, asked)) for asked in is_now)
        was = is_now
    print(f"{CHANGES} changes, {len(was)} decisions before and after each: {dict(seen)}")
    assert min(seen["gains"], seen["loses"], seen["None"]) > 0


def decided(asked: Asked, present: Iterable[AclBinding], settings: AuthorizerSettings) -> bool:
    user, operation, kind, name = asked
    request = AccessRequest(f"User:{user}", HOST, operation, kind, name)
    return decide(request, AclIndex(present), settings)[0] is Result.ALLOWED
