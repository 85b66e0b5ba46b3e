"""How is ZooKeeper reached, logged in to, and asked for many nodes at once?"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, NoNodeError, UnimplementedError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import KeeperState

from aclweb.clusters.allowed_hosts import AllowedHosts
from aclweb.clusters.client import ClusterError
from aclweb.clusters.connection import (
    Endpoint,
    PemFiles,
    Probes,
    check_options,
    none_reachable,
    tls_context,
)
from aclweb.clusters.kind import Connection
from aclweb.clusters.zookeeper import multi_read
from aclweb.clusters.zookeeper.address import split_address
from aclweb.clusters.zookeeper.errors import as_cluster_errors, login_refused, unreachable

# kazoo reports every lost connection on its own; ClusterError says what matters.
_quiet = logging.getLogger("aclweb.clusters.kazoo")
_quiet.setLevel(logging.CRITICAL)
_PIPELINE = 1000  # requests on the wire at once
_MANY = 16  # from so many nodes on several are read in one request
_BATCHES = 8  # of those requests on the wire at once
# Servers that are too old for that, as messages name them.
_no_multi_read: set[str] = set()


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]
    """kazoo's threads, which here connect only where that is allowed, also when a session connects again."""

    def __init__(self, within: AllowedHosts | None) -> None:
        super().__init__()
        self._within = within

    def create_connection(self, *args: Any, **options: Any) -> Any:
        if self._within is not None:
            try:
                self._within.require_address(options["hostname"], str(options["address"][0]))
            except ClusterError as error:
                raise OSError(str(error)) from error
        return super().create_connection(*args, **options)


class Session:
    """One open session with the ZooKeeper of a cluster. where: servers and chroot as messages name them."""

    def __init__(self, connection: Connection) -> None:
        self.options = check_options(connection.kind, connection.options)
        servers, self.chroot = split_address(connection.address)
        connection.require_allowed(servers.split(","))
        self.where = f"{servers}{self.chroot}"
        self.timeout_seconds = connection.timeout_seconds
        self._within = connection.within
        self._probe_timeout = connection.probe_timeout
        self._permissions: dict[str, list[Any]] = {}
        self._pem = PemFiles(self.options) if self.options.uses_tls else None
        try:
            self._servers = self._reachable(servers.split(","))
            self.kazoo = self._open(self._servers)
        except BaseException:
            self._remove_pem_files()
            raise

    def _reachable(self, servers: list[str]) -> str:
        """Return the servers, that which answered first before the others; raises ClusterError where none is one."""
        context = tls_context(self.options) if self.options.uses_tls else None
        with closing(Probes(servers, context, self._probe_timeout, Endpoint.ZOOKEEPER)) as probes:
            first = probes.first()
            if first is None:
                raise none_reachable(
                    probes.all(),
                    self.options,
                    wanted=Endpoint.ZOOKEEPER,
                    waited_seconds=self._probe_timeout,
                    sync_waits_seconds=self.timeout_seconds,
                )
        return ",".join(sorted(servers, key=lambda server: server != first))

    def _open(self, servers: str) -> KazooClient:
        options = self.options
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
            hosts=servers + self.chroot,
            timeout=max(4.0, min(self.timeout_seconds, 30.0)),
            sasl_options=sasl,
            randomize_hosts=False,
            logger=_quiet,
            handler=_Handler(self._within),
            **tls,
        )
        try:
            started = kazoo.start_async()
            deadline = time.monotonic() + self.timeout_seconds
            while not started.wait(0.05) and time.monotonic() < deadline:
                if kazoo.client_state == KeeperState.AUTH_FAILED:
                    break
            # A session counts as connected before its login is through; the first answer comes after it.
            kazoo.exists_async("/").get(timeout=max(0.1, deadline - time.monotonic()))
        except AuthFailedError as error:
            end(kazoo)
            raise login_refused(self.where, options) from error
        except Exception as error:
            end(kazoo)
            raise unreachable(self.where, self.timeout_seconds) from error
        return kazoo

    def reading(self, what: str) -> AbstractContextManager[None]:
        """Return a context in which what kazoo raises becomes a ClusterError. what: such as `its ACLs`."""
        return as_cluster_errors(what, self.where, self.timeout_seconds)

    def children(self, path: str) -> list[str] | None:
        """Return the names below a node, None where the node is not there."""
        try:
            return list(self.get(self.kazoo.get_children_async(path)))
        except NoNodeError:
            return None

    def fetch(self, paths: Iterable[str], *, tolerate: tuple[type[Exception], ...] = ()) -> dict[str, Any]:
        """Return (data, stat) by path, None where there is no node, the error where it is to be tolerated."""
        wanted = list(paths)
        if len(wanted) >= _MANY and self.where not in _no_multi_read:
            try:
                return self._fetch_many(wanted, tolerate)
            except UnimplementedError:
                # An older server, which has ended the session with that.
                _no_multi_read.add(self.where)
                end(self.kazoo)
                self.kazoo = self._open(self._servers)
                # Another server may answer now, and lag behind what this session has seen.
                self.get(self.kazoo.sync_async("/"))
        return self._fetch_each(wanted, tolerate)

    def _fetch_many(self, wanted: Sequence[str], tolerate: tuple[type[Exception], ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        waiting: deque[tuple[Sequence[str], Any]] = deque()
        for some in multi_read.batches(wanted):
            waiting.append((some, multi_read.ask(self.kazoo, some)))
            # The first one shows whether the server knows the request.
            if len(waiting) == (_BATCHES if found else 1):
                self._take(waiting, found, tolerate)
        while waiting:
            self._take(waiting, found, tolerate)
        return found

    def _take(
        self,
        waiting: deque[tuple[Sequence[str], Any]],
        found: dict[str, Any],
        tolerate: tuple[type[Exception], ...],
    ) -> None:
        """Wait for the oldest answer."""
        paths, answer = waiting.popleft()
        for path, one in zip(paths, self.get(answer), strict=True):
            found[path] = multi_read.settled(one, tolerate)

    def _fetch_each(self, wanted: Sequence[str], tolerate: tuple[type[Exception], ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), _PIPELINE):
            window = wanted[start : start + _PIPELINE]
            asked = [(path, self.kazoo.get_async(path)) for path in window]
            for path, answer in asked:
                try:
                    found[path] = self.get(answer)
                except NoNodeError:
                    found[path] = None
                except tolerate as error:
                    found[path] = error
        return found

    def get(self, answer: Any) -> Any:
        return answer.get(timeout=self.timeout_seconds)

    def permissions_of(self, path: str) -> list[Any]:
        """Return who may do what with a node, as it was when this session first asked."""
        if path not in self._permissions:
            self._permissions[path] = list(self.get(self.kazoo.get_acls_async(path))[0])
        return self._permissions[path]

    def close(self) -> None:
        end(self.kazoo)
        self._remove_pem_files()

    def _remove_pem_files(self) -> None:
        if self._pem is not None:
            self._pem.close()
            self._pem = None


def end(kazoo: KazooClient) -> None:
    kazoo.stop()
    kazoo.close()
