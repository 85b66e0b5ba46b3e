"""Which tabs has the page of one principal, and what does each of them ask for?

Each tab is an address of its own, `?tab=denials`, and asks only for what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.urls import reverse

from aclweb.acl.model import ANY_USER, AclBinding, Operation, PermissionType, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.acl.principals import ANONYMOUS, Shape, Source, sources_of
from aclweb.insights.denials import load_with_denials
from aclweb.insights.models import Load
from aclweb.insights.principal_hosts import hosts_seen
from aclweb.insights.queries import usage_of
from aclweb.insights.readers import groups_used
from aclweb.insights.traffic import Traffic, traffic_in
from aclweb.inventory.access import PrincipalAccess, Reach
from aclweb.inventory.current import naming_rules
from aclweb.inventory.details import (
    expiry_words,
    groups_told_of,
    limits_words,
    mechanisms_words,
    principal_of_user,
    told_of_principal,
)
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster
from aclweb.web.browse import traffic_card, use_days
from aclweb.web.browse.insight_tabs import denials_shown, tabs_of
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf
from aclweb.web.shell.paging import page_of

FIELD = "tab"
ROWS_SHOWN = 15
ACLS_SHOWN = 24  # the list of ACLs has all of them
HOSTS_SHOWN = 8
GROUPS_SHOWN = 8
NAMES_SHOWN = 6  # of resources that share a row


@dataclass(frozen=True)
class FoldedReach:
    """Resources of one type with which a principal may do the same, through the same ACLs."""

    names: tuple[str, ...]
    resource_type: ResourceType
    operations: tuple[Operation, ...]
    determining: tuple[AclBinding, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        return self.names[:NAMES_SHOWN]

    @property
    def more(self) -> int:
        return len(self.names) - len(self.shown)


@dataclass(frozen=True)
class Asked:
    """The principal that a page is about, and the moment.

    load: of the log, None without one; denials: how many groups of denials of the principal it holds.
    number: of the page that is asked for, of a tab whose list has pages.
    """

    cluster: Cluster
    moment: AsOf
    found: PrincipalAccess
    load: Load | None
    denials: int
    number: int

    @classmethod
    def of(cls, cluster: Cluster, moment: AsOf, found: PrincipalAccess, number: int) -> Self:
        """Return what the tabs ask about; one query."""
        load, denials = load_with_denials(cluster, principal=found.principal)
        return cls(cluster, moment, found, load, denials, number)

    def url(self, tab: str) -> str:
        """Return the address of a tab; the first one has that of the page."""
        page = links.principal(self.cluster, self.found.principal)
        return self.moment.kept_in(links.with_field(page, FIELD, "" if tab == "access" else tab))


def tab_asked(query: Mapping[str, str]) -> str:
    """Return which tab `?tab=` names; for any other word the first one."""
    asked = query.get(FIELD, "")
    return asked if asked in _WORDS else "access"


def shown(asked: Asked, tab: str) -> dict[str, Any]:
    """Return the tabs with the number of denials, and what the tab shows."""
    numbers = {"denials": asked.denials if asked.load is not None else None}
    tabs = tabs_of(_WORDS, asked.url, numbers)
    return {"tabs": tabs, FIELD: tab, **_SHOWN[tab](asked)}


def _access(asked: Asked) -> dict[str, Any]:
    """Return what it can do, and through which ACLs."""
    acls = _in_order(asked.found)
    return {
        "page": page_of(_folded(asked.found.resources), asked.number, ROWS_SHOWN),
        "uses": usage_of(asked.cluster, [binding_key(acl) for acl in acls[:ACLS_SHOWN]], load=asked.load),
        "acls": acls[:ACLS_SHOWN],
        "acls_count": len(acls),
    }


def _denied(asked: Asked) -> dict[str, Any]:
    return denials_shown(
        asked.cluster, asked.load, asked.denials, asked.number, principal=asked.found.principal
    )


def _seen(asked: Asked) -> dict[str, Any]:
    """Return where and with which groups the log has seen the principal, and what its own ACLs name; four queries."""
    load, found = asked.load, asked.found
    hosts = hosts_seen(load, found.principal, HOSTS_SHOWN + 1) if load else ()
    used = groups_used(load, [found.principal]) if load else {}
    groups = used.get(found.principal, ())
    declared = asked.moment.past.declared if asked.moment.past else None
    return {
        "load": load,
        "hosts": hosts[:HOSTS_SHOWN],
        "more_hosts": len(hosts) > HOSTS_SHOWN,
        "acl_hosts": sorted({acl.host for acl in found.own}),
        "used_groups": groups,
        "members": groups_told_of(asked.cluster, [group.name for group in groups[:GROUPS_SHOWN]]),
        "groups_may": found.counts.get((ResourceType.GROUP, Operation.READ), 0),
        "groups_known": names_known(asked.cluster, ResourceType.GROUP, declared=declared),
    }


def _traffic(asked: Asked) -> dict[str, Any]:
    """Return the card of what the log shows."""
    name = asked.found.principal
    logged = traffic_in(asked.load, principal=name) if asked.load is not None else Traffic(None)
    days_url = use_days.address(asked.cluster, principal=name)
    return traffic_card.shown(asked.cluster, logged, about="principal", days_url=days_url)


@dataclass(frozen=True)
class NameRow:
    """Names that become the principal. shape: how they are written, "" where `none` says who it is instead."""

    client: str
    shape: str = ""
    names: str = ""
    rule: str = ""
    condition: str = ""
    none: str = ""


def _names(asked: Asked) -> dict[str, Any]:
    """Return which names of clients become the principal by the brokers' mapping rules of now; no query."""
    known = naming_rules(asked.cluster)
    principal = asked.found.principal
    context: dict[str, Any] = {"naming": known, "map_links": _map_links(asked)}
    if known is None:
        return context
    found = sources_of(principal, known.settings)
    rows = [
        *_name_rows("certificate", "No certificate subject becomes it.", found.certificates, found.why_not),
        *_name_rows("Kerberos", "No Kerberos name becomes it.", found.kerberos, found.why_not),
    ]
    if found.login:
        rows.append(
            NameRow(
                "other login", Shape.NAME.value, found.login, condition="By SASL, such as SCRAM or PLAIN."
            )
        )
        if principal == ANONYMOUS:
            rows.append(NameRow("no login", none="Any client of PLAINTEXT, or of TLS without a certificate."))
    return context | {"name_rows": rows}


def _limits(asked: Asked) -> dict[str, Any]:
    """Return what brokers list of the principal: as a SCRAM user, its quotas, and the tokens that it owns."""
    found = told_of_principal(asked.cluster, asked.found.principal)
    name = asked.found.principal.partition(":")[2]
    own = [each for each in found.limits if each.user == name]
    return {
        "told": found,
        "builder_is_known": bool(principal_of_user(asked.cluster, name or "-")),
        "credentials": [(each, mechanisms_words(each)) for each in found.credentials],
        "own_limits": [(each, limits_words(each)) for each in own],
        "other_limits": [(each, limits_words(each)) for each in found.limits if each not in own],
        "tokens": [(each, expiry_words(each)) for each in found.tokens],
    }


def _name_rows(client: str, none: str, found: tuple[Source, ...] | None, why_not: str) -> list[NameRow]:
    if found is None:
        return [NameRow(client, Shape.UNKNOWN.value, condition=why_not)]
    if not found:
        return [NameRow(client, none=none)]
    return [NameRow(client, each.shape.value, each.names, each.rule, each.condition) for each in found]


def _map_links(asked: Asked) -> list[tuple[str, str]]:
    """Return the addresses of the page that maps names, with the principal and the brokers' mapping rules filled in."""
    known = naming_rules(asked.cluster)
    rules = known.settings if known else None
    kinds = (
        ("certificates", "ssl", rules.ssl_rules if rules else None),
        ("Kerberos names", "kerberos", rules.kerberos_rules if rules else None),
    )
    page = reverse("mapping", args=[asked.cluster.slug])
    return [
        (word, f"{page}?{links.encoded(kind=kind, principal=asked.found.principal, rules=text or '')}")
        for word, kind, text in kinds
    ]


def _in_order(found: PrincipalAccess) -> list[AclBinding]:
    """Return the ACLs that match a principal in the order of a reader: what denies, its own, those for any user."""
    denies = sorted(found.denies, key=lambda acl: acl.principal == ANY_USER)
    allows = [acl for acl in (*found.own, *found.inherited) if acl.permission_type is not PermissionType.DENY]
    return [*denies, *allows]


def _folded(resources: Iterable[Reach]) -> list[FoldedReach]:
    """Return resources with those together that share type, operations and ACLs, each where its first one was."""
    alike: dict[tuple[object, ...], list[Reach]] = {}
    for reach in resources:
        key = (reach.resource.resource_type, reach.operations, reach.determining)
        alike.setdefault(key, []).append(reach)
    return [
        FoldedReach(
            tuple(reach.resource.name for reach in reaches),
            reaches[0].resource.resource_type,
            reaches[0].operations,
            reaches[0].determining,
        )
        for reaches in alike.values()
    ]


_WORDS = {
    "access": "Access",
    "denials": "Denials",
    "seen": "Hosts and groups",
    "traffic": "Traffic",
    "names": "Names",
    "limits": "SCRAM, quotas, tokens",
}
_SHOWN: Mapping[str, Callable[[Asked], dict[str, Any]]] = {
    "access": _access,
    "denials": _denied,
    "seen": _seen,
    "traffic": _traffic,
    "names": _names,
    "limits": _limits,
}
