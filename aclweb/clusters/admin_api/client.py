"""How are the ACLs, names and settings of a cluster read through Kafka's Admin API?

Requests are the protocol's own classes instead of the library's helpers, which drop the answer for each item,
and codes that are newer than the library. `session.py` reaches the brokers, `write.py` changes ACLs.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from kafka.protocol.admin import (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    ListGroupsRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    ANY_USER,
    AclBinding,
    AuthorizerSettings,
    Operation,
    ResourceType,
)
from aclweb.clusters.admin_api import details
from aclweb.clusters.admin_api.errors import not_understood, require_success
from aclweb.clusters.admin_api.login import principal_of
from aclweb.clusters.admin_api.messages import (
    ANY,
    CLUSTER_AUTHORIZATION_FAILED,
    COORDINATOR_LOADING,
    GROUP_AUTHORIZATION_FAILED,
    NONE,
    UNKNOWN_SERVER_ERROR,
    bindings_in,
    describe_acls,
    too_new,
)
from aclweb.clusters.admin_api.rights import may_alter, may_describe_configs
from aclweb.clusters.admin_api.session import Node, Session
from aclweb.clusters.admin_api.undecoded import AllAclsRequest, UndecodedAcls
from aclweb.clusters.admin_api.visibility import names_known, sees_all
from aclweb.clusters.admin_api.write import write
from aclweb.clusters.broker_settings import BrokerSettings, ClusterSettings, combined_settings, is_asked
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Earlier,
    Known,
    Login,
    Marks,
    NamesKnown,
    Outcome,
    TopicInfo,
    Verb,
)
from aclweb.clusters.connection import Token
from aclweb.clusters.details import DescribedGroup, Details, GroupType, ListedGroup
from aclweb.clusters.kind import Connection
from aclweb.clusters.rights import Right

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
    """One open connection to the brokers of a cluster, and what it has learnt of them."""

    # The list of all ACLs that `read_acls` is to decode, and those that say what this login sees.
    _all_acls: UndecodedAcls | None = None
    _own_acls: tuple[AclBinding, ...] | None = None

    def __init__(self, connection: Connection) -> None:
        self._session = Session(connection)
        self._settings: ClusterSettings | None = None
        # Whether each broker has listed its groups; None before any did.
        self._groups_of_all: bool | None = None
        # The groups that were listed, each with the broker that did.
        self._groups: dict[str, tuple[Node, ListedGroup]] = {}

    def describe(self) -> ClusterFacts:
        answer = self._session.ask(
            lambda: MetadataRequest(topics=[], allow_auto_topic_creation=False), "its brokers"
        )
        brokers = tuple(sorted(f"{broker.host}:{broker.port}" for broker in answer.brokers))
        there = self._session.answering()
        silent = [node.address for node in self._session.nodes if node not in there]
        return ClusterFacts(
            cluster_id=answer.cluster_id or None,
            kafka_version=self._kafka_version(),
            brokers=brokers,
            settings=self._read_settings(there, silent),
            silent=tuple(silent),
        )

    def _read_settings(self, nodes: Iterable[Node], silent: list[str]) -> ClusterSettings | None:
        """Return what these brokers show of their settings, None where this login may not ask them.

        silent: gets the address of each that does not answer that.
        """
        shown = []
        for node in nodes:
            try:
                values = self._settings_of(node)
            except ClusterError:
                silent.append(node.address)
                continue
            if values is None:
                self._settings = None
                return None
            shown.append(BrokerSettings(node.number, values))
        self._settings = combined_settings(shown)
        return self._settings

    def _settings_of(self, node: Node) -> dict[str, str | None] | None:
        """Return the settings by name, those whose value is hidden as None; None where they may not be asked for."""
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=_BROKER_CONFIG, resource_name=str(node.number), configuration_keys=None
        )
        answer = self._session.ask(
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

    def _kafka_version(self) -> str | None:
        """Return the brokers' version as far as it shows, such as `4.4`."""
        answer = self._session.ask(
            # From version 3 on the answer lists the features that the broker's software supports.
            lambda: ApiVersionsRequest(version=3, client_software_name="aclweb", client_software_version="1"),
            "its version",
        )
        for feature in getattr(answer, "supported_features", None) or ():
            if feature.name == "metadata.version":
                known = [line for level, line in _METADATA_LEVELS if feature.max_version >= level]
                if known:
                    return known[-1]
        return self._session.library_version()

    def marks(self, earlier: Earlier | None = None) -> Marks:
        """Return which broker listed the ACLs, and the digest of what it listed; that of the earlier read if it may."""
        before = earlier.marks.acls if earlier is not None else None
        self._all_acls = self._ask_for_all(before)
        found = {"broker": self._session.asked_last, "digest": self._all_acls.digest}
        if found == before:
            self._own_acls = self._ask_for_own()
        return Marks(found)

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        bindings = self._decoded()
        return AclSnapshot(bindings, tuple(too_new(one) for one in bindings if one.has_unknown))

    def _ask_for_all(self, before: Mapping[str, Any] | None) -> UndecodedAcls:
        """Return the list of all ACLs, undecoded. before: the marks of an earlier read, whose broker is asked first."""
        if before is not None:
            self._session.prefer(before["broker"])
        make = functools.partial(describe_acls, ANY, request=AllAclsRequest)
        answer: UndecodedAcls = self._session.ask(make, "its ACLs")
        return answer

    def _ask_for_own(self) -> tuple[AclBinding, ...] | None:
        """Return the ACLs on which it depends what this login sees; None where that may be any.

        None of them is of an unknown type: a cluster that has one is read whole.
        """
        principal = self.login().principal
        if principal is None:
            return None
        found: list[AclBinding] = []
        for kind, of in (
            (ResourceType.CLUSTER, None),
            (ResourceType.TOPIC, ANY_USER),
            (ResourceType.TOPIC, principal),
        ):
            answer = self._session.ask(functools.partial(describe_acls, kind.code, of), "its ACLs")
            if answer.error_code != NONE:
                return None
            found += bindings_in(answer)
        # Where no topic has an ACL at all, the default decides, and these do not show that.
        return tuple(found) if any(one.resource_type is ResourceType.TOPIC for one in found) else None

    def _decoded(self) -> tuple[AclBinding, ...]:
        """Return all ACLs as they were listed when the marks were taken, or now."""
        listed, self._all_acls = self._all_acls or self._ask_for_all(None), None
        try:
            answer = listed.decoded
            bindings = tuple(dict.fromkeys(bindings_in(answer)))
        except Exception as error:
            raise not_understood("its ACLs", self._session.where) from error
        if answer.error_code == UNKNOWN_SERVER_ERROR:
            raise ClusterError(self._poisoned(), state=ClusterState.UNREADABLE)
        session = self._session
        require_success(answer.error_code, "list the ACLs", session.where, session.options, needed="Describe")
        return bindings

    def _poisoned(self) -> str:
        """Say where an ACL sits that makes the brokers refuse to list any."""
        bad = []
        for kind in ResourceType:
            if kind.code >= ResourceType.TOPIC.code:
                answer = self._session.ask(functools.partial(describe_acls, kind.code), "its ACLs")
                if answer.error_code == UNKNOWN_SERVER_ERROR:
                    bad.append(kind.name)
        place = f" One of those on {' and '.join(bad)} is the cause." if bad else ""
        return (
            f"The Kafka brokers at {self._session.where} fail to list their ACLs (code -1): ZooKeeper has an ACL with "
            f"a word that they do not know.{place} Correct it there; until then the cluster cannot be read."
        )

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        """Return the topics that this login may describe; brokers silently leave out the others."""
        answer = self._session.ask(
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

        Raises ClusterError where no broker answers; `names_known` shows whether all did.
        """
        groups: dict[str, tuple[Node, ListedGroup]] = {}
        silent: list[ClusterError] = []
        there = self._session.answering() or self._session.nodes[:1]
        for node in there:
            try:
                found = self._groups_of(node)
            except ClusterError as error:
                silent.append(error)
                continue
            if found is None:
                return None
            groups |= {group.name: (node, group) for group in found}
        if silent and len(silent) == len(there):
            raise silent[0]
        self._groups_of_all = not silent and len(there) == len(self._session.nodes)
        self._groups = groups
        return tuple(sorted(groups))

    def _groups_of(self, node: Node) -> list[ListedGroup] | None:
        deadline = time.monotonic() + self._session.timeout_seconds
        while True:
            answer = self._session.ask(
                lambda: ListGroupsRequest(states_filter=[], types_filter=[]), "its groups", node=node
            )
            if answer.error_code == NONE:
                return [
                    ListedGroup(group.group_id, _group_type(group.group_type), group.group_state or "")
                    for group in answer.groups
                ]
            if answer.error_code in (GROUP_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED):
                return None
            if answer.error_code not in COORDINATOR_LOADING or time.monotonic() > deadline:
                raise ClusterError(
                    f"The broker at {node.address} does not list its groups (code {answer.error_code}).",
                    state=ClusterState.UNREACHABLE,
                )
            time.sleep(0.2)

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return what the ACLs, and the operations that brokers allow this login, prove about the names read."""
        authorizer_settings = self._with_proven(authorizer_settings)
        login, listed = self.login(), self._groups_of_all is not None
        held = acls.bindings
        if acls.patterns is not None:  # they are as an earlier read found them
            held = self._own_acls if self._own_acls is not None else self._decoded()
        if not self._still_holds(login, held, ResourceType.TOPIC):
            # A right came or went while names were read, so that they prove nothing.
            return replace(
                names_known(
                    login,
                    (),
                    authorizer_settings,
                    groups_listed=listed,
                    all_brokers=False,
                ),
                topics=Known.VISIBLE,
                sees=lambda _type, _name: False,  # nothing of either kind counts as gone
            )
        return names_known(
            login,
            held,
            authorizer_settings,
            groups_listed=listed,
            all_brokers=bool(self._groups_of_all),
        )

    def _with_proven(self, authorizer_settings: AuthorizerSettings) -> AuthorizerSettings:
        """Return these settings with what the brokers have proven of the default."""
        if self._settings is None or ALLOW_EVERYONE_KEY not in self._settings.proven:
            return authorizer_settings
        return replace(
            authorizer_settings,
            allow_everyone=False,
            undeclared=authorizer_settings.undeclared - {"allow_everyone"},
        )

    def _still_holds(self, login: Login, held: Sequence[AclBinding], kind: ResourceType) -> bool:
        """Whether what everybody and this login may do with such resources is still as it was in these ACLs."""
        for principal in {ANY_USER, login.principal or ANY_USER}:
            answer = self._session.ask(functools.partial(describe_acls, kind.code, principal), "its ACLs")
            now = set(bindings_in(answer))
            before = {one for one in held if one.resource_type is kind and one.principal == principal}
            if answer.error_code != NONE or before != now:
                return False
        return True

    def read_details(self, authorizer_settings: AuthorizerSettings) -> Details:
        """Return who can log in, who is limited, and the groups with their types, as far as brokers show them."""
        login, known = self.login(), self._with_proven(authorizer_settings)

        def sees(kind: ResourceType, *operations: frozenset[Operation]) -> bool:
            return sees_all(login, self._acls_for(login, kind), known, kind, *operations)

        groups = None if self._groups_of_all is None else tuple(group for _, group in self._groups.values())
        return Details(details.read_lists(self._session, login, sees), groups, bool(self._groups_of_all))

    def _acls_for(self, login: Login, kind: ResourceType) -> tuple[AclBinding, ...]:
        """Return the ACLs on which it depends now which resources of this type the login sees.

        The ACLs of this sync may be those alone that have changed since an earlier one.
        """
        found = [*self._listed(ResourceType.CLUSTER, None)]
        own: list[AclBinding] = []
        if login.principal is not None:
            own += [*self._listed(kind, ANY_USER), *self._listed(kind, login.principal)]
        # Where no ACL names it, the default may decide, unless somebody else has an ACL on the type.
        return (*found, *(own or self._listed(kind, None)))

    def _listed(self, kind: ResourceType, principal: str | None) -> tuple[AclBinding, ...]:
        answer = self._session.ask(functools.partial(describe_acls, kind.code, principal), "its ACLs")
        session = self._session
        require_success(answer.error_code, "list the ACLs", session.where, session.options, needed="Describe")
        return tuple(bindings_in(answer))

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        coordinators = {name: node for name, (node, _) in self._groups.items()}
        return tuple(details.describe_groups(self._session, groups, coordinators))

    def login(self) -> Login:
        """Return who this client is to the brokers and what they allow it on the cluster, as far as it shows."""
        token, asked = self._session.token, self._session.options.credentials
        principal = principal_of(self._session.options, self._settings, token)
        got = f"{asked.endpoint} gave a token{_good_for(token)}." if token and asked else ""
        try:
            answer = self._session.ask(
                lambda: DescribeClusterRequest(include_cluster_authorized_operations=True, endpoint_type=1),
                "what this login may do",
            )
        except ClusterError:
            return Login(principal, token=got)  # brokers before 2.8 do not know the request
        codes = answer.authorized_operations if answer.error_code == NONE else None
        operations = None if codes is None else frozenset(Operation.from_code(code) for code in codes)
        return Login(principal, operations, got)

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        return (
            may_alter(login, self._session.address, writes=writes),
            may_describe_configs(login, self._session.address, self._settings),
        )

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        return write(self._session, verb, bindings)

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _good_for(token: Token) -> str:
    """Return for how long a token was given, such as ` for 300 s`; nothing where nobody says so."""
    return "" if token.lifetime_seconds is None else f" for {token.lifetime_seconds:.0f} s"


def _group_type(word: str | None) -> GroupType:
    """Return the type in a broker's word; UNKNOWN for one that is newer than this aclweb."""
    try:
        return GroupType((word or "").lower())
    except ValueError:
        return GroupType.UNKNOWN
