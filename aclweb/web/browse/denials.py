"""Who was denied what, why, and who works on it? The inbox of denials, and the states that people set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.notation import write_rows
from aclweb.insights import denials
from aclweb.insights.coverage import problem_of
from aclweb.insights.denial_groups import WINDOWS
from aclweb.insights.denials import State
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, with_field, without
from aclweb.web.browse.denial_form import DenialForm
from aclweb.web.browse.denial_rows import rows_of
from aclweb.web.browse.insight_tabs import USUAL_DAYS, head, since_in_force
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 15
ALL_DAYS = "all"

_SORT_WORDS = {"weight": "by weight", "times": "by denials", "latest": "latest first"}
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True)
class Asked:
    """What the address asks for. faults: a sentence for each value that cannot be understood."""

    state: str
    days: int
    sort: str
    faults: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryDict) -> Asked:
        state, days, sort = query.get("state", ""), query.get("days", ""), query.get("sort", "")
        windows = [*map(str, WINDOWS), ALL_DAYS]
        faults = [
            f"{name} is {value!r}; use one of {', '.join(known)}."
            for name, value, known in (
                ("state", state, State.values),
                ("days", days, windows),
                ("sort", sort, list(denials.SORTS)),
            )
            if value and value not in known
        ]
        return cls(
            state=state if state in State.values else "",
            days=0 if days == ALL_DAYS else int(days) if days in windows else USUAL_DAYS,
            sort=sort if sort in denials.SORTS else "weight",
            faults=tuple(faults),
        )


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the groups of denials that the address asks for; `?open=` shows all about one in its place."""
    cluster = access.cluster_or_404(request.user, slug)
    return _page(request, cluster)


@login_required
@require_http_methods(["GET", "POST"])
def mark(request: HttpRequest, slug: str) -> HttpResponse:
    """Set the state of one group, and come back to the list as it was."""
    cluster = access.cluster_or_404(request.user, slug)
    address = reverse("insights", args=[slug], query=request.GET)
    if request.method == "GET":
        return redirect(address)
    access.require(request.user, "request", cluster)
    assert isinstance(request.user, User)  # login_required
    found = denials.denial(cluster, request.GET.get("open", ""), in_force_since=since_in_force(cluster))
    if found is None:
        raise Http404("The log of this cluster has no such denial any more.")
    access.require(request.user, "request", cluster, found.resource.name)
    form = DenialForm(request.POST, cluster=cluster, person=request.user)
    if not form.is_valid() or not form.mark(found):
        return _page(request, cluster, form=form, status=422)
    messages.success(request, f"Recorded: {State(form.cleaned_data['state']).label}.")
    return redirect(f"{address}#denials")


@login_required
@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give every group that the filters of the list let through, as CSV."""
    cluster = access.cluster_or_404(request.user, slug)
    asked = Asked.of(request.GET)
    rows = denials.exported(
        cluster, state=asked.state, days=asked.days, sort=asked.sort, in_force_since=since_in_force(cluster)
    )
    answer = StreamingHttpResponse(_csv(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="denials-{cluster.slug}.csv"'
    return answer


def _csv(rows: Iterator[list[str]]) -> Iterator[str]:
    """Yield the text of a CSV, its header first, many rows at once."""
    yield write_rows(denials.EXPORTED, ())
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield write_rows(denials.EXPORTED, some).partition("\n")[2]


def _page(
    request: HttpRequest, cluster: Cluster, *, form: DenialForm | None = None, status: int = 200
) -> HttpResponse:
    asked = Asked.of(request.GET)
    opened = request.GET.get("open", "")
    found = denials.inbox(
        cluster,
        state=asked.state,
        days=asked.days,
        sort=asked.sort,
        in_force_since=since_in_force(cluster),
    )
    page = page_of(found.rows, page_asked(request.GET), ROWS_A_PAGE)
    assert isinstance(request.user, User)  # login_required
    context: dict[str, Any] = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "inbox": found,
        "asked": asked,
        "page": page,
        "states": _states(request.GET, found),
        "windows": _windows(request.GET, asked),
        "sorts": _sorts(request.GET, asked),
        "export_url": _export_url(cluster, request.GET),
        "head": head(cluster, found.load, new=found.counts.get(State.NEW)),
        "tab": "denials",
        "problem": problem_of(cluster, found.load),
    }
    if found.load is not None:
        listed = list(page.object_list)
        if opened and all(each.key != opened for each in listed):
            # A link from another page names a group that is on a later page, or not in these days.
            elsewhere = denials.denial(
                cluster, opened, days=asked.days, in_force_since=since_in_force(cluster)
            )
            listed = [*([elsewhere] if elsewhere else []), *listed]
        rows = rows_of(cluster, found.load, listed, opened=opened)
        context["rows"] = rows
        row = next((each for each in rows if each.opened), None)
        context |= {
            "opened_url": with_field(request.GET, "open", ""),
            "form": form,
            "mark_url": reverse("denials-mark", args=[cluster.slug], query=request.GET),
        }
        if (
            row is not None
            and form is None
            and access.may(request.user, "request", cluster, row.denial.resource.name)
        ):
            initial = DenialForm.as_stored(row.denial)
            context["form"] = DenialForm(initial=initial, cluster=cluster, person=request.user)
    return render_page(
        request,
        "browse/insights/index.html",
        "browse/insights/_denials.html",
        context,
        section="insights",
        status=status,
    )


def _states(query: QueryDict, found: denials.Inbox) -> list[Choice]:
    """Return a link for each state, with how many groups are in it."""
    chosen = query.get("state", "")
    every = Choice("", "All", found.groups, not chosen, _shut(without(query, "state")))
    return [
        every,
        *(
            Choice(
                state,
                State(state).label.capitalize(),
                number,
                chosen == state,
                _shut(with_field(query, "state", state)),
            )
            for state, number in found.counts.items()
        ),
    ]


def _windows(query: QueryDict, asked: Asked) -> list[Choice]:
    words = {1: "last day", 0: "whole log"} | {days: f"{days} days" for days in WINDOWS if days > 1}
    return [
        Choice(
            str(days),
            words[days],
            None,
            asked.days == days,
            _shut(with_field(query, "days", str(days) if days else ALL_DAYS)),
        )
        for days in (*WINDOWS, 0)
    ]


def _sorts(query: QueryDict, asked: Asked) -> list[Choice]:
    return [
        Choice(sort, word, None, asked.sort == sort, with_field(query, "sort", sort))
        for sort, word in _SORT_WORDS.items()
    ]


def _shut(address: str) -> str:
    """Return the address of a list without its open row, which may not be in the list any more."""
    query = QueryDict(address.removeprefix("?"))
    return without(query, "open")


def _export_url(cluster: Cluster, query: QueryDict) -> str:
    kept = query.copy()
    for name in ("page", "open"):
        kept.pop(name, None)
    address = reverse("denials-export", args=[cluster.slug])
    return f"{address}?{kept.urlencode()}" if kept else address
