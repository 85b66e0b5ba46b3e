"""What answers at each address of a cluster, before anybody logs in?

All addresses are probed at once, so that one that hangs delays none of the others. Each way in which an
address is not a broker's has an `Endpoint` of its own; a client library only says that it got no connection.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import queue
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

_Socket = TypeVar("_Socket", bound=socket.socket)
_API_VERSIONS, _METADATA = 18, 3
_CORRELATION = 0x61636C77
_CLIENT = b"aclweb"
# A broker that hangs and a web server that waits for a line both stay silent; only one of them answers this.
_SILENT_SECONDS = 1.0
_HANDSHAKE_SECONDS = 2.0
_HTTP = b"GET / HTTP/1.0\r\n\r\n"
_TLS_RECORDS = (0x14, 0x15, 0x16)


def _api_versions_request() -> bytes:
    body = struct.pack(">hhih", _API_VERSIONS, 0, _CORRELATION, len(_CLIENT)) + _CLIENT
    return struct.pack(">i", len(body)) + body


_API_VERSIONS_REQUEST = _api_versions_request()


class Endpoint(enum.Enum):
    """What is at an address, the most telling first."""

    BROKER = enum.auto()
    ZOOKEEPER = enum.auto()
    UNTRUSTED = enum.auto()  # its certificate is not to be trusted
    REFUSES_CERTIFICATE = enum.auto()  # it wants another client certificate, or one at all
    WANTS_TLS = enum.auto()
    SOME_TLS = enum.auto()  # it wants TLS, and what it is shows only with a certificate
    NO_TLS = enum.auto()
    NO_COMMON_TLS = enum.auto()  # versions or ciphers
    CONTROLLER = enum.auto()
    HTTP = enum.auto()
    OTHER = enum.auto()  # it answers, and not as was expected
    NOT_SERVING = enum.auto()  # a ZooKeeper that has lost the others
    HANGS_UP = enum.auto()
    SILENT = enum.auto()  # takes connections and says nothing
    NO_ANSWER = enum.auto()  # takes no connection, in time or at all
    CLOSED = enum.auto()  # the port is closed
    UNKNOWN_NAME = enum.auto()


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe found at `address`; `detail` is the TLS library's or system's own word for it."""

    address: str
    endpoint: Endpoint
    detail: str = ""


@dataclass
class Probes:
    """Probes all addresses at once; `close` ends the probes that still wait."""

    addresses: Sequence[str]
    context: ssl.SSLContext | None
    timeout_seconds: float
    wanted: Endpoint = Endpoint.BROKER  # or ZOOKEEPER
    found: dict[str, ProbeResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._answers: queue.Queue[ProbeResult] = queue.Queue()
        self._sockets = _Sockets()
        self._deadline = time.monotonic() + self.timeout_seconds
        for address in dict.fromkeys(self.addresses):
            threading.Thread(target=self._probe, args=(address,), daemon=True, name="probe").start()

    def _probe(self, address: str) -> None:
        try:
            probe = _ZooKeeperProbe if self.wanted is Endpoint.ZOOKEEPER else _Probe
            found = probe(address, self.context, self._deadline, self._sockets).find()
        except Exception as error:  # whatever it is, somebody waits for the answer
            found = ProbeResult(address, Endpoint.NO_ANSWER, type(error).__name__)
        self._answers.put(found)

    def first(self) -> str | None:
        """Return the address of what was wanted that answered first, None where none does in time."""
        while len(self.found) < len(set(self.addresses)):
            result = self._next()
            if result is None:
                break
            if result.endpoint is self.wanted:
                return result.address
        return next((each.address for each in self.found.values() if each.endpoint is self.wanted), None)

    def all(self) -> dict[str, ProbeResult]:
        """Return what was found at each address, silent ones when the time is over."""
        while len(self.found) < len(set(self.addresses)) and self._next() is not None:
            pass
        for address in self.addresses:
            self.found.setdefault(address, ProbeResult(address, Endpoint.SILENT))
        return self.found

    def _next(self) -> ProbeResult | None:
        # A little longer than the probes themselves, which say what they waited for.
        left = self._deadline + 0.5 - time.monotonic()
        try:
            result = self._answers.get(timeout=max(0.0, left))
        except queue.Empty:
            return None
        self.found[result.address] = result
        return result

    def close(self) -> None:
        self._sockets.close()


class _Sockets:
    """The open sockets of some probes, so that whoever ends it can wake those who wait on them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.closed = False

    def add(self, one: socket.socket) -> None:
        with self._lock:
            self._open.add(one)

    def discard(self, one: socket.socket) -> None:
        with self._lock:
            self._open.discard(one)

    def close(self) -> None:
        with self._lock:
            self.closed = True
            for one in self._open:
                with contextlib.suppress(OSError):
                    # Of the plain socket: ending TLS would wait for the other side.
                    socket.socket.shutdown(one, socket.SHUT_RDWR)


class _Probe:
    """One probe of an address where a broker is expected."""

    request = _API_VERSIONS_REQUEST
    answers_begin_with_their_length = True
    _has_shaken_hands = False

    def __init__(
        self, address: str, context: ssl.SSLContext | None, deadline: float, sockets: _Sockets
    ) -> None:
        self.address, self.context, self.deadline, self.sockets = address, context, deadline, sockets
        host, _, port = address.rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)

    def find(self) -> ProbeResult:
        try:
            socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return self._found(Endpoint.UNKNOWN_NAME)
        try:
            with self._connected() as plain:
                return self._probed(plain)
        except TimeoutError:
            return self._found(Endpoint.NO_ANSWER)
        except ConnectionRefusedError:
            return self._found(Endpoint.CLOSED)
        except OSError as error:
            return self._found(Endpoint.NO_ANSWER, errno.errorcode.get(error.errno or 0, ""))

    def _probed(self, plain: socket.socket) -> ProbeResult:
        try:
            if self.context is None:
                return self._asked(plain)
            with self._tracked(
                self.context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)
            ) as secure:
                return self._shake_hands(secure) or self._asked(secure)
        except ssl.SSLCertVerificationError as error:
            return self._found(Endpoint.UNTRUSTED, error.verify_message or "")
        except ssl.SSLError as error:
            return self._tls_failed(error)
        except TimeoutError:
            return self._found(Endpoint.SILENT)
        except OSError:
            return self._hung_up()

    def _shake_hands(self, secure: ssl.SSLSocket) -> ProbeResult | None:
        """Set up TLS; return what it is that stays silent instead of doing so."""
        secure.settimeout(min(_SILENT_SECONDS, self._left()))
        try:
            secure.do_handshake()
        except TimeoutError:
            if (other := self._speaks_http()) is not None:
                return other
            secure.settimeout(self._left())
            secure.do_handshake()
        self._has_shaken_hands = True
        return None

    def _asked(self, opened: socket.socket) -> ProbeResult:
        opened.settimeout(min(_SILENT_SECONDS, self._left()))
        opened.sendall(self.request)
        try:
            first = opened.recv(4096)
        except TimeoutError:
            other = self._speaks_http() or (self._speaks_tls() if self.context is None else None)
            if other is not None:
                return other
            opened.settimeout(self._left())
            first = opened.recv(4096)
        while first and self._is_part(first):
            more = opened.recv(65536)
            if not more:
                break
            first += more
        return self._recognised(first)

    def _is_part(self, answer: bytes) -> bool:
        return (
            self.answers_begin_with_their_length
            and _is_kafka(answer)
            and len(answer) < 4 + int.from_bytes(answer[:4])
        )

    def _recognised(self, answer: bytes) -> ProbeResult:
        if not answer:
            return self._hung_up()
        if answer.startswith(b"HTTP/"):
            return self._found(Endpoint.HTTP)
        if self.context is None and answer[0] in _TLS_RECORDS and answer[1:2] == b"\x03":
            return self._wants_tls()
        return self._found(self._recognised_as(answer))

    def _recognised_as(self, answer: bytes) -> Endpoint:
        if not _is_kafka(answer):
            return Endpoint.OTHER
        return Endpoint.BROKER if _METADATA in _keys(answer) else Endpoint.CONTROLLER

    def _tls_failed(self, error: ssl.SSLError) -> ProbeResult:
        reason = error.reason or ""
        if "ALERT" in reason:
            if any(word in reason for word in ("HANDSHAKE_FAILURE", "PROTOCOL_VERSION", "INSUFFICIENT")):
                return self._found(Endpoint.NO_COMMON_TLS, _alert(reason))
            return self._found(Endpoint.REFUSES_CERTIFICATE, _alert(reason))
        if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return self._hung_up()
        if "UNSUPPORTED_PROTOCOL" in reason or "NO_SHARED_CIPHER" in reason:
            return self._found(Endpoint.NO_COMMON_TLS, _alert(reason))
        other = self._speaks_http()
        return other or self._found(Endpoint.NO_TLS, _alert(reason))

    def _hung_up(self) -> ProbeResult:
        """Say what it is that takes a connection and ends it after our first words."""
        if self.sockets.closed:
            return self._found(Endpoint.NO_ANSWER)
        if self._has_shaken_hands:
            return self._speaks_kafka() or self._found(Endpoint.HANGS_UP)
        if self.context is not None:
            return self._speaks_http() or self._found(Endpoint.NO_TLS)
        return (
            self._speaks_tls()
            or self._speaks_http()
            or self._speaks_kafka()
            or self._found(Endpoint.HANGS_UP)
        )

    def _speaks_kafka(self) -> ProbeResult | None:
        """Return what answers Kafka's question, for those who asked another one."""
        return None

    def _wants_tls(self) -> ProbeResult:
        return self._found(Endpoint.WANTS_TLS)

    def _speaks_tls(self) -> ProbeResult | None:
        try:
            with self._over_tls(_trusting_context()) as secure:
                secure.do_handshake()
        except ssl.SSLError as error:
            return self._wants_tls() if "ALERT" in (error.reason or "") else None
        except OSError:
            return None
        return self._wants_tls()

    @contextlib.contextmanager
    def _over_tls(self, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
        """Yield a new connection that has not yet shaken hands."""
        with (
            self._connected() as plain,
            self._tracked(
                context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)
            ) as secure,
        ):
            secure.settimeout(min(_HANDSHAKE_SECONDS, self._left()))
            yield secure

    def _speaks_http(self) -> ProbeResult | None:
        try:
            with self._connected() as plain:
                plain.settimeout(min(_SILENT_SECONDS, self._left()))
                plain.sendall(_HTTP)
                return self._found(Endpoint.HTTP) if plain.recv(5) == b"HTTP/" else None
        except OSError:
            return None

    @contextlib.contextmanager
    def _tracked(self, one: _Socket) -> Iterator[_Socket]:
        self.sockets.add(one)
        try:
            with one:
                yield one
        finally:
            self.sockets.discard(one)

    def _connected(self) -> AbstractContextManager[socket.socket]:
        opened = socket.create_connection((self.host, self.port), timeout=self._left())
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._tracked(opened)

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _found(self, endpoint: Endpoint, detail: str = "") -> ProbeResult:
        return ProbeResult(self.address, endpoint, detail)


class _ZooKeeperProbe(_Probe):
    """One probe of an address where a ZooKeeper is expected."""

    # It answers this whether or not it lets anybody ask.
    request = b"srvr"
    answers_begin_with_their_length = False

    def _recognised_as(self, answer: bytes) -> Endpoint:
        if b"not currently serving" in answer:
            return Endpoint.NOT_SERVING
        if answer.startswith(b"Zookeeper version") or b"whitelist" in answer:
            return Endpoint.ZOOKEEPER
        return Endpoint.OTHER

    def _speaks_kafka(self) -> ProbeResult | None:
        if self.context is not None:
            return (
                self._found(Endpoint.BROKER)
                if _is_kafka(self._answer_over_tls(_API_VERSIONS_REQUEST))
                else None
            )
        try:
            with self._connected() as plain:
                plain.settimeout(min(_SILENT_SECONDS, self._left()))
                plain.sendall(_API_VERSIONS_REQUEST)
                return self._found(Endpoint.BROKER) if _is_kafka(plain.recv(4096)) else None
        except OSError:
            return None

    def _wants_tls(self) -> ProbeResult:
        """Say who it is that wants TLS, where it talks to those who have no certificate."""
        if _is_kafka(self._answer_over_tls(_API_VERSIONS_REQUEST)):
            return self._found(Endpoint.BROKER)
        answer = self._answer_over_tls(self.request)
        is_zookeeper = self._recognised_as(answer) in (Endpoint.ZOOKEEPER, Endpoint.NOT_SERVING)
        return self._found(Endpoint.WANTS_TLS if is_zookeeper else Endpoint.SOME_TLS)

    def _answer_over_tls(self, words: bytes) -> bytes:
        """Return the first bytes of what is answered over TLS, empty where nothing is."""
        try:
            with self._over_tls(self.context or _trusting_context()) as secure:
                secure.settimeout(min(_SILENT_SECONDS, self._left()))
                secure.do_handshake()
                secure.sendall(words)
                return secure.recv(4096)
        except OSError:
            return b""


def _trusting_context() -> ssl.SSLContext:
    """Return a context that trusts everybody, to learn who is there; nothing secret is sent over it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _is_kafka(answer: bytes) -> bool:
    """Whether these are the first bytes of an answer to our question."""
    return bool(answer) and (len(answer) < 8 or struct.unpack_from(">i", answer, 4)[0] == _CORRELATION)


def _keys(answer: bytes) -> set[int]:
    """Return the requests that the answer offers; empty where it is none."""
    try:
        code, count = struct.unpack_from(">hi", answer, 8)
        if code or not 0 <= count < 1000:
            return set()
        return {struct.unpack_from(">h", answer, 14 + 6 * place)[0] for place in range(count)}
    except struct.error:
        return set()


def _alert(reason: str) -> str:
    """Return a TLS library's `SSLV3_ALERT_BAD_CERTIFICATE` as words."""
    return reason.rpartition("ALERT_")[2].replace("_", " ").lower()
