"""Which revision was in force at the moment that somebody names?

A moment is the number of a revision, a day or a time in UTC. A revision holds from when it
was read until the next one that differed, so a time between two readings means the earlier.
"""

from __future__ import annotations

import datetime
import re

from aclweb.inventory.models import Cluster, Revision

_NUMBER = re.compile(r"(?:revision |r)?([0-9]{1,9})", re.IGNORECASE)
_TOLD = "give the number of a revision, a day such as 2026-11-20, or a time in UTC such as 2026-11-20T14:30"


class MomentError(ValueError):
    """A text that names no moment, or one of which nothing is known; the message is for whoever wrote it."""


def revision_at(cluster: Cluster, text: str) -> Revision | None:
    """Return the revision in force at the moment, or None for now: an empty text or `now`.

    A day without a time means its end. Raises MomentError.
    """
    asked = text.strip()
    if asked.lower() in ("", "now"):
        return None
    number = _NUMBER.fullmatch(asked)
    revisions = Revision.objects.filter(cluster=cluster)
    if number is not None:
        found = revisions.filter(number=int(number[1])).first()
        if found is None:
            raise MomentError(f"{cluster.name} has no revision {int(number[1])}; {_TOLD}.")
        return found
    found = revisions.filter(read_at__lte=_time(asked)).order_by("-number").first()
    if found is None:
        first = revisions.order_by("number").first()
        told = (
            f"it was first read at {first.read_at.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}"
            if first is not None
            else "it was never read"
        )
        raise MomentError(f"What was in force on {cluster.name} at {asked!r} is not known: {told}.")
    return found


def _time(text: str) -> datetime.datetime:
    try:
        if len(text) == len("2026-11-20"):
            day = datetime.date.fromisoformat(text)
            return datetime.datetime.combine(day, datetime.time.max, datetime.UTC)
        moment = datetime.datetime.fromisoformat(text.removesuffix(" UTC"))
        return moment.astimezone(datetime.UTC) if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise MomentError(f"{text[:40]!r} is no moment; {_TOLD}.") from error
