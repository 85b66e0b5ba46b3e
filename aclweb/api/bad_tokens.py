"""How many bad tokens did this address send lately? Beyond a limit it hears 429, before any account is asked for.

A good token from the same address is let in all the same: people behind one proxy or
network cannot shut each other out.
"""

from __future__ import annotations

from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.exceptions import Throttled

from aclweb.accounts import addresses

MOST = 30
WINDOW_SECONDS = 300


def count(request: HttpRequest) -> None:
    """Count one bad token; raises Throttled (429) where the address has sent too many."""
    key = f"bad-tokens-{addresses.of(request)}".replace(":", "-")
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        sent = cache.incr(key)
    except ValueError:  # it expired between the two
        return
    if sent > MOST:
        raise Throttled(
            WINDOW_SECONDS, f"This address sent more than {MOST} bad API tokens; wait, and check the token."
        )
