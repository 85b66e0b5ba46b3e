"""How far is one analysis of the logs, what did it find, and how is that taken along as a file?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.insights.analyses import (
    JOBS,
    KEPT_FOR,
    MOST_KEPT,
    ON,
    ResultTable,
    cancel,
    claims_of,
    exported,
    found_in,
    headline,
    of_address,
    pairs_of,
    progress_of,
)
from aclweb.insights.current import current_load
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis
from aclweb.web.browse.acl_filters import Choice, with_field, without
from aclweb.web.browse.analysis_rows import headings, removable_keys, shown_rows
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell.downloads import rows_file
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 25


_ON_WORDS = {"used_on": "used on", "not_on": "not on", "allowed_on": "unused, ACLs allow it on"}


@dataclass(frozen=True)
class Asked:
    """The filters of a table. on: the cluster for each filter of `ON` that is chosen."""

    kind: str
    text: str
    on: dict[str, str]

    @property
    def given(self) -> dict[str, str]:
        """The filters that narrow, by their names in addresses."""
        return {name: value for name, value in (("kind", self.kind), ("text", self.text)) if value} | self.on


@dataclass(frozen=True)
class ClusterFilter:
    """A choice of one cluster; chosen: its name in addresses, empty for any. clusters: (name in addresses, name)."""

    name: str
    word: str
    chosen: str
    clusters: tuple[tuple[str, str], ...]


@login_required
@require_GET
def detail(request: HttpRequest, slug: str, address: str) -> HttpResponse:
    """Show how far a worker is, and once it is done a page of a table of the result."""
    row = _row(request, slug, address)
    if row.is_open and wants_part(request):
        return render(request, "browse/insights/_analysis_progress.html", _progress(row, request))
    page = _page(request, row)
    if request.headers.get("HX-Target") == "progress":
        # It has ended since the page asked how far it is: all of the page is another.
        page["HX-Retarget"] = "#analysis"
    return page


@login_required
@require_http_methods(["GET", "POST"])
def end(request: HttpRequest, slug: str, address: str) -> HttpResponse:
    """Cancel an analysis that waits or is at work."""
    row = _row(request, slug, address)
    if request.method == "POST":
        try:
            administers = access.may(request.user, "administer", row.cluster)
            cancel(row, person=request.user.get_username(), is_administrator=administers)
        except InsightsError as error:
            messages.error(request, str(error))
    return redirect("analysis", slug=slug, address=address)


@login_required
@require_GET
def export(request: HttpRequest, slug: str, address: str) -> HttpResponseBase:
    """Give the rows of a table that the filters let through, whole, as CSV or JSON lines."""
    row = _row(request, slug, address)
    if row.state != Analysis.State.DONE:
        raise Http404("This analysis has no result, so there is nothing to download.")
    table = _table(row, request.GET)
    asked = _asked(row, table, request.GET)
    rows = exported(found_in(row, table, kind=asked.kind, text=asked.text, on=asked.on))
    name = f"{row.job}-{table.name}-{slug}"
    # A result about several clusters has rows of each, and says in them which.
    about = [] if JOBS[row.job].beside else [row.cluster]
    return rows_file(rows, name=name, ending=request.GET.get("format", "csv"), about=about)


def _page(request: HttpRequest, row: Analysis) -> HttpResponse:
    load = current_load(row.cluster)
    context = {
        **_progress(row, request),
        "head": head(row.cluster, load),
        "tab": "analyses",
        "chosen": [
            (option.label, dict(option.values).get(row.options.get(option.name, ""), ""))
            for option in JOBS[row.job].options
        ]
        + ([("The edit", row.options["edit"])] if JOBS[row.job].edit else [])
        + ([("Compared", ", ".join(row.cluster_names.values()))] if JOBS[row.job].beside else []),
        "kept": f"The newest {MOST_KEPT} of each job are kept for {KEPT_FOR.days} days.",
    }
    if row.state == Analysis.State.DONE:
        context |= _result(row, request.GET)
    return render_page(
        request,
        "browse/insights/analysis.html",
        "browse/insights/_analysis.html",
        context,
        section="insights",
    )


def _progress(row: Analysis, request: HttpRequest) -> dict[str, Any]:
    own = row.asked_by == request.user.get_username()
    return {
        "analysis": row,
        "job": JOBS[row.job],
        "cluster": row.cluster,
        "progress": progress_of(row),
        "may_cancel": row.is_open and (own or access.may(request.user, "administer", row.cluster)),
    }


def _result(row: Analysis, query: QueryDict) -> dict[str, Any]:
    """Return what the page shows of an analysis that is done: one page of one table."""
    job, table = JOBS[row.job], _table(row, query)
    asked = _asked(row, table, query)
    found = found_in(row, table, kind=asked.kind, text=asked.text, on=asked.on)
    page = page_of(found, page_asked(query), ROWS_A_PAGE)
    counts = row.counts.get(table.name, {})
    export_url = reverse("analysis-export", args=[row.cluster.slug, row.address])
    kept = {"table": table.name, **asked.given}
    return {
        "table": table,
        "answer": headline(row, table),
        "claims": claims_of(row, job),
        "asked": asked,
        "page": page,
        "headings": headings(row, table),
        "rows": shown_rows(row, table, page.object_list),
        "tables": [_table_choice(each, row, table, asked) for each in job.tables],
        "kinds": [_every(query, asked.kind, counts), *_kinds(table, query, asked.kind, counts)],
        "downloads": [
            (word, f"{export_url}?{_query(kept | {'format': ending})}")
            for ending, word in (("csv", "CSV"), ("jsonl", "JSON lines"))
        ],
        "unfiltered": f"?table={table.name}",
        **(_of_clusters(row, table, asked) if job.beside else {}),
        "removable": removable_keys(row) if row.job == "load-bearing" else [],
    }


def _table(row: Analysis, query: QueryDict) -> ResultTable:
    """Return the table that the address names, the first unless it names one."""
    name = query.get("table", "")
    table = JOBS[row.job].table(name) if name else JOBS[row.job].tables[0]
    if table is None:
        known = ", ".join(each.name for each in JOBS[row.job].tables)
        raise Http404(f"table is {name!r}; use one of {known}.")
    return table


def _asked(row: Analysis, table: ResultTable, query: QueryDict) -> Asked:
    kind = query.get("kind", "")
    known = row.cluster_names if JOBS[row.job].beside else {}
    return Asked(
        kind=kind if kind in {each.value for each in table.kinds} else "",
        text=query.get("text", "").strip(),
        on={name: slug for name in ON if (slug := query.get(name, "")) in known},
    )


def _of_clusters(row: Analysis, table: ResultTable, asked: Asked) -> dict[str, Any]:
    """Return what the page shows of a result about several clusters beside its rows."""
    clusters = tuple(row.cluster_names.items())
    return {
        "pairs": [
            (pair, f"?{_query({'table': table.name, 'used_on': pair.used_on, 'not_on': pair.not_on})}")
            for pair in pairs_of(row, table)
        ],
        "on": [
            ClusterFilter(name, word, asked.on.get(name, ""), clusters) for name, word in _ON_WORDS.items()
        ],
    }


def _table_choice(each: ResultTable, row: Analysis, shown: ResultTable, asked: Asked) -> Choice:
    """Return the link to a table; the clusters that are asked about stay, since they are those of every table."""
    count = row.counts.get(each.name, {}).get("", 0)
    url = f"?{_query({'table': each.name, **asked.on})}"
    return Choice(each.name, each.title, count, each.name == shown.name, url)


def _every(query: QueryDict, kind: str, counts: dict[str, int]) -> Choice:
    return Choice("", "All", counts.get("", 0), not kind, without(query, "kind"))


def _kinds(table: ResultTable, query: QueryDict, kind: str, counts: dict[str, int]) -> Iterator[Choice]:
    """Yield a link for each kind of which the table has a row."""
    for each in table.kinds:
        if counts.get(each.value):
            url = with_field(query, "kind", each.value)
            yield replace(Choice(each.value, each.word, counts[each.value], kind == each.value, url))


def _query(fields: dict[str, str]) -> str:
    query = QueryDict(mutable=True)
    query.update(fields)
    return query.urlencode()


def _row(request: HttpRequest, slug: str, address: str) -> Analysis:
    cluster = access.cluster_or_404(request.user, slug)
    row = of_address(cluster, address, access.visible_clusters(request.user))
    if row is None or row.job not in JOBS:
        kept = f"The newest {MOST_KEPT} of each job are kept for {KEPT_FOR.days} days."
        raise Http404(f"There is no analysis at this address. {kept}")
    return row
