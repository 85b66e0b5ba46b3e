"""Which rows of its access diff does a page show?"""

from __future__ import annotations

from typing import Any

from aclweb.web.drafts.impact_rows import ImpactRow


def shown_rows(page: Any) -> list[ImpactRow]:
    """Return the rows of all folds that are open. page: the answer of Django's test client."""
    return [row for fold in page.context["diff"] for row in fold.rows]
