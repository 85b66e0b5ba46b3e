"""How is a cluster read and written through Kafka's Admin API?"""

from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.admin_api.visibility import Login

__all__ = [
    "AdminClient",
    "Login",
]
