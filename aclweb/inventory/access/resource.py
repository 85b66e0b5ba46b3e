"""Who can do what with a resource: which rows has its matrix, which ACLs match it, and what is said of both?"""

from __future__ import annotations

from dataclasses import replace

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
from aclweb.inventory.access.able import allowed_rows, is_unsure
from aclweb.inventory.access.cells import REACHES, AccessRow, ByCluster, ResourceAccess
from aclweb.inventory.access.matrix import NOTHING, Joined, Matrix, reach
from aclweb.inventory.access.sentences import caveats, resource_sentences
from aclweb.inventory.current import ClusterView, LoadedRevision, Moment, in_force
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
    just_read: bool = False,
) -> ResourceAccess:
    """Return who can do what with this resource, now or `as_of`; with `host`, for principals from there only.

    just_read: as in `in_force`.
    """
    view = in_force(cluster, as_of, just_read=just_read)
    resource = Resource(resource_type, name)
    known = view.known(resource_type)
    question = ("topic_access", resource, host, view.settings, known)
    return view.loaded.remember(question, lambda: resource_access(view, resource, host=host))


def resource_access(view: ClusterView, resource: Resource, *, host: str | None = None) -> ResourceAccess:
    """Return who can do what with this resource, by what `view` holds."""
    settings = view.settings
    affecting = view.index.affecting(resource, settings)
    unknowns = _unknown_patterns(view.loaded, resource.resource_type)
    operations = operations_of(resource.resource_type, settings)
    matrix = Matrix(view, host)
    rows = _rows(matrix, resource, operations, (*affecting, *unknowns))
    by_cluster = through_cluster(view, matrix) if resource.resource_type is ResourceType.TOPIC else ()
    info = _info(view, resource)
    super_users = None if "super_users" in settings.undeclared else tuple(sorted(settings.super_users))
    answer = ResourceAccess(
        resource=resource,
        exists=_exists(view, resource),
        partitions=info[0],
        internal=info[1],
        sentences=(),
        caveats=caveats(settings, default_applies=not affecting),
        operations=operations,
        rows=rows,
        bindings=tuple(sorted(affecting, key=_loudest_first)),
        default_applies=not affecting and not unknowns,
        super_users=super_users,
        by_cluster=by_cluster,
    )
    sentences = resource_sentences(answer, settings)
    return replace(answer, sentences=(*sentences, *answer.caveats))


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


def _unknown_patterns(loaded: LoadedRevision, resource_type: ResourceType) -> tuple[AclBinding, ...]:
    shelf = loaded.index.shelf(resource_type)
    return tuple(shelf.unknown_patterns) if shelf is not None else ()


def through_cluster(view: ClusterView, matrix: Matrix | None = None) -> tuple[ByCluster, ...]:
    """Return who may create or delete topics through a right on the cluster itself, super users left out.

    Where no ACL matches the cluster, its default gives that right to anybody or to nobody. KRaft's controller takes
    Delete on the cluster for any topic; ZooKeeper mode does not.
    """
    matrix = matrix or Matrix(view)
    whole = Resource(ResourceType.CLUSTER, CLUSTER_NAME)
    operations = _BY_CLUSTER if view.settings.cluster_right_deletes_topics else (Operation.CREATE,)
    joined = _by_principal(view.index.affecting(whole, view.settings))
    for_all = joined.pop(ANY_USER, NOTHING)
    rows = [
        matrix.any_user(whole, operations, for_all),
        *(
            matrix.row(principal, whole, operations, own, for_all)
            for principal, own in sorted(joined.items())
        ),
    ]
    named = [row for row in rows if not row.is_super_user]
    found = (
        ByCluster(
            operation,
            tuple(row.principal for row in allowed_rows(named, operation)),
            is_unsure(named, operation),
        )
        for operation in operations
    )
    return tuple(each for each in found if each.principals or each.is_unsure)


def _info(view: ClusterView, resource: Resource) -> tuple[int | None, bool]:
    if resource.resource_type is ResourceType.TOPIC:
        topic = view.loaded.topic(resource.name)
        if topic is not None:
            return topic.partitions, topic.internal
    return None, False


def _exists(view: ClusterView, resource: Resource) -> bool | None:
    """Return whether it exists; None where nobody can tell, since not all names of its type are known."""
    if view.revision is None or view.known(resource.resource_type) is Known.UNKNOWN:
        return None
    if resource.name in view.loaded.names.get(resource.resource_type, ()):
        return True
    return False if view.known(resource.resource_type) is Known.ALL else None
