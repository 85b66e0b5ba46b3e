"""What do lint rules find in the ACLs in force, and is it worked out yet?"""

from aclweb.inventory.findings.lint_run import SEVERITIES, is_at_work, is_left_waiting
from aclweb.inventory.findings.pages import Findings, Told
from aclweb.inventory.findings.tasks import ask_for_findings, search

__all__ = [
    "SEVERITIES",
    "Findings",
    "Told",
    "ask_for_findings",
    "is_at_work",
    "is_left_waiting",
    "search",
]
