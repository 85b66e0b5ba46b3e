"""Which names fit what is being typed into a field? Asked at each pause, so from memory.

A field says with `data-complete` which kind of names it takes; static/js/complete.js asks here and shows the list.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import ResourceType
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.logged_names import denied_principals, hosts_of
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.details import known_to_brokers
from aclweb.web.browse.palette import places_like

MOST = 12
LONGEST_ASKED = 300  # no name of a topic is longer, and a principal is found by less
PRINCIPAL, HOST, ANY = "principal", "host", "any"


@dataclass(frozen=True)
class Completion:
    """One name that fits, what is known of it in a few words, and the page that it leads to, if it leads to one."""

    name: str
    note: str = ""
    url: str = ""
    is_name: bool = True


@login_required
@require_GET
def names(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """List the names of one kind (`principal`, `host`, or a resource type such as `TOPIC`) that contain `?q=`.

    `any` lists pages, changes and names with their addresses. ?principal= puts the hosts first from which this
    principal is in the log.
    """
    cluster = access.cluster_or_404(request.user, slug)
    view = in_force(cluster)
    # No database holds a NUL, and PostgreSQL refuses to look for one.
    text = request.GET.get("q", "")[:LONGEST_ASKED].strip().replace("\0", "")
    if kind == ANY:
        assert isinstance(request.user, User)  # login_required
        places = places_like(view, request.user, text, MOST) if text else []
        found = [Completion(place.name, place.note, place.url, place.is_name) for place in places]
    elif kind in (PRINCIPAL, HOST) or kind in ResourceType.__members__:
        found = completions(view, kind, text, principal=request.GET.get("principal", ""))
    else:
        raise Http404(
            f"{kind!r} is no kind of names; use {PRINCIPAL}, {HOST}, {ANY} or a resource type such as TOPIC."
        )
    return render(request, "browse/_completions.html", {"completions": found})


def completions(
    view: ClusterView, kind: str, text: str, *, principal: str = "", most: int = MOST
) -> list[Completion]:
    """Return at most so many names of one kind that contain the text.

    kind: PRINCIPAL, HOST or the name of a ResourceType. principal: whose hosts in the log are first.
    """
    if kind == PRINCIPAL:
        return _principals(view, text, most)
    return (
        _hosts(view, text, principal, most)
        if kind == HOST
        else _resources(view, ResourceType[kind], text, most)
    )


def _principals(view: ClusterView, text: str, most: int) -> list[Completion]:
    counts, supers = view.loaded.by_principal, view.settings.super_users
    found = []
    for name in lists.principals_like(view, text, most):
        note = f"{counts[name]:,} ACL{'' if counts[name] == 1 else 's'}" if counts[name] else ""
        found.append(Completion(name, "super user" if name in supers else note))
    if len(found) < most and (load := current_load(view.cluster)) is not None:
        known = {each.name for each in found}
        names = lists.others_like(
            view, ("denied", load.pk), lambda: denied_principals(load), text, most + len(known)
        )
        found += [Completion(name, "denied in the log") for name in names if name not in known]
    if len(found) < most:
        known = {each.name for each in found}
        told = known_to_brokers(view)
        names = lists.others_like(
            view, ("listed by brokers", told.read), lambda: told.by_principal, text, most + len(known)
        )
        found += [Completion(name, "listed by brokers") for name in names if name not in known]
    return found[:most]


def _hosts(view: ClusterView, text: str, principal: str, most: int) -> list[Completion]:
    found: dict[str, str] = {}
    if principal and (load := current_load(view.cluster)) is not None:
        what = ("hosts", load.pk, principal)
        logged = lists.others_like(view, what, lambda: hosts_of(load, principal), text, most)
        found = dict.fromkeys(logged, "of this principal in the log")
    for host in lists.hosts_like(view, text, most):
        found.setdefault(host, "named by ACLs")
    return [Completion(host, note) for host, note in list(found.items())[:most]]


def _resources(view: ClusterView, kind: ResourceType, text: str, most: int) -> list[Completion]:
    missing = "named by ACLs, does not exist" if view.known(kind) is Known.ALL else "named by ACLs"
    return [
        Completion(name, "" if lists.is_listed(view, kind, name) else missing)
        for name in lists.resources_like(view, kind, text, most)
    ]
