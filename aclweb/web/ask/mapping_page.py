"""Which principals do these certificates or Kerberos names become, and by which mapping rule?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.inventory.current import view as current
from aclweb.web.ask.mapping import EXAMPLE, MappingForm
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page, wants_part

# Servers and chat programs cut longer addresses.
LONGEST_LINK = 2_000


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what each name maps to; a POST saves nothing, mapping rules and names can be longer than an address."""
    cluster = access.cluster_or_404(request.user, slug)
    data = request.POST if request.method == "POST" else request.GET
    known = {name: data[name] for name in ("kind", "rules") if name in data}
    form = MappingForm(data) if "names" in data else MappingForm(initial=known)
    wanted = data.get("principal", "")
    context: dict[str, Any] = {
        "cluster": cluster,
        "form": form,
        "wanted": wanted,
        "example": f"{request.path}?{links.encoded(**EXAMPLE)}",
    }
    if form.is_bound and form.is_valid():
        view = current.in_force(cluster)
        fields = {name: str(data[name]) for name in (*form.fields, "principal") if data.get(name)}
        link = f"{request.path}?{links.encoded(**fields)}"
        clients = form.clients(view)
        context |= {
            "clients": clients,
            "become": sum(client.identity.principal == wanted for client in clients),
            "left_out": len(form.cleaned_data["names"]) - len(clients),
            "was_read": view.revision is not None,
            "link": link if len(link) <= LONGEST_LINK else "",
        }
    status = 422 if form.is_bound and not form.is_valid() and not wants_part(request) else 200
    page = render_page(
        request,
        "ask/mapping/detail.html",
        "ask/mapping/_mapping.html",
        context,
        section="principals",
        status=status,
    )
    if request.method == "POST" and context.get("link"):
        page["HX-Push-Url"] = context["link"]
    return page
