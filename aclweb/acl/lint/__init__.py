"""Which ACLs are legal and probably not what their author meant, and which could be removed or fewer?

Import from here: `lint_all` with its rules, `redundant`, consolidations, and how GLOBs are said without them.
"""

from aclweb.acl.lint.findings import ERROR, INFO, RULES, WARNING, LintFinding, LintRule, lint, lint_all
from aclweb.acl.lint.globs import Compiler, Rewriting, as_glob
from aclweb.acl.lint.redundancy import (
    DEAD,
    SHADOWED,
    UNREACHABLE,
    Redundancy,
    consolidations,
    redundant,
    removable,
)

__all__ = [
    "DEAD",
    "ERROR",
    "INFO",
    "RULES",
    "SHADOWED",
    "UNREACHABLE",
    "WARNING",
    "Compiler",
    "LintFinding",
    "LintRule",
    "Redundancy",
    "Rewriting",
    "as_glob",
    "consolidations",
    "lint",
    "lint_all",
    "redundant",
    "removable",
]
