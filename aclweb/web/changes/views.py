"""Which changes wait, and for whom; and what one of them would do, who agreed, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts.models import User
from aclweb.acl.notation import binding_key, is_binding_key
from aclweb.acl.simulate import Impact
from aclweb.changes import asking, queries, review
from aclweb.changes.models import Change, ChangeError
from aclweb.changes.preview import TooMuch
from aclweb.inventory import lists
from aclweb.inventory.current import settings_of
from aclweb.web.changes import two_impacts
from aclweb.web.drafts import diff_files, diff_page, impact_rows, replay_all, replayed
from aclweb.web.shell import exporting, frame
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

FOLDS_A_PAGE = 7
ACLS_A_PAGE = 10
COMMANDS_SHOWN = 6
_PLACE = re.compile(r"[0-9]{1,6}", re.ASCII)


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show the changes that wait for this person, their own, or all that they may see."""
    here = frame.last_cluster(request)
    only = here if request.GET.get("only") == "cluster" else None
    found = queries.inbox(_person(request), only, tab=request.GET.get("tab", ""))
    if not request.GET.get("tab") and not found.counts["waiting"]:
        found = queries.inbox(_person(request), only, tab="all")
    page = page_of(found.rows, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE)
    context = {"inbox": found, "page": page, "here": here, "only": only}
    return render_page(
        request, "changes/index.html", "changes/_list.html", context, section="changes", cluster=here
    )


@login_required
@require_GET
def detail(request: HttpRequest, number: int) -> HttpResponse:
    """Show one change: its impact, its ACLs in the order of writing, who agreed, and what happened."""
    change = queries.change_of(_person(request), number)
    if change is None:
        kept = queries.kept_change(_person(request), number)
        return _kept_page(request, kept) if kept is not None else _page(request, _change(request, number))
    return _page(request, change)


@login_required
@require_GET
def commands(request: HttpRequest, number: int) -> HttpResponseBase:
    """Give the whole change as kafka-acls commands, however many its page shows."""
    kept = queries.kept_change(_person(request), number)
    change = kept.change if kept is not None else _change(request, number)
    return exporting.commands_file(change.delta, settings_of(change.cluster), change.key)


@login_required
@require_GET
def diff_file(request: HttpRequest, number: int) -> HttpResponseBase:
    """Give the access diff of a change, the one that its page shows, as CSV or JSON lines."""
    change = _change(request, number)
    impact, _ = _impact_shown(queries.change_page(change, _person(request)), request.GET)
    if impact is None:
        raise Http404(f"The impact of {change.key} is unknown, so there is no access diff to download.")
    rows = impact_rows.exact_rows(impact)
    return diff_files.file_of(
        rows, name=change.key, ending=request.GET.get("format", "csv"), log_of=change.cluster
    )


@login_required
@require_GET
def replay_file(request: HttpRequest, number: int) -> HttpResponseBase:
    """Give the replay of a change, added up as `by` asks, as CSV or JSON lines."""
    change = _change(request, number)
    days = replayed.days_asked(request.GET)
    found = queries.change_page(change, _person(request), replay_days=days).replay
    if found is None:
        raise Http404(
            f"{change.key} has no replay: it is decided, or no authorizer log of its cluster was read."
        )
    if request.GET.get("format") == replayed.ALL:
        back = reverse("change", args=[change.pk])
        return replay_all.page(request, change.cluster, change.delta, back=back, name=change.key)
    ending = request.GET.get("format", "csv")
    return replayed.file_of(found, request.GET, name=change.key, ending=ending, about=[change.cluster])


@login_required
@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Take one step of a change: submit, approve all or some, comment, ask its author, reject, withdraw, queue, undo.

    Read instead of posted, as after signing in again, it leads back to the change.
    """
    change = _change(request, number)
    if request.method == "GET":
        return redirect(reverse("change", args=[number], query=request.GET))
    step = _STEPS.get(request.POST.get("step", ""))
    if step is None:
        return _page(request, change, error="Choose what to do with this change.", status=422)
    try:
        done = step(change, _person(request), request.POST)
    except review.StaleError as error:
        # The page says by itself that the change is out of date, and shows both effects.
        return _page(request, _change(request, number), refused=str(error), status=422)
    except TooMuch as error:
        return _computed_later(request, change, error)
    except ChangeError as error:
        change.refresh_from_db()
        return _page(request, change, error=str(error), status=422)
    if done.pk != change.pk:
        messages.success(request, f"{done.key} is drafted; look at its impact and submit it.")
    return redirect("change", number=done.pk)


def _computed_later(request: HttpRequest, change: Change, why: TooMuch) -> HttpResponse:
    """Have a worker compute the impact of a change, and lead to where it can then be submitted."""
    person, address = _person(request), reverse("change", args=[change.pk])
    try:
        row = asking.ask_for_change(change, person=person, asked_from=address)
    except ChangeError as error:
        return _page(request, change, error=f"{why} {error}", status=422)
    messages.info(
        request, f"This is too much for a page, so a worker computes it. Then submit {change.key} here."
    )
    return redirect("computation", slug=change.cluster.slug, address=row.address)


def _submit(change: Change, person: User, _form: Any) -> Change:
    return review.submit(change=change, actor=person)


def _approve(change: Change, person: User, form: Any) -> Change:
    return review.approve(
        change=change, reviewer=person, comment=form.get("comment", ""), plan_hash=form.get("plan_hash", "")
    )


def _approve_some(change: Change, person: User, form: Any) -> Change:
    return review.approve_some(
        change=change,
        reviewer=person,
        positions=_places(form),
        impact_hash=form.get("impact_hash", ""),
        comment=form.get("comment", ""),
        plan_hash=form.get("plan_hash", ""),
    )


def _comment(change: Change, person: User, form: Any) -> Change:
    review.comment(change=change, actor=person, text=form.get("text", ""), acl_key=form.get("on", ""))
    return change


def _ask_again(change: Change, person: User, form: Any) -> Change:
    review.ask_again(change=change, reviewer=person, text=form.get("comment", ""))
    return change


def _places(form: Any) -> list[int]:
    """Return the places of ACLs in the plan that a form or an address names."""
    return [int(place) for place in form.getlist("only") if _PLACE.fullmatch(place)]


def _reject(change: Change, person: User, form: Any) -> Change:
    return review.reject(change=change, reviewer=person, comment=form.get("comment", ""))


def _withdraw(change: Change, person: User, _form: Any) -> Change:
    return review.withdraw(change=change, actor=person)


def _queue(change: Change, person: User, _form: Any) -> Change:
    return review.queue(change=change, actor=person)


def _undo(change: Change, person: User, _form: Any) -> Change:
    return review.draft_undo(change=change, actor=person)


_STEPS: dict[str, Callable[[Change, User, Any], Change]] = {
    "submit": _submit,
    "approve": _approve,
    "approve-some": _approve_some,
    "comment": _comment,
    "ask-again": _ask_again,
    "reject": _reject,
    "withdraw": _withdraw,
    "queue": _queue,
    "undo": _undo,
}


def _page(
    request: HttpRequest, change: Change, *, error: str = "", refused: str = "", status: int = 200
) -> HttpResponse:
    shown = queries.change_page(change, _person(request), replay_days=replayed.days_asked(request.GET))
    impact, is_now = _impact_shown(shown, request.GET)
    context = {
        "cluster": change.cluster,
        "change": change,
        "page": shown,
        "is_now": is_now,
        **_acls(shown.steps, request.GET),
        "commands_shown": f":{COMMANDS_SHOWN}",
        "most_commands": COMMANDS_SHOWN,
        "effect": shown.effect_now if is_now else shown.effect,
        "impact": impact,
        "both": two_impacts.two_impacts(shown),
        **_asked_again(shown, _person(request)),
        **_differences(shown, impact, request.GET),
        **replayed.shown(shown.replay, change.cluster, request.GET),
        "diff_files": diff_files.files(
            reverse("change-diff", args=[change.pk], query={"effect": "now" if is_now else "submitted"}),
            request.GET,
            field="format",
        ),
        "replay_all_url": replayed.all_url(reverse("change-replay", args=[change.pk]), field="format"),
        "replay_files": replayed.files(
            reverse("change-replay", args=[change.pk]), request.GET, field="format"
        ),
        # Where the effect is another by now, the page says so where the effects are.
        "error": error or (refused if shown.impact_now is None else ""),
        "comment": request.POST.get("comment", ""),
        "owners": lists.owners_matched(
            change.cluster, (view.binding.pattern for step in shown.steps for view in step.items)
        ),
        "can_act": any(deed.allowed for deed in shown.acts.values()),
        "comment_on": _commented_on(shown, request),
        "comment_text": request.POST.get("text", ""),
        **_some(change, shown, request.GET),
    }
    return render_page(
        request, "changes/detail.html", "changes/_change.html", context, section="changes", status=status
    )


def _asked_again(shown: queries.ChangePage, person: User) -> dict[str, Any]:
    """Return whether nobody can approve a change as it is, and who has asked its author to submit it again."""
    asked = review.asked_again_by(shown.timeline)
    return {
        "is_stale": shown.as_of_now is not None and not shown.as_of_now.lets_approve,
        "asked_again_by": asked,
        "has_asked": person.get_username() in asked,
    }


def _acls(steps: Sequence[queries.StepView], asked: QueryDict) -> dict[str, Any]:
    """Return a page of ACLs in the order of writing, each step with those of it, and the chosen ones elsewhere.

    Without a page in the address it is the one with the first ACL that is chosen.
    """
    rows = [(step, view) for step in steps for view in step.items]
    chosen = set(_places(asked))
    first = next((place for place, (_, view) in enumerate(rows) if view.item.position in chosen), 0)
    number = page_asked(asked, "acls") if "acls" in asked else first // ACLS_A_PAGE + 1
    acls = page_of(rows, number, ACLS_A_PAGE)
    shown = {view.item.position for _, view in acls.object_list}
    return {
        "acls": acls,
        "steps_shown": [
            (steps[number - 1], [view for _, view in views])
            for number, views in groupby(acls.object_list, key=lambda row: row[0].number)
        ],
        "chosen_elsewhere": sorted(chosen - shown),
    }


def _kept_page(request: HttpRequest, kept: queries.KeptChange) -> HttpResponse:
    """Show a change of a removed cluster as it is kept, to whoever audits it: nobody can act on it any more."""
    context = {
        "change": kept.change,
        "page": kept,
        **_acls(kept.steps, request.GET),
    }
    return render_page(request, "changes/kept.html", None, context, section="changes")


def _some(change: Change, shown: queries.ChangePage, asked: QueryDict) -> dict[str, Any]:
    """Return what the ACLs that were chosen would do by themselves; nothing where none were, or nobody may choose."""
    if "only" not in asked or not shown.may_choose:
        return {}
    places = _places(asked)
    try:
        found = review.preview_of_some(change, places)
    except ChangeError as error:
        return {"some_error": str(error)}
    return {
        "some": found,
        "some_places": places,
        "some_told": impact_rows.told(found.impact),
        "some_effect": found.impact.counts,
    }


def _commented_on(shown: queries.ChangePage, request: HttpRequest) -> Mapping[str, str] | None:
    """Return the ACL that somebody comments on, by its place in an address or its key in a form; None for none."""
    key, place = request.POST.get("on", ""), request.GET.get("on", "")
    if not (is_binding_key(key) or _PLACE.fullmatch(place)):
        return None
    for view in (view for step in shown.steps for view in step.items):
        if key == binding_key(view.binding) if key else view.item.position == int(place):
            return {"key": key or binding_key(view.binding), "says": view.says}
    return None


def _impact_shown(shown: queries.ChangePage, asked: Mapping[str, str]) -> tuple[Impact | None, bool]:
    """Return the impact that a page shows, and whether it is that of now."""
    # Where somebody else has written some of it, what is left of it is the answer.
    first = "now" if shown.would_now else "submitted"
    is_now = shown.impact_now is not None and asked.get("effect", first) == "now"
    return shown.impact_now if is_now else shown.impact, is_now


def _differences(page: queries.ChangePage, impact: Impact | None, asked: Mapping[str, str]) -> dict[str, Any]:
    if impact is None:
        return {}
    rows = impact_rows.rows(impact, *impact_rows.KINDS)
    return {
        "told": impact_rows.told(impact),
        **diff_page.shown(
            rows,
            asked,
            FOLDS_A_PAGE,
            every=rows,
            log_of=page.change.cluster,
            load=page.load,
            replay=page.replay,
        ),
    }


def _change(request: HttpRequest, number: int) -> Change:
    change = queries.change_of(_person(request), number)
    if change is None:
        raise Http404(f"There is no change CR-{number} that you may see.")
    return change


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
