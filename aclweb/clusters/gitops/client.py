"""What do the files of a folder, such as a Git working tree, say that a cluster should hold?

Read are, in all folders below but hidden ones: KafkaUser and KafkaTopic as YAML or JSON, Terraform states, and
files of ACLs in any notation. Of other files nothing is said, but a file of these kinds that cannot be read
whole makes the reading fail: half of a repository is no cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import yaml

from aclweb.acl.model import AclError, AuthorizerSettings, NotationError, ResourceType, number_of
from aclweb.acl.notation import read_acl_file, recognise
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Earlier,
    Known,
    NamesKnown,
    ReadOnlyClient,
    TopicInfo,
    why_no_broker_holds,
)
from aclweb.clusters.connection import check_options
from aclweb.clusters.gitops import kubernetes, terraform
from aclweb.clusters.gitops.declared import Declared
from aclweb.clusters.gitops.yaml_documents import documents
from aclweb.clusters.kind import Connection

MOST_FILES = 20_000
MOST_BYTES = 256 * 1024 * 1024
_SENTENCES_SHOWN = 5

_Found = TypeVar("_Found")

_YAML, _JSON, _STATE = (".yaml", ".yml"), (".json",), (".tfstate",)
_DUMPS = (".jsonl", ".acls")
# Of these, files that hold something else than ACLs are passed over.
_PERHAPS_DUMPS = (".csv", ".txt")
_READ = (*_YAML, *_JSON, *_STATE, *_DUMPS, *_PERHAPS_DUMPS)
# A key of each ACL in a file of ACLs as YAML.
_IN_DUMPS = "permission_type"


class FolderClient(ReadOnlyClient):
    """Reads a folder in place of a cluster: all of its files once, as they were when it was opened."""

    def __init__(self, connection: Connection) -> None:
        check_options(connection.kind, connection.options)
        self.where = f"the folder {connection.address}"
        self._name = Path(connection.address).name
        # Where a link leads now, so that all files are of one commit.
        self._folder = Path(os.path.realpath(connection.address))
        if not self._folder.is_dir():
            raise ClusterError(
                f"There is no folder {connection.address}; check the path, and whether aclweb may see it.",
                state=ClusterState.UNREACHABLE,
            )

    def describe(self) -> ClusterFacts:
        """Return the cluster that the files say they are for, else the name of the folder."""
        named = {found.cluster for found in self._declared if found.cluster}
        return ClusterFacts(cluster_id=named.pop() if named else self._name)

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        return AclSnapshot(
            tuple(dict.fromkeys(chain.from_iterable(found.bindings for found in self._declared)))
        )

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        topics = {topic.name: topic for found in self._declared for topic in found.topics}
        return tuple(topics[name] for name in sorted(topics))

    def read_groups(self) -> None:
        return None

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        """Return that topics are those which files list, where any does; what they no longer list is gone."""
        known = Known.VISIBLE if self.read_topics() else Known.UNKNOWN
        return NamesKnown(known, Known.UNKNOWN, lambda kind, _name: kind is ResourceType.TOPIC)

    @cached_property
    def _declared(self) -> Sequence[Declared]:
        """What all files declare together, or ClusterError."""
        found: list[Declared] = []
        problems: list[str] = []
        files = self._files()
        for file in files:
            name = file.relative_to(self._folder).as_posix()
            try:
                found += _declared_in(file, name)
            except NotationError as error:
                problems += error.messages
            except (AclError, yaml.YAMLError, ValueError, RecursionError, AttributeError, TypeError) as error:
                problems.append(f"{name}: {_why(error)}")
            except OSError as error:
                problems.append(f"{name}: it cannot be read: {error.strerror}.")
        if problems:
            raise self._unreadable(problems)
        if not found:
            # A checkout that went wrong is empty too, and must not look like a cluster without ACLs.
            looked_at = f"{number_of(len(files), 'file')} looked at, of those that end in {', '.join(_READ)}"
            raise self._unreadable(
                [f"Nothing in it declares ACLs or topics ({looked_at}); check that it is the right folder."]
            )
        clusters = sorted({each.cluster for each in found if each.cluster})
        if len(clusters) > 1:
            raise self._unreadable(
                [
                    f"It declares ACLs or topics of several clusters ({', '.join(clusters)}); give the folder of one."
                ]
            )
        return found

    def _files(self) -> list[Path]:
        """Return the files to read, sorted; those of hidden folders, and links out of the folder, are left out."""
        found: list[Path] = []
        size = 0
        for folder, folders, names in os.walk(self._folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                file = Path(folder, name)
                if name.startswith(".") or file.suffix.lower() not in _READ:
                    continue
                if not Path(os.path.realpath(file)).is_relative_to(self._folder) or not file.is_file():
                    continue
                found.append(file)
                size += file.stat().st_size
                if len(found) > MOST_FILES or size > MOST_BYTES:
                    raise self._unreadable(
                        [
                            f"It holds more than {MOST_FILES:,} files, or {MOST_BYTES >> 20} MiB, that may declare "
                            "ACLs; give a folder in it."
                        ]
                    )
        return sorted(found)

    def _unreadable(self, messages: Sequence[str]) -> ClusterError:
        more = len(messages) - _SENTENCES_SHOWN
        rest = f" And {more} more such sentences." if more > 0 else ""
        return ClusterError(
            f"{self.where[:1].upper()}{self.where[1:]} was not used. {' '.join(messages[:_SENTENCES_SHOWN])}{rest}",
            state=ClusterState.UNREADABLE,
        )


def _declared_in(file: Path, name: str) -> Iterator[Declared]:
    """Yield what one file declares; raises NotationError with sentences that name the file."""
    text = file.read_bytes().decode("utf-8-sig")
    kind = file.suffix.lower()
    if kind in _YAML:
        yield from _in_yaml(text, name)
    elif kind in _DUMPS:
        if not text.strip():
            # A dump that went wrong is empty.
            raise NotationError(f"{name}: it is empty; remove it if it is to declare nothing.")
        yield _of_dump(text, name)
    elif kind in _PERHAPS_DUMPS:
        if _holds_acls(text, name):
            yield _of_dump(text, name)
    elif text.strip():
        yield from _in_object(json.loads(text), name)


def _in_yaml(text: str, name: str) -> Iterator[Declared]:
    for document in _named(name, documents(text)):
        if (
            isinstance(document, list)
            and document
            and isinstance(document[0], dict)
            and _IN_DUMPS in document[0]
        ):
            yield _of_dump(text, name)
            return
        yield from _in_object(document, name)


def _in_object(value: Any, name: str) -> Iterator[Declared]:
    """Yield what an object of a file declares, nothing for one that is not about Kafka."""
    if kubernetes.is_resource(value):
        yield from _named(name, kubernetes.declared_by(value))
    elif terraform.is_state(value):
        yield from _named(name, terraform.declared_by(value))


def _named(name: str, found: Iterator[_Found]) -> Iterator[_Found]:
    """Yield what was found; the sentences of a NotationError begin with the name of the file."""
    try:
        yield from found
    except NotationError as error:
        raise NotationError(*(f"{name}: {message}" for message in error.messages)) from error


def _holds_acls(text: str, name: str) -> bool:
    try:
        return bool(text.strip()) and recognise(text, source=name) != "yaml"
    except NotationError:
        return False


def _of_dump(text: str, name: str) -> Declared:
    return Declared(bindings=tuple(read_acl_file(text, source=name, refuse=why_no_broker_holds).bindings))


def _why(error: Exception) -> str:
    """Say what is wrong with a file without repeating any of it: states and manifests hold secrets."""
    if isinstance(error, yaml.MarkedYAMLError):
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        return f"it is no YAML{line}; templates have to be rendered first."
    if isinstance(error, yaml.YAMLError):
        return "it holds a character that YAML forbids."
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error.msg} in line {error.lineno}."
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start + 1}); save it as UTF-8."
    if isinstance(error, AclError):
        return str(error)
    return "its values are nested in another way than those of its kind."
