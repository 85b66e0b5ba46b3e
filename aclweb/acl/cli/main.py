"""Which command did the user type, and how did it end?

Exit status: 0 done, and all that was to hold held; 1 a check did not hold; 2 bad input or
usage, with one line on standard error for each thing that is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from aclweb.acl.cli.commands import (
    affecting,
    audit,
    check,
    convert,
    decide,
    globs,
    kafka_acls,
    lint,
    listed,
    needs,
    principal,
    redundant,
    whatif,
)
from aclweb.acl.cli.commands.console import BAD_INPUT, INTERRUPTED, READER_LEFT, UsageError, hush, tell
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.progress import PROGRESS
from aclweb.acl.model import AclError, NotationError, shown

PROGRAM = "python -m aclweb.acl"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it answers, its options, and what runs it."""

    answers: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Inputs], int]


COMMANDS = {
    "decide": Command("what a broker answers to requests, and why", decide.add_options, decide.run),
    "check": Command("whether policies answer as expected", check.add_options, check.run),
    "affecting": Command(
        "the ACLs that can influence access to a resource", affecting.add_options, affecting.run
    ),
    "list": Command("the ACLs that a DescribeAcls filter finds", listed.add_options, listed.run),
    "whatif": Command("what an edit or a new topic would change", whatif.add_options, whatif.run),
    "lint": Command("ACLs that are legal and probably wrong", lint.add_options, lint.run),
    "redundant": Command("the ACLs that can be removed or combined", redundant.add_options, redundant.run),
    "convert": Command("ACLs in another notation", convert.add_options, convert.run),
    "glob": Command("ACLs written with GLOBs of the proposal, or without them", globs.add_options, globs.run),
    "kafka-acls": Command(
        "what kafka-acls would do with its arguments", kafka_acls.add_options, kafka_acls.run
    ),
    "principal": Command(
        "the names that clients get by a broker's rules", principal.add_options, principal.run
    ),
    "audit": Command("the decisions in an authorizer log", audit.add_options, audit.run),
    "needs": Command("the access that a client action needs", needs.add_options, needs.run),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see `{self.prog} --help`.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except NotationError as error:
        tell(*error.messages)
        return BAD_INPUT
    except AclError as error:
        tell(str(error))
        return BAD_INPUT
    except BrokenPipeError:
        hush()
        return READER_LEFT
    except OSError as error:
        tell(f"The answer cannot be written: {error.strerror or error}.")
        hush()
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        PROGRESS.end()


def _run(arguments: Sequence[str]) -> int:
    names = ", ".join(COMMANDS)
    name, *others = arguments or [""]
    if name in ("-h", "--help"):
        _print_help()
        return 0
    command = COMMANDS.get(name)
    if command is None:
        what = f"{shown(name)} is not a command" if name else "No command is given"
        raise UsageError(f"{what}; use `{PROGRAM} COMMAND ...` with one of {names}.")
    parser = _Parser(prog=f"{PROGRAM} {name}", description=f"Print {command.answers}.", allow_abbrev=False)
    command.add_options(parser)
    return command.run(parser.parse_args(others), Inputs())


def _print_help() -> None:
    width = max(map(len, COMMANDS))
    print(f"usage: {PROGRAM} COMMAND ...\n\nWhat Kafka ACLs mean, from files alone: no cluster is asked.\n")
    for name, command in COMMANDS.items():
        print(f"  {name:{width}}  {command.answers}")
    print(f"\nSee `{PROGRAM} COMMAND --help` for the options of one.")
