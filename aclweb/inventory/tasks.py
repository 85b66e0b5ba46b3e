"""Celery tasks: syncs, checks, lint runs and heartbeats. They take ids; the state is in the database."""

from aclweb.inventory.admin.deleting import delete_removed
from aclweb.inventory.checks import check_next
from aclweb.inventory.findings import lint_cluster
from aclweb.inventory.sync import sync_all, sync_cluster, sync_next
from aclweb.inventory.work import pulse

__all__ = ["check_next", "delete_removed", "lint_cluster", "pulse", "sync_all", "sync_cluster", "sync_next"]
