"""As of when does an address ask? `?as_of=` holds a revision, a day or a time; without it the answer is for now.

The address keeps it from page to page: links between the pages that answer questions carry it on.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from aclweb.accounts import access
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.moments import MomentError, revision_at
from aclweb.web.htmx import render_page

FIELD = "as_of"


@dataclass(frozen=True)
class AsOf:
    """The moment that a page is about: a revision of the past, or now (None).

    until: when the next reading found something else.
    """

    revision: Revision | None = None
    until: datetime.datetime | None = None

    @property
    def is_past(self) -> bool:
        return self.revision is not None

    @property
    def text(self) -> str:
        """The moment as an address holds it; empty for now."""
        return str(self.revision.number) if self.revision is not None else ""

    def kept_in(self, address: str) -> str:
        """Return the address with this moment."""
        if self.revision is None:
            return address
        return f"{address}{'&' if '?' in address else '?'}{FIELD}={self.text}"


NOW = AsOf()


def read(request: HttpRequest, cluster: Cluster) -> AsOf:
    """Return the moment that the address names; raises MomentError."""
    revision = revision_at(cluster, request.GET.get(FIELD, ""))
    if revision is None or revision.pk == cluster.revision_id:
        return NOW
    later = Revision.objects.filter(cluster=cluster, number__gt=revision.number).order_by("number").first()
    return AsOf(revision, later.read_at if later is not None else None)


def of_page(context: Mapping[str, Any]) -> AsOf:
    """Return the moment of the page that a template renders."""
    found = context.get("as_of")
    return found if isinstance(found, AsOf) else NOW


def tells_wrong_moments(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Have a view of a cluster answer a moment that is none with a sentence, and never with the answer of now."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, slug, *args, **kwargs)
        except MomentError as error:
            cluster = access.cluster_or_404(request.user, slug)
            context = {"cluster": cluster, "sentence": str(error), "given": request.GET.get(FIELD, "")[:60]}
            return render_page(request, "as_of/unknown.html", "as_of/_unknown.html", context, status=422)

    return guarded
