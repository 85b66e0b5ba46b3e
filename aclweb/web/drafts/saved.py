"""Which drafts has a person kept under a name on a cluster, and what becomes of one: saved, renamed, removed?"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts.access import cluster_or_404
from aclweb.accounts.models import User
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import named
from aclweb.web.models import NamedDraft
from aclweb.web.shell.htmx import render_page


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List this person's drafts on the cluster, those edited last first."""
    cluster = cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    context = {
        "cluster": cluster,
        "drafts": list(named.own_drafts(request.user, cluster)),
        "longest_name": named.LONGEST_NAME,
    }
    return render_page(request, "drafts/saved/list.html", None, context, section="changes")


@login_required
@require_http_methods(["GET", "POST"])
def rename(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Give a draft another name."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "POST":
        draft = _own_or_404(request, cluster, key)
        try:
            named.rename(draft, request.POST.get("name", ""))
        except named.NamedDraftError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"The draft is called {draft.name} now.")
    return redirect("drafts", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Remove a draft; its address leads nowhere afterwards."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "POST":
        draft = _own_or_404(request, cluster, key)
        named.remove(draft)
        messages.success(request, f"The draft {draft.name} is removed.")
    return redirect("drafts", slug=slug)


def address(draft: NamedDraft, slug: str) -> str:
    """Return the address at which a draft is."""
    return reverse("what-if", args=[slug], query={named.FIELD: draft.key})


def _own_or_404(request: HttpRequest, cluster: Cluster, key: str) -> NamedDraft:
    draft = named.of_key(cluster, key)
    if draft is None or draft.owner_id != request.user.pk:
        raise Http404("You have no such draft on this cluster.")
    return draft
