"""What `needs` foretells of a call or a client, real brokers do: with just the ACLs it names, and without each.

Every sending has names of its own, so that one batch of ACLs prepares them all; rights on
the cluster, which there is only one of, are given and taken one after the other.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.needs.answers import assess, needed_acls
from aclweb.acl.needs.assessment import Assessment
from aclweb.acl.needs.roles import Call, ClientAction, Names
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.clusters.calls import (
    SENDINGS,
    ByHand,
    Caller,
    Sending,
    Used,
    codes_in,
    commit_offset,
    find_coordinator,
    init_producer,
    new_describe,
    new_heartbeat,
    share_describe,
    share_heartbeat,
    streams_describe,
    streams_heartbeat,
    turn_on,
)
from tests.random_cases import SCALE
from tests.servers import SETTLED_SECONDS, settings_of, settle, wipe

BROKERS = ["kafka44", "kafka39"]
HOST = "127.0.0.1"
RULES = {"standard": AuthorizerSettings("standard", "4.4"), "acl": AuthorizerSettings("acl", "3.9")}
VERSIONS = {"standard": (4, 4), "acl": (3, 9)}


HandWritten = Callable[[Used], ByHand]

CLUSTER_OPERATIONS = (
    "DESCRIBE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "CLUSTER_ACTION", "CREATE", "IDEMPOTENT_WRITE",
    "DELETE", "ALL",
)  # fmt: skip

# Who sends: rights on one topic let any idempotent producer start, so those who have none send such calls.
MANY, FEW, ONE = "bob", "carol", "dave"


@dataclass(frozen=True)
class Trial:
    """One sending by one user under the ACLs of one moment, and what was foretold and seen."""

    sending: Sending
    user: str
    ground: str
    used: Used
    acls: frozenset[AclBinding]


@dataclass(frozen=True)
class Seen:
    trial: Trial
    foretold: Assessment
    expected: set[int]
    codes: set[int]


def action_of(sending: Sending) -> ClientAction:
    return ClientAction(str(sending), "is tried", (Call(sending.api, sending.case),))


def names_of(used: Used) -> Names:
    return {
        "topic": (used.topic,),
        "group": (used.group,),
        "transactional-id": (used.id,),
        "owner": (used.owner,),
    }


def fresh_names() -> Used:
    word = f"n{uuid.uuid4().hex[:10]}"
    return Used(f"{word}-topic", f"{word}-group", f"{word}-id", f"User:{word}")


def asks_for_any(sending: Sending) -> bool:
    return any(right.any_one for check in sending.case.checks for right in check.any_of)


def asks_for_the_cluster(sending: Sending) -> bool:
    return any(
        right.resource_type is ResourceType.CLUSTER for check in sending.case.checks for right in check.any_of
    )


def trials_of(sending: Sending, authorizer_settings: AuthorizerSettings) -> Iterator[Trial]:
    """Nothing, all that is needed, all but each, all with a DENY of each, and draws; rights on names only."""

    def trial(ground: str, choose: Callable[[tuple[AclBinding, ...]], Iterable[AclBinding]]) -> Trial:
        used = fresh_names()
        user = MANY if not asks_for_any(sending) else ONE if ground == "all" else FEW
        acls = needed_acls(
            action_of(sending),
            principal=f"User:{user}",
            host=HOST,
            names=names_of(used),
            settings=authorizer_settings,
        )
        on_names = [one for one in acls if one.resource_type is not ResourceType.CLUSTER]
        return Trial(sending, user, ground, used, frozenset(choose(tuple(on_names))))

    yield trial("nothing", lambda acls: ())
    everything = trial("all", lambda acls: acls)
    yield everything
    if asks_for_any(sending):
        return
    for place in range(len(everything.acls)):
        if len(everything.acls) > 1:
            yield trial(
                f"all but {place}",
                lambda acls, left_out=place: acls[:left_out] + acls[left_out + 1 :],  # type: ignore[misc]
            )
        yield trial(
            f"all, {place} denied",
            lambda acls, denied=place: (  # type: ignore[misc]
                *acls,
                replace(acls[denied], permission_type=PermissionType.DENY, host="*"),
            ),
        )
    for seed in range(SCALE if everything.acls else 0):
        rng = random.Random(f"{sending} {seed}")
        yield trial(
            f"draw {seed}",
            lambda acls, rng=rng: [  # type: ignore[misc]
                one for acl in acls for one in other_acls(rng, acl)
            ],
        )


def other_acls(rng: random.Random, needed: AclBinding) -> list[AclBinding]:
    """Nothing, or ACLs that give the same in another way, or give nothing, or take it away."""
    prefix = replace(needed, pattern_type=PatternType.PREFIXED, resource_name=needed.resource_name[:-2])
    everyone = replace(needed, principal="User:*", host="*")
    return rng.choice(
        [
            [],
            [needed],
            [prefix],
            [everyone],
            [replace(needed, operation=Operation.ALL)],
            [replace(needed, host="10.0.0.1")],
            [replace(prefix, principal=needed.principal.lower())],
            [needed, replace(needed, permission_type=PermissionType.DENY, host="10.0.0.1")],
            [prefix, replace(everyone, permission_type=PermissionType.DENY)],
            [needed, replace(prefix, permission_type=PermissionType.DENY, operation=Operation.ALL)],
        ]
    )


# Calls about a group that must have a member: its heartbeat, its description, and how often that
# mentions its topic, which is where the group subscribes to it and again where it is assigned.
MEMBERS = {
    "CONSUMER_GROUP_DESCRIBE": (new_heartbeat, new_describe, 2),
    "SHARE_GROUP_DESCRIBE": (share_heartbeat, share_describe, 2),
    "STREAMS_GROUP_DESCRIBE": (streams_heartbeat, streams_describe, 1),
}


class Bench:
    """One real broker, made ready for every kind of call, and its users' connections."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.authorizer_settings = RULES[broker.engine]
        self.callers = {user: Caller(broker, user) for user in ("admin", MANY, FEW, ONE)}
        self.acls: set[AclBinding] = set()
        self.index = AclIndex(())

    def close(self) -> None:
        for caller in self.callers.values():
            caller.close()
        wipe(self.broker)

    def make_ready(self) -> None:
        """Wait for the coordinators: a broker that still makes their topics answers with other errors."""
        if self.broker.engine == "standard":
            for feature in ("group.version", "share.version", "streams.version"):
                self.callers["admin"].answer(turn_on(feature))
        deadline = time.monotonic() + SETTLED_SECONDS
        for request in (lambda: find_coordinator("ready", 0), lambda: find_coordinator("ready", 1)):
            while set(codes_in(self.callers["admin"].answer(request()))) != {0}:
                assert time.monotonic() < deadline, "The coordinators do not get ready."
                time.sleep(0.1)
        while 14 in codes_in(self.callers["admin"].answer(init_producer("ready"))):
            assert time.monotonic() < deadline, "The coordinators do not get ready."
            time.sleep(0.1)

    def give(self, acls: Iterable[AclBinding]) -> None:
        settle(self.broker, add=acls)
        self.acls |= set(acls)
        self.index = AclIndex(self.acls)

    def take(self, acls: Iterable[AclBinding]) -> None:
        settle(self.broker, remove=acls)
        self.acls -= set(acls)
        self.index = AclIndex(self.acls)

    def prepare(self, trials: Iterable[Trial]) -> None:
        """Make what a call must find, because brokers have other errors for what is not there."""

        def used_by(*names: str) -> list[Used]:
            return [trial.used for trial in trials if trial.sending.api.name in names]

        with closing(KafkaAdminClient(**settings_of(self.broker, "admin"))) as client:
            wanted = used_by(
                "OFFSET_DELETE", "DELETE_TOPICS", "CONSUMER_GROUP_DESCRIBE", "SHARE_GROUP_DESCRIBE"
            )
            client.create_topics([NewTopic(used.topic, 1, 1) for used in wanted])
        for used in used_by("OFFSET_DELETE"):
            deadline = time.monotonic() + SETTLED_SECONDS
            while set(codes_in(self.callers["admin"].answer(commit_offset(used)))) != {0}:
                assert time.monotonic() < deadline, "An offset cannot be committed."
                time.sleep(0.05)
        self.join([(used, *member) for name, member in MEMBERS.items() for used in used_by(name)])

    def join(self, waiting: list[tuple[Used, HandWritten, HandWritten, int]]) -> None:
        """Make admin a member of groups, each with its heartbeat, until their descriptions mention the topic."""
        admin = self.callers["admin"]
        deadline = time.monotonic() + SETTLED_SECONDS
        while waiting:
            assert time.monotonic() < deadline, "A member is not assigned its topic."
            for used, heartbeat, _, _ in waiting:
                admin.sent(heartbeat(used))
            time.sleep(0.1)
            waiting = [
                (used, heartbeat, describe, mentions)
                for used, heartbeat, describe, mentions in waiting
                if admin.sent(describe(used)).count(used.topic.encode()) < mentions
            ]

    def sendings(self) -> list[Sending]:
        return [one for one in SENDINGS if VERSIONS[self.broker.engine] >= one.since]

    def see(self, trial: Trial) -> Seen:
        """Make the call, once more if it comes out otherwise: a controller learns a moment after its broker."""
        foretold = assess(
            action_of(trial.sending),
            principal=f"User:{trial.user}",
            host=HOST,
            names=names_of(trial.used),
            index=self.index,
            settings=self.authorizer_settings,
        )
        expected = {foretold.error.code} if foretold.error is not None else set()
        member = MEMBERS.get(trial.sending.api.name)
        deadline = time.monotonic() + 30
        while True:
            codes = self.callers[trial.user].refusals(trial.sending.request(trial.used))
            if codes == expected or time.monotonic() > deadline:
                return Seen(trial, foretold, expected, codes)
            if member is not None:
                # On a busy machine the group may have let its member go, and then mentions no topic.
                self.join([(trial.used, *member)])
                deadline, member = time.monotonic() + 30, None
            time.sleep(0.05)


def everything_seen(bench: Bench) -> list[Seen]:
    bench.make_ready()
    trials = [
        trial for sending in bench.sendings() for trial in trials_of(sending, bench.authorizer_settings)
    ]
    bench.prepare(trials)
    bench.give({acl for trial in trials for acl in trial.acls})
    seen = [bench.see(trial) for trial in trials]
    for operation in CLUSTER_OPERATIONS:
        on_the_cluster = {
            allow(f"User:{user}", operation, "kafka-cluster", resource_type="CLUSTER", host=HOST)
            for user in (MANY, FEW)
        }
        bench.give(on_the_cluster)
        for sending in bench.sendings():
            if asks_for_the_cluster(sending):
                user = FEW if asks_for_any(sending) else MANY
                ground = f"{operation} on the cluster"
                seen.append(bench.see(Trial(sending, user, ground, fresh_names(), frozenset(on_the_cluster))))
        bench.take(on_the_cluster)
    return seen


@pytest.fixture(scope="module", params=BROKERS)
def seen(request) -> dict[str, list[Seen]]:
    """Every trial on one broker, by sending."""
    bench = Bench(request.getfixturevalue(request.param))
    wipe(bench.broker)
    try:
        found: dict[str, list[Seen]] = {}
        for one in everything_seen(bench):
            found.setdefault(str(one.trial.sending), []).append(one)
    finally:
        bench.close()
    return found


@pytest.mark.kafka
@pytest.mark.parametrize("sending", SENDINGS, ids=str)
def test_a_broker_refuses_a_call_with_the_error_that_is_foretold(seen, sending):
    trials = seen.get(str(sending), [])
    if not trials:
        pytest.skip("Brokers of this version do not know the call.")

    assert [(one.trial.ground, one.codes) for one in trials] == [
        (one.trial.ground, one.expected) for one in trials
    ]


@pytest.mark.kafka
def test_the_trials_are_about_as_often_refused_as_let_through(seen):
    refused = [bool(one.expected) for trials in seen.values() for one in trials]

    assert 0.3 < sum(refused) / len(refused) < 0.8


# What is left out or hidden without an error.


@pytest.fixture(params=BROKERS)
def broker(request) -> KafkaBroker:
    broker: KafkaBroker = request.getfixturevalue(request.param)
    wipe(broker)
    return broker


def shown(
    broker: KafkaBroker, sending: str, *acls: AclBinding, within: Callable[[Any], set[str]]
) -> set[str]:
    """What bob's list shows under these ACLs."""
    settle(broker, add=acls)
    (found,) = [one for one in SENDINGS if str(one) == sending]
    with closing(Caller(broker, MANY)) as caller:
        answer = within(caller.answer(found.request(fresh_names())))
    settle(broker, remove=acls)
    return answer


@pytest.mark.kafka
def test_a_list_of_groups_leaves_out_what_may_not_be_described(broker):
    one, other = fresh_names(), fresh_names()
    with closing(KafkaAdminClient(**settings_of(broker, "admin"))) as client:
        client.create_topics([NewTopic(one.topic, 1, 1), NewTopic(other.topic, 1, 1)])
    with closing(Caller(broker, "admin")) as admin:
        for used in (one, other):
            deadline = time.monotonic() + SETTLED_SECONDS
            while set(codes_in(admin.answer(commit_offset(used)))) != {0}:
                assert time.monotonic() < deadline, "An offset cannot be committed."
                time.sleep(0.05)

    def groups(answer: Any) -> set[str]:
        assert answer.error_code == 0
        return {listed.group_id for listed in answer.groups} & {one.group, other.group}

    own = allow("User:bob", "DESCRIBE", one.group, resource_type="GROUP")
    every = allow("User:bob", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER")

    assert shown(broker, "LIST_GROUPS", within=groups) == set()
    assert shown(broker, "LIST_GROUPS", own, within=groups) == {one.group}
    assert shown(broker, "LIST_GROUPS", every, within=groups) == {one.group, other.group}


@pytest.mark.kafka
def test_a_new_topic_hides_its_configs_from_who_may_not_describe_them(broker):
    def hidden(answer: Any) -> set[str]:
        assert [topic.error_code for topic in answer.topics] == [0]
        return {str(topic.topic_config_error_code) for topic in answer.topics}

    create = allow("User:bob", "CREATE", "*")
    configs = allow("User:bob", "DESCRIBE_CONFIGS", "*")

    assert shown(broker, "CREATE_TOPICS", create, within=hidden) == {"29"}
    assert shown(broker, "CREATE_TOPICS", create, configs, within=hidden) == {"0"}
