"""How are the ACLs, topics and brokers of a cluster with AclAuthorizer read, straight from ZooKeeper?

Kafka keeps one node per resource pattern, below one root for literal names and one for prefixes, and informs
its brokers by a sequential change node. Reading fetches every node in pipelines. A node that Kafka could not have
written becomes a Problem with its path, and the others are read all the same. `write.py` changes ACLs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from kazoo.exceptions import NoAuthError

from aclweb.acl.model import AclBinding, AuthorizerSettings, PatternType, ResourcePattern
from aclweb.acl.notation import znodes
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
    Problem,
    TopicInfo,
    Verb,
)
from aclweb.clusters.details import DescribedGroup, ListedGroup
from aclweb.clusters.kind import Connection
from aclweb.clusters.rights import Answer, Right
from aclweb.clusters.zookeeper.marks import marks_of, patterns_since
from aclweb.clusters.zookeeper.nodes import (
    INTERNAL_TOPICS,
    SIGNS_OF_KAFKA,
    TOPICS_ROOT,
    endpoint,
    field_of,
    nested,
    shows_migration,
)
from aclweb.clusters.zookeeper.rights import may_write
from aclweb.clusters.zookeeper.session import Session
from aclweb.clusters.zookeeper.write import write


class ZooKeeperClient:
    """What is read and written over one session with the ZooKeeper of a cluster."""

    def __init__(self, connection: Connection) -> None:
        self._session = Session(connection)
        self._marks = Marks()

    def describe(self) -> ClusterFacts:
        with self._session.reading("its cluster id and brokers"):
            answers = self._session.fetch(["/cluster/id", "/migration"])
            cluster_id = field_of(answers["/cluster/id"], "id")
            numbers = self._session.children("/brokers/ids") or []
            registrations = self._session.fetch([f"/brokers/ids/{number}" for number in numbers])
            return ClusterFacts(
                cluster_id=cluster_id if isinstance(cluster_id, str) else None,
                brokers=tuple(sorted(endpoint(found) for found in registrations.values() if found)),
                migrating=shows_migration(answers["/migration"]),
            )

    def marks(self, earlier: Earlier | None = None) -> Marks:
        with self._session.reading("its ACLs"):
            self._marks = marks_of(self._session)
            return self._marks

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        with self._session.reading("its ACLs"):
            if earlier is not None and self._marks.acls is not None:
                patterns = patterns_since(self._session, earlier, self._marks.acls)
                if patterns is not None:
                    return self._read({znodes.path_of(one): one for one in patterns}, [], only=patterns)
            # Without it a server that lags behind could show us an older state than we have written.
            self._session.get(self._session.kazoo.sync_async("/"))
            self._require_kafka()
            problems: list[Problem] = []
            return self._read(dict(self._patterns(problems)), problems)

    def _read(
        self,
        paths: Mapping[str, ResourcePattern],
        problems: list[Problem],
        only: frozenset[ResourcePattern] | None = None,
    ) -> AclSnapshot:
        """Return the ACLs of these nodes. only: the patterns that these nodes are all of, where they are not all."""
        bindings: list[AclBinding] = []
        unreadable: list[ResourcePattern] = []
        for path, found in self._session.fetch(paths, tolerate=(NoAuthError,)).items():
            pattern = paths[path]
            if isinstance(found, NoAuthError):
                problems.append(Problem(path, f"The node {path} may not be read by this login."))
                unreadable.append(pattern)
            elif found is not None:
                data, stat = found
                if stat.children_count:
                    problems.append(nested(path))
                try:
                    reading = znodes.read_node(pattern, data)
                except znodes.ZnodeError as error:
                    problems.append(Problem(path, str(error), hazard=bool(error.hazard)))
                    unreadable.append(pattern)
                    continue
                problems += [Problem(path, remark, hazard=True) for remark in reading.remarks]
                if reading.remarks and not reading.bindings:
                    # Brokers take such a node for one without ACLs. What it should hold is not known.
                    unreadable.append(pattern)
                bindings += reading.bindings
        return AclSnapshot(tuple(dict.fromkeys(bindings)), tuple(problems), tuple(unreadable), only)

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        with self._session.reading("its topics"):
            names = sorted(self._session.children(TOPICS_ROOT) or [])
            known = earlier.topics() if earlier is not None else {}
            found = self._session.fetch([f"{TOPICS_ROOT}/{name}" for name in names if name not in known])
            topics = []
            for name in names:
                if name in known:
                    topics.append(known[name])
                    continue
                answer = found[f"{TOPICS_ROOT}/{name}"]
                if answer is None:
                    continue  # deleted between the two looks
                partitions = field_of(answer, "partitions")
                count = len(partitions) if isinstance(partitions, dict) else None
                topics.append(TopicInfo(name, count, internal=name in INTERNAL_TOPICS))
            return tuple(topics)

    def read_details(self, authorizer_settings: AuthorizerSettings) -> None:
        return None

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        return ()

    def read_groups(self) -> tuple[str, ...] | None:
        """Return None: groups live in a topic of the brokers and not in ZooKeeper."""
        return None

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return that all topics are known: whoever may list the nodes sees each of them."""
        return NamesKnown(Known.ALL, Known.UNKNOWN, lambda _type, _name: True)

    def _require_kafka(self) -> None:
        """Refuse a place that no broker has ever used: a mistyped chroot would look like a cluster without ACLs."""
        looks = [self._session.kazoo.exists_async(path) for path in SIGNS_OF_KAFKA]
        if any(self._session.get(look) is not None for look in looks):
            return
        place = f"below {self._session.chroot}" if self._session.chroot else "at its root"
        raise ClusterError(
            f"The ZooKeeper at {self._session.where} answers, but no Kafka cluster keeps its data {place}; "
            "give the same chroot as the brokers' zookeeper.connect, such as host:2181/kafka.",
            state=ClusterState.UNREADABLE,
        )

    def _patterns(self, problems: list[Problem]) -> Iterator[tuple[str, ResourcePattern]]:
        """Yield the path and pattern of every node that holds ACLs; whatever else is there becomes a problem."""
        stores = ((znodes.LITERAL_ROOT, PatternType.LITERAL), (znodes.PREFIXED_ROOT, PatternType.PREFIXED))
        for name in self._session.children(znodes.EXTENDED_ROOT) or []:
            if f"{znodes.EXTENDED_ROOT}/{name}" != znodes.PREFIXED_ROOT:
                path = f"{znodes.EXTENDED_ROOT}/{name}"
                problems.append(Problem(path, f"The node {path} is not of a pattern type that Kafka has."))
        if self._session.children(znodes.LITERAL_ROOT) is None:
            sentence = (
                f"There is no node {znodes.LITERAL_ROOT}: no broker with AclAuthorizer has ever started on this "
                "cluster, so it has no ACLs and probably checks none."
            )
            problems.append(Problem(znodes.LITERAL_ROOT, sentence))
        for root, pattern_type in stores:
            for word in sorted(self._session.children(root) or []):
                resource_type = znodes.TYPE_NODES.get(word)
                if resource_type is None:
                    path = f"{root}/{word}"
                    problems.append(
                        Problem(path, f"The node {path} is not of a resource type that Kafka has.")
                    )
                    continue
                for name in sorted(self._session.children(f"{root}/{word}") or []):
                    yield f"{root}/{word}/{name}", ResourcePattern(resource_type, name, pattern_type)

    def login(self) -> Login:
        """Return an empty one: the brokers do not know who reads ZooKeeper."""
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        may, sentence = may_write(self._session)
        answer = Answer.UNKNOWN if may is None else Answer.YES if may else Answer.NO
        return (Right("znode write", answer, sentence, is_needed=writes),)

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
