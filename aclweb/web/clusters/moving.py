"""How is a cluster read in another way on a page: both sides compared as access, and then switched?

Nothing here calls a cluster: a worker compares, and the page shows how far it is.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.changes import moving
from aclweb.changes.models import Move
from aclweb.clusters import ClusterKind, live_kinds
from aclweb.inventory.admin import register as registering
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.web.clusters.connection_form import ConnectionForm
from aclweb.web.drafts import impact_rows
from aclweb.web.shell import asking_often
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 25


def moves_to(cluster: Cluster) -> ClusterKind | None:
    """Return the kind that a cluster of this one moves to; None where most do not move."""
    first = live_kinds()[0]
    return first if cluster.source.options and cluster.kind != first.name else None


@login_required
@require_http_methods(["GET", "POST"])
def move(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for another way to read a cluster, and show what a worker found both ways to hold."""
    cluster, person = _administered(request, slug)
    kinds = tuple(kind for kind in live_kinds() if kind.name != cluster.kind)
    if not cluster.source.options or not kinds:  # a file, of which there is no other way
        return redirect("connection", slug=slug)
    kind = next((each for each in kinds if each.name == request.GET.get("kind")), None)
    if wants_part(request) and request.method == "GET":
        return render(request, "clusters/_move.html", {"cluster": cluster, **_found(request, cluster)})
    form = ConnectionForm(
        *((request.POST, request.FILES) if request.method == "POST" else ()),
        kind=kind or kinds[0],
        cluster=cluster,
        moves=True,
    )
    if request.method == "GET":
        return _page(request, cluster, form, kinds)
    if refused := asking_often.too_often(person, "a comparison"):
        messages.error(request, refused)
    else:
        form.is_valid()
        if form.compare(person) is None:
            return _page(request, cluster, form, kinds, status=422)
        messages.success(
            request, "A worker reads the other way now, and compares. Nothing is switched by that."
        )
    return redirect("move", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def switch(request: HttpRequest, slug: str) -> HttpResponse:
    """Read the cluster in the way that was compared, from now on; or give that up."""
    cluster, person = _administered(request, slug)
    if request.method == "GET":
        return redirect("move", slug=slug)
    if "give_up" in request.POST:
        given_up = moving.give_up(cluster=cluster, reason=f"{person.get_username()} gave it up.")
        messages.info(request, "Given up." if given_up else "There was nothing to give up.")
        return redirect("move", slug=slug)
    row = Move.objects.filter(cluster=cluster, pk=_number(request.POST.get("move", ""))).first()
    try:
        if row is None:
            raise moving.MovingError(
                "Another comparison has taken the place of the one you saw; look at that."
            )
        moved = moving.switch(move=row, actor=person, accepted="accepted" in request.POST)
    except (moving.MovingError, registering.RegisteringError) as error:
        messages.error(request, f"Nothing was moved. {error}")
        return redirect("move", slug=slug)
    sync_tasks.ask_for_sync(moved)
    then = "It is paused: resume it to have it synced." if moved.is_paused else "A worker syncs it."
    messages.success(request, f"Moved: {moved.name} is read from {moved.source.called} now. {then}")
    return redirect("connection", slug=slug)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _administered(request: HttpRequest, slug: str) -> tuple[Cluster, User]:
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    assert isinstance(request.user, User)  # login_required
    return cluster, request.user


def _page(
    request: HttpRequest,
    cluster: Cluster,
    form: ConnectionForm,
    kinds: tuple[ClusterKind, ...],
    status: int = 200,
) -> HttpResponse:
    context = {
        "cluster": cluster,
        "form": form,
        "kind": form.kind,
        "kinds": kinds,
        **_found(request, cluster),
    }
    return render_page(request, "clusters/move.html", None, context, status=status)


def _found(request: HttpRequest, cluster: Cluster) -> dict[str, Any]:
    """Return what the page shows of the last comparison."""
    row = moving.latest(cluster)
    if row is None or row.found is None:
        return {"move": row}
    found = moving.Found(**row.found)
    context: dict[str, Any] = {
        "move": row,
        "found": found,
        "source": row.source,
        "stored_acls": row.revision.acls if row.revision is not None else 0,
        "access": moving.access_words(found),
    }
    if row.state == Move.State.DONE:
        context |= {
            "refused": moving.why_not(cluster, found, row.revision),
            "accept": moving.must_be_accepted(found),
        }
    impact = row.impact
    if impact is not None and found.differences:
        rows = impact_rows.rows(impact, *impact_rows.TOLD)
        context |= {
            "rows": page_of(rows, page_asked(request.GET), ROWS_A_PAGE),
            "tiles": [tile for tile in impact_rows.tiles(impact) if tile.kind in impact_rows.TOLD],
        }
    return context
