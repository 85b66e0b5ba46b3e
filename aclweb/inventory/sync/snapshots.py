"""Write what a cluster holds as a snapshot: a line about the cluster, then one ACL a line, all JSON.

The form is promised: `python -m aclweb.pipeline` reads it, and aclweb itself as a
cluster that is known from a file.
"""

from __future__ import annotations

import json

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, ResourceType
from aclweb.acl.notation import write_acls
from aclweb.inventory.current import ClusterView


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
