"""A cluster in memory: it keeps the promises that real ones keep, and fails when a test asks it to.

    with FakeCluster(bindings=[...], topics=["orders"]) as fake:
        fake.fail_next("write", unreachable())      the next write raises
        fake.lose_answer(applied=True)              the next write is done, and nobody is told
        fake.refuse(binding, "Not today.")          this binding is refused, always

It is its own client and stays as it is when closed, so one object serves a test that
connects several times. `calls` lists what was asked of it, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self

from aclweb.acl.kafka.validation import refused_everywhere, why_not_deletable
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, ResourcePattern, ResourceType
from aclweb.clusters import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Connection,
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
    OutcomeKind,
    Problem,
    TopicInfo,
    Verb,
)


def unreachable(sentence: str = "No Kafka broker answers at fake:9092 within 1 s.") -> ClusterError:
    return ClusterError(sentence, state=ClusterState.UNREACHABLE)


def not_permitted(
    sentence: str = "The user 'aclweb' may not list the ACLs; that needs Describe.",
) -> ClusterError:
    return ClusterError(sentence, state=ClusterState.NOT_PERMITTED)


def no_authorizer(sentence: str = "The cluster at fake:9092 has no authorizer (code 54).") -> ClusterError:
    return ClusterError(sentence, state=ClusterState.NO_AUTHORIZER)


class FakeCluster:
    """A ClusterClient whose cluster is this object."""

    def __init__(
        self,
        bindings: Iterable[AclBinding] = (),
        *,
        topics: Iterable[str | TopicInfo] = (),
        groups: Iterable[str] | None = (),
        writable: bool = True,
        cluster_id: str = "fake-cluster",
        kafka_version: str | None = "4.4",
    ) -> None:
        self.writable = writable
        self.bindings = list(dict.fromkeys(bindings))
        self.topics = [TopicInfo(topic, 1) if isinstance(topic, str) else topic for topic in topics]
        self.groups = None if groups is None else list(groups)
        self.facts = ClusterFacts(cluster_id, kafka_version, brokers=("fake:9092",))
        self.problems: tuple[Problem, ...] = ()
        self.unreadable: tuple[ResourcePattern, ...] = ()
        # What it tells beside ACLs and names, and who is in which group; it tells nothing unless a test says what.
        self.details: Details | None = None
        self.members: dict[str, tuple[GroupMember, ...]] = {}
        self.topics_known = Known.ALL
        self.sees_topic: Callable[[str], bool] = lambda name: True
        self.calls: list[tuple[object, ...]] = []
        self.connections: list[Connection] = []
        self.closed = 0
        # Called with the verb and the bindings before a write is done: a place for another writer to be faster.
        self.before_write: Callable[[Verb, Sequence[AclBinding]], object] | None = None
        self._failures: dict[str, list[BaseException]] = {}
        self._lost: list[bool] = []
        self._refused: dict[AclBinding, tuple[str, int | None]] = {}

    # --- what a test asks for -------------------------------------------------------

    def connect(self, connection: Connection) -> FakeCluster:
        """Stand in for aclweb.clusters.connect."""
        self.connections.append(connection)
        self._called("connect")
        return self

    def fail_next(self, method: str, error: BaseException, *, times: int = 1) -> None:
        """Let the next calls of this method raise: connect, describe, read_acls, read_topics, read_groups, write."""
        self._failures.setdefault(method, []).extend([error] * times)

    def lose_answer(self, *, applied: bool, times: int = 1) -> None:
        """Let the next writes end without an answer, done or not done."""
        self._lost += [applied] * times

    def refuse(
        self, binding: AclBinding, sentence: str = "The broker refused it.", code: int | None = 42
    ) -> None:
        self._refused[binding] = (sentence, code)

    @property
    def written(self) -> list[tuple[Verb, AclBinding]]:
        """Every binding that a write was asked for, in order."""
        return [(call[1], one) for call in self.calls if call[0] == "write" for one in call[2]]  # type: ignore[misc, attr-defined]

    # --- what every client does -----------------------------------------------------

    def describe(self) -> ClusterFacts:
        self._called("describe")
        return self.facts

    def marks(self, earlier: Earlier | None = None) -> Marks:
        return Marks()

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        self._called("read_acls")
        return AclSnapshot(tuple(self.bindings), self.problems, self.unreadable)

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        self._called("read_topics")
        return tuple(self.topics)

    def read_groups(self) -> tuple[str, ...] | None:
        self._called("read_groups")
        return None if self.groups is None else tuple(sorted(self.groups))

    def names_known(self, acls: AclSnapshot, settings: AuthorizerSettings) -> NamesKnown:
        """Tell that every name is seen, unless a test says which topics are (`topics_known`, `sees_topic`)."""
        groups = Known.UNKNOWN if self.groups is None else Known.ALL
        return NamesKnown(
            self.topics_known,
            groups,
            lambda kind, name: kind is not ResourceType.TOPIC or self.sees_topic(name),
        )

    def read_details(self, settings: AuthorizerSettings) -> Details | None:
        self._called("read_details")
        return self.details

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        self._called("describe_groups", tuple(group.name for group in groups))
        return tuple(
            DescribedGroup(group.name, "Stable", self.members[group.name])
            for group in groups
            if group.name in self.members
        )

    def login(self) -> Login:
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[()]:
        return ()

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        self._called("write", verb, tuple(bindings))
        if not self.writable:
            return tuple(
                Outcome(one, OutcomeKind.REFUSED, "Nothing can be written to this cluster.")
                for one in bindings
            )
        if self.before_write is not None:
            self.before_write(verb, bindings)
        lost = self._lost.pop(0) if self._lost else None
        outcomes: dict[AclBinding, Outcome] = {}
        for binding in dict.fromkeys(bindings):
            if lost is False:
                outcomes[binding] = _no_answer(binding)
                continue
            outcome = self._write_one(verb, binding)
            outcomes[binding] = _no_answer(binding) if lost else outcome
        return tuple(outcomes[binding] for binding in bindings)

    def _write_one(self, verb: Verb, binding: AclBinding) -> Outcome:
        sentence, code = self._refused.get(binding, ("", None))
        fault = sentence or _fault(verb, binding)
        if fault:
            return Outcome(binding, OutcomeKind.REFUSED, fault, code)
        if (binding in self.bindings) is (verb is Verb.ADD):
            return Outcome(binding, OutcomeKind.ALREADY, "Nothing was to be done.", 0)
        if verb is Verb.ADD:
            self.bindings.append(binding)
        else:
            self.bindings.remove(binding)
        return Outcome(binding, OutcomeKind.WRITTEN, "Done.", 0)

    def close(self) -> None:
        self.closed += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _called(self, method: str, *what: object) -> None:
        self.calls.append((method, *what))
        waiting = self._failures.get(method)
        if waiting:
            raise waiting.pop(0)


def _no_answer(binding: AclBinding) -> Outcome:
    return Outcome(
        binding, OutcomeKind.UNKNOWN, "No answer from fake:9092; reading back shows whether it was done."
    )


def _fault(verb: Verb, binding: AclBinding) -> str | None:
    """Return why a real cluster would refuse this binding."""
    if verb is Verb.REMOVE:
        return why_not_deletable(binding)
    answer = refused_everywhere("add", binding)
    return answer.sentence if answer else None
