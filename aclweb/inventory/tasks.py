"""Celery tasks: syncs, lint runs and signs of life. They take ids; the state is in the database."""

from aclweb.inventory.findings.tasks import search
from aclweb.inventory.sync.tasks import sync_all, sync_cluster, sync_next
from aclweb.inventory.work.tasks import pulse

__all__ = ["pulse", "search", "sync_all", "sync_cluster", "sync_next"]
