"""Which rights does each call of Kafka's protocol need, and what happens without them?

The table holds what brokers and controllers really check, in the order in which they check
it; where Kafka's documentation says otherwise, `Api.documented` tells. One call may come in
several cases (a fetch by a consumer or by a broker), and what is true of some versions or
of one authorizer only says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.needs.calls import ALWAYS, KRAFT, Api, Case, Check, Documented, Refusal, Right, Span
from aclweb.acl.needs.errors import ERRORS


def find_api(text: str) -> Api | None:
    """Return the call of this name or key: `Produce`, `PRODUCE`, `describe_acls`, `describe-acls`, `29`."""
    if not text[:1].isalpha():
        return _BY_KEY.get(text)
    word = "".join(letter for letter in text.lower() if letter not in "_- ")
    return _BY_NAME.get(word.removesuffix("request"))


def _right(text: str, span: Span = ALWAYS) -> Right:
    """Read `WRITE TOPIC`, or `WRITE any TOPIC` for at least one."""
    operation, *_, kind = text.split()
    return Right(Operation[operation], ResourceType[kind], " any " in text, span)


def _check(
    *rights: str | Right, refusal: Refusal, error: str | None = None, note: str = "", span: Span = ALWAYS
) -> Check:
    read = tuple(right if isinstance(right, Right) else _right(right) for right in rights)
    return Check(read, refusal, ERRORS[error] if error is not None else None, note, span)


_TOPIC, _GROUP = "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED"
_CLUSTER, _ID = "CLUSTER_AUTHORIZATION_FAILED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


def _topic(operation: str, *, refusal: Refusal = Refusal.EACH, note: str = "", span: Span = ALWAYS) -> Check:
    return _check(f"{operation} TOPIC", refusal=refusal, error=_TOPIC, note=note, span=span)


def _group(operation: str, *, refusal: Refusal = Refusal.REQUEST, span: Span = ALWAYS) -> Check:
    return _check(f"{operation} GROUP", refusal=refusal, error=_GROUP, span=span)


def _cluster(operation: str, *, refusal: Refusal = Refusal.REQUEST) -> Check:
    return _check(f"{operation} CLUSTER", refusal=refusal, error=_CLUSTER)


def _id(operation: str, *, refusal: Refusal = Refusal.REQUEST, span: Span = ALWAYS) -> Check:
    return _check(f"{operation} TRANSACTIONAL_ID", refusal=refusal, error=_ID, span=span)


def _less(*rights: str, refusal: Refusal = Refusal.FILTERED, note: str = "", span: Span = ALWAYS) -> Check:
    return _check(*rights, refusal=refusal, note=note, span=span)


def _only(*checks: Check, note: str = "") -> tuple[Case, ...]:
    """The cases of a call that is used in one way."""
    return (Case("", "", checks, note),)


def _internal(key: int, name: str, *, by: str, note: str = "", span: Span = ALWAYS) -> Api:
    """A call that only servers send to each other."""
    return Api(key, name, _only(_cluster("CLUSTER_ACTION")), sent_by=by, note=note, span=span)


_ZOOKEEPER_ONLY = Span(before=(4, 0), authorizer="acl")
_SEES_TOPICS = Span(since=(4, 0))
_CONFIG_GROUPS = Span(since=(4, 0))

_HEARTBEAT_NOTE = (
    "Only topics that are subscribed to by name are checked here; of a regular expression, topics that the "
    "member may not describe are left out."
)
_DESCRIBED_TOPICS_NOTE = "Every topic of the group's assignments must be open to Describe."


def _configs(operation: str) -> tuple[Case, ...]:
    return (
        Case("topic", "for topics", (_topic(operation),)),
        Case(
            "broker",
            "for brokers, their loggers or client metrics",
            (_cluster(operation, refusal=Refusal.EACH),),
        ),
        Case("group", "for groups", (_group(operation, refusal=Refusal.EACH),), span=_CONFIG_GROUPS),
    )


_APIS = (
    Api(
        0,
        "PRODUCE",
        (
            Case("plain", "without an idempotent producer", (_topic("WRITE"),)),
            Case(
                "idempotent",
                "by an idempotent producer",
                (
                    _check(
                        "IDEMPOTENT_WRITE CLUSTER",
                        refusal=Refusal.REQUEST,
                        error=_CLUSTER,
                        span=Span(before=(2, 8)),
                    ),
                    _topic("WRITE"),
                ),
            ),
            Case("transactional", "within a transaction", (_id("WRITE"), _topic("WRITE"))),
        ),
        note="A producer with acks=0 gets no answer: the broker closes its connection instead of an error.",
        documented=(
            Documented(
                Operation.IDEMPOTENT_WRITE,
                ResourceType.CLUSTER,
                "Kafka's documentation still lists Idempotent write on the cluster here; since Kafka 2.8 only "
                "INIT_PRODUCER_ID asks for it.",
            ),
        ),
    ),
    Api(
        1,
        "FETCH",
        (
            Case("consumer", "by a consumer", (_topic("READ"),)),
            Case(
                "follower",
                "by a broker that follows another",
                (
                    _check(
                        "CLUSTER_ACTION CLUSTER",
                        refusal=Refusal.REQUEST,
                        error=_TOPIC,
                        note="Every partition is answered with the error of a topic, although the right is "
                        "one on the cluster.",
                    ),
                ),
                usual=False,
            ),
        ),
    ),
    Api(2, "LIST_OFFSETS", _only(_topic("DESCRIBE"))),
    Api(
        3,
        "METADATA",
        (
            Case("named", "for topics by name", (_topic("DESCRIBE"),)),
            Case("all", "for all topics", (_less("DESCRIBE TOPIC"),)),
            Case(
                "create",
                "for a topic that does not exist, where brokers make topics on demand",
                (
                    _topic("DESCRIBE"),
                    _check("CREATE CLUSTER", "CREATE TOPIC", refusal=Refusal.EACH, error=_TOPIC),
                ),
                note="Only with auto.create.topics.enable=true on the brokers, and only producers and "
                "consumers that ask for it.",
                usual=False,
            ),
        ),
    ),
    _internal(4, "LEADER_AND_ISR", by="controllers", span=_ZOOKEEPER_ONLY),
    _internal(5, "STOP_REPLICA", by="controllers", span=_ZOOKEEPER_ONLY),
    _internal(6, "UPDATE_METADATA", by="controllers", span=_ZOOKEEPER_ONLY),
    _internal(7, "CONTROLLED_SHUTDOWN", by="brokers", span=_ZOOKEEPER_ONLY),
    Api(8, "OFFSET_COMMIT", _only(_group("READ"), _topic("READ"))),
    Api(
        9,
        "OFFSET_FETCH",
        (
            Case("named", "for topics by name", (_group("DESCRIBE"), _topic("DESCRIBE"))),
            Case("all", "for all offsets of a group", (_group("DESCRIBE"), _less("DESCRIBE TOPIC"))),
        ),
    ),
    Api(
        10,
        "FIND_COORDINATOR",
        (
            Case("group", "for a group", (_group("DESCRIBE", refusal=Refusal.EACH),)),
            Case("transaction", "for a transactional id", (_id("DESCRIBE", refusal=Refusal.EACH),)),
            Case(
                "share",
                "by a broker, for the state of a share group",
                (_cluster("CLUSTER_ACTION"),),
                span=Span(since=(3, 9)),
                usual=False,
            ),
        ),
    ),
    Api(11, "JOIN_GROUP", _only(_group("READ"))),
    Api(12, "HEARTBEAT", _only(_group("READ"))),
    Api(13, "LEAVE_GROUP", _only(_group("READ"))),
    Api(14, "SYNC_GROUP", _only(_group("READ"))),
    Api(15, "DESCRIBE_GROUPS", _only(_group("DESCRIBE", refusal=Refusal.EACH))),
    Api(
        16,
        "LIST_GROUPS",
        _only(
            _less(
                "DESCRIBE CLUSTER",
                "DESCRIBE GROUP",
                note=(
                    "With Describe on the cluster every group is listed, without it those that the client "
                    "may describe; there is never an authorization error."
                ),
            )
        ),
    ),
    Api(
        17,
        "SASL_HANDSHAKE",
        _only(note="It is a part of logging in, so nobody has been authorized yet."),
    ),
    Api(18, "API_VERSIONS", _only(note="It is sent before logging in, so nobody has been authorized yet.")),
    Api(
        19,
        "CREATE_TOPICS",
        _only(
            _check("CREATE CLUSTER", "CREATE TOPIC", refusal=Refusal.EACH, error=_TOPIC),
            _less(
                "DESCRIBE_CONFIGS TOPIC",
                refusal=Refusal.HIDDEN,
                note="It decides whether the answer shows the configs of the new topic.",
            ),
        ),
    ),
    Api(
        20,
        "DELETE_TOPICS",
        (
            Case(
                "named",
                "for topics by name",
                (
                    _check(
                        _right("DELETE CLUSTER", KRAFT), "DELETE TOPIC", refusal=Refusal.EACH, error=_TOPIC
                    ),
                ),
            ),
            Case(
                "ids",
                "for topics by id",
                (
                    _check(
                        _right("DELETE CLUSTER", KRAFT),
                        "DESCRIBE TOPIC",
                        refusal=Refusal.HIDDEN,
                        note="It decides whether the answer names the topic.",
                    ),
                    _check(
                        _right("DELETE CLUSTER", KRAFT), "DELETE TOPIC", refusal=Refusal.EACH, error=_TOPIC
                    ),
                ),
                span=Span(since=(2, 8)),
            ),
        ),
        note="In KRaft, Delete on the cluster allows deleting every topic. The kafka-acls tool does not make "
        "that ACL; the Admin API does, and an ACL of All on the cluster brings it.",
    ),
    Api(21, "DELETE_RECORDS", _only(_topic("DELETE"))),
    Api(
        22,
        "INIT_PRODUCER_ID",
        (
            Case(
                "idempotent",
                "by an idempotent producer without a transactional id",
                (
                    _check(
                        "IDEMPOTENT_WRITE CLUSTER",
                        _right("WRITE any TOPIC", Span(since=(2, 8))),
                        refusal=Refusal.REQUEST,
                        error=_CLUSTER,
                        note="From Kafka 2.8 on, Write on any one topic is enough, whichever the producer writes to.",
                    ),
                ),
            ),
            Case("transactional", "by a producer with a transactional id", (_id("WRITE"),)),
            Case(
                "two-phase",
                "by a producer that asks for two-phase commit",
                (_id("WRITE"), _id("TWO_PHASE_COMMIT")),
                note="Brokers of Kafka 4.4 do not offer it to clients unless they are set up to.",
                span=Span(since=(4, 1)),
                usual=False,
            ),
        ),
    ),
    Api(
        23,
        "OFFSET_FOR_LEADER_EPOCH",
        _only(_check("CLUSTER_ACTION CLUSTER", "DESCRIBE TOPIC", refusal=Refusal.EACH, error=_TOPIC)),
    ),
    Api(
        24,
        "ADD_PARTITIONS_TO_TXN",
        (
            Case(
                "client",
                "by a producer",
                (
                    _id("WRITE"),
                    _topic("WRITE", refusal=Refusal.ALL_OR_NONE, note="Kafka's own topics always fail."),
                ),
                note="Clients of Kafka 4.0 and newer leave this call out where the brokers let them; PRODUCE "
                "then asks for the same rights.",
            ),
            Case(
                "broker",
                "by a broker (request version 4 and newer)",
                (_cluster("CLUSTER_ACTION"),),
                span=Span(since=(3, 5)),
                usual=False,
            ),
        ),
    ),
    Api(25, "ADD_OFFSETS_TO_TXN", _only(_id("WRITE"), _group("READ"))),
    Api(26, "END_TXN", _only(_id("WRITE"))),
    Api(
        27,
        "WRITE_TXN_MARKERS",
        _only(
            _check(
                _right("ALTER CLUSTER", Span(since=(3, 8))),
                "CLUSTER_ACTION CLUSTER",
                refusal=Refusal.REQUEST,
                error=_CLUSTER,
            )
        ),
        note="Brokers send it to each other; an administrator sends it to abort a hanging transaction.",
    ),
    Api(
        28,
        "TXN_OFFSET_COMMIT",
        _only(
            _id("WRITE"),
            _group("READ"),
            _topic("READ"),
            note="Where the topic is refused, the Java producer of Kafka 4.4 fails with KafkaException "
            "('Unexpected error in TxnOffsetCommitResponse'), and not with TopicAuthorizationException.",
        ),
    ),
    Api(29, "DESCRIBE_ACLS", _only(_cluster("DESCRIBE"))),
    Api(30, "CREATE_ACLS", _only(_cluster("ALTER"))),
    Api(31, "DELETE_ACLS", _only(_cluster("ALTER"))),
    Api(32, "DESCRIBE_CONFIGS", _configs("DESCRIBE_CONFIGS")),
    Api(33, "ALTER_CONFIGS", _configs("ALTER_CONFIGS")),
    Api(34, "ALTER_REPLICA_LOG_DIRS", _only(_cluster("ALTER"))),
    Api(
        35,
        "DESCRIBE_LOG_DIRS",
        _only(
            _cluster("DESCRIBE"),
            note=(
                "The answer is empty too; request versions below 3 cannot carry the error, so that older "
                "clients see only the empty answer."
            ),
        ),
    ),
    Api(
        36,
        "SASL_AUTHENTICATE",
        _only(note="It is a part of logging in, so nobody has been authorized yet."),
    ),
    Api(37, "CREATE_PARTITIONS", _only(_topic("ALTER"))),
    Api(
        38,
        "CREATE_DELEGATION_TOKEN",
        (
            Case("own", "for oneself", (), note="A token for oneself needs no ACL."),
            Case(
                "other",
                "for another owner",
                (
                    _check(
                        "CREATE_TOKENS USER",
                        refusal=Refusal.REQUEST,
                        error="DELEGATION_TOKEN_AUTHORIZATION_FAILED",
                    ),
                ),
                span=Span(since=(3, 3)),
            ),
        ),
        note="Refused with DELEGATION_TOKEN_REQUEST_NOT_ALLOWED (64) on PLAINTEXT, on TLS without a client "
        "certificate and to clients that logged in with a token.",
    ),
    Api(
        39,
        "RENEW_DELEGATION_TOKEN",
        _only(
            note="No ACL is asked: the owner and the renewers may, everybody else gets "
            "DELEGATION_TOKEN_OWNER_MISMATCH (63)."
        ),
    ),
    Api(
        40,
        "EXPIRE_DELEGATION_TOKEN",
        _only(
            note="No ACL is asked: the owner and the renewers may, everybody else gets "
            "DELEGATION_TOKEN_OWNER_MISMATCH (63)."
        ),
    ),
    Api(
        41,
        "DESCRIBE_DELEGATION_TOKEN",
        (
            Case(
                "own", "for one's own tokens", (), note="Owners and renewers see their tokens without an ACL."
            ),
            Case(
                "other",
                "for the tokens of others",
                (
                    _check(
                        "DESCRIBE DELEGATION_TOKEN",
                        _right("DESCRIBE_TOKENS USER", Span(since=(3, 3))),
                        refusal=Refusal.FILTERED,
                    ),
                ),
            ),
        ),
        note="Refused with DELEGATION_TOKEN_REQUEST_NOT_ALLOWED (64) on PLAINTEXT, on TLS without a client "
        "certificate and to clients that logged in with a token.",
    ),
    Api(42, "DELETE_GROUPS", _only(_group("DELETE", refusal=Refusal.EACH))),
    Api(
        43,
        "ELECT_LEADERS",
        _only(_cluster("ALTER")),
        also=("ELECT_PREFERRED_LEADERS",),
        documented=(
            Documented(
                Operation.CLUSTER_ACTION,
                ResourceType.CLUSTER,
                "Kafka's documentation names Cluster action here; brokers and controllers ask for Alter.",
            ),
        ),
    ),
    Api(44, "INCREMENTAL_ALTER_CONFIGS", _configs("ALTER_CONFIGS")),
    Api(45, "ALTER_PARTITION_REASSIGNMENTS", _only(_cluster("ALTER"))),
    Api(46, "LIST_PARTITION_REASSIGNMENTS", _only(_cluster("DESCRIBE"))),
    Api(47, "OFFSET_DELETE", _only(_group("DELETE"), _topic("READ"))),
    Api(48, "DESCRIBE_CLIENT_QUOTAS", _only(_cluster("DESCRIBE_CONFIGS"))),
    Api(49, "ALTER_CLIENT_QUOTAS", _only(_cluster("ALTER_CONFIGS"))),
    Api(
        50,
        "DESCRIBE_USER_SCRAM_CREDENTIALS",
        _only(_cluster("DESCRIBE")),
        note="A refused request that names no users may never be answered, so that the client waits until its "
        "timeout; seen on Kafka 4.4.",
    ),
    Api(51, "ALTER_USER_SCRAM_CREDENTIALS", _only(_cluster("ALTER"))),
    _internal(52, "VOTE", by="controllers"),
    _internal(53, "BEGIN_QUORUM_EPOCH", by="controllers"),
    _internal(54, "END_QUORUM_EPOCH", by="controllers"),
    Api(55, "DESCRIBE_QUORUM", _only(_cluster("DESCRIBE")), span=KRAFT),
    _internal(56, "ALTER_PARTITION", by="brokers"),
    Api(57, "UPDATE_FEATURES", _only(_cluster("ALTER"))),
    _internal(
        58,
        "ENVELOPE",
        by="brokers",
        note="A broker passes on what a client asked; that is then authorized for the client itself.",
    ),
    _internal(59, "FETCH_SNAPSHOT", by="controllers"),
    Api(
        60,
        "DESCRIBE_CLUSTER",
        (
            Case(
                "broker",
                "to a broker",
                (
                    _less(
                        "DESCRIBE CLUSTER",
                        refusal=Refusal.HIDDEN,
                        note="It decides whether the answer lists what the client may do to the cluster.",
                    ),
                ),
            ),
            Case(
                "controller",
                "to a controller's own listener",
                (_cluster("ALTER"),),
                span=Span(since=(3, 7), authorizer="standard"),
                usual=False,
            ),
        ),
    ),
    Api(61, "DESCRIBE_PRODUCERS", _only(_topic("READ"))),
    _internal(62, "BROKER_REGISTRATION", by="brokers"),
    _internal(63, "BROKER_HEARTBEAT", by="brokers"),
    Api(64, "UNREGISTER_BROKER", _only(_cluster("ALTER"))),
    Api(
        65,
        "DESCRIBE_TRANSACTIONS",
        _only(
            _id("DESCRIBE", refusal=Refusal.EACH),
            _less("DESCRIBE TOPIC", note="It decides which topics of the transaction are shown."),
        ),
    ),
    Api(66, "LIST_TRANSACTIONS", _only(_less("DESCRIBE TRANSACTIONAL_ID"))),
    _internal(67, "ALLOCATE_PRODUCER_IDS", by="brokers"),
    Api(
        68,
        "CONSUMER_GROUP_HEARTBEAT",
        _only(
            _group("READ"),
            _topic("DESCRIBE", refusal=Refusal.REQUEST, note=_HEARTBEAT_NOTE, span=_SEES_TOPICS),
        ),
    ),
    Api(
        69,
        "CONSUMER_GROUP_DESCRIBE",
        _only(
            _group("DESCRIBE", refusal=Refusal.EACH),
            _topic("DESCRIBE", note=_DESCRIBED_TOPICS_NOTE, span=_SEES_TOPICS),
        ),
        documented=(
            Documented(
                Operation.READ,
                ResourceType.GROUP,
                "The documentation of Kafka 3.9 names Read here; brokers ask for Describe.",
            ),
        ),
    ),
    _internal(70, "CONTROLLER_REGISTRATION", by="controllers"),
    Api(71, "GET_TELEMETRY_SUBSCRIPTIONS", _only(note="No access is asked for.")),
    Api(72, "PUSH_TELEMETRY", _only(note="No access is asked for.")),
    _internal(73, "ASSIGN_REPLICAS_TO_DIRS", by="brokers"),
    Api(
        74,
        "LIST_CONFIG_RESOURCES",
        _only(_cluster("DESCRIBE_CONFIGS")),
        also=("LIST_CLIENT_METRICS_RESOURCES",),
    ),
    Api(
        75,
        "DESCRIBE_TOPIC_PARTITIONS",
        (
            Case("named", "for topics by name", (_topic("DESCRIBE"),)),
            Case("all", "for all topics", (_less("DESCRIBE TOPIC"),)),
        ),
    ),
    Api(
        76,
        "SHARE_GROUP_HEARTBEAT",
        _only(_group("READ"), _topic("DESCRIBE", refusal=Refusal.REQUEST, span=_SEES_TOPICS)),
    ),
    Api(
        77,
        "SHARE_GROUP_DESCRIBE",
        _only(
            _group("DESCRIBE", refusal=Refusal.EACH),
            _topic("DESCRIBE", note=_DESCRIBED_TOPICS_NOTE, span=_SEES_TOPICS),
        ),
    ),
    Api(78, "SHARE_FETCH", _only(_group("READ"), _topic("READ"))),
    Api(79, "SHARE_ACKNOWLEDGE", _only(_group("READ"), _topic("READ"))),
    Api(80, "ADD_RAFT_VOTER", _only(_cluster("ALTER"))),
    Api(81, "REMOVE_RAFT_VOTER", _only(_cluster("ALTER"))),
    _internal(82, "UPDATE_RAFT_VOTER", by="controllers"),
    _internal(83, "INITIALIZE_SHARE_GROUP_STATE", by="brokers"),
    _internal(84, "READ_SHARE_GROUP_STATE", by="brokers"),
    _internal(85, "WRITE_SHARE_GROUP_STATE", by="brokers"),
    _internal(86, "DELETE_SHARE_GROUP_STATE", by="brokers"),
    _internal(87, "READ_SHARE_GROUP_STATE_SUMMARY", by="brokers"),
    Api(
        88,
        "STREAMS_GROUP_HEARTBEAT",
        _only(
            _group("READ"),
            _topic(
                "DESCRIBE",
                refusal=Refusal.REQUEST,
                note="Every source topic and every internal topic of the application is checked.",
            ),
            _check(
                "CREATE CLUSTER",
                "CREATE TOPIC",
                refusal=Refusal.REPORTED,
                note="Only for internal topics that do not exist yet; the application waits until they do.",
            ),
        ),
    ),
    Api(
        89,
        "STREAMS_GROUP_DESCRIBE",
        _only(_group("DESCRIBE", refusal=Refusal.EACH), _topic("DESCRIBE", note=_DESCRIBED_TOPICS_NOTE)),
    ),
    Api(
        90,
        "DESCRIBE_SHARE_GROUP_OFFSETS",
        (
            Case(
                "named",
                "for topics by name",
                (_group("DESCRIBE", refusal=Refusal.EACH), _topic("DESCRIBE")),
            ),
            Case(
                "all",
                "for all offsets of a group",
                (_group("DESCRIBE", refusal=Refusal.EACH), _less("DESCRIBE TOPIC")),
            ),
        ),
    ),
    Api(91, "ALTER_SHARE_GROUP_OFFSETS", _only(_group("READ"), _topic("READ"))),
    Api(92, "DELETE_SHARE_GROUP_OFFSETS", _only(_group("DELETE"), _topic("READ"))),
    Api(93, "STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE", _only(_group("READ")), span=Span(since=(4, 4))),
    Api(
        94, "UNREGISTER_CONTROLLER", _only(_cluster("ALTER")), span=Span(since=(4, 4), authorizer="standard")
    ),
)

APIS: Mapping[int, Api] = MappingProxyType({api.key: api for api in _APIS})
"""Every call of the protocol by its key, up to Kafka 4.4."""


_BY_KEY = {str(api.key): api for api in _APIS}
_BY_NAME = {name.replace("_", "").lower(): api for api in _APIS for name in (api.name, *api.also)}
