"""How is an approved change written to its cluster: exactly what was approved, once?

Import from here: `apply` (what the worker calls), `waiting` and `waiting_behind` (which changes could be
taken up now), and `being_written`.
"""

from aclweb.changes.rollout.hold import being_written, waiting, waiting_behind
from aclweb.changes.rollout.run import apply

__all__ = ["apply", "being_written", "waiting", "waiting_behind"]
