"""Which principals use which topics? A map of principals and prefixes of topics, as a page, CSV and JSON."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.notation import write_rows
from aclweb.insights.coverage import freshness
from aclweb.insights.use_map import CONFIGURED, DENIED, KINDS, OTHERS, USED, WINDOWS, UseMap, use_map
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.charts import short
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page

EXPORTED = ("principal", "prefix", "number")
WORDS = {USED: "Used", DENIED: "Denied", CONFIGURED: "Configured"}
_NUMBERS = {USED: "permitted requests", DENIED: "denied requests", CONFIGURED: "ALLOW ACLs"}
_USUAL = 30


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the map; `?show=` and `?days=` choose what it counts, `?format=csv` and `json` give all of it."""
    cluster = access.cluster_or_404(request.user, slug)
    kind = request.GET.get("show", "")
    kind = kind if kind in KINDS else USED
    text = request.GET.get("days", "")
    days = int(text) if text in {str(each) for each in WINDOWS} else _USUAL
    found = use_map(cluster, kind=kind, days=days)
    if request.GET.get("format") == "csv":
        if found.unknown:
            raise Http404(f"There is no CSV, because nobody can tell what it would hold: {found.why_not}.")
        rows = ((principal, prefix, str(number)) for principal, prefix, number in found.every)
        answer = HttpResponse(write_rows(EXPORTED, rows), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="use-map-{cluster.slug}.csv"'
        return answer
    if request.GET.get("format") == "json":
        cells = [dict(zip(EXPORTED, each, strict=True)) for each in found.every]
        return JsonResponse(
            {
                "show": kind,
                "days": None if kind == CONFIGURED else days,
                "cells": None if found.unknown else cells,
                "whole": found.whole,
                "unknown": found.unknown,
                "why_not": found.why_not,
            }
        )
    context: dict[str, Any] = {
        "cluster": cluster,
        "head": head(cluster, found.load),
        "tab": "use",
        "view": "map",
        "found": found,
        "kind": kind,
        "days": days,
        "numbers": _NUMBERS[kind],
        "columns": [(prefix, count, _listed(cluster, prefix)) for prefix, count in found.prefixes],
        "rows": [_row(cluster, found, place, _NUMBERS[kind]) for place in range(len(found.rows))],
        "freshness": freshness(cluster, found.load),
        "kinds": [
            Choice(each, WORDS[each], None, each == kind, with_field(request.GET, "show", each))
            for each in KINDS
        ],
        "windows": [
            Choice(str(each), f"{each} days", None, each == days, with_field(request.GET, "days", str(each)))
            for each in WINDOWS
        ],
        "csv_url": with_field(request.GET, "format", "csv"),
        "json_url": with_field(request.GET, "format", "json"),
    }
    return render_page(request, "browse/insights/use_map.html", None, context, section="insights")


def _row(cluster: Cluster, found: UseMap, place: int, numbers: str) -> dict[str, Any]:
    row = found.rows[place]
    url = "" if row.principal == OTHERS else links.principal(cluster, row.principal)
    cells = [
        (cell.level, short(cell.number) if cell.number else "", f"{cell.number:,} {numbers}")
        for cell in row.cells
    ]
    return {"principal": row.principal, "count": row.count, "url": url, "total": row.total, "cells": cells}


def _listed(cluster: Cluster, prefix: str) -> str:
    """Return the address of the ACLs on topics that begin so; empty for those of many prefixes."""
    if prefix in (OTHERS, "*"):
        return ""
    asked = links.encoded(resource_type="TOPIC", name=prefix, match="starts")
    return f"{reverse('acls', args=[cluster.slug])}?{asked}"
