"""How far is a worker with reading the logs of a cluster, and who has them read or has that cancelled?"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.insights import reading
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Refresh
from aclweb.inventory.models import Cluster
from aclweb.web.shell.htmx import wants_part


def context_of(
    request: HttpRequest,
    cluster: Cluster,
    *,
    may_administer: bool | None = None,
    last: Refresh | None = None,
    has_sources: bool | None = None,
) -> dict[str, Any]:
    """Return what the card about reading the logs needs.

    may_administer: whether this person may; last: the last try to read them, an empty one where there is none;
    has_sources: whether it is known where they are. Each is looked up unless given.
    """
    progress = reading.progress_of(cluster, last=last)
    if may_administer is None:
        may_administer = access.may(request.user, "administer", cluster)
    if has_sources is None:
        has_sources = may_administer and progress is None and cluster.log_sources.exists()
    return {
        "reading": progress,
        "may_read_now": may_administer and progress is None and has_sources,
        "may_cancel_reading": may_administer and progress is not None and reading.may_be_cancelled(cluster),
    }


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show htmx how far it is, and let the page load again once it has ended; a POST has the logs read now."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "POST":
        access.require(request.user, "administer", cluster)
        try:
            reading.ask(cluster=cluster, person=request.user.get_username())
        except InsightsError as error:
            messages.error(request, str(error))
    elif wants_part(request):
        context = {"cluster": cluster, **context_of(request, cluster)}
        page = render(request, "browse/insights/_log_reading.html", context)
        if context["reading"] is None:
            page["HX-Refresh"] = "true"
        return page
    return redirect("coverage", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, slug: str) -> HttpResponse:
    """End the reading of the logs."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "POST":
        access.require(request.user, "administer", cluster)
        try:
            reading.cancel(cluster=cluster, person=request.user.get_username())
            messages.success(request, "Cancelled. What was loaded before stays.")
        except InsightsError as error:
            messages.error(request, str(error))
    return redirect("coverage", slug=slug)
