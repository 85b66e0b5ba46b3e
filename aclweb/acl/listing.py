"""How does kafka-acls write ACLs: what it lists, and the commands that would add them?

Listings of every version are read: `ResourcePattern(...)` with parenthesised entries (2.1
and later, with or without the stray spaces of the tool written in Scala), `Topic:LITERAL:x`
(2.0 to 2.3 on ZooKeeper) and `Topic:x` (0.9 to 1.1). Names are free text and may hold
line breaks or imitate the words around them: lines are joined until a header or an entry
is complete, and within it the fields are taken from the right.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

from aclweb.acl.model import (
    CLUSTER_NAME,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    split_principal,
)
from aclweb.acl.problems import Problems, shown
from aclweb.acl.profiles import Rules, operations_of

HEADER_START = "Current ACLs for resource `"
PRINCIPAL_START = "ACLs for principal `"

# Kafka's texts hold at most 32,767 bytes each; a piece beyond this is no piece.
LONGEST_PIECE = 200_000


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one kind of line looks: its first line begins so, its last line ends so, all of it is so."""

    begins: re.Pattern[str]
    ends: re.Pattern[str]
    whole: re.Pattern[str]

    @classmethod
    def of(cls, begins: str, middle: str, ends: str) -> Self:
        return cls(
            re.compile(begins),
            re.compile(f"{ends} ?\r?$"),
            re.compile(f"{begins}{middle}{ends} ?\r?", re.DOTALL),
        )


_HEADER = _Shape.of(
    r"Current ACLs for resource `ResourcePattern\(resourceType=([A-Z_]+), name=",
    "(.*)",
    r", patternType=([A-Z]+)\)`:",
)
_OLD_HEADER = _Shape.of(r"Current ACLs for resource `([A-Za-z]+):", "(?:([A-Z]+):)?(.*)", "`:")
_PRINCIPAL = _Shape.of("ACLs for principal `", ".*", "`")
_ENTRY = _Shape.of(
    r" ?\t\(principal=", "(.*), host=(.*)", r", operation=([A-Z_]+), permissionType=([A-Z]+)\)"
)
_OLD_ENTRY = _Shape.of(
    r" ?\t(?!\(principal=)",
    "(.*)",
    r" has ([A-Za-z]+) permission for operations: ([A-Za-z]+) from hosts: (.*?)",
)
_SHAPES = (_HEADER, _OLD_HEADER, _PRINCIPAL, _ENTRY, _OLD_ENTRY)
_STARTS = (HEADER_START, PRINCIPAL_START, "\t", " \t")

Word = TypeVar("Word", ResourceType, PatternType, Operation, PermissionType)

_RESOURCE_TYPES = {member.pascal.upper(): member for member in ResourceType}
_OPERATIONS = {member.pascal.upper(): member for member in Operation}
_PERMISSIONS = {member.name: member for member in PermissionType}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A header or an entry, joined from the lines it was spread over."""

    line: int
    text: str


def read_listing(text: str, problems: Problems) -> Iterator[tuple[int, AclBinding]]:
    """Return each ACL of a listing as (line of its entry, ACL); note bad lines in `problems`."""
    pattern: ResourcePattern | None = None
    is_bad_block = False
    for piece in _pieces(text, problems):
        try:
            if piece.text.startswith(PRINCIPAL_START):
                pattern, is_bad_block = None, False
            elif piece.text.startswith(HEADER_START):
                pattern, is_bad_block = None, True
                pattern = _pattern(piece.text)
                is_bad_block = False
            elif pattern is not None:
                yield piece.line, _binding(pattern, piece.text)
            elif not is_bad_block:
                raise AclError(f"{shown(piece.text)} stands under no resource; its header line is missing.")
        except AclError as error:
            problems.add(piece.line, error)


def _pieces(text: str, problems: Problems) -> Iterator[_Piece]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first = lines[at]
        if not first.strip(" \t\r"):
            at += 1
            continue
        if not first.startswith(_STARTS):
            problems.add(
                at + 1,
                f"{shown(first)} is not a line of `kafka-acls --list`; "
                f"its blocks begin with '{HEADER_START}…'.",
            )
            at += 1
            continue
        end = _end_of_piece(lines, at)
        if end is None:
            problems.add(
                at + 1,
                f"{shown(first)} is cut off or damaged; write it as kafka-acls does, for example "
                f"'{HEADER_START}ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:' or "
                "'<tab>(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)'.",
            )
            at += 1
            continue
        yield _Piece(at + 1, "\n".join(lines[at:end]))
        at = end


def _end_of_piece(lines: list[str], start: int) -> int | None:
    """Return the index after the last line of the piece that starts at `start`; None if it never ends.

    A piece ends at the first line with which it is complete. The search gives up at a line
    that is a complete piece by itself: what stands before it is damaged.
    """
    shape = next((shape for shape in _SHAPES if shape.begins.match(lines[start])), None)
    if shape is None:
        return None
    length = 0
    for end in range(start + 1, len(lines) + 1):
        last = lines[end - 1]
        length += len(last) + 1
        if length > LONGEST_PIECE:
            return None
        if shape.ends.search(last) and shape.whole.fullmatch("\n".join(lines[start:end])):
            return end
        if end - 1 > start and any(other.whole.fullmatch(last) for other in _SHAPES):
            return None
    return None


def _pattern(header: str) -> ResourcePattern:
    """Return the pattern of a header; raise AclError for a word that Kafka does not know."""
    new = _HEADER.whole.fullmatch(header)
    if new is not None:
        resource_type = _word(ResourceType.__members__, "Resource type", new[1])
        return ResourcePattern(resource_type, new[2], _word(PatternType.__members__, "Pattern type", new[3]))
    old = _OLD_HEADER.whole.fullmatch(header)
    if old is None:  # pragma: no cover - a piece is complete before it comes here
        raise AclError(f"{shown(header)} is no header of a listing.")
    kind, pattern_word, name = old.groups()
    resource_type = _word(_RESOURCE_TYPES, "Resource type", kind.upper(), kind)
    if pattern_word is None:
        return ResourcePattern(resource_type, name, PatternType.LITERAL)
    if pattern_word not in PatternType.__members__:
        # Before 2.0 there was no pattern type, so this is a name such as `APP:orders`.
        return ResourcePattern(resource_type, f"{pattern_word}:{name}", PatternType.LITERAL)
    return ResourcePattern(resource_type, name, PatternType[pattern_word])


def _binding(pattern: ResourcePattern, entry: str) -> AclBinding:
    """Return the ACL of an entry; raise AclError for a word that Kafka does not know."""
    new = _ENTRY.whole.fullmatch(entry)
    if new is not None:
        principal, host, operation_word, permission_word = new.groups()
        operation = _word(Operation.__members__, "Operation", operation_word)
    else:
        old = _OLD_ENTRY.whole.fullmatch(entry)
        if old is None:  # pragma: no cover - a piece is complete before it comes here
            raise AclError(f"{shown(entry)} is no entry of a listing.")
        principal, permission_word, operation_word, host = old.groups()
        operation = _word(_OPERATIONS, "Operation", operation_word.upper(), operation_word)
    permission = _word(_PERMISSIONS, "Permission type", permission_word.upper(), permission_word)
    return AclBinding(
        pattern.resource_type,
        pattern.name,
        pattern.pattern_type,
        sys.intern(principal),
        sys.intern(host),
        operation,
        permission,
    )


def _word(words: Mapping[str, Word], title: str, word: str, written: str = "") -> Word:
    member = words.get(word)
    if member is None or member.name in ("ANY", "MATCH"):
        raise AclError(
            f"{title} {shown(written or word)} is not one that an ACL can have; "
            f"kafka-acls prints one of {', '.join(key for key in words if key not in ('ANY', 'MATCH'))}."
        )
    return member


def write_listing(bindings: Iterable[AclBinding], *, scala: bool) -> str:
    """Return what `kafka-acls --list` prints for `bindings`, one block a pattern.

    scala: with the stray spaces of the tool up to 4.0, else as the later one prints it.
    Raises AclError for an ACL that cannot be told from another once it is printed.
    """
    blocks: dict[ResourcePattern, dict[str, None]] = {}
    for binding in bindings:
        entry = (
            f"(principal={binding.principal}, host={binding.host}, "
            f"operation={binding.operation.name}, permissionType={binding.permission_type.name})"
        )
        blocks.setdefault(binding.pattern, {})[entry] = None
        reason = why_not_listed(binding)
        if reason:
            raise AclError(reason)
    return "".join(_block(pattern, entries, scala=scala) for pattern, entries in blocks.items())


def why_not_listed(binding: AclBinding) -> str | None:
    """Return why this ACL would read differently after being listed, None when it reads the same."""
    texts = (binding.resource_name, binding.principal, binding.host)
    if not any("\n" in text or "\r" in text for text in texts) and ", host=" not in binding.host:
        return None
    entry = (
        f"(principal={binding.principal}, host={binding.host}, "
        f"operation={binding.operation.name}, permissionType={binding.permission_type.name})"
    )
    problems = Problems("")
    block = _block(binding.pattern, [entry, entry], scala=False)
    read = {found for _line, found in read_listing(block, problems)}
    if problems or read != {binding}:
        return f"The listing of this ACL would be read as another: {shown(str(binding.as_dict()))}; use JSON lines."
    return None


def _block(pattern: ResourcePattern, entries: Collection[str], *, scala: bool) -> str:
    header = (
        f"{HEADER_START}ResourcePattern(resourceType={pattern.resource_type.name}, "
        f"name={pattern.name}, patternType={pattern.pattern_type.name})`:"
    )
    lines = "\n".join(f"\t{entry}" for entry in entries)
    if scala:
        return f"{header} \n {lines} \n\n"
    return f"{header}\n{lines}\n\n"


_NAME_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}
_ACTIONS = {"add": ("--add",), "remove": ("--remove", "--force")}


def commands(
    bindings: Iterable[AclBinding],
    *,
    op: str = "add",
    bootstrap: str = '"$BOOTSTRAP"',
    rules: Rules | None = None,
) -> list[str]:
    """Return one kafka-acls command for each ACL, quoted for a POSIX shell.

    op: "add", or "remove", which removes exactly these ACLs and does not ask back.
    bootstrap: put after --bootstrap-server as it is, so it may name a shell variable.
    Raises AclError for an ACL that the tool cannot say, under `rules` (the newest Kafka
    when None).
    """
    lines = []
    for binding in bindings:
        reason = why_no_command(binding, rules or Rules())
        if reason:
            raise AclError(reason)
        lines.append(_command(binding, op, bootstrap))
    return lines


def _command(binding: AclBinding, op: str, bootstrap: str) -> str:
    side = binding.permission_type.name.lower()
    words = [
        *_ACTIONS[op],
        *_option(f"--{side}-principal", binding.principal),
        *_option(f"--{side}-host", binding.host),
        *_option("--operation", binding.operation.pascal),
    ]
    if binding.resource_type is ResourceType.CLUSTER:
        words.append("--cluster")
    else:
        words += _option(_NAME_OPTIONS[binding.resource_type], binding.resource_name)
        if binding.pattern_type is PatternType.PREFIXED:
            words += ("--resource-pattern-type", "prefixed")
    return f"kafka-acls --bootstrap-server {bootstrap} {shlex.join(words)}"


def _option(name: str, value: str) -> tuple[str, ...]:
    # A value that looks like an option is tied to its name, or it could be taken for one.
    return (f"{name}={value}",) if value.startswith("-") else (name, value)


def why_no_command(binding: AclBinding, rules: Rules) -> str | None:
    """Return why kafka-acls cannot say this ACL, as a sentence; None if it can."""
    if binding.has_unknown:
        return "kafka-acls has no word for UNKNOWN; name the type, pattern type, operation and permission."
    if binding.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        return f"kafka-acls cannot add an ACL of pattern type {binding.pattern_type.name}; use LITERAL or PREFIXED."
    if split_principal(binding.principal) is None:
        return (
            f"Principal {shown(binding.principal)} has no colon, which kafka-acls refuses; "
            f"write it as {shown('User:' + binding.principal)}."
        )
    is_the_cluster = binding.resource_name == CLUSTER_NAME and binding.pattern_type is PatternType.LITERAL
    if binding.resource_type is ResourceType.CLUSTER and not is_the_cluster:
        return (
            f"kafka-acls can only name the cluster as LITERAL {CLUSTER_NAME!r}, "
            f"not as {binding.pattern_type.name} {shown(binding.resource_name)}."
        )
    if not binding.resource_name:
        return "The resource name is empty, which kafka-acls refuses; name a resource."
    operations = (Operation.ALL, *operations_of(binding.resource_type, rules))
    if binding.operation not in operations:
        return (
            f"kafka-acls refuses {binding.operation.name} on {binding.resource_type.name}; "
            f"it takes {', '.join(operation.name for operation in operations)}."
        )
    for text in (binding.principal, binding.host, binding.resource_name):
        if "\0" in text:
            return f"{shown(text)} holds the character NUL, which no command line can."
        if any("\ud800" <= character <= "\udfff" for character in text):
            return f"{shown(text)} holds half a character (a lone surrogate), which no command line can."
    trimmed = [binding.principal, binding.host]
    if binding.resource_type is not ResourceType.TRANSACTIONAL_ID:
        trimmed.append(binding.resource_name)
    for text in trimmed:
        if text and (text[0] <= " " or text[-1] <= " "):
            return f"{shown(text)} begins or ends with white space, which kafka-acls would cut off."
    return None
