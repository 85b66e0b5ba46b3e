"""How is a cluster: how many of its ACLs are wide, orphaned or redundant?

Counted when its ACLs are linted, and kept with that run, so that a page reads a row for each cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, PatternType, PermissionType
from aclweb.inventory.findings.dismissing import today
from aclweb.inventory.models import Cluster, LintRun, StoredFinding

COUNTED = ("any_user", "all_names", "orphaned", "redundant", "errors")
"""ALLOWs for any user; ALLOWs for all names of a type; ACLs that match nothing which exists; ACLs that can go without
changing an answer; findings of the severity error."""


class Found(Protocol):
    """What is counted of a finding."""

    @property
    def rule(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def can_go(self) -> bool: ...
    @property
    def is_proposal(self) -> bool: ...


@dataclass(frozen=True)
class Posture:
    """The numbers of COUNTED for the newest snapshot that was linted. revision: its number."""

    revision: int
    any_user: int
    all_names: int
    orphaned: int
    redundant: int
    errors: int


def counted(bindings: Iterable[AclBinding], found: Iterable[Found]) -> dict[str, int]:
    """Return the numbers of COUNTED for these ACLs, of which the finders found this."""
    numbers = dict.fromkeys(COUNTED, 0)
    for binding in bindings:
        if binding.permission_type is PermissionType.ALLOW:
            numbers["any_user"] += binding.principal == ANY_USER
            numbers["all_names"] += (
                binding.resource_name == WILDCARD and binding.pattern_type is PatternType.LITERAL
            )
    for finding in found:
        if not finding.is_proposal:
            numbers["orphaned"] += finding.rule == "orphan"
            numbers["redundant"] += finding.can_go
            numbers["errors"] += finding.severity == "error"
    return numbers


def postures(clusters: Collection[Cluster]) -> Mapping[int, Posture]:
    """Return how each of these clusters is, by its primary key; none for one that has not been linted. Two queries.

    What somebody has dismissed is not counted.
    """
    done = LintRun.objects.filter(cluster__in=clusters, done_at__isnull=False).exclude(counts={})
    rows = done.order_by("done_at").values_list("pk", "cluster_id", "revision__number", "counts")
    newest = {cluster: (run, number, counts) for run, cluster, number, counts in rows}
    left_out = _dismissed([run for run, _, _ in newest.values()])
    return {
        int(cluster): Posture(
            number, **{name: counts.get(name, 0) - left_out[run].get(name, 0) for name in COUNTED}
        )
        for cluster, (run, number, counts) in newest.items()
    }


def _dismissed(runs: Collection[int]) -> Mapping[int, Mapping[str, int]]:
    """Return the numbers of COUNTED for what is dismissed of these runs, by the run's primary key."""
    found: dict[int, list[StoredFinding]] = {run: [] for run in runs}
    dismissed = StoredFinding.objects.filter(search__in=runs, dismissed_until__gte=today())
    for each in dismissed.only("search_id", "rule", "severity", "can_go", "is_proposal"):
        found[each.search_id].append(each)
    return {run: counted((), each) for run, each in found.items()}
