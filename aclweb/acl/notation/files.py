"""How are files of ACLs, requests, edits and names read and written, exactly?

Files of ACLs are JSON lines, CSV, YAML, a kafka-acls listing or ZooKeeper nodes. What a
broker would refuse is read all the same, because a tool that explains ACLs has to be able
to hold the bad ones.

No notation changes an ACL silently: what one cannot hold is refused, and of a file with a
bad line nothing is returned. Lines end at LF and are counted from 1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from aclweb.acl.kafka import commands, why_no_command
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Delta,
    KeyProblem,
    NotationError,
    Problems,
    ResourcePattern,
    lines_of,
    shown,
)
from aclweb.acl.notation import acl_csv, acl_yaml, listing, znodes
from aclweb.acl.notation.objects import (
    ACL_KEYS,
    binding_from_dict,
    binding_key,
    canonical,
    filter_from_dict,
    parse_object,
    request_from_dict,
    text_of,
    text_or_null,
)
from aclweb.acl.notation.znodes import NodeContent

__all__ = [
    "ACL_KEYS",
    "FORMATS",
    "OUTPUTS",
    "AclFile",
    "Edit",
    "NotationError",
    "binding_from_dict",
    "binding_key",
    "canonical",
    "filter_from_dict",
    "parse_object",
    "read_acl_file",
    "read_acls",
    "read_delta",
    "read_edits",
    "read_names",
    "read_requests",
    "recognise",
    "request_from_dict",
    "write_acls",
    "write_delta",
    "writes_scala_listing",
]

FORMATS = ("jsonl", "csv", "yaml", "listing", "zk")
OUTPUTS = ("jsonl", "csv", "yaml", "kafka-acls", "listing", "zk")

_BLANKS = " \t\r"

Built = TypeVar("Built")
Refusal = Callable[[AclBinding], str | None]


# Files of ACLs.


@dataclass(frozen=True, slots=True)
class AclFile:
    """The ACLs of a file in order, the line of each, and what is odd but readable."""

    source: str
    bindings: Sequence[AclBinding]
    lines: Sequence[int]
    remarks: Sequence[str] = ()


def read_acls(text: str, *, source: str, format: str | None = None) -> tuple[AclBinding, ...]:
    """Return the ACLs of a file in order, repetitions included.

    source: the file's name in messages. format: one of FORMATS, recognised when None.
    Raises NotationError naming every bad line.
    """
    return tuple(read_acl_file(text, source=source, format=format).bindings)


def read_acl_file(
    text: str, *, source: str, format: str | None = None, refuse: Refusal | None = None
) -> AclFile:
    """Return what `read_acls` does, with the line of each ACL and remarks.

    refuse: says what is wrong with an ACL beyond its form, None if nothing is.
    """
    text = text.removeprefix("\ufeff")
    format = format or recognise(text, source=source)
    if format == "zk":
        return _read_nodes(text, source, refuse)
    problems = Problems(source)
    rows: Iterator[tuple[int, AclBinding]]
    if format == "jsonl":
        rows = _built(_json_objects(text, problems), binding_from_dict, problems)
    elif format == "csv":
        rows = _built(acl_csv.read_rows(text, ACL_KEYS, problems), binding_from_dict, problems)
    elif format == "yaml":
        rows = _read_yaml(text, problems)
    elif format == "listing":
        rows = listing.read_listing(text, problems)
    else:
        raise NotationError(f"{format!r} is not a format; use one of {', '.join(FORMATS)}.")
    bindings, lines = _columns(_accepted(rows, refuse, problems))
    problems.raise_if_any()
    return AclFile(source, bindings, lines)


def _accepted(
    rows: Iterator[tuple[int, AclBinding]], refuse: Refusal | None, problems: Problems
) -> Iterator[tuple[int, AclBinding]]:
    for line, binding in rows:
        reason = refuse(binding) if refuse is not None else None
        if reason is None:
            yield line, binding
        else:
            problems.add(line, reason)


def _read_yaml(text: str, problems: Problems) -> Iterator[tuple[int, AclBinding]]:
    for line, row, places in acl_yaml.read_rows(text, problems):
        try:
            yield line, binding_from_dict(row)
        except KeyProblem as error:
            problems.add(places[error.key], error)
        except NotationError as error:
            problems.add(line, error)


def recognise(text: str, *, source: str) -> str:
    """Return which of FORMATS a file is in, by the first line that shows it.

    That is its first line that is not empty, unless that one is damaged; only a CSV header
    has no other place. An empty file counts as JSON lines. Raises NotationError if no line tells.
    """
    stripped = ((number, line.strip(_BLANKS)) for number, line in enumerate(lines_of(text), start=1))
    number, first = next(((number, line) for number, line in stripped if line), (1, ""))
    if not first:
        return "jsonl"
    found = _named_by(first)
    if found is not None:
        return found
    if "," in first and any(key in first for key in ACL_KEYS):
        return "csv"
    # The reader reports the damaged lines before this one; here they must only not hide others.
    found = next((named for _number, line in stripped if (named := _named_by(line)) is not None), None)
    if found is not None:
        return found
    if first.startswith("{"):
        return "jsonl"
    raise NotationError(
        f"{source}:{number}: The format is not recognised from {shown(first)}; begin with an ACL in JSON, a "
        f"CSV header, "
        "'- key: value' or a kafka-acls listing, or name the format with --format."
    )


def _named_by(line: str) -> str | None:
    """Return the format that has such a line, None if there is none or the line is damaged."""
    if line.startswith("{"):
        try:
            return "zk" if "path" in parse_object(line) else "jsonl"
        except NotationError:
            return None
    if line.startswith((listing.HEADER_START, listing.PRINCIPAL_START)):
        return "listing"
    if line == "-" or line.startswith(("- ", "#")) or line in ("---", "[]"):
        return "yaml"
    return None


def write_acls(
    bindings: Iterable[AclBinding],
    *,
    format: str,
    settings: AuthorizerSettings | None = None,
    source: str = "",
    lines: Sequence[int] = (),
) -> str:
    """Return `bindings` in one of OUTPUTS.

    settings: whose listing and operations count, the newest Kafka's when None. source and
    lines: where each ACL was read, for messages. Raises NotationError naming every ACL
    that this notation cannot hold.
    """
    if format not in OUTPUTS:
        raise NotationError(f"{format!r} is not a format; use one of {', '.join(OUTPUTS)}.")
    bindings = list(bindings)
    settings = settings or AuthorizerSettings()
    _check_writable(bindings, format, settings, source or "ACL", lines or range(1, len(bindings) + 1))

    if format == "jsonl":
        return "".join(f"{json.dumps(binding.as_dict())}\n" for binding in bindings)
    if format == "csv":
        return acl_csv.write_rows(ACL_KEYS, (tuple(binding.as_dict().values()) for binding in bindings))
    if format == "yaml":
        return acl_yaml.write_rows(binding.as_dict() for binding in bindings)
    if format == "kafka-acls":
        return "".join(f"{command}\n" for command in commands(bindings, settings=settings))
    if format == "listing":
        return listing.write_listing(bindings, scala=writes_scala_listing(settings))
    return _write_nodes(bindings)


def writes_scala_listing(settings: AuthorizerSettings) -> bool:
    """Whether kafka-acls of this version is the tool written in Scala, with its stray spaces."""
    return settings.authorizer == "acl" or settings.version <= (4, 0)


def _check_writable(
    bindings: Sequence[AclBinding],
    format: str,
    settings: AuthorizerSettings,
    source: str,
    lines: Sequence[int],
) -> None:
    problems = Problems(source)
    for line, binding in zip(lines, bindings, strict=True):
        reason = why_not_written(binding, format, settings)
        if reason:
            problems.add(line, reason)
    problems.raise_if_any()


def why_not_written(binding: AclBinding, format: str, settings: AuthorizerSettings) -> str | None:
    """Return why one of OUTPUTS cannot hold this ACL, as a sentence; None where it can."""
    if format == "jsonl":
        return None
    if format == "kafka-acls":
        return why_no_command(binding, settings)
    if format == "zk":
        try:
            znodes.path_of(binding.pattern)
            znodes.check_writable(binding)
        except znodes.ZnodeError as error:
            return str(error)
        return None
    for text in (binding.resource_name, binding.principal, binding.host):
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            return f"{shown(text)} holds half a character (a lone surrogate); only JSON lines can hold it."
    return listing.why_not_listed(binding) if format == "listing" else None


# ZooKeeper nodes as JSON lines of {"path", "data"}.


def _read_nodes(text: str, source: str, refuse: Refusal | None) -> AclFile:
    problems = Problems(source)
    bindings: list[AclBinding] = []
    lines: list[int] = []
    remarks: list[str] = []
    for line, node in _json_objects(text, problems):
        try:
            path, data = _node_from_dict(node)
            pattern = znodes.pattern_of(path)
            reading = (
                znodes.read_node(pattern, data) if pattern is not None else NodeContent((), _left_out(path))
            )
        except AclError as error:
            problems.add(line, error)
            continue
        for _line, binding in _accepted(((line, found) for found in reading.bindings), refuse, problems):
            bindings.append(binding)
            lines.append(line)
        remarks.extend(f"{source}:{line}: {remark}" for remark in reading.remarks)
    problems.raise_if_any()
    return AclFile(source, bindings, lines, remarks)


def _node_from_dict(node: Mapping[str, object]) -> tuple[str, bytes | None]:
    """Return the path and data of a node of Kafka's ACLs; further keys do not count."""
    for key in ("path", "data"):
        if key not in node:
            raise NotationError(f'{key!r} is missing; a node is {{"path": TEXT, "data": TEXT or null}}.')
    path, data = text_of(node, "path"), text_or_null(node, "data")
    znodes.check_path(path)
    return path, None if data is None else data.encode("utf-8", "surrogatepass")


def _left_out(path: str) -> tuple[str, ...]:
    reason = znodes.why_unread(path)
    return () if reason is None else (reason,)


def _write_nodes(bindings: Iterable[AclBinding]) -> str:
    nodes: dict[ResourcePattern, list[AclBinding]] = {}
    for binding in bindings:
        nodes.setdefault(binding.pattern, []).append(binding)
    return "".join(
        json.dumps({"path": znodes.path_of(pattern), "data": znodes.encode(held).decode("utf-8")}) + "\n"
        for pattern, held in nodes.items()
    )


# Other files.


def read_requests(text: str, *, source: str) -> tuple[AccessRequest, ...]:
    """Return the requests of a JSON-lines file; raise NotationError naming every bad line."""
    problems = Problems(source)
    objects = _json_objects(text.removeprefix("\ufeff"), problems)
    requests, _lines_of = _columns(_built(objects, request_from_dict, problems))
    problems.raise_if_any()
    return tuple(requests)


@dataclass(frozen=True, slots=True)
class Edit:
    """One ACL to add or to remove, and where that was read."""

    op: str
    binding: AclBinding
    source: str
    line: int


def read_delta(text: str, *, source: str) -> Delta:
    """Return the edit of a JSON-lines file: ACLs with one more key, `"op": "add"` or `"remove"`.

    Raises NotationError naming every bad line.
    """
    edits = read_edits(text, source=source)
    sides = {op: tuple(edit.binding for edit in edits if edit.op == op) for op in ("add", "remove")}
    return Delta(add=sides["add"], remove=sides["remove"])


def read_edits(text: str, *, source: str, refuse: Refusal | None = None) -> tuple[Edit, ...]:
    """Return what `read_delta` does, with the line of each ACL.

    refuse: says what is wrong with an ACL beyond its form, None if nothing is.
    """
    problems = Problems(source)
    edits: list[Edit] = []
    sides: dict[str, dict[AclBinding, int]] = {"add": {}, "remove": {}}
    objects = _json_objects(text.removeprefix("\ufeff"), problems)
    for line, (op, binding) in _built(objects, _edit_from_dict, problems):
        other = sides["remove" if op == "add" else "add"].get(binding)
        reason = refuse(binding) if refuse is not None else None
        if other is not None:
            reason = f"The ACL to {op} is the one of line {other}, which does the opposite; keep one of them."
        if reason is not None:
            problems.add(line, reason)
            continue
        sides[op].setdefault(binding, line)
        edits.append(Edit(op, binding, source, line))
    problems.raise_if_any()
    return tuple(edits)


def write_delta(delta: Delta) -> str:
    """Return an edit as JSON lines, in the order in which it is safe to write."""
    return "".join(
        f"{json.dumps({'op': step.op, **binding.as_dict()})}\n"
        for step in delta.steps()
        for binding in step.bindings
    )


def _edit_from_dict(given: Mapping[str, object]) -> tuple[str, AclBinding]:
    op = given.get("op")
    if op not in ("add", "remove"):
        found = f"op is {shown(op)}" if "op" in given else "'op' is missing"
        raise NotationError(f'{found}; write "op": "add" or "op": "remove" beside the ACL\'s keys.')
    return str(op), binding_from_dict({key: value for key, value in given.items() if key != "op"})


def read_names(text: str) -> tuple[str, ...]:
    """Return the names of a file with one a line, once each; empty lines are none."""
    return tuple(dict.fromkeys(name for name in text.removeprefix("\ufeff").split("\n") if name))


def _json_objects(text: str, problems: Problems) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip(_BLANKS):
            continue
        try:
            yield number, parse_object(line)
        except NotationError as error:
            problems.add(number, error)


def _built(
    rows: Iterable[tuple[int, Mapping[str, object]]],
    build: Callable[[Mapping[str, object]], Built],
    problems: Problems,
) -> Iterator[tuple[int, Built]]:
    for line, row in rows:
        try:
            yield line, build(row)
        except AclError as error:
            problems.add(line, error)


def _columns(rows: Iterable[tuple[int, Built]]) -> tuple[list[Built], list[int]]:
    lines: list[int] = []
    values: list[Built] = []
    for line, value in rows:
        lines.append(line)
        values.append(value)
    return values, lines
