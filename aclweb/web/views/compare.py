"""How does access differ between two clusters, two dates, or a cluster and itself with a change?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.changes.comparison import Comparison, compare
from aclweb.web import effects
from aclweb.web.comparing import CompareForm, Narrowing
from aclweb.web.htmx import render_page, wants_part
from aclweb.web.paging import page_asked, slice_page

ROWS_A_PAGE = 25


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
        context |= _answer(request, compare(*form.sides()))
    is_wrong = form.is_bound and not form.is_valid() and not wants_part(request)
    return render_page(
        request,
        "compare/detail.html",
        "compare/_comparison.html",
        context,
        section="compare",
        status=422 if is_wrong else 200,
    )


def _answer(request: HttpRequest, found: Comparison) -> dict[str, Any]:
    narrowing = Narrowing.read(request.GET)
    context: dict[str, Any] = {"comparison": found, "narrowing": narrowing}
    if found.impact is None:
        return context
    impact = found.impact
    kind = request.GET.get("show", "")
    if kind not in effects.KINDS:
        kind = next((name for name in effects.KINDS if impact[name]), "gains")
    rows = found.left.here.holdings.remember(
        ("compared rows", found.left.key, found.right.key, kind), lambda: effects.rows(impact, kind)
    )
    return context | {
        "tiles": effects.tiles(impact),
        "show": kind,
        "diff": slice_page(narrowing.of(rows), page_asked(request.GET), ROWS_A_PAGE),
    }
