"""Where does a draft of these lines open? For other features, which make a draft out of what they list."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse

from aclweb.accounts.models import User
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import keeping
from aclweb.web.drafts.draft import Line


def address_of(lines: Sequence[Line], *, cluster: Cluster, person: User) -> str:
    """Return the address of the what-if on the cluster with these lines, kept if they are too long for an address.

    Empty where they are too long to be kept, too.
    """
    path = reverse("what-if", args=[cluster.slug])
    fields = {"line": [line.as_text() for line in lines]}
    return keeping.place(path=path, content=keeping.Content(fields), cluster=cluster, person=person).address
