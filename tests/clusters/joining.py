"""Join groups of every type, make delegation tokens and the like on a real broker, without a consumer library."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from kafka import KafkaAdminClient
from kafka.protocol.admin import AlterClientQuotasRequest, UpdateFeaturesRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import JoinGroupRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import InitProducerIdRequest

from tests.clusters import schemas


class CreateDelegationTokenRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class CreateDelegationTokenResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class ShareGroupHeartbeatRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class ShareGroupHeartbeatResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    pass


MEMBER = "3f0c6f0e-2f3a-4a7e-9d0e-1f6a0b1c2d3e"


def send(client: KafkaAdminClient, request: Any) -> Any:
    return client._manager.run(client._manager.send, request)


def _until(client: KafkaAdminClient, make: Callable[[], Any], settled: Callable[[Any], bool]) -> Any:
    """Send until the answer is settled: a broker makes its coordinators' topics at the first request."""
    for _ in range(300):
        answer = send(client, make())
        if settled(answer):
            return answer
        time.sleep(0.1)
    raise AssertionError(answer)


def _no_error(answer: Any) -> bool:
    return bool(answer.error_code == 0)


def switch_on(client: KafkaAdminClient, features: Mapping[str, int]) -> None:
    """Switch on the group protocols of Kafka 4 on a broker that was not formatted by Kafka's own tool."""
    key = UpdateFeaturesRequest.FeatureUpdateKey
    updates = [key(feature=name, max_version_level=level, upgrade_type=1) for name, level in features.items()]
    answer = send(client, UpdateFeaturesRequest(feature_updates=updates, timeout_ms=60000))
    assert answer.error_code == 0, answer


def coordinator(client: KafkaAdminClient, name: str, kind: int = 0) -> None:
    """Wait until the broker coordinates this group (0) or transactional id (1)."""
    _until(
        client,
        lambda: FindCoordinatorRequest(key=name, key_type=kind, coordinator_keys=[name]),
        lambda answer: all(each.error_code == 0 for each in answer.coordinators),
    )


def begin_transactions(client: KafkaAdminClient, name: str) -> None:
    coordinator(client, name, 1)
    _until(
        client,
        lambda: InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60000),
        _no_error,
    )


def make_token(client: KafkaAdminClient, renewer: str) -> str:
    """Have the client's own login get a token that another user may renew; return the token's id."""
    one = CreateDelegationTokenRequest.CreatableRenewers(principal_type="User", principal_name=renewer)
    return str(
        _until(
            client, lambda: CreateDelegationTokenRequest(renewers=[one], max_lifetime_ms=-1), _no_error
        ).token_id
    )


def join_classic(client: KafkaAdminClient, group: str) -> None:
    coordinator(client, group)
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0\0\0\0\0")

    def make(member: str = "") -> Any:
        return JoinGroupRequest(
            group_id=group,
            session_timeout_ms=60000,
            rebalance_timeout_ms=60000,
            member_id=member,
            protocol_type="consumer",
            protocols=[protocol],
        )

    first = _until(client, make, lambda answer: answer.error_code in (0, 79))
    if first.error_code == 79:  # a broker first gives the member its id
        assert send(client, make(first.member_id)).error_code == 0


def join_consumer(client: KafkaAdminClient, group: str, topic: str) -> None:
    coordinator(client, group)
    _until(
        client,
        lambda: ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=MEMBER,
            member_epoch=0,
            instance_id="first",
            rebalance_timeout_ms=60000,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        ),
        _no_error,
    )


def join_share(client: KafkaAdminClient, group: str, topic: str) -> None:
    coordinator(client, group)
    _until(
        client,
        lambda: ShareGroupHeartbeatRequest(
            group_id=group, member_id=MEMBER, member_epoch=0, subscribed_topic_names=[topic]
        ),
        _no_error,
    )


def join_streams(client: KafkaAdminClient, group: str, topic: str) -> None:
    coordinator(client, group)
    topology = StreamsGroupHeartbeatRequest.Topology
    _until(
        client,
        lambda: StreamsGroupHeartbeatRequest(
            group_id=group,
            member_id=MEMBER,
            member_epoch=0,
            rebalance_timeout_ms=60000,
            process_id="p",
            active_tasks=[],
            standby_tasks=[],
            warmup_tasks=[],
            topology=topology(
                epoch=0,
                subtopologies=[
                    topology.Subtopology(
                        subtopology_id="0",
                        source_topics=[topic],
                        source_topic_regex=[],
                        state_changelog_topics=[],
                        repartition_sink_topics=[],
                        repartition_source_topics=[],
                        copartition_groups=[],
                    )
                ],
            ),
        ),
        _no_error,
    )


def limit(client: KafkaAdminClient, entity: Mapping[str, str | None], bytes_per_second: int) -> None:
    """Give a quota to what the parts of this entity name; None stands for every other one of its type."""
    entry = AlterClientQuotasRequest.EntryData
    request = AlterClientQuotasRequest(
        entries=[
            entry(
                entity=[
                    entry.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()
                ],
                ops=[entry.OpData(key="producer_byte_rate", value=float(bytes_per_second), remove=False)],
            )
        ],
        validate_only=False,
    )
    assert all(each.error_code == 0 for each in send(client, request).entries)
