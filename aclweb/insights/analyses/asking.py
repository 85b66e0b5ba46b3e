"""Ask for an analysis of the logs, see how far it is, and cancel it.

What is asked for already is not asked twice, whoever asks. A person has a few at most that are not done, and on a
cluster one is at work at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from aclweb.acl.model import AclError, number_of
from aclweb.acl.notation import read_delta, write_delta
from aclweb.insights.analyses import ringing
from aclweb.insights.analyses.beside import BESIDE, chosen, hidden, may_see, why_not
from aclweb.insights.analyses.jobs import JOBS
from aclweb.insights.analyses.keeping import KEPT_FOR, MOST_KEPT
from aclweb.insights.current import current_load
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import ANALYSES, Analysis
from aclweb.insights.telling import sentences_of, share_of
from aclweb.inventory.models import Cluster

# Of one person, at work and waiting, and of one cluster.
MOST_OPEN = 3
MOST_OPEN_OF_CLUSTER = 6

EDIT = "delta"
"""The option that holds the edit of a job which is about one."""

LARGEST_EDIT = 4_000_000
"""Characters."""

State = Analysis.State


class TooManyOpen(InsightsError):
    """So many analyses are not done that no other is begun."""


@dataclass(frozen=True)
class Progress:
    """How far an analysis is. share: percent of its steps. sentences: what a person must know, the state first."""

    is_open: bool
    share: int
    sentences: tuple[str, ...]


def ask(
    *,
    cluster: Cluster,
    job: str,
    options: Mapping[str, str],
    person: str,
    visible: QuerySet[Cluster] | None = None,
) -> Analysis:
    """Have a worker run this job, unless the same waits or is at work already; return the analysis.

    person: the account that asks. visible: the clusters that it may look at, for a job about several; unless given, no
    other one may be chosen. Raises InsightsError for what cannot be asked, TooManyOpen where that is the reason.
    """
    seen = Cluster.objects.none() if visible is None else visible
    given, delta = _with_beside(job, options, cluster, seen)
    if not settings.ACLWEB_SPARK_MASTER:
        raise InsightsError("Analyses are switched off here: ACLWEB_SPARK_MASTER is empty.")
    if why := why_not(cluster, has_log=current_load(cluster) is not None):
        raise InsightsError(why)
    with transaction.atomic():
        # Of those who ask at once, each sees what the others have stored.
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        waiting = Analysis.objects.filter(state__in=Analysis.OPEN)
        same = waiting.filter(cluster=cluster, job=job, options=given).first()
        if same is not None:
            return same
        _require_room(waiting.filter(asked_by=person).count(), waiting.filter(cluster=cluster).count())
        row = Analysis.objects.create(
            cluster=cluster, job=job, options=given, delta=delta, asked_by=person, asked_at=Now()
        )
        row.refresh_from_db(fields=["asked_at"])
        # After the commit, or a worker could miss the row. A queue that is down only delays it: the sweep tries again.
        transaction.on_commit(ringing.enqueue, robust=True)
    return row


def known_options(job: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each option of a job, its default where none is given.

    Raises InsightsError for a job, an option or a value that is not known.
    """
    if job not in JOBS:
        raise InsightsError(f"There is no job {job!r}; use one of {', '.join(JOBS)}.")
    options = {option.name: option for option in JOBS[job].options}
    unknown = sorted(given.keys() - options.keys())
    if unknown:
        known = f"it has {', '.join(options)}" if options else "it has none"
        raise InsightsError(f"{job} has no option {unknown[0]!r}; {known}.")
    found = {}
    for name, option in options.items():
        value = given.get(name) or option.default
        known_values = [each for each, _ in option.values]
        if value not in known_values:
            raise InsightsError(f"{name} is {value!r}; use one of {', '.join(known_values)}.")
        found[name] = value
    return found


def _with_beside(
    job: str, given: Mapping[str, str], cluster: Cluster, visible: QuerySet[Cluster]
) -> tuple[dict[str, str], str]:
    """Return the options of a job, the other clusters among them where it is about several, and its edit."""
    if job not in JOBS or not JOBS[job].beside:
        return _with_edit(job, given)
    rest = {name: value for name, value in given.items() if name != BESIDE}
    options = known_options(job, rest)
    others = chosen(given.get(BESIDE, ""), cluster, visible)
    return options | {BESIDE: ",".join(each.slug for each in others)}, ""


def _with_edit(job: str, given: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the options of a job, and the edit that it is about; empty where it is about none.

    Among the options stands what the edit is in short, so that the same edit is not asked for twice.
    """
    if job not in JOBS or not JOBS[job].edit:
        return known_options(job, given), ""
    rest = {name: value for name, value in given.items() if name != EDIT}
    text = given.get(EDIT, "")
    if len(text) > LARGEST_EDIT:
        raise InsightsError(
            f"The edit has {len(text):,} characters, and {LARGEST_EDIT:,} is the most; run `replay` on the command "
            "line."
        )
    try:
        delta = read_delta(text, source="The edit")
    except AclError as error:
        raise InsightsError(str(error)) from error
    if not (delta.add or delta.remove):
        raise InsightsError(
            f'{job} is about an edit; give it as {EDIT}, an ACL a line as JSON, each with "op": "add" or '
            '"remove".'
        )
    written = write_delta(delta)
    digest = hashlib.sha256(written.encode("ascii")).hexdigest()[:12]
    short = f"{len(delta.add):,} to add, {len(delta.remove):,} to remove ({digest})"
    return known_options(job, rest) | {"edit": short}, written


def _require_room(of_person: int, of_cluster: int) -> None:
    if of_person >= MOST_OPEN:
        raise TooManyOpen(
            f"You have {number_of(of_person, 'analysis', 'analyses')} that are not done, and {MOST_OPEN} is the most. "
            "Wait for one of them, or cancel one."
        )
    if of_cluster >= MOST_OPEN_OF_CLUSTER:
        raise TooManyOpen(
            f"{of_cluster} analyses of this cluster are not done, and {MOST_OPEN_OF_CLUSTER} is the most. "
            "Wait for one of them."
        )


def of_address(cluster: Cluster, address: str, visible: QuerySet[Cluster]) -> Analysis | None:
    """Return the analysis of a cluster at an address; visible: the clusters that the person may look at."""
    row = (
        Analysis.objects.filter(cluster=cluster, address=address).select_related("cluster__revision").first()
    )
    return row if row is not None and may_see(row, visible) else None


def seen_of(cluster: Cluster, visible: QuerySet[Cluster]) -> QuerySet[Analysis]:
    """Return the analyses of a cluster that a person may see who may look at these clusters, the newest first."""
    rows = Analysis.objects.filter(cluster=cluster, job__in=JOBS).order_by("-pk")
    return rows.exclude(pk__in=hidden(cluster, visible))


def newest_of(cluster: Cluster, visible: QuerySet[Cluster]) -> dict[str, list[Analysis]]:
    """Return what `seen_of` does by job."""
    found: dict[str, list[Analysis]] = {job: [] for job in JOBS}
    for row in seen_of(cluster, visible):
        found[row.job].append(row)
    return found


def cancel(row: Analysis, *, person: str, is_administrator: bool) -> None:
    """End an analysis, whether it waits or a worker has it.

    Raises InsightsError if it has ended, or if somebody else asked for it and the person administers no cluster of it.
    """
    if row.is_open and not (is_administrator or row.asked_by == person):
        raise InsightsError(f"{row.asked_by} asked for this, so you cannot cancel it.")
    if not ANALYSES.cancel(row, f"Cancelled by {person}."):
        raise InsightsError("It has ended already, so there is nothing to cancel.")


def progress_of(row: Analysis) -> Progress:
    """Return how far it is, as a page says it."""
    if row.state == State.QUEUED:
        return Progress(True, 0, ("It waits for a worker.", *_what_comes_first(row)))
    if row.state == State.RUNNING:
        return Progress(True, share_of(row), tuple(_working(row)))
    if row.state == State.DONE:
        kept = f"The newest {MOST_KEPT} of each job are kept for {KEPT_FOR.days} days."
        return Progress(False, 100, (f"A worker has finished it. {kept}",))
    return Progress(False, 0, (row.problem,))


def _working(row: Analysis) -> list[str]:
    sentences = sentences_of(row)
    if row.attempts > 1:
        sentences.append(f"This is try {row.attempts}: the worker before was lost.")
    return sentences


def _what_comes_first(row: Analysis) -> list[str]:
    before = Analysis.objects.filter(Q(state=State.RUNNING) | Q(pk__lt=row.pk), state__in=Analysis.OPEN)
    here = before.filter(cluster=row.cluster_id).count()
    if not here:
        return []
    return [
        f"On each cluster one runs at a time, and {here} that {'was' if here == 1 else 'were'} asked for earlier "
        f"{'comes' if here == 1 else 'come'} first."
    ]
