"""What shows, in some twenty requests, whether ACLs or topics have changed, and of which patterns?

ZooKeeper keeps with each node when its children last changed. Kafka's brokers, `kafka-acls` and aclweb announce each
edit by a change node as well, which names the pattern and gets the next number of its root. So equal marks mean that
no ACL was added, removed or announced, and two marks give the numbers of the change nodes between them.

A node whose data somebody rewrites without a change node shows in no mark. Brokers do not learn of it either, until
they start; a whole read finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import ZnodeStat

from aclweb.acl.model import PatternType, ResourcePattern, ResourceType
from aclweb.acl.notation import znodes
from aclweb.clusters.client import Earlier, Marks
from aclweb.clusters.zookeeper.nodes import TOPICS_ROOT
from aclweb.clusters.zookeeper.session import Session

_PARENTS = (znodes.LITERAL_ROOT, znodes.EXTENDED_ROOT, znodes.PREFIXED_ROOT)
# Of more changed patterns than this, all are read: that takes no more requests, and asks the database for less.
_MOST_PATTERNS = 5_000


def marks_of(session: Session) -> Marks:
    """Return the marks of now, from a server that knows of all writes so far."""
    session.get(session.kazoo.sync_async("/"))
    found: dict[str, list[int]] = {}
    types: list[str] = []
    for path in _PARENTS:
        try:
            names, stat = session.get(session.kazoo.get_children_async(path, include_data=True))
        except NoNodeError:
            continue
        found[path] = _mark(stat)
        if path != znodes.EXTENDED_ROOT:
            types += [f"{path}/{name}" for name in sorted(names)]
    below = [*types, *znodes.CHANGE_ROOTS.values()]
    looks = [(path, session.kazoo.exists_async(path)) for path in (*below, TOPICS_ROOT)]
    for path, look in looks:
        stat = session.get(look)
        if stat is not None:
            found[path] = _mark(stat)
    topics = found.pop(TOPICS_ROOT, None)
    return Marks(found or None, {TOPICS_ROOT: topics} if topics else None)


def patterns_since(
    session: Session, earlier: Earlier, now: Mapping[str, Any]
) -> frozenset[ResourcePattern] | None:
    """Return the patterns whose ACLs have changed since, None where only a whole read tells.

    now: the marks of the ACLs as they were a moment ago. What changes later changes the marks again.
    """
    before = earlier.marks.acls or {}
    if before.keys() != now.keys() or not set(znodes.CHANGE_ROOTS.values()) <= now.keys():
        return None  # types or roots have appeared or gone
    if any(before[path][0] != now[path][0] for path in now):
        return None  # made anew
    changed: set[ResourcePattern] = set()
    for path in now:
        if before[path] == now[path]:
            continue
        if path in znodes.CHANGE_ROOTS.values():
            announced = _announced(session, path, _next_number(before[path]), _next_number(now[path]))
            if announced is None:
                return None
            changed |= announced
        elif path not in _PARENTS:
            added_or_gone = _added_or_gone(session, path, earlier)
            if added_or_gone is None:
                return None
            changed |= added_or_gone
    return frozenset(changed) if len(changed) <= _MOST_PATTERNS else None


def _mark(stat: ZnodeStat) -> list[int]:
    """Return when a node was made, how often its children have changed, when they last did, and how many there are."""
    return [stat.czxid, stat.cversion, stat.pzxid, stat.children_count]


def _next_number(mark: Sequence[int]) -> int:
    """Return the number that the next sequential child gets: how many were ever made.

    cversion counts what was made and what was removed.
    """
    return (mark[1] + mark[3]) // 2


def _announced(session: Session, root: str, first: int, end: int) -> set[ResourcePattern] | None:
    """Return what the change nodes from the number `first` up to `end` name, None where one of them is missing.

    Brokers remove change nodes after 15 minutes.
    """
    if first == end:
        return set()  # old ones were removed
    numbered = {
        number: name
        for name in session.children(root) or []
        if (number := _number_of(name)) is not None and first <= number < end
    }
    if len(numbered) != end - first:
        return None
    found: set[ResourcePattern] = set()
    for answer in session.fetch([f"{root}/{name}" for name in numbered.values()]).values():
        if answer is None:
            return None
        try:
            pattern = znodes.read_change_node(root, answer[0])
            znodes.path_of(pattern)
        except znodes.ZnodeError:
            return None
        found.add(pattern)
    return found


def _number_of(name: str) -> int | None:
    digits = name.removeprefix(znodes.CHANGE_PREFIX)
    return int(digits) if digits != name and digits.isascii() and digits.isdigit() else None


def _added_or_gone(session: Session, path: str, earlier: Earlier) -> set[ResourcePattern] | None:
    """Return the patterns of one type whose nodes were made or removed, None where there was no such node."""
    names = session.children(path)
    found = _type_of(path)
    if names is None or found is None:
        return None
    resource_type, pattern_type = found
    differing = earlier.names(resource_type, pattern_type).symmetric_difference(names)
    return {ResourcePattern(resource_type, name, pattern_type) for name in differing}


def _type_of(path: str) -> tuple[ResourceType, PatternType] | None:
    for pattern_type, root in znodes.ROOTS.items():
        word = path.removeprefix(f"{root}/")
        if word != path and word in znodes.TYPE_NODES:
            return znodes.TYPE_NODES[word], pattern_type
    return None
