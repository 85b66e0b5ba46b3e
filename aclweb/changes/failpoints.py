"""Which points does a rollout pass at which a test may make its worker die?

Tests of crashes put a function of their own in the place of `hit`. Nothing in aclweb acts at a
point, so no setting and no variable can make an installation kill itself.
"""

from __future__ import annotations

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


def hit(name: str) -> None:
    """Do nothing at this point."""
