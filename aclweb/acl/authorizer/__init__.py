"""Is this request allowed, why, and what would change the answer?

Import from here: `AclIndex`, `authorize` (with all findings), `decide` (fast), `explain`, near misses and
smallest fixes, and the answer for a host that nobody gave.
"""

from aclweb.acl.authorizer.answers import (
    BY_NOT_ASKED,
    BY_SUPER_USER,
    MAY_ALLOW,
    RESULTS,
    Answer,
    Basis,
    Result,
    Vote,
    answer_from,
    for_operation,
    settle_known,
    vote_of,
    vote_on,
)
from aclweb.acl.authorizer.any_host import (
    HostAnswer,
    HostPart,
    HostRegion,
    HostResult,
    decide_elsewhere,
    decide_for_any_host,
    divide_hosts,
    part_words,
    places_words,
    result_for_any_host,
)
from aclweb.acl.authorizer.broker_log import reported_acl
from aclweb.acl.authorizer.by_type import HARDCODE
from aclweb.acl.authorizer.caveats import beyond_acls, edit_caveats
from aclweb.acl.authorizer.column_bytes import columns_from_bytes, columns_to_bytes
from aclweb.acl.authorizer.column_changes import columns_after
from aclweb.acl.authorizer.column_index import ColumnIndex
from aclweb.acl.authorizer.columns import AclColumns
from aclweb.acl.authorizer.decision import (
    Decision,
    answer_given,
    authorize,
    decide,
    findings_for,
    may_turn,
)
from aclweb.acl.authorizer.explanation import Explanation, explain
from aclweb.acl.authorizer.findings import Finding
from aclweb.acl.authorizer.glob_table import GlobSlot, GlobTable
from aclweb.acl.authorizer.hazards import BELOW_ASTERISK, UNPARSABLE_PRINCIPAL, hazards_of
from aclweb.acl.authorizer.host_regions import choose_addresses, joined_regions, region_tree
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.lists import WriteList, whole_list
from aclweb.acl.authorizer.mask_table import Cover, MaskTable, Slot
from aclweb.acl.authorizer.masks import ALL_BITS, DENY_SHIFT, IMPLIED, MAYBE_SHIFT, mask_of
from aclweb.acl.authorizer.near_misses import PARTS, NearMiss, Tick, fits, ticks
from aclweb.acl.authorizer.remedies import smallest_fix
from aclweb.acl.authorizer.scan_order import in_scan_order
from aclweb.acl.authorizer.shelf import ResourceShelf

__all__ = [
    "ALL_BITS",
    "BELOW_ASTERISK",
    "BY_NOT_ASKED",
    "BY_SUPER_USER",
    "DENY_SHIFT",
    "HARDCODE",
    "IMPLIED",
    "MAYBE_SHIFT",
    "MAY_ALLOW",
    "PARTS",
    "RESULTS",
    "UNPARSABLE_PRINCIPAL",
    "AclColumns",
    "AclIndex",
    "Answer",
    "Basis",
    "ColumnIndex",
    "Cover",
    "Decision",
    "Explanation",
    "Finding",
    "GlobSlot",
    "GlobTable",
    "HostAnswer",
    "HostPart",
    "HostRegion",
    "HostResult",
    "MaskTable",
    "NearMiss",
    "ResourceShelf",
    "Result",
    "Slot",
    "Tick",
    "Vote",
    "WriteList",
    "answer_from",
    "answer_given",
    "authorize",
    "beyond_acls",
    "choose_addresses",
    "columns_after",
    "columns_from_bytes",
    "columns_to_bytes",
    "decide",
    "decide_elsewhere",
    "decide_for_any_host",
    "divide_hosts",
    "edit_caveats",
    "explain",
    "findings_for",
    "fits",
    "for_operation",
    "hazards_of",
    "in_scan_order",
    "joined_regions",
    "mask_of",
    "may_turn",
    "part_words",
    "places_words",
    "region_tree",
    "reported_acl",
    "result_for_any_host",
    "settle_known",
    "smallest_fix",
    "ticks",
    "vote_of",
    "vote_on",
    "whole_list",
]
