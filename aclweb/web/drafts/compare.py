"""How does access differ between two clusters, two dates, or a cluster and itself with a change?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding
from aclweb.changes.comparison import Comparison, compare
from aclweb.web.drafts.comparing import CompareForm, differences
from aclweb.web.drafts.draft import Line
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of

# ACLs of one side only, a page of them.
LINES_A_PAGE = 50


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Compare this cluster with itself or another; the address is the whole comparison."""
    cluster = access.cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    form = CompareForm(
        request.GET if "other" in request.GET else None,
        cluster=cluster,
        clusters=access.visible_clusters(request.user),
        person=request.user,
        initial={"other": slug},
    )
    context: dict[str, Any] = {"cluster": cluster, "form": form}
    if form.is_bound and form.is_valid():
        found = compare(*form.sides())
        context |= differences(request.GET, found)
        context["lines"] = _lines(found, request.GET)
    is_wrong = form.is_bound and not form.is_valid() and not wants_part(request)
    return render_page(
        request,
        "drafts/compare/detail.html",
        "drafts/compare/_comparison.html",
        context,
        section="compare",
        status=422 if is_wrong else 200,
    )


def _lines(found: Comparison, asked: Mapping[str, str]) -> Page[Line]:
    """Return a page of the ACLs that one side has and the other has not, as an edit that leads from left to right."""
    lines = [
        *(Line("remove", binding) for binding in sorted(found.delta.remove, key=_order)),
        *(Line("add", binding) for binding in sorted(found.delta.add, key=_order)),
    ]
    return page_of(lines, page_asked(asked, "lines"), LINES_A_PAGE)


def _order(binding: AclBinding) -> tuple[str, str, str]:
    return (binding.principal, binding.resource_type.name, binding.resource_name)
