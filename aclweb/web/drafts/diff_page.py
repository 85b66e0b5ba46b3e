"""What does a page show of an access diff?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclweb.insights.models import Load
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_log, impact_rows
from aclweb.web.drafts.impact_rows import ImpactRows


def shown(
    rows: ImpactRows, asked: Mapping[str, str], rows_a_page: int, *, log_of: Cluster, load: Load | None
) -> dict[str, Any]:
    """Return the page of rows that is asked for, the row that is open, and what a cluster's log holds of them.

    load: the newest of this log, None where none was read.
    """
    context = impact_rows.shown(rows, asked, rows_a_page)
    return context | {"diff_log": diff_log.beside(log_of, load, rows, context["diff"].object_list)}
