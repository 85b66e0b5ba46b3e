"""What differs between Kafka's authorizers and versions, and what an operator configures.

A `AuthorizerSettings` value holds everything that a decision depends on beside the ACLs. Kafka's two
authorizers are `standard` (KRaft's StandardAuthorizer) and `acl` (AclAuthorizer, which
keeps its ACLs in ZooKeeper). A third one, `glob`, is no broker's: it is the newest KRaft
with the pattern type of the GLOB proposal, and without KRaft's quirks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from aclweb.acl.model.computed import computed_once
from aclweb.acl.model.errors import shown
from aclweb.acl.model.services import SERVICES, ManagedService
from aclweb.acl.model.vocabulary import AclError, Operation, ResourceType, split_principal

SUPER_USERS_KEY = "super.users"
ALLOW_EVERYONE_KEY = "allow.everyone.if.no.acl.found"

VERSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "standard": ("3.9", "4.0", "4.1", "4.2", "4.3", "4.4"),
        "acl": (*(f"2.{minor}" for minor in range(4, 9)), *(f"3.{minor}" for minor in range(10))),
        "glob": ("4.4",),
    }
)
"""The versions that each authorizer can be asked about, oldest first."""

SETTINGS = frozenset({"super_users", "allow_everyone"})
"""What no cluster tells about itself, so that somebody has to declare it."""

# Java's String.trim() removes exactly these; Python's strip() would remove more.
_JAVA_SPACE = "".join(map(chr, range(0x21)))

_OPERATIONS: dict[ResourceType, str] = {
    ResourceType.TOPIC: "READ WRITE CREATE DESCRIBE DELETE ALTER DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.GROUP: "READ DESCRIBE DELETE DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.CLUSTER: (
        "CREATE DELETE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE ALTER DESCRIBE"
    ),
    ResourceType.TRANSACTIONAL_ID: "DESCRIBE WRITE TWO_PHASE_COMMIT",
    ResourceType.DELEGATION_TOKEN: "DESCRIBE",
    ResourceType.USER: "CREATE_TOKENS DESCRIBE_TOKENS",
}

OPERATIONS: Mapping[ResourceType, tuple[Operation, ...]] = MappingProxyType(
    {kind: tuple(Operation[word] for word in words.split()) for kind, words in _OPERATIONS.items()}
)
"""The operations that brokers ask of each resource type, in the newest version of any authorizer."""

TOOL_OPERATIONS: Mapping[ResourceType, tuple[Operation, ...]] = MappingProxyType(
    {
        kind: tuple(
            operation
            for operation in operations
            if (kind, operation) != (ResourceType.CLUSTER, Operation.DELETE)
        )
        for kind, operations in OPERATIONS.items()
    }
)
"""The operations that kafka-acls takes on each resource type beside ALL, in the newest version."""

_YOUNGER: Mapping[tuple[ResourceType, Operation], tuple[int, int]] = MappingProxyType(
    {
        (ResourceType.GROUP, Operation.DESCRIBE_CONFIGS): (4, 0),
        (ResourceType.GROUP, Operation.ALTER_CONFIGS): (4, 0),
        (ResourceType.TRANSACTIONAL_ID, Operation.TWO_PHASE_COMMIT): (4, 1),
    }
)


@dataclass(frozen=True)
class AuthorizerSettings:
    """Everything that a decision depends on beside the ACLs.

    An empty `kafka_version` means the newest version of the authorizer. `undeclared`
    names the settings that nobody has declared, so that `super_users` or
    `allow_everyone` here is only what aclweb assumes. service: the managed service that runs the
    brokers, by its name in SERVICES; empty for none.
    """

    authorizer: str = "standard"
    kafka_version: str = ""
    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False
    undeclared: frozenset[str] = frozenset()
    service: str = ""

    def __post_init__(self) -> None:
        if self.authorizer not in VERSIONS:
            raise AclError(
                f"Authorizer {shown(self.authorizer)} is not one that aclweb knows; use 'standard' (KRaft), "
                "'acl' (ZooKeeper) or 'glob' (the GLOB proposal)."
            )
        object.__setattr__(self, "kafka_version", _version(self.authorizer, self.kafka_version))
        unknown = sorted(self.undeclared - SETTINGS)
        if unknown:
            raise AclError(
                f"{unknown[0]!r} is not a setting that can be undeclared; "
                f"use one of {', '.join(sorted(SETTINGS))}."
            )
        if self.service and self.service not in SERVICES:
            raise AclError(
                f"{shown(self.service)} is not a managed service that aclweb knows; use {', '.join(SERVICES)}."
            )

    @classmethod
    def read(
        cls,
        *,
        authorizer: str | None = None,
        kafka_version: str | None = None,
        config: Mapping[str, object] = MappingProxyType({}),
        undeclared: frozenset[str] = frozenset(),
        service: str = "",
    ) -> Self:
        """Return the settings of a broker configuration, read as that authorizer reads it.

        config: the keys `super.users` (a text) and `allow.everyone.if.no.acl.found` (a
        boolean or a text), both optional. Raises AclError for any other key and for
        what a broker would refuse at its start.
        """
        settings = cls(authorizer=authorizer or "standard", kafka_version=kafka_version or "")
        for key in config:
            if key not in (SUPER_USERS_KEY, ALLOW_EVERYONE_KEY):
                raise AclError(
                    f"Setting {key!r} is not one that decides access; "
                    f"use {SUPER_USERS_KEY!r} or {ALLOW_EVERYONE_KEY!r}."
                )
        return cls(
            authorizer=settings.authorizer,
            kafka_version=settings.kafka_version,
            super_users=_super_users(settings.authorizer, config.get(SUPER_USERS_KEY, "")),
            allow_everyone=_allow_everyone(settings.authorizer, config.get(ALLOW_EVERYONE_KEY, False)),
            undeclared=undeclared,
            service=service,
        )

    @property
    def managed_service(self) -> ManagedService | None:
        """The managed service that runs the brokers, None for none."""
        return SERVICES.get(self.service)

    @computed_once
    def version(self) -> tuple[int, int]:
        """The Kafka version as two numbers, which compare as versions do."""
        major, _, minor = self.kafka_version.partition(".")
        return int(major), int(minor)

    @computed_once
    def is_standard(self) -> bool:
        """Whether this is KRaft's authorizer; what follows from it has a name of its own below."""
        return self.authorizer == "standard"

    @computed_once
    def is_kraft(self) -> bool:
        """Whether this is KRaft's authorizer, or the proposal that goes on from it."""
        return self.authorizer != "acl"

    @computed_once
    def has_globs(self) -> bool:
        """Whether there is the pattern type GLOB, and `?` and `*` in principals and hosts are wildcards."""
        return self.authorizer == "glob"

    # How names, hosts and whole types are read. Nothing else decides otherwise in one than in another.

    @computed_once
    def wildcard_skips_starred_names(self) -> bool:
        """Whether LITERAL `*` leaves out longer names that begin with an asterisk, such as `*team`.

        Topics cannot have such a name, groups and transactional ids can.
        """
        return self.is_standard

    @computed_once
    def empty_prefix_covers_all(self) -> bool:
        """Whether PREFIXED with an empty name covers every name; otherwise it covers the empty one only."""
        return self.is_kraft

    @computed_once
    def cidr_hosts(self) -> bool:
        """Whether an ACL host may be an address range such as `10.0.0.0/8` (KIP-1276)."""
        return self.is_kraft and self.version >= (4, 4)

    @computed_once
    def by_type_tries_hardcode(self) -> bool:
        """Whether a question by type first asks for a made-up name, and is allowed if that is."""
        return self.is_kraft

    @computed_once
    def default_settles_by_type(self) -> bool:
        """Whether a default that allows also allows every type, unless a DENY on LITERAL `*` is there."""
        return self.allow_everyone and not self.by_type_tries_hardcode

    # What a broker may fail on.

    @computed_once
    def names_below_asterisk_are_a_hazard(self) -> bool:
        """Whether a broker may fail on names whose first character sorts before `*`."""
        return self.is_standard

    @computed_once
    def star_session_is_a_hazard(self) -> bool:
        """Whether a session that calls itself `User:*` makes the broker fail."""
        return self.is_standard and self.version >= (4, 0)

    @computed_once
    def principals_without_colon_are_a_hazard(self) -> bool:
        """Whether an ACL whose principal has no colon can exist and makes the broker fail."""
        return self.is_standard

    # What a broker stores and tells.

    @computed_once
    def stores_slashes(self) -> bool:
        """Whether a resource name may hold a slash; in ZooKeeper it would part a path."""
        return self.is_kraft

    @computed_once
    def cluster_right_deletes_topics(self) -> bool:
        """Whether Delete on the cluster is enough to delete any topic, as KRaft's controller has it."""
        return self.is_kraft

    @computed_once
    def logs_its_rule(self) -> bool:
        """Whether the authorizer's log names the broker rule that settled a decision."""
        return self.is_standard

    def decides_like(self, other: AuthorizerSettings) -> bool:
        """Whether both settings give every request the same answer, whatever the ACLs."""
        return (
            self.has_globs == other.has_globs
            and self.wildcard_skips_starred_names == other.wildcard_skips_starred_names
            and self.empty_prefix_covers_all == other.empty_prefix_covers_all
            and self.cidr_hosts == other.cidr_hosts
            and self.by_type_tries_hardcode == other.by_type_tries_hardcode
            and self.super_users == other.super_users
            and self.allow_everyone == other.allow_everyone
        )


def operations_of(resource_type: ResourceType, settings: AuthorizerSettings) -> tuple[Operation, ...]:
    """Return the operations that a broker of this version asks of a resource of the type.

    Delete on the cluster is one in KRaft, whose controller deletes any topic by it; kafka-acls
    refuses to create such an ACL, but other clients can, and ALL brings it.
    """
    return tuple(
        operation
        for operation in OPERATIONS.get(resource_type, ())
        if settings.version >= _YOUNGER.get((resource_type, operation), (0, 0))
        and not is_never_asked(resource_type, operation, settings)
    )


def tool_operations_of(resource_type: ResourceType, settings: AuthorizerSettings) -> tuple[Operation, ...]:
    """Return the operations that kafka-acls of this version takes on a resource of the type, beside ALL."""
    tool = TOOL_OPERATIONS.get(resource_type, ())
    return tuple(operation for operation in operations_of(resource_type, settings) if operation in tool)


def is_never_asked(resource_type: ResourceType, operation: Operation, settings: AuthorizerSettings) -> bool:
    """Whether other authorizers' brokers ask for this operation and those of this one do not, in any version."""
    deletes_topics = resource_type is ResourceType.CLUSTER and operation is Operation.DELETE
    return deletes_topics and not settings.cluster_right_deletes_topics


def _version(authorizer: str, text: str) -> str:
    known = VERSIONS[authorizer]
    if not text:
        return known[-1]
    parts = text.split(".")
    version = ".".join(parts[:2])
    patch_is_a_number = all(part.isascii() and part.isdigit() for part in parts[2:])
    if version not in known or len(parts) > 3 or not patch_is_a_number:
        raise AclError(
            f"Kafka version {shown(text)} is not one that the authorizer {authorizer!r} is known for; "
            f"use {known[0] if len(known) == 1 else f'one from {known[0]} to {known[-1]}'}."
        )
    return version


def _super_users(authorizer: str, value: object) -> frozenset[str]:
    if not isinstance(value, str):
        raise AclError(
            f"{SUPER_USERS_KEY} is {shown(value)}; write a text such as 'User:admin;User:kafka', "
            "with semicolons between the principals."
        )
    parts = value.split(";")
    if authorizer == "acl":
        # Java's split drops empty parts at the end and no others.
        while parts and not parts[-1]:
            parts.pop()
        parts = [part.strip(_JAVA_SPACE) for part in parts]
    else:
        parts = [part for part in (part.strip(_JAVA_SPACE) for part in parts) if part]
    for part in parts:
        if split_principal(part) is None:
            found = f"the part {shown(part)} without a type" if part else "an empty part"
            raise AclError(
                f"{SUPER_USERS_KEY} is {shown(value)}, which has {found}, so a broker would not start; "
                "write each super user as 'User:name', with semicolons between them."
            )
    return frozenset(parts)


def _allow_everyone(authorizer: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise AclError(f"{ALLOW_EVERYONE_KEY} is {shown(value)}; use true or false.")
    word = value.strip(_JAVA_SPACE).upper()
    if authorizer == "acl" and word not in ("TRUE", "FALSE"):
        raise AclError(
            f"{ALLOW_EVERYONE_KEY} is {shown(value)}, with which a ZooKeeper-mode broker would not start; "
            "use true or false."
        )
    return word == "TRUE"
