"""What does a cluster hold when it is read in another way, and how does that differ from what is stored, as access?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain, islice
from typing import Any

from django.utils import timezone

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding
from aclweb.acl.notation import binding_from_dict
from aclweb.acl.simulate import ON_A_WORKER, ON_A_WORKER_WITHOUT_ACLS, Impact, TooCostly
from aclweb.changes import comparison
from aclweb.changes.impact import DIFFERENCES
from aclweb.changes.question import Side
from aclweb.clusters import ClusterClient, Connection, connect
from aclweb.inventory.current import (
    ClusterView,
    LoadedRevision,
    connection_of,
    in_force,
    known_version,
    settings_of,
)
from aclweb.inventory.current.broker_settings import take_over
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.sync import Snapshot, read_snapshot

MOST_LINES = 200
"""ACLs of one side alone that are kept one by one; how many there are is kept whole."""


@dataclass(frozen=True)
class Found:
    """What reading the other way showed, ready to be stored.

    cluster_id: what it calls itself; empty where it does not say. is_same: whether that is the id of the cluster here;
    None where one of them is unknown. here_only, there_only: how many ACLs only one side has, of which `lines` are
    the first, each `{"op", ...ACL}` as a delta from here to there. is_compared: whether the access was compared;
    else that was too much. differences: answers that differ. left_out: super users of one side alone, who are missing
    from the impact. settings: `{"name", "left", "right", "differs"}`. unreadable: how many resources have ACLs there
    that cannot be understood. problems: sentences.
    """

    cluster_id: str
    is_same: bool | None
    acls: int
    topics: int | None
    groups: int | None
    here_only: int
    there_only: int
    lines: list[dict[str, Any]]
    is_compared: bool
    differences: int
    left_out: list[str]
    settings: list[dict[str, Any]]
    sentences: list[str]
    unreadable: int
    problems: list[str]
    stored_at: str | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def lines_in_all(self) -> int:
        """How many ACLs only one side has."""
        return self.here_only + self.there_only

    @property
    def bindings(self) -> list[tuple[str, AclBinding]]:
        """The ACLs of `lines`, each with "add" or "remove"."""
        return [(line["op"], _binding_of(line)) for line in self.lines]

    @property
    def is_equal(self) -> bool:
        """Whether all was read and compared, and nobody's access differs."""
        return self.is_compared and not (self.differences or self.left_out or self.unreadable)


def _binding_of(line: Mapping[str, Any]) -> AclBinding:
    return binding_from_dict({name: value for name, value in line.items() if name != "op"})


@dataclass(frozen=True)
class Compared:
    """What was found, with the answers that differ: no impact where they are too many. revision: that of the left."""

    found: Found
    impact: Impact | None
    revision: Revision | None


def compare(candidate: Cluster, connect: Callable[[Connection], ClusterClient] = connect) -> Compared:
    """Read the cluster as `candidate` says and compare that with what is stored of it; raises ClusterError.

    candidate: the cluster's row as it is to be (`register.as_if_changed`); it is changed here, and not stored.
    """
    view = in_force(candidate)
    with connect(connection_of(candidate)) as client:
        snapshot = read_snapshot(candidate, client)
    _take_over(candidate, snapshot, timezone.now())
    left = Side(view, called=f"{candidate.name} as it is stored")
    right = Side(
        _view_of(candidate, snapshot), called=f"{candidate.name} read from {candidate.source.called}"
    )
    impact, left_out = _impact(left, right)
    answer = comparison.told(left, right, comparison.between(left, right), impact, left_out)
    stored_id, read_id = view.cluster.cluster_id, snapshot.facts.cluster_id or ""
    return Compared(
        Found(
            cluster_id=read_id,
            is_same=read_id == stored_id if read_id and stored_id else None,
            acls=len(snapshot.acls.bindings),
            topics=None if snapshot.topics is None else len(snapshot.topics),
            groups=None if snapshot.groups is None else len(snapshot.groups),
            here_only=len(answer.delta.remove),
            there_only=len(answer.delta.add),
            lines=list(islice(_lines(answer), MOST_LINES)),
            is_compared=impact is not None,
            differences=sum(impact.counts[name] for name in DIFFERENCES) if impact is not None else 0,
            left_out=sorted(left_out),
            settings=[
                {"name": each.name, "left": each.left, "right": each.right, "differs": each.differs}
                for each in answer.settings
            ],
            sentences=list(answer.sentences),
            unreadable=len(snapshot.acls.unreadable),
            problems=[f"{problem.where}: {problem.sentence}" for problem in snapshot.problems],
            stored_at=view.cluster.read_at.isoformat(timespec="seconds") if view.cluster.read_at else None,
        ),
        impact,
        view.revision,
    )


def _impact(left: Side, right: Side) -> tuple[Impact | None, frozenset[str]]:
    """Return the answers that differ, None where they are too many, and who is left out of them."""
    try:
        return comparison.compute(left, right, budget=ON_A_WORKER)
    except TooCostly:
        pass
    try:
        return comparison.compute(left, right, budget=ON_A_WORKER_WITHOUT_ACLS, with_acls=False)
    except TooCostly:
        return None, frozenset()


def _take_over(candidate: Cluster, snapshot: Snapshot, now: datetime) -> None:
    """Bring into the row what a sync would bring into it and answers depend on."""
    take_over(candidate, snapshot.facts.settings, now)
    candidate.topics_listed, candidate.groups_listed = snapshot.known.topics, snapshot.known.groups
    if snapshot.facts.kafka_version and known_version(candidate.authorizer, snapshot.facts.kafka_version):
        candidate.kafka_version = snapshot.facts.kafka_version


def _view_of(candidate: Cluster, snapshot: Snapshot) -> ClusterView:
    loaded = LoadedRevision(
        AclIndex(snapshot.acls.bindings),
        tuple(sorted(snapshot.topics or (), key=lambda topic: topic.name)),
        tuple(sorted(snapshot.groups or ())),
        "",
    )
    return ClusterView(
        cluster=candidate,
        revision=candidate.revision,
        settings=settings_of(candidate),
        loaded=loaded,
        groups_known=candidate.groups_known,
        declared=candidate,
    )


def _lines(answer: comparison.Comparison) -> Iterator[dict[str, Any]]:
    """Yield the ACLs that one side lacks, as the delta that leads from here to there."""
    steps = chain(
        (("remove", binding) for binding in answer.delta.remove),
        (("add", binding) for binding in answer.delta.add),
    )
    for op, binding in steps:
        yield {"op": op, **binding.as_dict()}
