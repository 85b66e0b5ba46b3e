"""Through which ACLs do principals reach which operations on a resource? A graph, its table, CSV and JSON.

Three columns: principals, ACLs, operations. ACLs that differ in their principal alone are one node, and principals
with the same nodes are one too where there are many. The page draws it as SVG, with links, so that it needs no script.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import NOUNS, WORDS, AclBinding, Operation, Resource, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.insights.coverage import freshness
from aclweb.insights.current import current_load
from aclweb.insights.queries import Use, usage_of
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.web.browse.who_can import WhoCan, who_can
from aclweb.web.shell import links
from aclweb.web.shell.beside_rows import BesideRows
from aclweb.web.shell.called import with_name
from aclweb.web.shell.downloads import rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of
from aclweb.web.shell.spelling import visible

MOST_ACLS = 90
"""So many ACLs are drawn and listed, in the order of reading; the list of ACLs has all. With a
principal each and every operation these are fewer than 200 nodes."""

# Of the table below the drawing.
ROWS_A_PAGE = 30

MOST_PRINCIPALS = 24
"""With more, principals with the same ACLs are one node."""

EXPORTED = ("principal", "permission", "operation", "pattern_type", "name", "host", "use", "requests")

WIDTH, ROW, _HEAD = 1_060, 36, 30
_COLUMNS = ((0, 250), (370, 330), (820, 240))  # left edge and width: principals, ACLs, operations
_LETTER = 7.4  # wide in a name, at 12 px


@dataclass(frozen=True)
class Node:
    """A box.

    kind: of principals "principal", of ACLs "deny", "all", "prefix" or "exact", of operations "operation"
    or, where nobody can, "nobody".
    """

    x: int
    y: float
    width: int
    kind: str
    text: str
    title: str
    url: str = ""
    caption: str = ""

    @property
    def middle(self) -> float:
        return self.y + 15

    @property
    def right(self) -> int:
        return self.x + self.width


@dataclass(frozen=True)
class Line:
    """A way from one box to the next. tone: "deny", "used", "unused" or "unknown"."""

    path: str
    tone: str
    width: float


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    height: float
    width: int = WIDTH


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the resource named by `?type=` and `?name=`; `?format=csv` and `json` give the rows of the table."""
    cluster = access.cluster_or_404(request.user, slug)
    kind = next((found for found in ResourceType if found.name == request.GET.get("type")), None)
    name = request.GET.get("name", "")
    if kind is None or kind in (ResourceType.UNKNOWN, ResourceType.ANY) or not name:
        raise Http404("A resource is named by its type and its name, such as ?type=TOPIC&name=orders.")
    view = in_force(cluster)
    resource = Resource(kind, name)
    every = view.index.affecting(resource, view.settings)
    bindings = sorted(every, key=_reading_order)[:MOST_ACLS]
    load = current_load(cluster)
    uses = usage_of(cluster, [binding_key(binding) for binding in bindings], load=load)
    rows = [(binding, uses[binding_key(binding)]) for binding in bindings]
    exported = (dict(zip(EXPORTED, _as_row(*row), strict=True)) for row in rows)
    if request.GET.get("format") == "csv":
        return rows_file(exported, name=f"access-{slug}", ending="csv", columns=EXPORTED, about=[cluster])
    if request.GET.get("format") == "json":
        beside = BesideRows.of(cluster)
        answer = {
            "resource": {"type": kind.name, "name": name},
            "acls": [*map(beside.named, exported)],
            "operations": [each.as_dict() for each in who_can(view, resource)],
        }
        return JsonResponse({**answer, "whole": len(every) == len(rows), "caveats": beside.caveats})
    able = who_can(view, resource)
    own = links.encoded(type=kind.name, name=name)
    affecting = {"resource_type": kind.name, "name": name, "match": "affects"}
    context: dict[str, Any] = {
        "cluster": cluster,
        "kind": kind,
        "name": name,
        "url": links.resource(cluster, kind, name),
        "page": page_of(rows, page_asked(request.GET), ROWS_A_PAGE),
        "drawn": len(rows),
        "every": len(every),
        "principals": len({binding.principal for binding in every}),
        "graph": drawn(cluster, rows, able),
        "able": able,
        "load": load,
        "freshness": freshness(cluster, load),
        "listed": f"{reverse('acls', args=[slug])}?{links.encoded(**affecting)}",
        "csv_url": f"?{own}&format=csv",
        "json_url": f"?{own}&format=json",
    }
    return render_page(request, "browse/topics/graph.html", None, context, section="topics")


def drawn(cluster: Cluster, rows: Sequence[tuple[AclBinding, Use]], able: Sequence[WhoCan] = ()) -> Graph:
    """Return where the boxes and the lines are.

    able: the operations that have a box also where no ACL leads to it, each with how many can.
    """
    acls: dict[tuple[Any, ...], list[tuple[AclBinding, Use]]] = defaultdict(list)
    for binding, use in rows:
        acls[_but_principal(binding)].append((binding, use))
    keys = list(acls)
    groups = _grouped(rows)
    named = (binding.operation for binding, _ in rows)
    operations = list(dict.fromkeys([*named, *(each.operation for each in able)]))
    high = max(len(keys), len(groups), len(operations), 1) * ROW
    acl_at = _spread(keys, high)
    reached = {names: [acl_at[key] for key in keys_of] for names, keys_of in groups.items()}
    group_at = _spread(sorted(groups, key=lambda names: _mean(reached[names])), high)
    of_operation = {each: [acl_at[key] for key in keys if key[1] is each] for each in operations}
    # Those to which no ACL leads are last.
    operation_at = _spread(
        sorted(operations, key=lambda each: _mean(of_operation[each]) if of_operation[each] else high), high
    )
    nodes = [_principals(cluster, names, y) for names, y in group_at.items()]
    nodes += [_acl(cluster, acls[key], acl_at[key]) for key in keys]
    captions = {each.operation: each for each in able}
    nodes += [_operation(each, y, captions.get(each)) for each, y in operation_at.items()]
    group_of = {principal: names for names in groups for principal in names}
    lines: list[Line] = []
    for key in keys:
        parted: dict[tuple[str, ...], list[tuple[AclBinding, Use]]] = defaultdict(list)
        for binding, use in acls[key]:
            parted[group_of[binding.principal]].append((binding, use))
        lines += [_line(0, group_at[names], acl_at[key], of_group) for names, of_group in parted.items()]
        lines.append(_line(1, acl_at[key], operation_at[key[1]], acls[key]))
    return Graph(tuple(nodes), tuple(lines), _HEAD + high)


def _grouped(rows: Iterable[tuple[AclBinding, Use]]) -> dict[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Return the nodes of ACLs by the principals that have them: one each, or those with the same ones together."""
    keys: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for binding, _ in rows:
        keys[binding.principal].append(_but_principal(binding))
    if len(keys) <= MOST_PRINCIPALS:
        return {(principal,): tuple(of) for principal, of in keys.items()}
    same: dict[tuple[tuple[Any, ...], ...], list[str]] = defaultdict(list)
    for principal, of in keys.items():
        same[tuple(of)].append(principal)
    return {tuple(principals): of for of, principals in same.items()}


def _spread(items: Iterable[Any], high: float) -> dict[Any, float]:
    """Return the top of the box of each item, all as far apart as there is room."""
    every = list(items)
    step = high / max(1, len(every))
    return {item: round(_HEAD + place * step + (step - 30) / 2, 1) for place, item in enumerate(every)}


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0


def _place(column: int, y: float) -> tuple[int, float, int]:
    left, width = _COLUMNS[column]
    return left, y, width


def _principals(cluster: Cluster, names: tuple[str, ...], y: float) -> Node:
    if len(names) > 1:
        title = ", ".join(with_name(cluster, name) for name in names[:20]) + (
            ", …" if len(names) > 20 else ""
        )
        return Node(*_place(0, y), "group", f"{len(names):,} principals", title)
    text = with_name(cluster, names[0])
    return Node(*_place(0, y), "principal", _cut(text, 0), text, links.principal(cluster, names[0]))


def _acl(cluster: Cluster, same: Sequence[tuple[AclBinding, Use]], y: float) -> Node:
    binding = same[0][0]
    reach = _reach(binding)
    where = f"on all {NOUNS[binding.resource_type][1]}"
    if reach != "all":
        where = f"{visible(binding.resource_name)}{' (prefix)' if reach == 'prefix' else ''}"
    text = f"{'DENY ' if binding.is_deny else ''}{WORDS[binding.operation]} {where}"
    host = "" if binding.host == "*" else f" from {visible(binding.host)}"
    asked = {"resource_type": binding.resource_type.name, "name": binding.resource_name, "match": "exact"}
    if len(same) == 1:
        asked["principal"] = binding.principal
    url = f"{reverse('acls', args=[cluster.slug])}?{links.encoded(**asked)}"
    caption = f"{len(same):,} ACLs" if len(same) > 1 else ""
    kind = "deny" if binding.is_deny else reach
    return Node(*_place(1, y), kind, _cut(text + host, 1, caption), text + host, url, caption)


def _operation(operation: Operation, y: float, able: WhoCan | None) -> Node:
    words = WORDS[operation]
    if able is None:
        return Node(*_place(2, y), "operation", words, words)
    kind = "operation" if able.caption != "nobody" else "nobody"
    title = "; ".join(filter(None, (f"{words}: {able.words}", able.sentence)))
    return Node(*_place(2, y), kind, words, title, caption=able.caption)


def _line(column: int, start: float, end: float, rows: Sequence[tuple[AclBinding, Use]]) -> Line:
    left = sum(_COLUMNS[column])
    right = _COLUMNS[column + 1][0]
    bend = (right - left) / 2
    path = f"M{left} {start + 15}C{left + bend} {start + 15} {right - bend} {end + 15} {right} {end + 15}"
    requests = sum(use.requests for _, use in rows)
    states = {use.state for _, use in rows}
    tone = "used" if "used" in states else "unknown" if "cannot-tell" in states else "unused"
    if rows[0][0].is_deny:
        tone = "deny"
    return Line(path, tone, round(1.2 + 0.7 * math.log10(requests), 2) if requests else 1.2)


def _cut(text: str, column: int, caption: str = "") -> str:
    room = int((_COLUMNS[column][1] - 24) / _LETTER) - (len(caption) + 1 if caption else 0)
    shown = visible(text)
    return shown if len(shown) <= room else f"{shown[: room - 1]}…"


def _reach(binding: AclBinding) -> str:
    if binding.pattern_type.name == "LITERAL":
        return "all" if binding.resource_name == "*" else "exact"
    return "prefix" if binding.resource_name else "all"


def _but_principal(binding: AclBinding) -> tuple[Any, ...]:
    pattern = binding.resource_type, binding.pattern_type, binding.resource_name
    return binding.is_deny, binding.operation, *pattern, binding.host


_ORDER: Mapping[str, int] = {"exact": 0, "prefix": 1, "all": 2}


def _reading_order(binding: AclBinding) -> tuple[Any, ...]:
    reach = _ORDER[_reach(binding)]
    return (
        not binding.is_deny,
        reach,
        binding.operation.name,
        binding.resource_name,
        binding.principal,
        binding.host,
    )


def _as_row(binding: AclBinding, use: Use) -> tuple[Any, ...]:
    return (
        binding.principal,
        binding.permission_type.name,
        binding.operation.name,
        binding.pattern_type.name,
        binding.resource_name,
        binding.host,
        use.state,
        None if use.state == "cannot-tell" else use.requests,
    )
