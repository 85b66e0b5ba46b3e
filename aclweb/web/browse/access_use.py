"""Which access does the matrix of a resource show: all that ACLs configure, what was used of it, or what was denied?

`?show=used` and `?show=denied` keep the principals of whom the log holds such requests on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from aclweb.acl.model import Resource
from aclweb.insights.resource_use import ResourceUse, use_of_resource
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, with_fields

FIELD = "show"
_WORDS = {"": "Configured", "used": "Used", "denied": "Denied"}


@dataclass(frozen=True)
class Shown:
    """What the matrix shows. show: "used" or "denied"; "" for all that is configured, which has no use."""

    show: str
    use: ResourceUse | None

    @property
    def only(self) -> frozenset[str] | None:
        """The principals whose rows are shown; None for all."""
        return self.use.principals if self.use is not None else None

    @property
    def is_known(self) -> bool:
        """Whether the log tells what is asked for."""
        return self.use is None or self.use.known

    @property
    def verb(self) -> str:
        return "permitted" if self.show == "used" else "denied"


def shown(query: Mapping[str, str], cluster: Cluster, resource: Resource) -> Shown:
    """Return what `?show=` asks for; any other word asks for what is configured."""
    show = query.get(FIELD, "")
    if show not in _WORDS or not show:
        return Shown("", None)
    return Shown(show, use_of_resource(cluster, resource, permitted=show == "used"))


def choices(query: QueryDict, now: Shown) -> list[Choice]:
    """Return the three as links, each to its first page."""
    plain = query.copy()
    plain.pop("all", None)
    return [
        Choice(name, word, None, name == now.show, with_fields(plain, {FIELD: name}))
        for name, word in _WORDS.items()
    ]
