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
from aclweb.insights.analyses.beside import BESIDE, Candidate, candidates
from aclweb.insights.analyses.covered import Claim, PairOfClusters, claims_of, headline, pairs_of
from aclweb.insights.analyses.jobs import JOBS, AnalysisJob, Column, Kind, Option, ResultTable
from aclweb.insights.analyses.keeping import KEPT_FOR, MOST_KEPT, MOST_ROWS
from aclweb.insights.analyses.reading import ON, acls_of, exported, found_in, values_of

__all__ = [
    "BESIDE",
    "EDIT",
    "JOBS",
    "KEPT_FOR",
    "MOST_KEPT",
    "MOST_OPEN",
    "MOST_ROWS",
    "ON",
    "AnalysisJob",
    "Candidate",
    "Claim",
    "Column",
    "Kind",
    "Option",
    "PairOfClusters",
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
    "newest_of",
    "of_address",
    "pairs_of",
    "progress_of",
    "seen_of",
    "values_of",
]
