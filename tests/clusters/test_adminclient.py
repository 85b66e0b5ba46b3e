"""Brokers are read and written through the Admin API, and what goes wrong is told by its true cause."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kafka.protocol.admin import CreateAclsRequest
from kazoo.client import KazooClient

from aclweb.acl.kafka.refusals import Target
from aclweb.acl.kafka.validation import creation_answers, deletion_answers, listing_answer
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.clusters import ClusterError, ClusterState, Connection, OutcomeKind, Verb
from aclweb.clusters.admin_api import ADMIN_API, messages
from aclweb.clusters.admin_api import write as writing
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.admin_api.session import Session
from aclweb.clusters.connection import check_options
from devstack.servers import KafkaBroker
from tests.builders import allow, deny
from tests.clusters.certificates import certificates
from tests.clusters.wire import Wire
from tests.servers import USERS, create_topic, need_jars, need_java, produce, stopped, wipe
from tests.validation_cases import EVERYTHING, GOOD

BROKERS = ["kafka44", "kafka39"]


@pytest.fixture(params=BROKERS)
def broker(request) -> KafkaBroker:
    broker: KafkaBroker = request.getfixturevalue(request.param)
    wipe(broker)
    return broker


def settled(client: AdminClient, expected: Iterable[AclBinding]) -> set[AclBinding]:
    """Return what the cluster holds, once it holds this; a KRaft broker hears of a write a moment after it."""
    for _ in range(600):
        held = set(client.read_acls().bindings)
        if held == set(expected):
            break
        time.sleep(0.1)
    return held


def options(broker: KafkaBroker, user: str, **others: str) -> dict[str, str]:
    return {
        **broker.connection(user).options,
        **{name.replace("_", "."): text for name, text in others.items()},
    }


def failure(address: str, given: dict[str, str] | None = None, seconds: float = 30) -> ClusterError:
    """Return why a client does not come to be, or cannot read."""
    with pytest.raises(ClusterError) as caught:
        with AdminClient(Connection(ADMIN_API, address, given or {}, seconds)) as client:
            client.read_acls()
    return caught.value


# --- what goes wrong at connecting ---------------------------------------------------------


@pytest.mark.kafka
def test_a_wrong_password_is_reported_as_such_and_never_repeated(broker):
    error = failure(broker.bootstrap, options(broker, "bob", sasl_password="hunter2"))

    assert error.state is ClusterState.LOGIN_REFUSED
    assert "refused the login of 'bob'" in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.kafka
def test_a_mechanism_that_the_brokers_do_not_offer_is_named(broker):
    error = failure(broker.bootstrap, options(broker, "bob", sasl_mechanism="SCRAM-SHA-512"))

    assert error.state is ClusterState.LOGIN_REFUSED
    assert "do not offer SCRAM-SHA-512" in str(error)


@pytest.mark.kafka
def test_a_login_at_the_port_without_logins_is_reported_as_the_wrong_port(broker):
    error = failure(broker.plaintext, options(broker, "bob"))

    assert error.state is ClusterState.LOGIN_REFUSED
    assert "takes no logins" in str(error)


@pytest.mark.kafka
def test_no_login_at_the_port_that_wants_one_is_reported_as_a_missing_login(broker):
    error = failure(broker.bootstrap)

    assert error.state is ClusterState.LOGIN_REFUSED
    assert "ask for a login" in str(error)


@pytest.mark.kafka
def test_tls_at_a_port_that_does_not_speak_it_is_reported(broker):
    error = failure(broker.bootstrap, {"security.protocol": "SSL"})

    assert error.state is ClusterState.UNREACHABLE
    assert "does not speak TLS" in str(error)


def test_a_closed_port_is_reported_with_the_address():
    error = failure("127.0.0.1:1", seconds=1)

    assert error.state is ClusterState.UNREACHABLE
    assert "No Kafka broker answers at 127.0.0.1:1" in str(error)


def test_a_name_that_nobody_knows_is_reported_as_such():
    error = failure("no-such-host.invalid:9092", seconds=1)

    assert error.state is ClusterState.UNREACHABLE
    assert "no-such-host.invalid" in str(error)


@pytest.mark.parametrize(
    "wrong", ["", "broker", "broker:", ":9092", "broker:kafka", "a:1,b", "PLAINTEXT://a:9092/x"]
)
def test_an_address_that_is_none_is_reported_with_what_would_be_right(wrong):
    error = failure(wrong, seconds=1)

    assert repr(wrong) in str(error)
    assert "host:9092" in str(error)


def test_a_client_that_got_no_connection_leaves_no_thread_behind():
    before = threading.active_count()

    failure("127.0.0.1:1", seconds=1)

    assert threading.active_count() == before


class Reader(logging.Handler):
    """Somebody who reads the log of the whole process, at every level."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(f"{record.name} {record.getMessage()}")


def test_the_librarys_log_stays_silent_where_the_error_tells_it_all():
    reader, root = Reader(), logging.getLogger()
    level = root.level
    root.addHandler(reader)
    root.setLevel(logging.DEBUG)
    try:
        failure("127.0.0.1:1", seconds=1)
    finally:
        root.setLevel(level)
        root.removeHandler(reader)

    assert [line for line in reader.told if line.startswith("kafka")] == []


@pytest.mark.kafka
def test_a_cause_is_heard_even_where_the_logging_of_the_process_silences_the_library(kafka44):
    # What logging.config does to loggers that it does not know, below one that it does.
    library = logging.getLogger("kafka.net.manager")
    library.disabled, library.propagate = True, True
    library.setLevel(logging.NOTSET)
    logging.getLogger("kafka").setLevel(logging.ERROR)

    error = failure(kafka44.bootstrap, options(kafka44, "bob", sasl_password="hunter2"))

    assert error.state is ClusterState.LOGIN_REFUSED


# --- what the brokers refuse to tell ---------------------------------------------------------


@pytest.mark.kafka
def test_no_right_to_describe_is_a_state_of_its_own_and_not_an_empty_cluster(broker):
    error = failure(broker.bootstrap, options(broker, "bob"))

    assert error.state is ClusterState.NOT_PERMITTED
    assert str(error).startswith("The user 'bob' may not list the ACLs")


@pytest.mark.kafka
def test_the_right_to_describe_the_cluster_is_enough_to_read_every_acl(broker):
    grants = (
        allow("User:bob", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
        allow("User:x", "READ", "t"),
    )
    with AdminClient(broker.connection()) as admin:
        admin.write(Verb.ADD, grants)
        settled(admin, grants)

    with AdminClient(broker.connection("bob")) as bob:
        reading = bob.read_acls()
        refused = bob.write(Verb.ADD, [allow("User:bob", "READ", "t")])

    assert set(reading.bindings) == set(grants)
    assert refused[0].kind is OutcomeKind.REFUSED
    assert refused[0].sentence == "The user 'bob' may not change ACLs; that needs Alter on the cluster."


class SecureBroker(KafkaBroker):
    authority: str  # the certificate that its own is signed with


@pytest.fixture(scope="module")
def open_broker(tmp_path_factory) -> Iterator[SecureBroker]:
    """A broker without an authorizer, whose port without logins speaks TLS."""
    need_java()
    jars = need_jars("4.4.0")
    directory = tmp_path_factory.mktemp("open")
    authority, server = certificates("127.0.0.1")
    (directory / "server.pem").write_text(server)
    settings = {
        "authorizer.class.name": None,
        "super.users": None,
        "allow.everyone.if.no.acl.found": None,
        "listener.security.protocol.map": "PLAINTEXT:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "listener.name.plaintext.ssl.keystore.type": "PEM",
        "listener.name.plaintext.ssl.keystore.location": str(directory / "server.pem"),
    }
    with SecureBroker(directory / "broker", jars, users=USERS, settings=settings) as broker:
        broker.authority = authority
        yield broker


@pytest.mark.kafka
def test_a_cluster_without_an_authorizer_is_a_state_of_its_own(open_broker):
    error = failure(open_broker.bootstrap, options(open_broker, "bob"))
    with AdminClient(open_broker.connection("bob")) as bob:
        (outcome,) = bob.write(Verb.ADD, [allow("User:bob", "READ", "t")])

    assert error.state is ClusterState.NO_AUTHORIZER
    assert outcome.kind is OutcomeKind.REFUSED
    assert "no authorizer" in outcome.sentence


@pytest.mark.kafka
def test_a_cluster_without_an_authorizer_answers_acl_requests_in_the_foretold_words(
    open_broker,
):
    target = Target(AuthorizerSettings(), has_authorizer=False)
    bad = replace(GOOD, pattern_type=1)
    with Wire(open_broker, "bob") as wire:
        answers = [*wire.create([GOOD, bad]), *wire.delete([EVERYTHING]), wire.describe(EVERYTHING)]

    expected = [*creation_answers([GOOD, bad], target), *deletion_answers([EVERYTHING], target)]
    expected.append(listing_answer(EVERYTHING, target))
    assert [(answer.code, answer.text) for answer in answers] == [
        (answer.code, answer.text) for answer in expected if answer is not None
    ]


@pytest.mark.kafka
def test_tls_works_where_the_certificate_is_trusted_and_names_the_host(open_broker):
    given = {"security.protocol": "SSL", "ssl.ca.pem": open_broker.authority}

    with AdminClient(Connection(ADMIN_API, open_broker.plaintext, given, 60)) as client:
        assert client.describe().cluster_id


@pytest.mark.kafka
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_tls_is_refused_where_nobody_vouches_or_the_certificate_names_another_host(open_broker, host):
    port = open_broker.plaintext.rpartition(":")[2]
    trusted = {"ssl.ca.pem": open_broker.authority} if host == "localhost" else {}

    error = failure(f"{host}:{port}", {"security.protocol": "SSL", **trusted})

    assert error.state is ClusterState.UNREACHABLE
    assert "is not to be trusted" in str(error)


@pytest.mark.parametrize("name", ["ssl.ca.pem", "ssl.certificate.pem"])
def test_pem_text_that_is_damaged_is_reported_before_anything_is_sent(name):
    damaged = "-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n"
    given = {
        "security.protocol": "SSL",
        "ssl.certificate.pem": damaged,
        "ssl.key.pem": damaged,
        name: damaged,
    }

    assert f"{name} holds a certificate that cannot be read" in str(failure("127.0.0.1:1", given, 1))


@pytest.mark.kafka
@pytest.mark.zookeeper
def test_an_acl_that_makes_brokers_fail_to_list_any_is_reported_with_its_place(kafka39, fresh):
    wipe(kafka39)
    entry = {"principal": "User:bob", "permissionType": "Allow", "operation": "Fly", "host": "*"}
    keeper = KazooClient(hosts=str(kafka39.zookeeper))
    keeper.start(timeout=60)
    path = f"/kafka-acl/Group/{fresh}"
    try:
        keeper.create(path, json.dumps({"version": 1, "acls": [entry]}).encode())
        keeper.create("/kafka-acl-changes/acl_changes_", f"GROUP:{fresh}".encode(), sequence=True)
        error = poisoned(kafka39)
    finally:
        keeper.delete(path)
        keeper.create("/kafka-acl-changes/acl_changes_", f"GROUP:{fresh}".encode(), sequence=True)
        keeper.stop()

    assert error.state is ClusterState.UNREADABLE
    assert "on GROUP is the cause" in str(error)
    with AdminClient(kafka39.connection()) as client:
        for _ in range(600):
            try:
                client.read_acls()
                break
            except ClusterError:
                time.sleep(0.1)
        assert client.read_acls().bindings == ()


def poisoned(broker: KafkaBroker) -> ClusterError:
    with AdminClient(broker.connection()) as client:
        for _ in range(600):
            try:
                client.read_acls()
            except ClusterError as error:
                return error
            time.sleep(0.1)  # until the broker has heard of it
    raise AssertionError("The broker never noticed.")


# --- facts -----------------------------------------------------------------------------------


@pytest.mark.kafka
@pytest.mark.parametrize(("name", "version"), [("kafka44", "4.4"), ("kafka39", "3.9")])
def test_the_version_of_the_brokers_software_is_reported(request, name, version):
    broker = request.getfixturevalue(name)

    with AdminClient(broker.connection()) as client:
        facts = client.describe()

    assert facts.kafka_version == version
    assert facts.brokers == (broker.bootstrap,)
    assert facts.cluster_id


# --- writing ---------------------------------------------------------------------------------


@pytest.mark.kafka
def test_a_granted_client_can_produce_after_the_write_and_could_not_before(broker, fresh):
    create_topic(broker, fresh)
    grants = [allow("User:bob", "WRITE", fresh), allow("User:bob", "DESCRIBE", fresh)]
    refused = produce(broker, "bob", fresh)

    with AdminClient(broker.connection()) as client:
        client.write(Verb.ADD, grants)
        allowed = eventually_none(lambda: produce(broker, "bob", fresh))
        client.write(Verb.ADD, [deny("User:bob", "WRITE", fresh)])
        settled(client, [*grants, deny("User:bob", "WRITE", fresh)])
        refused_again = produce(broker, "bob", fresh)

    assert refused is not None
    assert allowed is None
    assert refused_again is not None


def eventually_none(act) -> object:
    """Do it until a broker has caught up with what it was told a moment ago."""
    answer = act()
    for _ in range(300):
        if answer is None:
            break
        time.sleep(0.2)
        answer = act()
    return answer


@pytest.mark.kafka
def test_more_than_one_request_can_hold_is_written_and_removed_whole(broker):
    many = [allow(f"User:u{number % 9}", "READ", f"bulk-{number // 9}") for number in range(1100)]

    with AdminClient(broker.connection()) as client:
        added = client.write(Verb.ADD, many)
        there = settled(client, many)
        removed = client.write(Verb.REMOVE, many[:120])
        left = settled(client, many[120:])

    assert {outcome.kind for outcome in added} == {OutcomeKind.WRITTEN}
    assert there == set(many)
    assert {outcome.kind for outcome in removed} == {OutcomeKind.WRITTEN}
    assert left == set(many[120:])


@pytest.mark.kafka
def test_a_removal_takes_one_acl_and_not_what_a_filter_would_also_match(broker):
    kept = (
        allow("User:bob", "READ", "orders", pattern="PREFIXED"),
        allow("User:bob", "READ", "*"),
        allow("User:*", "READ", "orders"),
        allow("User:bob", "ALL", "orders"),
        allow("User:bob", "READ", "orders", host="10.0.0.1"),
        deny("User:bob", "READ", "orders"),
    )
    target = allow("User:bob", "READ", "orders")

    with AdminClient(broker.connection()) as client:
        client.write(Verb.ADD, [*kept, target])
        (outcome,) = client.write(Verb.REMOVE, [target])
        left = settled(client, kept)

    assert outcome.evidence["matched"] == 1
    assert left == set(kept)


@pytest.mark.kafka
def test_a_broker_answers_minus_one_for_all_where_one_item_is_badly_formed(broker):
    """The trap itself, held against the real brokers: it is why items are checked before they are sent."""
    good, bad = allow("User:bob", "READ", "orders"), allow("User:bob", "READ", "orders", pattern="MATCH")

    with AdminClient(broker.connection()) as client:
        request = CreateAclsRequest(creations=[messages.creation(one) for one in (good, bad)])
        answer = client._session.send(request, 15)
        left = client.read_acls().bindings

    assert [result.error_code for result in answer.results] == [-1, -1]
    assert left == ()


@pytest.mark.kafka
def test_a_request_refused_as_a_whole_is_sent_again_item_by_item(broker, monkeypatch):
    monkeypatch.setattr(writing, "fault_of", lambda verb, binding: None)
    good = [allow("User:bob", "READ", f"orders-{number}") for number in range(5)]
    bad = allow("User:bob", "READ", "orders", pattern="MATCH")

    with AdminClient(broker.connection()) as client:
        outcomes = client.write(Verb.ADD, [*good[:2], bad, *good[2:]])
        left = settled(client, good)

    kinds = {outcome.binding: outcome.kind for outcome in outcomes}
    assert {kinds[one] for one in good} == {OutcomeKind.WRITTEN}
    assert kinds[bad] is OutcomeKind.UNKNOWN
    assert left == set(good)


@pytest.mark.kafka
def test_a_false_address_range_is_refused_in_our_words_by_a_broker_that_knows_ranges(kafka44):
    with AdminClient(kafka44.connection()) as client:
        bad, good = client.write(
            Verb.ADD,
            [
                allow("User:bob", "READ", "t", host="10.0.0.0/33"),
                allow("User:bob", "READ", "t", host="10.0.0.0/8"),
            ],
        )

    assert (bad.kind, bad.error_code) == (OutcomeKind.REFUSED, 42)
    assert "'10.0.0.0/33' is not an address range" in bad.sentence
    assert good.kind is OutcomeKind.WRITTEN


@pytest.mark.kafka
def test_a_slash_in_a_name_is_refused_in_our_words_by_the_broker_on_zookeeper(kafka39):
    with AdminClient(kafka39.connection()) as client:
        (outcome,) = client.write(Verb.ADD, [allow("User:bob", "READ", "a/b", resource_type="GROUP")])

    assert (outcome.kind, outcome.error_code) == (OutcomeKind.REFUSED, 42)
    assert "slash" in outcome.sentence


@pytest.mark.kafka
def test_a_broker_that_falls_silent_leaves_the_outcome_unknown_and_raises_nothing(kafka44, monkeypatch):
    monkeypatch.setattr(writing, "CREATES_PER_REQUEST", 10)
    wipe(kafka44)
    connection = Connection(
        ADMIN_API, kafka44.bootstrap, options(kafka44, "admin") | {"request.timeout.ms": "1500"}, 2
    )
    many = [allow("User:bob", "READ", f"silent-{number}") for number in range(15)]
    with AdminClient(connection) as client:
        client.read_acls()
        with stopped(kafka44.pid):
            outcomes = client.write(Verb.ADD, many)
            with pytest.raises(ClusterError) as caught:
                client.read_acls()

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.UNKNOWN}
    assert [outcome.evidence["sent"] for outcome in outcomes] == [True] * 10 + [False] * 5
    assert caught.value.state is ClusterState.UNREACHABLE
    wipe(kafka44)


class Answers:
    """A connection whose answers are written by the test."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.sent: list[object] = []

    def __call__(self, request: object, timeout_seconds: float, node_id: int | None = None) -> object:
        self.sent.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def answered(*codes: int) -> SimpleNamespace:
    dump = "Request(processor=3, session=org.apache.kafka.network.Session@79eeaaf9) needs ALTER permission."
    return SimpleNamespace(results=[SimpleNamespace(error_code=code, error_message=dump) for code in codes])


def offline(send: Answers) -> AdminClient:
    session = Session.__new__(Session)
    session.options, session.where, session.nodes = check_options(ADMIN_API, {}), "fake:9092", ()
    session.timeout_seconds = session.write_timeout_seconds = 0.2
    session.send = send  # type: ignore[method-assign]
    client = AdminClient.__new__(AdminClient)
    client._session = session
    return client


@pytest.mark.parametrize("code", [-1, 7, 29, 31, 35, 41, 42, 44, 54, 87, 1234])
def test_no_text_of_a_broker_is_ever_shown_whatever_the_code(code):
    (outcome,) = offline(Answers(answered(code))).write(Verb.ADD, [allow("User:bob", "READ", "t")])

    assert outcome.kind is (OutcomeKind.UNKNOWN if code in (-1, 7) else OutcomeKind.REFUSED)
    assert outcome.error_code == code
    assert "Session" not in outcome.sentence
    assert outcome.sentence.endswith(".")


def test_answers_that_do_not_fit_the_questions_leave_the_outcome_unknown():
    outcomes = offline(Answers(answered(0))).write(
        Verb.ADD, [allow("User:bob", "READ", name) for name in "ab"]
    )

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.UNKNOWN}


def test_nothing_is_sent_where_nothing_can_be():
    send = Answers()

    offline(send).write(Verb.ADD, [allow("bob", "READ", "t"), allow("User:bob", "READ", "\ud800")])

    assert send.sent == []


@pytest.mark.parametrize(
    "binding",
    [
        allow("User:bob", "UNKNOWN", "t"),
        allow("User:bob", "ANY", "t"),
        allow("User:bob", "READ", "t", pattern="ANY"),
        allow("User:bob", "READ", "t", pattern="MATCH"),
    ],
    ids=lambda binding: f"{binding.pattern_type.name}-{binding.operation.name}",
)
def test_no_deletion_is_sent_that_could_take_more_than_the_acl_that_was_asked_for(binding):
    send = Answers()

    (outcome,) = offline(send).write(Verb.REMOVE, [binding])

    assert outcome.kind is OutcomeKind.REFUSED
    assert outcome.sentence.endswith(".")
    assert send.sent == []


@pytest.mark.parametrize(
    ("binding", "code", "text", "told"),
    [
        (
            allow("User:a", "TWO_PHASE_COMMIT", "t", resource_type="TRANSACTIONAL_ID"),
            42,
            "Invalid operation UNKNOWN",
            "TWO_PHASE_COMMIT needs Kafka 4.1 or later (code 42).",
        ),
        (
            allow("User:a", "READ", "t", host="10.0.0.0/8"),
            35,
            "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.",
            "This cluster does not know address ranges such as '10.0.0.0/8' yet; raise its metadata.version to "
            "4.4-IV1 first (code 35).",
        ),
        (allow("User:a", "READ", "t"), 42, "A dump", "The broker does not accept this ACL (code 42)."),
    ],
    ids=["operation", "range", "new"],
)
def test_a_refusal_of_a_broker_is_the_one_that_was_predicted(binding, code, text, told):
    answer = SimpleNamespace(results=[SimpleNamespace(error_code=code, error_message=text)])

    (outcome,) = offline(Answers(answer)).write(Verb.ADD, [binding])

    assert outcome.sentence == told


def test_what_an_older_broker_let_in_can_be_removed():
    send = Answers(SimpleNamespace(filter_results=[matched(1)]))

    (outcome,) = offline(send).write(Verb.REMOVE, [allow("bob", "READ", "t")])

    assert outcome.kind is OutcomeKind.WRITTEN


def matched(count: int) -> SimpleNamespace:
    acls = [SimpleNamespace(error_code=0)] * count
    return SimpleNamespace(error_code=0, error_message=None, matching_acls=acls)


def test_what_a_failed_deletion_may_have_removed_is_not_called_gone_before():
    failing = SimpleNamespace(error_code=-1, error_message=None, matching_acls=[])
    send = Answers(
        SimpleNamespace(filter_results=[failing, failing]),
        SimpleNamespace(filter_results=[matched(0)]),
        SimpleNamespace(filter_results=[matched(1)]),
    )

    outcomes = offline(send).write(Verb.REMOVE, [allow("User:bob", "READ", name) for name in "ab"])

    assert [outcome.kind for outcome in outcomes] == [OutcomeKind.UNKNOWN, OutcomeKind.WRITTEN]
    assert "reading back" in outcomes[0].sentence


def test_a_deletion_names_every_field_so_that_nothing_else_can_match():
    send = Answers(SimpleNamespace(filter_results=[matched(1)]))

    offline(send).write(Verb.REMOVE, [allow("User:bob", "READ", "t", host="10.0.0.1")])

    (item,) = send.sent[0].filters
    assert (item.resource_type_filter, item.resource_name_filter, item.pattern_type_filter) == (2, "t", 3)
    assert (item.principal_filter, item.host_filter, item.operation, item.permission_type) == (
        "User:bob",
        "10.0.0.1",
        3,
        3,
    )


def listing(*resources: object) -> SimpleNamespace:
    """An answer with all ACLs, as it comes: undecoded."""
    return SimpleNamespace(decoded=SimpleNamespace(error_code=0, resources=list(resources)))


def test_a_word_newer_than_aclweb_is_read_and_reported_and_not_dropped():
    acl = SimpleNamespace(principal="User:bob", host="*", operation=99, permission_type=3)
    resource = SimpleNamespace(resource_type=2, resource_name="t", pattern_type=3, acls=[acl])

    reading = offline(Answers(listing(resource))).read_acls()

    assert [binding.operation.name for binding in reading.bindings] == ["UNKNOWN"]
    assert "does not know" in reading.problems[0].sentence
    assert isinstance(reading.bindings[0], AclBinding)


@pytest.mark.parametrize("code", [5, 99])
def test_a_pattern_type_that_no_broker_of_today_has_is_read_as_unknown(code):
    acl = SimpleNamespace(principal="User:bob", host="*", operation=3, permission_type=3)
    resource = SimpleNamespace(resource_type=2, resource_name="t", pattern_type=code, acls=[acl])

    reading = offline(Answers(listing(resource))).read_acls()

    assert [binding.pattern_type.name for binding in reading.bindings] == ["UNKNOWN"]
    assert "does not know" in reading.problems[0].sentence
