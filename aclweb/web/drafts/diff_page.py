"""What does a page show of an access diff: a page of folds, or of the matrix that `?view=matrix` asks for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_log, folds, matrix
from aclweb.web.drafts.impact_rows import ImpactRows
from aclweb.web.shell.paging import page_asked, page_of

MATRIX = "matrix"


def shown(
    rows: ImpactRows,
    asked: Mapping[str, str],
    folds_a_page: int,
    *,
    every: ImpactRows,
    log_of: Cluster,
    load: Load | None,
    replay: Replay | None = None,
) -> dict[str, Any]:
    """Return the page that is asked for: folds with the rows of those that are open and what a cluster's log holds
    of them, or the matrix.

    every: the rows of all kinds, of which the matrix is. load: the newest of this log, None where none was read.
    replay: the one that the page shows.
    """
    if asked.get("view") == MATRIX:
        whole = matrix.Matrix(every)
        page = page_of(whole, page_asked(asked), matrix.ROWS_A_PAGE)
        return {"diff_view": MATRIX, "diff": page, "columns": whole.columns}
    context = folds.shown(rows, asked, folds_a_page, every=every)
    listed = [row for fold in context["diff"] for row in fold.rows]
    told = diff_log.beside(log_of, load, rows, listed, replay=replay)
    return context | {"diff_view": "", "diff_log": told}
