"""Can this client do that: produce, consume, administer? Call by call, and what is missing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.inventory.current import view as current
from aclweb.web.ask.client_action import ClientForm, client_answer
from aclweb.web.ask.ticket import client_ticket_of
from aclweb.web.shell import as_of
from aclweb.web.shell.htmx import render_page, wants_part


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer for a whole client action; `?choose` only asks for the names that the action uses."""
    cluster = access.cluster_or_404(request.user, slug)
    moment = as_of.read(request, cluster)
    view = current.in_force(cluster, moment.past)
    is_asked = "principal" in request.GET and "choose" not in request.GET
    given = request.GET.dict()
    form = ClientForm(request.GET if is_asked else None, settings=view.settings, initial=given)
    context: dict[str, Any] = {"cluster": cluster, "as_of": moment, "form": form, "in_force": view}
    if view.revision is not None and form.is_bound and form.is_valid():
        answer = client_answer(form, view, at=request.GET.get("at", ""))
        context |= {
            "answer": answer,
            "ticket": client_ticket_of(
                answer,
                view,
                host=form.cleaned_data["host"],
                address=request.build_absolute_uri(request.get_full_path()),
            ),
            "may_request": not moment.is_past and access.may(request.user, "request", cluster),
        }
    is_wrong = form.is_bound and not form.is_valid() and not wants_part(request)
    return render_page(
        request,
        "ask/client/detail.html",
        "ask/client/_answer.html",
        context,
        section="home",
        status=422 if is_wrong else 200,
    )
