"""What can be done with the ACLs chosen in the list? Remove them, clone them to principals, copy them to a cluster.

Each ends in a draft of the what-if, and nothing is requested here. They are posted, by the keys that the list gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.kafka import why_not_deletable
from aclweb.acl.model import AclBinding, number_of
from aclweb.acl.notation import binding_key
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView, in_force, reading_order
from aclweb.inventory.findings import pages as finding
from aclweb.web.drafts import MOST_AT_ONCE, MOST_LINES, Line, address_of, before_adding
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.typed_principal import read_principals

# The page names so many of the chosen ACLs; it holds all of them.
SHOWN = 10
# A title names one principal where it is not longer.
LONGEST_IN_TITLE = 100


class NoDraft(ValueError):
    """What was typed leads to no draft; the sentence says why."""


@dataclass(frozen=True)
class Made:
    """The ACLs of a draft on a cluster, without those in force there. there: how many of these were left out."""

    view: ClusterView
    bindings: tuple[AclBinding, ...]
    there: int


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask where the chosen ACLs go, `do=clone` or `copy`; once that is said, or for `do=remove`, lead to the draft."""
    cluster = access.cluster_or_404(request.user, slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    assert isinstance(request.user, User)  # login_required
    view = in_force(cluster)
    chosen = _chosen(view, request.POST.getlist("acl"))
    if not chosen:
        messages.error(request, "No ACL in force was chosen. Mark the ACLs in the list first.")
        return redirect("acls", slug=slug)
    do, faults = request.POST.get("do", ""), {}
    try:
        if do == "remove":
            going = removed(view, chosen)
            nothing = finding.may_all_go(view, going.bindings)
            return draft_of(request, going, op="remove", title=removal_title(len(going.bindings), nothing))
        if do == "clone":
            text = request.POST.get("principals", "")
            return draft_of(request, cloned(view, chosen, text), title=cloning_title(chosen, text))
        if do == "copy":
            made = _copied(request.user, slug, chosen, request.POST.get("to", ""))
            return draft_of(request, made, title=f"Copy {_acls(len(chosen))} from {cluster.name}")
    except NoDraft as error:
        if do == "remove":
            messages.error(request, str(error))
            return redirect("acls", slug=slug)
        faults[do] = str(error)
    context: dict[str, Any] = {
        "cluster": cluster,
        "chosen": chosen,
        "shown": chosen[:SHOWN],
        "more": max(0, len(chosen) - SHOWN),
        "keys": [binding_key(binding) for binding in chosen],
        "targets": access.clusters_to_request_on(request.user).exclude(pk=cluster.pk),
        "principals": request.POST.get("principals", ""),
        "to": request.POST.get("to", ""),
        # Not the dict itself: a template would take its own method `copy` for a fault.
        "clone_fault": faults.get("clone", ""),
        "copy_fault": faults.get("copy", ""),
    }
    return render_page(
        request, "browse/acls/chosen.html", None, context, section="acls", status=422 if faults else 200
    )


@login_required
@require_http_methods(["GET", "POST"])
def if_removed(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what removing the chosen ACLs would change, while they are being chosen: a part of the list's page."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return redirect("acls", slug=slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    view, keys = in_force(cluster), request.POST.getlist("acl")
    chosen = _chosen(view, keys)
    # Nothing is said of some of them.
    is_cut = len(keys) > MOST_LINES
    told = before_adding.BeforeAdding(is_too_much=True) if is_cut else before_adding.if_removed(view, chosen)
    context = {"removed": told, "chosen": chosen}
    return render(request, "browse/acls/_if_removed.html", context)


def _chosen(view: ClusterView, keys: Sequence[str]) -> tuple[AclBinding, ...]:
    """Return the ACLs in force with these keys, in the order of the list."""
    wanted = lists.acls_of_short_keys(view.cluster, keys[:MOST_LINES])
    return tuple(sorted((acl for acl in wanted if acl in view.index), key=reading_order))


def removed(view: ClusterView, chosen: Sequence[AclBinding]) -> Made:
    """Return the chosen ACLs that some tool can remove; raises NoDraft."""
    going = tuple(acl for acl in chosen if not why_not_deletable(acl))
    if not going:
        raise NoDraft("None of these ACLs can be removed by a tool that knows no newer words.")
    return Made(view, going, 0)


def cloned(view: ClusterView, chosen: Sequence[AclBinding], text: str) -> Made:
    """Return these ACLs for the principals that `text` names; raises NoDraft."""
    typed = read_principals(text, MOST_AT_ONCE)
    if typed.fault:
        raise NoDraft(typed.fault)
    if not typed.principals:
        raise NoDraft("Name a principal such as User:billing-svc, or several separated by commas.")
    if len(chosen) * len(typed.principals) > MOST_LINES:
        raise NoDraft(
            f"{len(chosen):,} ACLs for {len(typed.principals):,} principals are more than the {MOST_LINES:,} "
            "that a draft may have. Choose fewer."
        )
    return _new_in(view, [replace(acl, principal=who) for who in typed.principals for acl in chosen])


def removal_title(number: int, changes_nothing: bool) -> str:
    """Return the title that is proposed for a draft that removes so many ACLs."""
    if not changes_nothing:
        return f"Remove {_acls(number)}"
    return f"Remove {_acls(number)} that {'changes' if number == 1 else 'change'} nothing"


def cloning_title(chosen: Sequence[AclBinding], text: str) -> str:
    """Return the title that is proposed for a draft of these ACLs for the principals that `text` names."""
    principals = read_principals(text, MOST_AT_ONCE).principals
    whom = number_of(len(principals), "principal", "principals")
    if len(principals) == 1 and len(principals[0]) <= LONGEST_IN_TITLE:
        whom = principals[0]
    return f"Clone {_acls(len(chosen))} to {whom}"


def _acls(number: int) -> str:
    return number_of(number, "ACL", "ACLs")


def _copied(person: User, slug: str, chosen: Sequence[AclBinding], to: str) -> Made:
    target = access.clusters_to_request_on(person).exclude(slug=slug).filter(slug=to).first()
    if target is None:
        raise NoDraft("Choose a cluster on which you may request changes.")
    if target.revision is None:
        raise NoDraft(
            f"{target.name} has not been synced yet, so nobody can tell which of these ACLs it has."
        )
    return _new_in(in_force(target), chosen)


def _new_in(view: ClusterView, bindings: Sequence[AclBinding]) -> Made:
    new = tuple(dict.fromkeys(binding for binding in bindings if binding not in view.index))
    if not new:
        raise NoDraft(f"All of these ACLs are in force on {view.cluster.name} already.")
    return Made(view, new, sum(binding in view.index for binding in set(bindings)))


def draft_of(request: HttpRequest, made: Made, *, op: str = "add", title: str = "") -> HttpResponse:
    """Lead to the what-if on the cluster with these ACLs to add or to remove; raises NoDraft.

    title: what is proposed as the title of a request.
    """
    assert isinstance(request.user, User)  # login_required
    cluster = made.view.cluster
    lines = [Line(op, binding) for binding in made.bindings]
    address = address_of(lines, cluster=cluster, person=request.user)
    if not address:
        raise NoDraft("These ACLs are too long for one draft. Choose fewer.")
    if made.there:
        messages.info(
            request,
            f"{number_of(made.there, 'ACL is', 'ACLs are')} in force on {cluster.name} already, "
            "and not in this draft.",
        )
    return redirect(links.with_field(address, "title", title))
