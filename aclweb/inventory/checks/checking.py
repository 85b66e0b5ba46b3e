"""Try one cluster, and say in one sentence what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from aclweb.clusters import ClusterClient, Connection, Known, checking
from aclweb.clusters.connection import uses_tls
from aclweb.clusters.rights import Right
from aclweb.inventory.current import connection_of, settings_of
from aclweb.inventory.models import Cluster

# Somebody waits: an address that stays silent for so long is told as silent. A sync is more patient.
_PROBE_SECONDS = 2.5


def check(
    cluster: Cluster,
    connect: Callable[[Connection], ClusterClient],
    watch: Callable[[Sequence[Right]], None] = lambda _rights: None,
) -> checking.Checked:
    """Try everything that aclweb does with this cluster, but for writing; nothing of it is stored.

    connect: opens the client. watch: gets the lines that are known so far, each time that one is added.
    """
    connection: Connection | None = None

    def opened() -> ClusterClient:
        nonlocal connection
        connection = replace(connection_of(cluster), probe_seconds=_PROBE_SECONDS)
        return connect(connection)

    return checking.check(
        opened,
        cluster.source,
        cluster.address,
        settings_of(cluster),
        writes=cluster.changes_enabled,
        uses_tls=lambda: connection is not None and uses_tls(connection.kind, connection.options),
        watch=watch,
    )


def sentence_of(cluster: Cluster, checked: checking.Checked) -> str:
    """Return what was found in one sentence or two: whether it answers, and how much it showed."""
    if checked.error is not None or checked.acls is None:
        return f"{cluster.slug} cannot be read. {checked.error or ''}".strip()
    parts = [f"ACLs: {len(checked.acls.bindings):,}"]
    for what, count, known in (
        ("topics", checked.topics, checked.known and checked.known.topics),
        ("groups", checked.groups, checked.known and checked.known.groups),
    ):
        listed = "aclweb may describe" if cluster.source.hides_names else f"{cluster.source.called} lists"
        only = f" (only those that {listed})" if known is Known.VISIBLE else ""
        parts.append(
            f"{what}: {'unknown' if count is None or known is Known.UNKNOWN else f'{count:,}'}{only}"
        )
    return f"{cluster.slug} answers. {', '.join(parts)}."
