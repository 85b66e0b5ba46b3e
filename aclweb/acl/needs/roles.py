"""Which resources does a client action use, and how are they named?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from aclweb.acl.model import CLUSTER_NAME, AuthorizerSettings, PatternType, ResourceType
from aclweb.acl.needs.calls import Api, Case

Names = Mapping[str, Sequence[str]]
"""The names that somebody gave, by the key of their role."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One name, or all names that begin alike, which an action uses; `example` is one of them."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL
    example: str = ""

    @property
    def asked_name(self) -> str:
        return self.example or self.name


@dataclass(frozen=True, slots=True)
class Role:
    """What a name is to an action: the topic that it reads, the group that it joins.

    key: how it is given (`--topic`). default: the names where nobody gives any; `else_of`
    is the role whose names count then.
    prefixed_of: the role whose names begin the names of this one, with `separator`
    after them; `example_tail` completes one such name.
    """

    key: str
    resource_type: ResourceType
    noun: str
    default: tuple[str, ...] = ()
    else_of: str = ""
    prefixed_of: str = ""
    separator: str = ""
    example_tail: str = ""

    @property
    def given_as(self) -> str:
        """The key under which names for this role are given."""
        return self.prefixed_of or self.key

    def subjects(self, names: Names) -> tuple[Subject, ...]:
        """Return the resources of this role: those of the given names, or else its default ones."""
        given = tuple(dict.fromkeys(names.get(self.given_as) or names.get(self.else_of) or self.default))
        if not self.prefixed_of:
            return tuple(Subject(self.resource_type, name) for name in given)
        return tuple(
            Subject(
                self.resource_type,
                f"{name}{self.separator}",
                PatternType.PREFIXED,
                f"{name}{self.separator}{self.example_tail}",
            )
            for name in given
        )


TOPIC = Role("topic", ResourceType.TOPIC, "the topic")
OUTPUT = Role("output-topic", ResourceType.TOPIC, "the topic that is written to")
INPUT = Role("input-topic", ResourceType.TOPIC, "the topic that was read", else_of="topic")
STORE = Role(
    "internal-topic",
    ResourceType.TOPIC,
    "the worker's own topic",
    default=("connect-configs", "connect-offsets", "connect-status"),
)
GROUP = Role("group", ResourceType.GROUP, "the group")
TRANSACTIONAL_ID = Role("transactional-id", ResourceType.TRANSACTIONAL_ID, "the transactional id")
OWNER = Role("owner", ResourceType.USER, "the owner (a USER resource)")
TOKEN = Role("token-id", ResourceType.DELEGATION_TOKEN, "the token")
CLUSTER = Role("cluster", ResourceType.CLUSTER, "the cluster", default=(CLUSTER_NAME,))
# Streams names its topics and transactional ids after the application id, which is also its group.
APPLICATION_TOPIC = Role(
    "application-topic",
    ResourceType.TOPIC,
    "the application's internal topic",
    prefixed_of="group",
    separator="-",
    example_tail="store-changelog",
)
APPLICATION_ID = Role(
    "application-transactional-id",
    ResourceType.TRANSACTIONAL_ID,
    "the application's transactional id",
    prefixed_of="group",
    separator="-",
    example_tail="1",
)

GIVEN_ROLES = (TOPIC, GROUP, TRANSACTIONAL_ID, INPUT, OUTPUT, STORE, OWNER, TOKEN)
"""The roles that a person gives names for, in the order in which one asks for them."""

_USUAL: Mapping[ResourceType, Role] = MappingProxyType(
    {role.resource_type: role for role in (TOPIC, GROUP, TRANSACTIONAL_ID, OWNER, TOKEN, CLUSTER)}
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an action.

    on: roles that take the place of the usual ones of their types. when: a clause if the
    call is not always made. needed: whether the action fails with it; `needed_with` is
    the role whose names, when given, make it needed. at_once: made together with the other calls
    so marked, or before them by some clients, so that the order of their errors is unknown.
    """

    api: Api
    case: Case
    on: tuple[Role, ...] = ()
    when: str = ""
    needed: bool = True
    needed_with: Role | None = None
    at_once: bool = False

    def role(self, resource_type: ResourceType) -> Role:
        """Return whose name is meant where the call is about a resource of this type."""
        for role in self.on:
            if role.resource_type is resource_type:
                return role
        return _USUAL[resource_type]

    def is_needed(self, names: Names) -> bool:
        if self.needed_with is not None:
            return bool(self.needed_with.subjects(names))
        return self.needed


@dataclass(frozen=True, slots=True)
class ClientAction:
    """One thing that a client does; `does` completes "the client …"."""

    name: str
    does: str
    calls: tuple[Call, ...]
    notes: tuple[str, ...] = ()
    is_api: bool = False


def calls_under(action: ClientAction, settings: AuthorizerSettings) -> tuple[Call, ...]:
    """Return the calls of an action that a broker under these settings knows; all of them if it knows none."""
    return tuple(call for call in action.calls if call.case.span.holds(settings)) or action.calls
