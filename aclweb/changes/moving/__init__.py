"""Read a cluster in another way, such as by the Admin API instead of ZooKeeper, and keep all that is known of it.

A worker reads the other way and compares it with what is stored, as access. Then a person switches, once both are the
same Kafka cluster: its history, roles, declarations and changes stay, because the cluster here stays the same.
"""

from aclweb.changes.moving.asking import ask, complete, forget_old, latest
from aclweb.changes.moving.comparing import Compared, Found, compare
from aclweb.changes.moving.running import run_next
from aclweb.changes.moving.sentences import access_words, sentence_of
from aclweb.changes.moving.switching import (
    NOTHING_COMPARED,
    MovingError,
    NotAcceptedError,
    give_up,
    must_be_accepted,
    switch,
    switch_to,
    why_not,
)

__all__ = [
    "NOTHING_COMPARED",
    "Compared",
    "Found",
    "MovingError",
    "NotAcceptedError",
    "access_words",
    "ask",
    "compare",
    "complete",
    "forget_old",
    "give_up",
    "latest",
    "must_be_accepted",
    "run_next",
    "sentence_of",
    "switch",
    "switch_to",
    "why_not",
]
