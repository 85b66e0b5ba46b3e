"""Which clusters are there, in which state, and what is declared of them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import ResourceType
from aclweb.audit import trail
from aclweb.changes.models import PolicyGate
from aclweb.insights.declarations import declarations
from aclweb.inventory import lists
from aclweb.inventory.admin import removing
from aclweb.inventory.admin.events import events_of
from aclweb.inventory.checks import latest, registered_twice, same_kafka_cluster
from aclweb.inventory.current import broker_settings
from aclweb.inventory.models import Cluster, LogSource, OwnedNames, StoredName, stored_in_force
from aclweb.inventory.sync import quarantine
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.web.clusters import acls_over_time, told
from aclweb.web.clusters.moving import moves_to
from aclweb.web.shell import asking_often
from aclweb.web.shell.forms import DeclareForm
from aclweb.web.shell.frame import cluster_line
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

REVISIONS_A_PAGE = 20


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """List the clusters that this person may look at."""
    visible = access.visible_clusters(request.user)
    context = {
        "same_kafka": registered_twice(visible),
        "removed": removing.all_removed().exists() if access.may_audit(request.user) else False,
    }
    return render_page(request, "clusters/list.html", None, context)


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one cluster: state, what is declared, problems found, and its revisions."""
    cluster = access.cluster_or_404(request.user, slug, **_columns())
    return _page(request, cluster, DeclareForm(initial=DeclareForm.as_stored(cluster), cluster=cluster))


@login_required
@require_http_methods(["GET", "POST"])
def declare(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the default mode and the super users that an administrator of the cluster declares."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "GET":
        return redirect(reverse("cluster", args=[slug], query=request.GET))
    form = DeclareForm(request.POST, cluster=cluster)
    if not form.is_valid():
        return _page(request, access.cluster_or_404(request.user, slug, **_columns()), form, status=422)
    assert isinstance(request.user, User)  # login_required
    if form.declare(request.user):
        messages.success(request, f"Declared. Every answer about {cluster.name} counts with it from now on.")
    else:
        messages.info(request, "Nothing was changed: this was declared already.")
    return redirect("cluster", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def sync_now(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a worker to read the cluster at once; the page itself never calls a cluster."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return redirect("cluster", slug=slug)
    assert isinstance(request.user, User)  # login_required
    if refused := asking_often.too_often(request.user, "a sync"):
        messages.error(request, refused)
        return redirect("cluster", slug=slug)
    if cluster.is_paused:
        messages.info(
            request, f"{lists.paused_sentence(cluster)} An administrator of the cluster can resume it."
        )
        return redirect("cluster", slug=slug)
    sync_tasks.ask_for_sync(cluster)
    messages.info(request, f"A worker will read {cluster.name} now; load this page again in a few seconds.")
    return redirect("cluster", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def accept_snapshot(request: HttpRequest, slug: str) -> HttpResponse:
    """Accept the quarantined snapshot that the page showed, and have a worker sync the cluster again."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "GET":
        return redirect("cluster", slug=slug)
    assert isinstance(request.user, User)  # login_required
    try:
        quarantine.accept(cluster=cluster, actor=request.user, shown=request.POST.get("shown", ""))
    except quarantine.QuarantineError as error:
        cluster = access.cluster_or_404(request.user, slug, **_columns())
        form = DeclareForm(initial=DeclareForm.as_stored(cluster), cluster=cluster)
        return _page(request, cluster, form, status=422, error=str(error))
    sync_tasks.ask_for_sync(cluster)
    messages.success(
        request,
        f"Accepted. The next snapshot of {cluster.name} is stored, if it loses no more than this one.",
    )
    return redirect("cluster", slug=slug)


def _columns() -> Mapping[str, Any]:
    """Return what the page counts of a cluster, as columns of its row: the page asks for them with the cluster itself.

    They are revisions, existing topics and groups, log sources, owned names and policy gates.
    """
    own = {"cluster": OuterRef("pk")}
    names = StoredName.objects.filter(stored_in_force(OuterRef("revision_id")), **own)
    return {
        **lists.past_columns(),
        "sources_count": lists.counted(LogSource.objects.filter(**own)),
        "owned_count": lists.counted(OwnedNames.objects.filter(**own)),
        "gates_count": lists.counted(PolicyGate.objects.filter(**own)),
        "topics_count": lists.counted(names.filter(resource_type=ResourceType.TOPIC.name)),
        "groups_count": lists.counted(names.filter(resource_type=ResourceType.GROUP.name)),
    }


def _page(
    request: HttpRequest, cluster: Cluster, form: DeclareForm, status: int = 200, error: str = ""
) -> HttpResponse:
    """Show the page of a cluster that has `_columns`."""
    may_administer = access.may(request.user, "administer", cluster)
    counts = {name: getattr(cluster, name) for name in _columns()}
    context = {
        "cluster": cluster,
        "error": error,
        "cluster_line": cluster_line(cluster),
        "status": lists.status(cluster),
        "how_soon": lists.how_soon(cluster),
        "form": form,
        "may_administer": may_administer,
        "check": latest(cluster) if may_administer and cluster.source.options else None,
        "moves_to": moves_to(cluster) if may_administer else None,
        "runs": lists.sync_runs(cluster),
        "same_kafka": same_kafka_cluster(cluster, cluster.cluster_id, access.visible_clusters(request.user)),
        "history": page_of(
            lists.history(cluster), page_asked(request.GET), REVISIONS_A_PAGE, count=counts["kept"]
        ),
        "over_time": acls_over_time.drawn(cluster),
        "checks": declarations(cluster),
        "shown_settings": broker_settings.shown_settings(cluster),
        "shown_at": broker_settings.read_at(cluster),
        "sights": told.sights(
            cluster,
            lists.not_seen(cluster, first_at=counts["first_at"], edits_elsewhere=counts["elsewhere"]),
            topics=counts["topics_count"],
            groups=counts["groups_count"],
        ),
        "events": [
            {"sentence": trail.sentence(event), "at": event.at}
            for event in events_of(cluster).order_by("-sequence")[:5]
        ],
    }
    return render_page(request, "clusters/detail.html", None, context, status=status)
