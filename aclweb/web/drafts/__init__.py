"""What would this edit change?

The what-if, comparisons of clusters, dates and drafts, and drafts that are kept. Import from here: `impact_rows`, the
rows and tiles that show an impact, `replayed`, what shows a replay, and how many lines a draft may have.
"""

from aclweb.web.drafts import impact_rows, replayed
from aclweb.web.drafts.draft import MOST_LINES

__all__ = ["MOST_LINES", "impact_rows", "replayed"]
