"""How many principals can do each operation with a resource? For the boxes of its graph, a table and a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from aclweb.acl.model import ANY_USER, Operation, Resource, ResourceType, operations_of
from aclweb.inventory.access import Able, ByCluster, able_with, through_cluster
from aclweb.inventory.current import ClusterView


@dataclass(frozen=True)
class WhoCan:
    """How many can do one operation.

    by_cluster: how many may do it through a right on the cluster; None for any user. is_unsure_by_cluster: whether
    others perhaps may. Super users are counted in neither.
    """

    operation: Operation
    able: Able
    by_cluster: int | None = 0
    is_unsure_by_cluster: bool = False

    @property
    def words(self) -> str:
        """It in few words, without the cluster: `6 can`, `nobody`, `any user`; "cannot tell" for what is unknown."""
        own = self.able.words
        if own == "0":
            own = "nobody"
        elif own and not self.able.any_user:
            own = f"{own} can"
        return own or "cannot tell"

    @property
    def caption(self) -> str:
        """All of it where there is little room; `nobody` only where nobody can through the cluster either."""
        own = "any user" if self.able.any_user else self.words
        if self.able.any_user or (self.by_cluster == 0 and not self.is_unsure_by_cluster):
            return own
        if self.by_cluster == 0:
            return "cannot tell" if own == "nobody" else f"{own}, perhaps more"
        return f"{'' if own == 'nobody' else f'{own}, '}{self._cluster_words} by cluster"

    @property
    def sentence(self) -> str:
        """What comes through the cluster; empty where nothing does."""
        if self.by_cluster == 0:
            return "perhaps others through a right on the cluster" if self.is_unsure_by_cluster else ""
        return f"{self._cluster_words} through a right on the cluster"

    @property
    def _cluster_words(self) -> str:
        if self.by_cluster is None:
            return "any user"
        return f"{self.by_cluster:,} or more" if self.is_unsure_by_cluster else f"{self.by_cluster:,}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as files have it; principals is None where any user can, or nobody can tell how many."""
        is_counted = not self.able.any_user and self.able.words
        return {
            "operation": self.operation.name,
            "principals": self.able.count if is_counted else None,
            "any_user": self.able.any_user,
            "perhaps_more": self.able.unsure,
            "through_cluster": self.by_cluster,
            "perhaps_more_through_cluster": self.is_unsure_by_cluster,
        }


def who_can(view: ClusterView, resource: Resource) -> list[WhoCan]:
    """Return it for each operation that brokers ask of a resource of this type."""
    operations = operations_of(resource.resource_type, view.settings)
    is_topic = resource.resource_type is ResourceType.TOPIC
    by_cluster = {each.operation: each for each in (through_cluster(view) if is_topic else ())}
    return [
        _with_cluster(WhoCan(operation, able), by_cluster.get(operation))
        for operation, able in zip(operations, able_with(view, resource, operations), strict=True)
    ]


def _with_cluster(found: WhoCan, by_cluster: ByCluster | None) -> WhoCan:
    if by_cluster is None:
        return found
    if ANY_USER in by_cluster.principals:
        return replace(found, by_cluster=None)
    return replace(found, by_cluster=len(by_cluster.principals), is_unsure_by_cluster=by_cluster.is_unsure)
