"""Which drafts does the page of a principal begin? Its ACLs for other principals, and the removal of all its ACLs.

Both end in a what-if, which says what would change and what the replay of the log shows; nothing is requested here.
"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.acl.model import AclBinding
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.models import Cluster
from aclweb.web.browse.chosen_acls import (
    LONGEST_IN_TITLE,
    SHOWN,
    NoDraft,
    cloned,
    cloning_title,
    draft_of,
    removed,
)
from aclweb.web.drafts import MOST_LINES
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page


@login_required
@require_http_methods(["GET", "POST"])
def clone(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for whom the ACLs of a principal are to be repeated; once that is said, lead to the draft."""
    view, name, own = _asked(request, slug)
    cluster, text, fault = view.cluster, request.POST.get("principals", ""), ""
    if request.method == "POST":
        try:
            return draft_of(request, cloned(view, own, text), title=cloning_title(own, text))
        except NoDraft as error:
            fault = str(error)
    context = {
        "cluster": cluster,
        "principal": name,
        "own": own,
        "shown": own[:SHOWN],
        "more": max(0, len(own) - SHOWN),
        "principals": text,
        "fault": fault,
        "principal_page": links.principal(cluster, name),
    }
    return render_page(
        request,
        "browse/principals/clone.html",
        None,
        context,
        section="principals",
        status=422 if fault else 200,
    )


@login_required
@require_http_methods(["GET", "POST"])
def offboard(request: HttpRequest, slug: str) -> HttpResponse:
    """Lead to the draft that removes every ACL of a principal; its address alone leads to the principal."""
    if request.method == "GET":
        cluster = access.cluster_or_404(request.user, slug)
        return redirect(links.principal(cluster, request.GET.get("name", "")))
    view, name, own = _asked(request, slug)
    try:
        if len(own) > MOST_LINES:
            raise NoDraft(f"{len(own):,} ACLs are more than the {MOST_LINES:,} that a draft may have.")
        title = f"Offboard {name}" if len(name) <= LONGEST_IN_TITLE else "Offboard a principal"
        return draft_of(request, removed(view, own), op="remove", title=title)
    except NoDraft as error:
        messages.error(request, f"No draft was made: {error}")
        return redirect(links.principal(view.cluster, name))


def _asked(request: HttpRequest, slug: str) -> tuple[ClusterView, str, tuple[AclBinding, ...]]:
    """Return what is in force, the principal of `?name=`, and the ACLs that name it."""
    cluster: Cluster = access.cluster_or_404(request.user, slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    view = in_force(cluster)
    name = request.GET.get("name", "")
    own = view.loaded.naming(name)
    if not own:
        raise Http404("No ACL in force names this principal.")
    return view, name, own
