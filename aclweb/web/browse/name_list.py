"""Which topics, groups or transactional ids are there: who may use them, who did, and whose are they?"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import NOUNS, ResourceType
from aclweb.clusters import Known
from aclweb.insights.coverage import freshness
from aclweb.insights.current import current_load
from aclweb.insights.last_seen import last_seen
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.details import groups_told_of
from aclweb.inventory.lists import LazyRows, OwnerBook, names_known
from aclweb.web.browse import name_columns
from aclweb.web.browse.acl_filters import Choice, with_fields
from aclweb.web.browse.resource_page import LISTED
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

_SOURCE = "from"
_SOURCE_WORDS = {"all": "All", "brokers": "Listed by brokers", "acls": "Named by ACLs alone"}


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List topics, or with `?type=` groups or transactional ids; `?sort=` says by which column."""
    cluster = access.cluster_or_404(request.user, slug)
    kind = LISTED.get(request.GET.get("type", ""), ResourceType.TOPIC)
    text, sort = request.GET.get("q", ""), request.GET.get("sort", "")
    view = in_force(cluster)
    load = current_load(cluster)
    owners = OwnerBook(cluster, kind.name)
    source = _source(request.GET, view, kind)
    fault = name_columns.fault_of(sort, kind, load)
    found = name_columns.in_order(
        view,
        kind,
        lists.names_from(view, kind, source, text),
        "" if fault else sort,
        load=load,
        owners=owners,
        of=(source, text.casefold(), lists.list_of(view, kind)),
    )
    rows = LazyRows(len(found), lambda start, stop: lists.name_rows(view, kind, found[start:stop]))
    page = page_of(rows, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE)
    names = [row.name for row in page]
    told = groups_told_of(cluster, names) if kind is ResourceType.GROUP else {}
    context: dict[str, Any] = {
        "cluster": cluster,
        "kind": kind,
        "kinds": LISTED,
        "text": text,
        "sort": sort,
        "fault": fault,
        "source": source,
        "sources": _sources(request.GET, view, kind, source),
        "page": page,
        "rows": list(zip(page, name_columns.able_of(view, kind, names), strict=True)),
        "clear_url": with_fields(request.GET, {"q": ""}),
        "columns": name_columns.columns(
            request.GET,
            kind,
            NOUNS[kind][0].capitalize(),
            has_owners=bool(owners),
            has_log=load is not None,
            has_members=bool(told),
        ),
        "known": names_known(cluster, kind)
        if kind in (ResourceType.TOPIC, ResourceType.GROUP)
        else lists.transactional_ids_known(cluster),
        "told": told,
        "has_owners": bool(owners),
        "owners": {name: owned for name in names if (owned := owners.of(kind.name, name)) is not None},
        "load": load,
        "seen": last_seen(load, kind, names) if load is not None else {},
        "freshness": freshness(cluster, load),
    }
    return render_page(
        request, "browse/topics/list.html", "browse/topics/_names.html", context, section="topics"
    )


def _source(query: QueryDict, view: ClusterView, kind: ResourceType) -> str:
    """Return which names are listed: as `?from=` says, else of topics those that brokers list, where they do."""
    asked = query.get(_SOURCE, "")
    if asked in lists.SOURCES:
        return asked
    return "brokers" if kind is ResourceType.TOPIC and view.known(kind) is not Known.UNKNOWN else "all"


def _sources(query: QueryDict, view: ClusterView, kind: ResourceType, source: str) -> list[Choice]:
    """Return the sources as links, with their numbers of names; none where there is nothing to choose."""
    counts = {each: len(lists.names_from(view, kind, each)) for each in lists.SOURCES}
    if not (counts["brokers"] and counts["acls"]) and counts[source]:
        return []
    return [
        Choice(each, _SOURCE_WORDS[each], count, each == source, with_fields(query, {_SOURCE: each}))
        for each, count in counts.items()
    ]
