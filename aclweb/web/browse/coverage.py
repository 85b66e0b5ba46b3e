"""What can the logs of a cluster prove, and what do they say about its declarations?"""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.insights import queries
from aclweb.insights.coverage import coverage
from aclweb.insights.declarations import declarations
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell.htmx import render_page


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Show which brokers logged what, and what follows from it."""
    cluster = access.cluster_or_404(request.user, slug)
    covered = coverage(cluster)
    context = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "coverage": covered,
        "head": head(cluster, covered.load),
        "tab": "coverage",
        "declarations": declarations(cluster),
        "disagreements": queries.disagreements(cluster, limit=5),
    }
    return render_page(request, "browse/insights/coverage.html", None, context, section="insights")
