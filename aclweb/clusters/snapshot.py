"""What does a file say about a cluster that nothing here can reach?

A file of ACLs in any notation that `aclweb.acl.notation.files` reads: a `kafka-acls --list`
dump, CSV, JSON lines, YAML or ZooKeeper nodes. JSON lines may begin with a line about
the cluster, which is also how aclweb and its pipeline write snapshots:

    {"cluster": "prod-eu", "topics": ["orders", {"name": "payments", "partitions": 6}], "groups": ["billing"]}

`topics_known` and `groups_known` say how complete those lists are: `all`, `visible`, or
`unknown`. Without them, names that are listed are `visible`, and a missing or empty list is
`unknown`: a file of ACLs says nothing about which topics exist.

The file is read anew each time. Nothing is ever written to it: a change to such a
cluster ends as commands for somebody who can reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclweb.acl.model import AclError, AuthorizerSettings, NotationError
from aclweb.acl.notation import parse_object, read_acl_file
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Earlier,
    Known,
    NamesKnown,
    Problem,
    ReadOnlyClient,
    TopicInfo,
    why_no_broker_holds,
)
from aclweb.clusters.connection import check_options
from aclweb.clusters.kind import ClusterKind, Connection

HEADER_KEYS = (
    "cluster",
    "revision",
    "config",
    "authorizer",
    "kafka_version",
    "topics",
    "groups",
    "topics_known",
    "groups_known",
)
LARGEST_FILE = 256 * 1024 * 1024
_SENTENCES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Header:
    """What the first line says; None where it does not."""

    cluster: str | None = None
    kafka_version: str | None = None
    topics: tuple[TopicInfo, ...] = ()
    groups: tuple[str, ...] | None = None
    topics_known: Known = Known.UNKNOWN
    groups_known: Known = Known.UNKNOWN


class SnapshotClient(ReadOnlyClient):
    """Reads a file in place of a cluster."""

    def __init__(self, connection: Connection) -> None:
        check_options(connection.kind, connection.options)
        self._path = Path(connection.address)
        self.where = f"the file {self._path}"
        self._text()  # a missing file is reported at once, as a server that is down is

    def describe(self) -> ClusterFacts:
        header, _ = self._parts()
        return ClusterFacts(cluster_id=header.cluster, kafka_version=header.kafka_version)

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        _, text = self._parts()
        try:
            file = read_acl_file(text, source=str(self._path), refuse=why_no_broker_holds)
        except NotationError as error:
            raise self._unreadable(error.messages) from error
        except AclError as error:
            raise self._unreadable([f"{self._path}: {error}"]) from error
        problems = tuple(Problem(str(self._path), remark) for remark in file.remarks)
        return AclSnapshot(tuple(dict.fromkeys(file.bindings)), problems)

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        return self._parts()[0].topics

    def read_groups(self) -> tuple[str, ...] | None:
        return self._parts()[0].groups

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return what the file says of its lists; what it no longer lists is gone."""
        header = self._parts()[0]
        return NamesKnown(header.topics_known, header.groups_known, lambda _type, _name: True)

    def _text(self) -> str:
        try:
            if self._path.is_dir():
                raise ClusterError(
                    f"The snapshot {self._path} is a folder; give the file in it.",
                    state=ClusterState.UNREADABLE,
                )
            size = self._path.stat().st_size
            if size > LARGEST_FILE:
                raise ClusterError(
                    f"The snapshot {self._path} has {size} bytes; {LARGEST_FILE} are the most that are read.",
                    state=ClusterState.UNREADABLE,
                )
            data = self._path.read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no name of a file"
            raise ClusterError(
                f"The snapshot {str(self._path)!r} cannot be read: {why}. Check the path and who may read the file.",
                state=ClusterState.UNREACHABLE,
            ) from error
        if not data.strip():
            # A dump that went wrong is empty too, and must not look like a cluster without ACLs.
            raise ClusterError(
                f"The snapshot {self._path} is empty. If the cluster really has no ACLs, let the file say so with "
                'its first line: {"cluster": "its name"}',
                state=ClusterState.UNREADABLE,
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ClusterError(
                f"The snapshot {self._path} is not UTF-8 text (line {line}, byte {error.start + 1}); save it as UTF-8.",
                state=ClusterState.UNREADABLE,
            ) from error

    def _parts(self) -> tuple[_Header, str]:
        """Return what the first line says of the cluster, and the text of the ACLs with their line numbers kept."""
        text = self._text()
        first, _, rest = text.partition("\n")
        try:
            found = parse_object(first) if first.lstrip().startswith("{") else {}
        except AclError:
            return _Header(), text  # an ACL gone wrong, which the reader of ACLs reports
        if not set(found) & set(HEADER_KEYS):
            return _Header(), text
        problems: list[str] = []
        header = _read_header(found, problems)
        if problems:
            raise self._unreadable([f"{self._path}:1: {problem}" for problem in problems])
        return header, f"\n{rest}"

    def _unreadable(self, messages: Sequence[str]) -> ClusterError:
        shown = " ".join(messages[:_SENTENCES_SHOWN])
        more = len(messages) - _SENTENCES_SHOWN
        rest = f" And {more} more such lines." if more > 0 else ""
        return ClusterError(
            f"The snapshot {self._path} was not used, because of its content. {shown}{rest}",
            state=ClusterState.UNREADABLE,
        )


def _read_header(found: dict[str, Any], problems: list[str]) -> _Header:
    unknown = sorted(set(found) - set(HEADER_KEYS))
    if unknown:
        problems.append(f"{unknown[0]!r} is no key of a snapshot's first line; use {', '.join(HEADER_KEYS)}.")
    words: dict[str, str | None] = {}
    for key in ("cluster", "kafka_version"):
        value = found.get(key)
        words[key] = value if isinstance(value, str) else None
        if value is not None and not isinstance(value, str):
            problems.append(f"{key} is {value!r}, which is no text; write it in quotes.")
    topics = [_topic(entry, problems) for entry in _list(found, "topics", problems) or ()]
    groups = _list(found, "groups", problems)
    if groups is not None and not all(isinstance(group, str) for group in groups):
        problems.append("groups has something that is no text; write the names of the groups in quotes.")
        groups = None
    return _Header(
        words["cluster"],
        words["kafka_version"],
        tuple(topic for topic in topics if topic is not None),
        None if groups is None else tuple(sorted(set(groups))),
        _known(found, "topics", problems),
        _known(found, "groups", problems),
    )


def _known(found: dict[str, Any], kind: str, problems: list[str]) -> Known:
    said = found.get(f"{kind}_known")
    if said is None:
        return Known.VISIBLE if found.get(kind) else Known.UNKNOWN
    if said not in list(Known):
        problems.append(f"{kind}_known is {said!r}; write {', '.join(repr(one.value) for one in Known)}.")
        return Known.UNKNOWN
    return Known(said)


def _list(found: dict[str, Any], key: str, problems: list[str]) -> list[Any] | None:
    value = found.get(key)
    if value is not None and not isinstance(value, list):
        problems.append(f"{key} is {value!r}, which is no list; write the names in brackets.")
        return None
    return value


def _topic(entry: object, problems: list[str]) -> TopicInfo | None:
    if isinstance(entry, str):
        return TopicInfo(entry)
    if isinstance(entry, dict) and isinstance(entry.get("name"), str):
        partitions = entry.get("partitions")
        if partitions is None or (isinstance(partitions, int) and not isinstance(partitions, bool)):
            return TopicInfo(entry["name"], partitions, entry.get("internal") is True)
    problems.append(f"{entry!r} is no topic; write its name, or {{'name': TEXT, 'partitions': NUMBER}}.")
    return None


def _normalised(address: str) -> str:
    return str(Path(address).resolve())


SNAPSHOT = ClusterKind(
    name="snapshot",
    source="a file",
    called="the file",
    address_form="a file's path",
    open=SnapshotClient,
    normalised=_normalised,
    is_copy=True,
    is_one_file=True,
    lists_groups=True,
)
