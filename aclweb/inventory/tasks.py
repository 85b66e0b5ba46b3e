"""Celery tasks: syncs, lint runs and signs of life. They take ids; the state is in the database."""

from aclweb.inventory.findings import search
from aclweb.inventory.sync import sync_all, sync_cluster, sync_next
from aclweb.inventory.work import pulse

__all__ = ["pulse", "search", "sync_all", "sync_cluster", "sync_next"]
