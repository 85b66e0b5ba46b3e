"""Nodes as no broker writes them among nodes as it does, read as a sync reads them, against what was put there.

python -m tests.clusters.hostile_znodes [COUNT [SEED]]     a million nodes unless COUNT says otherwise; ends with
                                                           status 1 where one was read as what nobody put there

Whoever makes a node says what must be read of it: its ACLs, or that it cannot be understood. The reader is asked for
many nodes at once, so that one which harms the reading of another shows; of nodes with random damage that is all that
is known.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourcePattern
from aclweb.acl.notation import znodes
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from tests.hostile import _IMITATIONS

AT_ONCE = 2_000
_TYPES = tuple(znodes.TYPE_NODES.values())
_OPERATIONS = tuple(one for one in Operation if one.name not in ("UNKNOWN", "ANY"))
_PERMISSIONS = (PermissionType.ALLOW, PermissionType.DENY)
_LONE_SURROGATE = "\ud83d"


@dataclass(frozen=True)
class Node:
    """What lies at a pattern's path. bindings: what must be read, None where any reading will do.

    is_understood: whether it can be; None where any answer will do.
    """

    pattern: ResourcePattern
    data: bytes
    kind: str
    bindings: frozenset[AclBinding] | None
    is_understood: bool | None


def nodes(count: int, seed: int) -> Iterable[Node]:
    """Yield so many nodes, half of them as a broker may read them, each on a pattern of its own."""
    chance = random.Random(seed)
    for number in range(count):
        pattern = ResourcePattern(
            chance.choice(_TYPES), f"n{number}", chance.choice((PatternType.LITERAL, PatternType.PREFIXED))
        )
        make = chance.choice(_WHOLE if chance.random() < 0.5 else _BROKEN)
        yield make(chance, pattern)


def wrongly_read(those: Iterable[Node]) -> list[str]:
    """Read the nodes at once as a sync does; return a sentence for each that was read as something else."""
    there = {znodes.path_of(node.pattern): node for node in those}
    client = ZooKeeperClient.__new__(ZooKeeperClient)
    stat = SimpleNamespace(children_count=0)
    client._session = _Stored({path: (node.data, stat) for path, node in there.items()})  # type: ignore[assignment]
    snapshot = client._read({path: node.pattern for path, node in there.items()}, [])
    read: dict[ResourcePattern, set[AclBinding]] = {}
    for binding in snapshot.bindings:
        read.setdefault(binding.pattern, set()).add(binding)
    unreadable, told = set(snapshot.unreadable), {problem.where for problem in snapshot.problems}
    wrong: list[str] = []
    for path, node in there.items():
        found, is_understood = read.pop(node.pattern, set()), node.pattern not in unreadable
        fault = ""
        if node.bindings is not None and found != node.bindings:
            fault = f"was read as {sorted(map(str, found))}"
        elif node.is_understood is not None and is_understood is not node.is_understood:
            fault = "was understood" if is_understood else "was not understood"
        elif not is_understood and (found or path not in told):
            fault = "was not understood, and that is not said, or ACLs of it were read all the same"
        if fault:
            wrong.append(f"{node.kind}: {node.data[:300]!r} {fault}.")
    wrong += [f"ACLs on {pattern} were read, where nothing is." for pattern in read]
    return wrong


class _Stored:
    """Stands in for a session: answers with these nodes."""

    def __init__(self, there: Mapping[str, tuple[bytes, Any]]) -> None:
        self._there = there

    def fetch(self, paths: Iterable[str], *, tolerate: tuple[type[Exception], ...] = ()) -> dict[str, Any]:
        return {path: self._there.get(path) for path in paths}


# --- nodes that a broker reads -----------------------------------------------------------


def _text(chance: random.Random) -> str:
    return "".join(chance.choice((*_IMITATIONS, "a", "Ö", "team-7")) for _ in range(chance.randrange(4)))


def _bindings(chance: random.Random, pattern: ResourcePattern, least: int = 0) -> list[AclBinding]:
    return [
        AclBinding(
            pattern.resource_type,
            pattern.name,
            pattern.pattern_type,
            f"{chance.choice(('User', 'Group', ''))}:{_text(chance)}",
            chance.choice(("*", "10.0.0.7", _text(chance))),
            chance.choice(_OPERATIONS),
            chance.choice(_PERMISSIONS),
        )
        for _ in range(chance.randrange(least, 4))
    ]


def _entry(binding: AclBinding, cased: Callable[[str], str] = str) -> dict[str, object]:
    return {
        "principal": binding.principal,
        "permissionType": cased(binding.permission_type.pascal),
        "host": binding.host,
        "operation": cased(binding.operation.pascal),
    }


def _node(pattern: ResourcePattern, kind: str, data: bytes, those: Iterable[AclBinding]) -> Node:
    return Node(pattern, data, kind, frozenset(those), True)


def _plain(chance: random.Random, pattern: ResourcePattern) -> Node:
    those = _bindings(chance, pattern)
    document = {"acls": [_entry(one) for one in those], "version": 1}
    return _node(pattern, "plain", json.dumps(document, ensure_ascii=chance.random() < 0.5).encode(), those)


def _loose(chance: random.Random, pattern: ResourcePattern) -> Node:
    """Another order, more keys, another case, blanks, twice the same, and something after the end."""
    those = _bindings(chance, pattern)
    cased = chance.choice((str.upper, str.lower, str))
    entries = [dict(chance.sample(list(_entry(one, cased).items()), 4)) for one in those * 2]
    document: dict[str, object] = {"extra": {"acls": []}, "version": 1, "acls": entries}
    text = json.dumps(document, indent=chance.choice((None, 1)))
    return _node(
        pattern,
        "loose",
        chance.choice(("", " \n\t", "\ufeff")).encode()
        + text.encode()
        + chance.choice((b"", b"}{", b" nonsense")),
        those,
    )


def _surrogate(chance: random.Random, pattern: ResourcePattern) -> Node:
    (one, *_) = _bindings(chance, pattern, least=1)
    odd = AclBinding(
        one.resource_type,
        one.resource_name,
        one.pattern_type,
        f"User:{_LONE_SURROGATE}\0",
        one.host,
        one.operation,
        one.permission_type,
    )
    return _node(pattern, "surrogate", json.dumps({"version": 1, "acls": [_entry(odd)]}).encode(), [odd])


def _unknown_word(chance: random.Random, pattern: ResourcePattern) -> Node:
    (one, *_) = _bindings(chance, pattern, least=1)
    entry, key = _entry(one), chance.choice(("operation", "permissionType"))
    entry[key] = chance.choice(("Fly", "", "READ ", "describe_configs", "0"))
    read = AclBinding(
        one.resource_type,
        one.resource_name,
        one.pattern_type,
        one.principal,
        one.host,
        Operation.UNKNOWN if key == "operation" else one.operation,
        PermissionType.UNKNOWN if key == "permissionType" else one.permission_type,
    )
    return _node(pattern, "unknown word", json.dumps({"version": 1, "acls": [entry]}).encode(), [read])


# --- nodes that nobody can understand ------------------------------------------------------


def _no_node(pattern: ResourcePattern, kind: str, data: bytes) -> Node:
    return Node(pattern, data, kind, frozenset(), False)


_WRONG_VERSIONS: tuple[object, ...] = (2, 0, -1, "1", 1.0, True, None, [1])
_WRONG_ACLS: tuple[object, ...] = (None, {}, "all", 7, [[]], [None], ["User:a"], [{}])
_NO_OBJECTS: tuple[object, ...] = ([], "text", 7, None, True, [{}])


def _wrong_document(chance: random.Random, pattern: ResourcePattern) -> Node:
    acls: list[object] = [_entry(one) for one in _bindings(chance, pattern)]
    documents: list[object] = [{"version": version, "acls": acls} for version in _WRONG_VERSIONS]
    documents += [{"version": 1, "acls": none} for none in _WRONG_ACLS]
    documents += [{"version": 1}, {"acls": acls}, {"Version": 1, "acls": acls}, *_NO_OBJECTS]
    return _no_node(pattern, "wrong document", json.dumps(chance.choice(documents)).encode())


def _wrong_entry(chance: random.Random, pattern: ResourcePattern) -> Node:
    entries: list[dict[str, object]] = [_entry(one) for one in _bindings(chance, pattern, least=1)]
    wrong: dict[str, object] = chance.choice(entries)
    key = chance.choice(tuple(wrong))
    if chance.random() < 0.4:
        del wrong[key]
    elif chance.random() < 0.5:
        wrong[key] = chance.choice((None, 7, True, [], {}, ["Read"]))
    else:
        wrong["principal"] = chance.choice(("", "bob", "*", "User", "Ünal"))
    return _no_node(pattern, "wrong entry", json.dumps({"version": 1, "acls": entries}).encode())


def _no_json(chance: random.Random, pattern: ResourcePattern) -> Node:
    data = chance.choice(
        (
            *(
                b"",
                b" ",
                b"\0",
                b"\xff\xfe",
                b"{",
                b"NaN",
                b"[" * 20_000,
                b'{"a":' * 5_000,
                b"<script>",
                b"'{}'",
            ),
            *(
                '{"version":1,"acls":[]}'.encode("utf-16"),
                b'{"version":1,"acls":[\xff]}',
                b'{"version":1,"acls":[NaN]}',
            ),
        )
    )
    return _no_node(pattern, "no JSON", data)


def _cut(chance: random.Random, pattern: ResourcePattern) -> Node:
    whole = json.dumps({"acls": [_entry(one) for one in _bindings(chance, pattern)], "version": 1}).encode()
    return _no_node(pattern, "cut", whole[: chance.randrange(len(whole))])


def _damaged(chance: random.Random, pattern: ResourcePattern) -> Node:
    """A node of which some bytes are others: whatever that makes of it, it is its own affair."""
    whole = bytearray(
        json.dumps({"acls": [_entry(one) for one in _bindings(chance, pattern)], "version": 1}).encode()
    )
    for _ in range(chance.randrange(1, 4)):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return Node(pattern, bytes(whole), "damaged", None, None)


_WHOLE = (_plain, _plain, _loose, _surrogate, _unknown_word)
_BROKEN = (_wrong_document, _wrong_entry, _no_json, _cut, _damaged)


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 1_000_000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    for start in range(0, count, AT_ONCE):
        some = list(nodes(min(AT_ONCE, count - start), seed + start))
        kinds.update(node.kind for node in some)
        wrong += wrongly_read(some)
    print("\n".join(wrong[:50]))
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
    print(f"{count:,} nodes from seed {seed} ({told}): {len(wrong):,} were read as what nobody put there.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
