"""Which calls of Kafka's protocol does a client make, in which order?

A client action is what a person names ("produce", "consume"); a broker sees its calls, and
what each of them needs is `protocol`'s answer. The first call that is refused is what the
client's error is about, so the order is the one in which clients meet them. Calls that a client
makes at once are marked; it reports whichever refusal it sees first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aclweb.acl.needs.calls import Api
from aclweb.acl.needs.protocol import APIS
from aclweb.acl.needs.roles import (
    APPLICATION_ID,
    APPLICATION_TOPIC,
    GROUP,
    INPUT,
    OUTPUT,
    STORE,
    Call,
    ClientAction,
    Role,
)


def action_of(api: Api) -> ClientAction:
    """Return a call of the protocol as an action of its own, with one entry for each of its cases."""
    calls = tuple(Call(api, case, when=case.when) for case in api.cases)
    only = f"This call is known {api.span}." if str(api.span) else ""
    notes = tuple(note for note in (only, api.note, *(row.sentence for row in api.documented)) if note)
    who = "" if api.sent_by == "clients" else f"; {api.sent_by} send it, not clients"
    return ClientAction(
        api.name, f"sends the call {api.name} (key {api.key}){who}", calls, notes, is_api=True
    )


def _call(
    text: str,
    *on: Role,
    when: str = "",
    needed: bool = True,
    needed_with: Role | None = None,
    at_once: bool = False,
) -> Call:
    """Read `FETCH consumer` or `HEARTBEAT`."""
    name, _, case = text.partition(" ")
    api = _BY_NAME[name]
    return Call(api, api.case(case), on, when, needed, needed_with, at_once)


_BY_NAME = {api.name: api for api in APIS.values()}

_COMMITS = "if the consumer keeps its offsets in a group"
_IN_TRANSACTION = "if consumer offsets are committed within the transaction"
_ON_DEMAND = _call(
    "METADATA create", when="if the topic does not exist and brokers make topics on demand", needed=False
)
_EPOCHS = _call("OFFSET_FOR_LEADER_EPOCH", when="after a topic has changed its leader", needed=True)
_IDEMPOTENT_BY_DEFAULT = (
    "Java producers of Kafka 3.0 and newer are idempotent unless configured otherwise: for them ask about "
    "produce-idempotent."
)


def _admin(name: str, does: str, *calls: str | Call, notes: tuple[str, ...] = ()) -> ClientAction:
    read = tuple(call if isinstance(call, Call) else _call(call) for call in calls)
    return ClientAction(f"admin-{name}", does, read, notes)


# A consumer looks for its group and asks about the topic at once. The Java client reports the
# topic's refusal, others that of the group.
_SUBSCRIBES = (_call("FIND_COORDINATOR group", at_once=True), _call("METADATA named", at_once=True))
_JOINS = (
    *_SUBSCRIBES,
    _call("JOIN_GROUP"),
    _call("SYNC_GROUP"),
)
_TOKEN_NOTE = (
    "Delegation tokens cannot be requested over PLAINTEXT, over TLS without a client certificate, or by a client "
    "that logged in with a token itself (error 64).",
)

_ACTIONS = (
    ClientAction(
        "produce",
        "writes records to a topic with a producer that is not idempotent",
        (_call("METADATA named"), _ON_DEMAND, _call("PRODUCE plain")),
        (_IDEMPOTENT_BY_DEFAULT,),
    ),
    ClientAction(
        "produce-idempotent",
        "writes records to a topic with an idempotent producer",
        (
            _call("METADATA named"),
            _ON_DEMAND,
            _call("INIT_PRODUCER_ID idempotent"),
            _call("PRODUCE idempotent"),
        ),
        (
            "Since Kafka 2.8 no right on the cluster is needed: Write on any one topic is enough. The broker "
            "still reports it as a denial on the cluster.",
        ),
    ),
    ClientAction(
        "produce-transactional",
        "writes records to a topic in transactions",
        (
            _call("FIND_COORDINATOR transaction"),
            _call("INIT_PRODUCER_ID transactional"),
            _call("METADATA named"),
            _ON_DEMAND,
            _call("ADD_PARTITIONS_TO_TXN client"),
            _call("PRODUCE transactional"),
            _call("ADD_OFFSETS_TO_TXN", when=_IN_TRANSACTION, needed_with=GROUP),
            _call("FIND_COORDINATOR group", when=_IN_TRANSACTION, needed_with=GROUP),
            _call("TXN_OFFSET_COMMIT", INPUT, when=_IN_TRANSACTION, needed_with=GROUP),
            _call("END_TXN"),
        ),
        (
            "Idempotent write on the cluster is not needed: the transactional id replaces it.",
            "Give a group if the transaction also commits the offsets of what was read, and the topic that was read "
            "as the input topic if it is another one.",
        ),
    ),
    ClientAction(
        "produce-two-phase",
        "writes records in transactions with two-phase commit",
        (
            _call("FIND_COORDINATOR transaction"),
            _call("INIT_PRODUCER_ID two-phase"),
            _call("METADATA named"),
            _call("ADD_PARTITIONS_TO_TXN client"),
            _call("PRODUCE transactional"),
            _call("END_TXN"),
        ),
    ),
    ClientAction(
        "consume",
        "reads a topic as a member of a group",
        (
            *_JOINS,
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("FETCH consumer"),
            _EPOCHS,
            _call("HEARTBEAT"),
            _call("OFFSET_COMMIT"),
            _call("LEAVE_GROUP"),
        ),
        (
            "A consumer that subscribes to a regular expression asks for all topics, and those that it may not "
            "describe are left out silently: it just reads nothing. Some clients are as silent about a topic that "
            "is named.",
        ),
    ),
    ClientAction(
        "consume-new-protocol",
        "reads a topic as a member of a group with group.protocol=consumer",
        (
            *_SUBSCRIBES,
            _call("CONSUMER_GROUP_HEARTBEAT"),
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("FETCH consumer"),
            _EPOCHS,
            _call("OFFSET_COMMIT"),
        ),
    ),
    ClientAction(
        "consume-manual",
        "reads partitions of a topic that it assigns to itself",
        (
            _call("METADATA named"),
            _call("FIND_COORDINATOR group", when=_COMMITS, needed_with=GROUP),
            _call("OFFSET_FETCH named", when=_COMMITS, needed_with=GROUP),
            _call("LIST_OFFSETS"),
            _call("FETCH consumer"),
            _EPOCHS,
            _call("OFFSET_COMMIT", when=_COMMITS, needed_with=GROUP),
        ),
        ("Without a group nothing about groups is needed.",),
    ),
    ClientAction(
        "consume-share",
        "reads a topic as a member of a share group",
        (
            *_SUBSCRIBES,
            _call("SHARE_GROUP_HEARTBEAT"),
            _call("SHARE_FETCH"),
            _call("SHARE_ACKNOWLEDGE"),
        ),
    ),
    ClientAction(
        "streams",
        "runs a Kafka Streams application",
        (
            *_JOINS,
            _call("METADATA named", APPLICATION_TOPIC),
            _call(
                "CREATE_TOPICS",
                APPLICATION_TOPIC,
                when="if the application keeps state or repartitions, for topics that do not exist yet",
            ),
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("LIST_OFFSETS", APPLICATION_TOPIC),
            _call("FETCH consumer"),
            _call("FETCH consumer", APPLICATION_TOPIC),
            _call("METADATA named", OUTPUT, when="if the application writes topics", needed_with=OUTPUT),
            _call("INIT_PRODUCER_ID idempotent", APPLICATION_TOPIC),
            _call("PRODUCE idempotent", APPLICATION_TOPIC),
            _call("PRODUCE idempotent", OUTPUT, when="if the application writes topics", needed_with=OUTPUT),
            _call("HEARTBEAT"),
            _call("OFFSET_COMMIT"),
            _call("OFFSET_COMMIT", APPLICATION_TOPIC),
            _call("DELETE_RECORDS", APPLICATION_TOPIC, when="if the application repartitions"),
            _call("LEAVE_GROUP"),
            _call(
                "DELETE_TOPICS named",
                APPLICATION_TOPIC,
                when="by the application reset tool only",
                needed=False,
            ),
        ),
        (
            "The group is the application id; the internal topics begin with it and a hyphen.",
            "Give the topics that are read as topics and those that are written as output topics.",
        ),
    ),
    ClientAction(
        "streams-exactly-once",
        "runs a Kafka Streams application with processing.guarantee=exactly_once_v2",
        (
            *_JOINS,
            _call("METADATA named", APPLICATION_TOPIC),
            _call(
                "CREATE_TOPICS",
                APPLICATION_TOPIC,
                when="if the application keeps state or repartitions, for topics that do not exist yet",
            ),
            _call("FIND_COORDINATOR transaction", APPLICATION_ID),
            _call("INIT_PRODUCER_ID transactional", APPLICATION_ID),
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("LIST_OFFSETS", APPLICATION_TOPIC),
            _call("FETCH consumer"),
            _call("FETCH consumer", APPLICATION_TOPIC),
            _call("METADATA named", OUTPUT, when="if the application writes topics", needed_with=OUTPUT),
            _call("ADD_PARTITIONS_TO_TXN client", APPLICATION_ID, APPLICATION_TOPIC),
            _call("PRODUCE transactional", APPLICATION_ID, APPLICATION_TOPIC),
            _call(
                "PRODUCE transactional",
                APPLICATION_ID,
                OUTPUT,
                when="if the application writes topics",
                needed_with=OUTPUT,
            ),
            _call("ADD_OFFSETS_TO_TXN", APPLICATION_ID),
            _call("TXN_OFFSET_COMMIT", APPLICATION_ID),
            _call("END_TXN", APPLICATION_ID),
            _call("HEARTBEAT"),
            _call("DELETE_RECORDS", APPLICATION_TOPIC, when="if the application repartitions"),
            _call("LEAVE_GROUP"),
        ),
        ("The transactional ids begin with the application id and a hyphen, like the internal topics.",),
    ),
    ClientAction(
        "streams-new-protocol",
        "runs a Kafka Streams application with group.protocol=streams",
        (
            _call("FIND_COORDINATOR group"),
            _call("METADATA named"),
            _call("STREAMS_GROUP_HEARTBEAT"),
            _call("STREAMS_GROUP_HEARTBEAT", APPLICATION_TOPIC),
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("LIST_OFFSETS", APPLICATION_TOPIC),
            _call("FETCH consumer"),
            _call("FETCH consumer", APPLICATION_TOPIC),
            _call("INIT_PRODUCER_ID idempotent", APPLICATION_TOPIC),
            _call("PRODUCE idempotent", APPLICATION_TOPIC),
            _call("PRODUCE idempotent", OUTPUT, when="if the application writes topics", needed_with=OUTPUT),
            _call("OFFSET_COMMIT"),
            _call("DELETE_RECORDS", APPLICATION_TOPIC, when="if the application repartitions"),
        ),
        ("The broker makes the internal topics, with the rights of the application.",),
    ),
    ClientAction(
        "connect",
        "runs a worker of Kafka Connect in distributed mode",
        (
            _call("METADATA named", STORE),
            _call("CREATE_TOPICS", STORE, when="if the worker's own topics do not exist yet"),
            _call("DESCRIBE_CONFIGS topic", STORE, when="to make sure that they are compacted"),
            _call("LIST_OFFSETS", STORE),
            _call("FETCH consumer", STORE),
            _call("PRODUCE plain", STORE),
            _call("FIND_COORDINATOR group"),
            _call("JOIN_GROUP"),
            _call("SYNC_GROUP"),
            _call("HEARTBEAT"),
            _call("LEAVE_GROUP"),
        ),
        (
            "The group is the worker's group.id; its own topics are those of config.storage.topic, "
            "offset.storage.topic and status.storage.topic.",
            "What the connectors need is extra: see connect-source and connect-sink.",
        ),
    ),
    ClientAction(
        "connect-source",
        "runs a source connector, which writes topics",
        (
            _call("METADATA named"),
            _call("CREATE_TOPICS", when="if the connector makes its topics", needed=False),
            _call(
                "INIT_PRODUCER_ID idempotent",
                when="unless the worker's producers are configured not to be idempotent",
            ),
            _call("PRODUCE idempotent"),
        ),
        ("Unless the connector logs in by itself, the worker's principal needs this.",),
    ),
    ClientAction(
        "connect-sink",
        "runs a sink connector, which reads topics",
        (
            *_JOINS,
            _call("OFFSET_FETCH named"),
            _call("LIST_OFFSETS"),
            _call("FETCH consumer"),
            _call("HEARTBEAT"),
            _call("OFFSET_COMMIT"),
            _call("LEAVE_GROUP"),
        ),
        ("The group of a sink connector is connect- and its name.",),
    ),
    _admin("list-topics", "lists the topics that it may describe", "METADATA all"),
    _admin(
        "describe-topics",
        "describes topics",
        "METADATA named",
        _call(
            "DESCRIBE_TOPIC_PARTITIONS named",
            when="instead, by newer clients on brokers that know it",
            needed=False,
        ),
    ),
    _admin("create-topics", "makes topics", "CREATE_TOPICS"),
    _admin("delete-topics", "deletes topics by name", "DELETE_TOPICS named"),
    _admin("create-partitions", "gives topics more partitions", "CREATE_PARTITIONS"),
    _admin("delete-records", "deletes old records of topics", "METADATA named", "DELETE_RECORDS"),
    _admin("list-offsets", "asks for the first and last offsets of topics", "METADATA named", "LIST_OFFSETS"),
    _admin("describe-configs", "reads the configs of topics", "DESCRIBE_CONFIGS topic"),
    _admin("describe-broker-configs", "reads the configs of brokers", "DESCRIBE_CONFIGS broker"),
    _admin("describe-group-configs", "reads the configs of groups", "DESCRIBE_CONFIGS group"),
    _admin("alter-configs", "changes the configs of topics", "INCREMENTAL_ALTER_CONFIGS topic"),
    _admin("alter-broker-configs", "changes the configs of brokers", "INCREMENTAL_ALTER_CONFIGS broker"),
    _admin("alter-group-configs", "changes the configs of groups", "INCREMENTAL_ALTER_CONFIGS group"),
    _admin("list-config-resources", "lists what has configs", "LIST_CONFIG_RESOURCES"),
    _admin("list-acls", "lists ACLs", "DESCRIBE_ACLS"),
    _admin("create-acls", "makes ACLs", "CREATE_ACLS"),
    _admin(
        "delete-acls",
        "deletes ACLs",
        "DELETE_ACLS",
        notes=(
            "The kafka-acls tool lists ACLs before it removes them, which needs Describe; Alter brings it.",
        ),
    ),
    _admin("list-groups", "lists the groups that it may describe", "LIST_GROUPS"),
    _admin("describe-groups", "describes groups", "FIND_COORDINATOR group", "DESCRIBE_GROUPS"),
    _admin(
        "describe-new-groups",
        "describes groups whose members use group.protocol=consumer",
        "FIND_COORDINATOR group",
        "CONSUMER_GROUP_DESCRIBE",
    ),
    _admin("delete-groups", "deletes groups", "FIND_COORDINATOR group", "DELETE_GROUPS"),
    _admin("list-group-offsets", "reads the offsets of groups", "FIND_COORDINATOR group", "OFFSET_FETCH all"),
    _admin(
        "reset-offsets",
        "sets the offsets of a group",
        # kafka-consumer-groups describes the group first; a program may look for the offsets before.
        _call("FIND_COORDINATOR group", at_once=True),
        _call("DESCRIBE_GROUPS", at_once=True),
        _call("METADATA named", at_once=True),
        _call("LIST_OFFSETS", at_once=True),
        "OFFSET_COMMIT",
    ),
    _admin(
        "delete-offsets",
        "deletes offsets of a group",
        "FIND_COORDINATOR group",
        "OFFSET_DELETE",
    ),
    _admin("remove-members", "removes members from a group", "FIND_COORDINATOR group", "LEAVE_GROUP"),
    _admin("elect-leaders", "elects the leaders of partitions", "ELECT_LEADERS"),
    _admin("reassign-partitions", "moves partitions to other brokers", "ALTER_PARTITION_REASSIGNMENTS"),
    _admin("list-reassignments", "lists partitions that are being moved", "LIST_PARTITION_REASSIGNMENTS"),
    _admin("describe-log-dirs", "asks how big partitions are on disk", "DESCRIBE_LOG_DIRS"),
    _admin("alter-log-dirs", "moves partitions between the disks of a broker", "ALTER_REPLICA_LOG_DIRS"),
    _admin("describe-quotas", "reads client quotas", "DESCRIBE_CLIENT_QUOTAS"),
    _admin("alter-quotas", "changes client quotas", "ALTER_CLIENT_QUOTAS"),
    _admin("describe-scram", "lists who has SCRAM credentials", "DESCRIBE_USER_SCRAM_CREDENTIALS"),
    _admin("alter-scram", "changes SCRAM credentials", "ALTER_USER_SCRAM_CREDENTIALS"),
    _admin("describe-features", "reads the features of the cluster", "API_VERSIONS"),
    _admin("update-features", "changes the features of the cluster, as an upgrade does", "UPDATE_FEATURES"),
    _admin("describe-cluster", "lists the brokers", "DESCRIBE_CLUSTER broker"),
    _admin("describe-quorum", "asks about the quorum of controllers", "DESCRIBE_QUORUM"),
    _admin("unregister-broker", "removes a broker from the cluster", "UNREGISTER_BROKER"),
    _admin("add-voter", "adds a controller to the quorum", "ADD_RAFT_VOTER"),
    _admin("remove-voter", "removes a controller from the quorum", "REMOVE_RAFT_VOTER"),
    _admin("describe-producers", "lists who writes to topics", "METADATA named", "DESCRIBE_PRODUCERS"),
    _admin("list-transactions", "lists the transactions that it may describe", "LIST_TRANSACTIONS"),
    _admin(
        "describe-transactions",
        "describes transactions",
        "FIND_COORDINATOR transaction",
        "DESCRIBE_TRANSACTIONS",
    ),
    _admin("abort-transaction", "aborts a hanging transaction", "METADATA named", "WRITE_TXN_MARKERS"),
    _admin(
        "fence-producers",
        "ends the producers of a transactional id",
        "FIND_COORDINATOR transaction",
        "INIT_PRODUCER_ID transactional",
    ),
    ClientAction(
        "delegation-token-create",
        "makes a delegation token for itself",
        (_call("CREATE_DELEGATION_TOKEN own"),),
        _TOKEN_NOTE,
    ),
    ClientAction(
        "delegation-token-create-for-others",
        "makes a delegation token for another owner",
        (_call("CREATE_DELEGATION_TOKEN other"),),
        _TOKEN_NOTE,
    ),
    ClientAction(
        "delegation-token-renew", "renews a delegation token", (_call("RENEW_DELEGATION_TOKEN"),), _TOKEN_NOTE
    ),
    ClientAction(
        "delegation-token-expire", "ends a delegation token", (_call("EXPIRE_DELEGATION_TOKEN"),), _TOKEN_NOTE
    ),
    ClientAction(
        "delegation-token-describe",
        "lists its own delegation tokens",
        (_call("DESCRIBE_DELEGATION_TOKEN own"),),
        _TOKEN_NOTE,
    ),
    ClientAction(
        "delegation-token-describe-others",
        "lists the delegation tokens of others",
        (_call("DESCRIBE_DELEGATION_TOKEN other"),),
        _TOKEN_NOTE,
    ),
)

ACTIONS: Mapping[str, ClientAction] = MappingProxyType({action.name: action for action in _ACTIONS})
"""What a client does, by name, in the order in which people look for it."""
