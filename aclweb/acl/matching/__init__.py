"""Which names, principals and addresses does an ACL match?

Import from here: how an authorizer reads ACLs (`matching_of`), patterns and names, sessions, hosts and
address ranges, GLOBs, DescribeAcls filters, and what no client can ever match.
"""

from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.matching.domination import DeniedTexts
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.matching.glob import (
    EVERYTHING,
    MANY,
    ONE,
    STEPS_TRIED,
    Shape,
    Verdict,
    covers,
    is_glob,
    sample_of,
    shape_of_glob,
    stranger_to,
)
from aclweb.acl.matching.globset import GlobSet
from aclweb.acl.matching.host_ranges import admits_all, compared, is_one_address, signatures
from aclweb.acl.matching.hosts import (
    UNRANGED,
    admits,
    in_range,
    names_an_interface,
    range_within,
    read_address,
    read_range,
)
from aclweb.acl.matching.names import SortedNames
from aclweb.acl.matching.patterns import (
    NO_PREFIXES,
    PrefixChain,
    code_units,
    empty_prefix_covers,
    glob_shape,
    shape_of,
    wildcard_covers,
)
from aclweb.acl.matching.sessions import (
    glob_is_for,
    host_shape,
    is_host_glob,
    is_principal_glob,
    part_shapes,
)
from aclweb.acl.matching.strategy import (
    WITH_GLOBS,
    Matching,
    comes_from,
    covers_name,
    is_for,
    matching_of,
    matching_of_either,
)
from aclweb.acl.matching.unmatchable import (
    is_address,
    nobodys,
    topic_fault,
    why_no_address,
    why_no_client,
    why_no_resource,
    why_no_topic,
    why_unmatchable,
)

__all__ = [
    "EVERYTHING",
    "MANY",
    "NO_PREFIXES",
    "ONE",
    "STEPS_TRIED",
    "UNRANGED",
    "WITH_GLOBS",
    "AclFilter",
    "DeniedTexts",
    "GlobSet",
    "Matching",
    "PrefixChain",
    "Shape",
    "SortedNames",
    "Verdict",
    "admits",
    "admits_all",
    "as_java_prints",
    "code_units",
    "comes_from",
    "compared",
    "covers",
    "covers_name",
    "empty_prefix_covers",
    "glob_is_for",
    "glob_shape",
    "host_shape",
    "in_range",
    "is_address",
    "is_for",
    "is_glob",
    "is_host_glob",
    "is_one_address",
    "is_principal_glob",
    "matching_of",
    "matching_of_either",
    "names_an_interface",
    "nobodys",
    "part_shapes",
    "range_within",
    "read_address",
    "read_range",
    "sample_of",
    "shape_of",
    "shape_of_glob",
    "signatures",
    "stranger_to",
    "topic_fault",
    "why_no_address",
    "why_no_client",
    "why_no_resource",
    "why_no_topic",
    "why_unmatchable",
    "wildcard_covers",
]
