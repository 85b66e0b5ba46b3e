"""What was done, by whom, to the clusters and changes that this person may see?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.changes import queries
from aclweb.inventory.admin.events import about
from aclweb.inventory.lists import LazyRows
from aclweb.web.shell import frame
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 50


@dataclass(frozen=True)
class EventRow:
    sequence: int
    at: datetime
    actor: str
    sentence: str
    target: str
    url: str


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show the audit trail, newest first, one page of it."""
    here = frame.last_cluster(request)
    assert isinstance(request.user, User)  # login_required
    asked = request.GET
    events = visible_events(request.user)
    for name in ("actor", "target"):
        wanted = asked.get(name, "")
        if "\x00" in wanted:  # no database holds it, and PostgreSQL refuses to look
            events = events.none()
        elif wanted:
            events = events.filter(**{name: wanted})
    newest = events.order_by("-sequence")
    here_since = dict(access.visible_clusters(request.user).values_list("slug", "events_after"))
    sees_people = access.is_site_administrator(request.user)
    rows = LazyRows(
        events.count(),
        lambda start, stop: [_row(event, here_since, sees_people) for event in newest[start:stop]],
    )
    context = {
        "page": page_of(rows, page_asked(asked), ROWS_A_PAGE),
        "actor": asked.get("actor", ""),
        "target": asked.get("target", ""),
        "cluster": here,
    }
    return render_page(
        request,
        "changes/audit_trail/index.html",
        "changes/audit_trail/_list.html",
        context,
        section="changes",
    )


def visible_events(user: User) -> QuerySet[Event]:
    """Return the events about clusters and changes that this person may see; about everything to who may audit."""
    if access.may_audit(user):
        return Event.objects.all()
    clusters = access.visible_clusters(user).only("slug", "removed_slug", "events_after").select_related(None)
    changes = (
        queries.changes_of(user)
        .annotate(target=Concat(Value("CR-"), Cast("pk", CharField())))
        .order_by()
        .values("target")
    )
    return Event.objects.filter(about(clusters) | Q(target__in=changes))


def _row(event: Event, here_since: Mapping[str, int], sees_people: bool) -> EventRow:
    """Return the row of an event.

    here_since: by the slug of each cluster that the person may look at, the last event of a removed one of that slug.
    sees_people: whether the person may look at accounts.
    """
    return EventRow(
        sequence=event.sequence,
        at=event.at,
        actor=event.actor,
        sentence=trail.sentence(event),
        target=event.target,
        url=_url(
            event.target,
            is_here=lambda slug: event.sequence > here_since.get(slug, event.sequence),
            sees_people=sees_people,
        ),
    )


def _url(target: str, *, is_here: Callable[[str], bool], sees_people: bool) -> str:
    kind, _, name = target.partition(":")
    if kind == "cluster":
        return reverse("cluster", args=[name]) if is_here(name) else ""
    if target.startswith("CR-") and target[3:].isdecimal():
        return reverse("change", args=[int(target[3:])])
    if kind == "account" and sees_people:
        return reverse("people", query={"q": name})
    return ""
