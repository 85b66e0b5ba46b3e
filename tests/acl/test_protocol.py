"""The table of calls holds every call of the protocol, with the rights that Kafka documents or checks."""

from __future__ import annotations

import pytest

from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import ResourceType
from aclweb.acl.needs.calls import Api, Refusal, checks_of
from aclweb.acl.needs.errors import ERRORS
from aclweb.acl.needs.protocol import APIS, find_api
from tests.each import each

# Key, name, and the rights that Kafka's documentation or its request handlers name.
PUBLISHED = """
0 PRODUCE: WRITE TRANSACTIONAL_ID, IDEMPOTENT_WRITE CLUSTER, WRITE TOPIC
1 FETCH: CLUSTER_ACTION CLUSTER, READ TOPIC
2 LIST_OFFSETS: DESCRIBE TOPIC
3 METADATA: DESCRIBE TOPIC, CREATE CLUSTER, CREATE TOPIC
4 LEADER_AND_ISR: CLUSTER_ACTION CLUSTER
5 STOP_REPLICA: CLUSTER_ACTION CLUSTER
6 UPDATE_METADATA: CLUSTER_ACTION CLUSTER
7 CONTROLLED_SHUTDOWN: CLUSTER_ACTION CLUSTER
8 OFFSET_COMMIT: READ GROUP, READ TOPIC
9 OFFSET_FETCH: DESCRIBE GROUP, DESCRIBE TOPIC
10 FIND_COORDINATOR: DESCRIBE GROUP, DESCRIBE TRANSACTIONAL_ID, CLUSTER_ACTION CLUSTER
11 JOIN_GROUP: READ GROUP
12 HEARTBEAT: READ GROUP
13 LEAVE_GROUP: READ GROUP
14 SYNC_GROUP: READ GROUP
15 DESCRIBE_GROUPS: DESCRIBE GROUP
16 LIST_GROUPS: DESCRIBE CLUSTER, DESCRIBE GROUP
17 SASL_HANDSHAKE
18 API_VERSIONS
19 CREATE_TOPICS: CREATE CLUSTER, CREATE TOPIC, DESCRIBE_CONFIGS TOPIC
20 DELETE_TOPICS: DELETE TOPIC, DELETE CLUSTER
21 DELETE_RECORDS: DELETE TOPIC
22 INIT_PRODUCER_ID: WRITE TRANSACTIONAL_ID, IDEMPOTENT_WRITE CLUSTER, WRITE TOPIC, TWO_PHASE_COMMIT TRANSACTIONAL_ID
23 OFFSET_FOR_LEADER_EPOCH: CLUSTER_ACTION CLUSTER, DESCRIBE TOPIC
24 ADD_PARTITIONS_TO_TXN: WRITE TRANSACTIONAL_ID, WRITE TOPIC, CLUSTER_ACTION CLUSTER
25 ADD_OFFSETS_TO_TXN: WRITE TRANSACTIONAL_ID, READ GROUP
26 END_TXN: WRITE TRANSACTIONAL_ID
27 WRITE_TXN_MARKERS: ALTER CLUSTER, CLUSTER_ACTION CLUSTER
28 TXN_OFFSET_COMMIT: WRITE TRANSACTIONAL_ID, READ GROUP, READ TOPIC
29 DESCRIBE_ACLS: DESCRIBE CLUSTER
30 CREATE_ACLS: ALTER CLUSTER
31 DELETE_ACLS: ALTER CLUSTER
32 DESCRIBE_CONFIGS: DESCRIBE_CONFIGS CLUSTER, DESCRIBE_CONFIGS TOPIC, DESCRIBE_CONFIGS GROUP
33 ALTER_CONFIGS: ALTER_CONFIGS CLUSTER, ALTER_CONFIGS TOPIC, ALTER_CONFIGS GROUP
34 ALTER_REPLICA_LOG_DIRS: ALTER CLUSTER
35 DESCRIBE_LOG_DIRS: DESCRIBE CLUSTER
36 SASL_AUTHENTICATE
37 CREATE_PARTITIONS: ALTER TOPIC
38 CREATE_DELEGATION_TOKEN: CREATE_TOKENS USER
39 RENEW_DELEGATION_TOKEN
40 EXPIRE_DELEGATION_TOKEN
41 DESCRIBE_DELEGATION_TOKEN: DESCRIBE DELEGATION_TOKEN, DESCRIBE_TOKENS USER
42 DELETE_GROUPS: DELETE GROUP
43 ELECT_LEADERS: CLUSTER_ACTION CLUSTER, ALTER CLUSTER
44 INCREMENTAL_ALTER_CONFIGS: ALTER_CONFIGS CLUSTER, ALTER_CONFIGS TOPIC, ALTER_CONFIGS GROUP
45 ALTER_PARTITION_REASSIGNMENTS: ALTER CLUSTER
46 LIST_PARTITION_REASSIGNMENTS: DESCRIBE CLUSTER
47 OFFSET_DELETE: DELETE GROUP, READ TOPIC
48 DESCRIBE_CLIENT_QUOTAS: DESCRIBE_CONFIGS CLUSTER
49 ALTER_CLIENT_QUOTAS: ALTER_CONFIGS CLUSTER
50 DESCRIBE_USER_SCRAM_CREDENTIALS: DESCRIBE CLUSTER
51 ALTER_USER_SCRAM_CREDENTIALS: ALTER CLUSTER
52 VOTE: CLUSTER_ACTION CLUSTER
53 BEGIN_QUORUM_EPOCH: CLUSTER_ACTION CLUSTER
54 END_QUORUM_EPOCH: CLUSTER_ACTION CLUSTER
55 DESCRIBE_QUORUM: DESCRIBE CLUSTER
56 ALTER_PARTITION: CLUSTER_ACTION CLUSTER
57 UPDATE_FEATURES: ALTER CLUSTER
58 ENVELOPE: CLUSTER_ACTION CLUSTER
59 FETCH_SNAPSHOT: CLUSTER_ACTION CLUSTER
60 DESCRIBE_CLUSTER: DESCRIBE CLUSTER
61 DESCRIBE_PRODUCERS: READ TOPIC
62 BROKER_REGISTRATION: CLUSTER_ACTION CLUSTER
63 BROKER_HEARTBEAT: CLUSTER_ACTION CLUSTER
64 UNREGISTER_BROKER: ALTER CLUSTER
65 DESCRIBE_TRANSACTIONS: DESCRIBE TRANSACTIONAL_ID
66 LIST_TRANSACTIONS: DESCRIBE TRANSACTIONAL_ID
67 ALLOCATE_PRODUCER_IDS: CLUSTER_ACTION CLUSTER
68 CONSUMER_GROUP_HEARTBEAT: READ GROUP
69 CONSUMER_GROUP_DESCRIBE: DESCRIBE GROUP
70 CONTROLLER_REGISTRATION: CLUSTER_ACTION CLUSTER
71 GET_TELEMETRY_SUBSCRIPTIONS
72 PUSH_TELEMETRY
73 ASSIGN_REPLICAS_TO_DIRS: CLUSTER_ACTION CLUSTER
74 LIST_CONFIG_RESOURCES: DESCRIBE_CONFIGS CLUSTER
75 DESCRIBE_TOPIC_PARTITIONS: DESCRIBE TOPIC
76 SHARE_GROUP_HEARTBEAT: READ GROUP
77 SHARE_GROUP_DESCRIBE: DESCRIBE GROUP
78 SHARE_FETCH: READ GROUP, READ TOPIC
79 SHARE_ACKNOWLEDGE: READ GROUP, READ TOPIC
80 ADD_RAFT_VOTER: ALTER CLUSTER
81 REMOVE_RAFT_VOTER: ALTER CLUSTER
82 UPDATE_RAFT_VOTER: CLUSTER_ACTION CLUSTER
83 INITIALIZE_SHARE_GROUP_STATE: CLUSTER_ACTION CLUSTER
84 READ_SHARE_GROUP_STATE: CLUSTER_ACTION CLUSTER
85 WRITE_SHARE_GROUP_STATE: CLUSTER_ACTION CLUSTER
86 DELETE_SHARE_GROUP_STATE: CLUSTER_ACTION CLUSTER
87 READ_SHARE_GROUP_STATE_SUMMARY: CLUSTER_ACTION CLUSTER
88 STREAMS_GROUP_HEARTBEAT: READ GROUP, DESCRIBE TOPIC, CREATE TOPIC
89 STREAMS_GROUP_DESCRIBE: DESCRIBE GROUP, DESCRIBE TOPIC
90 DESCRIBE_SHARE_GROUP_OFFSETS: DESCRIBE GROUP, DESCRIBE TOPIC
91 ALTER_SHARE_GROUP_OFFSETS: READ GROUP, READ TOPIC
92 DELETE_SHARE_GROUP_OFFSETS: DELETE GROUP, READ TOPIC
"""

# What the handlers of the released 4.4.0 check beyond that, read off its classes and seen on the wire.
MORE = {
    65: {"DESCRIBE TOPIC"},
    68: {"DESCRIBE TOPIC"},
    69: {"DESCRIBE TOPIC"},
    76: {"DESCRIBE TOPIC"},
    77: {"DESCRIBE TOPIC"},
    88: {"CREATE CLUSTER"},
    # Deleting by id asks for Describe to reveal the name; a controller's own listener asks for Alter.
    20: {"DESCRIBE TOPIC"},
    60: {"ALTER CLUSTER"},
    93: {"READ GROUP"},
    94: {"ALTER CLUSTER"},
}


def published() -> dict[int, tuple[str, set[str]]]:
    facts = {}
    for line in PUBLISHED.split("\n")[1:-1]:
        head, _, rights = line.partition(":")
        key, name = head.split()
        facts[int(key)] = (name, {right for right in rights.strip().split(", ") if right})
    return facts


def rights(api: Api) -> set[str]:
    """Every right that the table has for a call, in any version and any case, documented ones included."""
    checked = {
        f"{right.operation.name} {right.resource_type.name}"
        for case in api.cases
        for check in case.checks
        for right in check.any_of
    }
    return checked | {f"{row.operation.name} {row.resource_type.name}" for row in api.documented}


def every_rules() -> list[AuthorizerSettings]:
    return [
        AuthorizerSettings(authorizer, version)
        for authorizer in ("standard", "acl")
        for version in VERSIONS[authorizer]
    ]


def test_every_call_of_the_protocol_stands_in_the_table_under_its_name():
    assert list(APIS) == list(range(95))
    for key, (name, _) in published().items():
        assert APIS[key].name == name


@each("key", range(93))
def test_the_table_has_the_published_rights_and_what_the_handlers_add(key):
    name, expected = published()[key]
    # The documentation of 3.9 named Read for this call, which no handler ever asked for.
    outdated = {69: {"READ GROUP"}}.get(key, set())

    assert rights(APIS[key]) == expected | MORE.get(key, set()) | outdated, name


@each("key", APIS)
def test_a_refusal_with_an_error_names_one_and_a_silent_one_names_none(key):
    for case in APIS[key].cases:
        for check in case.checks:
            assert (check.error is not None) == check.refusal.is_error


@each("key", APIS)
def test_every_right_means_something_on_its_resource(key):
    settings = AuthorizerSettings()
    for case in APIS[key].cases:
        for check in case.checks:
            for right in check.any_of:
                # Delete on the cluster is no operation of the kafka-acls tool, and the controller counts it.
                odd = right.operation.name == "DELETE" and right.resource_type is ResourceType.CLUSTER
                assert odd or right.operation in operations_of(right.resource_type, settings)


def test_the_errors_have_kafkas_codes():
    assert {name: error.code for name, error in ERRORS.items()} == {
        "TOPIC_AUTHORIZATION_FAILED": 29,
        "GROUP_AUTHORIZATION_FAILED": 30,
        "CLUSTER_AUTHORIZATION_FAILED": 31,
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": 53,
        "DELEGATION_TOKEN_OWNER_MISMATCH": 63,
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": 64,
        "DELEGATION_TOKEN_AUTHORIZATION_FAILED": 65,
    }


@each("key", APIS)
def test_a_call_is_found_by_its_key_and_by_its_name_in_any_spelling(key):
    api = APIS[key]
    pascal = "".join(word.capitalize() for word in api.name.split("_"))

    for spelling in (
        str(key),
        api.name,
        api.name.lower(),
        pascal,
        api.name.replace("_", "-"),
        f"{pascal}Request",
    ):
        assert find_api(spelling) is api


def test_a_renamed_call_is_found_by_its_old_name():
    assert find_api("ElectPreferredLeaders") is APIS[43]
    assert find_api("LIST_CLIENT_METRICS_RESOURCES") is APIS[74]


@pytest.mark.parametrize("text", ["", "request", "95", "-1", "produce!", "00", " 3x"])
def test_what_is_no_call_is_not_found(text):
    assert find_api(text) is None


def _rights_under(key: int, case: str, settings: AuthorizerSettings) -> list[list[str]]:
    return [
        [f"{right.operation.name} {right.resource_type.name}" for right in check.any_of]
        for check in checks_of(APIS[key].case(case), settings)
    ]


def test_idempotent_write_is_asked_of_every_idempotent_record_only_before_2_8():
    old, new = AuthorizerSettings("acl", "2.7"), AuthorizerSettings("acl", "2.8")

    assert _rights_under(0, "idempotent", old) == [["IDEMPOTENT_WRITE CLUSTER"], ["WRITE TOPIC"]]
    assert _rights_under(22, "idempotent", old) == [["IDEMPOTENT_WRITE CLUSTER"]]
    assert _rights_under(0, "idempotent", new) == [["WRITE TOPIC"]]
    assert _rights_under(22, "idempotent", new) == [["IDEMPOTENT_WRITE CLUSTER", "WRITE TOPIC"]]


def test_delete_on_the_cluster_deletes_topics_in_kraft_only():
    assert _rights_under(20, "named", AuthorizerSettings("standard")) == [["DELETE CLUSTER", "DELETE TOPIC"]]
    assert _rights_under(20, "named", AuthorizerSettings("acl")) == [["DELETE TOPIC"]]


def test_electing_leaders_asks_for_alter_whatever_the_documentation_says():
    assert _rights_under(43, "", AuthorizerSettings()) == [["ALTER CLUSTER"]]
    assert [row.operation.name for row in APIS[43].documented] == ["CLUSTER_ACTION"]


@each("settings", every_rules())
def test_no_check_of_any_version_is_left_without_a_right(settings):
    for api in APIS.values():
        for case in api.cases:
            # Checks fall away in versions that lack them, and never because only their rights do.
            expected = [check for check in case.checks if check.span.holds(settings)]
            kept = checks_of(case, settings)

            if case.span.holds(settings) and not (api.key == 41 and settings.version < (3, 3)):
                assert len(kept) == len(expected)


def test_a_list_of_what_one_may_see_never_ends_in_an_error():
    for key, case in ((16, ""), (66, ""), (3, "all"), (75, "all")):
        assert [check.refusal for check in APIS[key].case(case).checks] == [Refusal.FILTERED]
