"""Which change requests are there, what happens to each, and what was done?

The list of changes, the page of one change with its steps, and the audit trail. Import from here: `recent`, the
newest changes and revisions for the home page.
"""

from aclweb.web.changes.recent_changes import Recent, recent

__all__ = ["Recent", "recent"]
