"""How does a command read its files?

Whole, and checked before the first answer. What is wrong is collected over all files, so
that one run names every bad line: a command reads everything, then calls `require_good`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from aclweb.acl.commands.console import UsageError, one_line, show_progress, tell
from aclweb.acl.commands.options import why_not_decided
from aclweb.acl.delta import Delta
from aclweb.acl.model import AccessRequest, AclBinding
from aclweb.acl.notation import AclFile, read_acl_file, read_delta, read_names, read_requests
from aclweb.acl.problems import NotationError, Problems, shown

STANDARD_INPUT = "-"
BIG_FILE_BYTES = 10_000_000

Read = TypeVar("Read")


class Inputs:
    """The files of one command; standard input can be given once."""

    def __init__(self) -> None:
        self._has_standard_input = False
        self._problems: list[str] = []
        self._remarks: list[str] = []

    def acls(self, path: str, format: str | None) -> AclFile:
        """Return the ACLs of a file in any notation."""

        def read(text: str) -> AclFile:
            return read_acl_file(text, source=path, format=format, refuse=why_not_decided)

        file = self._read(path, read, AclFile(path, (), ()))
        self._remarks.extend(file.remarks)
        return file

    def bindings(self, path: str | None, format: str | None) -> tuple[AclBinding, ...]:
        """Return the ACLs of an optional file."""
        return () if path is None else tuple(self.acls(path, format).bindings)

    def delta(self, path: str | None) -> Delta:
        """Return the edit in an optional file."""
        if path is None:
            return Delta()
        return self._read(path, lambda text: read_delta(text, source=path, refuse=why_not_decided), Delta())

    def requests(self, path: str | None) -> tuple[AccessRequest, ...]:
        """Return the requests of an optional file."""
        if path is None:
            return ()
        return self._read(path, lambda text: read_requests(text, source=path), ())

    def names(self, path: str | None) -> tuple[str, ...]:
        """Return the names of an optional file with one a line."""
        if path is None:
            return ()
        none: tuple[str, ...] = ()
        names = self._read(path, read_names, none)
        odd = next((name for name in names if name.endswith("\r")), None)
        if odd is not None:
            # Lines end at LF, and a group may be called so; but most likely the file is from Windows.
            self._remarks.append(
                f"{one_line(path)}: The name {shown(odd)} ends in a carriage return, which counts as a part of it; "
                "if it should not, save the file with LF line ends."
            )
        return names

    def read_bytes(self, path: str) -> bytes:
        """Return the content of a file; raise NotationError if it cannot be read."""
        if path == STANDARD_INPUT:
            if self._has_standard_input:
                raise UsageError("Standard input ('-') is given for two files; give a file for one of them.")
            self._has_standard_input = True
            return sys.stdin.buffer.read()
        try:
            return Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from error

    def require_good(self) -> None:
        """Raise NotationError with what is wrong in all files read; else tell what is odd in them."""
        if self._problems:
            raise NotationError(*self._problems)
        tell(*self._remarks)

    def _read(self, path: str, read: Callable[[str], Read], nothing: Read) -> Read:
        try:
            data = self.read_bytes(path)
            if len(data) >= BIG_FILE_BYTES:
                show_progress(f"Reading {one_line(path)}, {len(data) // 1_000_000:,} MB\n")
            try:
                text = decoded(data, path)
            except NotationError as error:
                self._problems.extend(_with_other_bad_lines(error.messages, data, path, read))
                return nothing
            return read(text)
        except NotationError as error:
            self._problems.extend(error.messages)
            return nothing


def unreadable(path: str, error: Exception) -> NotationError:
    """Return the error for a file that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) else error
    return NotationError(
        f"{one_line(path)}: The file cannot be read ({reason}); give a file, or - for standard input."
    )


def _with_other_bad_lines(
    messages: Sequence[str], data: bytes, source: str, read: Callable[[str], object]
) -> Sequence[str]:
    """Return `messages` about lines that are not UTF-8 with those about the other lines, in order of lines.

    Only in JSON does each line stand for itself, so that the others can be judged without these.
    """
    if not data.lstrip().startswith(b"{"):
        return messages

    def line_of(message: str) -> int:
        return int(message.removeprefix(f"{source}:").partition(":")[0])

    lines = data.split(b"\n")
    for message in messages:
        lines[line_of(message) - 1] = b""
    try:
        read(b"\n".join(lines).decode("utf-8-sig"))
    except NotationError as error:
        return sorted((*messages, *error.messages), key=line_of)
    return messages


def decoded(data: bytes, source: str) -> str:
    """Return UTF-8 text without a byte order mark; raise NotationError naming every line that is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotationError(f"{source}:1: The file is in UTF-16; save it as UTF-8.")
    problems = Problems(source)
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            problems.add(
                number,
                f"Byte {error.start + 1} of the line is 0x{byte:02x}, which is not UTF-8; save the file as UTF-8.",
            )
    raise NotationError(*problems.messages)
