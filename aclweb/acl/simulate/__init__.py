"""What would an edit change, and for whom?

Import from here: `simulate`, the names it asks about, the impact as a value and as it is kept and shown,
and what a simulation may cost.
"""

from aclweb.acl.simulate.axes import EXACT, PATTERN, PREFIX, NameAxis, NameClass, NameSet
from aclweb.acl.simulate.budget import (
    ON_A_SITE,
    ON_A_WORKER,
    ON_A_WORKER_WITHOUT_ACLS,
    Budget,
    TooCostly,
    Watch,
)
from aclweb.acl.simulate.classes import Names
from aclweb.acl.simulate.describing import Described, described, described_together
from aclweb.acl.simulate.digest import digest_of
from aclweb.acl.simulate.impact import LISTS, Effect, Group, Impact, Side
from aclweb.acl.simulate.keeping import of_entries, packed, trimmed, unpacked
from aclweb.acl.simulate.meaning import apart, meaning_of, sessions_in
from aclweb.acl.simulate.merging import whatever_the_acls
from aclweb.acl.simulate.readers import LITERAL_ONLY, WITHOUT_GLOBS, Reader
from aclweb.acl.simulate.sentences import (
    Phrase,
    Piece,
    depends_on_range,
    hosts_of,
    plain,
    where,
    which,
    which_of,
    who,
)
from aclweb.acl.simulate.sets import Places, Run, places_in, runs_of, set_of, set_of_runs, whole_of
from aclweb.acl.simulate.simulation import simulate
from aclweb.acl.simulate.warnings import said_of_two
from aclweb.acl.simulate.writing import digest_of_groups, entries_as_json, group_as_dict, groups_as_json

__all__ = [
    "EXACT",
    "LISTS",
    "LITERAL_ONLY",
    "ON_A_SITE",
    "ON_A_WORKER",
    "ON_A_WORKER_WITHOUT_ACLS",
    "PATTERN",
    "PREFIX",
    "WITHOUT_GLOBS",
    "Budget",
    "Described",
    "Effect",
    "Group",
    "Impact",
    "NameAxis",
    "NameClass",
    "NameSet",
    "Names",
    "Phrase",
    "Piece",
    "Places",
    "Reader",
    "Run",
    "Side",
    "TooCostly",
    "Watch",
    "apart",
    "depends_on_range",
    "described",
    "described_together",
    "digest_of",
    "digest_of_groups",
    "entries_as_json",
    "group_as_dict",
    "groups_as_json",
    "hosts_of",
    "meaning_of",
    "of_entries",
    "packed",
    "places_in",
    "plain",
    "runs_of",
    "said_of_two",
    "sessions_in",
    "set_of",
    "set_of_runs",
    "simulate",
    "trimmed",
    "unpacked",
    "whatever_the_acls",
    "where",
    "which",
    "which_of",
    "who",
    "whole_of",
]
