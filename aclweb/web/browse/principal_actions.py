"""What can be done with one principal? The buttons of its page, and the menu of its row in the list.

The menu is a popover of the list; without scripts it is a page of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.inventory.access import principal_access
from aclweb.inventory.models import Cluster
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page, wants_part

LEAST_PRIVILEGE, GIVE, ITS_ACLS = "least-privilege", "give", "acls"


@dataclass(frozen=True)
class Action:
    """One thing to do. is_posted: by a form, which makes a draft at once. meaning: what the word leaves out."""

    name: str
    word: str
    url: str
    icon: str = ""
    is_posted: bool = False
    meaning: str = ""


def actions_of(
    cluster: Cluster, principal: str, *, has_acls: bool, may_request: bool, is_past: bool = False
) -> list[Action]:
    """Return what somebody may do with a principal, in the order of reading; of the past only questions.

    has_acls: whether ACLs name it. may_request: whether this person may ask for changes of the cluster.
    """
    named = links.encoded(name=principal)

    def page(name: str, query: str = named) -> str:
        return f"{reverse(name, args=[cluster.slug])}?{query}"

    found = [Action("ask", "Ask", page("explain", links.encoded(who=principal)), "message-question")]
    if is_past:
        return found
    if has_acls:
        found.append(Action(LEAST_PRIVILEGE, "Propose least privilege", page("least-privilege")))
        found.append(Action(ITS_ACLS, "All its ACLs", page("acls", links.encoded(principal=principal))))
    found.append(Action("compare", "Compare", page("principal-compare")))
    if has_acls and may_request:
        found.append(Action("clone", "Clone", page("principal-clone")))
        found.append(
            Action(
                "offboard",
                "Offboard",
                page("principal-offboard"),
                "flask",
                is_posted=True,
                meaning="A draft that removes all its ACLs; it says what the log shows that would be denied",
            )
        )
    found.append(Action(GIVE, "Give it access", page("what-if", links.encoded(principal=principal))))
    return found


@login_required
@require_GET
def menu(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what can be done with the principal of `?name=`."""
    cluster = access.cluster_or_404(request.user, slug)
    name = request.GET.get("name", "")
    if not name:
        raise Http404("A principal is named by ?name=, such as ?name=User:bob.")
    found = principal_access(cluster, name)
    context: dict[str, Any] = {
        "cluster": cluster,
        "principal": name,
        "access": found,
        "actions": actions_of(
            cluster,
            name,
            has_acls=bool(found.own),
            may_request=access.may(request.user, "request", cluster),
        ),
        "is_part": wants_part(request),
    }
    return render_page(
        request, "browse/principals/menu.html", "browse/principals/_menu.html", context, section="principals"
    )
