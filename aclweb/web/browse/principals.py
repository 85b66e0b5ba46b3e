"""What can one principal do, and through which ACLs?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import ANY_USER, AclBinding, Operation, PermissionType, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.insights.current import current_load
from aclweb.insights.principal_hosts import hosts_seen
from aclweb.insights.queries import usage_of
from aclweb.insights.readers import groups_used
from aclweb.insights.traffic import traffic
from aclweb.inventory import lists
from aclweb.inventory.access import PrincipalAccess, Reach, principal_access
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.web.browse import traffic_card, use_days
from aclweb.web.browse.insight_tabs import Tab
from aclweb.web.browse.name_check import knows_principal
from aclweb.web.shell import as_of, links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of
from aclweb.web.shell.typed_principal import read_principal

ROWS_SHOWN = 15
ACLS_SHOWN = 24  # the list of ACLs has all of them
HOSTS_SHOWN = 8
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


@login_required
@require_GET
@as_of.tells_wrong_moments
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one principal can do; its name is in `?name=`, where any letter survives."""
    cluster = access.cluster_or_404(request.user, slug)
    name = request.GET.get("name", "")
    if not name:
        raise Http404("A principal is named by ?name=, such as ?name=User:bob.")
    moment = as_of.read(request, cluster)
    typed = read_principal(name)
    if typed.note and not in_force(cluster, moment.past).loaded.naming(name):
        # No broker names a client so, and no ACL does: `bob` is meant as User:bob.
        address = moment.kept_in(links.principal(cluster, typed.principal))
        return redirect(f"{address}&{links.encoded(typed=name)}")
    found = principal_access(cluster, name, as_of=moment.past)
    tab = "seen" if request.GET.get("tab") == "seen" else "access"
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "principal": name,
        "note": read_principal(request.GET.get("typed", "")).note,
        "fault": "" if found.own else typed.fault,
        "is_known": knows_principal(in_force(cluster, moment.past), name),
        "access": found,
        # Who owned it then is not kept.
        "owned": None if moment.is_past else lists.owner_of(cluster, "PRINCIPAL", name),
        "may_draft": bool(found.own) and not moment.is_past and access.may(request.user, "request", cluster),
    }
    context["tab"], context["tabs"] = tab, _tabs(cluster, moment, name)
    context |= _seen(cluster, found) if tab == "seen" else _access(request, cluster, found)
    return render_page(
        request,
        "browse/principals/detail.html",
        "browse/principals/_resources.html",
        context,
        section="principals",
    )


def _tabs(cluster: Cluster, moment: as_of.AsOf, name: str) -> list[Tab]:
    page = links.principal(cluster, name)
    return [
        Tab("access", "Access", moment.kept_in(page), None),
        Tab("seen", "Hosts and groups", moment.kept_in(links.with_field(page, "tab", "seen")), None),
    ]


def _access(request: HttpRequest, cluster: Cluster, found: PrincipalAccess) -> dict[str, Any]:
    """Return what it can do, through which ACLs, and its traffic."""
    name, acls = found.principal, _in_order(found)
    logged = traffic(cluster, principal=name)
    return {
        "page": page_of(_folded(found.resources), page_asked(request.GET), ROWS_SHOWN),
        "uses": usage_of(cluster, [binding_key(acl) for acl in acls[:ACLS_SHOWN]], load=logged.load),
        "acls": acls[:ACLS_SHOWN],
        "acls_count": len(acls),
        **traffic_card.shown(
            cluster,
            logged,
            about="principal",
            days_url=use_days.address(cluster, principal=name),
        ),
    }


def _seen(cluster: Cluster, found: PrincipalAccess) -> dict[str, Any]:
    """Return where and with which groups the log has seen the principal, and what its own ACLs name; three queries."""
    load = current_load(cluster)
    hosts = hosts_seen(load, found.principal, HOSTS_SHOWN + 1) if load else ()
    used = groups_used(load, [found.principal]) if load else {}
    return {
        "load": load,
        "hosts": hosts[:HOSTS_SHOWN],
        "more_hosts": len(hosts) > HOSTS_SHOWN,
        "acl_hosts": sorted({acl.host for acl in found.own}),
        "used_groups": used.get(found.principal, ()),
        "groups_may": found.counts.get((ResourceType.GROUP, Operation.READ), 0),
    }


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
