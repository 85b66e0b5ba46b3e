"""Which questions can be put to the whole log, what was the last answer, and who starts one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.insights.analyses import (
    BESIDE,
    EDIT,
    JOBS,
    AnalysisJob,
    Candidate,
    Progress,
    ask,
    candidates,
    headline,
    newest_of,
    progress_of,
)
from aclweb.insights.coverage import coverage
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis
from aclweb.inventory.models import Cluster
from aclweb.web.browse.insight_tabs import head
from aclweb.web.shell.htmx import render_page, wants_part


@dataclass(frozen=True)
class Asked:
    """What a person chooses for a job about several clusters: of which, which of them, and what is wrong with that."""

    others: tuple[Candidate, ...]
    chosen: frozenset[str]
    problem: str = ""


@dataclass(frozen=True)
class JobCard:
    """One job on the page: the run that is not done, the newest result with its answer, and earlier results.

    asked: of a job about several clusters.
    """

    job: AnalysisJob
    open: Analysis | None
    progress: Progress | None
    newest: Analysis | None
    answer: str
    failed: Analysis | None
    earlier: tuple[Analysis, ...]
    asked: Asked | None = None


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the jobs, each with its last answer and a button that starts it. htmx asks of one `job` alone."""
    cluster = access.cluster_or_404(request.user, slug)
    if wants_part(request) and request.GET.get("job") in JOBS:
        return _run(request, cluster, JOBS[request.GET["job"]])
    return _page(request, cluster, chosen=request.GET.getlist(BESIDE))


def _page(
    request: HttpRequest, cluster: Cluster, *, chosen: Sequence[str] = (), problem: str = ""
) -> HttpResponse:
    """Return the list. chosen: the other clusters of a job about several; problem: why it was not started."""
    visible = access.visible_clusters(request.user)
    covered = coverage(cluster)
    found = newest_of(cluster, visible)
    others = tuple(candidates(cluster, visible)) if covered.load else ()
    cards = [_card(job, found[name], others, chosen, problem) for name, job in JOBS.items()]
    context = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "coverage": covered,
        "head": head(cluster, covered.load),
        "tab": "analyses",
        "cards": cards,
        "is_open": any(card.open for card in cards),
        "done": sum(card.newest is not None for card in cards),
    }
    return render_page(
        request,
        "browse/insights/analyses.html",
        None,
        context,
        section="insights",
        status=422 if problem else 200,
    )


def _run(request: HttpRequest, cluster: Cluster, job: AnalysisJob) -> HttpResponse:
    """Return how far the run of a job is; once it has ended, the whole card of the job."""
    visible = access.visible_clusters(request.user)
    others = tuple(candidates(cluster, visible)) if job.beside else ()
    card = _card(job, newest_of(cluster, visible)[job.name], others)
    context = {"cluster": cluster, "card": card}
    if card.open:
        return render(request, "browse/insights/_analysis_run.html", context)
    page = render(request, "browse/insights/_analysis_card.html", context)
    page["HX-Retarget"] = f"#card-{job.name}"
    return page


@login_required
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a worker run a job, and go to the page that shows how far it is."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return redirect("analyses", slug=slug)
    job = request.POST.get("job", "")
    options = (
        {option.name: request.POST.get(option.name, "") for option in JOBS[job].options}
        if job in JOBS
        else {}
    )
    if job in JOBS and JOBS[job].edit:
        options[EDIT] = request.POST.get(EDIT, "")
    several = job in JOBS and JOBS[job].beside
    if several:
        options[BESIDE] = ",".join(request.POST.getlist(BESIDE))
    person, visible = request.user.get_username(), access.visible_clusters(request.user)
    try:
        row = ask(cluster=cluster, job=job, options=options, person=person, visible=visible)
    except InsightsError as error:
        if several:
            return _page(request, cluster, chosen=request.POST.getlist(BESIDE), problem=str(error))
        messages.error(request, str(error))
        return redirect("analyses", slug=slug)
    return redirect("analysis", slug=slug, address=row.address)


def _card(
    job: AnalysisJob,
    rows: list[Analysis],
    others: tuple[Candidate, ...] = (),
    chosen: Sequence[str] = (),
    problem: str = "",
) -> JobCard:
    unfinished = next((row for row in rows if row.is_open), None)
    done = [row for row in rows if row.state == Analysis.State.DONE]
    newest = done[0] if done else None
    last = next((row for row in rows if not row.is_open), None)
    return JobCard(
        job=job,
        open=unfinished,
        progress=progress_of(unfinished) if unfinished else None,
        newest=newest,
        answer=headline(newest, job.tables[0]) if newest else "",
        failed=last if last is not None and last.state == Analysis.State.FAILED else None,
        earlier=tuple(done[1:]),
        asked=_asked(newest, others, chosen, problem) if job.beside else None,
    )


def _asked(
    newest: Analysis | None, others: tuple[Candidate, ...], chosen: Sequence[str], problem: str
) -> Asked:
    """Return the form of a job about several clusters; those of the last result are chosen where nobody chose any."""
    if not chosen and not problem and newest is not None:
        chosen = newest.beside
    return Asked(others, frozenset(chosen), problem)
