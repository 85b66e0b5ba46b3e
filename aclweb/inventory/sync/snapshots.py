"""Write what a cluster holds as a snapshot: a line about the cluster, then one ACL a line, all JSON.

The form is promised: `python -m aclweb.pipeline` reads it, and aclweb itself as a
cluster that is known from a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, ResourceType
from aclweb.acl.notation import write_acls
from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Cluster, StoredAcl


def snapshot_text(view: ClusterView) -> str:
    """Return the snapshot; `config` holds only what is declared of the cluster."""
    declared = view.declared
    config: dict[str, object] = {}
    if declared.super_users is not None:
        config[SUPER_USERS_KEY] = declared.super_users
    if declared.allow_everyone is not None:
        config[ALLOW_EVERYONE_KEY] = declared.allow_everyone
    header = {
        "cluster": view.cluster.slug,
        "revision": view.revision.number if view.revision is not None else None,
        "config": config,
        "authorizer": view.settings.authorizer,
        "kafka_version": view.settings.kafka_version,
        "topics": [topic.name for topic in view.topics],
        "groups": list(view.groups) if view.groups is not None else None,
        "topics_known": view.known(ResourceType.TOPIC).value,
        "groups_known": view.known(ResourceType.GROUP).value,
    }
    return f"{json.dumps(header)}\n{write_acls(view.index, format='jsonl')}"


_OF_ACL = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
)
_IN_FORCE = ("added_in__number", "added_in__read_at", "removed_in__number", "removed_in__read_at")


def history_lines(cluster: Cluster) -> Iterator[str]:
    """Yield each ACL that was ever in force as a line of JSON, with the revisions and times from when to when.

    `python -m aclweb.pipeline disagreement --history` reads it. An ACL that is in force has null for both ends.
    """
    rows = StoredAcl.objects.filter(cluster=cluster, added_in__published=True)
    found = rows.order_by("added_in__number", "pk").values_list(*_OF_ACL, *_IN_FORCE, "removed_in__published")
    for *words, first, since, last, until, is_published in found.iterator():
        over = is_published is True
        periods = {
            "from_revision": first,
            "from_at": since.isoformat(),
            "to_revision": last if over else None,
            "to_at": until.isoformat() if over and until is not None else None,
        }
        yield json.dumps(dict(zip(_OF_ACL, words, strict=True)) | periods) + "\n"
