"""How are the ACLs of a cluster read and written through Kafka's Admin API?

The only import of a Kafka client. It sends the protocol's own request classes instead
of the library's helpers, which drop the answer for each item, and codes that are newer
than the library.

Kafka's own error texts are internal dumps, so none is shown: every code that a person
can meet has a sentence of its own here. What the library hides is found out: a refused
login, a wrong port and a broker that is down all raise the same timeout, and the cause
stands only in the library's log.

Three promises need care. One badly formed item makes a broker refuse a whole request
without a reason, so items are checked before they are sent, and sent one by one where
it happens all the same. A broker may time out on a deletion and still do it, so no
answer means UNKNOWN. Deletions are slow for a broker with many ACLs, so few go at once.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import kafka.errors as errors
from kafka import KafkaAdminClient
from kafka.protocol.admin import (
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    ListGroupsRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from aclweb.acl.kafka import explained
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    ANY_USER,
    AclBinding,
    AuthorizerSettings,
    Operation,
    ResourceType,
)
from aclweb.acl.principals import BrokerSettings as NamingSettings
from aclweb.acl.principals import Client, Protocol, identify
from aclweb.clusters.admin_api.messages import (
    ANY,
    CLUSTER_AUTHORIZATION_FAILED,
    COORDINATOR_LOADING,
    GROUP_AUTHORIZATION_FAILED,
    ILLEGAL_SASL_STATE,
    INVALID_REQUEST,
    NONE,
    NOT_CONTROLLER,
    POLICY_VIOLATION,
    REQUEST_TIMED_OUT,
    SASL_AUTHENTICATION_FAILED,
    SECURITY_DISABLED,
    UNKNOWN_SERVER_ERROR,
    UNSUPPORTED_SASL_MECHANISM,
    UNSUPPORTED_VERSION,
    bindings_in,
    creation,
    deletion,
    deletion_code,
    describe_acls,
    fault_of,
    too_new,
)
from aclweb.clusters.admin_api.rights import may_alter, may_describe_configs
from aclweb.clusters.admin_api.visibility import names_known
from aclweb.clusters.admin_api.wire import (
    LARGEST_ANSWER,
    SILENT_SECONDS,
    Eavesdropper,
    HungError,
    Node,
    end,
    network,
    split_address,
    unreachable,
)
from aclweb.clusters.broker_settings import BrokerSettings, SettingsTold, is_asked, settings_told
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Known,
    Login,
    NamesKnown,
    Outcome,
    OutcomeKind,
    TopicInfo,
    Verb,
)
from aclweb.clusters.connection import (
    Endpoint,
    Probes,
    check_options,
    none_reachable,
    pem,
    tls_context,
    wrongly_advertised,
)
from aclweb.clusters.kind import Connection
from aclweb.clusters.rights import Right

logger = logging.getLogger(__name__)


CREATES_PER_REQUEST = 1000


DELETES_PER_REQUEST = 50


# A broker passes writes on to its controller and waits for that one up to 30 s.
WRITE_TIMEOUT_SECONDS = 60.0


_BROKER_CONFIG = 4


# The lowest level of the feature metadata.version that each line of Kafka supports, by
# which its software is known; the library itself knows no line after 4.3.
_METADATA_LEVELS = (
    (15, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (22, "4.0"),
    (26, "4.1"),
    (28, "4.2"),
    (30, "4.3"),
    (31, "4.4"),
)


class AdminClient:
    """One open connection to the brokers of a cluster."""

    _nodes: tuple[Node, ...] = ()
    _there: tuple[Node, ...] | None = None  # of the nodes, those that answer; None before they were asked
    _settings: SettingsTold | None = None

    def __init__(self, connection: Connection) -> None:
        self._options = check_options(connection.kind, connection.options)
        self._address = connection.address
        self._servers = split_address(connection.address)
        self._where = ", ".join(self._servers)
        self._timeout = connection.timeout_seconds
        self._probe_timeout = connection.probe_timeout
        self._write_timeout = self._options.request_timeout_seconds or max(
            WRITE_TIMEOUT_SECONDS, self._timeout
        )
        # Whether each broker has listed its groups; None before any did.
        self._groups_of_all: bool | None = None
        self._context = tls_context(self._options) if self._options.uses_tls else None
        first = self._first_broker()
        self._kafka = self._open(first)
        try:
            self._nodes = self._nodes_from(first)
        except BaseException:
            self.close()
            raise

    def _first_broker(self) -> str:
        """Return the address at which a broker answers first; raises ClusterError saying what is there instead."""
        probes = Probes(self._servers, self._context, self._probe_timeout)
        try:
            first = probes.first()
            if first is None:
                raise none_reachable(
                    probes.all(),
                    self._options,
                    wanted=Endpoint.BROKER,
                    waited_seconds=self._probe_timeout,
                    sync_waits_seconds=self._timeout,
                )
        finally:
            probes.close()
        return first

    def _nodes_from(self, first: str) -> tuple[Node, ...]:
        """Return the brokers of the cluster, that which answered first before the others.

        Where they go by other addresses than the connection's, whoever answers at those first comes first.
        Raises ClusterError where none of those can be reached.
        """
        nodes = tuple(
            Node(broker.node_id, f"{broker.host}:{broker.port}")
            for broker in self._kafka._manager.cluster.brokers()
        )
        if first not in {node.address for node in nodes}:
            probes = Probes([node.address for node in nodes], self._context, self._probe_timeout)
            try:
                reached = probes.first()
                if reached is None:
                    raise wrongly_advertised(probes.all(), self._where)
                first = reached
            finally:
                probes.close()
        return tuple(sorted(nodes, key=lambda node: node.address != first))

    def _open(self, first: str) -> KafkaAdminClient:
        options = self._options
        settings: dict[str, object] = {
            "bootstrap_servers": [first],
            "client_id": options.client_id,
            "security_protocol": options.protocol,
            "bootstrap_timeout_ms": int(self._timeout * 1000),
            "request_timeout_ms": int(self._timeout * 1000),
            "receive_message_max_bytes": LARGEST_ANSWER,
            "kafka_client": network,
        }
        if options.uses_sasl:
            settings["sasl_mechanism"] = options.mechanism
            settings["sasl_plain_username"] = options.username
            settings["sasl_plain_password"] = options.password
        if self._context is not None:
            settings["ssl_context"] = self._context

        # The constructor connects. Made in two steps, so that a client that got no
        # connection can still be ended, and told to stop when there is no hope.
        client = KafkaAdminClient.__new__(KafkaAdminClient)
        with Eavesdropper(client) as heard:
            try:
                client.__init__(**settings)
            except Exception as error:
                end(client)
                raise self._not_connected(heard, error) from error
        return client

    # --- reading --------------------------------------------------------------------

    def describe(self) -> ClusterFacts:
        answer = self._ask(lambda: MetadataRequest(topics=[], allow_auto_topic_creation=False), "its brokers")
        brokers = tuple(sorted(f"{broker.host}:{broker.port}" for broker in answer.brokers))
        return ClusterFacts(
            cluster_id=answer.cluster_id or None,
            kafka_version=self._kafka_version(),
            brokers=brokers,
            settings=self._settings_told(),
            silent=tuple(node.address for node in self._nodes if node not in self._answering()),
        )

    def _settings_told(self) -> SettingsTold | None:
        """Return what the brokers tell of their settings, None where this login may not ask them."""
        told = []
        for node in self._answering():
            try:
                values = self._settings_of(node)
            except ClusterError:
                continue
            if values is None:
                self._settings = None
                return None
            told.append(BrokerSettings(node.number, values))
        self._settings = settings_told(told)
        return self._settings

    def _settings_of(self, node: Node) -> dict[str, str | None] | None:
        """Return the settings by name, those whose value is hidden as None; None where they may not be asked for."""
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=_BROKER_CONFIG, resource_name=str(node.number), configuration_keys=None
        )
        answer = self._ask(
            lambda: DescribeConfigsRequest(resources=[resource], include_synonyms=False),
            "its settings",
            node=node,
        )
        (result,) = answer.results
        if result.error_code != NONE:
            return None
        return {
            one.name: None if one.is_sensitive else one.value for one in result.configs if is_asked(one.name)
        }

    def _answering(self) -> tuple[Node, ...]:
        """Return the brokers that answer. Those that hang are found out all at once, and once in a client's life."""
        if self._there is None:
            if len(self._nodes) == 1:
                self._there = self._nodes
            else:
                probes = Probes([node.address for node in self._nodes], self._context, 2 * SILENT_SECONDS)
                try:
                    found = probes.all()
                finally:
                    probes.close()
                self._there = tuple(
                    node for node in self._nodes if found[node.address].endpoint is Endpoint.BROKER
                )
        return self._there

    def read_acls(self) -> AclSnapshot:
        answer = self._ask(lambda: describe_acls(ANY), "its ACLs")
        if answer.error_code == UNKNOWN_SERVER_ERROR:
            raise ClusterError(self._poisoned(), state=ClusterState.UNREADABLE)
        self._require_success(answer.error_code, "list the ACLs", needed="Describe")
        bindings = tuple(dict.fromkeys(bindings_in(answer)))
        return AclSnapshot(bindings, tuple(too_new(one) for one in bindings if one.has_unknown))

    def read_topics(self) -> tuple[TopicInfo, ...]:
        """Return the topics that this login may describe; brokers leave out the others without a word."""
        answer = self._ask(
            lambda: MetadataRequest(topics=None, allow_auto_topic_creation=False), "its topics"
        )
        topics = [
            TopicInfo(topic.name, len(topic.partitions), bool(topic.is_internal))
            for topic in answer.topics
            if topic.name
        ]
        return tuple(sorted(topics, key=lambda topic: topic.name))

    def read_groups(self) -> tuple[str, ...] | None:
        """Return the groups of the brokers that answer, None where this login may see none.

        Raises ClusterError where no broker answers; `names_known` tells whether all did.
        """
        groups: set[str] = set()
        silent: list[ClusterError] = []
        there = self._answering() or self._nodes[:1]
        for node in there:
            try:
                found = self._groups_of(node)
            except ClusterError as error:
                silent.append(error)
                continue
            if found is None:
                return None
            groups |= found
        if silent and len(silent) == len(there):
            raise silent[0]
        self._groups_of_all = not silent and len(there) == len(self._nodes)
        return tuple(sorted(groups))

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return what the ACLs, and the operations that brokers allow this login, prove about the names read."""
        if self._settings is not None and ALLOW_EVERYONE_KEY in self._settings.proven:
            authorizer_settings = replace(
                authorizer_settings,
                allow_everyone=False,
                undeclared=authorizer_settings.undeclared - {"allow_everyone"},
            )
        login, listed = self.login(), self._groups_of_all is not None
        if not self._still_holds(login, acls):
            # A right came or went while names were read, so that they prove nothing.
            return replace(
                names_known(
                    login,
                    (),
                    authorizer_settings,
                    groups_listed=self._groups_of_all is not None,
                    all_brokers=False,
                ),
                topics=Known.VISIBLE,
                sees=lambda _type, _name: False,  # nothing of either kind is told as gone
            )
        return names_known(
            login,
            acls.bindings,
            authorizer_settings,
            groups_listed=listed,
            all_brokers=bool(self._groups_of_all),
        )

    def _still_holds(self, login: Login, acls: AclSnapshot) -> bool:
        """Whether what everybody and this login may do with topics is still as it was in these ACLs."""
        for principal in {ANY_USER, login.principal or ANY_USER}:
            answer = self._ask(
                functools.partial(describe_acls, ResourceType.TOPIC.code, principal), "its ACLs"
            )
            now = set(bindings_in(answer))
            before = {
                one
                for one in acls.bindings
                if one.resource_type is ResourceType.TOPIC and one.principal == principal
            }
            if answer.error_code != NONE or before != now:
                return False
        return True

    def login(self) -> Login:
        """Return who this client is to the brokers and what they allow it on the cluster, as far as it shows."""
        try:
            answer = self._ask(
                lambda: DescribeClusterRequest(include_cluster_authorized_operations=True, endpoint_type=1),
                "what this login may do",
            )
        except ClusterError:
            return Login(self._principal())  # brokers before 2.8 do not know the question
        codes = answer.authorized_operations if answer.error_code == NONE else None
        operations = None if codes is None else frozenset(Operation.from_code(code) for code in codes)
        return Login(self._principal(), operations)

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        return (
            may_alter(login, self._address, writes=writes),
            may_describe_configs(login, self._address, self._settings),
        )

    def _principal(self) -> str | None:
        """Return how ACLs name this login, None where it depends on settings that the brokers do not tell."""
        told, own = self._settings, self._options.certificate_pem
        by_subject = own is not None and not self._options.uses_sasl
        if (told is None and by_subject) or (told is not None and told.listeners_differ):
            return None
        if told is not None and by_subject and told.ssl_rules is None:
            return None  # the brokers differ
        client = Client(
            Protocol(self._options.protocol),
            subject=pem.subject_of(own) if own else None,
            mechanism=self._options.mechanism,
            authorization_id=self._options.username,
        )
        naming = (
            NamingSettings()
            if told is None
            else NamingSettings(ssl_rules=told.ssl_rules, principal_builder=told.principal_builder or None)
        )
        return identify(client, naming).principal

    def _groups_of(self, node: Node) -> set[str] | None:
        deadline = time.monotonic() + self._timeout
        while True:
            answer = self._ask(
                lambda: ListGroupsRequest(states_filter=[], types_filter=[]), "its groups", node=node
            )
            if answer.error_code == NONE:
                return {group.group_id for group in answer.groups}
            if answer.error_code in (GROUP_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED):
                return None
            if answer.error_code not in COORDINATOR_LOADING or time.monotonic() > deadline:
                raise ClusterError(
                    f"The broker at {node.address} does not list its groups (code {answer.error_code}).",
                    state=ClusterState.UNREACHABLE,
                )
            time.sleep(0.2)

    def _kafka_version(self) -> str | None:
        """Return the brokers' version as far as it shows, such as `4.4`."""
        answer = self._ask(
            # From version 3 on the answer lists the features that the broker's software supports.
            lambda: ApiVersionsRequest(version=3, client_software_name="aclweb", client_software_version="1"),
            "its version",
        )
        for feature in getattr(answer, "supported_features", None) or ():
            if feature.name == "metadata.version":
                known = [line for level, line in _METADATA_LEVELS if feature.max_version >= level]
                if known:
                    return known[-1]
        version = self._kafka._manager.broker_version
        return ".".join(str(part) for part in version[:2]) if version else None

    def _ask(self, make: Callable[[], Any], what: str, *, node: Node | None = None) -> Any:
        """Return the answer to a question, which any broker may give unless one is named.

        Asked again, and of the next broker, where the connection is not up or the broker hangs.
        """
        deadline = time.monotonic() + self._timeout
        asked: tuple[Node | None, ...] = (node,) if node else self._nodes or (None,)
        while True:
            for one in asked:
                try:
                    answer = self._send(make(), self._timeout, one.number if one else None)
                except (errors.SaslAuthenticationFailedError, errors.UnsupportedSaslMechanismError) as error:
                    raise self._login_refused() from error
                except errors.KafkaProtocolError as error:
                    raise self._not_understood(what) from error
                except errors.KafkaError as error:
                    if not isinstance(error, errors.RetriableError):
                        raise self._stopped(what, error, one) from error
                    failure, silent = error, one
                except Exception as error:
                    raise self._not_understood(what) from error
                else:
                    if one is not None and node is None and one is not self._nodes[0]:
                        self._nodes = (one, *(other for other in self._nodes if other is not one))
                    return answer
            if time.monotonic() >= deadline or (node is not None and isinstance(failure, HungError)):
                raise self._stopped(what, failure, silent) from failure
            time.sleep(0.1)

    def _send(self, request: Any, timeout_seconds: float, node_id: int | None = None) -> Any:
        """Return one broker's answer to one request.

        Raises HungError early where the broker answers nothing at all and there are others.
        """
        manager = self._kafka._manager
        node = next((one for one in self._nodes if one.number == node_id), None)
        if node_id is None and self._nodes:
            node_id = self._nodes[0].number  # a write waits for its answer, however long it takes

        async def answered() -> Any:
            sent = manager.send(request, node_id, timeout_seconds * 1000)
            return await manager.wait_for(sent, timeout_seconds * 1000)

        done = threading.Event()
        answer = manager.call_soon(answered)
        answer.add_callback(lambda _value: done.set())
        answer.add_errback(lambda _error: done.set())
        deadline = time.monotonic() + timeout_seconds + 1.0
        while not done.wait(min(SILENT_SECONDS, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise errors.KafkaTimeoutError("no answer")
            if node is not None and len(self._nodes) > 1 and not self._is_there(node):
                manager.call_soon(manager.close, node.number)
                raise HungError(node.address)
        if answer.exception is not None:
            raise answer.exception
        return answer.value

    def _is_there(self, node: Node) -> bool:
        probes = Probes([node.address], self._context, SILENT_SECONDS)
        try:
            return probes.first() is not None
        finally:
            probes.close()

    def _poisoned(self) -> str:
        """Say where an ACL sits that makes the brokers refuse to list any."""
        bad = []
        for kind in ResourceType:
            if kind.code >= ResourceType.TOPIC.code:
                answer = self._ask(functools.partial(describe_acls, kind.code), "its ACLs")
                if answer.error_code == UNKNOWN_SERVER_ERROR:
                    bad.append(kind.name)
        place = f" One of those on {' and '.join(bad)} is the cause." if bad else ""
        return (
            f"The Kafka brokers at {self._where} fail to list their ACLs (code -1): ZooKeeper has an ACL with "
            f"a word that they do not know.{place} Correct it there; until then the cluster cannot be read."
        )

    # --- writing --------------------------------------------------------------------

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        outcomes: dict[AclBinding, Outcome] = {}
        waiting: list[AclBinding] = []
        for binding in dict.fromkeys(bindings):
            fault = fault_of(verb, binding)
            if fault:
                outcomes[binding] = Outcome(binding, OutcomeKind.REFUSED, fault)
            else:
                waiting.append(binding)

        at_once = CREATES_PER_REQUEST if verb is Verb.ADD else DELETES_PER_REQUEST
        batches = [waiting[start : start + at_once] for start in range(0, len(waiting), at_once)]
        failed: set[AclBinding] = set()
        while batches:
            batch = batches.pop(0)
            try:
                results = self._send_writes(verb, batch)
            except Exception as error:
                self._tell_lost(outcomes, batch, [one for later in batches for one in later], error)
                break
            alone: list[AclBinding] = []
            for binding, (code, matched, text) in zip(batch, results, strict=True):
                if code == UNKNOWN_SERVER_ERROR and len(batch) > 1:
                    alone.append(binding)
                elif matched == 0 and binding in failed:
                    # Perhaps the request that failed has removed it, so nobody else need have done so.
                    sentence = (
                        "It is gone, after a request that failed; reading back shows whether it stays so."
                    )
                    outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, sentence, code)
                else:
                    outcomes[binding] = self._outcome(verb, binding, code, matched, text)
            # A request that fails as a whole says so on every item, the good ones too.
            failed.update(alone)
            batches = [[binding] for binding in alone] + batches
        return tuple(outcomes[binding] for binding in bindings)

    def _send_writes(self, verb: Verb, batch: list[AclBinding]) -> list[tuple[int, int | None, str | None]]:
        """Return the code for each item, for a deletion how many ACLs it matched, and the broker's text."""
        if verb is Verb.ADD:
            answer = self._send(
                CreateAclsRequest(creations=[creation(one) for one in batch]), self._write_timeout
            )
            results: list[tuple[int, int | None, str | None]] = [
                (result.error_code, None, result.error_message) for result in answer.results
            ]
        else:
            answer = self._send(
                DeleteAclsRequest(filters=[deletion(one) for one in batch]), self._write_timeout
            )
            results = [
                (deletion_code(result), len(result.matching_acls or ()), result.error_message)
                for result in answer.filter_results
            ]
        if len(results) != len(batch):
            raise errors.KafkaProtocolError(f"{len(batch)} items sent and {len(results)} answered")
        for binding, (code, _, text) in zip(batch, results, strict=True):
            if code not in (NONE, CLUSTER_AUTHORIZATION_FAILED):
                logger.info(
                    "The broker answered code %d on %s of %r: %.300r", code, verb, binding.as_dict(), text
                )
        return results

    def _outcome(
        self, verb: Verb, binding: AclBinding, code: int, matched: int | None, text: str | None
    ) -> Outcome:
        evidence = {} if matched is None else {"matched": matched}
        if code == NONE:
            if matched == 0:
                return Outcome(
                    binding, OutcomeKind.ALREADY, "It was not there any more.", NONE, evidence=evidence
                )
            done = "The broker has added it." if verb is Verb.ADD else "The broker has removed it."
            return Outcome(binding, OutcomeKind.WRITTEN, done, NONE, evidence=evidence)
        kind = OutcomeKind.REFUSED
        if code in (UNKNOWN_SERVER_ERROR, REQUEST_TIMED_OUT):
            kind = OutcomeKind.UNKNOWN
        return Outcome(binding, kind, self._why_refused(verb, binding, code, text), code, evidence=evidence)

    def _why_refused(self, verb: Verb, binding: AclBinding, code: int, text: str | None) -> str:
        """Say in aclweb's own words what a broker's answer means for this binding."""
        foretold = (
            explained(verb.value, binding, code, text)
            if code in (INVALID_REQUEST, UNSUPPORTED_VERSION)
            else None
        )
        if foretold is not None:
            return f"{foretold.sentence.removesuffix('.')} (code {code})."
        if code == CLUSTER_AUTHORIZATION_FAILED:
            return f"{self._me()} may not change ACLs; that needs Alter on the cluster."
        if code == SECURITY_DISABLED:
            return "This cluster has no authorizer (code 54), so it keeps no ACLs; set authorizer.class.name first."
        if code == REQUEST_TIMED_OUT:
            return "The broker did not finish in time (code 7); reading back shows whether it was done."
        if code == UNKNOWN_SERVER_ERROR:
            return "The broker failed and gave no reason (code -1); reading back shows whether it was done."
        if code == UNSUPPORTED_VERSION:
            return "This cluster is too old for an ACL of this kind (code 35)."
        if code == NOT_CONTROLLER:
            return "The broker did not find its controller (code 41); try again later."
        if code == POLICY_VIOLATION:
            return "The broker takes no more than 10,000 ACLs in one request (code 44)."
        if code == INVALID_REQUEST:
            return "The broker does not accept this ACL (code 42)."
        return f"The broker refused this ACL with code {code}."

    def _tell_lost(
        self,
        outcomes: dict[AclBinding, Outcome],
        sent: Sequence[AclBinding],
        not_sent: Sequence[AclBinding],
        error: Exception,
    ) -> None:
        name = type(error).__name__
        if isinstance(error, errors.NodeNotReadyError | errors.SaslAuthenticationFailedError):
            not_sent, sent = [*sent, *not_sent], ()
        for binding in sent:
            sentence = f"No answer from {self._where} ({name}); reading back shows whether it was done."
            outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, sentence, evidence={"sent": True})
        for binding in not_sent:
            sentence = f"Not sent: {self._where} did not answer before ({name})."
            outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, sentence, evidence={"sent": False})

    # --- telling --------------------------------------------------------------------

    def _me(self) -> str:
        if self._options.username:
            return f"The user {self._options.username!r}"
        own = self._options.certificate_pem
        subject = pem.subject_of(own) if own else None
        if subject:
            return f"The client with the certificate of {subject} (User:{subject} unless the brokers map its name)"
        return "A client without a login"

    def _require_success(self, code: int, doing: str, *, needed: str) -> None:
        if code == NONE:
            return
        if code == SECURITY_DISABLED:
            raise ClusterError(
                f"The cluster at {self._where} has no authorizer (code 54): it keeps no ACLs and lets everybody do "
                "everything. Set authorizer.class.name on its brokers to change that.",
                state=ClusterState.NO_AUTHORIZER,
            )
        if code == CLUSTER_AUTHORIZATION_FAILED:
            raise ClusterError(
                f"{self._me()} may not {doing} of the cluster at {self._where}; that needs {needed} on the cluster.",
                state=ClusterState.NOT_PERMITTED,
            )
        raise ClusterError(
            f"The Kafka brokers at {self._where} did not {doing} (code {code}).",
            state=ClusterState.UNREACHABLE,
        )

    def _stopped(self, what: str, error: BaseException, node: Node | None) -> ClusterError:
        where = f"The Kafka broker at {node.address}" if node else f"The Kafka brokers at {self._where}"
        return ClusterError(
            f"{where} stopped answering when asked for {what} ({type(error).__name__.strip('_')}); check that it runs, "
            "and that the address it advertises can be reached from here.",
            state=ClusterState.UNREACHABLE,
        )

    def _not_understood(self, what: str) -> ClusterError:
        return ClusterError(
            f"What the Kafka brokers at {self._where} answered about {what} cannot be understood; check that this is "
            "the address of Kafka brokers.",
            state=ClusterState.UNREADABLE,
        )

    def _login_refused(self) -> ClusterError:
        return ClusterError(
            f"The Kafka brokers at {self._where} refused the login of {self._options.username!r} with "
            f"{self._options.mechanism}; check sasl.username, sasl.password and sasl.mechanism.",
            state=ClusterState.LOGIN_REFUSED,
        )

    def _not_connected(self, heard: Eavesdropper, error: Exception) -> ClusterError:
        """Return what went wrong at connecting: the most telling of the causes that the library only logs."""
        causes = [*heard.causes, error]
        codes = {getattr(cause, "errno", None) for cause in causes}
        texts = " ".join(str(cause) for cause in causes)
        protocol = self._options.protocol
        if SASL_AUTHENTICATION_FAILED in codes:
            return self._login_refused()
        if UNSUPPORTED_SASL_MECHANISM in codes:
            return ClusterError(
                f"The Kafka brokers at {self._where} do not offer {self._options.mechanism}; "
                "set sasl.mechanism to one that they have enabled.",
                state=ClusterState.LOGIN_REFUSED,
            )
        if ILLEGAL_SASL_STATE in codes:
            return ClusterError(
                f"The port at {self._where} takes no logins, and security.protocol is {protocol}; give the brokers' "
                "SASL port, or set security.protocol to what this port speaks.",
                state=ClusterState.LOGIN_REFUSED,
            )
        if "CERTIFICATE_VERIFY_FAILED" in texts:
            return ClusterError(
                f"The certificate of the Kafka brokers at {self._where} is not to be trusted; give the certificate of "
                "its authority as ssl.ca.pem, and check that the certificate names this host.",
                state=ClusterState.UNREACHABLE,
            )
        if "Handshake failed" in texts:
            return ClusterError(
                f"The port at {self._where} does not speak TLS as security.protocol {protocol} expects; check the "
                "port and security.protocol.",
                state=ClusterState.UNREACHABLE,
            )
        if heard.metadata_refused and not self._options.uses_sasl:
            return ClusterError(
                f"The Kafka brokers at {self._where} ask for a login, and security.protocol is {protocol}; set it to "
                f"SASL_{protocol} and give a user name and a password.",
                state=ClusterState.LOGIN_REFUSED,
            )
        if "DNS" in texts:
            return ClusterError(
                f"The name in the address {self._where} is not known to this machine's name service; check it.",
                state=ClusterState.UNREACHABLE,
            )
        if heard.metadata_refused or "disconnected" in texts:
            return unreachable(
                f"Something at {self._where} accepts connections and closes them without an answer; it is probably "
                f"a port that expects another security.protocol than {protocol}."
            )
        return unreachable(
            f"No Kafka broker answers at {self._where} within {self._timeout:g} s; check the address and whether the "
            "brokers run."
        )

    def close(self) -> None:
        end(self._kafka)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
