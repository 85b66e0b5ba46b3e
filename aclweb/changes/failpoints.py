"""Named points at which tests make a worker die.

Tests of crashes set ACLWEB_FAILPOINT=NAME:ACTION or NAME:ACTION:N in a worker's
environment; the action happens when the point is passed for the N-th time (1 without N).
Nothing happens at any point unless the setting ACLWEB_FAILPOINTS is on.

    kill9   the process kills itself, as the kernel does when memory runs out
    stop    the process stops itself (SIGSTOP) until somebody continues it
    raise   FailpointError
    sleep   the process sleeps until it is killed, for at most an hour
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter

from django.conf import settings

ACTIONS = ("kill9", "stop", "raise", "sleep")

# Each point in the order in which one run passes it.
POINTS = (
    "claimed",  # the row is ours, under a lease
    "read",  # the cluster was read afresh, nothing decided yet
    "intent",  # what is about to be written is committed as INTENT
    "before-call",  # the lease was checked once more
    "replied",  # the cluster answered, the answer is not stored yet
    "recorded",  # the answer is stored
    "barrier",  # one phase is done and not yet seen on the cluster
    "between-phases",  # it was seen; the next phase has not begun
    "before-verify",  # everything is written, nothing read back
    "verified",  # read back, the end state not stored yet
    "finished",  # stored; the task is not acknowledged yet
)

_passed: Counter[str] = Counter()


class FailpointError(Exception):
    """Raised on purpose at a point that a test asked for."""


def hit(name: str) -> None:
    """Do what the environment asks for at this point; usually nothing."""
    if not settings.ACLWEB_FAILPOINTS:
        return
    wanted, _, rest = os.environ.get("ACLWEB_FAILPOINT", "").partition(":")
    if wanted != name:
        return
    action, _, times = rest.partition(":")
    _passed[name] += 1
    if _passed[name] != int(times or "1"):
        return
    if action == "kill9":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "raise":
        raise FailpointError(f"The failpoint {name} was asked to raise.")
    elif action == "sleep":
        time.sleep(3600)
    else:
        raise FailpointError(f"Failpoint action {action!r} is not known; use one of {', '.join(ACTIONS)}.")
