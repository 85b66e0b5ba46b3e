"""How are the ACLs of a cluster with AclAuthorizer read and written, straight in ZooKeeper?

Kafka keeps one node per resource pattern, below one root for literal names and one
for prefixes, and tells its brokers by a sequential change node. So does this client:

* reading fetches every node in pipelines; a node that Kafka could not have written
  becomes a Problem with its path, and the others are read all the same;
* writing reads a node, computes the new set, and sends data and change node in one
  transaction that only goes through if the node is still as it was read. The new
  text is decoded again and compared before it is sent;
* a node that cannot be understood is never overwritten, and nothing is written while
  the cluster migrates to KRaft, because what is written then may be lost.

Whether the brokers have taken a write to heart is not visible from here: a znode
says what they will read, not what they have read.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    BadVersionError,
    InvalidACLError,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
)
from kazoo.protocol.states import KeeperState

from aclweb.acl.model import AclBinding, AuthorizerSettings, PatternType, ResourcePattern
from aclweb.acl.notation import znodes
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Known,
    Login,
    NamesKnown,
    Outcome,
    OutcomeKind,
    Problem,
    TopicInfo,
    Verb,
)
from aclweb.clusters.connection import (
    ClientOptions,
    Endpoint,
    PemFiles,
    Probes,
    check_options,
    none_reachable,
    pem,
    tls_context,
)
from aclweb.clusters.kind import Connection
from aclweb.clusters.rights import Answer, Right
from aclweb.clusters.zookeeper.connection import NO_ANSWER, TOLD_SCHEMES, end, split_address
from aclweb.clusters.zookeeper.nodes import (
    INTERNAL_TOPICS,
    SIGNS_OF_KAFKA,
    TOPICS_ROOT,
    Edit,
    endpoint,
    fault_of,
    field_of,
    first_fault,
    nested,
    read_node,
    shows_migration,
    tell,
)

# kazoo reports every lost connection on its own; what matters is told by ClusterError.
_quiet = logging.getLogger("aclweb.clusters.kazoo")


_quiet.setLevel(logging.CRITICAL)


_PIPELINE = 1000  # requests on the wire at once


_REREADS = 10  # as often as Kafka itself tries again after a conflict


# ZooKeeper closes the connection on packets above 1 MB, so a transaction keeps well below.
LARGEST_TRANSACTION = 512 * 1024


_PATTERNS_PER_TRANSACTION = 200


# Where ACLs of each kind of pattern stand, and where their changes are announced.
_WRITTEN_BELOW = (
    (f"{znodes.LITERAL_ROOT}/Topic", "/kafka-acl-changes"),
    (f"{znodes.PREFIXED_ROOT}/Topic", "/kafka-acl-extended-changes"),
)


_CREATE = 4  # ZooKeeper's number for the permission


_CONFLICTS = (BadVersionError, NodeExistsError, NoNodeError)


class ZooKeeperClient:
    """One open session with the ZooKeeper of a cluster."""

    def __init__(self, connection: Connection) -> None:
        options = self._options = check_options(connection.kind, connection.options)
        servers, self._chroot = split_address(connection.address)
        self._where = f"{servers}{self._chroot}"
        self._timeout = connection.timeout_seconds
        self._probe_timeout = connection.probe_timeout
        self._pem = PemFiles(options) if options.uses_tls else None
        self._parents: dict[str, list[Any]] = {}
        servers = self._reachable(servers.split(","), options)
        try:
            self._kazoo = self._open(servers, options)
        except BaseException:
            self._drop_pem()
            raise

    def _reachable(self, servers: list[str], options: ClientOptions) -> str:
        """Return the servers, that which answered first before the others; raises ClusterError where none is one."""
        context = tls_context(options) if options.uses_tls else None
        probes = Probes(servers, context, self._probe_timeout, Endpoint.ZOOKEEPER)
        try:
            first = probes.first()
            if first is None:
                raise none_reachable(
                    probes.all(),
                    options,
                    wanted=Endpoint.ZOOKEEPER,
                    waited_seconds=self._probe_timeout,
                    sync_waits_seconds=self._timeout,
                )
        except ClusterError:
            self._drop_pem()
            raise
        finally:
            probes.close()
        return ",".join(sorted(servers, key=lambda server: server != first))

    def _open(self, servers: str, options: ClientOptions) -> KazooClient:
        tls: dict[str, object] = {}
        if self._pem is not None:
            tls = {
                "use_ssl": True,
                "verify_certs": True,
                "check_hostname": True,
                "ca": self._pem.ca,
                "certfile": self._pem.certificate,
                "keyfile": self._pem.key,
                "keyfile_password": options.key_password,
            }
        sasl = None
        if options.uses_sasl:
            sasl = {
                "mechanism": options.mechanism,
                "username": options.username,
                "password": options.password,
            }
        kazoo = KazooClient(
            hosts=servers + self._chroot,
            timeout=max(4.0, min(self._timeout, 30.0)),
            sasl_options=sasl,
            randomize_hosts=False,
            logger=_quiet,
            **tls,
        )
        try:
            started = kazoo.start_async()
            deadline = time.monotonic() + self._timeout
            while not started.wait(0.05) and time.monotonic() < deadline:
                if kazoo.client_state == KeeperState.AUTH_FAILED:
                    break
            # A session counts as connected before its login is through; the first answer comes after it.
            kazoo.exists_async("/").get(timeout=max(0.1, deadline - time.monotonic()))
        except AuthFailedError as error:
            end(kazoo)
            raise self._login_refused(options) from error
        except Exception as error:
            end(kazoo)
            raise self._unreachable() from error
        return kazoo

    # --- reading --------------------------------------------------------------------

    def describe(self) -> ClusterFacts:
        with self._translated("its cluster id and brokers"):
            answers = self._fetch(["/cluster/id", "/migration"])
            cluster_id = field_of(answers["/cluster/id"], "id")
            numbers = self._children("/brokers/ids") or []
            registrations = self._fetch([f"/brokers/ids/{number}" for number in numbers])
            return ClusterFacts(
                cluster_id=cluster_id if isinstance(cluster_id, str) else None,
                brokers=tuple(sorted(endpoint(found) for found in registrations.values() if found)),
                migrating=shows_migration(answers["/migration"]),
            )

    def read_acls(self) -> AclSnapshot:
        with self._translated("its ACLs"):
            # Without it a server that lags behind could show us an older state than we have written.
            self._get(self._kazoo.sync_async("/"))
            self._require_kafka()
            problems: list[Problem] = []
            paths = dict(self._patterns(problems))
            bindings: list[AclBinding] = []
            unreadable: list[ResourcePattern] = []
            for path, found in self._fetch(paths, tolerate=(NoAuthError,)).items():
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
            return AclSnapshot(tuple(dict.fromkeys(bindings)), tuple(problems), tuple(unreadable))

    def read_topics(self) -> tuple[TopicInfo, ...]:
        with self._translated("its topics"):
            names = sorted(self._children(TOPICS_ROOT) or [])
            found = self._fetch([f"{TOPICS_ROOT}/{name}" for name in names])
            topics = []
            for name in names:
                answer = found[f"{TOPICS_ROOT}/{name}"]
                if answer is None:
                    continue  # deleted between the two looks
                partitions = field_of(answer, "partitions")
                count = len(partitions) if isinstance(partitions, dict) else None
                topics.append(TopicInfo(name, count, internal=name in INTERNAL_TOPICS))
            return tuple(topics)

    def read_groups(self) -> tuple[str, ...] | None:
        """Return None: groups live in a topic of the brokers and not in ZooKeeper."""
        return None

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return that all topics are known: whoever may list the nodes sees each of them."""
        return NamesKnown(Known.ALL, Known.UNKNOWN, lambda _type, _name: True)

    def _require_kafka(self) -> None:
        """Refuse a place that no broker has ever used: a mistyped chroot would look like a cluster without ACLs."""
        looks = [self._kazoo.exists_async(path) for path in SIGNS_OF_KAFKA]
        if any(self._get(look) is not None for look in looks):
            return
        place = f"below {self._chroot}" if self._chroot else "at its root"
        raise ClusterError(
            f"The ZooKeeper at {self._where} answers, but no Kafka cluster keeps its data {place}; "
            "give the same chroot as the brokers' zookeeper.connect, such as host:2181/kafka.",
            state=ClusterState.UNREADABLE,
        )

    def _patterns(self, problems: list[Problem]) -> Iterator[tuple[str, ResourcePattern]]:
        """Yield the path and pattern of every node that holds ACLs; what else stands there becomes a problem."""
        stores = ((znodes.LITERAL_ROOT, PatternType.LITERAL), (znodes.PREFIXED_ROOT, PatternType.PREFIXED))
        for name in self._children(znodes.EXTENDED_ROOT) or []:
            if f"{znodes.EXTENDED_ROOT}/{name}" != znodes.PREFIXED_ROOT:
                path = f"{znodes.EXTENDED_ROOT}/{name}"
                problems.append(Problem(path, f"The node {path} is not of a pattern type that Kafka has."))
        if self._children(znodes.LITERAL_ROOT) is None:
            sentence = (
                f"There is no node {znodes.LITERAL_ROOT}: no broker with AclAuthorizer has ever started on this "
                "cluster, so it has no ACLs and probably checks none."
            )
            problems.append(Problem(znodes.LITERAL_ROOT, sentence))
        for root, pattern_type in stores:
            for word in sorted(self._children(root) or []):
                resource_type = znodes.TYPE_NODES.get(word)
                if resource_type is None:
                    path = f"{root}/{word}"
                    problems.append(
                        Problem(path, f"The node {path} is not of a resource type that Kafka has.")
                    )
                    continue
                for name in sorted(self._children(f"{root}/{word}") or []):
                    yield f"{root}/{word}/{name}", ResourcePattern(resource_type, name, pattern_type)

    def _children(self, path: str) -> list[str] | None:
        """Return the names below a node, None where the node is not there."""
        try:
            return list(self._get(self._kazoo.get_children_async(path)))
        except NoNodeError:
            return None

    def _fetch(self, paths: Iterable[str], *, tolerate: tuple[type[Exception], ...] = ()) -> dict[str, Any]:
        """Return (data, stat) by path, None where there is no node, the error where it is to be tolerated."""
        wanted = list(paths)
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), _PIPELINE):
            window = wanted[start : start + _PIPELINE]
            asked = [(path, self._kazoo.get_async(path)) for path in window]
            for path, answer in asked:
                try:
                    found[path] = self._get(answer)
                except NoNodeError:
                    found[path] = None
                except tolerate as error:
                    found[path] = error
        return found

    def _get(self, answer: Any) -> Any:
        return answer.get(timeout=self._timeout)

    # --- writing --------------------------------------------------------------------

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        outcomes: dict[AclBinding, Outcome] = {}
        edits: dict[ResourcePattern, Edit] = {}
        for binding in dict.fromkeys(bindings):
            fault = fault_of(verb, binding)
            if fault:
                outcomes[binding] = Outcome(binding, OutcomeKind.REFUSED, fault)
            else:
                edits.setdefault(binding.pattern, Edit(binding.pattern, [])).bindings.append(binding)

        waiting = list(edits.values())
        try:
            refusal = self._migration_refusal() if waiting else None
        except NO_ANSWER as error:
            refusal = None
            tell(outcomes, waiting, OutcomeKind.UNKNOWN, self._lost(error, sent=False))
            waiting = []
        except KazooException as error:
            refusal = (
                f"ZooKeeper at {self._where} refused to be read before the write ({type(error).__name__})."
            )
        if refusal:
            tell(outcomes, waiting, OutcomeKind.REFUSED, refusal)
            waiting = []

        while waiting:
            batch, waiting = waiting[:_PATTERNS_PER_TRANSACTION], waiting[_PATTERNS_PER_TRANSACTION:]
            try:
                again = self._write_batch(verb, batch, outcomes)
            except (KazooException, *NO_ANSWER) as error:
                open_ones = [edit for edit in batch if any(one not in outcomes for one in edit.bindings)]
                tell(outcomes, open_ones, OutcomeKind.UNKNOWN, self._lost(error, sent=True))
                tell(outcomes, waiting, OutcomeKind.UNKNOWN, self._lost(error, sent=False))
                break
            waiting = again + waiting
        return tuple(outcomes[binding] for binding in bindings)

    def _write_batch(self, verb: Verb, batch: list[Edit], outcomes: dict[AclBinding, Outcome]) -> list[Edit]:
        """Write as many of these edits as fit one transaction; return those to try in another one."""
        fetched = self._fetch([edit.path for edit in batch], tolerate=(NoAuthError,))
        transaction = self._kazoo.transaction()
        sent: list[tuple[Edit, list[AclBinding]]] = []
        owners: list[Edit] = []  # which edit each operation of the transaction belongs to
        size, later = 0, []
        for edit in batch:
            planned = self._plan(verb, edit, fetched[edit.path], outcomes)
            if planned is None:
                continue
            changed, operations, needed = planned
            if sent and size + needed > LARGEST_TRANSACTION:
                later.append(edit)
                continue
            size += needed
            sent.append((edit, changed))
            for operation in operations:
                operation(transaction)
                owners.append(edit)
        if not sent:
            return later

        results = transaction.commit_async().get(timeout=self._timeout)
        culprit = first_fault(results)
        if culprit is None:
            for position, result in enumerate(results):
                if isinstance(result, str):
                    owners[position].evidence["change_node"] = result
            for edit, changed in sent:
                for binding in changed:
                    outcomes[binding] = Outcome(
                        binding,
                        OutcomeKind.WRITTEN,
                        f"Written to {edit.path}, and announced to the brokers.",
                        evidence=dict(edit.evidence),
                    )
            return later

        position, fault = culprit
        if isinstance(fault, NO_ANSWER):
            raise fault
        edit = owners[position]
        if isinstance(fault, _CONFLICTS) and edit.rereads < _REREADS:
            # Somebody was faster. A short pause of uneven length keeps two writers from meeting again.
            edit.rereads += 1
            time.sleep(random.uniform(0.01, 0.05) * edit.rereads)  # noqa: S311
        else:
            tell(outcomes, [edit], OutcomeKind.REFUSED, self._why_refused(edit, fault))
        retry = [each for each, _ in sent if any(one not in outcomes for one in each.bindings)]
        return retry + later

    def _plan(
        self, verb: Verb, edit: Edit, found: Any, outcomes: dict[AclBinding, Outcome]
    ) -> tuple[list[AclBinding], list[Callable[[Any], None]], int] | None:
        """Return what would change, the operations for it and their size; None where nothing is to be sent."""
        path = edit.path
        if isinstance(found, NoAuthError):
            tell(outcomes, [edit], OutcomeKind.REFUSED, self._why_refused(edit, found))
            return None
        try:
            node = read_node(edit.pattern, found)
        except znodes.ZnodeError as error:
            sentence = (
                f"{error} It is not overwritten, because what would be lost is unknown; correct it first."
            )
            tell(outcomes, [edit], OutcomeKind.REFUSED, sentence)
            return None

        before = dict.fromkeys(node.bindings)
        changed = [one for one in edit.bindings if (one in before) is (verb is Verb.REMOVE)]
        word = "already there" if verb is Verb.ADD else "not there any more"
        evidence = {"path": path, "version": node.version}
        for binding in edit.bindings:
            if (binding in before) is (verb is Verb.ADD):
                already = Outcome(binding, OutcomeKind.ALREADY, f"It is {word}.", evidence=evidence)
                outcomes.setdefault(binding, already)
        if not changed:
            return None

        gone = set(changed) if verb is Verb.REMOVE else set()
        after = [one for one in node.bindings if one not in gone] + (changed if verb is Verb.ADD else [])
        data = znodes.encode(after)
        if set(znodes.decode(edit.pattern, data)) != set(after):
            sentence = f"The text for {path} would not read back as what was asked, so it was not written."
            tell(outcomes, [edit], OutcomeKind.REFUSED, sentence)
            return None
        if verb is Verb.ADD and len(data) > LARGEST_TRANSACTION - 4096:
            sentence = (
                f"The node {path} would be {len(data) // 1024} KB large, and ZooKeeper takes little more than "
                f"{LARGEST_TRANSACTION // 1024} KB at once; name fewer principals, "
                "or write ACLs on a prefix instead."
            )
            tell(outcomes, [edit], OutcomeKind.REFUSED, sentence)
            return None

        parent = path.rpartition("/")[0]
        change_root, change_data = znodes.change_node(edit.pattern)
        try:
            parent_acl, change_acl = self._acl_of(parent), self._acl_of(change_root)
        except NoNodeError:
            sentence = (
                f"ZooKeeper holds no node {parent} or no node {change_root}, which a broker makes when it starts; "
                f"this cluster's Kafka does not know such ACLs on {edit.pattern.resource_type.name}."
            )
            tell(outcomes, [edit], OutcomeKind.REFUSED, sentence)
            return None
        except (NoAuthError, InvalidACLError) as error:
            tell(outcomes, [edit], OutcomeKind.REFUSED, self._why_refused(edit, error))
            return None

        edit.evidence = {"path": path, "version_before": node.version, "rereads": edit.rereads}
        operations: list[Callable[[Any], None]] = []
        if node.version is None:
            # The permissions of its parent, or a node of Kafka's could be rewritten by anybody.
            operations.append(lambda sending: sending.create(path, data, acl=parent_acl))
        elif after or node.children:
            operations.append(lambda sending: sending.set_data(path, data, version=node.version))
        else:
            operations.append(lambda sending: sending.delete(path, version=node.version))
        change_path = f"{change_root}/{znodes.CHANGE_PREFIX}"
        operations.append(
            lambda sending: sending.create(change_path, change_data, acl=change_acl, sequence=True)
        )
        size = len(data) + len(change_data) + 2 * len(path.encode()) + 512
        return changed, operations, size

    def _acl_of(self, path: str) -> list[Any]:
        if path not in self._parents:
            self._parents[path] = list(self._get(self._kazoo.get_acls_async(path))[0])
        return self._parents[path]

    def _migration_refusal(self) -> str | None:
        if not shows_migration(self._fetch(["/migration"])["/migration"]):
            return None
        return (
            f"The cluster at {self._where} is migrating to KRaft or has done so (ZooKeeper holds /migration), and "
            "what is written to ZooKeeper now would be lost; connect aclweb to the brokers' Admin API instead."
        )

    def login(self) -> Login:
        """Return an empty one: the brokers do not know who reads ZooKeeper."""
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        may, sentence = self._may_write()
        answer = Answer.UNKNOWN if may is None else Answer.YES if may else Answer.NO
        return (Right("znode write", answer, sentence, is_needed=writes),)

    def _may_write(self) -> tuple[bool | None, str]:
        """Return whether the nodes' permissions let this login write, None where that is unknown, and why.

        Nothing is written: the permissions are read and compared with who this session is.
        """
        parents = [root for root, _ in _WRITTEN_BELOW] + [change for _, change in _WRITTEN_BELOW]
        try:
            with self._translated("its permissions"):
                if refusal := self._migration_refusal():
                    return False, refusal
                held = {
                    path: self._acl_of(path) for path in parents if self._get(self._kazoo.exists_async(path))
                }
        except NoAuthError:
            return None, "ZooKeeper does not show this login the permissions of the nodes."
        except ClusterError as error:
            return None, str(error)
        if not held:
            return (
                None,
                "No broker with AclAuthorizer has made its nodes yet, so there is nothing to write to.",
            )
        for path, permissions in held.items():
            if not any(self._is_me(one) for one in permissions if one.perms & _CREATE):
                others = ", ".join(
                    sorted({f"{one.id.scheme}:{one.id.id}" for one in permissions if one.perms & _CREATE})
                )
                if any(one.id.scheme not in TOLD_SCHEMES for one in permissions):
                    return (
                        None,
                        f"Whether this login may write {path} depends on what ZooKeeper knows of it ({others}).",
                    )
                return False, (
                    f"Only {others} may write below {path}, so that nothing can be written; log in as the user that "
                    "the brokers use (zookeeper.set.acl is on)."
                )
        return True, "The permissions of the nodes let this login write."

    def _is_me(self, permission: Any) -> bool:
        mine = {("world", "anyone")}
        if self._options.username:
            mine.add(("sasl", self._options.username))
        if self._options.certificate_pem and (subject := pem.subject_of(self._options.certificate_pem)):
            mine.add(("x509", subject))
        return (permission.id.scheme, permission.id.id) in mine

    # --- telling --------------------------------------------------------------------

    def _translated(self, what: str) -> _Translation:
        return _Translation(self, what)

    def _unreachable(self) -> ClusterError:
        return ClusterError(
            f"No ZooKeeper answers at {self._where} within {self._timeout:g} s; check the address, whether the "
            "servers run, and whether they expect TLS.",
            state=ClusterState.UNREACHABLE,
        )

    def _login_refused(self, options: ClientOptions) -> ClusterError:
        who = f" as {options.username!r}" if options.username else ""
        return ClusterError(
            f"ZooKeeper at {self._where} refused the login{who}; check sasl.username and sasl.password.",
            state=ClusterState.LOGIN_REFUSED,
        )

    def _lost(self, error: BaseException, *, sent: bool) -> str:
        if not sent:
            return f"Not sent: the connection to ZooKeeper at {self._where} was lost before ({type(error).__name__})."
        return (
            f"The connection to ZooKeeper at {self._where} was lost while writing ({type(error).__name__}); "
            f"reading back shows whether it was written."
        )

    def _why_refused(self, edit: Edit, fault: BaseException) -> str:
        if isinstance(fault, NoAuthError):
            return (
                f"ZooKeeper does not let this login write {edit.path}; log in as the user that the brokers use "
                "(zookeeper.set.acl is on)."
            )
        if isinstance(fault, _CONFLICTS):
            return (
                f"The node {edit.path} was changed by somebody else each of the {_REREADS + 1} times that it was "
                "about to be written; try again later."
            )
        if isinstance(fault, NotEmptyError):
            return f"The node {edit.path} has nodes below it and cannot be removed."
        return f"ZooKeeper refused to write {edit.path} ({type(fault).__name__})."

    def close(self) -> None:
        end(self._kazoo)
        self._drop_pem()

    def _drop_pem(self) -> None:
        if self._pem is not None:
            self._pem.close()
            self._pem = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Translation:
    """Turns what kazoo raises while something is read into ClusterError with a sentence."""

    def __init__(self, client: ZooKeeperClient, what: str) -> None:
        self.client, self.what = client, what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        where = self.client._where
        if isinstance(error, AuthFailedError):
            raise ClusterError(
                f"ZooKeeper at {where} refused the login; check sasl.username and sasl.password.",
                state=ClusterState.LOGIN_REFUSED,
            ) from error
        if isinstance(error, NoAuthError):
            raise ClusterError(
                f"ZooKeeper at {where} does not let this login read {self.what}; log in as the user that the "
                "brokers use, or give this one the right to read.",
                state=ClusterState.NOT_PERMITTED,
            ) from error
        if isinstance(error, NO_ANSWER):
            raise ClusterError(
                f"ZooKeeper at {where} stopped answering while {self.what} were read "
                f"({type(error).__name__}, {self.client._timeout:g} s to answer).",
                state=ClusterState.UNREACHABLE,
            ) from error
        if isinstance(error, KazooException):
            raise ClusterError(
                f"ZooKeeper at {where} gave no usable answer about {self.what} ({type(error).__name__}).",
                state=ClusterState.UNREADABLE,
            ) from error
