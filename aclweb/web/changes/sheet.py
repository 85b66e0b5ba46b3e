"""What did reviewers see of a change, whole and on paper?

All of its ACLs, every group of its impact up to a stated number, gates, approvals, comments, what happened, and the
hashes that were agreed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from aclweb.accounts.models import User
from aclweb.acl.model import acl_text
from aclweb.acl.simulate import Impact
from aclweb.changes import queries
from aclweb.web.drafts import diff_log, impact_rows
from aclweb.web.drafts.diff_log import InLog
from aclweb.web.drafts.impact_rows import SpelledOut

MOST_GROUPS = 300
"""So many groups of an impact are printed; what is left out is counted, and in the file of the access diff."""

# Principals, hosts, names and ACLs that are spelled out in rows which have more than an open row lists.
MOST_SPELLED_OUT = 5_000


@dataclass(frozen=True)
class _Printed:
    """One group of an impact. sides: before and after, each with its word, its answer and the ACLs that gave it."""

    row: SpelledOut
    sides: tuple[tuple[str, str, str], ...]
    told: InLog | None


@login_required
@require_GET
def sheet(request: HttpRequest, number: int) -> HttpResponse:
    """Show all of a change on one page for paper, with the impact that was submitted."""
    assert isinstance(request.user, User)  # login_required
    change = queries.change_of(request.user, number)
    if change is None:
        raise Http404(f"There is no change CR-{number} that you may see.")
    page = queries.change_page(change, request.user)
    context = {
        "change": change,
        "cluster": change.cluster,
        "page": page,
        "printed_at": timezone.now(),
        "address": request.build_absolute_uri(reverse("change", args=[change.pk])),
        "count": sum(len(step.items) for step in page.steps),
        **_impact(page, page.impact),
    }
    return render(request, "changes/sheet.html", context)


def _impact(page: queries.ChangePage, impact: Impact | None) -> dict[str, Any]:
    """Return the groups of an impact, each with what the log holds of it, and how many are left out."""
    if impact is None:
        return {}
    rows = impact_rows.exact_rows(impact)
    if len(rows) > MOST_GROUPS:
        # Fewer, since those share one in which only the ACLs differ that settle the answer.
        rows = impact_rows.rows(impact, *impact_rows.KINDS)
    shown = rows[:MOST_GROUPS]
    log = diff_log.beside(page.change.cluster, page.load, rows, shown)
    spelled_out = islice(rows.spelled_out(MOST_SPELLED_OUT), MOST_GROUPS)
    return {
        "impact": impact,
        "diff_log": log,
        "groups": [
            _Printed(row, _sides(row), log.rows.get(each.number))
            for row, each in zip(spelled_out, shown, strict=True)
        ],
        "groups_in_all": len(rows),
        "groups_left": len(rows) - len(shown),
    }


def _sides(row: SpelledOut) -> tuple[tuple[str, str, str], ...]:
    found = []
    for word, side in (("Before", row.before), ("After", row.after)):
        if side is None:
            found.append((word, "not there yet", ""))
            continue
        acls = [acl_text(binding) for binding in side.bindings]
        found.append((word, side.words, "; ".join([*acls, f"and {side.more:,} more"] if side.more else acls)))
    return tuple(found)
