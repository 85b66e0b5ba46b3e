"""How does kafka-acls list ACLs, and which ACLs does a listing of it show?

Listings of every version are read: `ResourcePattern(...)` with parenthesised entries (2.1
and later, with or without the stray spaces of the tool written in Scala), `Topic:LITERAL:x`
(2.0 to 2.3 on ZooKeeper) and `Topic:x` (0.9 to 1.1). Names are free text and may hold
line breaks or imitate the words around them: lines are joined until a header or an entry
is complete, and within it the fields are taken from the right.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Self, TypeVar

from aclweb.acl.model import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    Problems,
    ResourcePattern,
    ResourceType,
    computed_once,
    shown,
)

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
                raise AclError(f"{shown(piece.text)} is under no resource; its header line is missing.")
        except AclError as error:
            problems.add(piece.line, error)


def _pieces(text: str, problems: Problems) -> Iterator[_Piece]:
    lines = _Lines(text.split("\n"))
    at = 0
    while at < len(lines.texts):
        first = lines.texts[at]
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
        end = lines.end_of_piece(at)
        if end is None:
            problems.add(
                at + 1,
                f"{shown(first)} is cut off or damaged; write it as kafka-acls does, for example "
                f"'{HEADER_START}ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:' or "
                "'<tab>(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)'.",
            )
            at += 1
            continue
        yield _Piece(at + 1, "\n".join(lines.texts[at:end]))
        at = end


class _Lines:
    """The lines of a listing; where pieces can end is looked for once, so that damage costs no more than size."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self._ends: dict[_Shape, list[int]] = {}

    def end_of_piece(self, start: int) -> int | None:
        """Return the index after the last line of the piece that starts at `start`; None if it never ends.

        A piece ends at the first line with which it is complete. The search gives up at a line
        that is a complete piece by itself: what comes before it is damaged.
        """
        first = self.texts[start]
        shape = next((shape for shape in _SHAPES if shape.begins.match(first)), None)
        if shape is None:
            return None
        if shape.whole.fullmatch(first):
            return start + 1
        last = next(_from(self._whole, start + 1), len(self.texts) - 1)
        # Nothing is complete before the words that part its fields.
        inner = start if shape is not _ENTRY else next(_from(self._parted, start), len(self.texts))
        for end in _from(self._ends_of(shape), max(inner, start + 1)):
            if end > last or self._sizes[end + 1] - self._sizes[start] > LONGEST_PIECE:
                return None
            if shape.whole.fullmatch("\n".join(self.texts[start : end + 1])):
                return end + 1
        return None

    @computed_once
    def _whole(self) -> list[int]:
        """The lines that are pieces by themselves."""
        return self._where(lambda text: any(shape.whole.fullmatch(text) for shape in _SHAPES))

    @computed_once
    def _parted(self) -> list[int]:
        return self._where(lambda text: ", host=" in text)

    @computed_once
    def _sizes(self) -> list[int]:
        """How many characters come before each line, and before the end."""
        return list(accumulate((len(text) + 1 for text in self.texts), initial=0))

    def _ends_of(self, shape: _Shape) -> list[int]:
        if shape not in self._ends:
            self._ends[shape] = self._where(lambda text: shape.ends.search(text) is not None)
        return self._ends[shape]

    def _where(self, holds: Callable[[str], bool]) -> list[int]:
        return [at for at, text in enumerate(self.texts) if holds(text)]


def _from(places: list[int], start: int) -> Iterator[int]:
    """Yield the places of an ordered list from `start` on."""
    for at in range(bisect_left(places, start), len(places)):
        yield places[at]


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
    Raises AclError for an ACL whose printed form could be that of another.
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
