"""How are very many nodes read in few requests?

kazoo takes a tenth of a millisecond for each request, which is most of what reading a large cluster costs. Servers from
3.6 on answer many reads in one request (MultiRead), which kazoo does not have. Each read in it has its own answer or
error. Older servers say that they do not know the request, and end the session.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, MarshallingError, NoNodeError
from kazoo.protocol.paths import _prefix_root
from kazoo.protocol.serialization import GetData, int_struct, multiheader_struct, read_buffer, stat_struct
from kazoo.protocol.states import ZnodeStat

# Of one request. Its answer holds as many nodes, each of which may be 1 MB large, at the server too.
READS = 64
# A server takes requests of 1 MB; names of groups can be long.
REQUEST_BYTES = 256 * 1024
_GET_DATA, _ERROR, _END = 4, -1, -1


class MultiRead:
    """A request for the data of these paths, which begin with the chroot."""

    type = 22

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths

    def serialize(self) -> bytes:
        parts: list[bytes] = []
        for path in self._paths:
            parts += (multiheader_struct.pack(_GET_DATA, False, -1), GetData(path, None).serialize())
        return b"".join((*parts, multiheader_struct.pack(_END, True, -1)))

    def deserialize(self, data: bytes, offset: int) -> list[Any]:
        """Return (data, stat) of each path in order, or the error of its read; raises MarshallingError."""
        try:
            found = self._read(data, offset)
        except (struct.error, RuntimeError) as error:  # kazoo's for a code that it does not know
            raise MarshallingError from error
        if len(found) != len(self._paths):
            raise MarshallingError
        return found

    @staticmethod
    def _read(data: bytes, offset: int) -> list[Any]:
        found: list[Any] = []
        while True:
            kind, done, _ = multiheader_struct.unpack_from(data, offset)
            offset += multiheader_struct.size
            if done:
                return found
            if kind == _ERROR:
                (code,) = int_struct.unpack_from(data, offset)
                offset += int_struct.size
                found.append(EXCEPTIONS[code]())
            else:
                value, offset = read_buffer(data, offset)
                found.append((value, ZnodeStat._make(stat_struct.unpack_from(data, offset))))
                offset += stat_struct.size


def batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the paths in portions that one request takes."""
    some: list[str] = []
    size = 0
    for path in paths:
        length = len(path.encode("utf-8", "surrogatepass"))
        if some and (len(some) == READS or size + length > REQUEST_BYTES):
            yield some
            some, size = [], 0
        some.append(path)
        size += length
    if some:
        yield some


def ask(kazoo: KazooClient, paths: Sequence[str]) -> Any:
    """Send one request for these paths; return kazoo's promise of the answer."""
    answer = kazoo.handler.async_result()
    kazoo._call(MultiRead([_prefix_root(kazoo.chroot, path) for path in paths]), answer)
    return answer


def settled(one: Any, tolerate: tuple[type[Exception], ...]) -> Any:
    """Return (data, stat), None where there is no node, the error where it is to be tolerated; else raise it."""
    if isinstance(one, NoNodeError):
        return None
    if isinstance(one, Exception) and not isinstance(one, tolerate):
        raise one
    return one
