"""Which tabs has the page of one resource, and what does each of them ask for?

Each tab is an address of its own, `?tab=acls`, and asks only for what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.db.models import OuterRef

from aclweb.acl.model import PatternType, Resource, ResourceType, number_of
from aclweb.acl.notation import binding_key
from aclweb.changes.queries import change_of_revision
from aclweb.clusters import Known
from aclweb.insights.denials import load_with_denials
from aclweb.insights.models import Load
from aclweb.insights.queries import usage_of
from aclweb.insights.readers import groups_used, last_reads
from aclweb.insights.traffic import Traffic, traffic_in
from aclweb.inventory import lists
from aclweb.inventory.access import ReaderGroups, groups_of_readers, readers_of
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.details import TYPE_SENTENCES, group_told
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster
from aclweb.web.browse import traffic_card, use_days
from aclweb.web.browse.insight_tabs import FEW_DENIALS, denials_shown, tabs_of
from aclweb.web.browse.resource_page import ResourcePage
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf
from aclweb.web.shell.paging import page_of

FIELD = "tab"
READERS_SHOWN = 12
REVISIONS_SHOWN = 12
MEMBERS_SHOWN = 25


@dataclass(frozen=True)
class Asked:
    """The resource that a page is about, and the moment.

    load: of the log, None without one; denials: how many groups of denials on the resource it holds.
    number: of the page that is asked for, of a tab whose list has pages.
    """

    cluster: Cluster
    moment: AsOf
    page: ResourcePage
    load: Load | None
    denials: int
    number: int

    @classmethod
    def of(cls, cluster: Cluster, moment: AsOf, page: ResourcePage, number: int) -> Self:
        """Return what the tabs ask about; one query."""
        return cls(cluster, moment, page, *load_with_denials(cluster, resource=page.access.resource), number)

    @property
    def resource(self) -> Resource:
        return self.page.access.resource

    def url(self, tab: str) -> str:
        """Return the address of a tab; the first one has that of the page."""
        page = links.resource(self.cluster, self.resource.resource_type, self.resource.name)
        return self.moment.kept_in(links.with_field(page, FIELD, "" if tab == "access" else tab))


def names_of(kind: ResourceType, *, has_access: bool) -> list[str]:
    """Return the tabs of a resource of this type, in order. has_access: whether anybody can do anything with it."""
    left_out = {
        "access": not has_access,
        "groups": kind is not ResourceType.TOPIC,
        "members": kind is not ResourceType.GROUP,
    }
    return [name for name in _WORDS if not left_out.get(name, False)]


def tab_asked(query: Mapping[str, str], names: Sequence[str]) -> str:
    """Return which of these tabs `?tab=` names; for any other word the first one."""
    asked = query.get(FIELD, "")
    return asked if asked in names else names[0]


def shown(asked: Asked, tab: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the tabs with their numbers, and what the tab shows."""
    numbers = {
        "acls": len(asked.page.access.bindings),
        "denials": asked.denials if asked.load is not None else None,
    }
    tabs = tabs_of({name: _WORDS[name] for name in names}, asked.url, numbers)
    return {"tabs": tabs, FIELD: tab, **(_SHOWN[tab](asked) if tab in _SHOWN else {})}


def _acls(asked: Asked) -> dict[str, Any]:
    listed = [*asked.page.acls, *asked.page.folded_acls_shown]
    keys = [binding_key(binding) for binding in listed]
    return {"uses": usage_of(asked.cluster, keys, load=asked.load)}


def _denied(asked: Asked) -> dict[str, Any]:
    """Return a page of denials; where they are few, with the traffic, which shows what was permitted before them."""
    found = denials_shown(asked.cluster, asked.load, asked.denials, asked.number, resource=asked.resource)
    return (
        found | _traffic(asked, is_alone=False)
        if asked.load is not None and asked.denials <= FEW_DENIALS
        else found
    )


def _groups(asked: Asked) -> dict[str, Any]:
    """Return a page of the readers of a topic, those by ACLs first, with their groups by ACLs and by the log."""
    able = readers_of(asked.page.access)
    read = last_reads(asked.load, asked.resource) if asked.load is not None else {}
    page = page_of([*able, *sorted(read.keys() - set(able))], asked.number, READERS_SHOWN)
    view = in_force(asked.cluster, asked.moment.past, just_read=True)
    used = groups_used(asked.load, list(page)) if asked.load is not None else {}
    declared = asked.moment.past.declared if asked.moment.past else None
    known = names_known(asked.cluster, ResourceType.GROUP, declared=declared)
    found = groups_of_readers(view, page)
    return {
        "readers": page,
        "reader_rows": [
            (each, each.principal in able, read.get(each.principal), used.get(each.principal, ()))
            for each in found
        ],
        "unlisted": _unlisted(view, found) if known.known is not Known.UNKNOWN else frozenset(),
        "permits_logged": asked.load is not None and asked.load.permits_seen,
        "groups_known": known,
    }


def _members(asked: Asked) -> dict[str, Any]:
    """Return a page of who was in the group when brokers last showed it, with the group's type."""
    group = group_told(asked.cluster, asked.resource.name)
    members = (group.members if group is not None else None) or []
    return {
        "group": group,
        "type_sentence": TYPE_SENTENCES.get(group.type, "") if group is not None else "",
        "members": page_of(members, asked.number, MEMBERS_SHOWN),
        "more_members": group.members_total - len(members) if group is not None else 0,
        "groups_known": names_known(asked.cluster, ResourceType.GROUP),
    }


def _unlisted(view: ClusterView, readers: Iterable[ReaderGroups]) -> frozenset[str]:
    """Return the groups that these ACLs name exactly and the last sync did not list."""
    exactly = {
        acl.resource_name
        for reader in readers
        for acl in reader.named
        if acl.pattern_type is PatternType.LITERAL and not acl.pattern.is_wildcard
    }
    return frozenset(name for name in exactly if not view.loaded.holds(ResourceType.GROUP, name))


def _traffic(asked: Asked, *, is_alone: bool = True) -> dict[str, Any]:
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
        **traffic_card.shown(cluster, found, about="resource", days_url=days_url, is_alone=is_alone),
        "configured": configured,
    }


def _history(asked: Asked) -> dict[str, Any]:
    """Return a page of the revisions that changed the ACLs that match it, each with the change that made it."""
    view = in_force(asked.cluster, asked.moment.past, just_read=True)
    found = lists.history_of(view, asked.resource, change=change_of_revision(OuterRef("pk")))
    return {
        "history": page_of(found, asked.number, REVISIONS_SHOWN),
        "resource_page": links.resource(asked.cluster, asked.resource.resource_type, asked.resource.name),
    }


_WORDS = {
    "access": "Access",
    "acls": "ACLs",
    "denials": "Denials",
    "groups": "Groups",
    "members": "Members",
    "traffic": "Traffic",
    "history": "History",
}
# What each shows beside the page itself; Access needs nothing more.
_SHOWN: Mapping[str, Callable[[Asked], dict[str, Any]]] = {
    "acls": _acls,
    "denials": _denied,
    "groups": _groups,
    "members": _members,
    "traffic": _traffic,
    "history": _history,
}
