"""What decides access on a managed service beside the ACLs that Kafka lists, by the service's own documents?

A service also sets what brokers hide: `allow_everyone` and `super_users` are what its documents say of
`allow.everyone.if.no.acl.found` and `super.users`, None where they leave it to the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class ManagedService:
    """A service that runs Kafka for others.

    hidden: what decides beside ACLs, in a sentence; empty where nothing does. may_allow, may_refuse: whether that can
    turn a refusal, or an ALLOW. obeys_deny: whether a DENY ACL holds all the same. on_changes: what becomes of ACLs
    that others write; empty where they stay. other_acls: ACLs of resources that Kafka does not know, in a sentence.
    """

    name: str
    title: str
    allow_everyone: bool | None = None
    super_users: str | None = None
    hidden: str = ""
    may_allow: bool = False
    may_refuse: bool = False
    obeys_deny: bool = True
    on_changes: str = ""
    other_acls: str = ""


SERVICES: Mapping[str, ManagedService] = MappingProxyType(
    {
        service.name: service
        for service in (
            # docs.aws.amazon.com/msk: msk-acls, iam-access-control
            ManagedService(
                "msk",
                "Amazon MSK",
                allow_everyone=True,
                super_users="",
                hidden="On Amazon MSK, ACLs have no effect on clients that log in with IAM; Kafka does not list "
                "their policies.",
                may_allow=True,
                may_refuse=True,
                obeys_deny=False,
            ),
            # docs.confluent.io/cloud: use-acls-with-rbac
            ManagedService(
                "confluent-cloud",
                "Confluent Cloud",
                allow_everyone=False,
                super_users="",
                hidden="On Confluent Cloud, role bindings (RBAC) also give access, and Kafka does not list them.",
                may_allow=True,
            ),
            # docs.redpanda.com: security/authorization/rbac
            ManagedService(
                "redpanda",
                "Redpanda",
                allow_everyone=False,
                hidden="On Redpanda, ACLs of a role (RedpandaRole:NAME) also count for its members, and Kafka does "
                "not list these.",
                may_allow=True,
                may_refuse=True,
                other_acls="Redpanda keeps ACLs of its Schema Registry (registry, subject), which Kafka does not list.",
            ),
            # aiven.io/docs/products/kafka: concepts/acl, howto/manage-acls
            ManagedService(
                "aiven",
                "Aiven",
                allow_everyone=False,
                hidden="On Aiven, its own ACLs decide too, and Kafka does not list them.",
                may_allow=True,
                may_refuse=True,
            ),
            # strimzi.io: using the User Operator; KafkaAuthorizationSimple
            ManagedService(
                "strimzi",
                "Strimzi",
                allow_everyone=False,
                # It passes over User:*, User:ANONYMOUS, and whom STRIMZI_IGNORED_USERS_PATTERN names.
                on_changes="On Strimzi, the User Operator owns the ACLs of users: unless it is told to ignore a user, "
                "it undoes what no KafkaUser declares. Change the KafkaUser instead.",
            ),
        )
    }
)
"""The managed services that aclweb knows, by name."""
