"""Who can do what with a resource: the rows of its matrix, the bindings that cover it, and how far it is exposed."""

from __future__ import annotations

from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    AclBinding,
    Operation,
    Resource,
    ResourceType,
    operations_of,
)
from aclweb.clusters import Known
from aclweb.inventory.access import sentences as exposure
from aclweb.inventory.access.cells import REACHES, AccessRow, ResourceAccess
from aclweb.inventory.access.matrix import NOTHING, Joined, Matrix, reach
from aclweb.inventory.current import Holdings, InForce, Moment, in_force
from aclweb.inventory.models import Cluster

# What an operation on the whole cluster allows for every topic beside the topic's own rights.
_BY_CLUSTER = (Operation.CREATE, Operation.DELETE)


def topic_access(
    cluster: Cluster,
    resource_type: ResourceType,
    name: str,
    *,
    host: str | None = None,
    as_of: Moment | None = None,
) -> ResourceAccess:
    """Return who can do what with this resource, now or `as_of`; with `host`, for callers from there only."""
    here = in_force(cluster, as_of)
    resource = Resource(resource_type, name)
    known = here.known(resource_type)
    question = ("topic_access", resource, host, here.settings, known)
    return here.holdings.remember(question, lambda: resource_access(here, resource, host=host))


def resource_access(here: InForce, resource: Resource, *, host: str | None = None) -> ResourceAccess:
    """Return who can do what with this resource, by what `here` holds."""
    settings = here.settings
    affecting = here.index.affecting(resource, settings)
    unknowns = _unknown_patterns(here.holdings, resource.resource_type)
    operations = operations_of(resource.resource_type, settings)
    matrix = Matrix(here, host)
    rows = _rows(matrix, resource, operations, (*affecting, *unknowns))
    by_cluster = _by_cluster(matrix, here) if resource.resource_type is ResourceType.TOPIC else ()
    info = _info(here, resource)
    super_users = None if "super_users" in settings.undeclared else tuple(sorted(settings.super_users))
    answer = ResourceAccess(
        resource=resource,
        exists=_exists(here, resource),
        partitions=info[0],
        internal=info[1],
        sentences=(),
        caveats=exposure.caveats(settings, default_applies=not affecting),
        operations=operations,
        rows=rows,
        bindings=tuple(sorted(affecting, key=_loudest_first)),
        default_applies=not affecting and not unknowns,
        super_users=super_users,
        by_cluster=by_cluster,
    )
    sentences = exposure.resource_sentences(answer, settings)
    return ResourceAccess(**{**answer.__dict__, "sentences": (*sentences, *answer.caveats)})


def _rows(
    matrix: Matrix, resource: Resource, operations: tuple[Operation, ...], covering: tuple[AclBinding, ...]
) -> tuple[AccessRow, ...]:
    """Return whom these bindings name, what is particular to the resource first, then everybody else."""
    joined = _by_principal(covering)
    for_all = joined.pop(ANY_USER, NOTHING)
    rows = [matrix.row(who, resource, operations, own, for_all) for who, own in joined.items()]
    rows.sort(key=lambda row: (_only_through_all(row), row.principal))
    return (
        *rows,
        matrix.any_user(resource, operations, for_all),
        matrix.super_users(resource, operations),
    )


def _by_principal(covering: tuple[AclBinding, ...]) -> dict[str, Joined]:
    groups: dict[str, list[AclBinding]] = {}
    for binding in covering:
        groups.setdefault(binding.principal, []).append(binding)
    return {principal: Joined.of(group) for principal, group in groups.items()}


def _only_through_all(row: AccessRow) -> bool:
    return all(verdict.through in ("", "all") for verdict in row.verdicts)


def _loudest_first(binding: AclBinding) -> tuple[object, ...]:
    return (
        not binding.is_deny,
        REACHES.index(reach(binding)),
        -len(binding.resource_name),
        binding.resource_name,
        binding.principal,
        binding.operation.code,
        binding.host,
    )


def _unknown_patterns(holdings: Holdings, resource_type: ResourceType) -> tuple[AclBinding, ...]:
    shelf = holdings.index.shelf(resource_type)
    return tuple(shelf.unknown_patterns) if shelf is not None else ()


def _by_cluster(matrix: Matrix, here: InForce) -> tuple[tuple[Operation, tuple[str, ...]], ...]:
    """Return who may create or delete topics through a right on the cluster itself.

    KRaft's controller takes Delete on the cluster for any topic; ZooKeeper mode does not.
    """
    whole = Resource(ResourceType.CLUSTER, CLUSTER_NAME)
    operations = _BY_CLUSTER if here.settings.cluster_right_deletes_topics else (Operation.CREATE,)
    joined = _by_principal(here.index.affecting(whole, here.settings))
    for_all = joined.get(ANY_USER, NOTHING)
    rows = [
        matrix.any_user(whole, operations, for_all)
        if principal == ANY_USER
        else matrix.row(principal, whole, operations, own, for_all)
        for principal, own in sorted(joined.items())
    ]
    found = []
    for place, operation in enumerate(operations):
        able = tuple(row.principal for row in rows if row.verdicts[place].state in ("allowed", "some-hosts"))
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
    """Return whether it exists; None where nobody can tell, since not all names of its type are known."""
    if here.revision is None or here.known(resource.resource_type) is Known.UNKNOWN:
        return None
    if resource.name in here.holdings.names.get(resource.resource_type, ()):
        return True
    return False if here.known(resource.resource_type) is Known.ALL else None
