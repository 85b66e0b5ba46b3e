"""How is a cluster read and written, and what can be done with which kind of cluster?

`kind_named("admin")` returns a kind with what it can do, `connect(connection)` opens a client. What all
clients can do, and the words that they answer with, is in `client.py`; what a kind may declare is in `kind.py`.
Whoever opens a client closes it, best with `with`.

This is the only place that names all kinds.
"""

from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.allowed_hosts import AllowedHosts
from aclweb.clusters.client import (
    AclSnapshot,
    ClusterClient,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Earlier,
    Known,
    Login,
    Marks,
    Moved,
    NamesKnown,
    Outcome,
    OutcomeKind,
    Problem,
    ReadOnlyClient,
    TopicInfo,
    Verb,
    Watch,
    why_no_broker_holds,
)
from aclweb.clusters.details import (
    DescribedGroup,
    Detail,
    DetailKind,
    DetailList,
    Details,
    GroupMember,
    GroupType,
    ListedGroup,
)
from aclweb.clusters.gitops import GITOPS
from aclweb.clusters.kind import ClusterKind, Connection
from aclweb.clusters.snapshot import SNAPSHOT
from aclweb.clusters.zookeeper import ZOOKEEPER

__all__ = [
    "KINDS",
    "AclSnapshot",
    "AllowedHosts",
    "ClusterClient",
    "ClusterError",
    "ClusterFacts",
    "ClusterKind",
    "ClusterState",
    "Connection",
    "DescribedGroup",
    "Detail",
    "DetailKind",
    "DetailList",
    "Details",
    "Earlier",
    "GroupMember",
    "GroupType",
    "Known",
    "ListedGroup",
    "Login",
    "Marks",
    "Moved",
    "NamesKnown",
    "Outcome",
    "OutcomeKind",
    "Problem",
    "ReadOnlyClient",
    "TopicInfo",
    "Verb",
    "Watch",
    "connect",
    "kind_named",
    "live_kinds",
    "why_no_broker_holds",
]

KINDS: dict[str, ClusterKind] = {kind.name: kind for kind in (ZOOKEEPER, ADMIN_API, SNAPSHOT, GITOPS)}


def kind_named(name: str) -> ClusterKind:
    """Return the kind of this name; one that can do nothing where this aclweb has none, as after going back to it."""
    return KINDS.get(name) or ClusterKind(
        name=name, source="an unknown source", called="the source", address_form="none", open=_refuse
    )


def live_kinds() -> tuple[ClusterKind, ...]:
    """Return the kinds that have an address to connect to, that of most clusters of today first."""
    live = (kind for kind in KINDS.values() if kind.options)
    return tuple(sorted(live, key=lambda kind: not kind.has_bootstrap_address))


def connect(connection: Connection) -> ClusterClient:
    """Open a client for this connection; raises ClusterError where nobody answers or the login is refused."""
    return connection.kind.open(connection)


def _refuse(connection: Connection) -> ClusterClient:
    raise ClusterError(
        f"This aclweb has no cluster kind {connection.kind.name!r}, only {', '.join(KINDS)}; install the aclweb "
        "that the cluster was added with.",
        state=ClusterState.UNREACHABLE,
    )
