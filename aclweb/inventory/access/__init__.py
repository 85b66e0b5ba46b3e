"""Who can do what: with one resource, or as one principal?"""

from aclweb.inventory.access.cells import AccessRow, Cell, ResourceAccess
from aclweb.inventory.access.principal import PrincipalAccess, Reach, principal_access
from aclweb.inventory.access.resource import topic_access

__all__ = [
    "AccessRow",
    "Cell",
    "PrincipalAccess",
    "Reach",
    "ResourceAccess",
    "principal_access",
    "topic_access",
]
