"""How does an administrator of the site remove a cluster, and what do auditors see of removed ones?"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.audit import trail
from aclweb.changes import queries
from aclweb.inventory.admin import removing
from aclweb.inventory.admin.events import events_of, target_of
from aclweb.web.clusters.connecting import site_administrator
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 50
EVENTS_SHOWN = 20


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what is kept and what is deleted of a cluster, and remove it once its name is typed."""
    cluster = access.cluster_or_404(request.user, slug)
    actor = site_administrator(request)
    typed = request.POST.get("name", "")
    error = ""
    if request.method == "POST":
        try:
            gone = removing.remove(actor=actor, cluster=cluster, confirmed=typed)
        except removing.RemovingError as refused:
            error = str(refused)
        else:
            messages.success(request, f"{gone.name} is removed. A worker deletes what was stored of it.")
            return redirect("removed-cluster", number=gone.pk)
    context = {"cluster": cluster, "plan": removing.plan(cluster), "typed": typed, "error": error}
    return render_page(request, "clusters/remove.html", None, context, status=422 if error else 200)


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """List the removed clusters, the last one first, and how far workers are with deleting them."""
    access.require_auditor(request.user)
    page = page_of(removing.all_removed(), page_asked(request.GET), ROWS_A_PAGE)
    return render_page(request, "clusters/removed_list.html", None, {"page": page})


@login_required
@require_GET
def removed(request: HttpRequest, number: int) -> HttpResponse:
    """Show what is kept of one removed cluster: its change requests and its events."""
    person = access.require_auditor(request.user)
    gone = removing.all_removed().filter(pk=number).first()
    if gone is None:
        raise Http404("There is no removed cluster with this number.")
    changes = queries.kept_changes(person).filter(cluster=gone)
    page = page_of(changes, page_asked(request.GET), ROWS_A_PAGE)
    context = {
        "gone": gone,
        "page": page,
        "rows": [(change, *queries.item_state_words(change)) for change in page.object_list],
        "target": target_of(gone),
        "events": [
            {"sentence": trail.sentence(event), "at": event.at}
            for event in events_of(gone).order_by("-sequence")[:EVENTS_SHOWN]
        ],
    }
    return render_page(request, "clusters/removed.html", None, context)
