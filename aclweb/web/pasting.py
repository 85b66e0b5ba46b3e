"""Which edit does a pasted text describe: ACLs in any notation, an edit as JSON lines, or kafka-acls commands?

Commands are worked out as Kafka's own tool of the cluster's version would, one after the
other, against what is in force: a removal becomes the ACLs that its filters match. What
the tool does without saying so is told as a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from aclweb.acl.filters import AclFilter
from aclweb.acl.kafka_acls import TOOLS, plan
from aclweb.acl.model import AclBinding, AclError
from aclweb.acl.notation import read_acls, read_edits
from aclweb.acl.problems import NotationError
from aclweb.inventory.current import InForce

# What one paste may hold; more belongs into a file for `python -m aclweb.acl`.
MOST_ACLS = 5_000
MOST_COMMANDS = 2_000
# An ACL takes up to nine lines, in JSON that is spread out.
MOST_LINES = 10 * MOST_ACLS
# Filters of one paste that are held against every ACL.
MOST_SEARCHES = 50

_COMMAND = re.compile(
    rf"(?:^|[\s/\\])(?:{'|'.join(map(re.escape, sorted(TOOLS)))})(?:\s|$)|^\s*(?:[$>]\s+)?--\w"
)
# The first line of an edit, as a what-if on the command line reads it: an ACL with one more key.
_EDIT = re.compile(r'^\s*\{.*"op"\s*:')

# Advice that only the command line can follow.
_OPTION = ", or name the format with --format"


@dataclass
class Pasted:
    """What a text asks for, as ("add" or "remove", ACL) in its order, and what there is to say of it."""

    lines: list[tuple[str, AclBinding]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Spent:
    """How many ACLs and filters the commands so far stand for, and how many were held against every ACL."""

    acls: int = 0
    searches: int = 0


def read_pasted(text: str, in_force: InForce) -> Pasted:
    """Return what a pasted text asks for; what cannot be understood becomes sentences with its line."""
    found = Pasted()
    lines = len(text.splitlines())
    if lines > MOST_LINES:
        found.errors.append(f"The pasted text has {lines:,} lines, and at most {MOST_LINES:,} are read here.")
        return found
    first = next(_commands(text), None)
    if first is not None and _COMMAND.search(first[1]):
        _read_commands(found, text, in_force)
        return found
    whole = f"{text.strip()}\n"
    try:
        if first is not None and _EDIT.search(first[1]):
            found.lines = [(edit.op, edit.binding) for edit in read_edits(whole, source="pasted text")]
        else:
            found.lines = [("add", binding) for binding in read_acls(whole, source="pasted text")]
    except NotationError as error:
        found.errors += [message.replace(_OPTION, "") for message in error.messages]
    return found


def _read_commands(found: Pasted, text: str, in_force: InForce) -> None:
    """Add what the commands ask for, until they are too many."""
    spent = _Spent()
    for count, (number, command) in enumerate(_commands(text)):
        if count == MOST_COMMANDS or spent.acls >= MOST_ACLS:
            what = f"{MOST_COMMANDS:,} commands" if count == MOST_COMMANDS else f"{MOST_ACLS:,} ACLs"
            found.errors.append(
                f"pasted text:{number}: At most {what} are worked out at once, so nothing from this line on was read."
            )
            break
        _read_command(found, number, command, in_force, spent)
    found.warnings = list(dict.fromkeys(found.warnings))


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield each command with the number of its first line, joined where a line ends in a backslash."""
    begun: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first = first if begun else number
        if len(line) - len(line.rstrip("\\")) & 1:
            begun.append(line[:-1])
            continue
        yield first, " ".join([*begun, line])
        begun = []
    if begun:
        yield first, " ".join([*begun, ""])


def _read_command(found: Pasted, number: int, command: str, in_force: InForce, spent: _Spent) -> None:
    """Add what one command asks for."""
    try:
        told = plan(command, in_force.rules, most=MOST_ACLS)
    except AclError as error:
        found.errors.append(f"pasted text:{number}: {error}")
        return
    if told.error is not None:
        found.errors.append(f"pasted text:{number}: kafka-acls would refuse this: {told.error}")
        return
    spent.acls += len(told.acls) + len(told.filters)
    found.warnings += [f"Line {number}: {note}" for note in told.notes]
    found.lines += [("add", binding) for binding in told.acls]
    if told.action != "remove":
        if told.action != "add":
            found.warnings.append(f"Line {number}: This only lists ACLs, so it asks for nothing.")
        return
    removed: list[AclBinding] = []
    for asked in told.filters:
        exact = _only(asked)
        if exact is not None:
            removed += [exact] if exact in in_force.index else []
        elif spent.searches < MOST_SEARCHES:
            spent.searches += 1
            removed += [binding for binding in in_force.holdings.in_reading_order if asked.matches(binding)]
        else:
            found.errors.append(
                f"pasted text:{number}: At most {MOST_SEARCHES} removals that can match several ACLs are worked out "
                "at once; paste the rest by itself."
            )
            break
    removed = list(dict.fromkeys(removed))
    found.lines += [("remove", binding) for binding in removed]
    if not removed:
        found.warnings.append(f"Line {number}: This matches no ACL that is in force, so it removes nothing.")
    elif len(removed) > 1:
        found.warnings.append(f"Line {number}: This removes {len(removed):,} ACLs.")


def _only(asked: AclFilter) -> AclBinding | None:
    """Return the one ACL that a filter can match; None for a filter that leaves a choice."""
    name, principal, host = asked.resource_name, asked.principal, asked.host
    if not asked.matches_at_most_one or name is None or principal is None or host is None:
        return None
    binding = AclBinding(
        asked.resource_type, name, asked.pattern_type, principal, host, asked.operation, asked.permission_type
    )
    return binding if AclFilter.exactly(binding) == asked and asked.matches(binding) else None
