"""How is a sync told: what it found odd, and who made what differs?"""

from __future__ import annotations

from datetime import datetime

from aclweb.acl.model import number_of
from aclweb.clusters import (
    ClusterState,
    Known,
)
from aclweb.inventory.models import (
    Cluster,
    Revision,
)
from aclweb.inventory.sync.differ import Acls, Names, Reading

MIGRATING = (
    "This cluster is moving from ZooKeeper to KRaft. Until that has ended, what ZooKeeper has may differ "
    "from what brokers enforce, and nothing should be written here."
)


SILENT = (
    "The broker at {address} does not answer, so its groups and settings are not known; check whether it "
    "still works."
)


ITSELF = "aclweb"


def figures(now: datetime, cause: Revision.Cause, acls: Acls, names: Names) -> dict[str, object]:
    """Return what a revision keeps of itself beside its rows."""
    return {
        "read_at": now,
        "cause": cause,
        "acls": acls.count,
        "acls_added": len(acls.add),
        "acls_removed": len(acls.remove),
        "names_added": len(names.add),
        "names_removed": len(names.remove),
        "digest": acls.digest,
    }


def told(row: Cluster, reading: Reading, count: int) -> tuple[ClusterState, str]:
    """Return the state that a believed reading shows, with its sentence."""
    if reading.acls.unreadable:
        patterns = (
            "1 resource" if len(reading.acls.unreadable) == 1 else f"{len(reading.acls.unreadable)} resources"
        )
        return ClusterState.UNREADABLE, (
            f"The ACLs of {patterns} are stored in a form that cannot be understood. What was known of them "
            f"before is kept; everything else was read: {number_of(count, 'ACL')} in all."
        )
    source = row.source
    if source.hides_authorizer and row.authorizer_declared == Cluster.Declared.OFF:
        return ClusterState.NO_AUTHORIZER, (
            f"{source.subject} holds {number_of(count, 'ACL')}, but it is declared that the brokers run without an "
            "authorizer: nothing is enforced, and everybody may do everything."
        )
    if count == 0:
        return ClusterState.NO_ACLS, _nothing(row)
    topics = "topics unknown" if reading.topics is None else number_of(len(reading.topics), "topic")
    groups = "groups unknown" if reading.groups is None else number_of(len(reading.groups), "group")
    partial = [
        kind
        for kind, names, listed in (
            ("topics", reading.topics, reading.known.topics),
            ("groups", reading.groups, reading.known.groups),
        )
        if names is not None and listed is Known.VISIBLE and source.hides_names
    ]
    only = (
        f" There may be other {' and '.join(partial)}: only those that aclweb may describe are listed."
        if partial
        else ""
    )
    return ClusterState.OK, f"Read {number_of(count, 'ACL')}, {topics}, {groups}.{only}"


def _nothing(row: Cluster) -> str:
    source = row.source
    if source.is_copy:
        return f"{source.subject} {row.address} was read and has no ACL."
    if source.hides_authorizer and row.authorizer_declared != Cluster.Declared.ON:
        return (
            f"{source.subject} was read and has no ACL. Whether the brokers run with an authorizer cannot be read "
            "there and nobody has declared it, so this may be a cluster that enforces nothing."
        )
    return "The authorizer is on and has no ACL: every request is decided by the default alone."


def state(row: Cluster) -> ClusterState:
    return ClusterState(row.state or ClusterState.OK)
