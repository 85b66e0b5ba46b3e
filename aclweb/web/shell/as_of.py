"""As of when does an address ask? `?as_of=` holds a revision, a day or a time; without it the answer is for now.

The address keeps it from page to page: links between the pages that answer questions carry it on.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from aclweb.accounts import access
from aclweb.inventory.current import Moment, MomentError, moment_at, moment_sentences
from aclweb.inventory.lists import MonthOfRevisions, month_of_revisions
from aclweb.inventory.models import Cluster, Revision
from aclweb.web.shell.htmx import render_page

FIELD = "as_of"


@dataclass(frozen=True)
class AsOf:
    """The moment that a page is about: one of the past, or now (None).

    sentences: what was declared then and is not today.
    """

    past: Moment | None = None
    sentences: tuple[str, ...] = ()

    @property
    def is_past(self) -> bool:
        return self.past is not None

    @property
    def revision(self) -> Revision | None:
        return self.past.revision if self.past is not None else None

    @property
    def until(self) -> datetime.datetime | None:
        """When the next sync found something else."""
        return self.past.until if self.past is not None else None

    @property
    def time(self) -> datetime.datetime | None:
        """The time that was asked for, where it was no revision."""
        return self.past.time if self.past is not None else None

    @property
    def text(self) -> str:
        """The moment as an address holds it; empty for now."""
        if self.past is None:
            return ""
        if self.past.time is None:
            return str(self.past.revision.number)
        time = self.past.time.astimezone(datetime.UTC).replace(tzinfo=None)
        return time.date().isoformat() if time.time() == datetime.time.max else time.isoformat()

    def kept_in(self, address: str) -> str:
        """Return the address with this moment."""
        if self.past is None:
            return address
        return f"{address}{'&' if '?' in address else '?'}{FIELD}={self.text}"


NOW = AsOf()
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


def month_shown(request: HttpRequest, cluster: Cluster, moment: AsOf) -> MonthOfRevisions:
    """Return the month of the calendar: that of `?month=2026-11`, else of the moment, else of the newest revision."""
    today = timezone.now().date()
    asked = request.GET.get("month", "")
    revision = moment.revision or cluster.revision
    at = moment.time or (revision.read_at if revision is not None else None)
    month = _month(asked) or (at.astimezone(datetime.UTC).date() if at is not None else today)
    return month_of_revisions(cluster, month, today=today)


def _month(text: str) -> datetime.date | None:
    """Return the first day of the month that the text names; None for any other text."""
    if not _MONTH.fullmatch(text) or text < "0001":
        return None
    return datetime.date.fromisoformat(f"{text}-01")


def read(request: HttpRequest, cluster: Cluster) -> AsOf:
    """Return the moment that the address names; raises MomentError."""
    past = moment_at(cluster, request.GET.get(FIELD, ""))
    return NOW if past is None else AsOf(past, moment_sentences(cluster, past))


def of_page(context: Mapping[str, Any]) -> AsOf:
    """Return the moment of the page that a template renders."""
    found = context.get("as_of")
    return found if isinstance(found, AsOf) else NOW


def tells_wrong_moments(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Have a view of a cluster answer a moment that is none with a sentence, and never with the answer of now."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, slug, *args, **kwargs)
        except MomentError as error:
            cluster = access.cluster_or_404(request.user, slug)
            context = {"cluster": cluster, "sentence": str(error), "given": request.GET.get(FIELD, "")[:60]}
            return render_page(
                request, "shell/as_of/unknown.html", "shell/as_of/_unknown.html", context, status=422
            )

    return guarded
