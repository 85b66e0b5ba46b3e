"""What would this edit change?

The what-if, comparisons of clusters, dates and drafts, and drafts that are kept. Import from here: `impact_rows`, the
rows and tiles that show an impact, `replayed`, what shows a replay, the `Line` of a draft and how many it may have.
"""

from aclweb.web.drafts import impact_rows, replayed
from aclweb.web.drafts.draft import MOST_LINES, Line

__all__ = ["MOST_LINES", "Line", "impact_rows", "replayed"]
