"""Which tabs has the page of one principal, and what does each of them ask for?

Each tab is an address of its own, `?tab=denials`, and asks only for what it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.urls import reverse

from aclweb.acl.model import ANY_USER, Operation, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.acl.principals import ANONYMOUS, Shape, Source, sources_of
from aclweb.insights.denials import load_with_denials
from aclweb.insights.models import Load
from aclweb.insights.principal_hosts import hosts_seen
from aclweb.insights.queries import Use, usage_of
from aclweb.insights.readers import groups_used
from aclweb.insights.traffic import Traffic, traffic_in
from aclweb.inventory.access import PrincipalAccess
from aclweb.inventory.current import ClusterView, naming_rules
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
from aclweb.web.browse.acl_filters import Choice
from aclweb.web.browse.insight_tabs import FEW_DENIALS, denials_shown, tabs_of
from aclweb.web.browse.principal_rows import ANY, DENY, OWN, SHOWS, rows_of, with_reaches
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf
from aclweb.web.shell.paging import page_of

FIELD = "tab"
# The tabs that are told in short beside the first one.
BESIDE = ("traffic", "seen", "names")
SQUARES = 24  # as which the ACLs of a principal are drawn, at most
ROWS_SHOWN = 12
OWN_COUNTED = 500  # whose own ACLs are more, of that principal nothing is counted
HOSTS_SHOWN = 8
GROUPS_SHOWN = 8


@dataclass(frozen=True)
class Asked:
    """The principal that a page is about, and the moment.

    load: of the log, None without one; denials: how many groups of denials of the principal it holds.
    number: of the page that is asked for, of a tab whose list has pages. show: of `principal_rows.SHOWS`, or all.
    """

    cluster: Cluster
    moment: AsOf
    found: PrincipalAccess
    load: Load | None
    denials: int
    number: int
    show: str
    view: ClusterView

    @classmethod
    def of(cls, view: ClusterView, moment: AsOf, found: PrincipalAccess, number: int, show: str) -> Self:
        """Return what the tabs ask about; one query."""
        load, denials = load_with_denials(view.cluster, principal=found.principal)
        return cls(view.cluster, moment, found, load, denials, number, show if show in SHOWS else "", view)

    def url(self, tab: str, *, show: str = "") -> str:
        """Return the address of a tab; the first one has that of the page."""
        page = links.principal(self.cluster, self.found.principal)
        page = links.with_field(page, FIELD, "" if tab == "access" else tab)
        return self.moment.kept_in(links.with_field(page, "show", show))


def tab_asked(query: Mapping[str, str]) -> str:
    """Return which tab `?tab=` names; for any other word the first one."""
    asked = query.get(FIELD, "")
    return asked if asked in _WORDS else "access"


def shown(asked: Asked, tab: str) -> dict[str, Any]:
    """Return the tabs with the number of denials, and what the tab shows."""
    numbers = {"denials": asked.denials if asked.load is not None else None}
    tabs = tabs_of(_WORDS, asked.url, numbers)
    return {"tabs": tabs, FIELD: tab, **_SHOWN[tab](asked)}


def beside(asked: Asked) -> dict[str, Any]:
    """Return what the log and the mapping rules tell of the principal, in short what three tabs say whole."""
    addresses = {f"{tab}_url": asked.url(tab) for tab in BESIDE}
    return {**_traffic(asked), **_seen(asked), **_names(asked), **addresses}


def _access(asked: Asked) -> dict[str, Any]:
    """Return what the ACLs that match it give it; at most three queries."""
    found = asked.found
    rows = rows_of(found, asked.show)
    page = page_of(rows, asked.number, ROWS_SHOWN)
    shown = with_reaches(list(page.object_list), found, asked.view)
    own = [binding_key(acl) for acl in found.own] if len(found.own) <= OWN_COUNTED else []
    wanted = [*own, *(binding_key(acl) for row in shown for acl in row.acls)]
    uses = usage_of(asked.cluster, wanted, load=asked.load)
    return {
        "page": page,
        "rows": shown,
        "uses": uses,
        "used": UsedRights.of([uses[key] for key in own]),
        "shows": [
            Choice(show, word, number, show == asked.show, asked.url("access", show=show))
            for show, word, number in _choices(found)
        ],
        "has_idle": any(right.idle for row in shown for right in row.rights),
        "is_capped": found.total > len(found.resources),
    }


def _choices(found: PrincipalAccess) -> list[tuple[str, str, int]]:
    every = (*found.own, *found.inherited)
    for_any = sum(acl.principal == ANY_USER for acl in every)
    return [
        ("", "All", len(every)),
        (OWN, "Own", len(every) - for_any),
        (ANY, "Any user", for_any),
        (DENY, "DENY", len(found.denies)),
    ]


@dataclass(frozen=True)
class UsedRights:
    """How many of a principal's own ACLs the log shows to be used. why_not: each reason why of `unknown` it cannot."""

    used: int
    unused: int
    unknown: int
    why_not: str
    window: str

    @classmethod
    def of(cls, uses: Sequence[Use]) -> Self | None:
        """Return it of the use of each of the ACLs; None without any."""
        if not uses:
            return None
        states = Counter(use.state for use in uses)
        reasons = [use.reason for use in uses if use.state == "cannot-tell"]
        window = next((use.window for use in uses if use.state == "unused"), "")
        return cls(states["used"], states["unused"], len(reasons), "; ".join(dict.fromkeys(reasons)), window)

    @property
    def total(self) -> int:
        return self.used + self.unused + self.unknown

    @property
    def squares(self) -> tuple[str, ...]:
        """What is drawn for each ACL; nothing where they are more than SQUARES."""
        each = ("used",) * self.used + ("cannot-tell",) * self.unknown + ("unused",) * self.unused
        return each if len(each) <= SQUARES else ()


def _denied(asked: Asked) -> dict[str, Any]:
    """Return a page of denials; where they are few, with the traffic, which shows what was permitted before them."""
    found = denials_shown(
        asked.cluster, asked.load, asked.denials, asked.number, principal=asked.found.principal
    )
    return (
        found | _traffic(asked, is_alone=False)
        if asked.load is not None and asked.denials <= FEW_DENIALS
        else found
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


def _traffic(asked: Asked, *, is_alone: bool = True) -> dict[str, Any]:
    """Return the card of what the log shows."""
    name = asked.found.principal
    logged = traffic_in(asked.load, principal=name) if asked.load is not None else Traffic(None)
    days_url = use_days.address(asked.cluster, principal=name)
    return traffic_card.shown(asked.cluster, logged, about="principal", days_url=days_url, is_alone=is_alone)


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
