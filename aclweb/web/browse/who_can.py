"""How many principals can do each operation with a resource? For the boxes of its graph, a table and a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aclweb.acl.model import ANY_USER, Operation, Resource, ResourceType, operations_of
from aclweb.inventory.access import Able, able_with, through_cluster
from aclweb.inventory.current import ClusterView


@dataclass(frozen=True)
class WhoCan:
    """How many can do one operation. by_cluster: how many may do it through a right on the cluster; None for any user.

    Super users are counted in neither.
    """

    operation: Operation
    able: Able
    by_cluster: int | None = 0

    @property
    def words(self) -> str:
        """It in few words: `6 can`, `nobody`, `any user`, `3 by the cluster`; "cannot tell" for what is unknown."""
        own = self.able.words
        if own == "0":
            own = "nobody"
        elif own and not self.able.any_user:
            own = f"{own} can"
        return own or "cannot tell"

    @property
    def caption(self) -> str:
        """The same where there is little room."""
        own = "any user" if self.able.any_user else self.words
        if self.by_cluster == 0 or self.able.any_user:
            return own
        return f"{'' if own == 'nobody' else f'{own} + '}{self._cluster_words} by cluster"

    @property
    def sentence(self) -> str:
        """What comes through the cluster; empty where nothing does."""
        if self.by_cluster == 0:
            return ""
        return f"{self._cluster_words} through a right on the cluster"

    @property
    def _cluster_words(self) -> str:
        return "any user" if self.by_cluster is None else f"{self.by_cluster:,}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as files have it; principals is None where any user can, or nobody can tell how many."""
        is_counted = not self.able.any_user and self.able.words
        return {
            "operation": self.operation.name,
            "principals": self.able.count if is_counted else None,
            "any_user": self.able.any_user,
            "perhaps_more": self.able.unsure,
            "through_cluster": self.by_cluster,
        }


def who_can(view: ClusterView, resource: Resource) -> list[WhoCan]:
    """Return it for each operation that brokers ask of a resource of this type."""
    operations = operations_of(resource.resource_type, view.settings)
    by_cluster = {}
    if resource.resource_type is ResourceType.TOPIC:
        for operation, able in through_cluster(view):
            names = set(able) - view.settings.super_users
            by_cluster[operation] = None if ANY_USER in names else len(names)
    each = zip(operations, able_with(view, resource, operations), strict=True)
    return [WhoCan(operation, able, by_cluster.get(operation, 0)) for operation, able in each]
