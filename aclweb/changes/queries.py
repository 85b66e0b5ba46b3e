"""What do pages and the API show of changes? Each question has one answer, as one value.

Sentences come from here, so that a page, an API answer and the shell say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import (
    Count,
    Exists,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    prefetch_related_objects,
)

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.authorizer import edit_caveats
from aclweb.acl.model import AclBinding, Delta, acl_text
from aclweb.acl.notation import binding_key
from aclweb.acl.simulate import Impact
from aclweb.audit import trail
from aclweb.changes import gates, policy
from aclweb.changes.drift import Drift, drift_since_sync
from aclweb.changes.impact import distinct
from aclweb.changes.models import TONES, Approval, Change, ChangeError, ChangeItem, Comment, PolicyGate
from aclweb.changes.notes import commands_of, done_already
from aclweb.changes.plans import plan_of
from aclweb.changes.preview import Preview, TooMuch, preview
from aclweb.changes.question import any_computed
from aclweb.changes.replaying import replay_in
from aclweb.clusters import ClusterState
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists import LazyRows
from aclweb.inventory.models import Cluster

TABS = ("waiting", "mine", "all")

PHASES: Mapping[int, str] = {
    1: "Add DENY ACLs",
    2: "Add ALLOW ACLs",
    3: "Remove ALLOW ACLs",
    4: "Remove DENY ACLs",
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
    rows: Sequence[InboxRow]  # newest first
    counts: Mapping[str, int]  # rows of each tab


@dataclass(frozen=True)
class ItemView:
    """One ACL of the plan; what it says is worked out where a page shows it, since a plan may have thousands."""

    item: ChangeItem
    comments: tuple[Comment, ...] = ()

    @property
    def state(self) -> str:
        return self.item.get_state_display()

    @property
    def tone(self) -> str:
        return ITEM_TONES[self.item.state]

    @property
    def sentence(self) -> str:
        return self.item.sentence

    @property
    def binding(self) -> AclBinding:
        return self.item.binding

    @property
    def says(self) -> str:
        return acl_text(self.binding)


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
class Undo:
    """The newest change that is to undo another, and whether it did."""

    change: Change
    sentence: str


@dataclass(frozen=True)
class ChangePage:
    """Everything that the page of one change shows to one person."""

    change: Change
    state: str
    tone: str
    headline: str  # where the change stands, for everybody
    effect: Effect | None
    impact: Impact | None  # as of submission; for a draft as of the last sync
    warnings: tuple[str, ...]  # those of the effect, while there is something to decide
    as_of_now: Drift | None  # only while it waits: whether the effect is still the one submitted
    effect_now: Effect | None  # only where it is another than the one submitted
    impact_now: Impact | None
    load: Load | None  # the newest of the cluster's logs
    replay: Replay | None  # of the log with it; None where no log was read, or nothing is left to decide
    is_open: bool  # nobody has decided yet
    would_now: str  # what is left of it to do, where the cluster has some of its ACLs already
    steps: tuple[StepView, ...]
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    approvals: tuple[ApprovalView, ...]
    approvals_given: int
    approvals_needed: int
    gates: tuple[
        Mapping[str, str], ...
    ]  # `gates.Verdict.as_dict`: as of now while it waits, else as decided on
    lacking: str  # what must come beside the approvals that count, in words; empty where they are enough
    is_last_approval: bool  # whether this person's would be the last one needed
    is_written: bool  # by a worker, once it is approved; where not, it ends as commands
    reviewers: tuple[User, ...]  # whose approval would count, and has not been given
    acts: Mapping[str, Act]
    may_choose: bool  # some of its ACLs, to approve them alone; also where the whole is out of date
    comments: tuple[Comment, ...]  # on the whole, or on an ACL that has left the plan; the oldest first
    timeline: tuple[TimelineEntry, ...]  # newest first
    undo_of: Change | None
    undo: Undo | None
    progress: tuple[int, int]  # ACLs in place, ACLs in all
    under_way: bool  # a page may ask again soon


@dataclass(frozen=True)
class KeptChange:
    """What the page of a change shows once its cluster is removed: what was asked, who agreed, and what happened."""

    change: Change
    state: str
    tone: str
    effect: Effect | None  # as submitted
    steps: tuple[StepView, ...]
    approvals: tuple[Approval, ...]  # the oldest first
    comments: tuple[Comment, ...]  # on the whole, or on an ACL that has left the plan; the oldest first
    timeline: tuple[TimelineEntry, ...]  # newest first


_undone_again = Change.objects.filter(undo_of=OuterRef("pk"), state=Change.State.APPLIED)
_UNDONE = Exists(
    Change.objects.filter(undo_of=OuterRef("pk"), state=Change.State.APPLIED).exclude(Exists(_undone_again))
)


def item_state_words(change: Change) -> tuple[str, str]:
    """Return the state of a change, in words, and its tone. One that is undone is in force no more."""
    undone = getattr(change, "undone", None)  # `changes_of` brings it along, for lists
    if undone is None:
        undone = Change.objects.filter(pk=change.pk).filter(_UNDONE).exists()
    return ("undone", "quiet") if undone else (change.get_state_display(), TONES[change.state])


def changes_of(user: User, cluster: Cluster | None = None) -> QuerySet[Change]:
    """Return the changes that this person may see: those of visible clusters. Drafts are their author's alone."""
    seen = Change.objects.filter(cluster__in=access.visible_clusters(user))
    if cluster is not None:
        seen = seen.filter(cluster=cluster)
    others_drafts = Change.objects.filter(state=Change.State.DRAFT).exclude(author=user)
    return seen.exclude(pk__in=others_drafts.values("pk")).annotate(undone=_UNDONE)


def change_of(user: User, pk: int) -> Change | None:
    """Return one change if this person may see it."""
    found = changes_of(user).select_related(
        "cluster__revision", "author", "undo_of", "revision", "applied_revision"
    )
    found = found.annotate(
        has_approvals=Exists(Approval.objects.filter(change=OuterRef("pk"))),
        has_undos=Exists(Change.objects.filter(undo_of=OuterRef("pk"))),
        has_comments=Exists(Comment.objects.filter(change=OuterRef("pk"))),
        has_gates=Exists(PolicyGate.objects.filter(cluster=OuterRef("cluster"))),
        any_computed=any_computed(OuterRef("cluster")),
    )
    change = found.defer(None).defer("undo_of__packed_impact").filter(pk=pk).first()
    if change is not None:
        change.cluster.any_computed = change.any_computed  # type: ignore[attr-defined]
    return change


def kept_changes(user: User) -> QuerySet[Change]:
    """Return the changes of all removed clusters, newest first, to who may audit; to others none."""
    if not access.may_audit(user):
        return Change.objects.none()
    kept = Change.objects.filter(cluster__removed_at__isnull=False)
    return kept.select_related("cluster", "author").annotate(undone=_UNDONE).order_by("-pk")


def kept_change(user: User, pk: int) -> KeptChange | None:
    """Return one change of a removed cluster to who may audit; None for others, and for any other change."""
    change = kept_changes(user).filter(pk=pk).first()
    if change is None:
        return None
    items = list(change.items.all())
    said = list(change.comments.select_related("author"))
    on_items = _comments_by_place(items, said)
    state, tone = item_state_words(change)
    return KeptChange(
        change=change,
        state=state,
        tone=tone,
        effect=effect_of(change),
        steps=_steps(items, on_items),
        approvals=tuple(change.approvals.select_related("reviewer").order_by("at")),
        comments=_on_the_whole(said, on_items),
        timeline=_timeline(change),
    )


def in_force_since(cluster: Cluster, numbers: Collection[int]) -> dict[int, datetime]:
    """Return when each of these changes of the cluster came into force; none that is not in force."""
    if not numbers:
        return {}
    applied = Change.objects.filter(
        cluster=cluster, pk__in=numbers, state=Change.State.APPLIED, finished_at__isnull=False
    )
    return {pk: at for pk, at in applied.values_list("pk", "finished_at") if at is not None}


def change_of_revision(revision: OuterRef) -> Subquery:
    """Return, for a query of revisions, the number of the first change that was read back with each."""
    read_back = Change.objects.filter(applied_revision=revision).order_by("pk")
    return Subquery(read_back.values("pk")[:1])


def applied_at(cluster: QuerySet[Cluster, Any], number: OuterRef) -> Subquery:
    """Return, for a query of something else, what `in_force_since` says of the change with this number.

    cluster: a query for the number of one.
    """
    applied = Change.objects.filter(cluster__in=cluster, pk=number, state=Change.State.APPLIED)
    return Subquery(applied.values("finished_at")[:1])


def inbox(user: User, cluster: Cluster | None = None, tab: str = "waiting") -> Inbox:
    """Return the changes that wait for this person, are theirs, or are visible to them at all.

    An unknown tab is read as the first.
    """
    tab = tab if tab in TABS else TABS[0]
    every = changes_of(user, cluster)
    mine, waiting = every.filter(author=user), _waiting_among(user, every)
    listed = {"waiting": waiting, "mine": mine, "all": every}[tab]
    counts = {
        "waiting": waiting.count(),
        **every.aggregate(mine=Count("pk", filter=Q(author=user)), all=Count("pk")),
    }
    rows = LazyRows(counts[tab], lambda start, stop: _rows(listed, waiting, start, stop))
    return Inbox(tab=tab, rows=rows, counts=counts)


def change_page(change: Change, user: User, *, replay_days: int | None = None) -> ChangePage:
    """Return everything that the page of `change` shows to `user`. The caller has just read it with `change_of`.

    replay_days: the last ones of the log; None for all of it.
    """
    # `change_of` brings along whether there are any approvals, and any comments.
    has_approvals = getattr(change, "has_approvals", True)
    of_reviewers = Approval.objects.select_related("reviewer") if has_approvals else Approval.objects.none()
    prefetch_related_objects([change], Prefetch("approvals", of_reviewers))
    plan = plan_of(change)
    items = list(plan.items)
    said = list(change.comments.select_related("author")) if getattr(change, "has_comments", True) else []
    on_items = _comments_by_place(items, said)
    steps = _steps(items, on_items)
    view, held = in_force(change.cluster, just_read=True), access.holders(change.cluster)
    is_open, delta = change.state not in _FINISHED, plan.delta
    now, notes = _as_of_now(change, delta, view) if is_open else (None, ())
    waits = change.state in (_S.IN_REVIEW, _S.APPROVED, _S.BLOCKED_STALE)
    drift = drift_since_sync(change, view) if waits else None
    if drift is not None and drift.is_unknown and now is None:
        notes = ()  # said with the drift
    would_now = ""
    if waits and now is not None and (now.added_already or now.removed_already):
        would_now = _would_now(now, len(items))
        notes = tuple(
            note for note in notes if note not in done_already(now.added_already, now.removed_already)
        )
    moved = drift is not None and now is not None and (not drift.same_effect or bool(would_now))
    seen = change.impact
    if seen is None and now is not None:
        seen = now.impact
    approvals = policy.counted_approvals(change, held)
    counted = {approval.pk for approval in approvals.counted}
    given = tuple(
        _approval(approval, counted)
        for approval in sorted(change.approvals.all(), key=lambda approval: approval.at)
    )
    meant = now.impact if now is not None else seen
    required, verdicts = _gates(change, delta, view, meant if waits or change.state == _S.DRAFT else None)
    lacking = policy.lacking(change.cluster, approvals.counted, required, held)
    own = Approval(change=change, reviewer=user)
    may = policy.acts(change, user, held)
    load = current_load(change.cluster)
    state, tone = item_state_words(change)
    in_place = sum(item.state in (ChangeItem.State.APPLIED, ChangeItem.State.NOOP_ALREADY) for item in items)
    return ChangePage(
        change=change,
        state=state,
        tone=tone,
        headline=headline(change, given=len(counted), needed=required.approvals),
        effect=_effect(seen),
        impact=seen,
        # What the service hides may have been declared after the effect was fixed.
        warnings=distinct((*edit_caveats(view.settings), *(seen.warnings if seen is not None else ())))
        if is_open
        else (),
        as_of_now=drift,
        effect_now=_effect(now.impact) if moved and now is not None else None,
        impact_now=now.impact if moved and now is not None else None,
        load=load,
        replay=replay_in(load, view, delta, now.impact if now is not None else None, days=replay_days)
        if is_open
        else None,
        is_open=is_open,
        would_now=would_now,
        steps=steps,
        commands=tuple(now.commands) if now is not None else commands_of(delta, view),
        notes=(*notes, *approvals.sentences),
        approvals=given,
        approvals_given=len(counted),
        approvals_needed=required.approvals,
        gates=verdicts,
        lacking=lacking,
        is_last_approval=not policy.lacking(change.cluster, [*approvals.counted, own], required, held),
        is_written=policy.writable(change.cluster)[0],
        reviewers=tuple(
            person
            for person in policy.reviewers(change, held)
            if person.pk not in {approval.reviewer_id for approval in approvals.counted}
        ),
        acts=_acts(change, may, drift),
        may_choose=may["approve"][0] and len(items) > 1 and change.undo_of_id is None,
        comments=_on_the_whole(said, on_items),
        timeline=_timeline(change),
        undo_of=change.undo_of,
        undo=_undo_of(change, user),
        progress=(in_place, len(items)),
        under_way=change.state in _UNDER_WAY,
    )


def _timeline(change: Change) -> tuple[TimelineEntry, ...]:
    return tuple(
        TimelineEntry(event.at, event.actor, event.verb, trail.sentence(event))
        for event in trail.trail(change.key).order_by("-sequence")
    )


def _gates(
    change: Change, delta: Delta, view: ClusterView, impact: Impact | None
) -> tuple[policy.Required, tuple[Mapping[str, str], ...]]:
    """Return who must approve, and what the gates say: as of now while it waits, else as they were decided on.

    impact: that of a change which waits; None for others.
    """
    required = policy.Required(max(change.approvals_needed, policy.approvals_needed(change.cluster)))
    if impact is None:
        return required, tuple(change.gates)
    # `change_of` brings along whether there are any.
    found = gates.verdicts(view, delta, impact) if getattr(change, "has_gates", True) else ()
    return required | gates.required(view, found), tuple(each.as_dict() for each in found)


_S = Change.State
_UNDER_WAY = (_S.QUEUED, _S.PREFLIGHT, _S.APPLYING, _S.UNKNOWN, _S.VERIFYING)
# What a cluster holds now says nothing of these any more: it has their ACLs, or never will.
_FINISHED = (*_UNDER_WAY, _S.APPLIED, _S.REJECTED, _S.CANCELLED)


def _as_of_now(change: Change, delta: Delta, view: ClusterView) -> tuple[Preview | None, tuple[str, ...]]:
    """Return what the change would do to the cluster as it is, and what to note of it; None where that is too much."""
    try:
        now = preview(change.cluster, delta, requester=change.author_id, view=view)
    except TooMuch:
        return None, ("What this would do to the cluster as it is now is too much to compute for a page.",)
    except ChangeError as error:
        return None, (str(error),)
    return now, now.notes


def _would_now(now: Preview, count: int) -> str:
    """Return what is left of a change of so many ACLs, some of which are done already."""
    parts = [
        f"{_some(number, count)} {'is' if number == 1 else 'are'} {word} already"
        for number, word in ((now.added_already, "in force"), (now.removed_already, "gone"))
        if number
    ]
    left = "Now it would change nothing" if now.changes_nothing else "Now shows what the rest would change"
    return f"{', and '.join(parts)}. {left}."


def _some(number: int, count: int) -> str:
    if number == count:
        return "Its ACL" if count == 1 else "All its ACLs"
    return f"{number:,} of its ACLs"


def _acts(change: Change, may: Mapping[policy.Step, policy.Answer], drift: Drift | None) -> dict[str, Act]:
    """Return which steps a person may take; a stale change is not approved, its author is asked to submit again.

    may: of `policy.acts`.
    """
    acts: dict[str, Act] = {step: Act(*answer) for step, answer in may.items()}
    if drift is not None and not drift.lets_approve and acts["approve"].allowed:
        acts["approve"] = Act(False, f"Ask {change.author.get_username()} to submit it again.")
    return acts


def _undo_of(change: Change, user: User) -> Undo | None:
    """Return the change that undid this one, else the newest that would; others' drafts are left out."""
    if not getattr(change, "has_undos", True):  # `change_of` brings it along
        return None
    undos = list(change.undone_by.exclude(~Q(author=user), state=_S.DRAFT).order_by("-pk"))
    if not undos:
        return None
    done = next((undo for undo in undos if undo.state == _S.APPLIED), None)
    if done is not None:
        again = done.undone_by.filter(state=_S.APPLIED).order_by("-pk").first()
        return Undo(done, "undid it." if again is None else f"undid it, and {again.key} undid that.")
    undo = undos[0]
    return Undo(undo, f"would undo it: {undo.get_state_display()}.")


def headline(change: Change, *, given: int, needed: int) -> str:
    """Return the state of the change, as one sentence."""
    if change.state == _S.DRAFT:
        return "A draft: nobody has been asked yet."
    if change.state == _S.IN_REVIEW:
        sentence = f"Waiting for review: {given} of {needed} approval{'' if needed == 1 else 's'}."
        return f"{sentence} {change.sentence}".strip()
    if change.state == _S.QUEUED and change.cluster.state == ClusterState.UNREACHABLE:
        return f"{change.sentence} {change.cluster.state_sentence}".strip()
    sentence = change.get_state_display()
    return change.sentence or f"{sentence[:1].upper()}{sentence[1:]}."


def waiting_for(user: User) -> QuerySet[Change]:
    """Return the changes that wait for this person's approval, as the first tab of `inbox` lists them.

    One query answers for all of them, so that every page can count the first hundred.
    """
    return _waiting_among(user, Change.objects.all()).order_by()


def _waiting_among(user: User, every: QuerySet[Change]) -> QuerySet[Change]:
    """Return those of these changes that others wrote, and that this person may approve and has not approved."""
    given = policy.given_by(user).values("change")
    asked = every.filter(state=Change.State.IN_REVIEW).exclude(author=user).exclude(pk__in=given)
    return asked.filter(policy.within_rights(user))


def _rows(listed: QuerySet[Change], waiting: QuerySet[Change], start: int, stop: int) -> list[InboxRow]:
    """Return so many of the listed changes, newest first. waiting: those that wait for the person who looks."""
    changes = list(
        listed.select_related("cluster", "author").prefetch_related("approvals").order_by("-pk")[start:stop]
    )
    # Whether an approval is too old to count depends on what was written; few are so old.
    prefetch_related_objects([each for each in changes if policy.may_have_expired(each)], "items")
    for_me = set(waiting.filter(pk__in=[each.pk for each in changes]).values_list("pk", flat=True))
    return [_row(change, change.pk in for_me) for change in changes]


def _row(change: Change, waits_for_me: bool) -> InboxRow:
    given = sum(
        approval.plan_hash == change.plan_hash
        and approval.impact_hash == change.impact_hash
        and not policy.has_expired(approval, change)
        for approval in change.approvals.all()
    )
    state, tone = item_state_words(change)
    return InboxRow(
        change=change,
        state=state,
        tone=tone,
        effect=effect_of(change),
        approvals_given=given,
        approvals_needed=max(change.approvals_needed, policy.approvals_needed(change.cluster)),
        waits_for_me=waits_for_me,
    )


def effect_of(change: Change) -> Effect | None:
    """Return the numbers of the stored effect, without reading the effect."""
    if change.gains is None:
        return None
    return Effect(
        gains=change.gains,
        loses=change.loses or 0,
        recovered=change.recovered or 0,
        depends=change.depends or 0,
        unchanged=change.unchanged or 0,
    )


def _effect(impact: Impact | None) -> Effect | None:
    return None if impact is None else Effect(**impact.counts, unchanged=impact.unchanged)


def _comments_by_place(items: list[ChangeItem], said: Iterable[Comment]) -> dict[int, list[Comment]]:
    """Return the comments on single ACLs that are still asked for, by the places of these in the plan."""
    by_key: dict[str, list[Comment]] = {}
    for comment in said:
        if comment.acl_key:
            by_key.setdefault(comment.acl_key, []).append(comment)
    if not by_key:
        return {}
    keys = {item.position: binding_key(item.binding) for item in items}
    return {place: by_key[key] for place, key in keys.items() if key in by_key}


def _on_the_whole(said: Iterable[Comment], on_items: Mapping[int, list[Comment]]) -> tuple[Comment, ...]:
    """Return the comments on no ACL that is still asked for."""
    placed = {comment.pk for comments in on_items.values() for comment in comments}
    return tuple(comment for comment in said if comment.pk not in placed)


def _steps(items: list[ChangeItem], comments: Mapping[int, list[Comment]]) -> tuple[StepView, ...]:
    phases = [(phase, list(group)) for phase, group in groupby(items, key=lambda item: item.phase)]
    return tuple(
        StepView(
            number=number,
            phase=phase,
            op=group[0].op,
            title=PHASES.get(phase, "Write"),
            items=tuple(ItemView(item, tuple(comments.get(item.position, ()))) for item in group),
        )
        for number, (phase, group) in enumerate(phases, start=1)
    )


def _approval(approval: Approval, counted: set[int]) -> ApprovalView:
    return ApprovalView(
        reviewer=approval.reviewer.get_username(),
        at=approval.at,
        comment=approval.comment,
        counts=approval.pk in counted,
    )
