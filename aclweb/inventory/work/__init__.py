"""Which process does which piece of work, and does it live? Leases, pulses, and whose turn it is."""

from aclweb.inventory.work.pulses import BEAT, QUEUES, SEARCHES, Life
from aclweb.inventory.work.tasks import pulse

__all__ = [
    "BEAT",
    "QUEUES",
    "SEARCHES",
    "Life",
    "pulse",
]
