"""How is an approved change written to its cluster: exactly what was approved, once?

Import from here: `apply` (what the worker calls), `waiting` and `waiting_behind` (which changes could be
taken up now), `being_written` and `keep_from_beginning` (for whoever moves the cluster).
"""

from aclweb.changes.rollout.hold import being_written, keep_from_beginning, waiting, waiting_behind
from aclweb.changes.rollout.run import apply

__all__ = ["apply", "being_written", "keep_from_beginning", "waiting", "waiting_behind"]
