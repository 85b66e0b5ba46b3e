"""Write what a cluster holds as a snapshot: a line about the cluster, then one ACL a line, all JSON.

The form is promised: `python -m aclweb.pipeline` reads it, and aclweb itself as a
cluster that is known from a file.
"""

from __future__ import annotations

import json

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, ResourceType
from aclweb.acl.notation import write_acls
from aclweb.inventory.current import InForce


def snapshot_text(here: InForce) -> str:
    """Return the snapshot; `config` holds only what is declared of the cluster."""
    declared = here.declared
    config: dict[str, object] = {}
    if declared.super_users is not None:
        config[SUPER_USERS_KEY] = declared.super_users
    if declared.allow_everyone is not None:
        config[ALLOW_EVERYONE_KEY] = declared.allow_everyone
    header = {
        "cluster": here.cluster.slug,
        "revision": here.revision.number if here.revision is not None else None,
        "config": config,
        "authorizer": here.settings.authorizer,
        "kafka_version": here.settings.kafka_version,
        "topics": [topic.name for topic in here.topics],
        "groups": list(here.groups) if here.groups is not None else None,
        "topics_known": here.known(ResourceType.TOPIC).value,
        "groups_known": here.known(ResourceType.GROUP).value,
    }
    return f"{json.dumps(header)}\n{write_acls(here.index, format='jsonl')}"
