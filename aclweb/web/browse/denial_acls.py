"""Which fewest ACLs would have allowed several groups of denials together? A proposal that ends in one draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.logged import Choices, SmallestSet, Used, smallest_set
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import AclBinding, PatternType, number_of
from aclweb.insights import denials
from aclweb.insights.denials import Denial
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.models import Cluster
from aclweb.web.browse.denial_rows import no_acl_helps
from aclweb.web.browse.insight_tabs import since_in_force
from aclweb.web.drafts import Line
from aclweb.web.shell.htmx import render_page

NAMES_SHOWN = 5

_KNOBS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("hosts", "Hosts", (("seen", "Those that were denied"), ("any", "Any host"))),
    ("names", "Topics", (("exact", "Exact names"), ("first-delimiter", "Prefix at the first dot"))),
)


@dataclass(frozen=True)
class Chosen:
    """One group that was chosen. why_not: why no ACL of the set is for it; empty where one is."""

    denial: Denial
    why_not: str
    url: str


@dataclass(frozen=True)
class SetRow:
    """One ACL of the set. also: other names that exist and that it matches; more: how many more."""

    binding: AclBinding
    also: tuple[str, ...] = ()
    more: int = 0


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the set for the groups in `?choose=` and for all that are alike to those in `?alike=`."""
    cluster = access.cluster_or_404(request.user, slug)
    knobs = _chosen_knobs(request.GET)
    found = denials.with_keys(
        cluster,
        request.GET.getlist("choose"),
        like=request.GET.getlist("alike"),
        in_force_since=since_in_force(cluster),
    )
    helped = [each for each in found if not _why_not(each)]
    view = in_force(cluster)
    load, asked = denials.requests_denied(cluster, helped)
    choices = Choices(names=knobs["names"], hosts=knobs["hosts"], by_prefix=False)
    made = smallest_set(asked, view.index, view.settings, choices)
    lines = [Line("add", binding).as_text() for binding in made.bindings]
    context: dict[str, Any] = {
        "cluster": cluster,
        "list_url": reverse("insights", args=[slug]),
        "load": load,
        "chosen": [Chosen(each, _why_not(each), _url(cluster, each)) for each in found],
        "first": _first(found, made),
        "made": made,
        "rows": list(_rows(made, asked, view)),
        "lines": lines,
        "knobs": [
            (name, label, [(value, word, knobs[name] == value) for value, word in values])
            for name, label, values in _KNOBS
        ],
        "kept": [(name, value) for name in ("choose", "alike") for value in request.GET.getlist(name)],
        "most": denials.MOST_TOGETHER,
        "is_cut": len(found) >= denials.MOST_TOGETHER,
    }
    return render_page(
        request,
        "browse/insights/denial_acls.html",
        "browse/insights/_denial_acls.html",
        context,
        section="insights",
    )


def _chosen_knobs(query: QueryDict) -> dict[str, str]:
    """Return the value of each choice; the first one where the address has none that is known."""
    found = {}
    for name, _, values in _KNOBS:
        asked = query.get(name, "")
        found[name] = asked if asked in {value for value, _ in values} else values[0][0]
    return found


def _first(found: Sequence[Denial], made: SmallestSet) -> str:
    if not found:
        return "No group of the log was chosen."
    groups = number_of(len(found), "group", "groups")
    if not made.bindings:
        return f"No ACL is proposed for {'this' if len(found) == 1 else 'these'} {groups}."
    allowed = number_of(made.allowed, "denial", "denials")
    return (
        f"{number_of(len(made.bindings), 'ACL', 'ACLs')} would have allowed {allowed} "
        f"of {made.lines:,} in {groups}."
    )


def _why_not(found: Denial) -> str:
    if found.cause.kind == "allowed-now":
        return "It is allowed by now."
    return f"{found.cause.text}: an ACL would not mend that." if no_acl_helps(found) else ""


def _url(cluster: Cluster, found: Denial) -> str:
    address = reverse("insights", args=[cluster.slug], query={"days": "all", "open": found.short_key})
    return f"{address}#denials"


def _rows(made: SmallestSet, asked: Sequence[Used], view: ClusterView) -> Iterator[SetRow]:
    denied = {each.request.resource for each in asked}
    for binding in made.bindings:
        if binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard:
            yield SetRow(binding)
            continue
        names = view.loaded.names.get(binding.resource_type) or ()
        matched = SortedNames.of_sorted(names).under(binding.pattern, view.settings)
        asked_for = {resource.name for resource in denied if resource.resource_type is binding.resource_type}
        also = [name for name in matched if name not in asked_for]
        yield SetRow(binding, tuple(also[:NAMES_SHOWN]), max(0, len(also) - NAMES_SHOWN))
