"""Which principals use which topics? A map of principals and prefixes of topics, as a page, CSV and JSON."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import PermissionType
from aclweb.insights.coverage import freshness
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of
from aclweb.insights.use_map import (
    CONFIGURED,
    DENIED,
    KINDS,
    MOST_PAIRS,
    OTHERS,
    USED,
    WINDOWS,
    Pair,
    Together,
    UseMap,
    overview,
    shown_map,
    use_map,
    used_denied_configured,
)
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.charts import short
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell import links
from aclweb.web.shell.beside_rows import BesideRows
from aclweb.web.shell.called import with_name
from aclweb.web.shell.downloads import rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of
from aclweb.web.shell.spelling import visible

TOGETHER = "all"
"""What `?show=` says for used, denied and configured together; without it the map is of what is used."""

PAIRS_A_PAGE = 20
EXPORTED_TOGETHER = ("principal", "prefix", "used", "denied", "configured")
EXPORTED = ("principal", "prefix", "number")
WORDS = {TOGETHER: "All three", USED: "Used", DENIED: "Denied", CONFIGURED: "Configured"}
_NUMBERS = {USED: "permitted requests", DENIED: "denied requests", CONFIGURED: "ALLOW ACLs"}
_USUAL = 30


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the map; `?show=` and `?days=` choose what it counts, `?format=csv` and `json` give all of it."""
    cluster = access.cluster_or_404(request.user, slug)
    text = request.GET.get("days", "")
    days = int(text) if text in {str(each) for each in WINDOWS} else _USUAL
    kind = request.GET.get("show", "")
    if kind == TOGETHER:
        return _together(request, cluster, days)
    kind = kind if kind in KINDS else USED
    if request.GET.get("format") in ("csv", "json"):
        return _file(request, cluster, kind, days)
    found = shown_map(cluster, kind=kind, days=days)
    context = _shared(request, cluster, found.load, kind, days) | {
        "found": found,
        "numbers": _NUMBERS[kind],
        "columns": [(prefix, count, _listed(cluster, prefix)) for prefix, count in found.prefixes],
        "rows": [_row(cluster, found, place, _NUMBERS[kind]) for place in range(len(found.rows))],
    }
    return render_page(request, "browse/insights/use_map.html", None, context, section="insights")


def _file(request: HttpRequest, cluster: Cluster, kind: str, days: int) -> HttpResponseBase:
    found = use_map(cluster, kind=kind, days=days)
    cells = (dict(zip(EXPORTED, each, strict=True)) for each in found.every)
    if request.GET["format"] == "csv":
        if found.unknown:
            raise Http404(f"There is no CSV, because nobody can tell what it would hold: {found.why_not}.")
        return rows_file(
            cells, name=f"use-map-{cluster.slug}", ending="csv", columns=EXPORTED, about=[cluster]
        )
    beside = BesideRows.of(cluster)
    return JsonResponse(
        {
            "show": kind,
            "days": None if kind == CONFIGURED else days,
            "cells": None if found.unknown else [*map(beside.named, cells)],
            "whole": found.whole,
            "unknown": found.unknown,
            "why_not": found.why_not,
            "caveats": beside.caveats,
        }
    )


def _shared(
    request: HttpRequest, cluster: Cluster, load: Load | None, kind: str, days: int
) -> dict[str, Any]:
    """Return what the page needs whatever it counts."""
    return {
        "cluster": cluster,
        "head": head(cluster, load),
        "tab": "use",
        "view": "map",
        "kind": kind,
        "days": days,
        "freshness": freshness(cluster, load),
        "kinds": [
            Choice(each, WORDS[each], None, each == kind, with_field(request.GET, "show", each))
            for each in (TOGETHER, *KINDS)
        ],
        "windows": [
            Choice(str(each), f"{each} days", None, each == days, with_field(request.GET, "days", str(each)))
            for each in WINDOWS
        ],
        "csv_url": with_field(request.GET, "format", "csv"),
        "json_url": with_field(request.GET, "format", "json"),
    }


def _together(request: HttpRequest, cluster: Cluster, days: int) -> HttpResponseBase:
    """Show what is used, denied and configured in one map; its files have every pair."""
    if request.GET.get("format") in ("csv", "json"):
        return _together_file(request, cluster, days)
    found = overview(cluster, days=days)
    load = current_load(cluster)
    shared = _shared(request, cluster, load, TOGETHER, days)
    page = page_of(found.first, page_asked(request.GET), PAIRS_A_PAGE)
    context = shared | {
        "found": found,
        "load": load,
        "most": MOST_PAIRS,
        "why_not": shared["head"].evidence.why_not[PermissionType.ALLOW],
        "permits_known": load is not None and load.permits_seen,
        "page": page,
        "pairs": [
            (pair, links.principal(cluster, pair.principal), _listed(cluster, pair.prefix, pair.principal))
            for pair in page.object_list
        ],
        "drawn": _drawn(cluster, found.shown),
    }
    return render_page(request, "browse/insights/use_together.html", None, context, section="insights")


def _together_file(request: HttpRequest, cluster: Cluster, days: int) -> HttpResponseBase:
    found = used_denied_configured(cluster, days=days)
    cells = (dict(zip(EXPORTED_TOGETHER, _as_row(pair), strict=True)) for pair in found.rows)
    if request.GET.get("format") == "csv":
        name = f"use-map-{cluster.slug}"
        return rows_file(cells, name=name, ending="csv", columns=EXPORTED_TOGETHER, about=[cluster])
    beside = BesideRows.of(cluster)
    return JsonResponse(
        {
            "show": TOGETHER,
            "days": days,
            "cells": [*map(beside.named, cells)],
            "whole": found.whole,
            "why_not": evidence_of(found.load).why_not[PermissionType.ALLOW],
            "caveats": beside.caveats,
        }
    )


def _as_row(pair: Pair) -> tuple[str | int | None, ...]:
    return pair.principal, pair.prefix, pair.used, pair.denied, pair.configured


def _drawn(cluster: Cluster, shown: Together) -> dict[str, Any]:
    """Return what static/js/chart-map.js draws: names, and the numbers of each cell that has any."""
    return {
        "principals": [
            {"name": name, "label": with_name(cluster, name), "count": count}
            for name, count in shown.principals
        ],
        "prefixes": [
            {"name": name, "label": visible(name), "count": count} for name, count in shown.prefixes
        ],
        "cells": [
            [column, row, pair.used, pair.denied, pair.configured, level]
            for column, row, level, pair in shown.cells
        ],
        "acls": reverse("acls", args=[cluster.slug]),
        "principal": reverse("principal", args=[cluster.slug]),
    }


def _row(cluster: Cluster, found: UseMap, place: int, numbers: str) -> dict[str, Any]:
    row = found.rows[place]
    url = "" if row.principal == OTHERS else links.principal(cluster, row.principal)
    cells = [
        (cell.level, short(cell.number) if cell.number else "", f"{cell.number:,} {numbers}")
        for cell in row.cells
    ]
    return {"principal": row.principal, "count": row.count, "url": url, "total": row.total, "cells": cells}


def _listed(cluster: Cluster, prefix: str, principal: str = "") -> str:
    """Return the address of the ACLs on topics that begin so, of one principal if given; empty for many prefixes."""
    if prefix in (OTHERS, "*"):
        return ""
    who = {"principal": principal} if principal else {}
    asked = links.encoded(**who, resource_type="TOPIC", name=prefix, match="starts")
    return f"{reverse('acls', args=[cluster.slug])}?{asked}"
