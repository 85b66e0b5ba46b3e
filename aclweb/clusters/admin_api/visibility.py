"""Which topics and groups does this login see: all that exist, or some?

Brokers leave out topics that a login may not describe, without a word. So a list of
topics is complete only where that can be proven, from the ACLs just read and from the
operations that the brokers allow this login on the cluster. What is not proven is
`Known.VISIBLE`, which always holds.

Brokers decide by the address that they see, which is not known here: an ALLOW for
certain hosts counts as none, and a DENY for certain hosts counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aclweb.acl.matching import covers_name
from aclweb.acl.model import (
    ANY_USER,
    TOOL_OPERATIONS,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.clusters.client import Known, Login, NamesKnown

_DESCRIBING = frozenset(
    {
        Operation.DESCRIBE,
        Operation.READ,
        Operation.WRITE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.ALL,
    }
)
# A DENY of an operation or type that aclweb does not know may be one that counts.
_HIDING = frozenset({Operation.DESCRIBE, Operation.ALL, Operation.UNKNOWN})
_CLUSTER = "kafka-cluster"


def names_known(
    login: Login,
    bindings: Iterable[AclBinding],
    authorizer_settings: AuthorizerSettings,
    *,
    groups_listed: bool,
    all_brokers: bool,
) -> NamesKnown:
    """Return how complete the lists of topics and groups are that brokers gave this login.

    bindings: the ACLs just read. groups_listed: whether brokers listed any groups at
    all. all_brokers: whether each broker listed its groups.
    """
    held = tuple(bindings)
    topics, sees_topic = _topics(login, held, authorizer_settings)
    groups = Known.UNKNOWN
    if groups_listed:
        # Describe on the cluster lists all groups. The ACLs could not have been read without it.
        described = login.operations is None or Operation.DESCRIBE in login.operations
        groups = Known.ALL if described and all_brokers else Known.VISIBLE

    def sees(kind: ResourceType, name: str) -> bool:
        return sees_topic(name) if kind is ResourceType.TOPIC else groups is Known.ALL

    return NamesKnown(topics, groups, sees)


def _everything(_name: str) -> bool:
    return True


def _topics(
    login: Login, held: tuple[AclBinding, ...], authorizer_settings: AuthorizerSettings
) -> tuple[Known, Callable[[str], bool]]:
    sees = _sees(login, held, authorizer_settings, ResourceType.TOPIC, _DESCRIBING)
    if sees is None:
        return Known.ALL, _everything
    return (Known.ALL if sees.is_all else Known.VISIBLE), sees


def sees_all(
    login: Login,
    bindings: Iterable[AclBinding],
    authorizer_settings: AuthorizerSettings,
    kind: ResourceType,
    operations: frozenset[Operation] = _DESCRIBING,
) -> bool:
    """Whether brokers certainly allow this login one of these operations on every resource of the type."""
    sees = _sees(login, tuple(bindings), authorizer_settings, kind, operations)
    return sees is None or sees.is_all


def _sees(
    login: Login,
    held: tuple[AclBinding, ...],
    authorizer_settings: AuthorizerSettings,
    kind: ResourceType,
    operations: frozenset[Operation],
) -> _Sees | None:
    """Return what the login may see of a type by the ACLs; None where it sees everything whatever they say."""
    if _is_super_user(login, held, authorizer_settings):
        return None
    on_kind = tuple(one for one in held if one.resource_type in (kind, ResourceType.UNKNOWN))
    if not on_kind and _default_applies(login, held, authorizer_settings):
        return None
    return _Sees(login.principal, on_kind, authorizer_settings, kind, operations)


def _default_applies(
    login: Login, held: tuple[AclBinding, ...], authorizer_settings: AuthorizerSettings
) -> bool:
    """Whether topics without ACLs are certainly open to this login: it got onto the cluster in no other way."""
    if not any(_on_cluster(one, authorizer_settings) for one in held):
        return bool(login.operations)
    return "allow_everyone" not in authorizer_settings.undeclared and authorizer_settings.allow_everyone


class _Sees:
    """Whether a resource of this name would certainly be listed."""

    def __init__(
        self,
        principal: str | None,
        on_kind: tuple[AclBinding, ...],
        authorizer_settings: AuthorizerSettings,
        kind: ResourceType,
        operations: frozenset[Operation],
    ) -> None:
        mine = {ANY_USER} if principal is None else {ANY_USER, principal}
        self._authorizer_settings = authorizer_settings
        self.granted = tuple(
            one
            for one in on_kind
            if one.permission_type is PermissionType.ALLOW
            and one.resource_type is kind
            and one.operation in operations
            and one.principal in mine
            and one.host == WILDCARD
        )
        self.hidden = tuple(
            one
            for one in on_kind
            if one.permission_type is not PermissionType.ALLOW
            and (one.operation in _HIDING or one.operation in operations - _DESCRIBING)
            and (principal is None or one.principal in mine)
        )

    @property
    def is_all(self) -> bool:
        """Whether every name of the type would be listed."""
        everywhere = any(
            one.resource_name == WILDCARD and one.pattern_type is PatternType.LITERAL for one in self.granted
        )
        return everywhere and not self.hidden

    def __call__(self, name: str) -> bool:
        return any(covers_name(one, name, self._authorizer_settings) for one in self.granted) and not any(
            one.pattern_type is PatternType.UNKNOWN or covers_name(one, name, self._authorizer_settings)
            for one in self.hidden
        )


def _is_super_user(
    login: Login, held: tuple[AclBinding, ...], authorizer_settings: AuthorizerSettings
) -> bool:
    """Whether this login is a super user: it is declared, or nothing else explains what it may do on the cluster."""
    if login.principal is not None and login.principal in authorizer_settings.super_users:
        return True
    if login.operations is None or not login.operations.issuperset(TOOL_OPERATIONS[ResourceType.CLUSTER]):
        return False
    on_cluster = [one for one in held if _on_cluster(one, authorizer_settings)]
    if not on_cluster:
        # Without an ACL on the cluster the default decides about everybody else.
        return (
            "allow_everyone" not in authorizer_settings.undeclared and not authorizer_settings.allow_everyone
        )
    # An ACL for anybody may be the one that counts here, since the principal can be another than it seems.
    granted: dict[str, set[Operation]] = {}
    for one in on_cluster:
        if one.permission_type is PermissionType.ALLOW:
            granted.setdefault(one.principal, set()).add(one.operation)
    for_all = granted.get(ANY_USER, set())
    return not any(_grants_all(operations | for_all) for operations in (*granted.values(), for_all))


def _grants_all(operations: set[Operation]) -> bool:
    if operations & {Operation.ALL, Operation.UNKNOWN}:
        return True
    implied = set(operations)
    if operations & {Operation.ALTER}:
        implied.add(Operation.DESCRIBE)
    if Operation.ALTER_CONFIGS in operations:
        implied.add(Operation.DESCRIBE_CONFIGS)
    return implied.issuperset(TOOL_OPERATIONS[ResourceType.CLUSTER])


def _on_cluster(binding: AclBinding, authorizer_settings: AuthorizerSettings) -> bool:
    return binding.resource_type in (ResourceType.CLUSTER, ResourceType.UNKNOWN) and (
        binding.pattern_type is PatternType.UNKNOWN or covers_name(binding, _CLUSTER, authorizer_settings)
    )
