"""What does a page show of an access diff: a page of folds, or the matrix that `?view=` asks for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_log, folds, matrix, small_matrices
from aclweb.web.drafts.impact_rows import ImpactRows
from aclweb.web.shell.paging import page_asked, page_of

MATRIX, SMALL = "matrix", "small"


def shown(
    rows: ImpactRows,
    asked: Mapping[str, str],
    folds_a_page: int,
    *,
    every: ImpactRows,
    log_of: Cluster,
    load: Load | None,
    replay: Replay | None = None,
    has_two_sides: bool = False,
) -> dict[str, Any]:
    """Return the page that is asked for: folds with the rows of those that are open and what a cluster's log holds
    of them, or the matrix; where two sides are compared also a small matrix for each principal.

    every: the rows of all kinds, of which the matrix is. load: the newest of this log, None where none was read.
    replay: the one that the page shows.
    """
    if asked.get("view") == MATRIX:
        whole = matrix.Matrix.of(every)
        page = page_of(whole, page_asked(asked), matrix.ROWS_A_PAGE)
        return {"diff_view": MATRIX, "diff": page, "columns": whole.columns}
    if asked.get("view") == SMALL and has_two_sides:
        found = small_matrices.SmallMatrices.of(every)
        matrices = page_of(found, page_asked(asked), small_matrices.MATRICES_A_PAGE)
        letters = {letter: operation for each in matrices for letter, operation in each.operations}
        return {"diff_view": SMALL, "diff": matrices, "letters": sorted(letters.items())}
    context = folds.shown(rows, asked, folds_a_page, every=every)
    listed = [row for fold in context["diff"] for row in fold.rows]
    heads = {fold.number: fold.places for fold in context["diff"] if fold.has_head}
    told = diff_log.beside(log_of, load, rows, listed, heads=heads, replay=replay)
    return context | {"diff_view": "", "diff_log": told}
