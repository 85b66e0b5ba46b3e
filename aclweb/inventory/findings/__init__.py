"""What do lint rules find in the ACLs in force, and is it worked out yet?"""

from aclweb.inventory.findings.dismissing import LONGEST_REASON, DismissalError, dismiss, dismissals, undo
from aclweb.inventory.findings.lint_run import SEVERITIES, is_at_work, is_left_waiting
from aclweb.inventory.findings.pages import FindingPage, Findings
from aclweb.inventory.findings.posture import TREND_DAYS, Posture, Trend, postures, trends
from aclweb.inventory.findings.tasks import ask_for_findings, lint_cluster

__all__ = [
    "LONGEST_REASON",
    "SEVERITIES",
    "TREND_DAYS",
    "DismissalError",
    "FindingPage",
    "Findings",
    "Posture",
    "Trend",
    "ask_for_findings",
    "dismiss",
    "dismissals",
    "is_at_work",
    "is_left_waiting",
    "lint_cluster",
    "postures",
    "trends",
    "undo",
]
