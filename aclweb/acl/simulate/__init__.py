"""What would an edit change, and for whom?

Import from here: `simulate`, the names it asks about, the impact as a value and as it is kept and shown,
and what a simulation may cost.
"""

from aclweb.acl.simulate.budget import ON_A_SITE, Budget, TooCostly
from aclweb.acl.simulate.classes import EXACT, PATTERN, PREFIX, Names
from aclweb.acl.simulate.differences import Decision, Differences, Name
from aclweb.acl.simulate.impact import LISTS, Effect, Impact, Side
from aclweb.acl.simulate.readers import LITERAL_ONLY, WITHOUT_GLOBS, Reader
from aclweb.acl.simulate.simulation import simulate

__all__ = [
    "EXACT",
    "LISTS",
    "LITERAL_ONLY",
    "ON_A_SITE",
    "PATTERN",
    "PREFIX",
    "WITHOUT_GLOBS",
    "Budget",
    "Decision",
    "Differences",
    "Effect",
    "Impact",
    "Name",
    "Names",
    "Reader",
    "Side",
    "TooCostly",
    "simulate",
]
