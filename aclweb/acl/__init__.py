"""What does an ACL mean? The core: plain values and functions, standard library only.

Import from here what answers most questions: an `AclIndex` of `AclBinding`s, `authorize` and `decide` for an
`AccessRequest`, `explain` for the reason, `lint_all` and `redundant` for what is wrong or not needed. Each inner
room has a face of its own with the rest: `simulate` of `aclweb.acl.simulate`, `aclweb.acl.matching` and so on.
"""

from aclweb.acl.authorizer import AclIndex, Basis, Decision, Explanation, Result, authorize, decide, explain
from aclweb.acl.lint import LintFinding, lint_all, redundant
from aclweb.acl.matching import AclFilter
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Delta,
    NotationError,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.needs import assess
from aclweb.acl.notation import read_acl_file
from aclweb.acl.simulate import Impact, Names

__all__ = [
    "AccessRequest",
    "AclBinding",
    "AclError",
    "AclFilter",
    "AclIndex",
    "AuthorizerSettings",
    "Basis",
    "Decision",
    "Delta",
    "Explanation",
    "Impact",
    "LintFinding",
    "Names",
    "NotationError",
    "Operation",
    "PatternType",
    "PermissionType",
    "Resource",
    "ResourcePattern",
    "ResourceType",
    "Result",
    "assess",
    "authorize",
    "decide",
    "explain",
    "lint_all",
    "read_acl_file",
    "redundant",
]
