"""How does access differ between two clusters, two dates, or a cluster and itself with a change?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding, Delta
from aclweb.changes import asking
from aclweb.changes.comparison import Comparison, compare
from aclweb.changes.models import ChangeError
from aclweb.changes.question import comparison
from aclweb.inventory.lists import LazyRows
from aclweb.web.drafts import diff_files, replay_all, replayed
from aclweb.web.drafts.comparing import CompareForm, differences
from aclweb.web.drafts.draft import Line
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of

# ACLs of one side only, a page of them.
LINES_A_PAGE = 8


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
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
    about = [cluster]
    if form.is_bound and form.is_valid():
        found = compare(*form.sides())
        about = [side.view.cluster for side in (found.left, found.right)]
        context |= differences(request.GET, found)
        context["lines"] = _lines(found, request.GET)
        context["replay_files"] = replayed.files(request.get_full_path(), request.GET)
        if _is_edit(found):
            context["replay_all_url"] = replayed.all_url(request.get_full_path())
            if request.GET.get("replay") == replayed.ALL and context.get("replay") is not None:
                return replay_all.page(request, cluster, found.delta, back=_back(request), name="Comparison")
        context["diff_files"] = diff_files.files(request.get_full_path(), request.GET)
        if found.too_much:
            context["compute_url"] = f"{reverse('compare-compute', args=[slug])}?{request.GET.urlencode()}"
            context["computation"] = asking.of_question(comparison(found.left, found.right))
    name, asked, rows = f"compare-{slug}", request.GET, context.get("every_row")
    if (file := diff_files.file_asked(rows, asked, name=name, log_of=cluster, about=about)) is not None:
        return file
    if (file := replayed.file_asked(context, asked, name=name, about=about)) is not None:
        return file
    is_wrong = form.is_bound and not form.is_valid() and not wants_part(request)
    return render_page(
        request,
        "drafts/compare/detail.html",
        "drafts/compare/_comparison.html",
        context,
        section="compare",
        status=422 if is_wrong else 200,
    )


@login_required
@require_http_methods(["GET", "POST"])
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a worker compare what is too much for a page; the address says what, as that of the page does."""
    cluster = access.cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    page = f"{reverse('compare', args=[slug])}?{request.GET.urlencode()}"
    form = CompareForm(
        request.GET, cluster=cluster, clusters=access.visible_clusters(request.user), person=request.user
    )
    if request.method == "GET" or not form.is_valid():
        return redirect(page)
    try:
        row = asking.ask(comparison(*form.sides()), person=request.user, asked_from=page)
    except ChangeError as error:
        messages.error(request, str(error))
        return redirect(page)
    return redirect("computation", slug=slug, address=row.address)


def _is_edit(found: Comparison) -> bool:
    """Return whether the difference is an edit of the ACLs in force now, all that a worker can replay."""
    left = found.left
    is_now = left.moment is None and left.delta is None
    return is_now and bool(found.delta) and left.view.settings == found.right.view.settings


def _back(request: HttpRequest) -> str:
    """Return the address of the comparison from which somebody asks for all of its replay."""
    fields = request.GET.copy()
    del fields["replay"]
    return f"{request.path}?{fields.urlencode()}"


def _lines(found: Comparison, asked: Mapping[str, str]) -> Page[Line]:
    """Return a page of the ACLs that one side has and the other has not, as an edit that leads from left to right."""
    lines = found.left.view.loaded.remember(
        ("ACLs that differ", found.left.key, found.right.key), lambda: lines_of(found.delta)
    )
    return page_of(lines, page_asked(asked, "lines"), LINES_A_PAGE)


def lines_of(delta: Delta) -> Sequence[Line]:
    """Return the ACLs of an edit, those that go first, by principal and resource; only those looked at are sorted."""
    groups: list[tuple[str, list[AclBinding]]] = []
    for op, bindings in (("remove", delta.remove), ("add", delta.add)):
        by_principal: dict[str, list[AclBinding]] = {}
        for binding in bindings:
            by_principal.setdefault(binding.principal, []).append(binding)
        groups += ((op, by_principal[principal]) for principal in sorted(by_principal))
    starts = [0, *accumulate(len(own) for _, own in groups)]

    def made(start: int, stop: int) -> list[Line]:
        first = bisect_right(starts, start) - 1
        behind = bisect_left(starts, stop)
        lines = [Line(op, own) for op, some in groups[first:behind] for own in sorted(some, key=_order)]
        return lines[start - starts[first] : stop - starts[first]]

    return LazyRows(starts[-1], made)


def _order(binding: AclBinding) -> tuple[str, str]:
    return (binding.resource_type.name, binding.resource_name)
