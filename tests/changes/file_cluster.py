"""A cluster that lives in a directory, so that several worker processes share it, and one can be killed.

`FileCluster` is the cluster as its owner sees it: what it holds, every state it was ever
in, and the faults it is told to have. `FileClient` is a ClusterClient of it that keeps
Kafka's promises: an add that exists and a remove that does not change nothing, and the
outcomes are one for each binding.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.changes import failpoints
from aclweb.clusters import (
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Connection,
    DescribedGroup,
    Earlier,
    Known,
    ListedGroup,
    Login,
    Marks,
    NamesKnown,
    Outcome,
    OutcomeKind,
    TopicInfo,
    Verb,
)
from aclweb.clusters.rights import Right


class FileCluster:
    def __init__(self, directory: Path) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        if not self._file.exists():
            self._save(
                {"bindings": [], "topics": [], "faults": {}, "history": [], "cluster_id": "file-cluster"}
            )

    @property
    def _file(self) -> Path:
        return self.directory / "cluster.json"

    # --- as its owner sees it ---

    @property
    def bindings(self) -> frozenset[AclBinding]:
        return frozenset(_binding(row) for row in self._load()["bindings"])

    @property
    def history(self) -> list[dict[str, Any]]:
        """Every call that came in, oldest first: who, verb, bindings, and the bindings afterwards."""
        history = self._load()["history"]
        return [
            {
                "by": entry["by"],
                "verb": entry["verb"],
                "bindings": [_binding(row) for row in entry["bindings"]],
                "after": frozenset(_binding(row) for row in entry["after"]),
            }
            for entry in history
        ]

    def calls(self) -> list[dict[str, Any]]:
        """The calls that came from aclweb."""
        return [entry for entry in self.history if entry["by"] != "somebody else"]

    def edit(self, *, add: Iterable[AclBinding] = (), remove: Iterable[AclBinding] = ()) -> None:
        """Somebody else edits the cluster with a tool of their own."""
        self._change("somebody else", Verb.REMOVE, list(remove))
        self._change("somebody else", Verb.ADD, list(add))

    def set_topics(self, *names: str) -> None:
        with self._locked() as state:
            state["topics"] = list(names)

    def set_cluster_id(self, cluster_id: str) -> None:
        with self._locked() as state:
            state["cluster_id"] = cluster_id

    def fail(self, **faults: Any) -> None:
        """Have these faults from now on, and no others.

        unreachable=N: the next N connections find nobody. deaf=N: the next N writes do
        nothing and get no answer. mute=N: the next N writes are done and get no answer.
        refuse=[names]: bindings for these principals are refused. unreadable=N: the next
        N readings fail. lag=N: the next N readings after a write show what was before it.
        foreign=[[adds], [removes]]: somebody edits during the next write.
        """
        with self._locked() as state:
            state["faults"] = faults

    # --- inside ---

    def take_fault(self, name: str) -> bool:
        with self._locked() as state:
            left = state["faults"].get(name, 0)
            if left:
                state["faults"][name] = left - 1
            return bool(left)

    def fault(self, name: str) -> Any:
        return self._load()["faults"].get(name)

    def _change(self, by: str, verb: Verb, bindings: list[AclBinding]) -> None:
        if not bindings:
            return
        with self._locked() as state:
            held = {json.dumps(row, sort_keys=True): row for row in state["bindings"]}
            for binding in bindings:
                row = binding.as_dict()
                if verb is Verb.ADD:
                    held[json.dumps(row, sort_keys=True)] = row
                else:
                    held.pop(json.dumps(row, sort_keys=True), None)
            state["bindings"] = list(held.values())
            state["history"].append(
                {
                    "by": by,
                    "verb": verb.value,
                    "bindings": [binding.as_dict() for binding in bindings],
                    "after": state["bindings"],
                }
            )

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Any]]:
        with open(self.directory / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._load()
            yield state
            self._save(state)

    def _load(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self._file.read_text())
        return loaded

    def _save(self, state: dict[str, Any]) -> None:
        fresh = self.directory / f"cluster.{os.getpid()}.new"
        fresh.write_text(json.dumps(state))
        fresh.replace(self._file)


class FileClient:
    """One open connection to a FileCluster."""

    def __init__(self, connection: Connection) -> None:
        self.cluster = FileCluster(Path(connection.address))
        if self.cluster.take_fault("unreachable"):
            raise ClusterError("Nobody answers at 127.0.0.1:1.", state=ClusterState.UNREACHABLE)

    def describe(self) -> ClusterFacts:
        return ClusterFacts(
            cluster_id=self.cluster._load()["cluster_id"], migrating=bool(self.cluster.fault("migrating"))
        )

    def marks(self, earlier: Earlier | None = None) -> Marks:
        return Marks()

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        if self.cluster.take_fault("unreadable"):
            raise ClusterError("The broker at 127.0.0.1:1 went away.", state=ClusterState.UNREACHABLE)
        history = self.cluster.history
        if history and history[-1]["by"] != "somebody else" and self.cluster.take_fault("lag"):
            shown = history[-2]["after"] if len(history) > 1 else frozenset()
        else:
            shown = self.cluster.bindings
        return AclSnapshot(tuple(sorted(shown, key=str)))

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        return tuple(TopicInfo(name, 1) for name in self.cluster._load()["topics"])

    def read_groups(self) -> tuple[str, ...] | None:
        return ()

    def read_details(self, settings: AuthorizerSettings) -> None:
        return None

    def describe_groups(self, groups: Sequence[ListedGroup]) -> tuple[DescribedGroup, ...]:
        return ()

    def names_known(self, acls: AclSnapshot, settings: AuthorizerSettings) -> NamesKnown:
        return NamesKnown(Known.ALL, Known.ALL, lambda kind, name: True)

    def write(self, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
        if self.cluster.take_fault("deaf"):
            return _unknown(bindings)
        before = self.cluster.bindings
        refused = set(self.cluster.fault("refuse") or ())
        accepted = [binding for binding in bindings if binding.principal not in refused]
        self.cluster._change(f"process {os.getpid()}", verb, accepted)
        foreign = self.cluster.fault("foreign")
        if foreign:
            self.cluster.fail()
            self.cluster.edit(add=map(_binding, foreign[0]), remove=map(_binding, foreign[1]))
        failpoints.hit("sent")
        if self.cluster.take_fault("mute"):
            return _unknown(bindings)
        return tuple(_outcome(verb, binding, before, refused) for binding in bindings)

    def login(self) -> Login:
        return Login()

    def rights(self, login: Login, *, writes: bool) -> tuple[Right, ...]:
        return ()

    def close(self) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _outcome(verb: Verb, binding: AclBinding, before: frozenset[AclBinding], refused: set[str]) -> Outcome:
    if binding.principal in refused:
        return Outcome(binding, OutcomeKind.REFUSED, "The broker refuses this principal.", error_code=42)
    already = (binding in before) == (verb is Verb.ADD)
    return Outcome(binding, OutcomeKind.ALREADY if already else OutcomeKind.WRITTEN)


def _unknown(bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
    return tuple(Outcome(binding, OutcomeKind.UNKNOWN, "No answer within 15 s.") for binding in bindings)


def _binding(row: dict[str, str]) -> AclBinding:
    return AclBinding(
        resource_type=ResourceType[row["resource_type"]],
        resource_name=row["resource_name"],
        pattern_type=PatternType[row["pattern_type"]],
        principal=row["principal"],
        host=row["host"],
        operation=Operation[row["operation"]],
        permission_type=PermissionType[row["permission_type"]],
    )
