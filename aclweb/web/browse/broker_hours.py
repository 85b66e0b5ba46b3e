"""What did one broker log in each hour, in which layout, and which of its files could not be read?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import number_of
from aclweb.insights.coverage import Coverage, coverage
from aclweb.insights.coverage_days import (
    DENIALS,
    GONE,
    NONE,
    OUTSIDE,
    PERMITS,
    BrokerCoverage,
    CoverageDays,
    DayCell,
    coverage_days,
)
from aclweb.inventory.models import Cluster, LogSource
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.charts import hour_cells
from aclweb.web.browse.coverage import WINDOWS, days_asked, labels_of
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell.downloads import FORMATS, WORDS, rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.links import encoded
from aclweb.web.shell.paging import page_asked, page_of

DAYS_A_PAGE = 31
COLUMNS = ("broker", "day", "hour", "shows")
_WORDS = {
    PERMITS: "permits",
    DENIALS: "a log without permits",
    NONE: "no log",
    GONE: "the broker is gone",
    OUTSIDE: "outside of the log",
}
# The less an hour shows, the lower it is drawn: colour alone tells no kind from another.
_HEIGHTS = {DENIALS: 5.5, NONE: 2.5, GONE: 2.5}


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the hours of the broker in `?name=`; with `?format=csv` or `jsonl` a row for each hour."""
    cluster = access.cluster_or_404(request.user, slug)
    covered = coverage(cluster)
    name = request.GET.get("name", "")
    found = coverage_days(covered.load, days=days_asked(request.GET), broker=name, with_first=True)
    if not found.brokers:
        raise Http404("The log of this cluster names no such broker.")
    (broker,) = found.brokers
    if "format" in request.GET:
        title = f"hours-{cluster.slug}"
        return rows_file(_exported(broker), name=title, ending=request.GET["format"], columns=COLUMNS)
    return _page(request, cluster, covered, found, broker)


def _page(
    request: HttpRequest, cluster: Cluster, covered: Coverage, found: CoverageDays, broker: BrokerCoverage
) -> HttpResponse:
    shown = [cell.by_hour for cell in broker.days]
    days = len(found.days)
    page = page_of(list(reversed(broker.days)), page_asked(request.GET), DAYS_A_PAGE)
    files = [file for file in covered.files if file.broker == broker.broker]
    context = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "coverage_url": reverse(
            "coverage", args=[cluster.slug], query={"days": str(days_asked(request.GET))}
        ),
        "broker": broker,
        "first": _first(broker, shown),
        "found": found,
        "cells": hour_cells(shown, _HEIGHTS),
        "labels": labels_of(found.days),
        "legend": [(kind, word) for kind, word in _WORDS.items() if any(kind in hours for hours in shown)],
        "height": 240,
        "width": 10 * days,
        "page": page,
        "rows": [_row(cell) for cell in page.object_list],
        "files": files,
        "layouts": ", ".join(dict.fromkeys(file.layout for file in files if file.layout)),
        "level": _level(covered, broker.broker),
        "exports": [
            (WORDS[ending], f"?{encoded(**{**request.GET.dict(), 'format': ending})}") for ending in FORMATS
        ],
        "windows": [
            Choice(
                str(each),
                f"{each} days",
                None,
                each == days_asked(request.GET),
                with_field(request.GET, "days", str(each)),
            )
            for each in WINDOWS
        ],
        "head": head(cluster, covered.load),
        "tab": "coverage",
    }
    return render_page(request, "browse/insights/broker_hours.html", None, context, section="insights")


def _first(broker: BrokerCoverage, shown: Sequence[Sequence[str]]) -> str:
    """Return the sentence that says in how many hours of its log the broker wrote what."""
    counts = Counter(kind for hours in shown for kind in hours)
    asked = sum(counts[kind] for kind in (PERMITS, DENIALS, NONE))
    if not asked:
        return f"{broker.broker} is gone; no hour of its log is in these days."
    told = f"{broker.broker} logged permits in {counts[PERMITS]:,} of {number_of(asked, 'hour', 'hours')}"
    others = [f"{_WORDS[kind]} in {counts[kind]:,}" for kind in (DENIALS, NONE) if counts[kind]]
    return f"{told}, {' and '.join(others)}." if others else f"{told}."


@dataclass(frozen=True)
class HourRow:
    """One day of the table: when which hours show what, as spans."""

    cell: DayCell
    permits: str
    without: str
    missing: str


def _row(cell: DayCell) -> HourRow:
    hours = cell.by_hour
    permits, without, missing = (_spans(hours, kind) for kind in (PERMITS, DENIALS, NONE))
    return HourRow(cell, permits, without, missing)


def _spans(hours: Sequence[str], wanted: str) -> str:
    """Return the hours of a kind as spans, `00:00–08:00, 22:00–24:00`; a dash where there are none."""
    spans, hour = [], 0
    for kind, run in groupby(hours):
        length = sum(1 for _ in run)
        if kind == wanted:
            spans.append(f"{hour:02}:00–{hour + length:02}:00")
        hour += length
    return ", ".join(spans) or "–"


def _level(covered: Coverage, broker: str) -> str:
    """Return what somebody declared of the broker's logger; a plain word where nobody did."""
    declared = covered.load.levels.get(broker) if covered.load is not None else None
    return LogSource.Level(declared).label if declared in LogSource.Level.values else "not declared"


def _exported(broker: BrokerCoverage) -> Iterator[dict[str, str | int | None]]:
    for cell in broker.days:
        for hour, kind in enumerate(cell.by_hour):
            if kind != OUTSIDE:
                yield {
                    "broker": broker.broker,
                    "day": cell.day.isoformat(),
                    "hour": hour,
                    "shows": _WORDS[kind],
                }
