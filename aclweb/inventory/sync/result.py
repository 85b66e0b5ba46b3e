"""What does a sync answer: the state of the cluster, a sentence about it, and what it stored?"""

from __future__ import annotations

from dataclasses import dataclass, field

from aclweb.acl.model import Delta, number_of
from aclweb.clusters import (
    ClusterState,
    Known,
)
from aclweb.inventory.models import (
    Cluster,
    Revision,
)
from aclweb.inventory.sync.differ import Snapshot

MIGRATING = (
    "This cluster is moving from ZooKeeper to KRaft. Until that has ended, what ZooKeeper has may differ "
    "from what brokers enforce, and nothing should be written here."
)

SILENT = (
    "The broker at {address} does not answer, so its groups and settings are not known; check whether it "
    "still works."
)

ITSELF = "aclweb"


@dataclass(frozen=True)
class SyncResult:
    """What one attempt to sync a cluster gave.

    revision: the newest stored one, made by this sync if `changed`. delta: the ACLs that it
    added and removed. read: the cluster answered, the answer was trusted, and the database now
    says the same. held: the snapshot was quarantined, and nothing stored. failed: nobody answered as needed.
    """

    revision: Revision | None
    changed: bool
    state: ClusterState
    sentence: str
    delta: Delta = field(default_factory=Delta)
    read: bool = False
    held: bool = False
    failed: bool = False


def state_and_sentence(
    row: Cluster, snapshot: Snapshot, count: int, topics_stored: int
) -> tuple[ClusterState, str]:
    """Return the state that a trusted snapshot shows, with its sentence.

    topics_stored: how many there were before, for a snapshot of which they stay.
    """
    if snapshot.acls.unreadable:
        patterns = (
            "1 resource"
            if len(snapshot.acls.unreadable) == 1
            else f"{len(snapshot.acls.unreadable)} resources"
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
    topic_count = (
        len(snapshot.topics)
        if snapshot.topics is not None
        else topics_stored
        if snapshot.topics_stay
        else None
    )
    topics = "topics unknown" if topic_count is None else number_of(topic_count, "topic")
    groups = "groups unknown" if snapshot.groups is None else number_of(len(snapshot.groups), "group")
    partial = [
        kind
        for kind, names, listed in (
            ("topics", snapshot.topics, snapshot.known.topics),
            ("groups", snapshot.groups, snapshot.known.groups),
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


def stored_state(row: Cluster) -> ClusterState:
    return ClusterState(row.state or ClusterState.OK)
