"""How does Kafka keep ACLs in ZooKeeper: which path, which data, which notice of a change?

Names are in paths exactly as they are; nothing is escaped. Reading follows the brokers'
own parser, also where that parser is strict or lenient in surprising ways, because the
question is always what a broker would make of the node.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aclweb.acl.kafka import why_no_node_name, why_no_text
from aclweb.acl.model import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    shown,
    split_principal,
)

LITERAL_ROOT = "/kafka-acl"
EXTENDED_ROOT = "/kafka-acl-extended"
PREFIXED_ROOT = f"{EXTENDED_ROOT}/prefixed"
LITERAL_CHANGES = "/kafka-acl-changes"
EXTENDED_CHANGES = "/kafka-acl-extended-changes"

# Below each of these is one node for a resource type, and below that one for a pattern.
ROOTS: Mapping[PatternType, str] = {
    PatternType.LITERAL: LITERAL_ROOT,
    PatternType.PREFIXED: PREFIXED_ROOT,
}
CHANGE_ROOTS: Mapping[PatternType, str] = {
    PatternType.LITERAL: LITERAL_CHANGES,
    PatternType.PREFIXED: EXTENDED_CHANGES,
}
# A change node is created persistent and sequential under its root, with this name.
CHANGE_PREFIX = "acl_changes_"

# The type nodes, in the spelling of their paths.
TYPE_NODES: Mapping[str, ResourceType] = {
    kind.pascal: kind for kind in ResourceType if kind not in (ResourceType.UNKNOWN, ResourceType.ANY)
}

_TYPES_BY_WORD = {word.upper(): kind for word, kind in TYPE_NODES.items()}

DATA_VERSION = 1
NO_START = "A broker that reads this node when it starts does not start."


class ZnodeError(AclError):
    """A node that Kafka cannot hold or read; `hazard` says what it does to a broker ("" if nothing)."""

    def __init__(self, sentence: str, hazard: str = "") -> None:
        super().__init__(f"{sentence} {hazard}".rstrip())
        self.sentence = sentence
        self.hazard = hazard

    def __reduce__(self) -> tuple[type[ZnodeError], tuple[str, str]]:
        return type(self), (self.sentence, self.hazard)


@dataclass(frozen=True, slots=True)
class NodeContent:
    """What a broker reads from one node, and what is odd about it."""

    bindings: tuple[AclBinding, ...]
    remarks: tuple[str, ...]


def path_of(pattern: ResourcePattern) -> str:
    """Return the path of a pattern's node, below the chroot.

    Raises ZnodeError for a pattern that ZooKeeper or Kafka cannot keep there.
    """
    root = ROOTS.get(pattern.pattern_type)
    if root is None:
        raise ZnodeError(
            f"ZooKeeper has no place for the pattern type {pattern.pattern_type.name}; "
            "it keeps LITERAL and PREFIXED."
        )
    if pattern.resource_type.pascal not in TYPE_NODES:
        raise ZnodeError(
            f"ZooKeeper has no place for the resource type {pattern.resource_type.name}; "
            f"it keeps {', '.join(kind.name for kind in TYPE_NODES.values())}."
        )
    reason = why_no_node_name(pattern.name)
    if reason:
        raise ZnodeError(f"The name {shown(pattern.name)} cannot be a ZooKeeper node: {reason}.")
    return f"{root}/{pattern.resource_type.pascal}/{pattern.name}"


def pattern_of(path: str) -> ResourcePattern | None:
    """Return the pattern whose node is at `path`; None for every other kind of node.

    Roots, type nodes, change nodes, types no Kafka knows and nodes below a pattern's node
    (which brokers do not list) are such others.
    """
    for pattern_type, root in ROOTS.items():
        if not path.startswith(f"{root}/"):
            continue
        word, slash, name = path[len(root) + 1 :].partition("/")
        if slash and name and "/" not in name and word in TYPE_NODES:
            return ResourcePattern(TYPE_NODES[word], name, pattern_type)
    return None


def is_acl_area(path: str) -> bool:
    """Whether `path` is one of the four ACL trees or inside one."""
    trees = (LITERAL_ROOT, EXTENDED_ROOT, LITERAL_CHANGES, EXTENDED_CHANGES)
    return any(path == tree or path.startswith(f"{tree}/") for tree in trees)


def check_path(path: str) -> None:
    """Raise ZnodeError for a path that no node of Kafka's ACLs can have."""
    if not is_acl_area(path):
        raise ZnodeError(
            f"path {shown(path)} is outside Kafka's ACLs; give paths below the chroot, "
            f"such as '{LITERAL_ROOT}/Topic/orders'."
        )
    for name in path[1:].split("/"):
        reason = why_no_node_name(name)
        if reason:
            raise ZnodeError(
                f"path {shown(path)} cannot be one of ZooKeeper: {reason} where a node is named; "
                f"write it as ZooKeeper does, such as '{LITERAL_ROOT}/Topic/orders'."
            )


def why_unread(path: str) -> str | None:
    """Return why brokers read no ACLs from a node that lies where ACLs do, None if it is none of these.

    Patterns' own nodes, roots, type nodes and change nodes are none.
    """
    tree = next((root for root in (LITERAL_ROOT, PREFIXED_ROOT) if path.startswith(f"{root}/")), None)
    if tree is None:
        if path.count("/") > 2 and path.startswith(f"{EXTENDED_ROOT}/"):
            return f"The node {shown(path)} is left out: brokers read only those below '{PREFIXED_ROOT}'."
        return None
    word, *names = path[len(tree) + 1 :].split("/")
    if names and word not in TYPE_NODES:
        return (
            f"The node {shown(path)} is left out: {shown(word)} is no resource type, "
            f"and brokers read only {', '.join(TYPE_NODES)}."
        )
    if len(names) > 1:
        return (
            f"The node {shown(path)} is left out: it lies below the node of another pattern, "
            "and brokers read only the nodes right below a resource type."
        )
    return None


def encode(bindings: Iterable[AclBinding]) -> bytes:
    """Return the data of the node that holds `bindings`, all of one pattern.

    Raises ZnodeError rather than write what would stop a broker or break its answers.
    """
    acls = []
    for binding in dict.fromkeys(bindings):
        check_writable(binding)
        acls.append(
            {
                "principal": binding.principal,
                "permissionType": _PERMISSION_WORDS[binding.permission_type],
                "host": binding.host,
                "operation": _OPERATION_WORDS[binding.operation],
            }
        )
    return _ENCODER.encode({"acls": acls, "version": DATA_VERSION}).encode("utf-8")


def check_writable(binding: AclBinding) -> None:
    """Raise ZnodeError for an ACL that would stop a broker or break its answers."""
    if split_principal(binding.principal) is None:
        raise ZnodeError(
            f"Principal {shown(binding.principal)} has no colon, and a broker would not start with it; "
            f"write it as {shown('User:' + binding.principal)}."
        )
    for what, word in (("operation", binding.operation), ("permission", binding.permission_type)):
        if word.name in ("UNKNOWN", "ANY"):
            raise ZnodeError(
                f"An ACL of {shown(binding.principal)} has the {what} {word.name}: written to ZooKeeper it "
                "would keep brokers from describing their ACLs. Name one that Kafka knows."
            )
    for text in (binding.principal, binding.host):
        if reason := why_no_text(text):
            raise ZnodeError(reason)


def decode(pattern: ResourcePattern, data: bytes | None) -> tuple[AclBinding, ...]:
    """Return what a broker reads from this pattern's node.

    Raises ZnodeError for a node with which a broker would not start.
    """
    return read_node(pattern, data).bindings


def read_node(pattern: ResourcePattern, data: bytes | None) -> NodeContent:
    """Return the bindings of a node with remarks about what is odd but readable.

    Data that is empty or no JSON reads as no ACLs, and a word that Kafka does not know as
    UNKNOWN: both as in Kafka, and both remarked on. Raises ZnodeError for a version other
    than 1, a missing or ill-typed key and a principal without a colon.
    """
    where = f"{pattern.resource_type.pascal} {shown(pattern.name)} ({pattern.pattern_type.name})"
    if not data:
        return NodeContent((), (f"The node of {where} is empty, so brokers read no ACLs from it.",))
    try:
        document = _first_json_value(data)
    except ValueError:
        remark = f"The node of {where} holds no JSON, so brokers read no ACLs from it: {_glimpse(data)}."
        return NodeContent((), (remark,))

    fields = _as_object(document, f"The node of {where}")
    version = _field(fields, "version", f"The node of {where}")
    if type(version) is not int or version != DATA_VERSION:
        raise ZnodeError(f"The node of {where} has version {shown(version)}; Kafka reads 1 only.", NO_START)
    acls = _field(fields, "acls", f"The node of {where}")
    if not isinstance(acls, list):
        raise ZnodeError(f"The node of {where} has {shown(acls)} as acls; Kafka reads a list.", NO_START)

    remarks: list[str] = []
    bindings = [
        _read_entry(pattern, entry, f"ACL {number} of the node of {where}", remarks)
        for number, entry in enumerate(acls, start=1)
    ]
    return NodeContent(tuple(dict.fromkeys(bindings)), tuple(remarks))


def change_node(pattern: ResourcePattern) -> tuple[str, bytes]:
    """Return where to create a change node for `pattern` and its data.

    The node is created persistent and sequential as `<parent>/acl_changes_`; it names the
    pattern only, and brokers then read the pattern's own node. Brokers from 2.5 on read
    this spelling of the type.
    """
    path_of(pattern)  # a pattern without a node cannot have changed
    if pattern.pattern_type is PatternType.LITERAL:
        data = f"{pattern.resource_type.name}:{pattern.name}"
    else:
        notice = {
            "version": DATA_VERSION,
            "resourceType": pattern.resource_type.name,
            "name": pattern.name,
            "patternType": pattern.pattern_type.name,
        }
        data = _ENCODER.encode(notice)
    return CHANGE_ROOTS[pattern.pattern_type], data.encode("utf-8")


def read_change_node(parent: str, data: bytes) -> ResourcePattern:
    """Return the pattern that a change node below `parent` names.

    Reads the spelling of every version: `TOPIC` of brokers from 2.5 on and `Topic` of older
    ones. A type that no Kafka has is UNKNOWN. Raises ZnodeError for what no broker writes.
    """
    pattern_type = next((kind for kind, root in CHANGE_ROOTS.items() if root == parent), None)
    if pattern_type is None:
        raise ZnodeError(f"{shown(parent)} holds no change nodes; {' and '.join(CHANGE_ROOTS.values())} do.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ZnodeError(f"The change node holds {_glimpse(data)}, which is not UTF-8.") from error
    if pattern_type is PatternType.LITERAL:
        literal_type, colon, literal_name = text.partition(":")
        if not colon:
            raise ZnodeError(f"The change node holds {shown(text)}; Kafka writes a type, a colon and a name.")
        return ResourcePattern(_changed_type(literal_type), literal_name, pattern_type)

    try:
        notice = _first_json_value(data)
    except ValueError:
        notice = None
    fields = notice if isinstance(notice, dict) else {}
    word, name, kind = (fields.get(key) for key in ("resourceType", "name", "patternType"))
    if not (isinstance(word, str) and isinstance(name, str) and isinstance(kind, str)):
        raise ZnodeError(
            f"The change node holds {shown(text)}; Kafka writes a JSON object with the texts "
            "resourceType, name and patternType."
        )
    version = fields.get("version")
    if type(version) is not int or version != DATA_VERSION:
        raise ZnodeError(f"The change node has version {shown(version)}; Kafka reads 1 only.")
    if kind.upper() != pattern_type.name:
        raise ZnodeError(
            f"The change node has the pattern type {shown(kind)}; Kafka writes {pattern_type.name} there."
        )
    return ResourcePattern(_changed_type(word), name, pattern_type)


def _changed_type(word: str) -> ResourceType:
    return _TYPES_BY_WORD.get(word.upper().replace("_", ""), ResourceType.UNKNOWN)


def _read_entry(pattern: ResourcePattern, entry: object, where: str, remarks: list[str]) -> AclBinding:
    fields = _as_object(entry, where)
    principal = _text(fields, "principal", where)
    if split_principal(principal) is None:
        raise ZnodeError(f"{where} has the principal {shown(principal)}, which has no colon.", NO_START)
    permission = _permission(_text(fields, "permissionType", where), where, remarks)
    host = _text(fields, "host", where)
    operation = _operation(_text(fields, "operation", where), where, remarks)
    return AclBinding(
        pattern.resource_type, pattern.name, pattern.pattern_type, principal, host, operation, permission
    )


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_OPERATION_WORDS = {word: word.pascal for word in Operation}
_PERMISSION_WORDS = {word: word.pascal for word in PermissionType}
_OPERATIONS = {word.pascal.upper(): word for word in Operation}
_PERMISSIONS = {word.pascal.upper(): word for word in PermissionType}


def _operation(word: str, where: str, remarks: list[str]) -> Operation:
    operation = _OPERATIONS.get(word.upper(), Operation.UNKNOWN)
    if operation is Operation.ANY:
        raise ZnodeError(f"{where} has the operation {shown(word)}, which is for filters only.", NO_START)
    if operation is Operation.UNKNOWN:
        remarks.append(_unknown(where, "operation", word))
    return operation


def _permission(word: str, where: str, remarks: list[str]) -> PermissionType:
    permission = _PERMISSIONS.get(word.upper(), PermissionType.UNKNOWN)
    if permission is PermissionType.ANY:
        raise ZnodeError(f"{where} has the permission {shown(word)}, which is for filters only.", NO_START)
    if permission is PermissionType.UNKNOWN:
        remarks.append(_unknown(where, "permission", word))
    return permission


def _unknown(where: str, what: str, word: str) -> str:
    return (
        f"{where} has the {what} {shown(word)}, which Kafka reads as UNKNOWN; "
        "brokers fail to describe their ACLs while it is there."
    )


def _first_json_value(data: bytes) -> object:
    """Return the JSON value that `data` starts with.

    Kafka's parser does not look at what follows the first value, and refuses NaN.
    """
    text = data.decode("utf-8-sig").lstrip(" \t\r\n")
    try:
        value, _end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _as_object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ZnodeError(f"{where} holds {shown(value)}; Kafka reads a JSON object.", NO_START)
    return value


def _field(fields: dict[str, object], key: str, where: str) -> object:
    if key not in fields:
        raise ZnodeError(f"{where} has no key {key!r}, which Kafka requires.", NO_START)
    return fields[key]


def _text(fields: dict[str, object], key: str, where: str) -> str:
    value = _field(fields, key, where)
    if not isinstance(value, str):
        raise ZnodeError(f"{where} has {shown(value)} as {key}; Kafka reads a text.", NO_START)
    return value


def _glimpse(data: bytes) -> str:
    return shown(data.decode("utf-8", "backslashreplace"))
