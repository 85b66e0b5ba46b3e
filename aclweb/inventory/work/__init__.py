"""Leases, heartbeats of workers, and which cluster is synced next."""

from aclweb.inventory.work.pulses import BEAT, QUEUES, SEARCHES, WATCHER, Life
from aclweb.inventory.work.tasks import pulse

__all__ = [
    "BEAT",
    "QUEUES",
    "SEARCHES",
    "WATCHER",
    "Life",
    "pulse",
]
