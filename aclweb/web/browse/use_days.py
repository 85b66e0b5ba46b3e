"""How often did an ACL decide, was a principal active or a resource used on each day? As a page, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import AclBinding, Resource, ResourceType
from aclweb.acl.notation import is_binding_key, write_rows
from aclweb.insights.coverage import freshness
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.queries import Use, days_of_acl, usage_of
from aclweb.insights.traffic import traffic
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of
from aclweb.inventory.models import Cluster, StoredAcl
from aclweb.web.browse.acl_filters import Choice, with_field
from aclweb.web.browse.charts import day_chart
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page

WINDOWS = (7, 30, 90)
_USUAL = 30
EXPORTED = ("day", "permitted", "denied")


@dataclass(frozen=True)
class Subject:
    """What the page is about: a principal, a resource, or an ACL with its use; `url` is its own page."""

    kind: str
    name: str
    url: str
    binding: AclBinding | None = None
    use: Use | None = None


@dataclass(frozen=True)
class UseByDay:
    """What the log holds of a subject. days: (day, permitted, denied), none left out; None where nobody knows.

    whole: whether every distinct request is counted. why_not: why nobody knows or, beside what was permitted, why there
    may have been more.
    """

    subject: Subject
    load: Load | None
    days: tuple[tuple[str, int | None, int | None], ...]
    whole: bool = True
    why_not: str = ""

    @property
    def permitted(self) -> int:
        return sum(permitted or 0 for _, permitted, _ in self.days)

    @property
    def denied(self) -> int:
        return sum(denied or 0 for _, _, denied in self.days)

    @property
    def permits_known(self) -> bool:
        return all(permitted is not None for _, permitted, _ in self.days)

    @property
    def denials_known(self) -> bool:
        return all(denied is not None for _, _, denied in self.days)

    @property
    def is_known(self) -> bool:
        """Whether there is any number: of an ACL, only its own."""
        return self.permits_known or self.denials_known

    @property
    def last_day(self) -> str:
        return max((day for day, permitted, denied in self.days if permitted or denied), default="")


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one subject, named by `?acl=KEY`, `?principal=` or `?type=` and `?name=`; `?format=csv` and `json`."""
    cluster = access.cluster_or_404(request.user, slug)
    days = _days_asked(request.GET.get("days", ""))
    found = _found(cluster, request, days)
    if request.GET.get("format") == "csv":
        answer = HttpResponse(write_rows(EXPORTED, _exported(found)), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="use-{cluster.slug}.csv"'
        return answer
    if request.GET.get("format") == "json":
        return JsonResponse(_as_dict(found))
    context: dict[str, Any] = {
        "cluster": cluster,
        "found": found,
        "days": days,
        "chart": _chart(found),
        "why_unknown": f"{found.why_not[:1].upper()}{found.why_not[1:]}.",
        "freshness": freshness(cluster, found.load),
        "windows": [
            Choice(str(each), f"{each} days", None, each == days, with_field(request.GET, "days", str(each)))
            for each in WINDOWS
        ],
        "csv_url": with_field(request.GET, "format", "csv"),
        "json_url": with_field(request.GET, "format", "json"),
    }
    return render_page(request, "browse/insights/use_days.html", None, context, section="insights")


def address(cluster: Cluster, **subject: str) -> str:
    """Return the address of the page about a subject: acl, principal, or type and name."""
    return f"{reverse('use-days', args=[cluster.slug])}?{links.encoded(**subject)}"


def _found(cluster: Cluster, request: HttpRequest, days: int) -> UseByDay:
    load = current_load(cluster)
    if key := request.GET.get("acl", ""):
        return _of_acl(cluster, load, key, days)
    if principal := request.GET.get("principal", ""):
        subject = Subject("principal", principal, links.principal(cluster, principal))
        return _of_traffic(cluster, subject, days, principal=principal)
    kind = next((found for found in ResourceType if found.name == request.GET.get("type")), None)
    name = request.GET.get("name", "")
    if kind is None or kind in (ResourceType.UNKNOWN, ResourceType.ANY) or not name:
        raise Http404("Name an ACL by ?acl=, a principal by ?principal=, or a resource by ?type= and ?name=.")
    subject = Subject("resource", name, links.resource(cluster, kind, name))
    return _of_traffic(cluster, subject, days, resource=Resource(kind, name))


def _of_acl(cluster: Cluster, load: Load | None, key: str, days: int) -> UseByDay:
    # No database looks for every text, such as one with a NUL.
    stored = StoredAcl.objects.filter(cluster=cluster, key=key) if is_binding_key(key) else None
    row = None if stored is None else stored.order_by("-pk").values_list(*BINDING_COLUMNS).first()
    if row is None:
        raise Http404("No ACL of this cluster has this key.")
    (binding,) = bindings_of([row])
    use = usage_of(cluster, [key], load=load)[key]
    listed = reverse("acls", args=[cluster.slug]) + f"?{links.encoded(principal=binding.principal)}"
    subject = Subject("ACL", binding.principal, listed, binding, use)
    if load is None:
        return UseByDay(subject, load, ())
    settled = days_of_acl(load, key, binding.permission_type, days)
    # An ACL only permits or only denies; the other is no number of it.
    return UseByDay(
        subject,
        load,
        tuple((day, None, lines) if binding.is_deny else (day, lines, None) for day, lines in settled.days),
        why_not=settled.why_not,
    )


def _of_traffic(cluster: Cluster, subject: Subject, days: int, **asked: Any) -> UseByDay:
    found = traffic(cluster, days=days, **asked)
    known = found.permits_logged
    rows = tuple((day, permitted if known else None, denied) for day, permitted, denied in found.days)
    return UseByDay(subject, found.load, rows, found.whole, found.why_not)


def _chart(found: UseByDay) -> Any:
    rows = []
    if found.permits_known:
        rows.append(("permitted", "accent", [permitted or 0 for _, permitted, _ in found.days]))
    if found.denials_known:
        rows.append(("denied", "deny", [denied or 0 for _, _, denied in found.days]))
    return day_chart([day for day, _, _ in found.days], rows)


def _exported(found: UseByDay) -> Iterator[tuple[str, ...]]:
    for day, *numbers in found.days:
        yield (day, *("" if number is None else str(number) for number in numbers))


def _as_dict(found: UseByDay) -> dict[str, Any]:
    subject: dict[str, Any] = {"kind": found.subject.kind, "name": found.subject.name}
    if found.subject.binding is not None:
        subject = {"kind": "acl", "acl": found.subject.binding.as_dict()}
    rows = [dict(zip(EXPORTED, each, strict=True)) for each in found.days]
    return {"subject": subject, "whole": found.whole, "why_not": found.why_not, "days": rows}


def _days_asked(text: str) -> int:
    return int(text) if text in {str(each) for each in WINDOWS} else _USUAL
