"""May this principal do that, from there, and what does every rule that touches it say?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.inventory import current
from aclweb.web.answering import MOST_ROWS, answer
from aclweb.web.forms import AskForm
from aclweb.web.htmx import render_page, wants_part
from aclweb.web.witness import witness


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer one question in full; its address is the whole question, so it can be sent to somebody."""
    cluster = access.cluster_or_404(request.user, slug)
    in_force = current.in_force(cluster)
    form = AskForm(request.GET if "principal" in request.GET else None, rules=in_force.rules)
    context: dict[str, Any] = {"cluster": cluster, "form": form, "in_force": in_force}
    if in_force.revision is not None and form.is_bound and form.is_valid():
        found = answer(form.request(), in_force)
        show_all = "all" in request.GET
        context |= {
            "answer": found,
            "witness": witness(cluster, found.decision),
            "rows": found.touching if show_all else found.touching[:MOST_ROWS],
            "hidden": 0 if show_all else max(0, len(found.touching) - MOST_ROWS),
        }
    status = 422 if form.is_bound and not form.is_valid() and not wants_part(request) else 200
    return render_page(
        request, "explain/detail.html", "explain/_answer.html", context, section="home", status=status
    )
