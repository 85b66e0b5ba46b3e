"""What can one principal do, and through which ACLs?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.insights.principals import is_declared, is_logged
from aclweb.inventory import lists
from aclweb.inventory.access import principal_access
from aclweb.inventory.current import in_force
from aclweb.inventory.details import is_known_to_brokers
from aclweb.web.browse import principal_tabs
from aclweb.web.shell import as_of, links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked
from aclweb.web.shell.typed_principal import read_principal

# What htmx swaps in of a tab.
PARTS = {"access": "browse/principals/_resources.html", "denials": "browse/_denials.html"}


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one principal can do; its name is in `?name=`, where any letter survives."""
    cluster = access.cluster_or_404(request.user, slug)
    name = request.GET.get("name", "")
    if not name:
        raise Http404("A principal is named by ?name=, such as ?name=User:bob.")
    moment = as_of.read(request, cluster)
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
        # Who owned it then is not kept.
        "owned": None if moment.is_past else lists.owner_of(cluster, "PRINCIPAL", name),
        "may_draft": bool(found.own) and not moment.is_past and access.may(request.user, "request", cluster),
        **principal_tabs.shown(asked, tab),
    }
    return render_page(
        request, "browse/principals/detail.html", PARTS.get(tab), context, section="principals"
    )
