"""A cluster that answers as a test says: what it holds, and what fails when it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, ResourcePattern, ResourceType
from aclweb.clusters import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    DescribedGroup,
    Details,
    Earlier,
    GroupMember,
    Known,
    ListedGroup,
    Login,
    Marks,
    NamesKnown,
    Outcome,
    Problem,
    TopicInfo,
    Verb,
)


@dataclass
class Answers:
    """The reading half of a ClusterClient. `fails` maps a method's name to the error it raises."""

    bindings: list[AclBinding] = field(default_factory=list)
    topics: list[TopicInfo] = field(default_factory=list)
    groups: list[str] | None = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unreadable: list[ResourcePattern] = field(default_factory=list)
    facts: ClusterFacts = field(default_factory=ClusterFacts)
    fails: dict[str, ClusterError] = field(default_factory=dict)
    topics_known: Known = Known.ALL
    groups_known: Known = Known.ALL
    sees_topic: Callable[[str], bool] = lambda name: False
    details: Details | None = None
    members: dict[str, tuple[GroupMember, ...]] = field(default_factory=dict)
    asked_about: list[list[str]] = field(default_factory=list)
    closed: bool = False

    def describe(self) -> ClusterFacts:
        self._may_fail("describe")
        return self.facts

    def marks(self, earlier: Earlier | None = None) -> Marks:
        return Marks()

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        self._may_fail("read_acls")
        return AclSnapshot(tuple(self.bindings), tuple(self.problems), tuple(self.unreadable))

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        self._may_fail("read_topics")
        return tuple(self.topics)

    def read_groups(self) -> tuple[str, ...] | None:
        self._may_fail("read_groups")
        return None if self.groups is None else tuple(self.groups)

    def read_details(self, settings: AuthorizerSettings) -> Details | None:
        self._may_fail("read_details")
        return self.details

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        self._may_fail("describe_groups")
        self.asked_about.append([group.name for group in groups])
        return tuple(
            DescribedGroup(group.name, "Stable", self.members[group.name])
            for group in groups
            if group.name in self.members
        )

    def names_known(self, acls: AclSnapshot, settings: AuthorizerSettings) -> NamesKnown:
        groups = Known.UNKNOWN if self.groups is None else self.groups_known

        def sees(kind: ResourceType, name: str) -> bool:
            if kind is ResourceType.TOPIC:
                return self.topics_known is Known.ALL or self.sees_topic(name)
            return groups is Known.ALL

        return NamesKnown(self.topics_known, groups, sees)

    def login(self) -> Login:
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[()]:
        return ()

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        raise AssertionError(f"A sync was to {verb.value} {len(bindings)} ACLs; it only reads.")

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _may_fail(self, method: str) -> None:
        if method in self.fails:
            raise self.fails[method]


def trouble(state: ClusterState, sentence: str = "The broker at 10.0.0.1:9092 said no.") -> ClusterError:
    return ClusterError(sentence, state=state)


def topics(*names: str) -> list[TopicInfo]:
    return [TopicInfo(name, partitions=3) for name in names]
