"""Does a cluster answer, and what may the login do there? Pages ask a worker; at the shell it is tried at once."""

from aclweb.inventory.checks.asking import ask, latest
from aclweb.inventory.checks.checking import check, sentence_of
from aclweb.inventory.checks.same import registered_twice, same_kafka_cluster
from aclweb.inventory.checks.tasks import check_next, enqueue_what_waits

__all__ = [
    "ask",
    "check",
    "check_next",
    "enqueue_what_waits",
    "latest",
    "registered_twice",
    "same_kafka_cluster",
    "sentence_of",
]
