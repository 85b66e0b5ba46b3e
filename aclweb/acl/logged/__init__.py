"""What do logged requests say about the ACLs: which rights would suffice?

Import from here: `propose`, the fewest rights that allow what a principal was logged to use, with its `Choices`
and `Used` requests.
"""

from aclweb.acl.logged.generalising import HOSTS, NAMES, Choices
from aclweb.acl.logged.least_privilege import propose
from aclweb.acl.logged.proposal import Held, Proposal, Proposed, Used
from aclweb.acl.logged.rights import Rights, rights_of

__all__ = [
    "HOSTS",
    "NAMES",
    "Choices",
    "Held",
    "Proposal",
    "Proposed",
    "Rights",
    "Used",
    "propose",
    "rights_of",
]
