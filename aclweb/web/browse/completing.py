"""Which names fit what is being typed into a field? Asked at each pause, so from memory.

A field says with `data-complete` which kind of names it takes; static/js/complete.js asks here and shows the list.
Beside a principal stands how many ACLs name it and when the log last saw it. A field with `data-typed` may ask about a
name that nothing knows: then the last of the list is the text as it is typed, with what is known of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.matching import as_java_prints, topic_fault
from aclweb.acl.model import NOUNS, AclError, ResourceType, number_of
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.last_seen import LastRequest
from aclweb.insights.logged_names import denied_principals, hosts_of
from aclweb.insights.logged_principals import last_requests
from aclweb.insights.models import Load
from aclweb.insights.principals import is_declared, is_logged
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.details import is_known_to_brokers, known_to_brokers
from aclweb.web.browse.palette import places_like
from aclweb.web.shell.typed_principal import read_principal

MOST = 12
LONGEST_ASKED = 300  # no name of a topic is longer, and a principal is found by less
PRINCIPAL, HOST, ANY = "principal", "host", "any"


@dataclass(frozen=True)
class Completion:
    """One name that fits, what is known of it in a few words, and the page that it leads to, if it leads to one.

    seen: when the log last saw a principal; None for other names, and without a log. is_typed: it is what was typed.
    """

    name: str
    note: str = ""
    url: str = ""
    is_name: bool = True
    seen: LastRequest | None = None
    is_typed: bool = False


@login_required
@require_GET
def names(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """List the names of one kind (`principal`, `host`, or a resource type such as `TOPIC`) that contain `?q=`.

    `any` lists pages, changes and names with their addresses. ?principal= puts the hosts first from which this
    principal is in the log. ?typed= adds the text itself, where it is none of the names.
    """
    cluster = access.cluster_or_404(request.user, slug)
    view = in_force(cluster)
    text = searched(request.GET.get("q", ""))
    if kind == ANY:
        assert isinstance(request.user, User)  # login_required
        places = places_like(view, request.user, text, MOST) if text else []
        found = [Completion(place.name, place.note, place.url, place.is_name) for place in places]
    elif kind in (PRINCIPAL, HOST) or kind in ResourceType.__members__:
        principal = request.GET.get("principal", "")
        load = log_for(view, kind, principal)
        found = completions(view, load, kind, text, principal=principal)
        if "typed" in request.GET and (typed := as_typed(view, load, kind, request.GET.get("q", ""), found)):
            found = [*found, typed]
        found = with_last_seen(load, kind, found)
    else:
        raise Http404(
            f"{kind!r} is no kind of names; use {PRINCIPAL}, {HOST}, {ANY} or a resource type such as TOPIC."
        )
    return render(request, "browse/_completions.html", {"completions": found})


def searched(typed: str) -> str:
    """Return what is searched for where this was typed. No database holds a NUL, and PostgreSQL refuses to look."""
    return typed[:LONGEST_ASKED].strip().replace("\0", "")


def log_for(view: ClusterView, kind: str, principal: str) -> Load | None:
    """Return the load of the log that knows something of such names; None without one."""
    return current_load(view.cluster) if kind == PRINCIPAL or (kind == HOST and principal) else None


def completions(
    view: ClusterView, load: Load | None, kind: str, text: str, *, principal: str = "", most: int = MOST
) -> list[Completion]:
    """Return at most so many names of one kind that contain the text.

    load: see `log_for`. kind: PRINCIPAL, HOST or the name of a ResourceType. principal: whose hosts in the log are
    first.
    """
    if kind == PRINCIPAL:
        return _principals(view, load, text, most)
    return (
        _hosts(view, load, text, principal, most)
        if kind == HOST
        else _resources(view, ResourceType[kind], text, most)
    )


def as_typed(
    view: ClusterView, load: Load | None, kind: str, typed: str, found: Sequence[Completion]
) -> Completion | None:
    """Return the name that a form would ask about as it is typed, with what knows it.

    found: the names that contain the text. None where it is one of them, and where no form takes the text.
    """
    text = searched(typed)
    # Of hosts alone do forms take spaces around them away; others begin or end with them, or are refused.
    if not text or text != (typed.strip() if kind == HOST else typed):
        return None
    if kind == PRINCIPAL:
        asked = _typed_principal(view, load, text)
    elif kind == HOST:
        asked = _typed_host(text)
    else:
        asked = _typed_resource(view, ResourceType[kind], text)
    if asked is None or any(each.name == asked.name for each in found):
        return None
    return replace(asked, is_typed=True)


def with_last_seen(load: Load | None, kind: str, found: Sequence[Completion]) -> list[Completion]:
    """Return the same, with when the log last saw each principal; at most three queries, and none for other names."""
    if load is None or kind != PRINCIPAL:
        return list(found)
    last = last_requests(load, [each.name for each in found])
    return [
        replace(each, seen=LastRequest(last.get(each.name), has_permits=load.permits_seen)) for each in found
    ]


def _principals(view: ClusterView, load: Load | None, text: str, most: int) -> list[Completion]:
    found = [Completion(name, _note_of(view, name)) for name in lists.principals_like(view, text, most)]
    if len(found) < most and load is not None:
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


def _note_of(view: ClusterView, principal: str) -> str:
    """Return what ACLs and the declarations have of a principal; empty for nothing."""
    acls = view.loaded.by_principal[principal]
    words = [number_of(acls, "ACL", "ACLs")] if acls else []
    return ", ".join(["super user", *words] if principal in view.settings.super_users else words)


def _hosts(view: ClusterView, load: Load | None, text: str, principal: str, most: int) -> list[Completion]:
    found: dict[str, str] = {}
    if load is not None:
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


def _typed_principal(view: ClusterView, load: Load | None, text: str) -> Completion | None:
    principal = read_principal(text).principal
    if not principal:
        return None
    if (
        is_declared(view, principal)
        or is_logged(load, principal)
        or is_known_to_brokers(view.cluster, principal)
    ):
        return Completion(principal, _note_of(view, principal))
    return Completion(principal, "no ACL names it" if load is None else "no ACL and no log line names it")


def _typed_host(text: str) -> Completion | None:
    try:
        return Completion(as_java_prints(text))
    except AclError:
        return None


def _typed_resource(view: ClusterView, kind: ResourceType, text: str) -> Completion | None:
    if kind is ResourceType.CLUSTER or (kind is ResourceType.TOPIC and topic_fault(text) is not None):
        return None
    noun, known = NOUNS[kind][0], view.known(kind)
    if known is Known.ALL:
        return Completion(text, f"no {noun} has this name")
    return Completion(
        text, f"aclweb sees no {noun} of this name" if known is Known.VISIBLE else "no ACL names it"
    )
