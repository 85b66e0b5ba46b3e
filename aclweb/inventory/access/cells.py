"""The values of an access matrix: an answer, a cell, the row of one principal, one resource with its rows.

Only values: `matrix` computes them, `sentences` words them, `resource` and `principal` return both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from aclweb.acl.authorizer import HostRegion, for_operation
from aclweb.acl.matching import admits
from aclweb.acl.model import AclBinding, Operation, PatternType, Resource

REACHES = ("exact", "prefix", "all")
"""How far a pattern reaches, the narrowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether one principal may do one operation; the same object for all principals with ACLs of the same shape.

    state: "allowed", "refused" (by a DENY), "none" (no ACL allows it), "some-hosts" (the
        answer differs between `places` and every other address), "default" (allowed,
        since no ACL covers the resource) or "unknown".
    through: the narrowest pattern that settled it: "exact", "prefix", "all", or "".
    is_particular: whether an ALLOW settled it that is not for every name.
    implied: allowed only because another operation brings this one.
    places: with "some-hosts", where the answer differs from `elsewhere`: ACL hosts, each with its
        exceptions. `dead_hosts`: ACL hosts whose answer would differ too, if they were an address
        (or a range that this Kafka reads); no client can come from there.
    undeclared_dependencies: undeclared settings that would change the answer if they were otherwise.
    settled_at: (address, whether by DENY) where bindings settled it, for "some-hosts" those hosts first.
    """

    operation: Operation
    state: str
    through: str = ""
    is_particular: bool = False
    implied: bool = False
    places: tuple[HostRegion, ...] = ()
    dead_hosts: tuple[str, ...] = ()
    elsewhere: str = ""
    undeclared_dependencies: tuple[str, ...] = ()
    settled_at: tuple[tuple[str, bool], ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The ACL hosts of `places`."""
        return tuple(host for place in self.places for host in place.hosts)

    @property
    def is_allowed_somewhere(self) -> bool:
        """Whether a client can come from at least one place where this is allowed."""
        return self.state in ("allowed", "default", "some-hosts")


_SHARED = tuple(Verdict.__dataclass_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Verdict):
    """An answer with whom and what it is about.

    determining: the bindings that settled it, for "some-hosts" on those hosts first.
    """

    principal: str
    kind: str
    resource: Resource
    determining: tuple[AclBinding, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One principal of the matrix.

    kind: "principal"; "any-user", somebody whom no ACL names; "super-users", all of them.
    verdicts: one for each operation; `cells` are the same with the bindings that settled them.
    bindings: those for the principal that cover the resource.
    is_super_user: a named principal who is also declared a super user.
    reads_ranges: whether this Kafka reads a host with a slash as a range.
    """

    principal: str
    kind: str
    resource: Resource
    verdicts: tuple[Verdict, ...]
    bindings: tuple[AclBinding, ...] = ()
    is_super_user: bool = False
    undeclared_dependencies: tuple[str, ...] = ()
    reads_ranges: bool = False

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(self._cell(verdict) for verdict in self.verdicts)

    def cell(self, operation: Operation) -> Cell | None:
        verdict = self.verdict(operation)
        return None if verdict is None else self._cell(verdict)

    def verdict(self, operation: Operation) -> Verdict | None:
        for verdict in self.verdicts:
            if verdict.operation is operation:
                return verdict
        return None

    def determining(self, verdict: Verdict) -> tuple[AclBinding, ...]:
        """Return every matching DENY, or else every matching ALLOW, as a Decision names them."""
        return tuple(
            dict.fromkeys(
                binding
                for host, by_deny in verdict.settled_at
                for binding in self.bindings
                if binding.is_deny is by_deny
                and binding.pattern_type is not PatternType.UNKNOWN
                and admits(binding.host, host, ranges=self.reads_ranges)
                and for_operation(binding, verdict.operation)
            )
        )

    def _cell(self, verdict: Verdict) -> Cell:
        return Cell(
            principal=self.principal,
            kind=self.kind,
            resource=self.resource,
            determining=self.determining(verdict),
            **{name: getattr(verdict, name) for name in _SHARED},
        )


class ByCluster(NamedTuple):
    """Who may do an operation with any topic through a right on the cluster: User:* where anybody may.

    is_unsure: whether that is unknown of somebody.
    """

    operation: Operation
    principals: tuple[str, ...]
    is_unsure: bool


@dataclass(frozen=True)
class ResourceAccess:
    """Who can do what with one resource.

    exists: None where the names of this type, or of this cluster, are not known.
    sentences: who can do what with it, most important first; `caveats` among them.
    bindings: what covers it: DENY first, then exact, prefixes with the longest first, `*`
        last. For reading; in Kafka only DENY before ALLOW counts.
    by_cluster: of the operations that somebody may do through a right on the cluster, or perhaps may.
    """

    resource: Resource
    exists: bool | None
    partitions: int | None
    internal: bool
    sentences: tuple[str, ...]
    caveats: tuple[str, ...]
    operations: tuple[Operation, ...]
    rows: tuple[AccessRow, ...]
    bindings: tuple[AclBinding, ...]
    default_applies: bool
    super_users: tuple[str, ...] | None
    by_cluster: tuple[ByCluster, ...]
