"""How is a cluster made known on a page, edited, tested, paused and switched on for changes?

Nothing here calls a cluster: a worker tests the connection, and the page shows how far it is.
"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import SERVICES
from aclweb.clusters import ClusterError, ClusterKind, live_kinds
from aclweb.clusters.connection import pem
from aclweb.inventory import checks
from aclweb.inventory.admin import pausing
from aclweb.inventory.admin import register as registering
from aclweb.inventory.current import connection_of
from aclweb.inventory.lists import paused_sentence
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.web.clusters.connection_form import ConnectionForm
from aclweb.web.shell import asking_often
from aclweb.web.shell.forms import DeclareForm
from aclweb.web.shell.htmx import render_page, wants_part

# What aclweb uses of a live cluster, and what for: the rights that its login needs.
_NEEDED = (
    ("Describe", "--cluster", "to read ACLs and groups"),
    ("Describe", "--topic '*'", "to see all topics"),
    ("DescribeConfigs", "--cluster", "to read authorizer, mapping rules and defaults"),
    ("Alter", "--cluster", "only to write approved changes"),
)


def site_administrator(request: HttpRequest) -> User:
    """Return who asks; raises PermissionDenied unless they may add and remove clusters."""
    return access.require_site_administrator(request.user, "Adding and removing clusters is")


@login_required
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Make a live cluster known; it is tested first, or synced at once."""
    actor = site_administrator(request)
    kind = _kind_asked(request) or live_kinds()[0]
    if request.method == "GET":
        return _add_page(request, kind, ConnectionForm(kind=kind), DeclareForm(cluster=_unsaved(kind)))
    form = ConnectionForm(request.POST, request.FILES, kind=kind)
    declared = DeclareForm(request.POST, cluster=_unsaved(kind))
    form.is_valid()
    is_tested_first = "sync" not in request.POST
    with transaction.atomic():
        cluster = form.add(actor, paused=is_tested_first, also_valid=declared.is_valid())
        if cluster is not None:
            declared.cluster = cluster
            declared.declare(actor)
            if is_tested_first:
                checks.ask(cluster=cluster, actor=actor)
    if cluster is None:
        return _add_page(request, kind, form, declared, status=422)
    if is_tested_first:
        messages.success(request, f"{cluster.name} is stored, and paused: a worker tests it now.")
    else:
        sync_tasks.ask_for_sync(cluster)
        messages.success(request, f"{cluster.name} is stored. A worker reads it now.")
    return redirect("connection", slug=cluster.slug)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how a cluster is connected to whoever administers it, and change that."""
    cluster = _administered(request, slug)
    kind = _kind_asked(request) or cluster.source
    if kind.name != cluster.kind and cluster.source.options:  # both ways are compared first
        return redirect(reverse("move", args=[slug], query={"kind": kind.name}))
    kind = cluster.source
    try:
        connection_of(cluster)
    except ClusterError as error:
        messages.error(request, f"{error} To log in anew, give everything again.")
        cluster.options = {}
    if request.method == "GET":
        return _page(request, cluster, ConnectionForm(kind=kind, cluster=cluster))
    assert isinstance(request.user, User)  # login_required
    form = ConnectionForm(request.POST, request.FILES, kind=kind, cluster=cluster)
    form.is_valid()
    changed = form.change(request.user)
    if changed is None:
        cluster.refresh_from_db()
        return _page(request, cluster, form, status=422)
    if not changed:
        messages.info(request, "Nothing was changed: it was so already.")
    else:
        checks.ask(cluster=cluster, actor=request.user)
        messages.success(request, "Changed. A worker tests the connection now.")
    return redirect("connection", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def test(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a worker test the connection; a part of the page asks here how far it is."""
    cluster = _administered(request, slug)
    if request.method == "GET":
        if not wants_part(request):
            return redirect("connection", slug=slug)
        return render(request, "clusters/_check.html", {"cluster": cluster, "check": checks.latest(cluster)})
    assert isinstance(request.user, User)  # login_required
    if refused := asking_often.too_often(request.user, "a test"):
        messages.error(request, refused)
    else:
        checks.ask(cluster=cluster, actor=request.user)
    return redirect(reverse("connection", args=[slug]) + "#test")


@login_required
@require_http_methods(["GET", "POST"])
def pause(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop syncing the cluster."""
    cluster = _administered(request, slug)
    if request.method == "POST":
        assert isinstance(request.user, User)  # login_required
        if pausing.pause(actor=request.user, cluster=cluster):
            messages.success(request, paused_sentence(cluster))
        else:
            messages.info(request, "Nothing was changed: it was paused already.")
    return redirect("connection", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def resume(request: HttpRequest, slug: str) -> HttpResponse:
    """Sync the cluster again, from now on."""
    cluster = _administered(request, slug)
    if request.method == "POST":
        assert isinstance(request.user, User)  # login_required
        if pausing.resume(actor=request.user, cluster=cluster):
            sync_tasks.ask_for_sync(cluster)
            messages.success(request, f"{cluster.name} is synced from now on. A worker reads it now.")
        else:
            messages.info(request, "Nothing was changed: it was not paused.")
    return redirect("connection", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def switch_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Let aclweb write approved changes to the cluster, or not."""
    cluster = _administered(request, slug)
    if request.method == "POST":
        assert isinstance(request.user, User)  # login_required
        is_on = request.POST.get("changes") == "on"
        try:
            changed = registering.change(actor=request.user, cluster=cluster, changes_enabled=is_on)
        except registering.RegisteringError as error:
            messages.error(request, str(error))
        else:
            words = f"Changes of {cluster.name} are switched {'on' if is_on else 'off'}."
            (messages.success if changed else messages.info)(
                request, words if changed else f"Nothing was changed: {words[0].lower()}{words[1:]}"
            )
    return redirect("connection", slug=slug)


def _administered(request: HttpRequest, slug: str) -> Cluster:
    """Return the cluster to whoever administers it."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    return cluster


def _kind_asked(request: HttpRequest) -> ClusterKind | None:
    return next((kind for kind in live_kinds() if kind.name == request.GET.get("kind")), None)


def _unsaved(kind: ClusterKind) -> Cluster:
    """Return a cluster that is not stored, for what may be declared of one of this kind."""
    return Cluster(kind=kind.name, authorizer=kind.default_authorizer)


def _add_page(
    request: HttpRequest, kind: ClusterKind, form: ConnectionForm, declared: DeclareForm, status: int = 200
) -> HttpResponse:
    commands = [
        (operation, why, kind.command_to_grant("HOST:PORT", "", operation, resource))
        for operation, resource, why in _NEEDED
    ]
    context = {
        "kind": kind,
        "kinds": live_kinds(),
        "form": form,
        "declared": declared,
        "services": SERVICES.values(),
        "needed": commands if kind.command_to_grant("", "", "", "") else (),
    }
    return render_page(request, "clusters/add.html", None, context, status=status)


def _page(request: HttpRequest, cluster: Cluster, form: ConnectionForm, status: int = 200) -> HttpResponse:
    context = {
        "cluster": cluster,
        "form": form,
        "kind": form.kind,
        "kinds": live_kinds() if cluster.source.options else (),
        "certificates": pem.described(form.stored),
        "check": checks.latest(cluster),
        "paused": paused_sentence(cluster),
        "may_remove": access.is_site_administrator(request.user),
    }
    return render_page(request, "clusters/connection.html", None, context, status=status)
