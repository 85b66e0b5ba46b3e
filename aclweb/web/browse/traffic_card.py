"""How is the traffic of a resource or a principal shown: a chart by day, its table, and who did what?"""

from __future__ import annotations

from typing import Any

from aclweb.insights.coverage import freshness
from aclweb.insights.traffic import Traffic
from aclweb.inventory.models import Cluster
from aclweb.web.browse.charts import day_chart

LINES_SHOWN = 12


def shown(
    cluster: Cluster, found: Traffic, *, about: str, days_url: str, is_alone: bool = True
) -> dict[str, Any]:
    """Return what the card needs; one query, and none where it is part of another card, without how old the log is.

    about: "resource" names principals in its lines, "principal" names resources. days_url: of its use by day.
    """
    rows = []
    if found.denied or not found.permits_logged:
        rows.append(("denied", "deny", [denied for _, _, denied in found.days]))
    if found.permits_logged:
        rows.insert(0, ("permitted", "accent", [permitted for _, permitted, _ in found.days]))
    return {
        "traffic": found,
        "traffic_days_url": days_url,
        "traffic_freshness": freshness(cluster, found.load) if is_alone else None,
        "traffic_about": about,
        "traffic_lines": found.lines[:LINES_SHOWN],
        "traffic_more": max(0, len(found.lines) - LINES_SHOWN),
        "traffic_chart": day_chart([day for day, _, _ in found.days], rows),
    }
