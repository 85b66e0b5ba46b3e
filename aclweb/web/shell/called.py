"""How is a principal shown beside what people call it, where a page has room for a text alone?"""

from __future__ import annotations

from aclweb.inventory import lists
from aclweb.inventory.models import Cluster
from aclweb.web.shell.spelling import visible


def with_name(cluster: Cluster, principal: str) -> str:
    """Return `User:12 Billing`, hidden characters as code points; the principal alone where nobody gave it a name."""
    name = lists.called(cluster, principal)
    return f"{visible(principal)} {visible(name)}" if name else visible(principal)
