"""Read a cluster in another way, such as by the Admin API instead of ZooKeeper, and keep all that is known of it.

A worker reads the other way and compares it with what is stored, as access. Then a person switches, once both are the
same Kafka cluster: its history, roles, declarations and changes stay, because the cluster here stays the same.
"""

from aclweb.changes.moving.asking import ask, complete, latest
from aclweb.changes.moving.comparing import Compared, Found, compare
from aclweb.changes.moving.running import run_next
from aclweb.changes.moving.sentences import sentence_of
from aclweb.changes.moving.switching import (
    MovingError,
    NotAcceptedError,
    give_up,
    must_be_accepted,
    switch,
    switch_to,
    why_not,
)

__all__ = [
    "Compared",
    "Found",
    "MovingError",
    "NotAcceptedError",
    "ask",
    "compare",
    "complete",
    "give_up",
    "latest",
    "must_be_accepted",
    "run_next",
    "sentence_of",
    "switch",
    "switch_to",
    "why_not",
]
