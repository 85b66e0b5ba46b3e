"""Which ACLs are legal and probably not what their author meant, and which could be removed or fewer?

Import from here: `lint_all` with its rules, `redundant`, consolidations, and how GLOBs are said without them.
"""

from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim, NoClaim
from aclweb.acl.lint.consolidation import consolidations
from aclweb.acl.lint.findings import LintFinding, findings_in, lint, lint_all
from aclweb.acl.lint.globs import Compiler, Rewriting, as_glob
from aclweb.acl.lint.redundancy import DEAD, SHADOWED, UNREACHABLE, Redundancy, redundant, removable
from aclweb.acl.lint.registry import RULES
from aclweb.acl.lint.rule import ERROR, INFO, WARNING, Example, LintRule

__all__ = [
    "DEAD",
    "ERROR",
    "INFO",
    "RULES",
    "SHADOWED",
    "UNREACHABLE",
    "WARNING",
    "Claim",
    "Compiler",
    "Example",
    "LintFinding",
    "LintRule",
    "NoClaim",
    "Others",
    "Redundancy",
    "Rewriting",
    "as_glob",
    "consolidations",
    "findings_in",
    "lint",
    "lint_all",
    "redundant",
    "removable",
]
