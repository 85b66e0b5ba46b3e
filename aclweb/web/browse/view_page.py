"""What becomes of a view of the ACL list: it is saved, opened, renamed, removed. Each person has views of their own."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts.access import cluster_or_404
from aclweb.accounts.models import User
from aclweb.inventory.models import Cluster
from aclweb.web.browse import saved_views
from aclweb.web.models import SavedView
from aclweb.web.shell.htmx import render_page


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List this person's views; save one that is posted, and lead to it."""
    cluster = cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    if request.method == "GET":
        return _page(request, cluster)
    name, query = request.POST.get("name", ""), request.POST.get("query", "")
    try:
        view = saved_views.save(name, query, person=request.user, cluster=cluster)
    except saved_views.SavedViewError as error:
        return _page(request, cluster, new=(name, query), fault=str(error))
    messages.success(request, f"The view {view.name} is saved.")
    return redirect(_address(view, slug))


@login_required
@require_GET
def detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Lead to the list at the address that a view stands for."""
    cluster = cluster_or_404(request.user, slug)
    return redirect(_address(_own_or_404(request, cluster, number), slug))


@login_required
@require_http_methods(["GET", "POST"])
def rename(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Give a view another name."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "POST":
        view = _own_or_404(request, cluster, number)
        name = request.POST.get("name", "")
        try:
            saved_views.rename(view, name)
        except saved_views.SavedViewError as error:
            return _page(request, cluster, wrong=(number, name), fault=str(error))
        messages.success(request, f"The view is called {view.name} now.")
    return redirect("acl-views", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove a view; the ACLs that it listed are untouched."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "POST":
        view = _own_or_404(request, cluster, number)
        SavedView.objects.filter(pk=view.pk).delete()
        messages.success(request, f"The view {view.name} is removed.")
    return redirect("acl-views", slug=slug)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    *,
    new: tuple[str, str] | None = None,
    wrong: tuple[int, str] = (0, ""),
    fault: str = "",
) -> HttpResponse:
    """Show the views. new: a name and a query that could not be saved; wrong: a number and its name that is none."""
    assert isinstance(request.user, User)  # login_required
    context: dict[str, Any] = {
        "cluster": cluster,
        "views": [
            (view, wrong[1] if view.pk == wrong[0] else view.name, view.pk == wrong[0])
            for view in saved_views.own_views(request.user, cluster)
        ],
        "new": new,
        "fault": fault,
        "longest_name": saved_views.LONGEST_NAME,
    }
    return render_page(
        request, "browse/acls/views.html", None, context, section="acls", status=422 if fault else 200
    )


def _own_or_404(request: HttpRequest, cluster: Cluster, number: int) -> SavedView:
    assert isinstance(request.user, User)  # login_required
    view = saved_views.own_views(request.user, cluster).filter(pk=number).first()
    if view is None:
        raise Http404("You have no such view on this cluster.")
    return view


def _address(view: SavedView, slug: str) -> str:
    return f"{reverse('acls', args=[slug])}?{view.query}"
