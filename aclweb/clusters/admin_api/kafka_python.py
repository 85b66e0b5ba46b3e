"""How is the library kafka-python used here: without its log, and so that each wait ends?

The only module that changes how the library behaves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import kafka.errors as errors
import kafka.net.sasl as library_sasl
from kafka import KafkaAdminClient
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.net.selector import NetworkSelector

from aclweb.clusters.admin_api.messages import (
    ILLEGAL_SASL_STATE,
    SASL_AUTHENTICATION_FAILED,
    UNSUPPORTED_SASL_MECHANISM,
)
from aclweb.clusters.allowed_hosts import AllowedHosts
from aclweb.clusters.client import ClusterError
from aclweb.clusters.connection import Ticket, Token

_library_log = logging.getLogger("kafka.net.manager")
_discard = logging.NullHandler()
_HOPELESS = (SASL_AUTHENTICATION_FAILED, ILLEGAL_SASL_STATE, UNSUPPORTED_SASL_MECHANISM)
# A broker that is just starting may hang up once or twice; one that goes on means it.
_REBUFFS_BELIEVED = 3


class ConnectFailures(logging.Handler):
    """Collects why one client's attempts to connect fail, which is only in the library's log."""

    def __init__(self, client: KafkaAdminClient) -> None:
        super().__init__(logging.WARNING)
        self.client = client
        self.causes: list[BaseException] = []
        self.metadata_refused = False
        self.rebuffs = 0

    def emit(self, record: logging.LogRecord) -> None:
        network = getattr(self.client, "_net", None)
        thread = getattr(network, "_io_thread", None)
        # Other clients of this process log here too, each from a thread of its own.
        if thread is None or record.thread != thread.ident:
            return
        causes = [one for one in (record.args or ()) if isinstance(one, BaseException)]
        self.causes += causes
        if record.getMessage().startswith("Bootstrap attempt"):
            self.metadata_refused = True  # connected, and then not shown the brokers
            self.rebuffs += 1
        self.rebuffs += sum("Handshake failed" in str(cause) for cause in causes)
        refused = any(getattr(cause, "errno", None) in _HOPELESS for cause in causes)
        if refused or self.rebuffs >= _REBUFFS_BELIEVED:
            # Trying again would only take long, or lock the account. The library's loop ends
            # when its manager is closed.
            self.client._manager.closed = True

    def __enter__(self) -> Self:
        _hush_library()
        _library_log.addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _library_log.removeHandler(self)


def _hush_library() -> None:
    """Let the library's log be heard here, and not be read by people.

    A ClusterError says once, in one sentence, what the library says at each attempt to connect. At DEBUG the
    library writes its settings, passwords among them. Done at every connection, because configuring the
    logging of a process undoes it.
    """
    library = logging.getLogger("kafka")
    library.setLevel(max(logging.WARNING, library.level))
    for name in ("kafka.net.connection", "kafka.net.transport", "kafka.net.sasl", "kafka.cluster"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _library_log.setLevel(logging.WARNING)
    _library_log.disabled = False
    _library_log.propagate = False
    _library_log.addHandler(_discard)


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """Gives the library the token of now each time that it logs in."""

    def __init__(self, get: Callable[[], Token]) -> None:
        super().__init__()
        self._get = get

    def token(self) -> str:
        return self._get().text


class _Kerberos(SaslMechanismGSSAPI):  # type: ignore[misc]
    """The library's login by Kerberos, with the ticket of this connection and not that of the process."""

    def __init__(self, **config: Any) -> None:
        # Not that of the library: it would take whatever ticket the process has.
        ticket: Ticket = config["sasl_kerberos_name"]
        self._is_done = self._is_authenticated = False
        self.auth_id = f"{ticket.service}@{config['host']}"
        self._client_ctx, self._next_token = ticket.first_step(config["host"])


library_sasl.register_sasl_mechanism("GSSAPI", _Kerberos, overwrite=True)


class _Manager(KafkaConnectionManager):  # type: ignore[misc]
    """The library's connections, which here hear out a broker that hangs up right after its last word.

    The library drops what arrives together with the end of a connection. That is how
    brokers report a refused login. within: the only hosts to connect to, whatever brokers advertise; None for any.
    """

    within: AllowedHosts | None = None

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        if self.within is not None:
            try:
                self.within.require(node.host, node.port)
            except ClusterError as error:
                raise errors.KafkaConnectionError(str(error)) from error
        transport = await super()._build_transport(node, timeout_at=timeout_at)
        receive = transport._sock_recv

        def hear_out() -> tuple[bytes, Exception | None]:
            data, error = receive()
            # The end of the connection shows again at the next look.
            return data, None if data else error

        transport._sock_recv = hear_out
        return transport


def network(within: AllowedHosts | None = None, **configs: Any) -> KafkaNetClient:
    """Return the library's network, which connects only to hosts within these; None for any."""
    network = NetworkSelector(**configs)
    # Setting up a connection has a timeout of its own, which the admin client does not offer to set.
    timeouts = {
        "socket_connection_setup_timeout_ms": min(10_000, configs["request_timeout_ms"]),
        "socket_connection_setup_timeout_max_ms": configs["request_timeout_ms"],
    }
    manager = _Manager(network, **configs, **timeouts)
    manager.within = within
    return KafkaNetClient(net=network, manager=manager)


def end(client: KafkaAdminClient) -> None:
    """End a client, also one whose constructor failed half-way and which cannot end itself."""
    network = getattr(client, "_net", None)
    if getattr(client, "_closed", True) is False:
        client.close()
    elif network is not None:
        manager = client._manager
        manager.closed = False
        manager.close()
        client._metrics.close()
    if network is not None:
        network.close()
