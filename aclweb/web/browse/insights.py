"""What do the authorizer logs say: who is refused and why, which ACLs are unused, what is unknown?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts.access import cluster_or_404
from aclweb.acl.model import WILDCARD, AclBinding, PatternType, PermissionType
from aclweb.insights import queries
from aclweb.insights.coverage import coverage
from aclweb.insights.declarations import declarations
from aclweb.inventory.models import Cluster
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 25
# The spark's drawing is this many units wide and high, whatever the number of days.
SPARK_WIDTH = 92
SPARK_HEIGHT = 18


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Offer:
    """What a person can do about a denial: a button's word, and where it leads."""

    word: str
    address: str


@dataclass(frozen=True)
class DenialRow:
    refusal: queries.Refusal
    bars: tuple[Bar, ...]
    offer: Offer


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the denials of the log in groups, what the log can prove, and what it says about declarations."""
    cluster = cluster_or_404(request.user, slug)
    covered = coverage(cluster)
    found = queries.refusals(cluster)
    page = page_of(found.rows, page_asked(request.GET), ROWS_A_PAGE)
    context = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "coverage": covered,
        "refusals": found,
        "page": page,
        "rows": tuple(DenialRow(row, bars(row.days), _offer(cluster, row)) for row in page.object_list),
        "unused": queries.unused_count(cluster),
        "declarations": declarations(cluster),
        "disagreements": queries.disagreements(cluster, limit=5),
    }
    return render_page(
        request, "browse/insights/index.html", "browse/insights/_denials.html", context, section="insights"
    )


def bars(days: Sequence[tuple[str, int]]) -> tuple[Bar, ...]:
    """Return the bars of a spark, the highest as high as the drawing; a day without lines is a hairline."""
    most = max((lines for _, lines in days), default=0)
    step = SPARK_WIDTH / max(1, len(days))
    found = []
    for place, (_, lines) in enumerate(days):
        height = max(2.0, SPARK_HEIGHT * lines / most) if lines else 1.0
        found.append(
            Bar(round(place * step, 2), round(SPARK_HEIGHT - height, 2), round(step * 0.7, 2), height)
        )
    return tuple(found)


def _offer(cluster: Cluster, refusal: queries.Refusal) -> Offer:
    """Return what mends the likely cause; an ACL only where a missing ACL is the cause."""
    kind = refusal.cause.kind
    if kind == "name" and "=" in refusal.principal:
        name = refusal.principal.partition(":")[2]
        query = links.encoded(kind="ssl", names=name)
        return Offer("Test the name mapping", f"{reverse('mapping', args=[cluster.slug])}?{query}")
    if kind == "name":
        return Offer("Show the other name", links.principal(cluster, refusal.cause.written))
    if kind in ("deny", "anonymous", "unknown"):
        asked = links.explain_cell(
            cluster,
            refusal.principal,
            refusal.operation,
            refusal.resource.resource_type,
            refusal.resource.name,
            refusal.hosts[0],
        )
        return Offer("Explain", asked)
    query = links.encoded(add=json.dumps(_proposal(refusal).as_dict()))
    return Offer("Propose ACL", f"{reverse('what-if', args=[cluster.slug])}?{query}")


def _proposal(refusal: queries.Refusal) -> AclBinding:
    """Return the narrowest ACL by name that would have allowed these requests from anywhere."""
    return AclBinding(
        resource_type=refusal.resource.resource_type,
        resource_name=refusal.resource.name,
        pattern_type=PatternType.LITERAL,
        principal=refusal.principal,
        host=refusal.hosts[0] if len(refusal.hosts) == 1 else WILDCARD,
        operation=refusal.operation,
        permission_type=PermissionType.ALLOW,
    )
