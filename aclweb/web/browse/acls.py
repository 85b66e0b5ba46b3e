"""Which ACLs match these filters? The address has the filters, so a list can be sent to somebody."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.insights.coverage import freshness
from aclweb.insights.queries import usage_of
from aclweb.insights.requests import days_of
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists import AclListFilters
from aclweb.web.browse import acl_columns, acl_filters, acl_keys, acl_lenses, acl_rows, saved_views
from aclweb.web.browse.acl_filters import Choice
from aclweb.web.shell import as_of, exporting
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import SIZES, keep_size, page_asked, page_of, size_asked

# More commands than this are a file and not a text for the clipboard.
MOST_COPIED = 2_000
# Days of the log of which a row shows how much its ACL was used.
DAYS_DRAWN = 14


@login_required
@require_GET
@as_of.tells_wrong_moments
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the ACLs, a page at a time, with the counts that filter further."""
    cluster = access.cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    if "add" in request.GET:
        return redirect(request.path + acl_filters.with_typed(request.GET))
    if acl_columns.CHOSEN in request.GET:
        return redirect(request.path + acl_columns.with_chosen(request.GET))
    moment = as_of.read(request, cluster)
    view = in_force(cluster, moment.past, just_read=True)
    read, faults = acl_filters.read(request.GET)
    kept = acl_keys.kept(view, moment, request.GET, read)
    filters = kept.filters
    by, wrong = acl_lenses.asked(request.GET)
    faults = (*faults, *kept.faults, *wrong)
    context: dict[str, Any] = {
        "cluster": cluster,
        "as_of": moment,
        "listed": moment.revision or cluster.revision,
        "filters": filters,
        "chips": acl_filters.chips(request.GET, filters, kept.shown),
        "kept": [
            (name, value) for name, value in request.GET.items() if name not in ("page", "add", "month")
        ],
        "notes": kept.notes,
        "matches": acl_filters.matches(request.GET, filters),
        "facets": [
            *acl_filters.facets(request.GET, lists.acls_in(view, filters).facets),
            *acl_keys.facets(view, kept.findings, request.GET),
        ],
        "acls": len(lists.all_acls(view, filters)),
        "by": by,
        "view_query": (query := saved_views.query_of(request)),
        "views": saved_views.named(request.user, cluster, query),
        "lenses": acl_lenses.tabs(request.GET, by),
        "sizes": _sizes(request),
        "most_copied": MOST_COPIED,
        "exports": _exports(cluster.slug, request.GET),
        # An ACL of the past can be gone: nothing is chosen for a what-if there.
        "may_request": not moment.is_past and access.may(request.user, "request", cluster),
    }
    context |= (
        _groups(request, view, filters, by, faults) if by else _rows(request, view, moment, kept, faults)
    )
    response = render_page(
        request, "browse/acls/list.html", "browse/acls/_acls.html", context, section="acls"
    )
    keep_size(request, response)
    return response


def _rows(
    request: HttpRequest,
    view: ClusterView,
    moment: as_of.AsOf,
    kept: acl_keys.Kept,
    faults: tuple[str, ...],
) -> dict[str, Any]:
    """Return what the table of ACLs shows."""
    cluster, load = view.cluster, kept.load
    filters, faults = acl_columns.in_order(load, request.GET, kept.filters, faults)
    page = page_of(lists.acls_in(view, filters), page_asked(request.GET), size_asked(request))
    uses = usage_of(cluster, [row.key for row in page.object_list], load=load, evidence=kept.evidence)
    window = days_of(load, DAYS_DRAWN) if load is not None else []
    rows = acl_rows.shown(page.object_list, uses, cluster, moment, window)
    shown, wrong = acl_columns.asked(request.GET)
    columns = acl_columns.columns(request.GET, shown, is_past=moment.is_past)
    return {
        "faults": (*faults, *wrong),
        "page": page,
        "rows": rows,
        "columns": columns,
        "column_choices": acl_columns.choices(shown),
        "shows_load": any(column.name == "load" for column in columns),
        "told": acl_rows.told_of(rows),
        "days_drawn": len(window),
        "freshness": freshness(cluster, load),
    }


def _groups(
    request: HttpRequest, view: ClusterView, filters: AclListFilters, by: str, faults: tuple[str, ...]
) -> dict[str, Any]:
    """Return what the table of groups shows."""
    sort, wrong = acl_lenses.sort_asked(request.GET)
    groups = lists.grouped_acls(view, filters, by, sort)
    page = page_of(groups, page_asked(request.GET), size_asked(request))
    return {
        "faults": (*faults, *wrong),
        "page": page,
        "sorts": acl_lenses.sorts(request.GET, sort),
        "rows": acl_lenses.rows(request.GET, view, by, page.object_list),
    }


@login_required
@require_GET
@as_of.tells_wrong_moments
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give every ACL that the filters of the list let through, as a file; `?format=` names its notation.

    Where not all of it can be given, the list says so, and nothing is given.
    """
    cluster = access.cluster_or_404(request.user, slug)
    format = request.GET.get("format", "csv")
    notation = exporting.NOTATIONS.get(format)
    if notation is None:
        raise Http404(f"There is no format {format!r}.")
    moment = as_of.read(request, cluster)
    view = in_force(cluster, moment.past, just_read=True)
    read, wrong = acl_filters.read(request.GET)
    # What nobody can tell of an ACL takes it out of the list, and so out of its export.
    kept = acl_keys.kept(view, moment, request.GET, read)
    filters, _ = acl_columns.in_order(kept.load, request.GET, kept.filters, ())
    bindings = lists.all_acls(view, filters)
    listed = f"{reverse('acls', args=[slug])}?{_filters_of(request.GET)}"
    if wrong or kept.faults or view.revision is None:
        return redirect(listed)
    reason = exporting.why_not(bindings, format, view.settings)
    if reason is not None:
        messages.error(request, f"No {notation.word} was made: {reason}")
        return redirect(listed)
    name = f"acls-{cluster.slug}-revision-{view.revision.number}"
    return exporting.acls_file(bindings, format, view.settings, name)


def _sizes(request: HttpRequest) -> list[Choice]:
    """Return the sizes that a page can have, as links."""
    now = size_asked(request)
    return [
        Choice(
            str(size), str(size), None, size == now, acl_filters.with_field(request.GET, "rows", str(size))
        )
        for size in SIZES
    ]


def _exports(slug: str, query: QueryDict) -> dict[str, str]:
    """Return the address of all that the filters let through, for each notation."""
    kept = _filters_of(query)
    address = reverse("acls-export", args=[slug])
    return {
        notation.ending: f"{address}?{kept}{'&' if kept else ''}format={format}"
        for format, notation in exporting.NOTATIONS.items()
    }


def _filters_of(query: QueryDict) -> str:
    """Return the query of the list without what is not a filter."""
    kept = query.copy()
    for name in ("page", "rows", "add", "format", acl_lenses.FIELD):
        kept.pop(name, None)
    return kept.urlencode()
