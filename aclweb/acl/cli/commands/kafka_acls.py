"""kafka-acls: what would the real tool do with these arguments?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from aclweb.acl.cli.commands.console import BAD_INPUT, DONE, UsageError, as_json, emit, tell
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import add_json_option, add_rule_options, settings_from, why_not_decided
from aclweb.acl.kafka import Plan, plan, resources_in
from aclweb.acl.matching import AclFilter
from aclweb.acl.model import AclBinding, AclError, NotationError, PatternType, acl_text, name_text

SEPARATOR = "--"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [options] -- ARGS ...\n       %(prog)s [options] --line COMMAND"
    parser.add_argument(
        "--line", metavar="COMMAND", help="a whole command as it is typed into a shell, quotes and all"
    )
    add_rule_options(parser)
    add_json_option(parser)
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="-- ARGS", help="the arguments of kafka-acls"
    )


def run(given: argparse.Namespace, _: Inputs) -> int:
    """Print what kafka-acls would add, remove or list; nothing is sent."""
    settings = settings_from(given)
    try:
        planned = plan(_arguments(given), settings)
    except AclError as error:
        raise UsageError(str(error)) from error
    refused = {
        reason for binding in planned.acls if (reason := why_not_decided(binding, settings)) is not None
    }
    if refused:
        raise NotationError(*sorted(refused))
    if given.json:
        emit([as_json(planned.as_dict())])
    else:
        emit(_sentences(planned))
    tell(*planned.notes)
    if planned.error is not None:
        # Not only refusals: asked for its options, the tool ends so too.
        tell(f"kafka-acls does nothing and ends with status 1: {planned.error}")
        return BAD_INPUT
    return DONE


def _arguments(given: argparse.Namespace) -> list[str] | str:
    separator, *words = given.arguments or [None]
    if given.line is not None:
        if given.arguments:
            raise UsageError("Give either a --line or arguments behind --, not both.")
        line: str = given.line
        return line
    if separator != SEPARATOR:
        raise UsageError(
            "Write the arguments of kafka-acls after --, as in `kafka-acls --json -- --list --topic orders`."
        )
    return list(words)


def _sentences(planned: Plan) -> Iterator[str]:
    if planned.error is not None:
        return
    for acl in planned.acls:
        yield f"Adds: {acl_text(acl)}."
    verb = "Removes" if planned.action == "remove" else "Lists"
    for asked in planned.filters:
        yield f"{verb} {_named(asked)}."


def _named(asked: AclFilter) -> str:
    """Return which ACLs a filter finds, as the object of a sentence."""
    if asked.principal is None:
        return "every ACL" if asked.resource_name is None else f"every ACL of {resources_in(asked)}"
    if asked.host is None:
        return f"every ACL for {name_text(asked.principal)} of {resources_in(asked)}"
    pattern_type = asked.pattern_type
    loose = pattern_type in (PatternType.ANY, PatternType.MATCH)
    acl = AclBinding(
        asked.resource_type,
        asked.resource_name or "",
        PatternType.LITERAL if loose else pattern_type,
        asked.principal,
        asked.host,
        asked.operation,
        asked.permission_type,
    )
    found = f"the ACL: {acl_text(acl)}"
    return f"{found}, on {resources_in(asked)}" if loose else found
