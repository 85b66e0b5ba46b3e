"""What would this edit change?

The what-if, comparisons of clusters, dates and drafts, and drafts that are kept. Import from here: `impact_rows`, the
rows and tiles that show an impact, `diff_files`, which give them as files, `before_adding`, what ACLs would change
while they are typed or chosen, `replayed`, what shows a replay, `folds`, which rows share a line, the `Line` of a
draft, how many it may have, and the address at which a draft of some lines opens.
"""

from aclweb.web.drafts import before_adding, diff_files, diff_log, diff_page, folds, impact_rows, replayed
from aclweb.web.drafts.draft import MOST_AT_ONCE, MOST_LINES, Line
from aclweb.web.drafts.opening import address_of

__all__ = [
    "MOST_AT_ONCE",
    "MOST_LINES",
    "Line",
    "address_of",
    "before_adding",
    "diff_files",
    "diff_log",
    "diff_page",
    "folds",
    "impact_rows",
    "replayed",
]
