"""What was used, denied or left unused of the names of each owner? All owners, or one's names; a page and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import ResourceType
from aclweb.insights.by_owner import NOBODY, NameUse, OwnerReport, OwnerRow, by_owner
from aclweb.insights.coverage import freshness
from aclweb.insights.window import WINDOWS
from aclweb.inventory.lists import names_known
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell.downloads import WORDS, rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

DAYS: dict[str, int | None] = {**{str(days): days for days in WINDOWS}, "all": None}
_USUAL = "30"

SORTS = {
    "permitted": "Most used",
    "denied": "Most denied",
    "others": "Most used by others",
    "use": "Most used by it",
    "dark": "Most unused topics",
    "unused": "Most unused ACLs",
}
NAME_SORTS = {"permitted": "Most used", "denied": "Most denied", "others": "Most used by others"}
EXPORTED = (
    "owner",
    "topics",
    "dark_topics",
    "permitted",
    "permitted_to_others",
    "denied",
    "principals",
    "acls",
    "unused_acls",
    "own_permitted",
    "own_names",
    "own_denied",
)
EXPORTED_NAMES = (
    "owner",
    "type",
    "name",
    "exists",
    "permitted",
    "permitted_to_others",
    "denied",
    "principals",
    "last_at",
)


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show a row for each owner, or with `?owner=` one for each name of it; `?format=` asks for a file instead."""
    cluster = access.cluster_or_404(request.user, slug)
    asked = request.GET
    days = asked.get("days", "")
    days = days if days in DAYS else _USUAL
    found = by_owner(cluster, days=DAYS[days])
    owner = found.of(asked["owner"]) if "owner" in asked else None
    if "owner" in asked and found.said and owner is None:
        raise Http404(
            f"Nobody is said to be the owner {asked['owner']!r} of a name that {slug} has or logged."
        )
    sorts = NAME_SORTS if owner else SORTS
    sort = asked.get("sort", "")
    sort = sort if sort in sorts else "permitted"
    if "format" in asked:
        return _file(found, owner, sort, name=f"owners-{slug}", ending=asked["format"])
    text = asked.get("q", "")
    context: dict[str, Any] = {
        "cluster": cluster,
        "head": head(cluster, found.load),
        "tab": "use",
        "view": "owners",
        "found": found,
        "owner": owner,
        "page": page_of(_rows(found, owner, sort, text), page_asked(asked), settings.ACLWEB_PAGE_SIZE),
        "text": text,
        "names_known": names_known(cluster, ResourceType.TOPIC),
        "freshness": freshness(cluster, found.load),
        "windows": [
            Choice(
                each,
                f"{each} days" if DAYS[each] else "All",
                None,
                each == days,
                with_field(asked, "days", each),
            )
            for each in DAYS
        ],
        "sorts": [
            Choice(each, word, None, each == sort, with_field(asked, "sort", each))
            for each, word in sorts.items()
        ],
        "files": [(word, with_field(asked, "format", ending)) for ending, word in WORDS.items()],
        "owners_url": reverse("owners", args=[slug]),
        "every_url": reverse("by-owner", args=[slug], query={"days": days}),
        "kept": [(name, value) for name, value in asked.items() if name in ("days", "sort", "owner")],
    }
    return render_page(request, "browse/insights/by_owner.html", None, context, section="insights")


def _rows(
    found: OwnerReport, owner: OwnerRow | None, sort: str, text: str = ""
) -> Sequence[OwnerRow] | Sequence[NameUse]:
    """Return the rows of the table, those of most of what is sorted by first. What nobody can tell counts as none."""
    part = text.casefold()
    if owner is not None:
        names = [each for each in owner.names if part in each.name.casefold()]
        return sorted(names, key=lambda each: (-getattr(each, sort), each.kind, each.name))
    rows = [row for row in found.rows if part in row.owner.casefold()]
    return sorted(rows, key=lambda row: (-(getattr(row, sort) or 0), row.owner == NOBODY, row.owner))


def _file(
    found: OwnerReport, owner: OwnerRow | None, sort: str, *, name: str, ending: str
) -> HttpResponseBase:
    rows = _rows(found, owner, sort)
    told = (_told(found, row) for row in rows)
    return rows_file(told, name=name, ending=ending, columns=EXPORTED_NAMES if owner else EXPORTED)


def _told(found: OwnerReport, row: OwnerRow | NameUse) -> dict[str, Any]:
    """Return a row of a file; null is what nobody can tell."""
    if isinstance(row, OwnerRow):
        values = (
            row.owner,
            row.topics,
            row.dark,
            row.permitted,
            row.others,
            row.denied,
            None if found.unknown else row.principals,
            row.acls,
            row.unused,
            row.use,
            row.used,
            row.refused,
        )
        return dict(zip(EXPORTED, values, strict=True))
    known = [None] * 3 if found.unknown else [row.permitted, row.others, len(row.principals)]
    permitted, others, principals = known
    last_at = row.last_at.isoformat(" ", "seconds") if row.last_at else None
    names = (row.owner, row.kind, row.name, row.exists)
    return dict(
        zip(EXPORTED_NAMES, (*names, permitted, others, row.denied, principals, last_at), strict=True)
    )
