"""May this person try another password now?

Three limits on what failed within ACLWEB_LOCKOUT_MINUTES, kept by django-axes in the
database, so that every process of the site counts the same:

- an account from one address waits after ACLWEB_LOCKOUT_FAILURES: others are not concerned;
- an address that fails for many accounts waits after ACLWEB_LOCKOUT_ADDRESS_FAILURES;
- an account that is being tried from anywhere asks each address to wait some seconds
  before an attempt counts, more the more failed. It is never shut, whoever attacks it.

The last two do not concern somebody who has signed in to this account from this address before.
"""

from __future__ import annotations

import hashlib
import math
import time
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.core.cache import cache
from django.db.models import Q, Sum
from django.http import HttpRequest
from django.utils import timezone

LONGEST_WAIT_SECONDS = 16
# Seconds after its wait in which an address may try.
_TICKET_LIFE_SECONDS = 300

TOLD_PAIR = (
    "Too many wrong passwords were given for this account from this address. Try again in "
    "{minutes} minutes. Other people can still sign in."
)
TOLD_ADDRESS = (
    "Too many sign-ins failed from this address, for several accounts. Try again in {minutes} minutes. "
    "People who have signed in from here before still can."
)
TOLD_ACCOUNT = (
    "Wrong passwords were given for this account. Wait {seconds} s, then try again: "
    "that attempt counts, whatever others try."
)


class SignInLimits(AxesDatabaseHandler):  # type: ignore[misc]
    """The limits of django-axes, and the two that it does not have."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        """Return whether this attempt is refused unseen; the reason is kept for the page, see `reason`."""
        minutes = settings.ACLWEB_LOCKOUT_MINUTES
        if super().is_locked(request, credentials):
            return _refused(request, TOLD_PAIR.format(minutes=minutes), minutes * 60)
        username = str((credentials or {}).get("username") or "")
        address = getattr(request, "axes_ip_address", None)
        if AccessLog.objects.filter(username=username, ip_address=address).exists():
            return False
        if address and _failures(Q(ip_address=address)) >= settings.ACLWEB_LOCKOUT_ADDRESS_FAILURES:
            return _refused(request, TOLD_ADDRESS.format(minutes=minutes), minutes * 60)
        seconds = _wait(username, address)
        return seconds > 0 and _refused(request, TOLD_ACCOUNT.format(seconds=seconds), seconds)


def reason(request: HttpRequest) -> tuple[str, int]:
    """Return why the attempt was refused, and the seconds until another one is worth while."""
    found: tuple[str, int] | None = getattr(request, "sign_in_refused", None)
    minutes = settings.ACLWEB_LOCKOUT_MINUTES
    return found or (TOLD_PAIR.format(minutes=minutes), minutes * 60)


def _refused(request: HttpRequest, sentence: str, seconds: int) -> bool:
    request.sign_in_refused = (sentence, seconds)  # type: ignore[attr-defined]
    return True


def _failures(whose: Q) -> int:
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    found = AccessAttempt.objects.filter(whose, attempt_time__gte=since).aggregate(
        failed=Sum("failures_since_start")
    )
    return int(found["failed"] or 0)


def _wait(username: str, address: str | None) -> int:
    """Return the seconds that this address waits before it may try this account; 0 to go on.

    The first attempt starts the wait, and the first one after it goes on, whatever was
    tried from elsewhere meanwhile.
    """
    failed = _failures(Q(username=username))
    if failed < settings.ACLWEB_LOCKOUT_FAILURES:
        return 0
    seconds: int = min(LONGEST_WAIT_SECONDS, 2 ** (failed // settings.ACLWEB_LOCKOUT_FAILURES))
    key = "sign-in-" + hashlib.sha256(f"{address}\n{username}".encode("utf-8", "replace")).hexdigest()
    from_when: float | None = cache.get(key)
    if from_when is None:
        cache.set(key, time.time() + seconds, seconds + _TICKET_LIFE_SECONDS)
        return seconds
    if (left := math.ceil(from_when - time.time())) > 0:
        return left
    cache.delete(key)
    return 0
