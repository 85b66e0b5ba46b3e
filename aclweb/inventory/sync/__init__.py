"""How does what a cluster holds come into the database?

Import from here: `sync`, quarantined snapshots, snapshot files, and the tasks that call it.
"""

from aclweb.inventory.sync.run import Written, register_writer, sync
from aclweb.inventory.sync.snapshots import snapshot_text
from aclweb.inventory.sync.tasks import sync_all, sync_cluster, sync_next

__all__ = [
    "Written",
    "register_writer",
    "snapshot_text",
    "sync",
    "sync_all",
    "sync_cluster",
    "sync_next",
]
