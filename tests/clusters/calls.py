"""How does one send each call of the protocol to a real broker, and how does it refuse?

Most calls go through the request classes of the client library, one at a time and in a
version that names topics by name; those that it lacks are written by hand. A call made
here need not succeed: a group without members or a producer that nobody knows is an error
too, but not one of authorization.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kafka import KafkaAdminClient
from kafka.protocol import admin, consumer, metadata, producer
from kafka.record.memory_records import MemoryRecordsBuilder

from aclweb.acl.needs.calls import Api, Case
from aclweb.acl.needs.protocol import APIS
from devstack.servers import KafkaBroker
from tests.servers import settings_of

REFUSALS = {29, 30, 31, 53, 65}


@dataclass(frozen=True)
class Used:
    """The names that one sending uses."""

    topic: str
    group: str
    id: str
    owner: str = "User:erin"


@dataclass(frozen=True)
class Sending:
    """One call in one case, and how to make it on brokers from `since` on."""

    api: Api
    case: Case
    request: Callable[[Used], Any]
    since: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return f"{self.api.name} {self.case.name}".strip()


class Caller:
    """A user's connections to one broker."""

    def __init__(self, broker: KafkaBroker, user: str) -> None:
        self._broker, self._user = broker, user
        self._client = KafkaAdminClient(**settings_of(broker, user), request_timeout_ms=60_000)
        self._socket: socket.socket | None = None

    def close(self) -> None:
        self._client.close()
        if self._socket is not None:
            self._socket.close()

    def answer(self, request: Any) -> Any:
        manager = self._client._manager
        return manager.run(manager.send, request)

    def refusals(self, request: Any) -> set[int]:
        """Send, and return the authorization errors anywhere in the answer."""
        if isinstance(request, ByHand):
            return request.refusals(self.sent(request))
        return {code for code in codes_in(self.answer(request)) if code in REFUSALS}

    def sent(self, request: ByHand) -> bytes:
        """Send what is written by hand, and return the answer behind its header."""
        if self._socket is None:
            host, _, port = self._broker.bootstrap.rpartition(":")
            self._socket = socket.create_connection((host, int(port)), timeout=60)
            self._exchange(17, 1, False, _short(b"PLAIN"))
            token = f"\0{self._user}\0{self._broker.users[self._user]}".encode()
            self._exchange(36, 0, False, struct.pack(">i", len(token)) + token)
        return self._exchange(request.key, request.version, True, request.body)

    def _exchange(self, key: int, version: int, flexible: bool, body: bytes) -> bytes:
        assert self._socket is not None
        header = struct.pack(">hhi", key, version, 7) + _short(b"test") + (b"\0" if flexible else b"")
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        (length,) = struct.unpack(">i", self._receive(4))
        answer = self._receive(length)
        return answer[5:] if flexible else answer[4:]

    def _receive(self, count: int) -> bytes:
        assert self._socket is not None
        found = b""
        while len(found) < count:
            part = self._socket.recv(count - len(found))
            assert part, "The broker closed the connection."
            found += part
        return found


@dataclass(frozen=True)
class ByHand:
    """A flexible request as bytes. code_at: where its answer has its error code, behind the header."""

    key: int
    version: int
    body: bytes
    code_at: int

    def refusals(self, answer: bytes) -> set[int]:
        (code,) = struct.unpack_from(">h", answer, self.code_at)
        return {code} & REFUSALS


def codes_in(answer: Any) -> Iterator[int]:
    """Yield every error code in an answer."""
    if isinstance(answer, list | tuple):
        for item in answer:
            yield from codes_in(item)
        return
    fields = getattr(type(answer), "_struct", None)
    if fields is None:
        return
    for field in fields.fields.values():
        value = getattr(answer, field.name, None)
        if field.name.endswith("error_code") and isinstance(value, int):
            # The error of a hidden part is no refusal of the call.
            if field.name != "topic_config_error_code":
                yield value
        else:
            yield from codes_in(value)


def _short(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def compact(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    return bytes([len(text) + 1]) + text.encode()


def many(*items: bytes) -> bytes:
    return bytes([len(items) + 1]) + b"".join(items)


def records(*, transactional: bool = False, idempotent: bool = False) -> bytes:
    known = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0} if transactional or idempotent else {}
    builder = MemoryRecordsBuilder(2, 0, 10_000, transactional=transactional, **known)
    builder.append(timestamp=None, key=None, value=b"hello")
    builder.close()
    return bytes(builder.buffer())


# --- the calls ------------------------------------------------------------------------------


def _produce(used: Used, *, transactional: bool = False, idempotent: bool = False) -> Any:
    ask = producer.ProduceRequest
    partition = ask.TopicProduceData.PartitionProduceData(
        index=0, records=records(transactional=transactional, idempotent=idempotent)
    )
    return ask(
        transactional_id=used.id if transactional else None,
        acks=1,
        timeout_ms=5000,
        topic_data=[ask.TopicProduceData(name=used.topic, partition_data=[partition])],
        max_version=12,
    )


def _fetch(used: Used, replica: int) -> Any:
    ask = consumer.FetchRequest
    partition = ask.FetchTopic.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    return ask(
        replica_id=replica,
        max_wait_ms=10,
        min_bytes=0,
        max_bytes=1000,
        topics=[ask.FetchTopic(topic=used.topic, partitions=[partition])],
        max_version=12,
    )


def _list_offsets(used: Used) -> Any:
    ask = consumer.ListOffsetsRequest
    partition = ask.ListOffsetsTopic.ListOffsetsPartition(partition_index=0, timestamp=-1)
    return ask(replica_id=-1, topics=[ask.ListOffsetsTopic(name=used.topic, partitions=[partition])])


def _metadata(used: Used) -> Any:
    ask = metadata.MetadataRequest
    return ask(
        topics=[ask.MetadataRequestTopic(name=used.topic)], allow_auto_topic_creation=False, max_version=9
    )


def commit_offset(used: Used) -> Any:
    ask = consumer.OffsetCommitRequest
    topic = ask.OffsetCommitRequestTopic
    partition = topic.OffsetCommitRequestPartition(partition_index=0, committed_offset=0)
    return ask(
        group_id=used.group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[topic(name=used.topic, partitions=[partition])],
        max_version=8,
    )


def _offset_fetch(used: Used, *, everything: bool = False) -> Any:
    ask = consumer.OffsetFetchRequest
    topics = None if everything else [ask.OffsetFetchRequestTopic(name=used.topic, partition_indexes=[0])]
    return ask(group_id=used.group, topics=topics, max_version=7)


def find_coordinator(key: str, kind: int) -> Any:
    return metadata.FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key], max_version=5)


def _join(used: Used) -> Any:
    ask = consumer.JoinGroupRequest
    return ask(
        group_id=used.group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[ask.JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def _create_topics(used: Used) -> Any:
    ask = admin.CreateTopicsRequest
    topic = ask.CreatableTopic(
        name=f"{used.topic}", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return ask(topics=[topic], timeout_ms=5000, validate_only=True)


def _delete_topics(used: Used) -> Any:
    return admin.DeleteTopicsRequest(topic_names=[used.topic], timeout_ms=5000, max_version=5)


def _delete_records(used: Used) -> Any:
    ask = admin.DeleteRecordsRequest
    topic = ask.DeleteRecordsTopic
    return ask(
        topics=[
            topic(name=used.topic, partitions=[topic.DeleteRecordsPartition(partition_index=0, offset=0)])
        ],
        timeout_ms=5000,
    )


def init_producer(id: str | None) -> Any:
    return producer.InitProducerIdRequest(
        transactional_id=id, transaction_timeout_ms=10_000, producer_id=-1, producer_epoch=-1, max_version=5
    )


def _leader_epoch(used: Used) -> Any:
    ask = consumer.OffsetForLeaderEpochRequest
    topic = ask.OffsetForLeaderTopic
    partition = topic.OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=0)
    return ask(replica_id=-2, topics=[topic(topic=used.topic, partitions=[partition])])


def _add_partitions(used: Used) -> Any:
    ask = producer.AddPartitionsToTxnRequest
    return ask(
        v3_and_below_transactional_id=used.id,
        v3_and_below_producer_id=1,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[ask.AddPartitionsToTxnTopic(name=used.topic, partitions=[0])],
        max_version=3,
    )


def _add_partitions_as_broker(used: Used) -> Any:
    ask = producer.AddPartitionsToTxnRequest
    transaction = ask.AddPartitionsToTxnTransaction(
        transactional_id=used.id,
        producer_id=1,
        producer_epoch=0,
        verify_only=True,
        topics=[ask.AddPartitionsToTxnTopic(name=used.topic, partitions=[0])],
    )
    return ask(transactions=[transaction], min_version=4)


def _add_offsets(used: Used) -> Any:
    return producer.AddOffsetsToTxnRequest(
        transactional_id=used.id, producer_id=1, producer_epoch=0, group_id=used.group
    )


def end_transaction(used: Used) -> Any:
    return producer.EndTxnRequest(
        transactional_id=used.id, producer_id=1, producer_epoch=0, committed=True, max_version=4
    )


def _markers(used: Used) -> Any:
    ask = producer.WriteTxnMarkersRequest
    marker = ask.WritableTxnMarker
    return ask(
        markers=[
            marker(
                producer_id=1,
                producer_epoch=0,
                transaction_result=False,
                topics=[marker.WritableTxnMarkerTopic(name=f"{used.topic}-none", partition_indexes=[0])],
                coordinator_epoch=0,
            )
        ]
    )


def _txn_commit(used: Used) -> Any:
    ask = producer.TxnOffsetCommitRequest
    topic = ask.TxnOffsetCommitRequestTopic
    partition = topic.TxnOffsetCommitRequestPartition(
        partition_index=0, committed_offset=0, committed_leader_epoch=-1, committed_metadata=""
    )
    return ask(
        transactional_id=used.id,
        group_id=used.group,
        producer_id=1,
        producer_epoch=0,
        generation_id=-1,
        member_id="",
        group_instance_id=None,
        topics=[topic(name=used.topic, partitions=[partition])],
        max_version=4,
    )


def _acl_filter(ask: Any) -> Any:
    return ask(
        resource_type_filter=2,
        resource_name_filter="nobody-uses-this",
        pattern_type_filter=3,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


def _create_acls(used: Used) -> Any:
    ask = admin.CreateAclsRequest
    # A name of the cluster that no broker takes, so that nothing is made.
    refused = ask.AclCreation(
        resource_type=4,
        resource_name="another",
        resource_pattern_type=3,
        principal="User:nobody",
        host="*",
        operation=8,
        permission_type=3,
    )
    return ask(creations=[refused])


def _describe_configs(kind: int, name: str) -> Any:
    ask = admin.DescribeConfigsRequest
    resource = ask.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    return ask(resources=[resource], include_synonyms=False, include_documentation=False)


def _alter_configs(kind: int, name: str) -> Any:
    ask = admin.AlterConfigsRequest
    resource = ask.AlterConfigsResource(resource_type=kind, resource_name=name, configs=[])
    return ask(resources=[resource], validate_only=True)


def _incremental(kind: int, name: str) -> Any:
    ask = admin.IncrementalAlterConfigsRequest
    resource = ask.AlterConfigsResource(resource_type=kind, resource_name=name, configs=[])
    return ask(resources=[resource], validate_only=True)


def _create_partitions(used: Used) -> Any:
    ask = admin.CreatePartitionsRequest
    topic = ask.CreatePartitionsTopic(name=used.topic, count=2, assignments=None)
    return ask(topics=[topic], timeout_ms=5000, validate_only=True)


def _reassign(used: Used) -> Any:
    ask = admin.AlterPartitionReassignmentsRequest
    topic = ask.ReassignableTopic
    partition = topic.ReassignablePartition(partition_index=0, replicas=None)
    return ask(timeout_ms=5000, topics=[topic(name=used.topic, partitions=[partition])])


def _offset_delete(used: Used) -> Any:
    ask = consumer.OffsetDeleteRequest
    topic = ask.OffsetDeleteRequestTopic
    partition = topic.OffsetDeleteRequestPartition(partition_index=0)
    return ask(group_id=used.group, topics=[topic(name=used.topic, partitions=[partition])])


def _alter_quotas(used: Used) -> Any:
    ask = admin.AlterClientQuotasRequest
    entry = ask.EntryData
    quota = entry(
        entity=[entry.EntityData(entity_type="user", entity_name="nobody")],
        ops=[entry.OpData(key="consumer_byte_rate", value=1000.0, remove=False)],
    )
    return ask(entries=[quota], validate_only=True)


def _alter_scram(used: Used) -> Any:
    ask = admin.AlterUserScramCredentialsRequest
    return ask(deletions=[ask.ScramCredentialDeletion(name="nobody", mechanism=1)], upsertions=[])


def _describe_producers(used: Used) -> Any:
    ask = admin.DescribeProducersRequest
    return ask(topics=[ask.TopicRequest(name=used.topic, partition_indexes=[0])])


def _topic_partitions(used: Used) -> Any:
    ask = admin.DescribeTopicPartitionsRequest
    return ask(topics=[ask.TopicRequest(name=used.topic)], response_partition_limit=10, cursor=None)


def _quorum(used: Used) -> Any:
    ask = admin.DescribeQuorumRequest
    topic = ask.TopicData
    partition = topic.PartitionData(partition_index=0)
    return ask(topics=[topic(topic_name="__cluster_metadata", partitions=[partition])])


def _log_dirs(used: Used) -> Any:
    ask = admin.AlterReplicaLogDirsRequest
    directory = ask.AlterReplicaLogDir
    topic = directory.AlterReplicaLogDirTopic(name=used.topic, partitions=[0])
    return ask(dirs=[directory(path="/nowhere", topics=[topic])])


def _update_features(used: Used) -> Any:
    ask = admin.UpdateFeaturesRequest
    update = ask.FeatureUpdateKey(feature="nothing.known", max_version_level=1, upgrade_type=1)
    return ask(timeout_ms=5000, feature_updates=[update], validate_only=True)


def heartbeat(used: Used) -> Any:
    return consumer.HeartbeatRequest(group_id=used.group, generation_id=1, member_id="m")


def _leave(used: Used) -> Any:
    ask = consumer.LeaveGroupRequest
    return ask(group_id=used.group, members=[ask.MemberIdentity(member_id="m")])


def _sync(used: Used) -> Any:
    return consumer.SyncGroupRequest(
        group_id=used.group,
        generation_id=1,
        member_id="m",
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )


def _token_for(used: Used) -> ByHand:
    kind, _, name = used.owner.partition(":")
    body = compact(kind) + compact(name) + many() + struct.pack(">q", -1) + b"\0"
    return ByHand(38, 3, body, code_at=0)


def _own_token(used: Used) -> ByHand:
    return ByHand(38, 3, compact(None) + compact(None) + many() + struct.pack(">q", -1) + b"\0", code_at=0)


def new_heartbeat(used: Used) -> ByHand:
    body = compact(used.group) + compact("") + struct.pack(">i", 0) + compact(None) + compact(None)
    body += struct.pack(">i", 10_000) + many(compact(used.topic)) + compact(None) + many() + b"\0"
    return ByHand(68, 0, body, code_at=4)


def new_describe(used: Used) -> ByHand:
    return ByHand(69, 0, many(compact(used.group)) + b"\0\0", code_at=5)


def share_heartbeat(used: Used) -> ByHand:
    body = compact(used.group) + compact("AAAAAAAAAAAAAAAAAAAAAQ") + struct.pack(">i", 0) + compact(None)
    return ByHand(76, 1, body + many(compact(used.topic)) + b"\0", code_at=4)


def share_describe(used: Used) -> ByHand:
    return ByHand(77, 1, many(compact(used.group)) + b"\0\0", code_at=5)


def streams_heartbeat(used: Used) -> ByHand:
    """A member joins whose application reads one topic and has none of its own."""
    reads = compact("0") + many(compact(used.topic)) + many() * 5 + b"\0"
    body = compact(used.group) + compact("AAAAAAAAAAAAAAAAAAAAAQ") + struct.pack(">ii", 0, 0)
    body += compact(None) + compact(None) + struct.pack(">i", 10_000)
    body += b"\1" + struct.pack(">i", 0) + many(reads) + b"\0"
    tasks, endpoint = many() * 3, b"\xff"
    return ByHand(88, 0, body + tasks + compact("p") + endpoint + many() * 3 + b"\0\0", code_at=4)


def streams_describe(used: Used) -> ByHand:
    return ByHand(89, 0, many(compact(used.group)) + b"\0\0", code_at=5)


def _unregister(used: Used) -> ByHand:
    return ByHand(64, 0, struct.pack(">i", 999) + b"\0", code_at=4)


def turn_on(feature: str) -> Any:
    """The request that makes a KRaft cluster use a feature's first version, as its newest formats would."""
    ask = admin.UpdateFeaturesRequest
    update = ask.FeatureUpdateKey(feature=feature, max_version_level=1, upgrade_type=1)
    return ask(timeout_ms=5000, feature_updates=[update], validate_only=False)


def _send(name: str, request: Callable[[Used], Any], since: tuple[int, int] = (0, 0)) -> Sending:
    word, _, case = name.partition(" ")
    api = next(one for one in APIS.values() if one.name == word)
    return Sending(api, api.case(case), request, since)


SENDINGS = (
    _send("PRODUCE plain", _produce),
    _send("PRODUCE idempotent", lambda used: _produce(used, idempotent=True)),
    _send("PRODUCE transactional", lambda used: _produce(used, transactional=True)),
    _send("FETCH consumer", lambda used: _fetch(used, -1)),
    _send("FETCH follower", lambda used: _fetch(used, 7)),
    _send("LIST_OFFSETS", _list_offsets),
    _send("METADATA named", _metadata),
    _send("OFFSET_COMMIT", commit_offset),
    _send("OFFSET_FETCH named", _offset_fetch),
    _send("OFFSET_FETCH all", lambda used: _offset_fetch(used, everything=True)),
    _send("FIND_COORDINATOR group", lambda used: find_coordinator(used.group, 0)),
    _send("FIND_COORDINATOR transaction", lambda used: find_coordinator(used.id, 1)),
    _send("JOIN_GROUP", _join),
    _send("HEARTBEAT", heartbeat),
    _send("LEAVE_GROUP", _leave),
    _send("SYNC_GROUP", _sync),
    _send("DESCRIBE_GROUPS", lambda used: admin.DescribeGroupsRequest(groups=[used.group])),
    _send("LIST_GROUPS", lambda used: admin.ListGroupsRequest(states_filter=[], types_filter=[])),
    _send("CREATE_TOPICS", _create_topics),
    _send("DELETE_TOPICS named", _delete_topics),
    _send("DELETE_RECORDS", _delete_records),
    _send("INIT_PRODUCER_ID idempotent", lambda used: init_producer(None)),
    _send("INIT_PRODUCER_ID transactional", lambda used: init_producer(used.id)),
    _send("OFFSET_FOR_LEADER_EPOCH", _leader_epoch),
    _send("ADD_PARTITIONS_TO_TXN client", _add_partitions),
    _send("ADD_PARTITIONS_TO_TXN broker", _add_partitions_as_broker),
    _send("ADD_OFFSETS_TO_TXN", _add_offsets),
    _send("END_TXN", end_transaction),
    _send("WRITE_TXN_MARKERS", _markers),
    _send("TXN_OFFSET_COMMIT", _txn_commit),
    _send("DESCRIBE_ACLS", lambda used: _acl_filter(admin.DescribeAclsRequest)),
    _send("CREATE_ACLS", _create_acls),
    _send(
        "DELETE_ACLS",
        lambda used: admin.DeleteAclsRequest(filters=[_acl_filter(admin.DeleteAclsRequest.DeleteAclsFilter)]),
    ),
    _send("DESCRIBE_CONFIGS topic", lambda used: _describe_configs(2, used.topic)),
    _send("DESCRIBE_CONFIGS broker", lambda used: _describe_configs(4, "1")),
    _send("DESCRIBE_CONFIGS group", lambda used: _describe_configs(32, used.group), (4, 0)),
    _send("ALTER_CONFIGS topic", lambda used: _alter_configs(2, used.topic)),
    _send("ALTER_CONFIGS broker", lambda used: _alter_configs(4, "1")),
    _send("INCREMENTAL_ALTER_CONFIGS topic", lambda used: _incremental(2, used.topic)),
    _send("INCREMENTAL_ALTER_CONFIGS broker", lambda used: _incremental(4, "1")),
    _send("INCREMENTAL_ALTER_CONFIGS group", lambda used: _incremental(32, used.group), (4, 0)),
    _send("ALTER_REPLICA_LOG_DIRS", _log_dirs),
    _send("DESCRIBE_LOG_DIRS", lambda used: admin.DescribeLogDirsRequest(topics=None)),
    _send("CREATE_PARTITIONS", _create_partitions),
    _send("CREATE_DELEGATION_TOKEN own", _own_token),
    _send("CREATE_DELEGATION_TOKEN other", _token_for),
    _send("DELETE_GROUPS", lambda used: admin.DeleteGroupsRequest(groups_names=[used.group])),
    _send(
        "ELECT_LEADERS",
        lambda used: admin.ElectLeadersRequest(election_type=0, topic_partitions=[], timeout_ms=5000),
    ),
    _send("ALTER_PARTITION_REASSIGNMENTS", _reassign),
    _send(
        "LIST_PARTITION_REASSIGNMENTS",
        lambda used: admin.ListPartitionReassignmentsRequest(timeout_ms=5000, topics=None),
    ),
    _send("OFFSET_DELETE", _offset_delete),
    _send(
        "DESCRIBE_CLIENT_QUOTAS", lambda used: admin.DescribeClientQuotasRequest(components=[], strict=False)
    ),
    _send("ALTER_CLIENT_QUOTAS", _alter_quotas),
    _send(
        "DESCRIBE_USER_SCRAM_CREDENTIALS",
        lambda used: admin.DescribeUserScramCredentialsRequest(
            users=[admin.DescribeUserScramCredentialsRequest.UserName(name="nobody")]
        ),
    ),
    _send("ALTER_USER_SCRAM_CREDENTIALS", _alter_scram),
    _send("DESCRIBE_QUORUM", _quorum, (4, 0)),
    _send("UPDATE_FEATURES", _update_features),
    _send("DESCRIBE_CLUSTER broker", lambda used: admin.DescribeClusterRequest()),
    _send("DESCRIBE_PRODUCERS", _describe_producers),
    _send(
        "DESCRIBE_TRANSACTIONS", lambda used: admin.DescribeTransactionsRequest(transactional_ids=[used.id])
    ),
    _send(
        "LIST_TRANSACTIONS",
        lambda used: admin.ListTransactionsRequest(state_filters=[], producer_id_filters=[], max_version=0),
    ),
    _send("CONSUMER_GROUP_HEARTBEAT", new_heartbeat, (4, 0)),
    _send("CONSUMER_GROUP_DESCRIBE", new_describe, (4, 0)),
    _send("SHARE_GROUP_HEARTBEAT", share_heartbeat, (4, 1)),
    _send("SHARE_GROUP_DESCRIBE", share_describe, (4, 1)),
    _send("STREAMS_GROUP_HEARTBEAT", streams_heartbeat, (4, 1)),
    _send("STREAMS_GROUP_DESCRIBE", streams_describe, (4, 1)),
    _send("UNREGISTER_BROKER", _unregister, (4, 0)),
    _send("LIST_CONFIG_RESOURCES", lambda used: admin.ListConfigResourcesRequest(max_version=0), (4, 0)),
    _send("DESCRIBE_TOPIC_PARTITIONS named", _topic_partitions, (4, 0)),
)
"""Every call that can be made without harm, each in the cases that a client can make."""
