"""How do columns of ACLs travel as bytes, so that another process has them at once?"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from aclweb.acl.authorizer.columns import AclColumns, Block, Codes
from aclweb.acl.model import Operation, PatternType, PermissionType, ResourceType

_LAYOUT = 2
_LEVEL = 1  # of compression: higher ones take several times as long and save little
_CODES = ("order", "numbers", "starts", "act", "principal", "host")


def columns_to_bytes(columns: AclColumns) -> bytes:
    """Return what `columns_from_bytes` reads."""
    texts = [*(block.names for block in columns.blocks), columns.principals, columns.hosts]
    written = [_joined(each) for each in texts]
    codes = [getattr(columns, name) for name in _CODES]
    pieces = [
        zlib.compress(piece, _LEVEL) for piece in (*(text for text, _ in written), *map(_little, codes))
    ]
    head = {
        "layout": _LAYOUT,
        "blocks": [
            [block.resource_type._name_, block.pattern_type._name_, len(block.names)]
            for block in columns.blocks
        ],
        "acts": [[operation._name_, permission._name_] for operation, permission in columns.acts],
        "separators": [separator for _, separator in written],
        "counts": [len(each) for each in texts],
        "widths": [each.typecode for each in codes],
        "sizes": [len(piece) for piece in pieces],
    }
    return b"\n".join((json.dumps(head).encode("ascii"), b"".join(pieces)))


def columns_from_bytes(content: bytes) -> AclColumns:
    """Return the columns; raises ValueError where these are not all bytes of some, as this program writes them."""
    try:
        return _read(content)
    except (zlib.error, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"These bytes are no columns of ACLs: {error!r}") from error


def _read(content: bytes) -> AclColumns:
    end = content.index(b"\n")
    head = json.loads(content[:end])
    if head["layout"] != _LAYOUT:
        raise ValueError(f"Layout {head['layout']} is not known.")
    if len(content) != end + 1 + sum(head["sizes"]):
        raise ValueError("Some of the bytes are not there.")
    pieces = _pieces(content, end + 1, head["sizes"])
    counted = zip(head["separators"], head["counts"], strict=True)
    texts = [_split(next(pieces), separator, number) for separator, number in counted]
    codes: dict[str, Any] = {}
    for name, width in zip(_CODES, head["widths"], strict=True):
        codes[name] = _of_little(width, next(pieces))
    names, principals, hosts = texts[:-2], *texts[-2:]
    blocks: list[Block] = []
    for (word, other, _), those in zip(head["blocks"], names, strict=True):
        first = blocks[-1].end if blocks else 0
        blocks.append(Block(ResourceType[word], PatternType[other], those, first))
    acts = [(Operation[word], PermissionType[other]) for word, other in head["acts"]]
    patterns, acls = blocks[-1].end if blocks else 0, len(codes["order"])
    lengths = [len(codes[name]) for name in _CODES]
    if lengths != [acls, acls, patterns + 1, acls, acls, acls] or codes["starts"][-1] != acls:
        raise ValueError("The columns are not equally long.")
    return AclColumns(blocks=blocks, acts=acts, principals=principals, hosts=hosts, **codes)


def _pieces(content: bytes, start: int, sizes: Iterable[int]) -> Iterator[bytes]:
    whole = memoryview(content)
    for size in sizes:
        yield zlib.decompress(whole[start : start + size])
        start += size


def _joined(texts: Sequence[str]) -> tuple[bytes, str]:
    """Return the texts behind each other, and the character between them, which none of them has."""
    whole = "".join(texts)
    separator = next(chr(code) for code in count() if chr(code) not in whole)
    return separator.join(texts).encode("utf-8", "surrogatepass"), separator


def _split(joined: bytes, separator: str, number: int) -> tuple[str, ...]:
    texts = joined.decode("utf-8", "surrogatepass").split(separator) if number else ()
    if len(texts) != number:
        raise ValueError("There are more or fewer texts than were written.")
    return tuple(texts)


def _little(codes: Codes) -> bytes:
    return _turned(array(codes.typecode, codes)).tobytes()


def _of_little(width: str, piece: bytes) -> Codes:
    codes = array(width)
    codes.frombytes(piece)
    return _turned(codes)


def _turned(codes: Codes) -> Codes:
    """Return the codes with their bytes as a little-endian machine has them, or back."""
    if sys.byteorder == "big":
        codes.byteswap()
    return codes
