"""What can the logs of a cluster prove, which broker logged what, and which brokers are gone for good?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import PermissionType, number_of
from aclweb.acl.notation import write_rows
from aclweb.insights import queries
from aclweb.insights.broker_clocks import clocks
from aclweb.insights.coverage import Coverage, coverage
from aclweb.insights.coverage_days import (
    DENIALS,
    GAP,
    GONE,
    NONE,
    BrokerCoverage,
    CoverageDays,
    DayCell,
    Missing,
    coverage_days,
)
from aclweb.insights.declarations import declarations
from aclweb.insights.log_sources import percent_text, sources_read
from aclweb.insights.models import Load, Refresh
from aclweb.insights.retired import RetiredError, retire, take_back
from aclweb.insights.unused import younger_acls
from aclweb.inventory.models import Cluster, LogSource
from aclweb.web.browse import log_reading
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.charts import Cells, day_rows, hour_chart
from aclweb.web.browse.insight_tabs import Head, head
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.links import encoded
from aclweb.web.shell.paging import page_asked, page_of

WINDOWS = (30, 90, 400)
USUAL_DAYS = 90
BROKERS_A_PAGE = 25
MISSING_SHOWN = 40

EXPORTED = ("broker", "day", "shows", "hours", "hours_with_permits", "lines", "permits")


@dataclass(frozen=True)
class Claim:
    """A sentence about what the log can show; `known`: whether it can."""

    known: bool
    sentence: str
    url: str = ""
    word: str = ""


@dataclass(frozen=True)
class BrokerRow:
    """One broker with the drawing of its days, as cells of each kind; `form` where somebody may retire it.

    url: the page of its hours.
    """

    broker: BrokerCoverage
    url: str
    cells: tuple[Cells, ...]
    number: int
    form: RetireForm | None


class RetireForm(forms.Form):
    """Since when a broker is gone, and why."""

    broker = forms.CharField(widget=forms.HiddenInput, max_length=32_767, strip=False)
    since = forms.DateField(
        label="Gone since",
        widget=forms.DateInput(attrs={"class": "form-control", "type": "date"}),
        error_messages={
            "required": "Name the first day on which it did not run any more, such as 2026-11-30.",
            "invalid": "This is no day; write it as 2026-11-30.",
        },
    )
    reason = forms.CharField(
        label="Why",
        required=False,
        max_length=300,
        widget=forms.TextInput(attrs={"class": "form-control", "placeholder": "for the next reader"}),
    )


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Show which brokers logged what, and what follows from it."""
    return _page(request, access.cluster_or_404(request.user, slug))


@login_required
@require_http_methods(["GET", "POST"])
def retire_broker(request: HttpRequest, slug: str) -> HttpResponse:
    """Store that a broker is gone, or with `undo` that it is not."""
    cluster = access.cluster_or_404(request.user, slug)
    address = reverse("coverage", args=[slug], query=request.GET)
    if request.method == "GET":
        return redirect(address)
    access.require(request.user, "administer", cluster)
    assert isinstance(request.user, User)  # login_required
    if "undo" in request.POST:
        broker = request.POST["undo"]
        if take_back(cluster=cluster, broker=broker, actor=request.user):
            messages.success(request, f"Recorded: {broker} is not gone, so its log is missed again.")
        return redirect(address)
    form = RetireForm(request.POST, auto_id="wrong-%s")
    if not form.is_valid():
        return _page(request, cluster, wrong=form, status=422)
    try:
        row = retire(cluster=cluster, actor=request.user, **form.cleaned_data)
    except RetiredError as error:
        form.add_error(error.field, str(error))
        return _page(request, cluster, wrong=form, status=422)
    messages.success(request, f"Recorded: {row.broker} is gone since {row.since}, so its log is not missed.")
    return redirect(address)


@login_required
@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """Give each day of each broker as CSV."""
    cluster = access.cluster_or_404(request.user, slug)
    found = coverage_days(coverage(cluster).load, days=days_asked(request.GET), with_first=True)
    answer = HttpResponse(write_rows(EXPORTED, _exported(found)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="coverage-{cluster.slug}.csv"'
    return answer


def _exported(found: CoverageDays) -> Iterator[tuple[str, ...]]:
    for each in found.brokers:
        for cell in each.days:
            figures = (cell.hours.bit_count(), cell.permit_hours.bit_count(), cell.lines, cell.permits)
            yield (each.broker, cell.day.isoformat(), cell.kind, *map(str, figures))


def _page(
    request: HttpRequest, cluster: Cluster, *, wrong: RetireForm | None = None, status: int = 200
) -> HttpResponse:
    covered = coverage(cluster, all_days=True)
    sources = list(cluster.log_sources.select_related("topic_cluster"))
    days = days_asked(request.GET)
    found = coverage_days(covered.load, days=days, with_first=True)
    may_administer = access.may(request.user, "administer", cluster)
    top = head(cluster, covered.load)
    page = page_of(found.brokers, page_asked(request.GET), BROKERS_A_PAGE)
    context: dict[str, Any] = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "coverage": covered,
        "head": top,
        "tab": "coverage",
        "found": found,
        "page": page,
        "rows": [
            _row(each, hours_url(cluster, each.broker, days), number, wrong, may_administer)
            for number, each in enumerate(page.object_list)
        ],
        "together": day_rows([(kind, 1.0) for kind in found.together], outlined={NONE}),
        "labels": labels_of(found.days),
        "missing": [(each, _cause(each, covered, found)) for each in found.missing[:MISSING_SHOWN]],
        "more_missing": max(0, len(found.missing) - MISSING_SHOWN),
        "hours": hour_chart(found.permit_hours, most=len(found.days)),
        "hour_rows": list(enumerate(found.permit_hours)),
        "claims": list(_claims(cluster, covered, found, top)),
        "windows": [
            Choice(str(each), f"{each} days", None, each == days, with_field(request.GET, "days", str(each)))
            for each in WINDOWS
        ],
        "export_url": reverse("coverage-export", args=[cluster.slug], query={"days": str(days)}),
        "retire_url": reverse("broker-retire", args=[cluster.slug], query=request.GET),
        "sources": sources_read(sources, covered.files),
        "clocks": clocks(covered.files),
        "unparsed_percent": percent_text(covered.load.lines_unparsed, covered.load.lines_read)
        if covered.load
        else "",
        "may_administer": may_administer,
        "declarations": declarations(cluster, covered.load),
        "disagreements": queries.disagreements(cluster, limit=5, load=covered.load),
        **log_reading.context_of(
            request,
            cluster,
            may_administer=may_administer,
            last=covered.tried or Refresh(),
            has_sources=bool(sources),
        ),
    }
    return render_page(
        request, "browse/insights/coverage.html", None, context, section="insights", status=status
    )


def hours_url(cluster: Cluster, broker: str, days: int) -> str:
    """Return the address of the page with the hours of one broker."""
    return f"{reverse('broker-hours', args=[cluster.slug])}?{encoded(name=broker, days=str(days))}"


def _row(
    each: BrokerCoverage, url: str, number: int, wrong: RetireForm | None, may_administer: bool
) -> BrokerRow:
    form = None
    if may_administer and (each.gone_since is None or each.is_back):
        initial = {"broker": each.broker, "since": each.last + timedelta(days=1) if each.last else None}
        form = RetireForm(initial=initial, auto_id=f"broker-{number}-%s")
        if wrong is not None and wrong.data.get("broker") == each.broker:
            form = wrong
    return BrokerRow(each, url, day_rows([(cell.kind, height_of(cell)) for cell in each.days]), number, form)


def height_of(cell: DayCell) -> float:
    """Return how high a day is drawn: whole, by its hours where some are missing, or as a line."""
    if cell.kind == GAP:
        return max(0.15, cell.share)
    return 0.12 if cell.kind in (NONE, GONE) else 1.0


def _claims(cluster: Cluster, covered: Coverage, found: CoverageDays, top: Head) -> Iterator[Claim]:
    """Yield what can be claimed by the log, and what cannot be and why."""
    if covered.load is None or not found.days:
        return
    words = {PermissionType.ALLOW: "Unused ALLOW ACLs", PermissionType.DENY: "Unused DENY ACLs"}
    if top.unused is not None:
        yield Claim(
            True,
            f"{number_of(top.unused, 'ACL', 'ACLs')} of {cluster.name} "
            f"{'is' if top.unused == 1 else 'are'} unused {top.evidence.window}.",
            f"{reverse('acls', args=[cluster.slug])}?use=unused",
            "List them",
        )
    else:
        for permission, reason in top.evidence.why_not.items():
            sentence = (
                f"{words[permission]}: cannot tell, {reason}."
                if reason
                else f"{words[permission]} are known {top.evidence.window}."
            )
            yield Claim(not reason, sentence)
    total = len(found.days)
    yield Claim(
        found.denials_whole == total,
        f"Denials are complete on {found.denials_whole:,} of {number_of(total, 'day', 'days')}.",
    )
    yield Claim(bool(found.month_ends), found.month_ends_told)
    young = younger_acls(cluster, top.evidence)
    if young:
        yield Claim(
            False,
            f"{number_of(young, 'ACL is', 'ACLs are')} younger than {top.evidence.days} days: cannot tell whether "
            f"{'it is' if young == 1 else 'they are'} unused.",
        )
    decisions = _decisions(covered.load)
    unread = covered.load.lines_unparsed
    if decisions + unread:
        share = percent_text(decisions, decisions + unread)
        yield Claim(
            not unread,
            f"{number_of(decisions, 'request of the log', 'requests of the log')} can be decided again by other ACLs"
            + (f", at least {share} of those that it holds." if unread else ": all that it holds."),
        )
    if covered.load.lines_unparsed:
        yield Claim(
            False,
            f"{number_of(covered.load.lines_unparsed, 'line', 'lines')} could not be understood and "
            f"{'is' if covered.load.lines_unparsed == 1 else 'are'} in no count.",
        )


def _decisions(load: Load) -> int:
    """Return how many requests of the log somebody made; probes of brokers are none."""
    return int(load.manifest.get("lines", {}).get("decisions", load.lines_parsed))


def _cause(missing: Missing, covered: Coverage, found: CoverageDays) -> str:
    """Return why a broker logged less on these days, as far as anything tells; else an empty text."""
    assert covered.load is not None
    if missing.kind == DENIALS:
        if covered.load.levels.get(missing.broker) == LogSource.Level.INFO:
            return "Its logger is declared to be at INFO."
        return "It wrote no permit then; at INFO brokers write none."
    broken = [file for file in covered.files if file.broker == missing.broker and not file.is_whole]
    if broken:
        return f"{broken[0].name}: {broken[0].state}. {broken[0].reason}".strip()
    (row,) = [each for each in found.brokers if each.broker == missing.broker]
    if row.last is not None and missing.first > row.last:
        return f"It wrote its last line on {row.last.day} {row.last:%B}. If it is gone, retire it."
    if row.first is not None and missing.last < row.first:
        return f"Its log begins on {row.first.day} {row.first:%B}."
    return ""


def days_asked(query: QueryDict) -> int:
    text = query.get("days", "")
    return int(text) if text in map(str, WINDOWS) else USUAL_DAYS


def labels_of(days: tuple[date, ...]) -> list[str]:
    """Return words for five days at equal distances, the first and the last among them."""
    if len(days) < 5:
        return [f"{day.day} {day:%b}" for day in days]
    places = [round(part * (len(days) - 1) / 4) for part in range(5)]
    return [f"{days[place].day} {days[place]:%b}" for place in places]
