"""What does one record of Kafka's authorizer log say?

Reads the decisions of every authorizer that wrote such a log: `standard` (KRaft, with the
rule that decided), `acl` (ZooKeeper mode, 2.4 to 3.9), `simple-2.0` (2.0 to 2.3) and
`simple-0.9` (0.9 to 1.1); and decision records, which are JSON. Pure text work: the pipeline and the pages share it.

Principals and names are free text and may hold any of the words around them, so the
fixed words are looked for from both ends: the rule, the count and the request from the
right, then the principal up to the last place where its separator can be. Where a
name imitates those words more than one reading is possible, and the event says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)

LOGGER = "kafka.authorizer.logger"

# Why a record is not a decision; the words are counted and shown.
SUPER_USER_NOTE = "note that the client is a super user"
MATCH_NOTE = "note of an ACL that matched"
NO_ACL_NOTE = "note that no ACL was found"
OTHER_LOGGER = "record of another logger"
NO_LAYOUT = "no log record"
UNREADABLE = "record of the authorizer that cannot be read"


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """One decision as logged.

    `time` is as written, in the broker's own zone, which the log does not name. `time`
    and `level` are None when only a suffix was given; `pattern_type`, `api_name`,
    `ref_count`, `rule` and `acl` are None where that family of log does not tell them.
    `ambiguous` is true where the words that separate the parts can be found in more than
    one place, so that another reading of the record is possible.
    """

    time: str | None
    level: str | None
    principal: str
    allowed: bool
    operation: Operation
    host: str
    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType | None
    api_name: str | None
    ref_count: int | None
    rule: str | None
    acl: AclBinding | None
    family: str
    ambiguous: bool

    def as_dict(self) -> dict[str, object]:
        """Return the promised keys of `python -m aclweb.acl audit`."""
        return {
            "level": self.level,
            "time": self.time,
            "principal": self.principal,
            "result": "ALLOWED" if self.allowed else "DENIED",
            "operation": self.operation.name,
            "host": self.host,
            "resource_type": self.resource_type.name,
            "resource_name": self.resource_name,
            "pattern_type": self.pattern_type.name if self.pattern_type else None,
            "request": self.api_name,
            "ref_count": self.ref_count,
            "rule": self.rule,
            "acl": self.acl.as_dict() if self.acl else None,
            "family": self.family,
            "ambiguous": self.ambiguous,
        }


@dataclass(frozen=True, slots=True)
class NotDecision:
    """A record without a decision, and the reason, one of this module's words."""

    reason: str


_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}[,.][0-9]{3}"
_RECORD_START = re.compile(rf"\[{_TIME}\] [A-Z]+ ")
_LAYOUT = re.compile(rf"\[({_TIME})\] ([A-Z]+) +(.*) \(([^()\s]+)\)", re.DOTALL)
_RECORD_OF_JSON = re.compile(rf"\[({_TIME})\] (\{{.*\}})", re.DOTALL)
_RECORD_END = re.compile(r" \([^()\s]+\)\r?$")
_TAIL = f" ({LOGGER})"
# Warnings of the JVM may end in brackets too; they take no part in a decision that ended before them.
_DECISION_END = re.compile(rf"{re.escape(_TAIL)}\r?$")

_COUNT = "[0-9]{1,18}"
_RULE = (
    r"SuperUser|DefaultAllow|DefaultDeny"
    r"|MatchingAcl\(acl=StandardAcl(?:\(resourceType=.*\)|\[resourceType=.*\])\)"
)
_ENDING = rf" for request = \w+ with resourceRefCount = {_COUNT}"
_SEPARATOR = r" is (?:Allowed|Denied) [oO]peration = [A-Za-z_]+ from host = \S+ on resource = [A-Za-z]+:"

# Cuts off the end; the greedy first part leaves the last place where an end can begin.
_STANDARD_END = re.compile(
    rf"(.*) for request = (\w+) with resourceRefCount = ({_COUNT}) based on rule ({_RULE})", re.DOTALL
)
_ACL_END = re.compile(rf"(.*) for request = (\w+) with resourceRefCount = ({_COUNT})", re.DOTALL)


def _head(operation: str, pattern: str) -> re.Pattern[str]:
    """Return what reads a record up to its end; greedy, it leaves the last place where a principal can end."""
    return re.compile(
        rf"Principal = (.*) is (Allowed|Denied) {operation} = ([A-Za-z_]+) from host = (\S+)"
        rf" on resource = ([A-Za-z]+):{pattern}(.*)",
        re.DOTALL,
    )


_PATTERN = f"({'|'.join(PatternType.__members__)}):"
_STANDARD_HEAD = _head("operation", _PATTERN)
_ACL_HEAD = _head("Operation", _PATTERN)
_OLDEST_HEAD = _head("Operation", "()")

# The rule's ACL up to its name, from its operation on, and between its name and its principal.
_ACL_START = re.compile(r"MatchingAcl\(acl=StandardAcl[\[(]resourceType=([A-Z_]+), resourceName=")
_ACL_REST = re.compile(r", operation=([A-Z_]+), permissionType=([A-Z]+)[\])]\)")
_PRINCIPAL_OF_ACL = re.compile(r", patternType=([A-Z]+), principal=")
_ANY_SEPARATOR = re.compile(_SEPARATOR)
_ANY_ENDING = re.compile(_ENDING)

_NOTES = (
    (
        re.compile(r"principal = .* is a super user, allowing operation without checking acls\.", re.S),
        SUPER_USER_NOTE,
    ),
    (
        re.compile(r"operation = \w+ on resource = .* from host = .* is \w+ based on acl = .*", re.S),
        MATCH_NOTE,
    ),
    (re.compile(r"No acl found for resource .*, authorized = (?:true|false)", re.S), NO_ACL_NOTE),
)


def records(lines: Iterable[str]) -> Iterator[str]:
    """Return the records of a log, in order, joined where a name with line breaks parted them.

    lines: with or without their line ends. A record starts where a line begins with a time
    and a level, and ends with the last line that ends as a decision, or else as any record; what
    comes before the first one, or after such an end, comes as one record of its own. Blank
    lines behind an end are dropped.
    """
    parts: list[str] = []
    for line in lines:
        text = line[:-1] if line.endswith("\n") else line
        if parts and _RECORD_START.match(text):
            yield from _whole(parts)
            parts = [text]
        elif parts or text.strip():
            parts.append(text)
    if parts:
        yield from _whole(parts)


def starts_record(line: str) -> bool:
    """Whether a record starts with this line, so that the one before it is at its end."""
    return _RECORD_START.match(line) is not None


def _whole(parts: list[str]) -> Iterator[str]:
    """Yield the record of these lines, and what follows its end as another."""
    if len(parts) == 1 or not _RECORD_START.match(parts[0]):
        yield _joined(parts)
        return
    end = _end_of(parts, _DECISION_END) or _end_of(parts, _RECORD_END) or len(parts)
    yield _joined(parts[:end])
    if any(part.strip() for part in parts[end:]):
        yield _joined(parts[end:])


def _end_of(parts: list[str], ending: re.Pattern[str]) -> int | None:
    """Return how many of these lines the last one that ends so closes; None if none does."""
    return next((at for at in range(len(parts), 0, -1) if ending.search(parts[at - 1])), None)


def _joined(parts: list[str]) -> str:
    # A log written on Windows ends its lines in CR LF; empty lines after the last record are none of it.
    return "\n".join(parts).rstrip("\r\n")


def parse_record(record: str) -> AccessEvent | NotDecision:
    """Return what one record says; `record` is without its line end."""
    layout = _LAYOUT.fullmatch(record)
    if layout is None:
        if told := _RECORD_OF_JSON.fullmatch(record):
            return _decision_record(told[2], told[1])
        damaged = _RECORD_START.match(record) and ("Principal = " in record or LOGGER in record)
        return NotDecision(UNREADABLE if damaged else NO_LAYOUT)
    time, level, message, logger = layout.groups()
    if logger != LOGGER:
        return NotDecision(OTHER_LOGGER)
    return _parse_message(message, time, level)


def parse_suffix(text: str) -> AccessEvent | NotDecision:
    """Return what the part after time and level says, with or without the logger's name.

    The event's `time` and `level` are None.
    """
    return _parse_message(text.removesuffix(_TAIL), None, None)


class DecisionRecordError(ValueError):
    """An object that is no decision record; the message says what it lacks."""


_DECISION_WORDS = ("principal", "host", "operation", "resourceType", "resourceName")


def decision_record_text(found: Mapping[str, Any]) -> str:
    """Return a decision record without its time, as text that is the same for equal decisions.

    found: its keys, see docs/pipeline.md; others are left out. Raises DecisionRecordError where one is wrong.
    """
    told = {key: found.get(key) for key in _DECISION_WORDS}
    wrong = next((key for key, value in told.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise DecisionRecordError(f"A decision record needs {wrong!r} as a text.")
    allowed, pattern_type, api = found.get("allowed"), found.get("patternType"), found.get("api")
    if not isinstance(allowed, bool):
        raise DecisionRecordError("A decision record needs 'allowed' as true or false.")
    if pattern_type is not None and pattern_type not in PatternType.__members__:
        raise DecisionRecordError(f"{pattern_type!r} is no pattern type of a decision record.")
    if api is not None and not isinstance(api, str):
        raise DecisionRecordError("The 'api' of a decision record is a text.")
    told |= {"patternType": pattern_type, "allowed": allowed, "api": api}
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def _decision_record(text: str, time: str) -> AccessEvent | NotDecision:
    try:
        found = json.loads(text)
        decision_record_text(found)
    except (ValueError, RecursionError, AttributeError):
        return NotDecision(UNREADABLE)
    return AccessEvent(
        time=time,
        level=None,
        principal=found["principal"],
        allowed=found["allowed"],
        operation=_OPERATIONS.get(_plain_word(found["operation"]), Operation.UNKNOWN),
        host=found["host"],
        resource_type=_RESOURCE_TYPES.get(_plain_word(found["resourceType"]), ResourceType.UNKNOWN),
        resource_name=found["resourceName"],
        pattern_type=PatternType[found["patternType"]] if found.get("patternType") else None,
        api_name=found.get("api"),
        ref_count=None,
        rule=None,
        acl=None,
        family="decision-record",
        ambiguous=False,
    )


def _plain_word(word: str) -> str:
    return word.replace("_", "").upper()


class _End(NamedTuple):
    """The text after the resource name; None where a family does not write it."""

    api_name: str | None
    ref_count: int | None
    rule: str | None


def _parse_message(message: str, time: str | None, level: str | None) -> AccessEvent | NotDecision:
    standard = _STANDARD_END.fullmatch(message)
    if standard is not None:
        rest, api_name, count, rule = standard.groups()
        head = _STANDARD_HEAD.fullmatch(rest)
        if head is not None:
            return _event(time, level, head, rest, _End(api_name, int(count), rule), "standard")

    older = _ACL_END.fullmatch(message)
    if older is not None:
        rest, api_name, count = older.groups()
        head = _ACL_HEAD.fullmatch(rest)
        if head is not None:
            return _event(time, level, head, rest, _End(api_name, int(count), None), "acl")

    for pattern, family in ((_ACL_HEAD, "simple-2.0"), (_OLDEST_HEAD, "simple-0.9")):
        head = pattern.fullmatch(message)
        if head is not None:
            return _event(time, level, head, message, _End(None, None, None), family)
    for pattern, reason in _NOTES:
        if pattern.fullmatch(message):
            return NotDecision(reason)
    return NotDecision(UNREADABLE)


def _event(
    time: str | None, level: str | None, head: re.Match[str], rest: str, end: _End, family: str
) -> AccessEvent | NotDecision:
    principal, result, operation, host, resource_type, pattern_type, name = head.groups()
    rule, acl = end.rule, None
    if rule is not None and rule.startswith("MatchingAcl"):
        acl = _acl_of(rule, principal, name)
        if acl is None:
            return NotDecision(UNREADABLE)
        rule = "MatchingAcl"
    return AccessEvent(
        time=time,
        level=level,
        principal=principal,
        allowed=result == "Allowed",
        operation=_OPERATIONS.get(operation.upper(), Operation.UNKNOWN),
        host=host,
        resource_type=_RESOURCE_TYPES.get(resource_type.upper(), ResourceType.UNKNOWN),
        resource_name=name,
        pattern_type=PatternType[pattern_type] if pattern_type else None,
        api_name=end.api_name,
        ref_count=end.ref_count,
        rule=rule,
        acl=acl,
        family=family,
        ambiguous=_is_ambiguous(rest, has_ending=end.api_name is not None),
    )


def _is_ambiguous(rest: str, *, has_ending: bool) -> bool:
    """Whether the text before the chosen end holds another separator, or another end."""
    first = _ANY_SEPARATOR.search(rest)
    if first is None:
        return False
    another_separator = _ANY_SEPARATOR.search(rest, first.start() + 1) is not None
    return another_separator or (has_ending and _ANY_ENDING.search(rest, first.end()) is not None)


def _acl_of(rule: str, principal: str, name: str) -> AclBinding | None:
    """Return the ACL that a MatchingAcl broker rule names; None when the text is cut or damaged.

    An ACL that settled a decision is for the session's principal or for everyone, on `name`, a piece of it
    or `*`. Where names imitate the words between them, that tells which words part them.
    """
    start = _ACL_START.match(rule)
    rest = _ACL_REST.fullmatch(rule, max(rule.rfind(", operation="), 0))
    if start is None or rest is None:
        return None
    named, comma, host = rule[start.end() : rest.start()].rpartition(", host=")
    partings = list(_PRINCIPAL_OF_ACL.finditer(named))
    if not comma or not partings:
        return None
    likely = {len(named) - len(text) for text in (principal, ANY_USER) if named.endswith(text)}
    parting = partings[-1]
    for place in reversed(partings):
        pattern_name = named[: place.start()] if place.end() in likely else None
        if pattern_name is not None and (pattern_name == WILDCARD or name.startswith(pattern_name)):
            parting = place
            break
    return AclBinding(
        ResourceType.__members__.get(start[1], ResourceType.UNKNOWN),
        named[: parting.start()],
        PatternType.__members__.get(parting[1], PatternType.UNKNOWN),
        named[parting.end() :],
        host,
        Operation.__members__.get(rest[1], Operation.UNKNOWN),
        PermissionType.__members__.get(rest[2], PermissionType.UNKNOWN),
    )


# The standard authorizer writes DESCRIBE_CONFIGS, the older ones DescribeConfigs.
_OPERATIONS = {word: member for member in Operation for word in (member.name, member.pascal.upper())}
_RESOURCE_TYPES = {member.pascal.upper(): member for member in ResourceType}
