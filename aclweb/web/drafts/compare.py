"""How does access differ between two clusters, two dates, or a cluster and itself with a change?"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import number_of
from aclweb.changes import asking
from aclweb.changes.comparison import Comparison, compare
from aclweb.changes.models import ChangeError
from aclweb.changes.question import comparison
from aclweb.web.drafts import compared_acls, diff_files, replay_all, replayed
from aclweb.web.drafts.comparing import CompareForm, differences, pairs_of
from aclweb.web.drafts.draft import Line
from aclweb.web.drafts.opening import address_of
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page, wants_part


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Compare this cluster with itself or another; the address is the whole comparison."""
    cluster, visible = access.cluster_among_visible(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    form = CompareForm(
        request.GET if "other" in request.GET else None,
        cluster=cluster,
        clusters=visible,
        person=request.user,
        initial={"other": slug},
    )
    context: dict[str, Any] = {"cluster": cluster, "form": form}
    if not form.is_bound:
        context["pairs"] = tuple(pairs_of(cluster, visible))
    about = [cluster]
    if form.is_bound and form.is_valid():
        found = compare(*form.sides())
        about = [side.view.cluster for side in (found.left, found.right)]
        context |= differences(request.GET, found)
        context["acls"] = compared_acls.compared(found, request.GET, request.user)
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
    form, page = _asked(request, slug)
    assert isinstance(request.user, User)  # login_required
    if request.method == "GET" or not form.is_valid():
        return redirect(page)
    try:
        row = asking.ask(comparison(*form.sides()), person=request.user, asked_from=page)
    except ChangeError as error:
        messages.error(request, str(error))
        return redirect(page)
    return redirect("computation", slug=slug, address=row.address)


@login_required
@require_http_methods(["GET", "POST"])
def draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Lead to a draft that adds to one side the ACLs that only the other has: `side`, left or right."""
    form, page = _asked(request, slug)
    assert isinstance(request.user, User)  # login_required
    if request.method == "GET" or not form.is_valid():
        return redirect(page)
    found, name = compare(*form.sides()), request.POST.get("side", "")
    target = compared_acls.draft_for(found, name, request.user)
    if target is None:
        messages.error(request, "These ACLs make no draft for the other side.")
        return redirect(page)
    own = compared_acls.acls_of(found, name)
    address = address_of([Line("add", binding) for binding in own], cluster=target, person=request.user)
    if not address:
        messages.error(request, "These ACLs are too long for one draft.")
        return redirect(page)
    whose = found.called.left if name == compared_acls.LEFT else found.called.right
    title = f"Add {number_of(len(own), 'ACL', 'ACLs')} of {whose}"
    return redirect(links.with_field(address, "title", title))


def _asked(request: HttpRequest, slug: str) -> tuple[CompareForm, str]:
    """Return the form of the comparison that an address names, and the address of its page."""
    cluster, visible = access.cluster_among_visible(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    form = CompareForm(request.GET, cluster=cluster, clusters=visible, person=request.user)
    return form, f"{reverse('compare', args=[slug])}?{request.GET.urlencode()}"


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
