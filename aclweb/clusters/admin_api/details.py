"""Who can log in, who is limited, and who is in which group, as brokers show it to this login?

The HMAC of a delegation token is a secret: it is dropped where the answer is read, and kept nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeGroupsRequest,
    DescribeUserScramCredentialsRequest,
    ListTransactionsRequest,
)

from aclweb.acl.model import Operation, ResourceType, number_of
from aclweb.clusters.admin_api.messages import (
    CLUSTER_AUTHORIZATION_FAILED,
    COORDINATOR_LOADING,
    DELEGATION_TOKEN_AUTH_DISABLED,
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    GROUP_AUTHORIZATION_FAILED,
    GROUP_ID_NOT_FOUND,
    NONE,
    NOT_CONTROLLER,
    TOPIC_AUTHORIZATION_FAILED,
    UNSUPPORTED_VERSION,
)
from aclweb.clusters.admin_api.more_messages import (
    ConsumerGroupDescribeRequest,
    DescribeDelegationTokenRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from aclweb.clusters.admin_api.rights import command_to_grant
from aclweb.clusters.admin_api.session import Node, Session
from aclweb.clusters.client import ClusterError, Login
from aclweb.clusters.details import (
    DescribedGroup,
    Detail,
    DetailKind,
    DetailList,
    GroupMember,
    GroupType,
    ListedGroup,
)
from aclweb.clusters.known import Known

GROUPS_A_REQUEST = 200
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_OWNERS_TOKENS = frozenset({Operation.DESCRIBE_TOKENS, Operation.ALL})
_TOKENS_THEMSELVES = frozenset({Operation.DESCRIBE, Operation.ALL})
_DESCRIBERS: Mapping[GroupType, Any] = {
    GroupType.CONSUMER: ConsumerGroupDescribeRequest,
    GroupType.SHARE: ShareGroupDescribeRequest,
    GroupType.STREAMS: StreamsGroupDescribeRequest,
}

SeesAll = Callable[..., bool]
"""Whether the login certainly may do one of some operations on every resource of a type: (type, operations)."""


def read_lists(session: Session, login: Login, sees_all: SeesAll) -> dict[DetailKind, DetailList]:
    """Return a list of each kind. What could not be read for want of an answer is a list that `has_failed`."""
    reader = _Reader(session, login, sees_all)
    return {
        kind: _or_failed(read)
        for kind, read in (
            (DetailKind.SCRAM_USERS, reader.scram_users),
            (DetailKind.QUOTAS, reader.quotas),
            (DetailKind.TRANSACTIONAL_IDS, reader.transactional_ids),
            (DetailKind.TOKENS, reader.tokens),
        )
    }


def _or_failed(read: Callable[[], DetailList]) -> DetailList:
    try:
        return read()
    except ClusterError as error:
        return DetailList(Known.UNKNOWN, sentence=str(error), has_failed=True)


@dataclass(frozen=True)
class _Reader:
    session: Session
    login: Login
    sees_all: SeesAll

    def _grant(self, operation: str, resource: str) -> str:
        return command_to_grant(self.session.address, self.login.principal or "", operation, resource)

    def _unoffered(self, what: str) -> DetailList:
        return DetailList(Known.UNKNOWN, sentence=f"These brokers are too old to list {what}.")

    def _code(self, what: str, code: int) -> DetailList:
        return DetailList(
            Known.UNKNOWN, sentence=f"The brokers did not list {what} (code {code}).", has_failed=True
        )

    def scram_users(self) -> DetailList:
        session, what = self.session, "SCRAM users"
        if not session.offers(DescribeUserScramCredentialsRequest):
            return self._unoffered(what)
        # Brokers of Kafka 4 never answer a login that may not ask.
        if self.login.operations is None or Operation.DESCRIBE not in self.login.operations:
            sentence = "Brokers list SCRAM users only to a login with Describe on the cluster."
            return DetailList(Known.UNKNOWN, sentence=sentence, command=self._grant("Describe", "--cluster"))
        # On ZooKeeper only the controller answers.
        for node in session.answering() or session.nodes:
            answer = session.ask(
                lambda: DescribeUserScramCredentialsRequest(users=None), "its SCRAM users", node=node
            )
            if answer.error_code != NOT_CONTROLLER:
                break
        if answer.error_code == UNSUPPORTED_VERSION:
            return self._unoffered(what)
        if answer.error_code != NONE:
            return self._code(what, answer.error_code)
        return DetailList(
            Known.ALL,
            tuple(
                Detail(
                    each.user,
                    user=each.user,
                    facts={
                        "mechanisms": {
                            _MECHANISMS.get(one.mechanism, f"SCRAM mechanism {one.mechanism}"): one.iterations
                            for one in each.credential_infos
                        }
                    },
                )
                for each in answer.results
                if each.error_code == NONE
            ),
        )

    def quotas(self) -> DetailList:
        session, what = self.session, "client quotas"
        if not session.offers(DescribeClientQuotasRequest):
            return self._unoffered(what)
        answer = session.ask(lambda: DescribeClientQuotasRequest(components=[], strict=False), "its quotas")
        if answer.error_code == CLUSTER_AUTHORIZATION_FAILED:
            sentence = "Brokers list client quotas only to a login with DescribeConfigs on the cluster."
            return DetailList(
                Known.UNKNOWN, sentence=sentence, command=self._grant("DescribeConfigs", "--cluster")
            )
        if answer.error_code != NONE:
            return self._code(what, answer.error_code)
        return DetailList(Known.ALL, tuple(_quota(entry) for entry in answer.entries or ()))

    def transactional_ids(self) -> DetailList:
        session, what = self.session, "transactional ids"
        if not session.offers(ListTransactionsRequest):
            return self._unoffered(what)
        found: set[str] = set()
        may_see_all = self.sees_all(ResourceType.TRANSACTIONAL_ID)
        silent = len(session.nodes) - len(session.answering())
        answered = 0
        for node in session.answering():  # each lists those that it coordinates
            try:
                answer = session.ask(
                    lambda: ListTransactionsRequest(state_filters=[], producer_id_filters=[]),
                    "its transactional ids",
                    node=node,
                )
            except ClusterError:
                silent += 1
                continue
            if answer.error_code in COORDINATOR_LOADING:
                silent += 1
                continue
            if answer.error_code != NONE:
                return self._code(what, answer.error_code)
            answered += 1
            found |= {each.transactional_id for each in answer.transaction_states}
        if not answered:
            return DetailList(Known.UNKNOWN, sentence="No broker listed transactional ids.", has_failed=True)
        details = tuple(Detail(name) for name in sorted(found))
        if silent:
            brokers = number_of(silent, "broker", "brokers")
            sentence = f"{brokers} did not answer, so there may be other transactional ids."
            return DetailList(Known.VISIBLE, details, sentence)
        # A right that came while they were listed proves nothing.
        if may_see_all and self.sees_all(ResourceType.TRANSACTIONAL_ID):
            return DetailList(Known.ALL, details)
        sentence = "Only transactional ids that this login may describe are listed, so there may be others."
        return DetailList(Known.VISIBLE, details, sentence, self._grant("Describe", "--transactional-id '*'"))

    def tokens(self) -> DetailList:
        session, what = self.session, "delegation tokens"
        if not session.offers(DescribeDelegationTokenRequest):
            return self._unoffered(what)
        may_see_all = self._sees_all_tokens()
        answer = session.ask(lambda: DescribeDelegationTokenRequest(owners=None), "its delegation tokens")
        if answer.error_code == DELEGATION_TOKEN_AUTH_DISABLED:
            return DetailList(Known.ALL, sentence="Delegation tokens are switched off on the brokers.")
        if answer.error_code == DELEGATION_TOKEN_REQUEST_NOT_ALLOWED:
            sentence = (
                "Brokers list delegation tokens only to a client that logs in with SASL or a certificate."
            )
            return DetailList(Known.UNKNOWN, sentence=sentence)
        if answer.error_code != NONE:
            return self._code(what, answer.error_code)
        details = tuple(_token(each) for each in answer.tokens)
        if may_see_all and self._sees_all_tokens():
            return DetailList(Known.ALL, details)
        sentence = (
            "Only tokens that this login owns, may renew or may describe are listed, so there may be others."
        )
        return DetailList(Known.VISIBLE, details, sentence, self._grant("Describe", "--delegation-token '*'"))

    def _sees_all_tokens(self) -> bool:
        return self.sees_all(ResourceType.DELEGATION_TOKEN, _TOKENS_THEMSELVES) or self.sees_all(
            ResourceType.USER, _OWNERS_TOKENS
        )


_ENTITIES = ("user", "client-id", "ip")


def _quota(entry: Any) -> Detail:
    entity = {each.entity_type: each.entity_name for each in entry.entity}
    in_order = sorted(entity, key=lambda kind: (_ENTITIES.index(kind) if kind in _ENTITIES else 9, kind))
    name = ", ".join(_entity_words(kind, entity[kind]) for kind in in_order)
    limits = {each.key: each.value for each in entry.values}
    facts: dict[str, object] = {"entity": {kind: entity[kind] for kind in in_order}, "limits": limits}
    return Detail(name, user=entity.get("user") or "", facts=facts)


def _entity_words(kind: str, name: str | None) -> str:
    """Return one part of whom a quota is for: no two quotas have the same words."""
    if name is None:
        return f"every other {kind}"
    # `alice, client-id app` may be one user, or a user and a client id.
    is_plain = name and not {",", '"'} & set(name)
    return f"{kind} {name if is_plain else json.dumps(name, ensure_ascii=False)}"


def _token(each: Any) -> Detail:
    requester = None
    if each.token_requester_principal_type:  # brokers before 3.3 tell none
        requester = f"{each.token_requester_principal_type}:{each.token_requester_principal_name}"
    return Detail(
        each.token_id,
        principal=f"{each.principal_type}:{each.principal_name}",
        facts={
            "requester": requester,
            "renewers": [f"{one.principal_type}:{one.principal_name}" for one in each.renewers],
            "issued": each.issue_timestamp,
            "expires": each.expiry_timestamp,
            "ends": each.max_timestamp,
        },
    )


def describe_groups(
    session: Session, groups: Iterable[ListedGroup], coordinators: Mapping[str, Node]
) -> Iterator[DescribedGroup]:
    """Yield who is in each group; nothing of one that is gone, or whose coordinator is another by now.

    coordinators: the broker that listed each group.
    """
    by_broker: dict[tuple[Node, GroupType], list[str]] = {}
    for group in groups:
        if (node := coordinators.get(group.name)) is not None:
            by_broker.setdefault((node, group.type), []).append(group.name)
    for (node, kind), names in by_broker.items():
        for start in range(0, len(names), GROUPS_A_REQUEST):
            yield from _described(session, node, kind, names[start : start + GROUPS_A_REQUEST])


def _described(
    session: Session, node: Node, kind: GroupType, names: Sequence[str]
) -> Iterator[DescribedGroup]:
    if kind not in _DESCRIBERS:
        make = partial(DescribeGroupsRequest, groups=list(names), include_authorized_operations=False)
    elif session.offers(_DESCRIBERS[kind]):
        make = partial(_DESCRIBERS[kind], group_ids=list(names), include_authorized_operations=False)
    else:
        return
    for found in session.ask(make, "the members of its groups", node=node).groups:
        code = found.error_code
        if code == NONE and found.group_state != "Dead":
            yield DescribedGroup(
                found.group_id, found.group_state, tuple(_member(each) for each in found.members)
            )
        elif code not in (NONE, GROUP_ID_NOT_FOUND, *COORDINATOR_LOADING):
            yield DescribedGroup(found.group_id, sentence=_why_not(code))


def _why_not(code: int) -> str:
    """Return why brokers do not tell who is in a group."""
    if code == GROUP_AUTHORIZATION_FAILED:
        return "Brokers show its members only to a login with Describe on the group."
    if code == TOPIC_AUTHORIZATION_FAILED:
        return "Brokers show its members only to a login with Describe on each topic that they read."
    return f"The broker did not show its members (code {code})."


def _member(each: Any) -> GroupMember:
    instance = getattr(each, "group_instance_id", None) or getattr(each, "instance_id", None) or ""
    # Java writes an address as `name/1.2.3.4`, without the name where none was looked up.
    return GroupMember(each.client_id, each.client_host.rpartition("/")[2], instance)
