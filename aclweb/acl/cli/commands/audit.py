"""audit: which decisions does this authorizer log tell of?"""

from __future__ import annotations

import argparse
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from aclweb.acl.cli.commands.console import (
    DONE,
    UsageError,
    as_json,
    emit,
    tell,
    with_progress,
)
from aclweb.acl.cli.commands.inputs import STANDARD_INPUT, Inputs, unreadable
from aclweb.acl.cli.commands.options import add_json_option
from aclweb.acl.model import NotationError, name_text, number_of
from aclweb.acl.notation import (
    KAFKA,
    UNKNOWN,
    AccessEvent,
    NotDecision,
    detected,
    events_in,
    layout_of,
    parse_record,
    records,
)

_GZIP = b"\x1f\x8b"
_LOOKED_AT = 1 << 16
"""Characters at the beginning of a log that tell its layout."""
_KEPT_IN_MEMORY = 64 << 20
"""Bytes; what gzip unpacks to more is kept in a temporary file."""


def add_options(parser: argparse.ArgumentParser) -> None:
    help_text = "authorizer logs, also packed by gzip; - is standard input"
    parser.add_argument("files", metavar="FILE", nargs="+", help=help_text)
    add_json_option(parser)


def run(given: argparse.Namespace, _: Inputs) -> int:
    """Print one line for each decision, then count on standard error what is none."""
    if given.files.count(STANDARD_INPUT) > 1:
        raise UsageError("Standard input ('-') is given for two files; give a file for one of them.")
    others: Counter[str] = Counter()
    with ExitStack() as stack:
        # All files are opened before the first line is printed, so a missing one prints nothing.
        logs = [_opened(path, stack) for path in given.files]
        events = _events(logs, others)
        emit(as_json(event.as_dict()) if given.json else _in_words(event) for event in events)
    tell(
        *(
            f"{number_of(number, 'record')} {'is' if number == 1 else 'are'} no decision: {reason}."
            for reason, number in others.items()
        )
    )
    return DONE


def _opened(path: str, stack: ExitStack) -> TextIO:
    """Return a log as text; one that gzip packed is unpacked.

    Raises NotationError if it cannot be opened, or is packed and broken: a packed file is read
    to its end first, so that a broken one prints nothing.
    """
    try:
        if path != STANDARD_INPUT and Path(path).is_dir():
            raise IsADirectoryError(21, "Is a directory")
        raw = stack.enter_context(_bytes_of(path))
        start = raw.peek(2)[:2]
        if start == _GZIP:
            unpacked: BinaryIO = stack.enter_context(_unpacked(path, raw))
        elif start and path.endswith(".gz"):
            raise NotationError(
                f"{path}: Its name ends in .gz, but gzip did not pack it; copy it again, or rename it."
            )
        else:
            unpacked = raw
    except NotationError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    # Java writes names in whatever encoding the broker runs with; a byte that is no UTF-8 is kept as half
    # a character, which JSON can hold, rather than mixed up with another.
    return io.TextIOWrapper(unpacked, encoding="utf-8-sig", errors="surrogateescape", newline="\n")


def _bytes_of(path: str) -> io.BufferedReader:
    if path == STANDARD_INPUT:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    return open(path, "rb")


def _unpacked(path: str, raw: BinaryIO) -> BinaryIO:
    """Return what gzip packed, in a file of its own if it is large."""
    with ExitStack() as stack:
        found = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY))
        try:
            with gzip.GzipFile(fileobj=raw) as packed:
                shutil.copyfileobj(packed, found, 1 << 20)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            why = str(error).rstrip(".")
            raise NotationError(
                f"{path}: This gzip file is broken ({why}); copy or pack it again."
            ) from error
        found.seek(0)
        stack.pop_all()
    return cast(BinaryIO, found)


def _events(logs: list[TextIO], others: Counter[str]) -> Iterator[AccessEvent]:
    for log in logs:
        for event in with_progress(_events_of(log), what="Read"):
            if isinstance(event, NotDecision):
                others[event.reason] += 1
            else:
                yield event


def _events_of(log: TextIO) -> Iterator[AccessEvent | NotDecision]:
    """Yield what each record says, in the layout that the beginning of the log has."""
    first = log.readlines(_LOOKED_AT)
    name = detected([line.removesuffix("\n") for line in first])
    lines = chain(first, log)
    if name in (KAFKA, UNKNOWN):
        return map(parse_record, records(lines))
    return events_in((line.removesuffix("\n") for line in lines), layout_of(name))


def _in_words(event: AccessEvent) -> str:
    result = "ALLOWED" if event.allowed else "DENIED"
    request = f" for {event.api_name}" if event.api_name else ""
    rule = f" by {event.rule}" if event.rule else ""
    doubt = "  ! can be read in more than one way" if event.ambiguous else ""
    resource = f"{event.resource_type.name}:{name_text(event.resource_name)}"
    return (
        f"{event.time}  {result:7}  {name_text(event.principal)} {event.operation.name} {resource} "
        f"from {name_text(event.host)}{request}{rule}{doubt}"
    )
