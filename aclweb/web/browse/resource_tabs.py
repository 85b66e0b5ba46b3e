"""Which tabs has the page of one resource, and what does each of them ask for?

Each tab is an address of its own, `?tab=acls`, and asks only for what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from aclweb.acl.model import Resource, number_of
from aclweb.acl.notation import binding_key
from aclweb.insights.coverage import coverage
from aclweb.insights.denials import denials_in, load_with_denials
from aclweb.insights.models import Load
from aclweb.insights.queries import usage_of
from aclweb.insights.traffic import Traffic, traffic_in
from aclweb.inventory.models import Cluster
from aclweb.web.browse import traffic_card, use_days
from aclweb.web.browse.insight_tabs import Tab, since_in_force
from aclweb.web.browse.resource_page import ResourcePage
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf

FIELD = "tab"
DENIALS_SHOWN = 20


@dataclass(frozen=True)
class Asked:
    """The resource that a page is about, and the moment.

    load: of the log, None without one; denials: how many groups of denials on the resource it holds.
    """

    cluster: Cluster
    moment: AsOf
    page: ResourcePage
    load: Load | None
    denials: int

    @classmethod
    def of(cls, cluster: Cluster, moment: AsOf, page: ResourcePage) -> Self:
        """Return what the tabs ask about; one query."""
        return cls(cluster, moment, page, *load_with_denials(cluster, page.access.resource))

    @property
    def resource(self) -> Resource:
        return self.page.access.resource

    def url(self, tab: str) -> str:
        """Return the address of a tab; the first one has that of the page."""
        page = links.resource(self.cluster, self.resource.resource_type, self.resource.name)
        return self.moment.kept_in(links.with_field(page, FIELD, "" if tab == "access" else tab))


def tab_asked(query: Mapping[str, str], *, has_access: bool) -> str:
    """Return the name of the tab in `?tab=`; for any other word the first one. has_access: whether there is Access."""
    asked = query.get(FIELD, "")
    if asked in _WORDS and (asked != "access" or has_access):
        return asked
    return "access" if has_access else "acls"


def shown(asked: Asked, tab: str, *, has_access: bool) -> dict[str, Any]:
    """Return the tabs with their numbers, and what the tab shows."""
    numbers = {"acls": len(asked.page.access.bindings)}
    if asked.load is not None:
        numbers["denials"] = asked.denials
    tones = {"denials": "deny" if asked.denials else ""}
    tabs = [
        Tab(name, word, asked.url(name), numbers.get(name), tones.get(name, ""))
        for name, word in _WORDS.items()
        if name != "access" or has_access
    ]
    return {"tabs": tabs, FIELD: tab, **(_SHOWN[tab](asked) if tab in _SHOWN else {})}


def _acls(asked: Asked) -> dict[str, Any]:
    listed = [*asked.page.acls, *asked.page.folded_acls_shown]
    keys = [binding_key(binding) for binding in listed]
    return {"uses": usage_of(asked.cluster, keys, load=asked.load)}


def _denied(asked: Asked) -> dict[str, Any]:
    if asked.load is None or not asked.denials:
        return {"coverage": coverage(asked.cluster)}
    found = denials_in(
        asked.load,
        asked.cluster,
        resource=asked.resource,
        in_force_since=since_in_force(asked.cluster),
        number=asked.denials,
        just_read=True,
    )
    return {"denials": found, "denials_shown": found[:DENIALS_SHOWN]}


def _traffic(asked: Asked) -> dict[str, Any]:
    """Return the card of what the log shows, and how many of those who may do something did."""
    cluster, resource = asked.cluster, asked.resource
    found = traffic_in(asked.load, resource=resource) if asked.load is not None else Traffic(None)
    able = {
        row.principal
        for row in asked.page.access.rows
        if row.kind == "principal" and any(verdict.is_allowed_somewhere for verdict in row.verdicts)
    }
    configured = ""
    if able and found.permits_logged:
        used = len(able & found.principals)
        configured = (
            f"{used:,} of {number_of(len(able), 'principal', 'principals')} whom ACLs allow something "
            f"{'was' if used == 1 else 'were'} logged."
        )
    days_url = use_days.address(cluster, type=resource.resource_type.name, name=resource.name)
    return {
        **traffic_card.shown(cluster, found, about="resource", days_url=days_url),
        "configured": configured,
    }


_WORDS = {"access": "Access", "acls": "ACLs", "denials": "Denials", "traffic": "Traffic"}
# What each shows beside the page itself; Access needs nothing more.
_SHOWN: Mapping[str, Callable[[Asked], dict[str, Any]]] = {
    "acls": _acls,
    "denials": _denied,
    "traffic": _traffic,
}
