"""How does access differ between two clusters, two dates, or a cluster and itself with a change?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.changes.comparison import compare
from aclweb.web.comparing import CompareForm, differences
from aclweb.web.htmx import render_page, wants_part


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
        context |= differences(request.GET, compare(*form.sides()))
    is_wrong = form.is_bound and not form.is_valid() and not wants_part(request)
    return render_page(
        request,
        "compare/detail.html",
        "compare/_comparison.html",
        context,
        section="compare",
        status=422 if is_wrong else 200,
    )
