"""What do logged requests say about the ACLs: which are needed, which rights would suffice, why was one denied?

Import from here: `evidence_in`, which says whether a log may call an ACL unused, also where brokers are gone
(`with_gone`), and `why_permits_lack`, for a few days of it; `one_of` and `removable`, which say which ACLs may go;
`Settling`, which tells what settles each of many requests; `opens` and `last_covers`, without which ACLs a name is
open to everyone; `likely_cause` of a denial (`CauseKinds` of many), the `nearest` names that ACLs have (`NearNames` of
many), and the `smallest_set` of ACLs for several denials; and `propose`, the fewest rights that allow what a principal
was logged to use, with its `Choices` and `Used` requests; `LoggedRights` says which rights some ACLs give, and which of
these were used. `pair_sentence` says what one cluster uses and another does not.
"""

from aclweb.acl.logged.beside import pair_sentence
from aclweb.acl.logged.causes import Cause, CauseKinds, likely_cause
from aclweb.acl.logged.evidence import (
    ALL_HOURS,
    NO_PERMITS,
    BrokerDay,
    Evidence,
    Wanted,
    age_unknown,
    both,
    evidence_in,
    why_permits_lack,
    why_young_stays,
    with_gone,
)
from aclweb.acl.logged.fewest_acls import SmallestSet, smallest_set
from aclweb.acl.logged.generalising import HOSTS, NAMES, Choices
from aclweb.acl.logged.least_privilege import propose, propose_each
from aclweb.acl.logged.near_names import NearNames, nearest
from aclweb.acl.logged.needed import one_of, removable
from aclweb.acl.logged.open_names import LAST_COVER, last_covers, opens
from aclweb.acl.logged.proposal import Held, Proposal, Proposed, Used
from aclweb.acl.logged.rights import HeldRight, HeldRights, LoggedRights, Rights, rights_of
from aclweb.acl.logged.settling import Settling

__all__ = [
    "ALL_HOURS",
    "HOSTS",
    "LAST_COVER",
    "NAMES",
    "NO_PERMITS",
    "BrokerDay",
    "Cause",
    "CauseKinds",
    "Choices",
    "Evidence",
    "Held",
    "HeldRight",
    "HeldRights",
    "LoggedRights",
    "NearNames",
    "Proposal",
    "Proposed",
    "Rights",
    "Settling",
    "SmallestSet",
    "Used",
    "Wanted",
    "age_unknown",
    "both",
    "evidence_in",
    "last_covers",
    "likely_cause",
    "nearest",
    "one_of",
    "opens",
    "pair_sentence",
    "propose",
    "propose_each",
    "removable",
    "rights_of",
    "smallest_set",
    "why_permits_lack",
    "why_young_stays",
    "with_gone",
]
