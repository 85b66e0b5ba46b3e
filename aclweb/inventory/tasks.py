"""Celery tasks: syncs, lint runs and signs of life. They take ids; the state is in the database."""

from aclweb.inventory.pulse_tasks import pulse
from aclweb.inventory.search_tasks import search
from aclweb.inventory.sync_tasks import sync_all, sync_cluster, sync_next

__all__ = ["pulse", "search", "sync_all", "sync_cluster", "sync_next"]
