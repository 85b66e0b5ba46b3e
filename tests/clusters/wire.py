"""How are the three ACL requests spoken to a real broker, byte for byte?

By hand and not with a client library: libraries refuse codes that they do not know, hide
a broker's texts, and wait for each answer before the next question. A broker answers the
requests of a connection in their order, so thousands may be on their way at once.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aclweb.acl.kafka.refusals import Item
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from devstack.servers import KafkaBroker

DESCRIBE, CREATE, DELETE = 29, 30, 31
SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36
NEWEST = 3
FLEXIBLE_SINCE = 2


class Closed(Exception):
    """The broker closed the connection instead of answering."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A broker's code and text for one item, and the ACLs that a filter found."""

    code: int
    text: str | None
    found: frozenset[AclBinding] = frozenset()
    times: int = 0


class Wire:
    """One logged-in connection. A closed one opens again with the next request."""

    def __init__(self, broker: KafkaBroker, user: str | None = "admin", *, seconds: float = 300) -> None:
        """user: None for the port without logins. seconds: for each answer; 10,000 ACLs take a busy machine many."""
        self._broker, self._user, self._seconds = broker, user, seconds
        self._socket: socket.socket | None = None
        self._pending = b""
        self._number = 0

    # --- the three requests ---------------------------------------------------------------

    def create(self, items: Sequence[Item], version: int = NEWEST) -> list[Answer]:
        """Return one answer for each item; raises Closed."""
        (answer,) = self.pipelined([(CREATE, items)], version)
        return answer

    def delete(self, filters: Sequence[Item], version: int = NEWEST) -> list[Answer]:
        (answer,) = self.pipelined([(DELETE, filters)], version)
        return answer

    def describe(self, asked: Item, version: int = NEWEST) -> Answer:
        (answer,) = self.pipelined([(DESCRIBE, [asked])], version)
        return answer[0]

    def pipelined(
        self, requests: Iterable[tuple[int, Sequence[Item]]], version: int = NEWEST
    ) -> Iterator[list[Answer]]:
        """Yield the answers to many requests, sent without waiting; raises Closed, or TimeoutError for no answer."""
        asked = list(requests)
        frames = [self._frame(key, version, _body(key, items, version)) for key, items in asked]
        try:
            connection = self._connected()
            sender = threading.Thread(target=_send_all, args=(connection, frames), daemon=True)
            sender.start()
            for key, _ in asked:
                yield _answers(key, self._receive(connection), version)
            sender.join()
        except TimeoutError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise Closed(str(error)) from error

    # --- bytes ------------------------------------------------------------------------------

    def _connected(self) -> socket.socket:
        if self._socket is None:
            address = self._broker.bootstrap if self._user else self._broker.plaintext
            host, _, port = address.rpartition(":")
            self._socket = socket.create_connection((host, int(port)), timeout=self._seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pending = b""
            if self._user:
                self._log_in(self._socket, self._user)
        return self._socket

    def _log_in(self, connection: socket.socket, user: str) -> None:
        connection.sendall(self._frame(SASL_HANDSHAKE, 1, _text("PLAIN", 1)))
        self._receive(connection)
        token = f"\0{user}\0{self._broker.users[user]}".encode()
        connection.sendall(self._frame(SASL_AUTHENTICATE, 0, struct.pack(">i", len(token)) + token))
        (code,) = struct.unpack_from(">h", self._receive(connection), 4)
        assert code == 0, f"The broker refused the login with code {code}."

    def _frame(self, key: int, version: int, body: bytes) -> bytes:
        self._number += 1
        header = struct.pack(">hhi", key, version, self._number) + _text("test", 1)
        if key in (DESCRIBE, CREATE, DELETE) and version >= FLEXIBLE_SINCE:
            header += b"\0"
        return struct.pack(">i", len(header) + len(body)) + header + body

    def _receive(self, connection: socket.socket) -> bytes:
        while len(self._pending) < 4 or len(self._pending) < 4 + self._length:
            part = connection.recv(1 << 18)
            if not part:
                raise ConnectionResetError("closed by the broker")
            self._pending += part
        end = 4 + self._length
        frame, self._pending = self._pending[4:end], self._pending[end:]
        return frame

    @property
    def _length(self) -> int:
        return int(struct.unpack_from(">i", self._pending)[0])

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _send_all(connection: socket.socket, frames: list[bytes]) -> None:
    try:
        for start in range(0, len(frames), 200):
            connection.sendall(b"".join(frames[start : start + 200]))
    except OSError:
        pass  # whoever reads the answers notices


def _body(key: int, items: Sequence[Item], version: int) -> bytes:
    packed = b"".join(_item(item, version) for item in items)
    if key == DESCRIBE:
        return packed
    return _count(len(items), version) + packed + (b"\0" if version >= FLEXIBLE_SINCE else b"")


def _item(item: Item, version: int) -> bytes:
    parts = [struct.pack(">b", item.resource_type), _text(item.resource_name, version)]
    if version >= 1:
        parts.append(struct.pack(">b", item.pattern_type))
    parts += [_text(item.principal, version), _text(item.host, version)]
    parts.append(struct.pack(">bb", item.operation, item.permission_type))
    if version >= FLEXIBLE_SINCE:
        parts.append(b"\0")
    return b"".join(parts)


def _text(text: str | None, version: int) -> bytes:
    data = b"" if text is None else text.encode()
    if version >= FLEXIBLE_SINCE:
        return (b"\0" if text is None else _varint(len(data) + 1)) + data
    return struct.pack(">H", 0xFFFF if text is None else len(data)) + data


def _count(number: int, version: int) -> bytes:
    return _varint(number + 1) if version >= FLEXIBLE_SINCE else struct.pack(">i", number)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Reader:
    """Takes the fields of an answer one after the other."""

    def __init__(self, data: bytes, version: int) -> None:
        self.data, self.at, self.flexible = data, 4, version >= FLEXIBLE_SINCE
        self.version = version
        self.end_of_struct()

    def int8(self) -> int:
        (value,) = struct.unpack_from(">b", self.data, self.at)
        self.at += 1
        return int(value)

    def int16(self) -> int:
        (value,) = struct.unpack_from(">h", self.data, self.at)
        self.at += 2
        return int(value)

    def int32(self) -> int:
        (value,) = struct.unpack_from(">i", self.data, self.at)
        self.at += 4
        return int(value)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def text(self) -> str | None:
        length = self.varint() - 1 if self.flexible else self.int16()
        if length < 0:
            return None
        start, self.at = self.at, self.at + length
        return self.data[start : self.at].decode()

    def count(self) -> int:
        return self.varint() - 1 if self.flexible else self.int32()

    def end_of_struct(self) -> None:
        if self.flexible:
            assert self.varint() == 0, "No tagged fields are known here."

    def pattern(self) -> tuple[ResourceType, str, PatternType]:
        kind, name = ResourceType.from_code(self.int8()), self.text() or ""
        return kind, name, PatternType.from_code(self.int8()) if self.version else PatternType.LITERAL

    def entry(self, pattern: tuple[ResourceType, str, PatternType]) -> AclBinding:
        principal, host = self.text() or "", self.text() or ""
        operation, permission = Operation.from_code(self.int8()), PermissionType.from_code(self.int8())
        self.end_of_struct()
        return AclBinding(*pattern, principal, host, operation, permission)


def _answers(key: int, data: bytes, version: int) -> list[Answer]:
    reader = _Reader(data, version)
    reader.int32()  # how long the broker holds this client back
    if key == DESCRIBE:
        code, text = reader.int16(), reader.text()
        found: list[AclBinding] = []
        for _ in range(reader.count()):
            pattern = reader.pattern()
            found += [reader.entry(pattern) for _ in range(reader.count())]
            reader.end_of_struct()
        answers = [Answer(code, text, frozenset(found), len(found))]
    else:
        answers = [_of_item(key, reader) for _ in range(reader.count())]
    reader.end_of_struct()
    assert reader.at == len(data), "The answer is longer than its fields."
    return answers


def _of_item(key: int, reader: _Reader) -> Answer:
    code, text = reader.int16(), reader.text()
    found: list[AclBinding] = []
    if key == DELETE:
        for _ in range(reader.count()):
            assert (reader.int16(), reader.text()) == (0, None), "An ACL was found and not deleted."
            found.append(reader.entry(reader.pattern()))
    reader.end_of_struct()
    return Answer(code, text, frozenset(found), len(found))
