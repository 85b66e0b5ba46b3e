"""What may this login do on the cluster, right by right, and which command would grant what is missing?

Nothing is written: rights to write are read from the operations that brokers allow this login, or from the
permissions of ZooKeeper's nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aclweb.acl.model import AuthorizerSettings
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterClient,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Known,
    Login,
    NamesKnown,
)
from aclweb.clusters.kind import ClusterKind
from aclweb.clusters.rights import Answer, Right


@dataclass
class Checked:
    """What was found. `error` is the first thing that keeps the cluster from being read."""

    rights: list[Right] = field(default_factory=list)
    principal: str | None = None
    facts: ClusterFacts = field(default_factory=ClusterFacts)
    acls: AclSnapshot | None = None
    topics: int | None = None
    groups: int | None = None
    known: NamesKnown | None = None
    error: ClusterError | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the cluster can be read whole, and nothing that is needed is missing."""
        return (
            self.error is None
            and self.acls is not None
            and not self.acls.unreadable
            and not any(right.is_needed and right.answer is Answer.NO for right in self.rights)
        )


def check(
    connect: Callable[[], ClusterClient],
    kind: ClusterKind,
    address: str,
    authorizer_settings: AuthorizerSettings,
    *,
    writes: bool,
    uses_tls: Callable[[], bool] = lambda: False,
    watch: Callable[[Sequence[Right]], None] = lambda _rights: None,
) -> Checked:
    """Try everything that aclweb does with a cluster, but for writing.

    writes: whether it is to be written to. uses_tls: whether the connection does,
    asked once a server was reached. watch: gets what is known so far,
    each time that a line is added.
    """
    return _Check(kind, address, authorizer_settings, writes, uses_tls, watch).run(connect)


class _Check:
    def __init__(
        self,
        kind: ClusterKind,
        address: str,
        authorizer_settings: AuthorizerSettings,
        writes: bool,
        uses_tls: Callable[[], bool],
        watch: Callable[[Sequence[Right]], None],
    ) -> None:
        self.kind, self.address, self.authorizer_settings = kind, address, authorizer_settings
        self.writes, self.uses_tls, self.watch = writes, uses_tls, watch
        self.found = Checked()
        self.login = Login()

    def run(self, connect: Callable[[], ClusterClient]) -> Checked:
        try:
            with connect() as client:
                self._reached()
                self._tls()
                self._try(client)
        except ClusterError as error:
            self._not_connected(error)
        return self.found

    def _not_connected(self, error: ClusterError) -> None:
        self.found.error = self.found.error or error
        if self.found.rights:
            return
        reached = error.state in (ClusterState.LOGIN_REFUSED, ClusterState.NOT_PERMITTED)
        if reached:
            self._reached()
            self._tls()
            self._say("log in", Answer.NO, str(error), needed=True)
        elif error.at_tls:
            self._say("reach", Answer.YES, f"Something at {self.address} answers.", needed=True)
            self._say("TLS", Answer.NO, str(error), needed=True)
            self._say("log in", Answer.UNKNOWN, "No connection came about, so the login was not tried.")
        else:
            self._say("reach", Answer.NO, str(error), needed=True)
            self._say("log in", Answer.UNKNOWN, "No server answered, so the login was not tried.")

    def _reached(self) -> None:
        self._say("reach", Answer.YES, f"{self.kind.subject} at {self.address} answers.", needed=True)

    def _tls(self) -> None:
        if self.uses_tls():
            sentence = "The server's certificate is trusted, and names the host of the address."
            self._say("TLS", Answer.YES, sentence, needed=True)

    def _try(self, client: ClusterClient) -> None:
        self.found.facts = client.describe()
        if self.found.facts.silent:
            silent = ", ".join(self.found.facts.silent)
            self._say("every broker", Answer.NO, f"Of the brokers, these do not answer: {silent}.")
        self.login = client.login()
        self.found.principal = self.login.principal
        if self.login.token:
            self._say("token", Answer.YES, self.login.token, needed=True)
        name = self.found.principal
        known_as = f" The brokers know this client as {name}." if name else ""
        self._say("log in", Answer.YES, f"The login is accepted.{known_as}", needed=True)
        self._cluster_id()
        self._describe(client)
        self.found.rights += client.rights(self.login, writes=self.writes)
        self.watch(self.found.rights)
        self._names(client)
        self._version()
        self._authorizer()

    # --- one line each ----------------------------------------------------------------

    def _cluster_id(self) -> None:
        name = self.found.facts.cluster_id
        if name:
            self._say("cluster id", Answer.YES, f"The cluster calls itself {name}.")
        elif not self.kind.is_copy:
            self._say("cluster id", Answer.UNKNOWN, f"{self.kind.subject} does not show the cluster's id.")

    def _describe(self, client: ClusterClient) -> None:
        try:
            self.found.acls = client.read_acls()
        except ClusterError as error:
            self.found.error = error
            refused = error.state is ClusterState.NOT_PERMITTED
            self._say(
                "Describe",
                Answer.NO if refused else Answer.UNKNOWN,
                str(error),
                self._grant("Describe", "--cluster") if refused else "",
                needed=True,
            )
            return
        count = len(self.found.acls.bindings)
        self._say("Describe", Answer.YES, f"{count:,} ACLs were read.", needed=True)

    def _names(self, client: ClusterClient) -> None:
        counts: dict[str, int | None] = {}
        failed: dict[str, str] = {}
        readers: tuple[tuple[str, Callable[[], Sequence[object] | None]], ...] = (
            ("topics", client.read_topics),
            ("groups", client.read_groups),
        )
        for what, read in readers:
            try:
                names = read()
                counts[what] = None if names is None else len(names)
            except ClusterError as error:
                counts[what], failed[what] = None, str(error)
        self.found.topics, self.found.groups = counts["topics"], counts["groups"]
        if self.found.acls is None:  # without them nothing proves that the names are all
            known = NamesKnown(Known.VISIBLE, Known.VISIBLE, lambda _type, _name: False)
        else:
            known = client.names_known(self.found.acls, self.authorizer_settings)
        self.found.known = known
        topic, group = self._grant("Describe", "--topic '*'"), self._grant("Describe", "--group '*'")
        for what, listed, command in (("topics", known.topics, topic), ("groups", known.groups, group)):
            count = counts[what]
            if what in failed:
                self._say(what, Answer.UNKNOWN, failed[what])
            elif count is None or listed is Known.UNKNOWN:
                self._say(what, Answer.UNKNOWN, f"Which {what} exist is unknown.")
            elif listed is Known.ALL:
                self._say(what, Answer.YES, f"All {what} are seen: {count:,}.")
            elif self.kind.hides_names:
                answer = Answer.UNKNOWN if self.found.principal is None and what == "topics" else Answer.NO
                sentence = (
                    f"Only {what} that this login may describe are seen, {count:,}; others may be hidden."
                )
                self._say(what, answer, sentence, command)
            else:
                self._say(
                    what, Answer.UNKNOWN, f"{self.kind.subject} lists {count:,} {what}; there may be others."
                )

    def _version(self) -> None:
        version = self.found.facts.kafka_version
        if version:
            self._say("version", Answer.YES, f"Kafka {version}.")
        else:
            self._say(
                "version", Answer.UNKNOWN, "The version is not known here; give it with --kafka-version."
            )

    def _authorizer(self) -> None:
        settings = self.found.facts.settings
        error = self.found.error
        if error is not None and error.state is ClusterState.NO_AUTHORIZER:
            self._say("authorizer", Answer.NO, str(error), needed=True)
        elif settings is not None and settings.authorizer_class:
            name = settings.authorizer_class.rpartition(".")[2]
            sentence = f"{name}, read from {settings.where}. {' '.join(settings.problems)}".strip()
            self._say("authorizer", Answer.YES if settings.authorizer else Answer.UNKNOWN, sentence)
        else:
            self._say(
                "authorizer",
                Answer.UNKNOWN,
                f"Not known here; {self.authorizer_settings.authorizer!r} is assumed.",
            )

    # --- words ------------------------------------------------------------------------

    def _say(
        self, name: str, answer: Answer, sentence: str, command: str = "", *, needed: bool = False
    ) -> None:
        self.found.rights.append(Right(name, answer, sentence, command, needed))
        self.watch(self.found.rights)

    def _grant(self, operation: str, resource: str) -> str:
        """Return the command that grants this to the login, empty where the kind has none."""
        return self.kind.command_to_grant(self.address, self.found.principal or "", operation, resource)
