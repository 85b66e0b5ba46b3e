"""Who can do what with a topic, or with any other resource, and because of which ACLs?"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.matching import topic_fault
from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.clusters import DetailKind
from aclweb.insights.current import current_load
from aclweb.insights.last_seen import last_requests_on
from aclweb.inventory import lists
from aclweb.inventory.access import topic_access
from aclweb.inventory.details import ask_for_members, told_of_name
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.web.browse import access_use, resource_tabs
from aclweb.web.browse.resource_page import ResourcePage, cell_of, heading_of, removals
from aclweb.web.shell import as_of, asking_often, links
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked

# What htmx swaps in of a tab.
PARTS = {
    **{tab: f"browse/topics/_{tab}.html" for tab in ("access", "groups", "history")},
    "denials": "browse/_denials.html",
}


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show which ACLs affect one topic, and who can do what with it."""
    cluster = access.cluster_or_404(request.user, slug)
    return _page(request, cluster, ResourceType.TOPIC, name)


@login_required
@require_GET
@as_of.tells_wrong_moments
def resource(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the same for any type and any name, given by `?type=` and `?name=`."""
    cluster = access.cluster_or_404(request.user, slug)
    kind = next((found for found in ResourceType if found.name == request.GET.get("type")), None)
    name = request.GET.get("name", "")
    if kind is None or kind in (ResourceType.UNKNOWN, ResourceType.ANY) or not name:
        raise Http404("A resource is named by its type and its name, such as ?type=GROUP&name=billing.")
    page = links.with_field(links.resource(cluster, kind, name), "tab", request.GET.get("tab", ""))
    address = as_of.read(request, cluster).kept_in(page)
    if address != request.get_full_path() and not address.startswith(request.path):
        return redirect(address)
    return _page(request, cluster, kind, name)


@login_required
@require_http_methods(["GET", "POST"])
def read_members(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a worker who is in the group of `?name=` now; the page itself never calls a cluster."""
    cluster = access.cluster_or_404(request.user, slug)
    name = request.GET.get("name", "")
    if not name:
        raise Http404("A group is named by ?name=, such as ?name=billing.")
    page = links.with_field(links.resource(cluster, ResourceType.GROUP, name), "tab", "members")
    if request.method == "GET":
        return redirect(page)
    assert isinstance(request.user, User)  # login_required
    if refused := asking_often.too_often(request.user, "a sync"):
        messages.error(request, refused)
    elif cluster.is_paused:
        messages.info(request, lists.paused_sentence(cluster))
    elif ask_for_members(cluster, name):
        sync_tasks.ask_for_sync(cluster)
        messages.info(request, "A worker will read its members now; load this page again in a few seconds.")
    else:
        messages.info(request, "The brokers list no such group, so it has no members to read.")
    return redirect(page)


@login_required
@require_GET
@as_of.tells_wrong_moments
def cell(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the reason behind one cell of a matrix; without scripts, the explanation of its question."""
    cluster = access.cluster_or_404(request.user, slug)
    kind = next((found for found in ResourceType if found.name == request.GET.get("type")), None)
    operation = next((found for found in Operation if found.name == request.GET.get("operation")), None)
    name, who = request.GET.get("name", ""), request.GET.get("who", "principal")
    principal = request.GET.get("principal", "")
    if kind is None or operation is None or not name:
        raise Http404("A cell is named by type, name, principal and operation.")
    moment = as_of.read(request, cluster)
    found = topic_access(cluster, kind, name, as_of=moment.past)
    row, cell = cell_of(found, principal, who, operation)
    if row is None or cell is None:
        raise Http404(f"Nothing is known of {principal!r} on this resource.")
    host = cell.places[0].example if cell.places else ""
    asked = moment.kept_in(links.explain_cell(cluster, row.principal, operation, kind, name, host))
    if not wants_part(request):
        return redirect(asked)
    context = {
        "cluster": cluster,
        "cell": cell,
        "heading": heading_of(cell),
        "explain_url": asked,
        "removal_query": "" if moment.is_past else removals(cell.determining),
    }
    return render(request, "browse/topics/_reason.html", context)


def _page(request: HttpRequest, cluster: Cluster, kind: ResourceType, name: str) -> HttpResponse:
    moment = as_of.read(request, cluster)
    use = access_use.shown(request.GET, cluster, Resource(kind, name))
    shown = ResourcePage.of(
        cluster,
        kind,
        name,
        as_of=moment.past,
        show_all="all" in request.GET,
        only=use.only,
        page=page_asked(request.GET),
    )
    name_fault = _name_fault(kind, name)
    tabs = resource_tabs.names_of(kind, has_access=not name_fault)
    tab = resource_tabs.tab_asked(request.GET, tabs)
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "kind": kind,
        "name": name,
        "page": shown,
        "use": use,
        "shows": access_use.choices(request.GET, use),
        **_whether_it_exists(cluster, kind, name, moment),
        "name_fault": name_fault,
    }
    load = use.use.load if use.use is not None else None
    if tab != "access" or not wants_part(request):
        asked = resource_tabs.Asked.of(cluster, moment, shown, page_asked(request.GET))
        load = asked.load
        context |= resource_tabs.shown(asked, tab, tabs)
        # Who owned it in the past is not kept.
        context["owned"] = None if moment.is_past else lists.owner_of(cluster, kind.name, name)
    elif use.use is None:
        load = current_load(cluster)
    if tab == "access" and load is not None and not moment.is_past:
        principals = [row.principal for row in shown.rows]
        context["last_seen"] = last_requests_on(load, shown.access.resource, principals)
    return render_page(request, "browse/topics/detail.html", PARTS.get(tab), context, section="topics")


def _whether_it_exists(cluster: Cluster, kind: ResourceType, name: str, moment: as_of.AsOf) -> dict[str, Any]:
    """Return how complete the list of its type is, and the entry of a transactional id that brokers list now."""
    if kind in (ResourceType.TOPIC, ResourceType.GROUP):
        declared = moment.past.declared if moment.past else None
        return {"known": names_known(cluster, kind, declared=declared)}
    if kind is ResourceType.TRANSACTIONAL_ID and not moment.is_past:
        return {
            "known": lists.transactional_ids_known(cluster),
            "listed": told_of_name(cluster, DetailKind.TRANSACTIONAL_IDS, name),
        }
    return {"known": None}


def _name_fault(kind: ResourceType, name: str) -> str:
    """Return why no broker would make a topic of this name; empty for any other."""
    return (topic_fault(name) or "") if kind is ResourceType.TOPIC else ""
