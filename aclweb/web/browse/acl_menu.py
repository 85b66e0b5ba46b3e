"""What does one ACL of the list say, and what can be done with it?

The menu of a row, in a popover; without scripts a page of its own. The ACL is named by its key.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.kafka import why_not_deletable
from aclweb.acl.model import ANY_USER, AclBinding, Operation, PatternType, acl_text
from aclweb.insights.current import current_load
from aclweb.insights.queries import usage_of
from aclweb.inventory import lists
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of, in_force
from aclweb.inventory.models import Cluster, StoredAcl, stored_in_force
from aclweb.web.shell import as_of, links
from aclweb.web.shell.htmx import render_page, wants_part


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the ACL with the key in `?key=`, as far as it is in force at the moment of the page."""
    cluster = access.cluster_or_404(request.user, slug)
    moment = as_of.read(request, cluster)
    key = request.GET.get("key", "")
    revision = moment.revision or cluster.revision
    if not lists.may_be_short(key):
        raise Http404("An ACL is named by its key, 64 letters and digits, or by the first 16 of them.")
    stored = StoredAcl.objects.filter(stored_in_force(revision.pk if revision else None), cluster=cluster)
    rows = stored.filter(lists.with_key_like(key)).select_related("added_in")[:2]
    if len(rows) != 1:
        raise Http404("This ACL is not in force.")
    row = rows[0]
    (binding,) = bindings_of([tuple(getattr(row, column) for column in BINDING_COLUMNS)])
    view = in_force(cluster, moment.past)
    load = current_load(cluster)
    may_request = not moment.is_past and access.may(request.user, "request", cluster)
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "binding": binding,
        "key": row.key,
        "sentence": acl_text(binding),
        "matches": view.covered_now(binding),
        "added_in": row.added_in if row.added_in.number > 1 else None,
        "use": usage_of(cluster, [row.key], load=load)[row.key],
        "explain_url": moment.kept_in(_question(cluster, binding)),
        "list_url": reverse("acls", args=[slug]),
        "is_part": wants_part(request),
        "may_change": may_request and not why_not_deletable(binding),
    }
    return render_page(request, "browse/acls/one.html", "browse/acls/_one.html", context, section="acls")


def _question(cluster: Cluster, acl: AclBinding) -> str:
    """Return the address that asks what this ACL is about; where that is several questions, it only fills the form."""
    address = links.explain_cell(
        cluster, acl.principal, acl.operation, acl.resource_type, acl.resource_name, acl.host
    )
    is_one = (
        acl.principal != ANY_USER
        and acl.operation is not Operation.ALL
        and acl.pattern_type is PatternType.LITERAL
        and not acl.pattern.is_wildcard
    )
    return address if is_one else f"{address}&choose=1"
