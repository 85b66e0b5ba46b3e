"""Who has which role on one cluster? Its administrators give and take roles here."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access, grants
from aclweb.accounts.models import Role, User
from aclweb.inventory.models import Cluster
from aclweb.web.people.role_form import MEANINGS, RoleOnCluster, page_of_roles
from aclweb.web.shell.htmx import render_page


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List who has which role on a cluster; give a role."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return _page(request, cluster, RoleOnCluster())
    access.require(request.user, "administer", cluster)
    form = RoleOnCluster(request.POST)
    sentence = form.give(_actor(request), form.cleaned_data["to"], cluster) if form.is_valid() else ""
    if not sentence:
        return _page(request, cluster, form, status=422)
    messages.success(request, sentence)
    return redirect("roles", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def take(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Take one role away, and lead back to the page of the person or of the cluster."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    actor, person = _actor(request), request.POST.get("person", "")
    if request.method == "POST":
        grant = get_object_or_404(grants.listed(cluster=cluster), pk=number)
        try:
            grants.take(actor=actor, grant=grant)
        except grants.GrantError as error:
            return _page(request, cluster, RoleOnCluster(), error=str(error), status=422)
        messages.success(request, f"No longer: {grants.named(grant)}.")
    if actor.is_superuser and person.isascii() and person.isdecimal():
        return redirect("account", number=person)
    return redirect("roles", slug=slug)


def _page(
    request: HttpRequest, cluster: Cluster, form: RoleOnCluster, *, error: str = "", status: int = 200
) -> HttpResponse:
    text, role = request.GET.get("q", "").strip(), request.GET.get("role", "")
    known = {each.label: each for each in Role}
    found = grants.listed(cluster=cluster, role=known.get(role)).annotate(
        members=Count("group__user", filter=Q(group__user__is_active=True))
    )
    if "\x00" in text:  # no database holds it, and PostgreSQL refuses to look
        found = found.none()
    elif text:
        found = found.filter(Q(user__username__icontains=text) | Q(group__name__icontains=text))
    context: dict[str, Any] = {
        "cluster": cluster,
        "form": form,
        "error": error,
        "text": text,
        "role": role if role in known else "",
        "roles": list(known),
        "meanings": MEANINGS,
        "page": page_of_roles(found, request.GET),
        "only_administering": grants.only_administering(_actor(request), cluster),
        "may_administer": access.may(request.user, "administer", cluster),
    }
    return render_page(request, "people/roles.html", None, context, status=status)


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
