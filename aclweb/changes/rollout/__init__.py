"""How is an approved change written to its cluster: exactly what was approved, once?

Import from here: `apply` (what the worker calls), and `waiting` and `waiting_behind` (which changes could be
taken up now).
"""

from aclweb.changes.rollout.hold import waiting, waiting_behind
from aclweb.changes.rollout.run import apply

__all__ = ["apply", "waiting", "waiting_behind"]
