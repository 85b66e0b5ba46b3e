"""Which topics, principals or ACLs does one cluster use and another not? A page, CSV and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import AclBinding, ResourceType
from aclweb.insights.analyses import acls_of
from aclweb.insights.use_beside import (
    ACLS,
    BOTH,
    KINDS,
    MOST_NAMES,
    ONLY_HERE,
    ONLY_THERE,
    OPEN,
    PRINCIPALS,
    RELATIONS,
    TOPICS,
    Beside,
    Compared,
    ComparedRows,
    OnSide,
    use_beside,
)
from aclweb.insights.window import WINDOWS
from aclweb.inventory.current import BINDING_COLUMNS
from aclweb.web.browse.acl_filters import Choice, with_field, without
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell import links
from aclweb.web.shell.downloads import WORDS, rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

KIND_WORDS = {TOPICS: "Topics", PRINCIPALS: "Principals", ACLS: "ACLs"}
DAYS: dict[str, int | None] = {**{str(days): days for days in WINDOWS}, "all": None}
_USUAL = "30"
EXPORTED = (
    "relation",
    "here",
    "here_permitted",
    "here_denied",
    "here_last_at",
    "there",
    "there_permitted",
    "there_denied",
    "there_last_at",
)
_EXPORTED_AT_ONCE = 500
MOST_ON_PAGE = 5_000
"""So many names or ACLs of each side are compared while somebody waits for a page; files have MOST_NAMES."""


@dataclass(frozen=True)
class ShownRow:
    """A row of the table. binding: of an ACL; None of a name.

    urls: of its page on either cluster, empty where there is none.
    """

    row: Compared
    binding: AclBinding | None
    urls: tuple[str, str]

    @property
    def sides(self) -> tuple[tuple[OnSide, str], ...]:
        return (self.row.here, self.urls[0]), (self.row.there, self.urls[1])


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show two clusters beside each other: `?other=` names the second, `?what=` and `?days=` what is compared."""
    cluster, visible = access.cluster_among_visible(request.user, slug)
    asked = request.GET
    kind = asked["what"] if asked.get("what") in KINDS else TOPICS
    days = asked["days"] if asked.get("days") in DAYS else _USUAL
    others = [each for each in visible if each.pk != cluster.pk]
    context: dict[str, Any] = {
        "cluster": cluster,
        "tab": "use",
        "view": "beside",
        "others": others,
        "kind": kind,
        "days": days,
        "kinds": [
            Choice(each, word, None, each == kind, with_field(asked, "what", each))
            for each, word in KIND_WORDS.items()
        ],
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
    }
    load = None
    if asked.get("other"):
        other = next((each for each in others if each.slug == asked["other"]), None)
        if other is None:
            raise Http404(f"There is no other cluster {asked['other']!r} that you may look at.")
        found = use_beside(
            cluster,
            other,
            kind=kind,
            days=DAYS[days],
            most=None if "format" in asked else MOST_ON_PAGE,
            just_read=True,
        )
        rows = _asked_rows(found, kind, asked)
        if "format" in asked:
            told = _told(found, kind, rows)
            columns = (*BINDING_COLUMNS, *EXPORTED) if kind == ACLS else ("name", *EXPORTED)
            return rows_file(told, name=f"use-{slug}-{other.slug}", ending=asked["format"], columns=columns)
        load = found.here.load
        context |= _result(found, kind, rows, asked)
    return render_page(
        request,
        "browse/insights/use_beside.html",
        None,
        {**context, "head": head(cluster, load)},
        section="insights",
    )


def _result(found: Beside, kind: str, rows: ComparedRows, asked: QueryDict) -> dict[str, Any]:
    page = page_of(rows, page_asked(asked), settings.ACLWEB_PAGE_SIZE)
    words = {
        ONLY_HERE: f"Only {found.here.cluster.name}",
        ONLY_THERE: f"Only {found.there.cluster.name}",
        BOTH: "Both",
        OPEN: "Cannot tell",
    }
    shown = asked.get("show", "")
    every = Choice("", "All", len(found.rows), shown not in RELATIONS, without(asked, "show"))
    return {
        "found": found,
        "most_in_files": MOST_NAMES,
        "sides": (found.here, found.there),
        "other": found.there.cluster,
        "page": page,
        "rows": _shown(found, kind, page),
        "text": asked.get("q", ""),
        "relations": [
            every,
            *(
                Choice(each, words[each], found.count(each), shown == each, with_field(asked, "show", each))
                for each in RELATIONS
            ),
        ],
        "only_here": found.count(ONLY_HERE),
        "only_there": found.count(ONLY_THERE),
        "both": found.count(BOTH),
        "open": found.count(OPEN),
        "files": [(word, with_field(asked, "format", ending)) for ending, word in WORDS.items()],
        "kept": [(name, value) for name, value in asked.items() if name in ("other", "what", "days", "show")],
    }


def _asked_rows(found: Beside, kind: str, asked: QueryDict) -> ComparedRows:
    shown, part = asked.get("show", ""), asked.get("q", "").casefold()
    rows = found.rows
    if shown in RELATIONS:
        rows = rows.only(relation == shown for relation in rows.relations)
    # An ACL has no name to look in.
    if part and kind != ACLS:
        rows = rows.only(part in name.casefold() for name in rows.names)
    return rows


def _shown(found: Beside, kind: str, page: Page[Compared]) -> list[ShownRow]:
    clusters = (found.here.cluster, found.there.cluster)
    # Each is in force on one of the clusters, and a key stands for the same ACL on any.
    acls = acls_of(clusters, [row.name for row in page.object_list]) if kind == ACLS else {}
    address = {
        TOPICS: lambda cluster, name: links.resource(cluster, ResourceType.TOPIC, name),
        PRINCIPALS: links.principal,
        ACLS: lambda *_: "",
    }[kind]
    return [
        ShownRow(row, acls.get(row.name), (address(clusters[0], row.name), address(clusters[1], row.name)))
        for row in page.object_list
    ]


def _told(found: Beside, kind: str, rows: ComparedRows) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file.

    What nobody can tell is null; so is a number of what is absent, and the one that is not of an ACL's permission.
    """
    clusters = (found.here.cluster, found.there.cluster)
    for start in range(0, len(rows), _EXPORTED_AT_ONCE):
        some = rows[start : start + _EXPORTED_AT_ONCE]
        acls = acls_of(clusters, some.names) if kind == ACLS else {}
        for row in some:
            named = acls[row.name].as_dict() if kind == ACLS else {"name": row.name}
            values = (row.relation, *_values(row.here), *_values(row.there))
            yield named | dict(zip(EXPORTED, values, strict=True))


def _values(side: OnSide) -> tuple[str, int | None, int | None, str | None]:
    last_at = side.used.last_at.isoformat(" ", "seconds") if side.used.last_at else None
    return side.state, side.permitted, side.denied, last_at
