"""What do lint rules find in the ACLs in force, and is it worked out yet?"""

from aclweb.inventory.findings.lint_run import SEVERITIES, is_at_work, is_left_waiting
from aclweb.inventory.findings.pages import FindingPage, Findings
from aclweb.inventory.findings.posture import Posture, postures
from aclweb.inventory.findings.tasks import ask_for_findings, lint_cluster

__all__ = [
    "SEVERITIES",
    "FindingPage",
    "Findings",
    "Posture",
    "ask_for_findings",
    "is_at_work",
    "is_left_waiting",
    "lint_cluster",
    "postures",
]
