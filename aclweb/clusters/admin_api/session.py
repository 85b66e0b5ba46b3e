"""How are brokers reached and asked, and what is done where one of them hangs?

A session connects at the address that answers first, knows the brokers of the cluster, and asks the next one
where one does not answer. What the library hides is found out: a refused login, a wrong port and a broker that
is down all raise the same timeout, and the cause is only in the library's log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import kafka.errors as errors
from kafka import KafkaAdminClient

from aclweb.clusters.admin_api.address import split_address
from aclweb.clusters.admin_api.errors import login_refused, not_connected, not_understood, stopped
from aclweb.clusters.admin_api.kafka_python import ConnectFailures, TokenProvider, end, network
from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import (
    Endpoint,
    Probes,
    Ticket,
    Token,
    check_options,
    none_reachable,
    tls_context,
    tokens,
    why_no_endpoint,
    why_no_keytab,
    wrongly_advertised,
)
from aclweb.clusters.kind import Connection

LARGEST_ANSWER = 100_000_000
# Where there are other brokers, one that answers nothing for so long is asked whether it is there at all, and
# has as long again to answer that.
SILENT_SECONDS = 1.5
# Brokers that are there, and of which each may take its whole time for one question and not answer it. Where the first
# ones do not, it is not the brokers, and asking all of a large cluster would take minutes.
_MOST_WAITED_FOR = 2
# A broker passes writes on to its controller and waits for that one up to 30 s.
WRITE_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Node:
    """A broker of the cluster, by its number and the address that it advertises."""

    number: int
    address: str


class HungError(errors.KafkaTimeoutError):  # type: ignore[misc]
    """A broker that answers neither a request nor a probe."""


class Session:
    """One open connection to the brokers of a cluster.

    where: the brokers' addresses as messages name them. nodes: the brokers, the one to ask first before the others.
    """

    _there: tuple[Node, ...] | None = None  # of the nodes, those that answer; None before they were asked

    def __init__(self, connection: Connection) -> None:
        self.options = check_options(connection.kind, connection.options)
        self.address = connection.address
        self._servers = split_address(connection.address)
        self._connection = connection
        connection.require_allowed(self._servers)
        self.where = ", ".join(self._servers)
        self.timeout_seconds = connection.timeout_seconds
        self._probe_timeout = connection.probe_timeout
        self.write_timeout_seconds = self.options.request_timeout_seconds or max(
            WRITE_TIMEOUT_SECONDS, self.timeout_seconds
        )
        self._context = tls_context(self.options) if self.options.uses_tls else None
        self.nodes: tuple[Node, ...] = ()
        first = self._first_broker()
        self.token = self._token()
        self._ticket = self._kerberos_ticket(first)
        self._kafka = self._open(first)
        try:
            self.nodes = self._nodes_from(first)
        except BaseException:
            self.close()
            raise

    def _first_broker(self) -> str:
        """Return the address at which a broker answers first; raises ClusterError saying what is there instead."""
        with closing(Probes(self._servers, self._context, self._probe_timeout)) as probes:
            first = probes.first()
            if first is None:
                raise none_reachable(
                    probes.all(),
                    self.options,
                    wanted=Endpoint.BROKER,
                    waited_seconds=self._probe_timeout,
                    sync_waits_seconds=self.timeout_seconds,
                )
        return first

    def _token(self) -> Token | None:
        """Return the token to log in with, None where the login takes none; raises ClusterError without one."""
        asked = self.options.credentials
        if asked is None:
            return None
        if refused := why_no_endpoint(asked.endpoint, self._connection.token_endpoints):
            raise ClusterError(refused, state=ClusterState.LOGIN_REFUSED)
        return tokens.get(asked, self.timeout_seconds)

    def _kerberos_ticket(self, first: str) -> Ticket | None:
        """Return the Kerberos ticket to log in with, None where the login takes none; raises ClusterError without one.

        The KDC is asked here for what the first broker needs, so that the library finds it at hand.
        """
        asked = self.options.kerberos
        if asked is None:
            return None
        if refused := why_no_keytab(asked.keytab, self._connection.keytabs):
            raise ClusterError(refused, state=ClusterState.LOGIN_REFUSED)
        ticket = Ticket(asked)
        ticket.first_step(first.rpartition(":")[0])
        return ticket

    def _nodes_from(self, first: str) -> tuple[Node, ...]:
        """Return the brokers of the cluster, that which answered first before the others.

        Where they go by other addresses than the connection's, whoever answers at those first comes first.
        Raises ClusterError where none of those can be reached.
        """
        nodes = tuple(
            Node(broker.node_id, f"{broker.host}:{broker.port}")
            for broker in self._kafka._manager.cluster.brokers()
        )
        self._connection.require_allowed(node.address for node in nodes)
        if first not in {node.address for node in nodes}:
            addresses = [node.address for node in nodes]
            with closing(Probes(addresses, self._context, self._probe_timeout)) as probes:
                reached = probes.first()
                if reached is None:
                    raise wrongly_advertised(probes.all(), self.where)
            first = reached
        return tuple(sorted(nodes, key=lambda node: node.address != first))

    def _open(self, first: str) -> KafkaAdminClient:
        options = self.options
        settings: dict[str, object] = {
            "bootstrap_servers": [first],
            "client_id": options.client_id,
            "security_protocol": options.protocol,
            "bootstrap_timeout_ms": int(self.timeout_seconds * 1000),
            "request_timeout_ms": int(self.timeout_seconds * 1000),
            "receive_message_max_bytes": LARGEST_ANSWER,
            "kafka_client": partial(network, within=self._connection.within),
        }
        if options.credentials is not None:
            settings["sasl_mechanism"] = options.mechanism
            settings["sasl_oauth_token_provider"] = TokenProvider(
                partial(tokens.get, options.credentials, self.timeout_seconds)
            )
        elif self._ticket is not None:
            settings["sasl_mechanism"] = options.mechanism
            settings["sasl_kerberos_name"] = self._ticket
        elif options.uses_sasl:
            settings["sasl_mechanism"] = options.mechanism
            settings["sasl_plain_username"] = options.username
            settings["sasl_plain_password"] = options.password
        if self._context is not None:
            settings["ssl_context"] = self._context

        # The constructor connects. Made in two steps, so that a client that got no
        # connection can still be ended, and stopped when there is no hope.
        client = KafkaAdminClient.__new__(KafkaAdminClient)
        with ConnectFailures(client) as failures:
            try:
                client.__init__(**settings)
            except Exception as error:
                end(client)
                raise not_connected(failures, error, self.where, options, self.timeout_seconds) from error
        return client

    def answering(self) -> tuple[Node, ...]:
        """Return the brokers that answer. Those that hang are found out all at once, and once in a session."""
        if self._there is None:
            if len(self.nodes) == 1:
                self._there = self.nodes
            else:
                addresses = [node.address for node in self.nodes]
                with closing(Probes(addresses, self._context, 2 * SILENT_SECONDS)) as probes:
                    found = probes.all()
                self._there = tuple(
                    node for node in self.nodes if found[node.address].endpoint is Endpoint.BROKER
                )
        return self._there

    def library_version(self) -> str | None:
        """Return the version that the library takes the brokers for, such as `4.3`; it knows no later one."""
        version = self._kafka._manager.broker_version
        return ".".join(str(part) for part in version[:2]) if version else None

    def offers(self, request: Any) -> bool:
        """Whether the brokers know this kind of request, in a version that is known here too."""
        offered = self._kafka._manager.broker_version_data
        try:
            offered.api_version(request)
        except errors.IncompatibleBrokerVersion:
            return False
        return True

    def ask(self, make: Callable[[], Any], what: str, *, node: Node | None = None) -> Any:
        """Return the answer to a request, which any broker may give unless one is named.

        make: makes the request anew for each try. what: what is asked for, as in "asked for its ACLs".
        Asked again, and of the next broker, where the connection is not up or the broker hangs.
        """
        deadline = time.monotonic() + self.timeout_seconds
        asked: tuple[Node | None, ...] = (node,) if node else self.nodes or (None,)
        waited_for = 0
        while True:
            for one in asked:
                try:
                    answer = self._try(make, what, one)
                except errors.RetriableError as error:
                    failure, silent = error, one
                    waited_for += isinstance(error, errors.KafkaTimeoutError) and not isinstance(
                        error, HungError
                    )
                    if waited_for == _MOST_WAITED_FOR:
                        raise stopped(what, error, self._named(one)) from error
                else:
                    if one is not None and node is None:
                        self._prefer(one)
                    return answer
            if time.monotonic() >= deadline or (node is not None and isinstance(failure, HungError)):
                raise stopped(what, failure, self._named(silent)) from failure
            time.sleep(0.1)

    def _try(self, make: Callable[[], Any], what: str, node: Node | None) -> Any:
        """Return the answer; raises RetriableError where trying again may help, else ClusterError."""
        try:
            return self.send(make(), self.timeout_seconds, node.number if node else None)
        except ClusterError:
            raise  # the library connects anew, and there is no token or ticket to log in with
        except (errors.SaslAuthenticationFailedError, errors.UnsupportedSaslMechanismError) as error:
            raise login_refused(self.where, self.options) from error
        except errors.KafkaProtocolError as error:
            raise not_understood(what, self.where) from error
        except errors.RetriableError:
            raise
        except errors.KafkaError as error:
            raise stopped(what, error, self._named(node)) from error
        except Exception as error:
            raise not_understood(what, self.where) from error

    @property
    def asked_last(self) -> int | None:
        """The number of the broker that has answered last where any may; None where none is known."""
        return self.nodes[0].number if self.nodes else None

    def prefer(self, number: object) -> None:
        """Ask the broker of this number first from now on, if it is there and answers."""
        found = next((node for node in self.answering() if node.number == number), None)
        if found is not None:
            self._prefer(found)

    def _prefer(self, node: Node) -> None:
        """Ask this broker first from now on."""
        if node is not self.nodes[0]:
            self.nodes = (node, *(other for other in self.nodes if other is not node))

    def _named(self, node: Node | None) -> str:
        return f"The Kafka broker at {node.address}" if node else f"The Kafka brokers at {self.where}"

    def send(self, request: Any, timeout_seconds: float, node_id: int | None = None) -> Any:
        """Return one broker's answer to one request.

        Raises HungError early where the broker answers nothing at all and there are others.
        """
        manager = self._kafka._manager
        node = next((one for one in self.nodes if one.number == node_id), None)
        if node_id is None and self.nodes:
            node_id = self.nodes[0].number  # a write waits for its answer, however long it takes

        async def answered() -> Any:
            sent = manager.send(request, node_id, timeout_seconds * 1000)
            return await manager.wait_for(sent, timeout_seconds * 1000)

        done = threading.Event()
        answer = manager.call_soon(answered)
        answer.add_callback(lambda _value: done.set())
        answer.add_errback(lambda _error: done.set())
        deadline = time.monotonic() + timeout_seconds + 1.0
        while not done.wait(min(SILENT_SECONDS, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise errors.KafkaTimeoutError("no answer")
            if node is not None and len(self.nodes) > 1 and not self._is_there(node):
                manager.call_soon(manager.close, node.number)
                raise HungError(node.address)
        if answer.exception is not None:
            raise answer.exception
        return answer.value

    def _is_there(self, node: Node) -> bool:
        with closing(Probes([node.address], self._context, SILENT_SECONDS)) as probes:
            return probes.first() is not None

    def close(self) -> None:
        end(self._kafka)
