"""What can one principal do, and through which ACLs?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.insights.principals import is_declared, is_logged
from aclweb.inventory import lists
from aclweb.inventory.access import principal_access
from aclweb.inventory.current import in_force
from aclweb.inventory.details import is_known_to_brokers
from aclweb.inventory.models import Cluster
from aclweb.web.browse import principal_tabs
from aclweb.web.browse.principal_actions import actions_of
from aclweb.web.shell import as_of, links
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked
from aclweb.web.shell.typed_principal import read_principal

# What htmx swaps in of a tab.
PARTS = {"access": "browse/principals/_resources.html", "denials": "browse/_denials.html"}


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one principal can do; its name is in `?name=`, where any letter survives."""
    cluster, name, moment = _asked(request, slug)
    typed = read_principal(name)
    view = in_force(cluster, moment.past, just_read=True)
    if typed.note and not view.loaded.naming(name):
        # No broker names a client so, and no ACL does: `bob` is meant as User:bob.
        address = moment.kept_in(links.principal(cluster, typed.principal))
        return redirect(f"{address}&{links.encoded(typed=name)}")
    found = principal_access(cluster, name, as_of=moment.past, just_read=True)
    asked = principal_tabs.Asked.of(view, moment, found, page_asked(request.GET), request.GET.get("show", ""))
    tab = principal_tabs.tab_asked(request.GET)
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "principal": name,
        "note": read_principal(request.GET.get("typed", "")).note,
        "fault": "" if found.own else typed.fault,
        "is_known": is_declared(view, name)
        or is_logged(asked.load, name)
        or is_known_to_brokers(cluster, name),
        "access": found,
        "beside": principal_tabs.BESIDE,
        "beside_url": moment.kept_in(
            f"{reverse('principal-beside', args=[slug])}?{links.encoded(name=name)}"
        ),
        # Who owned it then is not kept.
        "owned": None if moment.is_past else lists.owner_of(cluster, "PRINCIPAL", name),
        "actions": actions_of(
            cluster,
            name,
            has_acls=bool(found.own),
            may_request=bool(found.own)
            and not moment.is_past
            and access.may(request.user, "request", cluster),
            is_past=moment.is_past,
        ),
        **principal_tabs.shown(asked, tab),
    }
    return render_page(
        request, "browse/principals/detail.html", PARTS.get(tab), context, section="principals"
    )


@login_required
@require_GET
@as_of.tells_wrong_moments
def beside(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one principal did, for the column beside what it can do; alone the address leads to its page."""
    cluster, name, moment = _asked(request, slug)
    if not wants_part(request):
        return redirect(moment.kept_in(links.principal(cluster, name)))
    found = principal_access(cluster, name, as_of=moment.past, just_read=True)
    asked = principal_tabs.Asked.of(in_force(cluster, moment.past, just_read=True), moment, found, 1, "")
    context = {"cluster": cluster, "principal": name, "access": found, **principal_tabs.beside(asked)}
    return render(request, "browse/principals/_beside.html", context)


def _asked(request: HttpRequest, slug: str) -> tuple[Cluster, str, as_of.AsOf]:
    """Return the cluster, the principal of `?name=`, and the moment; raises Http404 without a name."""
    cluster = access.cluster_or_404(request.user, slug)
    name = request.GET.get("name", "")
    if not name:
        raise Http404("A principal is named by ?name=, such as ?name=User:bob.")
    return cluster, name, as_of.read(request, cluster)
