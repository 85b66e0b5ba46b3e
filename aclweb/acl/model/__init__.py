"""What are the values that everything else speaks of: ACLs, requests, edits, settings?

Import from here: `AclBinding`, `AccessRequest` and their enums, `Delta`, the authorizer's settings, the one
error to catch (`AclError`), and how an ACL reads in English. Imports nothing of ours.
"""

from aclweb.acl.model.authorizers import (
    ALLOW_EVERYONE_KEY,
    OPERATIONS,
    SUPER_USERS_KEY,
    TOOL_OPERATIONS,
    VERSIONS,
    AuthorizerSettings,
    is_never_asked,
    operations_of,
    tool_operations_of,
)
from aclweb.acl.model.computed import computed_once
from aclweb.acl.model.delta import Delta, Step
from aclweb.acl.model.errors import KeyProblem, NotationError, Problems, shown, visible
from aclweb.acl.model.lines import lines_of
from aclweb.acl.model.services import SERVICES, ManagedService
from aclweb.acl.model.vocabulary import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AccessRequest,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourcePattern,
    ResourceType,
    split_principal,
)
from aclweb.acl.model.wording import (
    ACTIONS,
    NOUNS,
    WORDS,
    acl_text,
    action_on,
    everyone_or,
    from_host,
    name_text,
    number_of,
    resource_text,
    resources_of,
    spoken,
)

__all__ = [
    "ACTIONS",
    "ALLOW_EVERYONE_KEY",
    "ANY_USER",
    "CLUSTER_NAME",
    "NOUNS",
    "OPERATIONS",
    "SERVICES",
    "SUPER_USERS_KEY",
    "TOOL_OPERATIONS",
    "VERSIONS",
    "WILDCARD",
    "WORDS",
    "AccessRequest",
    "AclBinding",
    "AclError",
    "AuthorizerSettings",
    "Delta",
    "KeyProblem",
    "ManagedService",
    "NotationError",
    "Operation",
    "PatternType",
    "PermissionType",
    "Problems",
    "Resource",
    "ResourcePattern",
    "ResourceType",
    "Step",
    "acl_text",
    "action_on",
    "computed_once",
    "everyone_or",
    "from_host",
    "is_never_asked",
    "lines_of",
    "name_text",
    "number_of",
    "operations_of",
    "resource_text",
    "resources_of",
    "shown",
    "split_principal",
    "spoken",
    "tool_operations_of",
    "visible",
]
