"""How does what a cluster holds come into the database?

Import from here: `sync`, quarantined snapshots, snapshot files, and the tasks that call it.
"""

from aclweb.inventory.sync.differ import Snapshot
from aclweb.inventory.sync.result import SyncResult
from aclweb.inventory.sync.run import read_snapshot, sync
from aclweb.inventory.sync.snapshots import history_lines, snapshot_text
from aclweb.inventory.sync.tasks import sync_all, sync_cluster, sync_next
from aclweb.inventory.sync.writers import Written, register_writer

__all__ = [
    "Snapshot",
    "SyncResult",
    "Written",
    "history_lines",
    "read_snapshot",
    "register_writer",
    "snapshot_text",
    "sync",
    "sync_all",
    "sync_cluster",
    "sync_next",
]
