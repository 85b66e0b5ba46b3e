"""What can one principal do that another cannot? Two principals of a cluster side by side, at an address of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.inventory.access import RELATIONS, PrincipalsCompared, compared
from aclweb.inventory.current import in_force
from aclweb.web.browse.acl_filters import with_field
from aclweb.web.browse.insight_tabs import Tab
from aclweb.web.browse.name_check import knows_principal
from aclweb.web.shell.downloads import WORDS as FORMAT_WORDS
from aclweb.web.shell.downloads import rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of
from aclweb.web.shell.typed_principal import TypedPrincipal, holds_pem, read_principal

ROWS_SHOWN = 12
NAMES_SHOWN = 6  # of names that share a row
_COLUMNS = ("relation", "resource_type", "resource_name", "operations")
_WORDS = {
    "only-first": "Only the first",
    "only-second": "Only the second",
    "other-hosts": "Both, from different hosts",
    "both": "Both",
}


@dataclass(frozen=True)
class Side:
    """One of the two as it was typed. field: of the address."""

    field: str
    label: str
    typed: TypedPrincipal
    text: str


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Compare `?name=` with `?with=`; `?part=` says which rights are shown, `?format=` gives all as a file."""
    cluster = access.cluster_or_404(request.user, slug)
    sides = [_side(request, "name", "First principal"), _side(request, "with", "Second principal")]
    first, second = (side.typed.principal for side in sides)
    context: dict[str, Any] = {"cluster": cluster, "sides": sides, "first": first, "second": second}
    if first and second:
        view = in_force(cluster)
        found = compared(view, first, second)
        if "format" in request.GET:
            return rows_file(
                _rows(found),
                name=f"compared-{cluster.slug}",
                ending=request.GET["format"],
                columns=_COLUMNS,
                about=[cluster],
            )
        part = _part(request, found)
        page = page_of(found.rows[part], page_asked(request.GET), ROWS_SHOWN)
        context |= {
            "found": found,
            "unknown": [who for who in (first, second) if not knows_principal(view, who)],
            "tab": part,
            "tabs": [
                Tab(relation, _WORDS[relation], with_field(request.GET, "part", relation), count)
                for relation, count in found.counts.items()
            ],
            "page": page,
            "files": [(FORMAT_WORDS[end], with_field(request.GET, "format", end)) for end in FORMAT_WORDS],
            "names_shown": NAMES_SHOWN,
        }
    return render_page(
        request,
        "browse/principals/compare.html",
        None,
        context,
        section="principals",
        status=422 if any(side.typed.fault for side in sides) else 200,
    )


def _side(request: HttpRequest, field: str, label: str) -> Side:
    text = request.GET.get(field, "")
    typed = read_principal(text) if text else TypedPrincipal("")
    return Side(field, label, typed, "" if holds_pem(text) else text)


def _part(request: HttpRequest, found: PrincipalsCompared) -> str:
    """Return the relation that the address asks for; else the first one of which there is something."""
    asked = request.GET.get("part", "")
    return asked if asked in RELATIONS else next((each for each in RELATIONS if found.counts[each]), "both")


def _rows(found: PrincipalsCompared) -> Iterator[dict[str, Any]]:
    """Yield a row for each name on which the two stand alike in some operations."""
    for relation, rows in found.rows.items():
        for row in rows:
            operations = " ".join(operation.name for operation in row.operations)
            for name in row.names:
                yield dict(zip(_COLUMNS, (relation, row.resource_type.name, name, operations), strict=True))
