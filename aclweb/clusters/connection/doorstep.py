"""What answers at each address of a cluster, before anybody logs in?

All addresses are tried at once, so that one that hangs holds up nobody, and each way in which
an address is no broker's has a word of its own. A client library only says that it
got no connection.
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
_HTTP = b"GET / HTTP/1.0\r\n\r\n"
_TLS_RECORDS = (0x14, 0x15, 0x16)


def _question() -> bytes:
    body = struct.pack(">hhih", _API_VERSIONS, 0, _CORRELATION, len(_CLIENT)) + _CLIENT
    return struct.pack(">i", len(body)) + body


_QUESTION = _question()


class Door(enum.Enum):
    """What stands at an address, the most telling first."""

    BROKER = enum.auto()
    KEEPER = enum.auto()
    UNTRUSTED = enum.auto()  # its certificate is not to be trusted
    REFUSES_CERTIFICATE = enum.auto()  # it wants another client certificate, or one at all
    WANTS_TLS = enum.auto()
    SOME_TLS = enum.auto()  # it wants TLS, and what it is cannot be told without a certificate
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
class Finding:
    """What was found at `address`; `detail` is the TLS library's or system's own word for it."""

    address: str
    door: Door
    detail: str = ""


@dataclass
class Survey:
    """Knocks at all addresses at once; `close` ends the knocks that still wait."""

    addresses: Sequence[str]
    context: ssl.SSLContext | None
    patience_seconds: float
    wanted: Door = Door.BROKER  # or KEEPER
    found: dict[str, Finding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._answers: queue.Queue[Finding] = queue.Queue()
        self._sockets = _Sockets()
        self._deadline = time.monotonic() + self.patience_seconds
        for address in dict.fromkeys(self.addresses):
            threading.Thread(target=self._knock, args=(address,), daemon=True, name="knock").start()

    def _knock(self, address: str) -> None:
        try:
            knock = _KeeperKnock if self.wanted is Door.KEEPER else _Knock
            found = knock(address, self.context, self._deadline, self._sockets).find()
        except Exception as error:  # whatever it is, somebody waits for the answer
            found = Finding(address, Door.NO_ANSWER, type(error).__name__)
        self._answers.put(found)

    def first(self) -> str | None:
        """Return the address of what was wanted that answered first, None where none does in time."""
        while len(self.found) < len(set(self.addresses)):
            finding = self._next()
            if finding is None:
                break
            if finding.door is self.wanted:
                return finding.address
        return next((each.address for each in self.found.values() if each.door is self.wanted), None)

    def all(self) -> dict[str, Finding]:
        """Return what was found at each address, silent ones when the patience is over."""
        while len(self.found) < len(set(self.addresses)) and self._next() is not None:
            pass
        for address in self.addresses:
            self.found.setdefault(address, Finding(address, Door.SILENT))
        return self.found

    def _next(self) -> Finding | None:
        # A little longer than the knocks themselves, which tell what they waited for.
        left = self._deadline + 0.5 - time.monotonic()
        try:
            finding = self._answers.get(timeout=max(0.0, left))
        except queue.Empty:
            return None
        self.found[finding.address] = finding
        return finding

    def close(self) -> None:
        self._sockets.close()


class _Sockets:
    """The open sockets of a survey, so that whoever ends it can wake those who wait on them."""

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


class _Knock:
    """One try at one address."""

    greeting = _QUESTION
    _has_shaken_hands = False

    def __init__(
        self, address: str, context: ssl.SSLContext | None, deadline: float, sockets: _Sockets
    ) -> None:
        self.address, self.context, self.deadline, self.sockets = address, context, deadline, sockets
        host, _, port = address.rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)

    def find(self) -> Finding:
        try:
            socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return self._found(Door.UNKNOWN_NAME)
        try:
            with self._connected() as plain:
                return self._spoken_to(plain)
        except TimeoutError:
            return self._found(Door.NO_ANSWER)
        except ConnectionRefusedError:
            return self._found(Door.CLOSED)
        except OSError as error:
            return self._found(Door.NO_ANSWER, errno.errorcode.get(error.errno or 0, ""))

    def _spoken_to(self, plain: socket.socket) -> Finding:
        try:
            if self.context is None:
                return self._greeted(plain)
            with self._tracked(
                self.context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)
            ) as secure:
                return self._shake_hands(secure) or self._greeted(secure)
        except ssl.SSLCertVerificationError as error:
            return self._found(Door.UNTRUSTED, error.verify_message or "")
        except ssl.SSLError as error:
            return self._tls_failed(error)
        except TimeoutError:
            return self._found(Door.SILENT)
        except OSError:
            return self._hung_up()

    def _shake_hands(self, secure: ssl.SSLSocket) -> Finding | None:
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

    def _greeted(self, opened: socket.socket) -> Finding:
        opened.settimeout(min(_SILENT_SECONDS, self._left()))
        opened.sendall(self.greeting)
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
        return self._judged(first)

    def _is_part(self, answer: bytes) -> bool:
        return _is_kafka(answer) and len(answer) < 4 + int.from_bytes(answer[:4])

    def _judged(self, answer: bytes) -> Finding:
        if not answer:
            return self._hung_up()
        if answer.startswith(b"HTTP/"):
            return self._found(Door.HTTP)
        if self.context is None and answer[0] in _TLS_RECORDS and answer[1:2] == b"\x03":
            return self._wants_tls()
        return self._found(self._kind_of(answer))

    def _kind_of(self, answer: bytes) -> Door:
        if not _is_kafka(answer):
            return Door.OTHER
        return Door.BROKER if _METADATA in _keys(answer) else Door.CONTROLLER

    def _tls_failed(self, error: ssl.SSLError) -> Finding:
        reason = error.reason or ""
        if "ALERT" in reason:
            if any(word in reason for word in ("HANDSHAKE_FAILURE", "PROTOCOL_VERSION", "INSUFFICIENT")):
                return self._found(Door.NO_COMMON_TLS, _alert(reason))
            return self._found(Door.REFUSES_CERTIFICATE, _alert(reason))
        if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return self._hung_up()
        if "UNSUPPORTED_PROTOCOL" in reason or "NO_SHARED_CIPHER" in reason:
            return self._found(Door.NO_COMMON_TLS, _alert(reason))
        other = self._speaks_http()
        return other or self._found(Door.NO_TLS, _alert(reason))

    def _hung_up(self) -> Finding:
        """Say what it is that takes a connection and ends it after our first words."""
        if self.sockets.closed:
            return self._found(Door.NO_ANSWER)
        if self._has_shaken_hands:
            return self._speaks_kafka() or self._found(Door.HANGS_UP)
        if self.context is not None:
            return self._speaks_http() or self._found(Door.NO_TLS)
        return self._speaks_tls() or self._speaks_http() or self._speaks_kafka() or self._found(Door.HANGS_UP)

    def _speaks_kafka(self) -> Finding | None:
        """Return what answers Kafka's question, for those who asked another one."""
        return None

    def _wants_tls(self) -> Finding:
        return self._found(Door.WANTS_TLS)

    def _speaks_tls(self) -> Finding | None:
        try:
            with self._over_tls(_anybody()) as secure:
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
            secure.settimeout(min(2.0, self._left()))
            yield secure

    def _speaks_http(self) -> Finding | None:
        try:
            with self._connected() as plain:
                plain.settimeout(min(_SILENT_SECONDS, self._left()))
                plain.sendall(_HTTP)
                return self._found(Door.HTTP) if plain.recv(5) == b"HTTP/" else None
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

    def _found(self, door: Door, detail: str = "") -> Finding:
        return Finding(self.address, door, detail)


class _KeeperKnock(_Knock):
    """One try at an address where a ZooKeeper is expected."""

    # It answers this whether or not it lets anybody ask.
    greeting = b"srvr"

    def _is_part(self, answer: bytes) -> bool:
        return False

    def _kind_of(self, answer: bytes) -> Door:
        if b"not currently serving" in answer:
            return Door.NOT_SERVING
        if answer.startswith(b"Zookeeper version") or b"whitelist" in answer:
            return Door.KEEPER
        return Door.OTHER

    def _speaks_kafka(self) -> Finding | None:
        if self.context is not None:
            return self._found(Door.BROKER) if _is_kafka(self._answer_over_tls(_QUESTION)) else None
        try:
            with self._connected() as plain:
                plain.settimeout(min(_SILENT_SECONDS, self._left()))
                plain.sendall(_QUESTION)
                return self._found(Door.BROKER) if _is_kafka(plain.recv(4096)) else None
        except OSError:
            return None

    def _wants_tls(self) -> Finding:
        """Say who it is that wants TLS, where it talks to those who have no certificate."""
        if _is_kafka(self._answer_over_tls(_QUESTION)):
            return self._found(Door.BROKER)
        answer = self._answer_over_tls(self.greeting)
        is_keeper = self._kind_of(answer) in (Door.KEEPER, Door.NOT_SERVING)
        return self._found(Door.WANTS_TLS if is_keeper else Door.SOME_TLS)

    def _answer_over_tls(self, words: bytes) -> bytes:
        """Return the first bytes of what is answered over TLS, empty where nothing is."""
        try:
            with self._over_tls(self.context or _anybody()) as secure:
                secure.settimeout(min(_SILENT_SECONDS, self._left()))
                secure.do_handshake()
                secure.sendall(words)
                return secure.recv(4096)
        except OSError:
            return b""


def _anybody() -> ssl.SSLContext:
    """Return a context that trusts everybody, to learn who is there; nothing secret is said in it."""
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
