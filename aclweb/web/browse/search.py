"""Where does this text occur: among the topics, groups, transactional ids, principals or ACLs of a cluster?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import ResourceType
from aclweb.inventory import lists
from aclweb.inventory.current import in_force
from aclweb.web.browse.palette import exact_place, questions_about
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_of

SHOWN = 8


@login_required
@require_GET
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the first finds of each kind, each with a link to all of them; a text that is one name leads to its page."""
    cluster = access.cluster_or_404(request.user, slug)
    text = request.GET.get("q", "")
    assert isinstance(request.user, User)  # login_required
    context: dict[str, Any] = {"cluster": cluster, "text": text, "search_text": text}
    if text.strip():
        view = in_force(cluster)
        if "all" not in request.GET and (place := exact_place(view, request.user, text)) is not None:
            return redirect(place.url)
        filters = lists.AclListFilters(text=text)
        context |= {
            "questions": questions_about(view, text),
            "topics": page_of(lists.list_names(view, ResourceType.TOPIC, text), 1, SHOWN),
            "groups": page_of(lists.list_names(view, ResourceType.GROUP, text), 1, SHOWN),
            "transactional_ids": page_of(
                lists.list_names(view, ResourceType.TRANSACTIONAL_ID, text), 1, SHOWN
            ),
            "principals": page_of(lists.list_principals(cluster, text), 1, SHOWN),
            "acls": page_of(lists.acls_in(view, filters), 1, SHOWN),
        }
    return render_page(request, "browse/search/results.html", None, context)
