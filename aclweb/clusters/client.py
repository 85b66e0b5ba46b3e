"""What can every cluster client do, and in which values does it answer?

A read either succeeds whole or raises ClusterError; it never answers with fewer
ACLs because something failed, since a failed read must not look like an empty cluster.

    ClusterError
        .state      which of the named states the cluster is in (ClusterState)
        str(error)  a sentence: what, where, and what would be right
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from aclweb.clusters.broker_settings import ClusterSettings
from aclweb.clusters.details import DescribedGroup, Details, ListedGroup
from aclweb.clusters.known import Known as Known
from aclweb.clusters.rights import Right


class ClusterState(enum.StrEnum):
    """What the last attempt to read a cluster found; each has a sentence of its own for people."""

    OK = "ok"
    NO_ACLS = "no-acls"  # the authorizer is on and has no ACL
    NO_AUTHORIZER = "no-authorizer"  # SECURITY_DISABLED (54)
    NOT_PERMITTED = "not-permitted"  # CLUSTER_AUTHORIZATION_FAILED (31): no right to describe
    LOGIN_REFUSED = "login-refused"  # SASL or ZooKeeper authentication failed
    UNREACHABLE = "unreachable"  # nobody answers, or not in time
    UNREADABLE = "unreadable"  # something is there that is not what Kafka writes


class ClusterError(Exception):
    """A cluster that could not be read or written, with a sentence for the person who can correct it.

    at_tls: whether a server was reached, and TLS is what failed.
    """

    def __init__(self, sentence: str, *, state: ClusterState, at_tls: bool = False) -> None:
        super().__init__(sentence)
        self.state = state
        self.at_tls = at_tls


@dataclass(frozen=True, slots=True)
class Problem:
    """Something found on the cluster that is not as Kafka writes it: where, and a sentence.

    `hazard` is true where Kafka's own brokers would stumble over it.
    """

    where: str
    sentence: str
    hazard: bool = False


@dataclass(frozen=True, slots=True)
class AclSnapshot:
    """All bindings of one cluster at one moment, without duplicates, and what could not be understood.

    `unreadable` holds the patterns whose stored form could not be decoded: rows stored
    for them earlier are kept as they were, since nothing is known about them now.

    patterns: the only ones that were read, because all others are as an earlier read found
    them; None where everything was read.
    """

    bindings: tuple[AclBinding, ...]
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[ResourcePattern, ...] = ()
    patterns: frozenset[ResourcePattern] | None = None


@dataclass(frozen=True, slots=True)
class TopicInfo:
    name: str
    partitions: int | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """What shows cheaply whether anything has changed: equal marks, equal contents. None where nothing shows it.

    Both are JSON values. topics: of the names of topics; their partitions may have changed.
    """

    acls: Mapping[str, Any] | None = None
    topics: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier read found, and is still stored: its marks, names of patterns by their types, and topics."""

    marks: Marks
    names: Callable[[ResourceType, PatternType], frozenset[str]]
    topics: Callable[[], Mapping[str, TopicInfo]]


@dataclass(frozen=True, slots=True)
class NamesKnown:
    """How complete the topics and groups of one snapshot are.

    sees: whether a topic or group of this name would certainly be among those read, so
    that it is gone where it is not.
    """

    topics: Known
    groups: Known
    sees: Callable[[ResourceType, str], bool]


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What a cluster says of itself; `settings` is None where it shows none of them to this login."""

    cluster_id: str | None = None
    kafka_version: str | None = None
    brokers: tuple[str, ...] = ()
    migrating: bool = False  # ZooKeeper only: a migration to KRaft is under way
    settings: ClusterSettings | None = None
    silent: tuple[str, ...] = ()  # brokers, by address, that did not answer


class Verb(enum.StrEnum):
    ADD = "add"
    REMOVE = "remove"


class OutcomeKind(enum.StrEnum):
    WRITTEN = "written"  # the cluster accepted it
    ALREADY = "already"  # it was there before an add, or gone before a remove
    REFUSED = "refused"  # a definite no; nothing was done for this binding
    UNKNOWN = "unknown"  # no answer: only reading back shows it


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one binding: the cluster's answer as a sentence, and its error code if it gave one."""

    binding: AclBinding
    kind: OutcomeKind
    sentence: str = ""
    error_code: int | None = None
    evidence: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Login:
    """What is known of the login that reads.

    principal: as ACLs name it, None where that is not certain. operations: what the
    brokers allow it on the cluster, None where they did not say. token: which token it logs
    in with, as a sentence; empty where it needs none.
    """

    principal: str | None = None
    operations: frozenset[Operation] | None = None
    token: str = ""


class ClusterClient(Protocol):
    """One open connection to a cluster. Every method raises ClusterError and nothing else."""

    def describe(self) -> ClusterFacts: ...

    def marks(self, earlier: Earlier | None = None) -> Marks:
        """Return the marks of now, to compare with those of an earlier read; called after `describe`.

        What is read afterwards is as new, or newer.
        """
        ...

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        """Return all ACLs, or those of the patterns that have changed since an earlier read.

        earlier: what that one found; its marks are not those that this client has given.
        """
        ...

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        """Return all topics; those that an earlier read found may have the partitions of then."""
        ...

    def read_groups(self) -> tuple[str, ...] | None:
        """Return the group names, or None where this source cannot know them."""
        ...

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return how complete the topics and groups are that this client has read.

        acls: what it has read as well. authorizer_settings: what is known of the cluster's authorizer.
        """
        ...

    def read_details(self, authorizer_settings: AuthorizerSettings) -> Details | None:
        """Return who can log in, who is limited, and which groups of which type there are; None where no broker tells.

        Called after `describe` and `read_groups`, whose answers it uses. authorizer_settings: as for `names_known`.
        """
        ...

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        """Return who is in these groups, of those that `read_details` listed; none of a group that is gone by now."""
        ...

    def login(self) -> Login:
        """Return who this client is to the cluster, and what it may do there, as far as that shows."""
        ...

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        """Return a line for each right that only this kind of cluster has, for `cluster check`.

        Called after `describe` and `read_acls`. writes: whether aclweb is to write to the cluster.
        """
        ...

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        """Add or remove exactly these bindings; one outcome each, in the order given.

        Repeating a write changes nothing more. A timeout gives UNKNOWN outcomes and
        does not raise: the caller reads back.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def why_no_broker_holds(binding: AclBinding) -> str | None:
    """Return why an ACL of a file cannot be one of a cluster, as a clause, or None."""
    if binding.pattern_type is PatternType.GLOB:
        return "pattern_type is 'GLOB', a proposal that no broker has; use LITERAL or PREFIXED."
    return None


class Moved(enum.Enum):
    """What a watch has seen."""

    SOMETHING = "something"  # some ACL may have changed
    EVERYTHING = "everything"  # it could not watch for a while: a sync is to read everything


class Watch(Protocol):
    """A session with a cluster that tells when ACLs may have changed. One thread opens, uses and closes it."""

    @property
    def is_connected(self) -> bool: ...

    def wait(self, timeout_seconds: float) -> Moved | None:
        """Return what may have changed, None where nothing has within this time; raises ClusterError at its end."""
        ...

    def close(self) -> None: ...


class ReadOnlyClient:
    """What clients of a copy have in common: nobody to log in to, nothing to write, nothing to close.

    A subclass reads: `describe`, `read_acls`, `read_topics`, `read_groups`, `names_known`.
    """

    where: str  # what is read, as in "known from the file /acls.jsonl only"

    def marks(self, earlier: Earlier | None = None) -> Marks:
        return Marks()

    def read_details(self, authorizer_settings: AuthorizerSettings) -> None:
        return None

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        return ()

    def login(self) -> Login:
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        return ()

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        sentence = (
            f"This cluster is known from {self.where} only, so nothing can be written to it; run the change's "
            "commands where the cluster can be reached."
        )
        return tuple(Outcome(binding, OutcomeKind.REFUSED, sentence) for binding in bindings)

    def close(self) -> None:
        """A copy is open only while it is read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
