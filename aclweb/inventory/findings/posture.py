"""How is a cluster: how many of its ACLs are wide, orphaned or redundant?

Counted when its ACLs are linted, and kept with that run, so that a page reads a row for each cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, PatternType, PermissionType
from aclweb.inventory.models import Cluster, LintRun

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
    """Return how each of these clusters is, by its primary key; none for one that has not been linted. One query."""
    done = LintRun.objects.filter(cluster__in=clusters, done_at__isnull=False).exclude(counts={})
    rows = done.order_by("done_at").values_list("cluster_id", "revision__number", "counts")
    return {
        int(cluster): Posture(number, **{name: counts.get(name, 0) for name in COUNTED})
        for cluster, number, counts in rows
    }
