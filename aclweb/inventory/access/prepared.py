"""What do lists ask of all ACLs of a new revision, so that it is worked out before anybody waits for it?"""

from __future__ import annotations

from aclweb.acl.model import ResourceType
from aclweb.inventory.access.able import able_with_each
from aclweb.inventory.access.sentences import asked_first
from aclweb.inventory.access.topic_reach import topic_reaches
from aclweb.inventory.current import ClusterView


def prepare(view: ClusterView) -> None:
    """Work out what each principal reaches and how many may use each topic: the lists show the one and sort by both."""
    topic_reaches(view)
    for operation in asked_first(ResourceType.TOPIC):
        able_with_each(view, ResourceType.TOPIC, operation)
