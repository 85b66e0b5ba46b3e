"""How is a cluster read and written through Kafka's Admin API?"""

from aclweb.clusters.admin_api.kind import ADMIN_API

__all__ = [
    "ADMIN_API",
]
