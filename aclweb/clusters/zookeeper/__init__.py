"""How is a cluster with AclAuthorizer read and written, straight in ZooKeeper?"""

from aclweb.clusters.zookeeper.kind import ZOOKEEPER

__all__ = [
    "ZOOKEEPER",
]
