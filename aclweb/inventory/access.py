"""Who can do what with a resource, and what can a principal do: the core's decisions, arranged.

Every cell is what `aclweb.acl.decide` answers; nothing here decides. A caller's host
matters only where a binding names one, so a cell is decided once for each host that is
named for its principal and once for an address that nobody names. Where these answers
differ, the cell says "some-hosts".
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.addresses import as_java_prints
from aclweb.acl.authorizer import Basis, Result, decide, for_operation, for_principal
from aclweb.acl.hosts import admits, in_range, read_address, read_range
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AccessRequest,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    Resource,
    ResourceType,
)
from aclweb.acl.profiles import Rules, operations_of
from aclweb.inventory import exposure
from aclweb.inventory.current import Holdings, InForce, in_force
from aclweb.inventory.models import Cluster

# What an operation on the whole cluster allows for every topic beside the topic's own rights.
_BY_CLUSTER = (Operation.CREATE, Operation.DELETE)


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether one caller may do one operation on one resource.

    state: "allowed", "refused" (by a DENY), "none" (no ACL allows it), "some-hosts" (the
        answer differs between `hosts` and every other address), "default" (allowed,
        since no ACL covers the resource) or "unknown".
    through: the narrowest pattern that settled it: "exact", "prefix", "all", or "".
    implied: allowed only because another operation brings this one.
    hosts: with "some-hosts", the ACL hosts whose answer differs from `elsewhere`, less
        `except_hosts` within them. `dead_hosts`: those of them that are no address (nor a
        range that this Kafka reads), so that no client can ever come from there.
    determining: the bindings that settled it, for "some-hosts" on those hosts first.
    hangs_on: undeclared settings that would change the answer if they were otherwise.
    """

    principal: str
    kind: str
    resource: Resource
    operation: Operation
    state: str
    through: str = ""
    implied: bool = False
    hosts: tuple[str, ...] = ()
    except_hosts: tuple[str, ...] = ()
    dead_hosts: tuple[str, ...] = ()
    elsewhere: str = ""
    determining: tuple[AclBinding, ...] = ()
    hangs_on: tuple[str, ...] = ()

    @property
    def is_allowed_somewhere(self) -> bool:
        """Whether a client can come from at least one place where this is allowed."""
        if self.state == "some-hosts":
            return self.elsewhere == "allowed" or set(self.hosts) != set(self.dead_hosts)
        return self.state in ("allowed", "default")

    @property
    def sentence(self) -> str:
        """Say what the answer is and what settled it."""
        return exposure.cell_sentence(self)


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One caller of the matrix.

    kind: "principal"; "any-user", somebody whom no ACL names; "super-users", all of them.
    is_super_user: a named principal who is also declared a super user.
    """

    principal: str
    kind: str
    cells: tuple[Cell, ...]
    is_super_user: bool = False
    hangs_on: tuple[str, ...] = ()

    def cell(self, operation: Operation) -> Cell | None:
        return next((cell for cell in self.cells if cell.operation is operation), None)


@dataclass(frozen=True)
class ResourceAccess:
    """Who can do what with one resource.

    exists: None where the names of this type, or of this cluster, are not known.
    sentences: how far the resource is exposed, most important first; `caveats` among them.
    bindings: what covers it: DENY first, then exact, prefixes with the longest first, `*`
        last. For reading; in Kafka only DENY before ALLOW counts.
    by_cluster: (operation, principals) who may do it through a right on the cluster.
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
    by_cluster: tuple[tuple[Operation, tuple[str, ...]], ...]


def topic_access(
    cluster: Cluster, resource_type: ResourceType, name: str, *, host: str | None = None
) -> ResourceAccess:
    """Return who can do what with this resource now; with `host`, for callers from there only."""
    here = in_force(cluster)
    resource = Resource(resource_type, name)
    question = ("topic_access", resource, host, here.rules, here.groups_known)
    return here.holdings.remember(question, lambda: resource_access(here, resource, host=host))


def resource_access(here: InForce, resource: Resource, *, host: str | None = None) -> ResourceAccess:
    """Return who can do what with this resource, by what `here` holds."""
    rules = here.rules
    affecting = here.index.affecting(resource, rules)
    unknowns = _unknown_patterns(here.holdings, resource.resource_type)
    operations = operations_of(resource.resource_type, rules)
    matrix = Matrix(here, host)
    covering = (*affecting, *unknowns)
    named = sorted({binding.principal for binding in covering} - {ANY_USER})
    by_principal: dict[str, list[AclBinding]] = {}
    for binding in covering:
        by_principal.setdefault(binding.principal, []).append(binding)
    for_all = by_principal.get(ANY_USER, [])
    rows = [matrix.row(who, resource, operations, (*by_principal[who], *for_all)) for who in named]
    rows.sort(key=lambda row: (_only_through_all(row), row.principal))
    rows.append(matrix.any_user(resource, operations, for_all, named))
    rows.append(matrix.super_users(resource, operations))
    by_cluster = _by_cluster(matrix, here, resource) if resource.resource_type is ResourceType.TOPIC else ()
    info = _info(here, resource)
    super_users = None if "super_users" in rules.undeclared else tuple(sorted(rules.super_users))
    answer = ResourceAccess(
        resource=resource,
        exists=_exists(here, resource),
        partitions=info[0],
        internal=info[1],
        sentences=(),
        caveats=exposure.caveats(rules, default_applies=not affecting and not unknowns),
        operations=operations,
        rows=tuple(rows),
        bindings=tuple(sorted(affecting, key=_loudest_first)),
        default_applies=not affecting and not unknowns,
        super_users=super_users,
        by_cluster=by_cluster,
    )
    sentences = exposure.resource_sentences(answer, rules)
    return ResourceAccess(**{**answer.__dict__, "sentences": (*sentences, *answer.caveats)})


class Matrix:
    """Decides cells: for any host, or for one host only."""

    def __init__(self, here: InForce, host: str | None = None) -> None:
        self.index = here.index
        self.rules = here.rules
        self.host = host
        self.nowhere_named = _unused("any other address", here.index.hosts)

    def row(
        self,
        principal: str,
        resource: Resource,
        operations: Sequence[Operation],
        covering: Iterable[AclBinding],
        kind: str = "principal",
        asked_as: str | None = None,
    ) -> AccessRow:
        """Return one caller's cells. covering: at least the bindings that cover the resource and name the caller."""
        caller = asked_as if asked_as is not None else principal
        mine = [binding for binding in covering if for_principal(binding, caller)]
        is_super = caller in self.rules.super_users
        points = [] if is_super or self.host is not None else self._points(mine)
        hangs_on = ("super_users",) if "super_users" in self.rules.undeclared and kind == "principal" else ()
        cells = tuple(
            self._cell(principal, kind, caller, resource, operation, mine, points) for operation in operations
        )
        return AccessRow(principal, kind, cells, is_super, hangs_on)

    def any_user(
        self,
        resource: Resource,
        operations: Sequence[Operation],
        covering: Iterable[AclBinding],
        named: Iterable[str],
    ) -> AccessRow:
        """Return what somebody can do whom neither an ACL nor a declaration names."""
        nobody = _unused("User:somebody else", {*named, *self.rules.super_users})
        return self.row(ANY_USER, resource, operations, covering, kind="any-user", asked_as=nobody)

    def super_users(self, resource: Resource, operations: Sequence[Operation]) -> AccessRow:
        """Return what super users can do: everything, and unknown only in who they are."""
        hangs_on = ("super_users",) if "super_users" in self.rules.undeclared else ()
        cells = tuple(Cell("", "super-users", resource, operation, "allowed") for operation in operations)
        return AccessRow("", "super-users", cells, is_super_user=True, hangs_on=hangs_on)

    def _cell(
        self,
        principal: str,
        kind: str,
        caller: str,
        resource: Resource,
        operation: Operation,
        mine: Sequence[AclBinding],
        points: Sequence[tuple[str, tuple[str, ...]]],
    ) -> Cell:
        elsewhere = self.host if self.host is not None else self.nowhere_named
        result, basis = self._decide(caller, elsewhere, operation, resource)
        answers = {
            point: self._decide(caller, point, operation, resource) for _, found in points for point in found
        }
        state = _state(result, basis, self.rules)
        settled = self._determining(caller, elsewhere, operation, mine, basis)
        different = [point for point, answer in answers.items() if answer[0] is not result]
        hangs_on = ("allow_everyone",) if _hangs_on_default(basis, self.rules) else ()
        if different and Result.UNDECIDED in (result, *(answers[point][0] for point in different)):
            return Cell(principal, kind, resource, operation, "unknown", determining=settled)
        if not different:
            return Cell(
                principal,
                kind,
                resource,
                operation,
                state,
                through=_through(settled),
                implied=_is_implied(basis, operation, settled),
                determining=settled,
                hangs_on=hangs_on,
            )
        hosts = tuple(host for host, found in points if any(point in different for point in found))
        inside = [
            host
            for host, found in points
            if host not in hosts and any(in_range(wide, point) for wide in hosts for point in found)
        ]
        there = [
            binding
            for point in different
            for binding in self._determining(caller, point, operation, mine, answers[point][1])
        ]
        return Cell(
            principal,
            kind,
            resource,
            operation,
            "some-hosts",
            through=_through(there),
            implied=_is_implied(answers[different[0]][1], operation, there),
            hosts=hosts,
            except_hosts=tuple(inside),
            dead_hosts=tuple(host for host in hosts if not self._is_possible(host)),
            elsewhere=state,
            determining=tuple(dict.fromkeys((*there, *settled))),
            hangs_on=hangs_on,
        )

    def _decide(
        self, caller: str, host: str, operation: Operation, resource: Resource
    ) -> tuple[Result, Basis]:
        request = AccessRequest(caller, host, operation, resource.resource_type, resource.name)
        return decide(request, self.index, self.rules)

    def _determining(
        self, caller: str, host: str, operation: Operation, mine: Sequence[AclBinding], basis: Basis
    ) -> tuple[AclBinding, ...]:
        """Return every matching DENY, or else every matching ALLOW, as a Decision names them."""
        if basis not in (Basis.DENY_ACL, Basis.ALLOW_ACL):
            return ()
        return tuple(
            binding
            for binding in mine
            if binding.is_deny is (basis is Basis.DENY_ACL)
            and binding.pattern_type is not PatternType.UNKNOWN
            and admits(binding.host, host, ranges=self.rules.cidr_hosts)
            and for_operation(binding, operation)
        )

    def _points(self, mine: Iterable[AclBinding]) -> list[tuple[str, tuple[str, ...]]]:
        """Return each ACL host that these bindings name, with addresses that stand for all it admits."""
        named = list(dict.fromkeys(binding.host for binding in mine if binding.host != WILDCARD))
        if not self.rules.cidr_hosts or not any("/" in host for host in named):
            return [(host, (host,)) for host in named]
        edges = _edges(named)
        return [
            (host, tuple(point for point in edges if in_range(host, point)) or (host,))
            if read_range(host)
            else (host, (host,))
            for host in named
        ]

    def _is_possible(self, host: str) -> bool:
        """Whether a client can come from this ACL host: an address as brokers write it, or a range they read."""
        if self.rules.cidr_hosts and read_range(host):
            return True
        try:
            return as_java_prints(host) == host
        except AclError:
            return False


def _edges(hosts: Iterable[str]) -> list[str]:
    """Return addresses such that whatever these hosts and ranges tell apart, one of them is in each part.

    Along the line of addresses the answer can only change where a range begins or has
    just ended, or around a single address.
    """
    numbers: set[tuple[int, int]] = set()
    for host in hosts:
        found = read_range(host)
        single = read_address(host)
        if found is not None:
            bits, start, length = found
            size = 1 << bits - length
            first = start // size * size
            # The address 0 of IPv4 is in no range, so the one after it speaks for its range too.
            numbers |= {(bits, first), (bits, first + 1), (bits, first + size)}
        elif single is not None:
            numbers |= {single, (single[0], single[1] + 1)}
    return [_address(bits, number) for bits, number in sorted(numbers) if number < 1 << bits]


def _address(bits: int, number: int) -> str:
    return as_java_prints(str(ipaddress.IPv4Address(number) if bits == 32 else ipaddress.IPv6Address(number)))


def _state(result: Result, basis: Basis, rules: Rules) -> str:
    if result is Result.UNDECIDED or _hangs_on_default(basis, rules):
        return "unknown"
    if basis is Basis.DEFAULT_ALLOW:
        return "default"
    if result is Result.ALLOWED:
        return "allowed"
    return "refused" if basis is Basis.DENY_ACL else "none"


def _hangs_on_default(basis: Basis, rules: Rules) -> bool:
    return basis in (Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY) and "allow_everyone" in rules.undeclared


def _is_implied(basis: Basis, operation: Operation, settled: Sequence[AclBinding]) -> bool:
    return basis is Basis.ALLOW_ACL and not any(
        binding.operation in (operation, Operation.ALL) for binding in settled
    )


def _through(settled: Iterable[AclBinding]) -> str:
    found = {_reach(binding) for binding in settled}
    return next((reach for reach in ("exact", "prefix", "all") if reach in found), "")


def _reach(binding: AclBinding) -> str:
    if binding.pattern.is_wildcard:
        return "all"
    return "exact" if binding.pattern_type is PatternType.LITERAL else "prefix"


def _only_through_all(row: AccessRow) -> bool:
    return all(cell.through in ("", "all") for cell in row.cells)


def _loudest_first(binding: AclBinding) -> tuple[object, ...]:
    reach = _reach(binding)
    return (
        not binding.is_deny,
        ("exact", "prefix", "all").index(reach),
        -len(binding.resource_name),
        binding.resource_name,
        binding.principal,
        binding.operation.code,
        binding.host,
    )


def _unused(text: str, taken: Iterable[str]) -> str:
    """Return `text`, made longer until nobody uses it."""
    used = set(taken)
    while text in used:
        text += "'"
    return text


def _unknown_patterns(holdings: Holdings, resource_type: ResourceType) -> tuple[AclBinding, ...]:
    shelf = holdings.index.shelf(resource_type)
    return tuple(shelf.unknown_patterns) if shelf is not None else ()


def _by_cluster(
    matrix: Matrix, here: InForce, resource: Resource
) -> tuple[tuple[Operation, tuple[str, ...]], ...]:
    """Return who may create or delete topics through a right on the cluster itself.

    KRaft's controller takes Delete on the cluster for any topic; ZooKeeper mode does not.
    """
    whole = Resource(ResourceType.CLUSTER, CLUSTER_NAME)
    affecting = here.index.affecting(whole, here.rules)
    operations = _BY_CLUSTER if here.rules.is_standard else (Operation.CREATE,)
    found = []
    for operation in operations:
        principals = sorted({binding.principal for binding in affecting})
        rows = [
            matrix.any_user(whole, (operation,), affecting, principals)
            if principal == ANY_USER
            else matrix.row(principal, whole, (operation,), affecting)
            for principal in principals
        ]
        able = tuple(row.principal for row in rows if row.cells[0].state in ("allowed", "some-hosts"))
        if able:
            found.append((operation, able))
    return tuple(found)


def _info(here: InForce, resource: Resource) -> tuple[int | None, bool]:
    if resource.resource_type is ResourceType.TOPIC:
        topic = here.holdings.topic(resource.name)
        if topic is not None:
            return topic.partitions, topic.internal
    return None, False


def _exists(here: InForce, resource: Resource) -> bool | None:
    if resource.resource_type is ResourceType.TOPIC and here.revision is not None:
        return here.holdings.topic(resource.name) is not None
    if resource.resource_type is ResourceType.GROUP and here.groups is not None:
        return resource.name in here.holdings.group_set
    if resource.resource_type is ResourceType.CLUSTER:
        return resource.name == CLUSTER_NAME
    return None
