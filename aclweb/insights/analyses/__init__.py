"""Which jobs over the logs can be asked for, how far is each, and what did it find?

Import from here: `JOBS`, `ask` and `cancel`, `progress_of`, `newest_of` and `of_address`, and the rows of a result.
"""

from aclweb.insights.analyses.asking import (
    EDIT,
    MOST_OPEN,
    Progress,
    TooManyOpen,
    ask,
    cancel,
    known_options,
    newest_of,
    of_address,
    progress_of,
    seen_of,
)
from aclweb.insights.analyses.beside import BESIDE, Candidate, candidates, names_of
from aclweb.insights.analyses.covered import Claim, claims_of, headline
from aclweb.insights.analyses.jobs import JOBS, AnalysisJob, Column, Kind, Option, ResultTable
from aclweb.insights.analyses.keeping import KEPT_FOR, MOST_KEPT, MOST_ROWS
from aclweb.insights.analyses.reading import acls_of, exported, found_in, values_of

__all__ = [
    "BESIDE",
    "EDIT",
    "JOBS",
    "KEPT_FOR",
    "MOST_KEPT",
    "MOST_OPEN",
    "MOST_ROWS",
    "AnalysisJob",
    "Candidate",
    "Claim",
    "Column",
    "Kind",
    "Option",
    "Progress",
    "ResultTable",
    "TooManyOpen",
    "acls_of",
    "ask",
    "cancel",
    "candidates",
    "claims_of",
    "exported",
    "found_in",
    "headline",
    "known_options",
    "names_of",
    "newest_of",
    "of_address",
    "progress_of",
    "seen_of",
    "values_of",
]
