"""With which groups may those who may read a topic consume, and who of them with none?

Read on a topic alone lets nobody consume as a member of a group: that takes Read on the group too. ACLs name groups
whether or not the brokers list any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.authorizer import HostResult, result_for_any_host
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    ResourceType,
)
from aclweb.inventory.access.cells import ResourceAccess
from aclweb.inventory.current import ClusterView

_READS = (Operation.READ, Operation.ALL)


@dataclass(frozen=True)
class ReaderGroups:
    """The groups of one principal.

    result: whether it may read at least one group, from every host, from some, or from none; UNDECIDED too where that
    depends on a default that nobody has declared. named: the ALLOW ACLs for Read on groups that name the principal, or
    any user.
    """

    principal: str
    result: HostResult
    named: tuple[AclBinding, ...]

    @property
    def why_none(self) -> str:
        """Why it can join no group at all; empty where it can, or where that is unknown."""
        if self.result is not HostResult.DENIED:
            return ""
        return "a DENY overrides each ACL that allows it" if self.named else "no ACL allows Read on a group"


def readers_of(access: ResourceAccess) -> tuple[str, ...]:
    """Return the principals that may read the resource from at least one host, in the order of the matrix."""
    rows = [(row, row.verdict(Operation.READ)) for row in access.rows if row.kind == "principal"]
    return tuple(row.principal for row, verdict in rows if verdict and verdict.is_allowed_somewhere)


def groups_of_readers(view: ClusterView, principals: Iterable[str]) -> tuple[ReaderGroups, ...]:
    """Return the groups of each of these principals; it costs one decision a principal."""
    for_all = _for_groups(view.loaded.naming(ANY_USER))
    return tuple(_groups_of(view, principal, for_all) for principal in principals)


def _groups_of(view: ClusterView, principal: str, for_all: tuple[AclBinding, ...]) -> ReaderGroups:
    named = _for_groups(view.loaded.naming(principal)) + for_all
    request = AccessRequest(principal, WILDCARD, Operation.READ, ResourceType.GROUP, None)
    result = result_for_any_host(request, view.index, view.settings)
    if result is HostResult.DENIED and not named and "allow_everyone" in view.settings.undeclared:
        result = HostResult.UNDECIDED
    return ReaderGroups(principal, result, named)


def _for_groups(bindings: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
    return tuple(
        binding
        for binding in bindings
        if binding.resource_type is ResourceType.GROUP and not binding.is_deny and binding.operation in _READS
    )
