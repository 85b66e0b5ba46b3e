"""Which operations does a real broker let a user do, on each of some names?

A client asks for each operation by a call that needs it on that resource alone, for many resources at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.protocol import admin, consumer, metadata, producer

from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.simulate import Names
from devstack.servers import KafkaBroker
from tests.clusters.calls import REFUSALS, Caller, Used, end_transaction, heartbeat, records
from tests.servers import SETTLED_SECONDS, settings_of, wipe

HOST = "127.0.0.1"
USERS = ("alice", "bob", "carol")
TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID

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


@contextmanager
def probes_of(broker: KafkaBroker, word: str) -> Iterator[tuple[Ground, list[Probe]]]:
    """Yield names of a real broker without ACLs, with their topics, and clients of three users."""
    wipe(broker)
    ground = Ground.of(word)
    with closing(KafkaAdminClient(**settings_of(broker, "admin"))) as client:
        client.create_topics([NewTopic(topic, 1, 1) for topic in ground.topics])
    with ExitStack() as clients:
        yield ground, [clients.enter_context(closing(Probe(broker, user, ground))) for user in USERS]
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
