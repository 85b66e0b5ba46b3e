"""May this principal do that? The question first, then what waits, how the clusters stand, and recent changes.

The question begins with what clients do; one about a raw operation is a link away, and is answered here. Below it are
the questions that the same person asked last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import TREND_DAYS
from aclweb.web.ask import asked_lately, seen
from aclweb.web.ask.answer_context import answered
from aclweb.web.ask.client_action import FIRST_VERB, ClientForm, verbs_with, word_of
from aclweb.web.ask.examples import examples
from aclweb.web.ask.waiting import standings, waiting_changes
from aclweb.web.changes import recent
from aclweb.web.shell import as_of, frame, links
from aclweb.web.shell.forms import AskForm
from aclweb.web.shell.htmx import render_page, wants_part


@login_required
@require_GET
def ask(request: HttpRequest) -> HttpResponse:
    """Answer a question about the current cluster; without one show what waits, the clusters and the newest changes."""
    assert isinstance(request.user, User)  # login_required
    is_page = not wants_part(request)
    around = None
    if is_page:
        around = frame.around(
            request,
            cluster=None,
            section="home",
            slug=request.GET.get("cluster", ""),
            clusters=asked_lately.with_asked(access.visible_clusters(request.user), request.user),
        )
        cluster = around.current.cluster if around.current else None
    else:
        cluster = frame.last_cluster(request)
    if cluster is None:
        return render_page(request, "ask/home/no_clusters.html", None, {}, section="home")
    view = current.in_force(cluster, just_read=True)
    asks_action = "action" in request.GET or not request.GET.keys() & {"principal", "type", "raw"}
    form: AskForm
    if asks_action:
        form = ClientForm(
            settings=view.settings, initial={"action": FIRST_VERB, **request.GET.dict()}
        ).as_sentence()
    else:
        is_asked = "principal" in request.GET and "choose" not in request.GET
        form = AskForm(request.GET if is_asked else None, settings=view.settings, initial=request.GET.dict())
    context: dict[str, Any] = {"cluster": cluster, "form": form, "in_force": view}
    if around is not None:
        context |= {"frame": around} | _below(request.user, around.clusters, is_asked=form.is_bound)
        context["last_here"] = seen.last_visit(request)
        context |= seen.split(context["changes"], context["last_here"])
    if isinstance(form, ClientForm):
        verbs = verbs_with(form.client_action)
        context |= {"verbs": verbs, "verb": word_of(form.client_action.name)}
    if view.revision is not None and form.is_bound and form.is_valid():
        asked = form.request()
        context |= answered(request, asked, view, as_of.NOW)
        context["permalink"] = links.explain(cluster, asked)
        asked_lately.note(request.user, cluster, links.asked(asked), context["answer"].verdict)
    else:
        context["lately"] = [] if form.is_bound else asked_lately.asked_on(cluster)
        context["examples"] = [] if context["lately"] else examples(view)
    status = 422 if form.is_bound and not form.is_valid() and is_page else 200
    response = render_page(
        request, "ask/home/ask.html", "ask/home/_answer.html", context, section="home", status=status
    )
    if is_page:
        seen.note(request, response)
    return response


@login_required
@require_http_methods(["GET", "POST"])
def forget(request: HttpRequest, slug: str) -> HttpResponse:
    """Forget what this person asked on the cluster."""
    cluster = access.cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    if request.method == "POST":
        asked_lately.forget(request.user, cluster)
    return redirect(f"{reverse('home')}?{links.encoded(cluster=cluster.slug)}")


def _below(person: User, lines: Sequence[frame.ClusterLine], *, is_asked: bool) -> dict[str, Any]:
    """Return what is shown below the question: the newest changes, and where nothing is asked what waits."""
    below: dict[str, Any] = {"changes": recent(person, [line.cluster for line in lines])}
    if is_asked:
        return below
    return below | {
        "waiting": waiting_changes(person),
        "postures": standings(lines),
        "trend_days": TREND_DAYS,
        "troubled": [line for line in lines if line.tone == "bad" or line.cluster.held],
    }
