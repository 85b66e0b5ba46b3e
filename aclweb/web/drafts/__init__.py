"""What would this edit change?

The what-if, comparisons of clusters, dates and drafts, and drafts that are kept. Import from here: `impact_rows`, the
rows and tiles that show an impact, `diff_files`, which give them as files, `replayed`, what shows a replay, the `Line`
of a draft and how many it may have.
"""

from aclweb.web.drafts import diff_files, impact_rows, replayed
from aclweb.web.drafts.draft import MOST_LINES, Line

__all__ = ["MOST_LINES", "Line", "diff_files", "impact_rows", "replayed"]
