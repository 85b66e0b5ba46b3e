"""May this person ask a worker again, or too often within a minute?

Whoever may look at a cluster may ask for a sync or for findings. Each is one task for a
worker, so one person may ask only so often, however many clusters there are.
"""

from __future__ import annotations

from django.core.cache import cache

from aclweb.accounts.models import User

MOST = 10
WINDOW_SECONDS = 60


def too_often(person: User, what: str) -> str:
    """Count one request for `what`; return why it is refused, as a sentence, or an empty text."""
    key = f"asks-{what}-{person.pk}".replace(" ", "-")
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        asked = cache.incr(key)
    except ValueError:  # the minute ended between the two
        return ""
    if asked <= MOST:
        return ""
    return f"You asked for {what} {MOST} times within a minute, which is the limit. Try again in a minute."
