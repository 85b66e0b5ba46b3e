"""Which edit does a pasted text describe: ACLs in any notation, an edit as JSON lines, or kafka-acls commands?

Commands are worked out as Kafka's own tool of the cluster's version would, one after the
other, against what is in force: a removal becomes the ACLs that its filters match. What
the tool does without saying so is shown as a warning. A command without an address is one for
this cluster, and said to be. The same sentence about many lines is shown once, with the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aclweb.acl.kafka import TOOLS, Plan, plan, read_shell_line
from aclweb.acl.matching import AclFilter
from aclweb.acl.model import AclBinding, AclError, NotationError, shown
from aclweb.acl.notation import ACL_KEYS, read_acls, read_edits
from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Cluster
from aclweb.web.shell.typed_principal import holds_pem, pem_fault

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
_PLACE = re.compile(r"pasted text:(\d+): (.*)", re.DOTALL)
_LOG_LINE = re.compile(r"\bis (?:Allowed|Denied) operation\b", re.IGNORECASE)
# What kafka-acls of any version says where no cluster is named.
_NO_ADDRESS = (
    "One of --bootstrap-server or --bootstrap-controller must be specified",
    'Missing required argument "[authorizer-properties]"',
)
_ADDRESS_OPTIONS = ("--bootstrap-server", "--bootstrap-controller")
_FORMAT_UNKNOWN = "The format is not recognised"


@dataclass
class Pasted:
    """What a text asks for, as ("add" or "remove", ACL) in its order, and what there is to say of it."""

    lines: list[tuple[str, AclBinding]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    # A text that no page may show again.
    is_secret: bool = False


@dataclass
class _Messages:
    """Sentences about lines of the text, by the line; one sentence about many lines is shown once."""

    lines_of: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, sentence: str) -> None:
        self.lines_of.setdefault(sentence, []).append(number)

    def sentences(self) -> list[str]:
        return [f"{_places(numbers)}: {sentence}" for sentence, numbers in self.lines_of.items()]


def _places(numbers: list[int]) -> str:
    """Line 3; lines 1 to 30; lines 1, 4, 9 and 27 more."""
    numbers = sorted(set(numbers))
    if len(numbers) == 1:
        return f"Line {numbers[0]:,}"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"Lines {numbers[0]:,} to {numbers[-1]:,}"
    if len(numbers) <= 4:
        *some, last = map(str, numbers)
        return f"Lines {', '.join(some)} and {last}"
    return f"Lines {', '.join(map(str, numbers[:3]))} and {len(numbers) - 3:,} more"


def read_pasted(text: str, view: ClusterView) -> Pasted:
    """Return what a pasted text asks for; what cannot be understood becomes sentences with its line."""
    found = Pasted()
    if holds_pem(text):
        found.is_secret = True
        found.errors.append(pem_fault("ACLs or kafka-acls commands"))
        return found
    lines = len(text.splitlines())
    if lines > MOST_LINES:
        found.errors.append(f"The pasted text has {lines:,} lines, and at most {MOST_LINES:,} are read here.")
        return found
    first = next(_commands(text), None)
    if first is not None and _COMMAND.search(first[1]):
        _read_commands(found, text, view)
        return found
    whole = f"{text.strip()}\n"
    try:
        if first is not None and _EDIT.search(first[1]):
            found.lines = [(edit.op, edit.binding) for edit in read_edits(whole, source="pasted text")]
        else:
            found.lines = [("add", binding) for binding in read_acls(whole, source="pasted text")]
    except NotationError as error:
        found.errors += _read_errors(error, first[1] if first is not None else "")
    return found


def read_text(text: str, view: ClusterView) -> Pasted:
    """Return the edit that a whole draft is, written as text in any notation of `read_pasted`; no text is no edit."""
    return read_pasted(text, view) if text.strip() else Pasted()


def _read_errors(error: NotationError, first: str) -> list[str]:
    """Return what is wrong with ACLs, for a person who sees the text and this page."""
    messages = _Messages()
    others: list[str] = []
    for message in error.messages:
        place = _PLACE.fullmatch(message)
        if place is None:
            others.append(message)
            continue
        sentence = place[2].replace(_OPTION, "")
        if _LOG_LINE.search(first):
            sentence = "This is a line of an authorizer log, not an ACL. Paste log lines on the page Explain."
        elif sentence.startswith(_FORMAT_UNKNOWN) and "," in first:
            sentence = f"A CSV needs its header as the first line: {','.join(ACL_KEYS)}"
        messages.add(int(place[1]), sentence)
    return [*others, *messages.sentences()]


def _read_commands(found: Pasted, text: str, view: ClusterView) -> None:
    """Add what the commands ask for, until they are too many."""
    reader = _CommandReader(found, view)
    for count, (number, command) in enumerate(_commands(text)):
        if count == MOST_COMMANDS or reader.acls >= MOST_ACLS:
            what = f"{MOST_COMMANDS:,} commands" if count == MOST_COMMANDS else f"{MOST_ACLS:,} ACLs"
            reader.errors.add(
                number, f"At most {what} are worked out at once, so nothing from this line on was read."
            )
            break
        reader.read(number, command)
    found.errors += reader.errors.sentences()
    found.warnings += reader.warnings.sentences()


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


@dataclass
class _CommandReader:
    """Adds to `found` what commands ask for.

    acls: how many ACLs and filters they stand for so far; searches: filters that were held against every ACL.
    """

    found: Pasted
    view: ClusterView
    errors: _Messages = field(default_factory=_Messages)
    warnings: _Messages = field(default_factory=_Messages)
    acls: int = 0
    searches: int = 0

    def read(self, number: int, command: str) -> None:
        """Add what one command asks for; number: its first line."""
        try:
            line = read_shell_line(command, TOOLS)
            planned = self._planned(number, line.words)
        except AclError as error:
            self.errors.add(number, str(error))
            return
        if planned.error is not None:
            self.errors.add(number, f"kafka-acls would refuse this: {planned.error}")
            return
        self._warn_of_another_cluster(number, line.words)
        self.acls += len(planned.acls) + len(planned.filters)
        for note in (*line.remarks, *planned.notes):
            self.warnings.add(number, note)
        self.found.lines += [("add", binding) for binding in planned.acls]
        if planned.action == "remove":
            self._remove(number, planned.filters)
        elif planned.action != "add":
            self.warnings.add(number, "This only lists ACLs, so it asks for nothing.")

    def _planned(self, number: int, words: Sequence[str]) -> Plan:
        """Return what the tool would do; a command without an address is one for this cluster."""
        settings = self.view.settings
        planned = plan(words, settings, most=MOST_ACLS)
        if planned.error not in _NO_ADDRESS:
            return planned
        planned = plan([*words, "--bootstrap-server", "this-cluster:9092"], settings, most=MOST_ACLS)
        self.warnings.add(
            number, f"No --bootstrap-server is given; this draft is for {self.view.cluster.name}."
        )
        return planned

    def _warn_of_another_cluster(self, number: int, words: Sequence[str]) -> None:
        cluster = self.view.cluster
        if (elsewhere := _elsewhere(words, cluster)) is not None:
            self.warnings.add(
                number,
                f"{shown(elsewhere)} is not the address that aclweb has for {cluster.name}; "
                f"this draft is for {cluster.name} all the same.",
            )

    def _remove(self, number: int, filters: Sequence[AclFilter]) -> None:
        """Add the removal of the ACLs that filters match."""
        removed: list[AclBinding] = []
        for asked in filters:
            exact = _only(asked)
            if exact is not None:
                removed += [exact] if exact in self.view.index else []
            elif self.searches < MOST_SEARCHES:
                self.searches += 1
                removed += [
                    binding for binding in self.view.loaded.in_reading_order if asked.matches(binding)
                ]
            else:
                self.errors.add(
                    number,
                    f"At most {MOST_SEARCHES} removals that can match several ACLs are worked out at once; "
                    "paste the rest by itself.",
                )
                break
        removed = list(dict.fromkeys(removed))
        self.found.lines += [("remove", binding) for binding in removed]
        if not removed:
            self.warnings.add(number, "This matches no ACL that is in force, so it removes nothing.")
        elif len(removed) > 1:
            self.warnings.add(number, f"This removes {len(removed):,} ACLs.")


def _elsewhere(words: Sequence[str], cluster: Cluster) -> str | None:
    """Return the address that a command names, if it has no broker in common with this cluster's.

    None where that is unknown: a variable of the shell, or an address that is not the brokers'.
    """
    if not cluster.source.has_bootstrap_address:
        return None
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option not in _ADDRESS_OPTIONS:
            continue
        value = value if equals else (words[place + 1] if place + 1 < len(words) else "")
        if not value or "$" in value:
            return None
        named = {broker.strip().lower() for broker in value.split(",")}
        known = {broker.strip().lower() for broker in cluster.address.split(",")}
        return None if named & known else value
    return None


def _only(asked: AclFilter) -> AclBinding | None:
    """Return the one ACL that a filter can match; None for a filter that leaves a choice."""
    name, principal, host = asked.resource_name, asked.principal, asked.host
    if not asked.matches_at_most_one or name is None or principal is None or host is None:
        return None
    binding = AclBinding(
        asked.resource_type, name, asked.pattern_type, principal, host, asked.operation, asked.permission_type
    )
    return binding if AclFilter.exactly(binding) == asked and asked.matches(binding) else None
