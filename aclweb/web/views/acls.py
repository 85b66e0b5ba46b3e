"""Which rules match these filters? The filters stand in the address, so a list can be sent to somebody."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.kafka_acls_commands import commands, why_no_command
from aclweb.acl.model import AclBinding
from aclweb.acl.profiles import Rules
from aclweb.insights.queries import usage_of
from aclweb.inventory import queries
from aclweb.inventory.current import rules_of
from aclweb.web import acl_filters, as_of
from aclweb.web.htmx import render_page
from aclweb.web.paging import page_asked


@login_required
@require_GET
@as_of.tells_wrong_moments
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the rules, a page at a time, with the counts that filter further."""
    cluster = access.cluster_or_404(request.user, slug)
    if "add" in request.GET:
        return redirect(request.path + acl_filters.with_typed(request.GET))
    filters, told = acl_filters.read(request.GET)
    moment = as_of.read(request, cluster)
    page = queries.list_acls(
        cluster, filters, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE, as_of=moment.past
    )
    uses = usage_of(cluster, [row.key for row in page.rows])
    context: dict[str, Any] = {
        "uses": uses,
        "cluster": cluster,
        "as_of": moment,
        "listed": moment.revision or cluster.revision,
        "filters": filters,
        "told": told,
        "page": page,
        "chips": acl_filters.chips(request.GET, filters),
        "kept": [(name, value) for name, value in request.GET.items() if name not in ("page", "add")],
        "matches": acl_filters.matches(request.GET, filters),
        "facets": acl_filters.facets(request.GET, page.facets),
        "commands": _commands([row.binding for row in page.rows], rules_of(cluster)),
        # A rule of the past can be gone: nothing is chosen for a what-if there.
        "may_request": not moment.is_past and access.may(request.user, "request", cluster),
    }
    return render_page(request, "acls/list.html", "acls/_rules.html", context, section="acls")


def _commands(bindings: Iterable[AclBinding], rules: Rules) -> list[str]:
    """Return the rules as kafka-acls commands; a comment stands for one that the tool cannot be told."""
    lines: list[str] = []
    for binding in bindings:
        reason = why_no_command(binding, rules)
        lines += [f"# {reason}"] if reason else commands([binding], rules=rules)
    return lines
