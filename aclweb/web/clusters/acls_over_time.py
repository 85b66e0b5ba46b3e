"""How many ACLs did a cluster have, and which changes made it so? For a chart on its page, as CSV and as JSON."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.notation import write_rows
from aclweb.changes.queries import change_of_revision
from aclweb.inventory.lists import history
from aclweb.inventory.models import Cluster, Revision

MOST_DRAWN = 400
"""So many revisions are drawn, the latest; the files have all."""

EXPORTED = ("revision", "read_at", "acls", "added", "removed", "made", "change")
FIRST, OURS, ELSEWHERE = "first", "ours", "elsewhere"


@login_required
@require_GET
def exported(request: HttpRequest, slug: str) -> HttpResponse:
    """Give each revision that changed ACLs, the oldest first: as CSV, or with `?format=json` as JSON."""
    cluster = access.cluster_or_404(request.user, slug)
    rows = [_row(revision) for revision in _revisions(cluster).order_by("number")]
    if request.GET.get("format") == "json":
        return JsonResponse({"cluster": cluster.slug, "revisions": rows})
    lines = ([str(row[name]) for name in EXPORTED] for row in rows)
    answer = HttpResponse(write_rows(EXPORTED, lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="acls-over-time-{cluster.slug}.csv"'
    return answer


def drawn(cluster: Cluster) -> dict[str, Any] | None:
    """Return what static/js/chart-acls.js draws; None where there is one number at most. One query."""
    latest = list(_revisions(cluster)[:MOST_DRAWN])
    if len(latest) < 2:
        return None
    until = max(cluster.read_at or latest[0].read_at, latest[0].read_at)
    return {"revisions": [_row(revision) for revision in reversed(latest)], "until": until.isoformat()}


def _revisions(cluster: Cluster) -> QuerySet[Revision, Any]:
    """Return the revisions that changed ACLs, the latest first, each with its first change as `change`."""
    return history(cluster, acls_only=True).annotate(change=change_of_revision(OuterRef("pk")))


def _row(revision: Any) -> dict[str, Any]:
    made = _made(revision)
    return {
        "revision": revision.number,
        "read_at": revision.read_at.isoformat(),
        "acls": revision.acls,
        "added": revision.acls_added,
        "removed": revision.acls_removed,
        "made": made,
        # A change that found everything in place was read back with a revision that others made.
        "change": f"CR-{revision.change}" if made == OURS and revision.change else "",
    }


def _made(revision: Revision) -> str:
    if revision.cause == Revision.Cause.OURS:
        return OURS
    return FIRST if revision.number == 1 else ELSEWHERE
