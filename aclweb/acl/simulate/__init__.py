"""What would an edit change, and for whom?

Import from here: `simulate`, the names it asks about, the impact as a value and as it is kept and shown,
and what a simulation may cost.
"""

from aclweb.acl.simulate.axes import EXACT, PATTERN, PREFIX
from aclweb.acl.simulate.budget import ON_A_SITE, Budget, TooCostly
from aclweb.acl.simulate.classes import Names
from aclweb.acl.simulate.differences import Differences, Name
from aclweb.acl.simulate.impact import LISTS, Effect, Group, Impact, Side
from aclweb.acl.simulate.meaning import Difference
from aclweb.acl.simulate.merging import whatever_the_acls
from aclweb.acl.simulate.readers import LITERAL_ONLY, WITHOUT_GLOBS, Reader
from aclweb.acl.simulate.simulation import simulate
from aclweb.acl.simulate.writing import entries_as_json, groups_as_json

__all__ = [
    "EXACT",
    "LISTS",
    "LITERAL_ONLY",
    "ON_A_SITE",
    "PATTERN",
    "PREFIX",
    "WITHOUT_GLOBS",
    "Budget",
    "Difference",
    "Differences",
    "Effect",
    "Group",
    "Impact",
    "Name",
    "Names",
    "Reader",
    "Side",
    "TooCostly",
    "entries_as_json",
    "groups_as_json",
    "simulate",
    "whatever_the_acls",
]
