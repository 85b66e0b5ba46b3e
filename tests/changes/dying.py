"""What can a worker do at a point of its rollout, so that a test sees what is left of it?

`crash_at` takes NAME:ACTION or NAME:ACTION:N; the action happens when the point is passed for the
N-th time (1 without N).

    kill9   the process kills itself, as the kernel does when memory runs out
    stop    the process stops itself (SIGSTOP) until somebody continues it
    raise   CrashError
    sleep   the process sleeps until it is killed, for at most an hour
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter

from aclweb.changes import failpoints

ACTIONS = ("kill9", "stop", "raise", "sleep")


class CrashError(Exception):
    """Raised on purpose at a point that a test asked for."""


def crash_at(failpoint: str) -> None:
    """Let this process do the action at the point from now on; an empty text is no point."""
    wanted, _, rest = failpoint.partition(":")
    action, _, times = rest.partition(":")
    passed: Counter[str] = Counter()

    def hit(name: str) -> None:
        passed[name] += 1
        if name == wanted and passed[name] == int(times or "1"):
            _do(action, name)

    failpoints.hit = hit


def _do(action: str, name: str) -> None:
    if action == "kill9":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "raise":
        raise CrashError(f"The failpoint {name} was asked to raise.")
    elif action == "sleep":
        time.sleep(3600)
    else:
        raise ValueError(f"Action {action!r} is not known; use one of {', '.join(ACTIONS)}.")
