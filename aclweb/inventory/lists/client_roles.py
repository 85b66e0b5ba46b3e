"""What does each ACL make of its principal: a consumer, a producer, an administrator?

As `kafka-acls --consumer` and `--producer` define them, and what the needs of transactions and of Kafka Streams add. An
ACL has one role; what else its principal may do decides which, since Describe alone is of a consumer and of a producer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aclweb.acl.kafka import CONSUMER, PRODUCER
from aclweb.acl.lint import Others
from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.inventory.current import ClusterView


@dataclass(frozen=True)
class ClientRole:
    """One role. what: a sentence of what its ACLs are for. needed: what such a client needs somewhere."""

    name: str
    word: str
    what: str
    needed: tuple[tuple[ResourceType, Operation, str], ...] = ()


_READS_TOPIC = (ResourceType.TOPIC, Operation.READ, "no ACL allows it Read on a topic")
_JOINS_GROUP = (ResourceType.GROUP, Operation.READ, "no ACL allows it Read on a group")
_WRITES_TOPIC = (ResourceType.TOPIC, Operation.WRITE, "no ACL allows it Write on a topic")

ROLES: Mapping[str, ClientRole] = {
    role.name: role
    for role in (
        ClientRole("denied", "Denied", "They deny their principal what they name."),
        ClientRole(
            "consumer",
            "Consumer",
            "For a client that reads topics as a member of groups.",
            (_READS_TOPIC, _JOINS_GROUP),
        ),
        ClientRole("producer", "Producer", "For a client that writes to topics.", (_WRITES_TOPIC,)),
        ClientRole(
            "transactional-producer",
            "Transactional producer",
            "For a client that writes to topics in transactions.",
            (_WRITES_TOPIC,),
        ),
        ClientRole(
            "streams", "Kafka Streams", "For a Kafka Streams application, whose topics begin with its group."
        ),
        ClientRole("observer", "Observer", "They show that resources exist."),
        ClientRole("everything", "Every operation", "They allow every operation on what they name."),
        ClientRole(
            "administrator", "Administrator", "For creating, deleting, changing or configuring resources."
        ),
        ClientRole("broker", "Broker", "For requests between brokers."),
        ClientRole("unknown", "Unknown", "They have a word that this version of aclweb does not know."),
    )
}
_Held = frozenset[tuple[ResourceType, str, PatternType, Operation]]


def roles_of(view: ClusterView) -> Mapping[AclBinding, str]:
    """Return the role of each ACL in force, kept with the revision."""
    return view.loaded.remember(("client_roles",), lambda: _roles(view.loaded.in_reading_order))


def missing(view: ClusterView, principal: str, role: str) -> tuple[str, ...]:
    """Return what a client in this role needs and nothing can allow the principal, as the lint rules decide it."""
    others = view.loaded.remember(("others", view.settings), lambda: Others(view.index, view.settings))
    return tuple(
        sentence
        for kind, operation, sentence in ROLES[role].needed
        if others.may_nowhere(principal, kind, operation)
    )


def _roles(bindings: Iterable[AclBinding]) -> dict[AclBinding, str]:
    by_principal: dict[str, list[AclBinding]] = {}
    for binding in bindings:
        by_principal.setdefault(binding.principal, []).append(binding)
    return {acl: role for acls in by_principal.values() for acl, role in _of_principal(acls)}


def _of_principal(acls: Iterable[AclBinding]) -> Iterable[tuple[AclBinding, str]]:
    acls = tuple(acls)
    allows = [acl for acl in acls if acl.permission_type is PermissionType.ALLOW]
    held = frozenset(
        (acl.resource_type, acl.resource_name, acl.pattern_type, acl.operation) for acl in allows
    )
    clients = {"consumer", "producer", "transactional-producer"}
    in_transactions = any(acl.resource_type is ResourceType.TRANSACTIONAL_ID for acl in allows)
    applications = _applications(allows)
    for acl in acls:
        role = _role(acl, held)
        if role == "producer" and in_transactions:
            role = "transactional-producer"
        if applications and (role in clients or _is_of(acl, applications)):
            role = "streams"
        yield acl, role


def _role(acl: AclBinding, held: _Held) -> str:
    if acl.permission_type is not PermissionType.ALLOW:
        return "denied" if acl.is_deny else "unknown"
    kind, operation = acl.resource_type, acl.operation
    for role, operations in (("consumer", CONSUMER), ("producer", PRODUCER)):
        # The first is what the role is about; the others go with it on the same pattern.
        of_role = operations.get(kind, ())
        if operation in of_role and (kind, acl.resource_name, acl.pattern_type, of_role[0]) in held:
            return role
    if operation is Operation.DESCRIBE and kind is not ResourceType.CLUSTER:
        return "observer"
    if operation is Operation.IDEMPOTENT_WRITE:
        return "producer"
    if operation is Operation.CLUSTER_ACTION:
        return "broker"
    if operation is Operation.ALL:
        return "administrator" if kind is ResourceType.CLUSTER else "everything"
    return "unknown" if operation is Operation.UNKNOWN or kind is ResourceType.UNKNOWN else "administrator"


def _applications(allows: Iterable[AclBinding]) -> frozenset[str]:
    """Return the groups whose name and a hyphen begin topics that the same principal makes, as Kafka Streams does."""
    groups = {
        acl.resource_name
        for acl in allows
        if acl.resource_type is ResourceType.GROUP and acl.operation in (Operation.READ, Operation.ALL)
    }
    made = {
        acl.resource_name.removesuffix("-")
        for acl in allows
        if acl.resource_type is ResourceType.TOPIC
        and acl.pattern_type is PatternType.PREFIXED
        and acl.operation in (Operation.ALL, Operation.CREATE)
    }
    return frozenset(groups & made)


def _is_of(acl: AclBinding, applications: frozenset[str]) -> bool:
    return (
        acl.permission_type is PermissionType.ALLOW
        and acl.resource_type in (ResourceType.TOPIC, ResourceType.GROUP)
        and acl.resource_name.removesuffix("-") in applications
    )
