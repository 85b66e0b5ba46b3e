"""May this principal do that, from there, and what does each ACL that matches the resource say?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster
from aclweb.web.ask import asked_lately, client_error, log_line
from aclweb.web.ask.answer_context import answered
from aclweb.web.shell import as_of, links
from aclweb.web.shell.forms import AskForm
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 8


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer one question in full; its address is the whole question, so it can be sent to somebody."""
    return _page(request, access.cluster_or_404(request.user, slug))


@login_required
@require_http_methods(["GET", "POST"])
@as_of.tells_wrong_moments
def paste(request: HttpRequest, slug: str) -> HttpResponse:
    """Fill the question in from a pasted log line or client exception: leads to the page that answers it.

    Posted, since lines can be long and can hold what belongs into no server's access log.
    """
    cluster = access.cluster_or_404(request.user, slug)
    address = reverse("explain", args=[slug])
    if request.method == "GET":
        return redirect(address)
    pasted = request.POST.get("line", "")
    try:
        moment = as_of.read(request, cluster)
        return redirect(moment.kept_in(f"{address}?{_query_of(pasted)}"))
    except log_line.LineError as error:
        return _page(request, cluster, pasted=pasted, paste_error=str(error))


def _known(request: HttpRequest, reported: client_error.ClientError | None) -> dict[str, str]:
    """Return the fields that a link fills in without asking yet."""
    if "choose" in request.GET:
        return request.GET.dict()
    if reported is None or reported.kind is None:
        return {"principal": request.GET.get("who", "")}
    return {"operation": "", "type": reported.kind.name, "name": reported.name}


def _query_of(pasted: str) -> str:
    """Return the question of a pasted text: of a log line whole, of a client's exception as far as it tells.

    Raises LineError where it is neither.
    """
    try:
        return log_line.question_in(pasted)
    except log_line.LineError:
        reported = client_error.read(pasted)
        if reported is None:
            raise
        return reported.query


def _page(request: HttpRequest, cluster: Cluster, *, pasted: str = "", paste_error: str = "") -> HttpResponse:
    moment = as_of.read(request, cluster)
    view = current.in_force(cluster, moment.past, just_read=True)
    is_asked = "principal" in request.GET and "choose" not in request.GET
    reported = None if is_asked else client_error.of_query(request.GET.dict())
    form = AskForm(
        request.GET if is_asked else None, settings=view.settings, initial=_known(request, reported)
    )
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "form": form,
        "in_force": view,
        "pasted": pasted,
        "paste_error": paste_error,
        "paste_open": "paste" in request.GET,
        "reported": reported,
    }
    if reported is not None:
        context["elsewhere"] = reported.elsewhere(view, access.visible_clusters(request.user))
        context["client_address"] = reported.client_address(cluster)
    if view.revision is not None and form.is_bound and form.is_valid():
        asked = form.request()
        context |= answered(request, asked, view, moment)
        found = context["answer"]
        if not moment.is_past:
            assert isinstance(request.user, User)  # login_required
            asked_lately.note(request.user, cluster, links.asked(asked), found.verdict)
        containing = request.GET.get("holding", "")
        context |= {
            "pasted_answer": log_line.pasted_answer(
                request.GET.dict(), found, access.visible_clusters(request.user)
            ),
            "matching": page_of(found.matching(containing=containing), page_asked(request.GET), ROWS_A_PAGE),
            "containing": containing,
            "question": [field for field in request.GET.items() if field[0] not in ("holding", "page")],
        }
    is_wrong = paste_error or (form.is_bound and not form.is_valid() and not wants_part(request))
    return render_page(
        request,
        "ask/explain/detail.html",
        "ask/explain/_answer.html",
        context,
        section="home",
        status=422 if is_wrong else 200,
    )
