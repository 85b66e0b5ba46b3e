"""What is wrong, wasted or dangerous in the ACLs of a cluster, and what of it can simply go?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.notation import binding_key
from aclweb.inventory import current
from aclweb.inventory.findings import SEVERITIES, Finding, Findings, FindingsError, findings
from aclweb.web.acl_filters import Choice, Facet, with_field, without
from aclweb.web.htmx import render_page
from aclweb.web.paging import page_asked, slice_page

ROWS_A_PAGE = 25
# Rules that one draft removes: a reviewer reads each of them.
MOST_REMOVED = 200


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the findings that the address asks for, worst first."""
    cluster = access.cluster_or_404(request.user, slug)
    here = current.in_force(cluster)
    context: dict[str, Any] = {"cluster": cluster, "in_force": here}
    try:
        found = findings(here)
    except FindingsError as error:
        context["problem"] = str(error)
    else:
        context["under_way"] = found is None
        if found is not None:
            context |= _listed(request.GET, found)
            context["may_request"] = access.may(request.user, "request", cluster)
    return render_page(request, "findings/index.html", "findings/_list.html", context, section="insights")


def _listed(query: QueryDict, found: Findings) -> dict[str, Any]:
    wanted = {name: query.get(name, "") for name in ("severity", "rule", "text")}
    text = wanted["text"].casefold()
    rows = [
        row
        for row in found.rows
        if wanted["severity"] in ("", row.severity)
        and wanted["rule"] in ("", row.rule)
        and (text in row.acl.principal.casefold() or text in row.acl.resource_name.casefold())
    ]
    counted = Counter(row.severity for row in found.rows)
    return {
        "total": len(found.rows),
        "counted": [(severity, counted[severity]) for severity in SEVERITIES if counted[severity]],
        "page": slice_page(rows, page_asked(query), ROWS_A_PAGE),
        "facets": _facets(query, rows),
        "is_filtered": any(wanted.values()),
        "text": wanted["text"],
        "kept": [(name, wanted[name]) for name in ("severity", "rule") if wanted[name]],
        "removable": len(found.removable),
        "removed_keys": [binding_key(binding) for binding in found.removable[:MOST_REMOVED]],
    }


def _facets(query: QueryDict, rows: Sequence[Finding]) -> list[Facet]:
    titles = {row.rule: row.title for row in rows}
    rules = Counter(row.rule for row in rows)
    severities = Counter(row.severity for row in rows)
    return [
        Facet(
            "Severity",
            tuple(
                _choice(query, "severity", severity, severity.capitalize(), severities[severity])
                for severity in SEVERITIES
                if severities[severity]
            ),
        ),
        Facet("Rule", tuple(_rules(query, rules.most_common(), titles))),
    ]


def _rules(query: QueryDict, counted: Iterable[tuple[str, int]], titles: dict[str, str]) -> Iterable[Choice]:
    for rule, count in counted:
        yield _choice(query, "rule", rule, titles[rule], count)


def _choice(query: QueryDict, field: str, value: str, word: str, count: int) -> Choice:
    current = query.get(field) == value
    url = without(query, field) if current else with_field(query, field, value)
    return Choice(value, word, count, current, url)
