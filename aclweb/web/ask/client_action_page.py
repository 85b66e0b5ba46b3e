"""Can this client do that: produce, consume, administer? Call by call, and what is missing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.insights.current import current_load
from aclweb.inventory.current import ClusterView
from aclweb.inventory.current import view as current
from aclweb.web.ask import asked_lately
from aclweb.web.ask.client_action import Alternative, ClientAnswer, ClientForm, Need, client_answer
from aclweb.web.ask.log_evidence import RightInLog, rights_in_log
from aclweb.web.ask.ticket import client_ticket_of
from aclweb.web.browse import unknown_names
from aclweb.web.shell import as_of
from aclweb.web.shell.htmx import render_page, wants_part


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer for a whole client action; `?choose` only asks for the names that the action uses."""
    cluster = access.cluster_or_404(request.user, slug)
    moment = as_of.read(request, cluster)
    view = current.in_force(cluster, moment.past, just_read=True)
    is_asked = "principal" in request.GET and "choose" not in request.GET
    given = request.GET.dict()
    form = ClientForm(request.GET if is_asked else None, settings=view.settings, initial=given)
    context: dict[str, Any] = {"cluster": cluster, "as_of": moment, "form": form, "in_force": view}
    if view.revision is not None and form.is_bound and form.is_valid():
        answer = client_answer(form, view, at=request.GET.get("at", ""))
        if not moment.is_past:
            assert isinstance(request.user, User)  # login_required
            asked_lately.note(request.user, cluster, form.asked, answer.verdict)
        unknown = _unknown(answer, view)
        context |= {
            "answer": answer,
            "unknown": unknown,
            "has_log": not moment.is_past and current_load(cluster) is not None,
            "needs": _needs(answer, view, host=form.cleaned_data["host"], is_past=moment.is_past),
            "ticket": client_ticket_of(
                answer,
                view,
                doubts=unknown,
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


def _unknown(answer: ClientAnswer, view: ClusterView) -> tuple[str, ...]:
    """Return a sentence for the principal and for each topic that was named and that nothing on the cluster knows."""
    given = {name for names in answer.names.values() for name in names}
    requests = {
        decision.request.resource: decision.request
        for need in answer.needs
        for decision in need.asked.decisions
        if decision.request.resource_name in given
    }
    sentences = (each.sentence for request in requests.values() for each in unknown_names(view, request))
    return tuple(dict.fromkeys(sentences))


def _needs(
    answer: ClientAnswer, view: ClusterView, *, host: str, is_past: bool
) -> list[tuple[Need, list[tuple[Alternative, RightInLog | None]]]]:
    """Return each right that the action needs, and what the log tells of it; nothing of the past."""
    decisions = [decision for need in answer.needs for decision in need.asked.decisions]
    region = answer.shown.region if answer.shown is not None else None
    told = {} if is_past else rights_in_log(view, decisions, host=host, region=region)
    return [
        (
            need,
            [
                (each, told.get(decision.request))
                for each, decision in zip(need.alternatives, need.asked.decisions, strict=True)
            ],
        )
        for need in answer.needs
    ]
