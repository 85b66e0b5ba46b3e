"""How far is a worker with an impact that is too much for a page, and what did it compute?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts.access import cluster_or_404, may
from aclweb.accounts.models import User
from aclweb.acl.model import AclError
from aclweb.changes import asking, policy, queries, review
from aclweb.changes.comparison import compare
from aclweb.changes.computing import KEPT_FOR, MOST_KEPT
from aclweb.changes.models import Change, ChangeError, Computation
from aclweb.changes.preview import preview
from aclweb.changes.question import Question, question_of, what_if
from aclweb.changes.replaying import replay_in
from aclweb.changes.same_edit import change_for
from aclweb.insights.current import current_load
from aclweb.inventory.current import in_force, settings_of
from aclweb.web.drafts import diff_files, diff_page, impact_rows, replay_all, replayed
from aclweb.web.drafts.comparing import differences
from aclweb.web.drafts.draft import Line
from aclweb.web.shell.htmx import render_page, wants_part

FOLDS_A_PAGE = 15
# ACLs of what was asked that the page lists; the draft has all.
LINES_SHOWN = 10


@login_required
@require_GET
def detail(request: HttpRequest, slug: str, address: str) -> HttpResponseBase:
    """Show what was asked, how far a worker is with it, and once it is done the impact."""
    row = _row(request, slug, address)
    if row.is_open and wants_part(request):
        return render(request, "drafts/computation/_progress.html", _progress(row, request))
    if diff_files.FIELD in request.GET or "replay" in request.GET:
        return _file(request, row)
    page = _page(request, row)
    if request.headers.get("HX-Target") == "progress":
        # It has ended since the page asked how far it is: all of the page is another.
        page["HX-Retarget"] = "#computation"
    return page


@login_required
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, slug: str, address: str) -> HttpResponse:
    """End a computation that waits or is at work."""
    row = _row(request, slug, address)
    if request.method == "POST":
        try:
            asking.cancel(row, person=_person(request))
        except ChangeError as error:
            messages.error(request, str(error))
    return redirect("computation", slug=slug, address=address)


@login_required
@require_http_methods(["GET", "POST"])
def again(request: HttpRequest, slug: str, address: str) -> HttpResponse:
    """Have a worker compute an edit for the cluster as it is now, or a comparison of the same two sides."""
    row = _row(request, slug, address)
    if request.method == "POST":
        try:
            person = _person(request)
            waiting = change_for(row, person)
            row = asking.ask(
                _as_of_now(question_of(row)),
                person=person,
                asked_from=row.asked_from,
                for_change=waiting.change if waiting is not None and waiting.is_same else None,
            )
        except ChangeError as error:
            messages.error(request, str(error))
    return redirect("computation", slug=slug, address=row.address)


@login_required
@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, slug: str, address: str) -> HttpResponse:
    """Request the change whose impact was computed, or submit the one that waits for it, as of the revision of then."""
    row = _row(request, slug, address)
    if not may(request.user, "request", row.cluster):
        raise PermissionDenied(f"You may look at {row.cluster.name} and not request changes there.")
    if request.method == "GET" or row.kind != Computation.Kind.WHAT_IF or row.state != Computation.State.DONE:
        return redirect("computation", slug=slug, address=address)
    side = question_of(row).sides[0]
    assert side.delta is not None  # a what-if is about one
    try:
        if (waits := _change_to_submit(request, row)) is not None:
            review.submit(change=waits, actor=_person(request), computed_on=side.view, shown=side.delta)
            return redirect("change", number=waits.pk)
        requested = review.request(
            cluster=row.cluster,
            author=_person(request),
            title=request.POST.get("title", "").strip(),
            reason=request.POST.get("reason", "").strip(),
            ticket=request.POST.get("ticket", ""),
            delta=side.delta,
            computed_on=side.view,
        )
    except (ChangeError, AclError) as error:
        return _page(request, row, request_error=str(error), status=422)
    return redirect("change", number=requested.pk)


def _change_to_submit(request: HttpRequest, row: Computation) -> Change | None:
    """Return the change that the form names, else the one that waits for this impact; None to request another.

    Raises ChangeError where the page would offer no button, and says why.
    """
    person, number = _person(request), request.POST.get("change", "")
    waiting = change_for(row, person)
    if waiting is not None and number in ("", str(waiting.change.pk)):
        if waiting.why_not:
            raise ChangeError(waiting.why_not)
        asks_for_another = "title" in request.POST and row.for_change_id != waiting.change.pk
        return None if asks_for_another else waiting.change
    if not number:
        return None
    named = queries.change_of(person, int(number)) if number.isdecimal() and len(number) < 19 else None
    if named is None or named.cluster_id != row.cluster_id:
        raise ChangeError("The change to submit is not there; open this page again.")
    return named


def _page(
    request: HttpRequest, row: Computation, *, request_error: str = "", status: int = 200
) -> HttpResponse:
    question = question_of(row)
    context = {
        **_progress(row, request),
        **_asked(question),
        "stale": _what_changed(row, question),
        "may_request": may(request.user, "request", row.cluster),
        "waiting": change_for(row, _person(request)),
        "unwritable": policy.writable(row.cluster)[1],
        "request_error": request_error,
        "title": request.POST.get("title", ""),
        "reason": request.POST.get("reason", ""),
        "ticket": request.POST.get("ticket", ""),
    }
    if row.state == Computation.State.DONE:
        context |= _SHOWN[row.kind](row, question, request.GET)
        context["replay_files"] = replayed.files(request.path, request.GET)
        if row.kind == Computation.Kind.WHAT_IF:
            context["replay_all_url"] = replayed.all_url(request.path)
        context["diff_files"] = diff_files.files(request.get_full_path(), request.GET)
    return render_page(
        request,
        "drafts/computation/detail.html",
        "drafts/computation/_computation.html",
        context,
        section="compare" if row.kind == Computation.Kind.COMPARISON else "changes",
        status=status,
    )


def _file(request: HttpRequest, row: Computation) -> HttpResponseBase:
    """Return the file of the access diff or of the replay that the address asks for."""
    is_done = row.state == Computation.State.DONE
    context = _SHOWN[row.kind](row, question_of(row), request.GET) if is_done else {}
    name = f"computation-{row.pk}"
    delta = question_of(row).sides[0].delta
    if request.GET.get("replay") == replayed.ALL and delta is not None and context.get("replay") is not None:
        return replay_all.page(request, row.cluster, delta, back=request.path, name="What-if")
    rows, about = context.get("every_row"), [side.view.cluster for side in question_of(row).sides]
    file = diff_files.file_asked(rows, request.GET, name=name, log_of=row.cluster, about=about)
    if file is None:
        file = replayed.file_asked(context, request.GET, name=name, about=about)
    assert file is not None  # the caller asks for one
    return file


def _progress(row: Computation, request: HttpRequest) -> dict[str, Any]:
    return {
        "computation": row,
        "cluster": row.cluster,
        "progress": asking.progress_of(row),
        "may_cancel": asking.may_cancel(row, _person(request)),
    }


def _asked(question: Question) -> dict[str, Any]:
    """Return what was asked, as far as the page lists it."""
    side = question.sides[0]
    if question.kind == Computation.Kind.COMPARISON:
        return {"left": side, "right": question.sides[1]}
    assert side.delta is not None  # a what-if is about one
    lines = [Line("remove", binding) for binding in side.delta.remove]
    lines += [Line("add", binding) for binding in side.delta.add]
    return {
        "lines": lines[:LINES_SHOWN],
        "more_lines": max(0, len(lines) - LINES_SHOWN),
        "new_topics": side.new_topics,
    }


def _what_if(row: Computation, question: Question, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page shows of a what-if that is done, without simulating again."""
    side = question.sides[0]
    assert side.delta is not None
    found = preview(side.view.cluster, side.delta, new_topics=side.new_topics, view=side.view, computed=row)
    kind = asked.get("show", "")
    if kind not in impact_rows.KINDS:
        kind = next((name for name in impact_rows.KINDS if found.impact.counts[name]), "gains")
    load = current_load(side.view.cluster)
    return {
        "impact": found.impact,
        "notes": found.notes,
        **replayed.shown(
            replay_in(load, side.view, side.delta, found.impact, days=replayed.days_asked(asked)),
            side.view.cluster,
            asked,
        ),
        "told": impact_rows.told(found.impact),
        "tiles": impact_rows.tiles(found.impact),
        "every_row": impact_rows.exact_rows(found.impact),
        "show": kind,
        **diff_page.shown(
            impact_rows.rows(found.impact, kind),
            asked,
            FOLDS_A_PAGE,
            every=impact_rows.rows(found.impact, *impact_rows.KINDS),
            log_of=side.view.cluster,
            load=load,
        ),
    }


def _comparison(row: Computation, question: Question, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page shows of a comparison that is done, without simulating again."""
    left, right = question.sides
    found = compare(left, right, computed=row)
    return {"impact": found.impact, **differences(asked, found)}


_SHOWN: Mapping[str, Callable[[Computation, Question, Mapping[str, str]], dict[str, Any]]] = {
    Computation.Kind.WHAT_IF: _what_if,
    Computation.Kind.COMPARISON: _comparison,
}


def _what_changed(row: Computation, question: Question) -> str:
    """Say what of the cluster of a what-if is no longer as it was computed on; empty where nothing is.

    The sides of a comparison have their revision in their name.
    """
    then, cluster = question.sides[0].view, row.cluster
    if row.kind != Computation.Kind.WHAT_IF or then.revision is None or cluster.revision is None:
        return ""
    if then.revision != cluster.revision:
        return (
            f"This is as of revision {then.revision.number:,}. "
            f"{cluster.name} has changed since: it has revision {cluster.revision.number:,} now."
        )
    if then.settings != settings_of(cluster):
        return f"What is declared of {cluster.name} has changed since this was asked."
    return ""


def _as_of_now(question: Question) -> Question:
    """Return the same edit to the cluster as it is now; a comparison is of the two sides that were named."""
    if question.kind == Computation.Kind.COMPARISON:
        return question
    side = question.sides[0]
    assert side.delta is not None
    return what_if(in_force(side.view.cluster), side.delta, side.new_topics)


def _row(request: HttpRequest, slug: str, address: str) -> Computation:
    cluster = cluster_or_404(request.user, slug)
    row = asking.of_address(_person(request), cluster, address)
    if row is None:
        kept = f"The newest {MOST_KEPT} of each person are kept for {KEPT_FOR.days} days."
        raise Http404(f"There is no computation at this address. {kept}")
    return row


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
