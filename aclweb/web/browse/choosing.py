"""Which names does this field take? The known ones as a plain page, for browsers that run no scripts.

The button beside a field leads here with what the form holds; each name leads back with the field filled in, and so
does the text that was searched for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import ResourceType
from aclweb.acl.needs import GIVEN_ROLES
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.web.browse.completing import (
    HOST,
    PRINCIPAL,
    as_typed,
    completions,
    log_for,
    searched,
    with_last_seen,
)
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 50
# A longer list is narrowed down, not leafed through.
MOST = 1_000
_FIELD, _BACK = "field", "back"
_OF_THIS_PAGE = (_FIELD, _BACK, "q", "page", "choose", "csrfmiddlewaretoken")
_LABELS = {PRINCIPAL: "Principals", HOST: "Hosts"}


@dataclass(frozen=True)
class Form:
    """The form that a name is chosen for. kept: what its fields hold; field: the one to fill in."""

    cluster: Cluster
    field: str
    back: str
    kept: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Which names the field takes, as `completions` asks for them. Raises Http404 for an unknown field."""
        if self.field in (PRINCIPAL, HOST):
            return self.field
        if self.field == "name":
            return self.kept.get("type", "").removeprefix(links.ANY)
        return next((role.resource_type.name for role in GIVEN_ROLES if role.key == self.field), "")

    def address_with(self, name: str) -> str:
        """Return the address of the form with this name in its field; nothing is asked there yet."""
        place = reverse("home") if self.back == "home" else reverse(self.back, args=[self.cluster.slug])
        fields = {**self.kept, self.field: name, "choose": "1"}
        return f"{place}?{links.encoded(**fields)}"


@login_required
@require_GET
def names(request: HttpRequest, slug: str) -> HttpResponse:
    """List the names that contain what the field of a form holds, each with the way back to the form.

    ?field= is the field, ?back= the page of the form (home, explain, client-action); all else is kept. ?q= is
    searched for in place of what the field holds.
    """
    cluster = access.cluster_or_404(request.user, slug)
    given = request.GET.dict()
    back = given.get(_BACK, "")
    kept = {name: text for name, text in given.items() if name not in _OF_THIS_PAGE}
    form = Form(cluster, given.get(_FIELD, ""), back, kept)
    kind = form.kind
    if back not in ("home", "explain", "client-action") or not (
        kind in _LABELS or kind in ResourceType.__members__
    ):
        raise Http404("There is no such field to choose a name for.")
    asked = given.get("q", kept.get(form.field, ""))
    text, view = searched(asked), in_force(cluster)
    principal = kept.get(PRINCIPAL, "")
    load = log_for(view, kind, principal)
    found = completions(view, load, kind, text, principal=principal, most=MOST + 1)
    page = page_of(found[:MOST], page_asked(request.GET), ROWS_A_PAGE)
    typed = as_typed(view, load, kind, asked, found)
    context: dict[str, Any] = {
        "cluster": cluster,
        "heading": _LABELS.get(kind) or f"{kind.replace('_', ' ').capitalize()}s",
        "text": text,
        "page": page,
        "rows": [
            (each, form.address_with(each.name))
            for each in with_last_seen(load, kind, list(page.object_list))
        ],
        "typed": typed,
        "typed_address": form.address_with(typed.name) if typed else "",
        "has_more": len(found) > MOST,
        "most": MOST,
        "hidden": [*kept.items(), (_FIELD, form.field), (_BACK, back)],
        "back_address": form.address_with(kept.get(form.field, "")),
    }
    return render_page(request, "browse/choose.html", None, context)
