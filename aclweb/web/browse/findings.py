"""What is wrong, redundant or dangerous in the ACLs of a cluster, what can be removed, and which can be combined?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding
from aclweb.insights.current import current_load
from aclweb.insights.declarations import setting_findings
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import (
    LONGEST_REASON,
    SEVERITIES,
    DismissalError,
    FindingPage,
    Findings,
    dismissals,
)
from aclweb.inventory.findings import dismiss as leave_out
from aclweb.inventory.findings import pages as finding
from aclweb.inventory.findings import undo as count_again
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, Facet, with_field, without
from aclweb.web.browse.chosen_acls import NoDraft, draft_of, removal_title, removed
from aclweb.web.browse.insight_tabs import head
from aclweb.web.drafts import MOST_LINES
from aclweb.web.shell import asking_often
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 14
# Each can name many ACLs that it would replace.
PROPOSALS_A_PAGE = 10
# ACLs that one draft removes: a reviewer reads each of them.
MOST_REMOVED = 200

CAN_GO, FEWER, DISMISSED = "can-go", "fewer", "dismissed"


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the findings that the address asks for, worst first."""
    cluster = access.cluster_or_404(request.user, slug)
    view = current.in_force(cluster, just_read=True)
    found = finding.findings(view)
    # While a newer revision is looked through, what was found before is better than nothing.
    shown = found if found is None or found.is_done else found.before
    context: dict[str, Any] = {"cluster": cluster, "in_force": view, "found": found, "shown": shown}
    if shown is not None:
        context |= _listed(cluster, request.GET, shown)
        context["may_request"] = access.may(request.user, "request", cluster)
    counts = context.get("counts")
    number = counts.total if counts else None
    load = current_load(cluster)
    context |= {
        "head": head(cluster, load, found=number),
        "tab": "findings",
        "of_settings": setting_findings(cluster, load),
    }
    return render_page(
        request, "browse/findings/index.html", "browse/findings/_list.html", context, section="insights"
    )


@login_required
@require_http_methods(["GET", "POST"])
def again(request: HttpRequest, slug: str) -> HttpResponse:
    """Have findings that could not be worked out tried once more."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "POST":
        assert isinstance(request.user, User)  # login_required
        if refused := asking_often.too_often(request.user, "findings"):
            messages.error(request, refused)
        else:
            finding.again(current.in_force(cluster))
    return redirect("findings", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Lead to the draft that removes ACLs whose removal changes no decision: those of a lint rule, or of all."""
    cluster = access.cluster_or_404(request.user, slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    if request.method == "GET":
        return redirect("findings", slug=slug)
    view = current.in_force(cluster, just_read=True)
    found = finding.findings(view)
    try:
        if found is None or not found.is_done:
            raise NoDraft("The findings of what is in force are not known yet.")
        fixed = _chosen_to_go(found, request.POST)
        if not fixed:
            raise NoDraft("The findings have changed, and none of these can be removed without an effect.")
        going = removed(view, fixed)
        return draft_of(request, going, op="remove", title=removal_title(len(going.bindings), True))
    except NoDraft as error:
        messages.error(request, f"No draft was made: {error}")
        return redirect("findings", slug=slug)


def _chosen_to_go(found: Findings, form: QueryDict) -> Sequence[AclBinding]:
    """Return the ACLs that a form asks to remove: those that can go of a lint rule's findings, or the first of all."""
    if form.get("show") == CAN_GO:
        return found.can_go.acls(MOST_REMOVED)
    wanted = _wanted(form)
    return found.matching(**wanted).can_go.acls(MOST_LINES) if wanted["rule"] else []


@login_required
@require_http_methods(["GET", "POST"])
def dismiss(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Ask why a finding may stay, and until when; then leave it out of every count."""
    cluster = access.cluster_or_404(request.user, slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    assert isinstance(request.user, User)  # login_required
    found = finding.own(cluster, number)
    if found is None:
        messages.error(request, "This finding is gone: the cluster was checked again. Choose it in the list.")
        return redirect("findings", slug=slug)
    faults: dict[str, str] = {}
    reason, until = request.POST.get("reason", ""), request.POST.get("until", "")
    if request.method == "POST":
        try:
            leave_out(found.stored, actor=request.user, reason=reason, until=until, cluster=cluster)
        except DismissalError as error:
            faults[error.field] = str(error)
        else:
            messages.success(request, "The finding is dismissed, and counted nowhere.")
            return redirect("findings", slug=slug)
    context: dict[str, Any] = {
        "cluster": cluster,
        "row": found.row,
        "reason": reason,
        "until": until,
        "reason_fault": faults.get("reason", ""),
        "until_fault": faults.get("until", ""),
        "longest_reason": LONGEST_REASON,
    }
    return render_page(
        request,
        "browse/findings/dismiss.html",
        None,
        context,
        section="insights",
        status=422 if faults else 200,
    )


@login_required
@require_http_methods(["GET", "POST"])
def undo(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Count a dismissed finding again."""
    cluster = access.cluster_or_404(request.user, slug)
    if not access.may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    if request.method == "POST":
        assert isinstance(request.user, User)  # login_required
        dismissal = get_object_or_404(dismissals(cluster), pk=number)
        count_again(dismissal, actor=request.user)
        messages.success(request, "The finding is counted again, if the ACL still has it.")
    return redirect(f"{reverse('findings', args=[slug])}?show={DISMISSED}")


def _dismissed(cluster: Cluster, query: QueryDict, found: Findings) -> dict[str, Any]:
    """Return a page of dismissed findings, each with who dismissed it, why and until when."""
    page = page_of(found.left_out, page_asked(query), ROWS_A_PAGE)
    known = finding.dismissals_of(cluster, page.object_list)
    rows = [(known.get((row.rule, row.key)), row) for row in page.object_list]
    return {"page": page, "dismissed_rows": [(each, row) for each, row in rows if each is not None]}


def _listed(cluster: Cluster, query: QueryDict, found: Findings) -> dict[str, Any]:
    counts = found.count()
    show = query.get("show", "")
    context: dict[str, Any] = {
        "counts": counts,
        "counted": [(word, number) for word, number in counts.by_severity.items() if number],
        "show": show if show in (CAN_GO, FEWER, DISMISSED) else "",
    }
    if show == DISMISSED:
        return context | _dismissed(cluster, query, found)
    if show == CAN_GO:
        going = found.can_go
        return context | {
            "page": page_of(going, page_asked(query), ROWS_A_PAGE),
            "most_removed": MOST_REMOVED,
        }
    if show == FEWER:
        return context | {
            "page": page_of(found.proposals, page_asked(query), PROPOSALS_A_PAGE),
            "most_replaced": MOST_LINES - 1,  # and the one that stands for them
        }
    wanted = _wanted(query)
    listed = found.matching(**wanted)
    return context | {
        "facets": _facets(query, listed),
        "fixable": len(listed.can_go) if wanted["rule"] else 0,
        "most_fixed": MOST_LINES,
        "wanted": [(name, text) for name, text in wanted.items() if text],
        "page": page_of(listed, page_asked(query), ROWS_A_PAGE),
        "is_filtered": any(wanted.values()),
        "text": wanted["text"],
        "kept": [(name, wanted[name]) for name in ("severity", "rule") if wanted[name]],
    }


def _wanted(query: QueryDict) -> dict[str, str]:
    """Return by what the findings are narrowed down."""
    return {name: query.get(name, "") for name in ("severity", "rule", "text")}


def _facets(query: QueryDict, listed: FindingPage) -> list[Facet]:
    counted = listed.by_rule()
    severities, rules, titles = Counter[str](), Counter[str](), {}
    for severity, rule, title, number in counted:
        severities[severity] += number
        rules[rule] += number
        titles[rule] = title
    return [
        Facet(
            "Severity",
            tuple(
                _choice(query, "severity", severity, severity.capitalize(), severities[severity])
                for severity in SEVERITIES
                if severities[severity]
            ),
        ),
        Facet("Lint rule", tuple(_settings(query, rules.most_common(), titles))),
    ]


def _settings(
    query: QueryDict, counted: Iterable[tuple[str, int]], titles: dict[str, str]
) -> Iterable[Choice]:
    for rule, count in counted:
        yield _choice(query, "rule", rule, titles[rule], count)


def _choice(query: QueryDict, field: str, value: str, word: str, count: int) -> Choice:
    current = query.get(field) == value
    url = without(query, field) if current else with_field(query, field, value)
    return Choice(value, word, count, current, url)
