"""How does a command read its files?

Whole, and checked before the first answer. What is wrong is collected over all files, so
that one run names every bad line: a command reads everything, then calls `require_good`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aclweb.acl.cli.commands.console import UsageError, one_line, tell
from aclweb.acl.cli.commands.options import why_not_decided
from aclweb.acl.cli.commands.progress import PROGRESS
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Delta,
    NotationError,
    Problems,
    acl_text,
    shown,
)
from aclweb.acl.notation import AclFile, Edit, read_acl_file, read_edits, read_names, read_requests

STANDARD_INPUT = "-"

Read = TypeVar("Read")


class Inputs:
    """The files of one command; standard input can be given once."""

    def __init__(self) -> None:
        self.settings: AuthorizerSettings | None = None
        """Whose ACLs the files hold; those of no GLOB while None."""
        self._has_standard_input = False
        self._problems: list[str] = []
        self._remarks: list[str] = []

    def acls(self, path: str, format: str | None) -> AclFile:
        """Return the ACLs of a file in any notation."""

        def read(text: str) -> AclFile:
            return read_acl_file(text, source=path, format=format, refuse=self._why_not_decided)

        file = self._read(path, read, AclFile(path, (), ()))
        self._remarks.extend(file.remarks)
        return file

    def bindings(self, path: str | None, format: str | None) -> tuple[AclBinding, ...]:
        """Return the ACLs of an optional file."""
        return () if path is None else tuple(self.acls(path, format).bindings)

    def edits(self, path: str | None) -> tuple[Edit, ...]:
        """Return the edits in an optional file of ACLs to add and to remove."""
        if path is None:
            return ()
        return self._read(path, lambda text: read_edits(text, source=path, refuse=self._why_not_decided), ())

    def delta(self, *, add: str | None, remove: str | None, delta: str | None, format: str | None) -> Delta:
        """Return the edit of three optional files; an ACL that one adds and another removes is bad input."""
        edits: list[Edit] = []
        for op, path in (("add", add), ("remove", remove)):
            if path is not None:
                file = self.acls(path, format)
                edits.extend(
                    Edit(op, binding, path, line)
                    for binding, line in zip(file.bindings, file.lines, strict=True)
                )
        edits.extend(self.edits(delta))

        places: dict[str, dict[AclBinding, Edit]] = {"add": {}, "remove": {}}
        for edit in edits:
            other = places["remove" if edit.op == "add" else "add"].get(edit.binding)
            if other is None:
                places[edit.op].setdefault(edit.binding, edit)
            else:
                self._problems.append(
                    f"{edit.source}:{edit.line}: The ACL to {edit.op} is the one to {other.op} at "
                    f"{other.source}:{other.line} ({shown(acl_text(edit.binding))}); keep one of the two."
                )
        return Delta(add=tuple(places["add"]), remove=tuple(places["remove"]))

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
                f"{path}: The name {shown(odd)} ends in a carriage return, which counts as a part of it; "
                "if it should not, save the file with LF line ends."
            )
        return names

    def read_bytes(self, path: str) -> bytes:
        """Return the content of a file; raise NotationError if it cannot be read."""
        PROGRESS.at(f"Reading {one_line(path)}")
        if path == STANDARD_INPUT:
            if self._has_standard_input:
                raise UsageError("Standard input ('-') is given for two files; give a file for one of them.")
            self._has_standard_input = True
            if sys.stdin is None:
                raise NotationError(f"{path}: Standard input is closed; give a file, or open it.")
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
        PROGRESS.at("Working")

    def _why_not_decided(self, binding: AclBinding) -> str | None:
        return why_not_decided(binding, self.settings)

    def _read(self, path: str, read: Callable[[str], Read], nothing: Read) -> Read:
        try:
            data = self.read_bytes(path)
            PROGRESS.at(f"Reading {one_line(path)}, {len(data) / 1_000_000:,.0f} MB")
            text, problems = decoded(data, path)
            del data  # beside the text, a big file would be in memory twice
            if not problems:
                return read(text)
            self._problems.extend(_with_other_bad_lines(problems, text, read))
        except NotationError as error:
            self._problems.extend(error.messages)
        return nothing


def unreadable(path: str, error: Exception) -> NotationError:
    """Return the error for a file that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) else error
    return NotationError(f"{path}: The file cannot be read ({reason}); give a file, or - for standard input.")


def _with_other_bad_lines(problems: Problems, text: str, read: Callable[[str], object]) -> list[str]:
    """Return what is wrong with each line of a file that is not all UTF-8, in order of lines.

    text: with half a character for each byte that is none, so that the lines around it can be judged.
    """
    messages = list(problems.messages)
    start = f"{problems.source}:"

    def line_of(message: str) -> int:
        return int(message.removeprefix(start).partition(":")[0])

    bad = set(map(line_of, messages))
    try:
        read(text)
    except NotationError as error:
        messages += [message for message in error.messages if line_of(message) not in bad]
    return sorted(messages, key=line_of)


def decoded(data: bytes, source: str) -> tuple[str, Problems]:
    """Return UTF-8 text, and every line that is none with half a character for each of its bad bytes."""
    problems = Problems(source)
    try:
        return data.decode("utf-8"), problems
    except UnicodeDecodeError:
        pass
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotationError(f"{source}:1: The file is in UTF-16; save it as UTF-8.")
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            problems.add(
                number,
                f"Byte {error.start + 1} of the line is 0x{byte:02x}, which is not UTF-8; save the file as UTF-8.",
            )
    return data.decode("utf-8", "surrogateescape"), problems
