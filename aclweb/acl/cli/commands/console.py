"""How does a command print its answers and messages?

Answers go to standard output as UTF-8 with LF ends whatever the terminal's settings;
messages go to standard error, one line each.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from errno import EBADF
from io import RawIOBase
from typing import BinaryIO, TypeVar

from aclweb.acl.cli.commands.progress import PROGRESS
from aclweb.acl.model import AccessRequest, AclError, name_text, shown, visible

DONE, DID_NOT_HOLD, BAD_INPUT = 0, 1, 2
# What a shell reports of a program that was interrupted, or whose reader went away.
INTERRUPTED, READER_LEFT = 130, 141
PROGRESS_STEP = 100

LONGEST_NAME = 300
"""Topics have at most 249 characters, other names 32,767."""

NAME_END = 60
"""So much of a longer name is shown at its beginning and its end."""

# A name as `name_text` writes it: with blanks it stands in quotes.
_LONG_NAME = re.compile(
    rf"""(?<=[\s:(])(?:'(?:[^'\\]|\\.){{{LONGEST_NAME},}}'|"[^"]{{{LONGEST_NAME},}}")|\S{{{LONGEST_NAME},}}"""
)

Item = TypeVar("Item")


class UsageError(AclError):
    """A command line that asks for something impossible; the message says what would be right."""


def emit(lines: Iterable[str]) -> None:
    """Print lines to standard output."""
    out = _output()
    for line in lines:
        # Text for people may name half a character; escaped, it cannot stop the rest.
        out.write(line.encode("utf-8", "backslashreplace") + b"\n")
    out.flush()


def emit_pieces(pieces: Iterable[str]) -> None:
    """Print one line that is too long to be made whole, piece by piece."""
    out = _output()
    for piece in pieces:
        out.write(piece.encode("utf-8", "backslashreplace"))
    out.write(b"\n")
    out.flush()


def emit_text(text: str) -> None:
    """Print a whole text that ends its own lines."""
    out = _output()
    out.write(text.encode("utf-8"))
    out.flush()


def _output() -> BinaryIO:
    if sys.stdout is None:
        raise OSError(EBADF, "standard output is closed")
    if sys.stdout.isatty():
        PROGRESS.hush()
    else:
        PROGRESS.at("Printing")
    out: BinaryIO = sys.stdout.buffer
    if isinstance(out, RawIOBase):
        # As with PYTHONUNBUFFERED: each line would be a call of the system, and one that is cut short goes unseen.
        return open(sys.stdout.fileno(), "wb", closefd=False)
    return out


def as_json(value: object) -> str:
    """Return `value` as one line of ASCII JSON."""
    return json.dumps(value)


def tell(*messages: str) -> None:
    """Print messages to standard error, one line each; the exit status stays when nobody can read them."""
    if sys.stderr is None:
        return
    PROGRESS.wipe()
    with suppress(OSError):
        for message in messages:
            # A value in it may hold an end of line, or what drives a terminal.
            sys.stderr.buffer.write(visible(message).encode() + b"\n")
        sys.stderr.buffer.flush()


def one_line(text: str) -> str:
    """Return a path or value so that it stays on one line of a message."""
    return text if text.isprintable() else shown(text)


def shortened(sentence: str) -> str:
    """Return a sentence in which no name fills the screen: the middle of a very long one is left out."""
    if len(sentence) <= LONGEST_NAME:
        return sentence
    return _LONG_NAME.sub(_without_middle, sentence)


def _without_middle(found: re.Match[str]) -> str:
    text = found[0]
    left_out = len(text) - 2 * NAME_END
    return f"{text[:NAME_END]}…({left_out:,} characters)…{text[-NAME_END:]}"


def request_text(request: AccessRequest) -> str:
    """Return a request on one line: `User:bob READ TOPIC:orders from 10.0.0.7`."""
    name = "(any)" if request.resource_name is None else name_text(request.resource_name)
    return (
        f"{name_text(request.principal)} {request.operation.name} {request.resource_type.name}:{name} "
        f"from {name_text(request.host)}"
    )


def with_progress(items: Iterable[Item], *, what: str) -> Iterator[Item]:
    """Pass `items` on, and count them on standard error when that is a terminal."""
    total = f" of {len(items):,}" if isinstance(items, Sized) else ""
    for count, item in enumerate(items, start=1):
        yield item
        if count % PROGRESS_STEP == 0:
            PROGRESS.at(f"{what}: {count:,}{total}")


def hush() -> None:
    """Point standard output at nothing, after whoever read it has gone away."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def joined(words: Sequence[str]) -> str:
    """Return words with commas between them."""
    return ", ".join(words)
