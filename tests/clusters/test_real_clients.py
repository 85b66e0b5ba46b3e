"""Real clients do what `needs` says with exactly the ACLs that it names, and fail as foretold without one of them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.needs.answers import assess, find_action, needed_acls
from aclweb.acl.needs.assessment import Assessment
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.clusters.calls import REFUSALS
from tests.servers import settings_of, settle, wipe

HOST = "127.0.0.1"
RULES = {"standard": AuthorizerSettings("standard", "4.4"), "acl": AuthorizerSettings("acl", "3.9")}
SILENCE_SECONDS = 2.5
"""How long a consumer is watched that is foretold to see nothing and to be told nothing."""
PATIENCE_SECONDS = 120.0
"""How long a client may take that is foretold to work or to meet an error; it takes none of it on a quiet machine."""
AT_ONCE = 6
GROUP_ID_NOT_FOUND = 69

# Rights on one topic let any idempotent producer start, so it has users of its own.
USUAL, BARE = "bob", "carol"
NOTHING = "nothing"
ALL = "with all that is needed"


@dataclass(frozen=True)
class Trial:
    """One client action under one set of ACLs, each with names of its own."""

    action: str
    ground: str
    user: str
    names: Mapping[str, tuple[str, ...]]
    acls: tuple[AclBinding, ...]
    patience_seconds: float = PATIENCE_SECONDS

    def __str__(self) -> str:
        return f"{self.action}, {self.ground}"

    @property
    def topic(self) -> str:
        return self.names["topic"][0]

    @property
    def group(self) -> str | None:
        return self.names["group"][0] if "group" in self.names else None


class Desk:
    """One real broker with the topics of all trials, a record in each, and the ACLs of all trials."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.authorizer_settings = RULES[broker.engine]

    def settings(self, user: str) -> dict[str, object]:
        return settings_of(self.broker, user)

    def make_ready(self, trials: list[Trial]) -> None:
        made = [trial.topic for trial in trials if trial.action != "admin-create-topics"]
        with closing(KafkaAdminClient(**self.settings("admin"))) as client:
            client.create_topics([NewTopic(topic, 1, 1) for topic in made])
        with closing(KafkaProducer(**self.settings("admin"), transactional_id="ready")) as producer:
            # Both kinds of coordinators make their topics when they are first asked for.
            producer.init_transactions()
            producer.begin_transaction()
            for topic in made:
                producer.send(topic, b"hello")
            offsets = {TopicPartition(made[0], 0): OffsetAndMetadata(0, "", -1)}
            producer.send_offsets_to_transaction(offsets, "ready")
            producer.commit_transaction()
        settle(self.broker, add={acl for trial in trials for acl in trial.acls})

    def foretell(self, trial: Trial, acls: AclIndex) -> Assessment:
        return assess(
            find_action(trial.action),
            principal=f"User:{trial.user}",
            host=HOST,
            names=trial.names,
            index=acls,
            settings=self.authorizer_settings,
        )


# --- what the clients do --------------------------------------------------------------------


def produce(desk: Desk, trial: Trial) -> object:
    return _produce(desk, trial, acks=1, retries=0, enable_idempotence=False)


def produce_idempotent(desk: Desk, trial: Trial) -> object:
    return _produce(desk, trial, enable_idempotence=True)


def produce_transactional(desk: Desk, trial: Trial) -> object:
    return _produce(desk, trial, transactional_id=trial.names["transactional-id"][0])


def _produce(desk: Desk, trial: Trial, **how: object) -> object:
    milliseconds = int(trial.patience_seconds * 1000)
    limits = {"max_block_ms": milliseconds, "request_timeout_ms": milliseconds}
    producer = KafkaProducer(
        **desk.settings(trial.user), **limits, delivery_timeout_ms=milliseconds, linger_ms=0, **how
    )
    try:
        if "transactional_id" in how:
            producer.init_transactions()
            producer.begin_transaction()
        producer.send(trial.topic, b"hello").get(timeout=trial.patience_seconds)
        if "transactional_id" in how:
            if trial.group:
                offsets = {TopicPartition(trial.topic, 0): OffsetAndMetadata(0, "", -1)}
                producer.send_offsets_to_transaction(offsets, trial.group)
            producer.commit_transaction()
        return None
    finally:
        producer.close(timeout=1)


def consume(desk: Desk, trial: Trial) -> object:
    """Read one record; a client that is not told of a topic stays silent instead of failing."""
    consumer = KafkaConsumer(
        trial.topic,
        **desk.settings(trial.user),
        group_id=trial.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        # Or a consumer that once asked too early would look again only after minutes.
        metadata_max_age_ms=500,
        retry_backoff_ms=100,
    )
    try:
        # One poll, for kafka-python 3.0.12 forgets a rejoin that is under way when a poll ends: who joined before
        # its topic was known, and was rejoining then, never gets a partition however often it polls.
        if not consumer.poll(timeout_ms=int(trial.patience_seconds * 1000)):
            return NOTHING
        if trial.group:
            consumer.commit()
        return None
    finally:
        consumer.close()


def _by_admin(ask: Callable[[KafkaAdminClient, Trial], object]) -> Callable[[Desk, Trial], object]:
    def run(desk: Desk, trial: Trial) -> object:
        with closing(KafkaAdminClient(**desk.settings(trial.user))) as client:
            return ask(client, trial)

    return run


def _config(trial: Trial, **settings: str) -> ConfigResource:
    return ConfigResource(ConfigResourceType.TOPIC, trial.topic, configs=settings or None)


CLIENTS: Mapping[str, Callable[[Desk, Trial], object]] = {
    "produce": produce,
    "produce-idempotent": produce_idempotent,
    "produce-transactional": produce_transactional,
    "consume": consume,
    "consume-manual": consume,
    "admin-create-topics": _by_admin(
        lambda client, trial: client.create_topics([NewTopic(trial.topic, 1, 1)])
    ),
    "admin-delete-topics": _by_admin(lambda client, trial: client.delete_topics([trial.topic])),
    "admin-create-partitions": _by_admin(
        lambda client, trial: client.create_partitions({trial.topic: NewPartitions(2)})
    ),
    "admin-alter-configs": _by_admin(
        lambda client, trial: client.alter_configs(
            [_config(trial, **{"retention.ms": "1000000"})], raise_on_unknown=False
        )
    ),
    "admin-describe-groups": _by_admin(lambda client, trial: client.describe_groups([trial.group])),
}
USED = {
    "produce-transactional": ("topic", "group", "transactional-id"),
    "consume": ("topic", "group"),
    "admin-describe-groups": ("topic", "group"),
}


def meets(desk: Desk, trial: Trial) -> object:
    """Return the code of the refusal that the client meets, None where it works, NOTHING where it just waits.

    What is neither, such as a timeout, is returned as text, which is no answer that could be foretold.
    """
    failed = False
    try:
        answer = CLIENTS[trial.action](desk, trial)
    except KafkaError as error:
        answer, failed = f"{type(error)} {error}", True
    if answer is None or answer is NOTHING:
        return answer
    codes = {
        int(one or other)
        for one, other in re.findall(r"\[Error (\d+)\]|\berror_code'?[=:] ?(\d+)", str(answer))
    }
    if refusals := codes & REFUSALS:
        return next(iter(refusals))
    # A group that does not exist is an error too, but none of authorization.
    works = codes <= {0, GROUP_ID_NOT_FOUND} and (codes or not failed)
    return None if works else str(answer)


def is_silent(action: str, foretold: Assessment) -> bool:
    """Whether the client is told nothing: a consumer waits for topics that it may not see instead of failing."""
    failing = foretold.first_failing
    return "consume" in action and failing is not None and failing.call.api.name == "METADATA"


# --- the trials -----------------------------------------------------------------------------


def trials_of(authorizer_settings: AuthorizerSettings) -> Iterator[Trial]:
    for action in CLIENTS:
        user = BARE if action == "produce-idempotent" else USUAL
        needed = len(_needed(action, user, _names(action), authorizer_settings))
        grounds: list[int | None] = [None, *range(needed)]
        for left_out in grounds:
            if action == "produce-idempotent" and left_out is None:
                # Its Write would be one that lets every other trial of its user start.
                continue
            names = _names(action)
            acls = list(_needed(action, user, names, authorizer_settings))
            ground = ALL
            if left_out is not None:
                ground = f"without {acls[left_out].operation.name} on {acls[left_out].resource_type.name}"
                del acls[left_out]
            yield Trial(action, ground, user, names, tuple(acls))
    yield from _idempotent_trials(authorizer_settings)


def _idempotent_trials(authorizer_settings: AuthorizerSettings) -> Iterator[Trial]:
    """What a client meets that may see a topic, and write none, one, or another."""
    action = "produce-idempotent"
    names = _names(action)
    sees = _allow(BARE, "DESCRIBE", names["topic"][0])
    yield Trial(action, "seeing the topic only", BARE, names, (sees,))
    names = _names(action)
    yield Trial(action, ALL, USUAL, names, _needed(action, USUAL, names, authorizer_settings))
    names = _names(action)
    sees = _allow(USUAL, "DESCRIBE", names["topic"][0])
    yield Trial(action, "writing other topics only", USUAL, names, (sees,))


def _allow(user: str, operation: str, topic: str) -> AclBinding:
    return allow(f"User:{user}", operation, topic, host=HOST)


def _names(action: str) -> dict[str, tuple[str, ...]]:
    word = f"c{uuid.uuid4().hex[:10]}"
    return {key: (f"{word}-{key}",) for key in USED.get(action, ("topic",))}


def _needed(
    action: str, user: str, names: Mapping[str, tuple[str, ...]], authorizer_settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    return needed_acls(
        find_action(action),
        principal=f"User:{user}",
        host=HOST,
        names=names,
        settings=authorizer_settings,
    )


@pytest.fixture(scope="module", params=["kafka44", "kafka39"])
def met(request) -> dict[str, tuple[Assessment, object]]:
    """What was foretold and what the clients met, by trial."""
    desk = Desk(request.getfixturevalue(request.param))
    wipe(desk.broker)
    trials = list(trials_of(desk.authorizer_settings))
    try:
        desk.make_ready(trials)
        index = AclIndex([acl for trial in trials for acl in trial.acls])
        foretold = [desk.foretell(trial, index) for trial in trials]
        trials = [
            replace(trial, patience_seconds=SILENCE_SECONDS) if is_silent(trial.action, told) else trial
            for trial, told in zip(trials, foretold, strict=True)
        ]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda trial: meets(desk, trial), trials))
    finally:
        wipe(desk.broker)
    return {str(trial): (told, seen) for trial, told, seen in zip(trials, foretold, found, strict=True)}


TRIALS = [str(trial) for trial in trials_of(AuthorizerSettings())]


@pytest.mark.kafka
@pytest.mark.parametrize("trial", TRIALS)
def test_a_real_client_meets_what_is_foretold(met, trial):
    foretold, seen = met[trial]

    expected = None if foretold.error is None else foretold.error.code
    assert seen == expected or (is_silent(trial, foretold) and seen == NOTHING)
    assert (expected is None) == (ALL in trial)
