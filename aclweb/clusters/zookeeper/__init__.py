"""How is a cluster with AclAuthorizer read and written, straight in ZooKeeper?"""

from aclweb.clusters.zookeeper.client import ZooKeeperClient

__all__ = [
    "ZooKeeperClient",
]
