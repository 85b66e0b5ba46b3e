"""What do pages and the API show of changes? Each question has one answer, as one value.

Sentences come from here, so that a page, an API answer and the shell say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db.models import QuerySet, prefetch_related_objects

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.explain import says
from aclweb.acl.model import AclBinding
from aclweb.audit import trail
from aclweb.changes import policy
from aclweb.changes.models import TONES, Approval, Change, ChangeError, ChangeItem
from aclweb.changes.preview import Drift, drift_of_reading, preview
from aclweb.clusters import ClusterState
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster

TABS = ("waiting", "mine", "all")

PHASES: Mapping[int, str] = {
    1: "Add denies",
    2: "Add allows",
    3: "Remove allows",
    4: "Remove denies",
}

ITEM_TONES: Mapping[str, str] = {
    ChangeItem.State.PENDING: "quiet",
    ChangeItem.State.INTENT: "busy",
    ChangeItem.State.APPLIED: "good",
    ChangeItem.State.NOOP_ALREADY: "good",
    ChangeItem.State.UNKNOWN: "busy",
    ChangeItem.State.FAILED: "bad",
    ChangeItem.State.SKIPPED: "quiet",
}


@dataclass(frozen=True)
class Effect:
    """How many answers would differ; None for a draft, whose effect nobody has fixed yet."""

    gains: int
    loses: int
    recovered: int
    depends: int
    unchanged: int


@dataclass(frozen=True)
class InboxRow:
    change: Change
    state: str
    tone: str
    effect: Effect | None
    approvals_given: int
    approvals_needed: int
    waits_for_me: bool


@dataclass(frozen=True)
class Inbox:
    tab: str
    rows: tuple[InboxRow, ...]
    counts: Mapping[str, int]  # rows of each tab
    page: int
    pages: int
    total: int


@dataclass(frozen=True)
class ItemView:
    item: ChangeItem
    binding: AclBinding
    says: str
    state: str
    tone: str
    sentence: str


@dataclass(frozen=True)
class StepView:
    """One phase of the plan, in the order of writing."""

    number: int
    phase: int
    op: str
    title: str
    items: tuple[ItemView, ...]


@dataclass(frozen=True)
class ApprovalView:
    reviewer: str
    at: datetime
    comment: str
    counts: bool


@dataclass(frozen=True)
class Act:
    """A step that a person may take now, or the sentence that says why not."""

    allowed: bool
    why_not: str


@dataclass(frozen=True)
class TimelineEntry:
    at: datetime
    actor: str
    verb: str
    sentence: str


@dataclass(frozen=True)
class ChangePage:
    """Everything that the page of one change shows to one person."""

    change: Change
    state: str
    tone: str
    headline: str  # where the change stands, for everybody
    effect: Effect | None
    impact: Mapping[str, Any] | None  # as of submission; for a draft as of the last reading
    as_of_now: Drift | None  # only while it waits: whether the effect is still the one submitted
    steps: tuple[StepView, ...]
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    approvals: tuple[ApprovalView, ...]
    approvals_given: int
    approvals_needed: int
    reviewers: tuple[User, ...]
    acts: Mapping[str, Act]
    timeline: tuple[TimelineEntry, ...]  # newest first
    undo_of: Change | None
    undone_by: Change | None
    progress: tuple[int, int]  # rules in place, rules in all
    under_way: bool  # a page may ask again soon


def changes_of(user: User, cluster: Cluster | None = None) -> QuerySet[Change]:
    """Return the changes that this person may see: those of visible clusters. Drafts are their author's alone."""
    seen = Change.objects.filter(cluster__in=access.visible_clusters(user))
    if cluster is not None:
        seen = seen.filter(cluster=cluster)
    others_drafts = Change.objects.filter(state=Change.State.DRAFT).exclude(author=user)
    return seen.exclude(pk__in=others_drafts.values("pk"))


def change_of(user: User, pk: int) -> Change | None:
    """Return one change if this person may see it."""
    return changes_of(user).select_related("cluster", "author", "undo_of", "revision").filter(pk=pk).first()


def inbox(
    user: User, cluster: Cluster | None = None, tab: str = "waiting", page: int = 1, size: int | None = None
) -> Inbox:
    """Return one page of the changes that wait for this person, are theirs, or are visible to them at all.

    Newest first. An unknown tab is read as the first, a page beyond the last as the last.
    """
    size = size or settings.ACLWEB_PAGE_SIZE
    tab = tab if tab in TABS else TABS[0]
    every = changes_of(user, cluster).select_related("cluster", "author").order_by("-pk")
    every = every.prefetch_related("approvals", "items")
    mine = every.filter(author=user)
    waits = _waiting_for(user, every)
    counts = {"waiting": len(waits), "mine": mine.count(), "all": every.count()}
    total = counts[tab]
    pages = max(1, -(-total // size))
    page = min(max(1, page), pages)
    start = (page - 1) * size
    if tab == "waiting":
        shown = waits[start : start + size]
    else:
        shown = list((mine if tab == "mine" else every)[start : start + size])
    mine_to_decide = {change.pk for change in waits}
    rows = tuple(_row(change, change.pk in mine_to_decide) for change in shown)
    return Inbox(tab=tab, rows=rows, counts=counts, page=page, pages=pages, total=total)


def waiting_for(user: User, cluster: Cluster | None = None) -> int:
    """Return how many changes this person could approve now, for a badge."""
    every = (
        changes_of(user, cluster).select_related("cluster", "author").prefetch_related("approvals", "items")
    )
    return len(_waiting_for(user, every))


def change_page(change: Change, user: User) -> ChangePage:
    """Return everything that the page of `change` shows to `user`. The caller has checked that they may see it."""
    prefetch_related_objects([change], "items", "approvals__reviewer")
    items = list(change.items.all())
    steps = _steps(items)
    seen, notes = change.impact, []
    force, held = in_force(change.cluster), access.holders(change.cluster)
    commands: tuple[str, ...] = ()
    try:
        now = preview(change.cluster, change.delta, requester=change.author_id, force=force)
        commands = tuple(now.commands)
        notes = list(now.notes)
        if seen is None:
            seen = now.impact
    except ChangeError as error:
        notes.append(str(error))
    standing = policy.standing(change, held)
    counted = {approval.pk for approval in standing.counted}
    given = tuple(
        _approval(approval, counted)
        for approval in sorted(change.approvals.all(), key=lambda approval: approval.at)
    )
    needed = max(change.approvals_needed, policy.approvals_needed(change.cluster))
    in_place = sum(item.state in (ChangeItem.State.APPLIED, ChangeItem.State.NOOP_ALREADY) for item in items)
    waits = change.state in (Change.State.IN_REVIEW, Change.State.APPROVED, Change.State.BLOCKED_STALE)
    return ChangePage(
        change=change,
        state=change.get_state_display(),
        tone=TONES[change.state],
        headline=headline(change, given=len(counted), needed=needed),
        effect=_effect(seen),
        impact=seen,
        as_of_now=drift_of_reading(change, force) if waits else None,
        steps=steps,
        commands=commands,
        notes=(*notes, *standing.sentences),
        approvals=given,
        approvals_given=len(counted),
        approvals_needed=needed,
        reviewers=policy.reviewers(change, held),
        acts={step: Act(*answer) for step, answer in policy.acts(change, user, held).items()},
        timeline=tuple(
            TimelineEntry(event.at, event.actor, event.verb, trail.sentence(event))
            for event in trail.trail(change.key).order_by("-sequence")
        ),
        undo_of=change.undo_of,
        undone_by=change.undone_by.order_by("-pk").first(),
        progress=(in_place, len(items)),
        under_way=change.state in _UNDER_WAY,
    )


_S = Change.State
_UNDER_WAY = (_S.QUEUED, _S.PREFLIGHT, _S.APPLYING, _S.UNKNOWN, _S.VERIFYING)


def headline(change: Change, *, given: int, needed: int) -> str:
    """Return where the change stands, as one sentence."""
    if change.state == _S.DRAFT:
        return "A draft: nobody has been asked yet."
    if change.state == _S.IN_REVIEW:
        told = f"Waiting for review: {given} of {needed} approval{'' if needed == 1 else 's'}."
        return f"{told} {change.sentence}".strip()
    if change.state == _S.QUEUED and change.cluster.state == ClusterState.UNREACHABLE:
        return f"{change.sentence} {change.cluster.state_sentence}".strip()
    told = change.get_state_display()
    return change.sentence or f"{told[:1].upper()}{told[1:]}."


def _waiting_for(user: User, every: QuerySet[Change]) -> list[Change]:
    asked = every.filter(state=Change.State.IN_REVIEW).exclude(author=user).exclude(approvals__reviewer=user)
    return [change for change in asked if policy.may_approve(change, user)[0]]


def _row(change: Change, waits_for_me: bool) -> InboxRow:
    given = sum(
        approval.plan_hash == change.plan_hash and approval.impact_hash == change.impact_hash
        for approval in change.approvals.all()
    )
    return InboxRow(
        change=change,
        state=change.get_state_display(),
        tone=TONES[change.state],
        effect=_effect(change.impact),
        approvals_given=given,
        approvals_needed=max(change.approvals_needed, policy.approvals_needed(change.cluster)),
        waits_for_me=waits_for_me,
    )


def _effect(impact: Mapping[str, Any] | None) -> Effect | None:
    if impact is None:
        return None
    return Effect(
        gains=len(impact["gains"]),
        loses=len(impact["loses"]),
        recovered=len(impact["recovered"]),
        depends=len(impact["depends"]),
        unchanged=impact["unchanged"],
    )


def _steps(items: list[ChangeItem]) -> tuple[StepView, ...]:
    phases = [(phase, list(group)) for phase, group in groupby(items, key=lambda item: item.phase)]
    return tuple(
        StepView(
            number=number,
            phase=phase,
            op=group[0].op,
            title=PHASES.get(phase, "Write"),
            items=tuple(_item(item) for item in group),
        )
        for number, (phase, group) in enumerate(phases, start=1)
    )


def _item(item: ChangeItem) -> ItemView:
    return ItemView(
        item=item,
        binding=item.binding,
        says=says(item.binding),
        state=item.get_state_display(),
        tone=ITEM_TONES[item.state],
        sentence=item.sentence,
    )


def _approval(approval: Approval, counted: set[int]) -> ApprovalView:
    return ApprovalView(
        reviewer=approval.reviewer.get_username(),
        at=approval.at,
        comment=approval.comment,
        counts=approval.pk in counted,
    )
