"""When did this person open the home page before, and what changed since?

A cookie of the browser holds it, for the account that was signed in, so that showing a page writes nothing to the
database. It holds no secret, and one that somebody made up only moves a line on their own page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from aclweb.web.changes import Recent

COOKIE = "aclweb-seen"
PAUSE = timedelta(minutes=30)
"""Whoever opens the page again within this time is still on the same visit."""
_KEPT_SECONDS = 400 * 24 * 3600


@dataclass(frozen=True)
class _Seen:
    """before: when the page was last opened in the visit before this one; None in the first. last: in this one."""

    before: datetime | None
    last: datetime


def last_visit(request: HttpRequest) -> datetime | None:
    """Return when this person last opened the page before this visit; None where this browser does not know."""
    known, now = _read(request), timezone.now()
    if known is None:
        return None
    return known.before if now - known.last < PAUSE else known.last


def note(request: HttpRequest, response: HttpResponse) -> None:
    """Have the browser remember that the page was opened now."""
    before = last_visit(request)
    times = [f"{int(at.timestamp())}" if at else "" for at in (before, timezone.now())]
    response.set_cookie(
        COOKIE,
        ".".join((str(request.user.pk), *times)),
        max_age=_KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def split(rows: Sequence[Recent], since: datetime | None) -> Mapping[str, Sequence[Recent]]:
    """Return the rows that are newer than the last visit, and the others."""
    newer = [row for row in rows if since is not None and row.at > since]
    return {"newer": newer, "older": rows[len(newer) :]}


def _read(request: HttpRequest) -> _Seen | None:
    who, _, times = request.COOKIES.get(COOKIE, "").partition(".")
    before, _, last = times.partition(".")
    if who != str(request.user.pk):
        return None
    found = _time(last)
    return None if found is None else _Seen(_time(before), found)


def _time(text: str) -> datetime | None:
    """Return the time of so many seconds; None for what is none, or is yet to come."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 11):
        return None
    found = datetime.fromtimestamp(int(text), UTC)
    return found if found <= timezone.now() else None
