"""audit: which decisions does this authorizer log tell of?"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from aclweb.acl.audit_log import AccessEvent, NotDecision, parse_record, records
from aclweb.acl.commands.console import (
    DONE,
    UsageError,
    as_json,
    counted,
    emit,
    tell,
    with_progress,
)
from aclweb.acl.commands.inputs import STANDARD_INPUT, Inputs, unreadable
from aclweb.acl.commands.options import add_json_option
from aclweb.acl.explain import name_text


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="authorizer logs; - is standard input")
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print one line for each decision, then count on standard error what is none."""
    if given.files.count(STANDARD_INPUT) > 1:
        raise UsageError("Standard input ('-') is given for two files; give a file for one of them.")
    others: Counter[str] = Counter()
    with ExitStack() as stack:
        # All files are opened before the first line is printed, so a missing one prints nothing.
        logs = [stack.enter_context(_opened(path)) for path in given.files]
        events = _events(logs, others)
        emit(as_json(event.as_dict()) if given.json else _in_words(event) for event in events)
    tell(
        *(
            f"{counted(number, 'record')} {'is' if number == 1 else 'are'} no decision: {reason}."
            for reason, number in others.items()
        )
    )
    return DONE


def _opened(path: str) -> TextIO:
    # Java writes names in whatever encoding the broker runs with; a byte that is no UTF-8 is kept as half
    # a character, which JSON can hold, rather than mixed up with another.
    if path == STANDARD_INPUT:
        return open(
            sys.stdin.fileno(), encoding="utf-8-sig", errors="surrogateescape", newline="\n", closefd=False
        )
    try:
        if Path(path).is_dir():
            raise IsADirectoryError(21, "Is a directory")
        return open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _events(logs: list[TextIO], others: Counter[str]) -> Iterator[AccessEvent]:
    for log in logs:
        for record in with_progress(records(log), what="Read"):
            event = parse_record(record)
            if isinstance(event, NotDecision):
                others[event.reason] += 1
            else:
                yield event


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
