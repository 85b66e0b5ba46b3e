"""What people do with a change: draft, edit, submit, approve, reject, withdraw, run, undo.

Each is one function that pages, the API and the shell all call: one transaction with
its audit event inside, and the worker rung after the commit. Each raises ChangeError
with a sentence if this change, or this person, may not take that step now.

No effect is worked out inside a transaction, which would keep every writer of the database
waiting. It is worked out before; inside, the revision, the settings and the rows that it was
worked out from are compared, and where they moved it is begun anew.

What a reviewer approves is fixed by two hashes. An edit makes others, so it voids every
approval; a cluster that moved so that the effect differs stops an approval, and the
worker asks the same again before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any, Protocol, TypeVar

from django.db import transaction
from django.db.models.functions import Now

from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, acl_text
from aclweb.acl.notation import binding_key
from aclweb.acl.simulate import Impact
from aclweb.audit import trail
from aclweb.changes import gates, policy, tasks
from aclweb.changes.drift import drift_since_sync
from aclweb.changes.models import Change, ChangeError, ChangeItem, Comment
from aclweb.changes.preview import Preview, check, plan_hash, preview, steps_of
from aclweb.changes.same_edit import edited_since, is_same_edit
from aclweb.changes.stored_impact import stored
from aclweb.inventory.current import BINDING_COLUMNS, ClusterView, in_force, settings_of
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.store import insert

trail.register("change.drafted", "{actor} drafted this change: {rules}.")
trail.register("change.edited", "{actor} edited this change: {rules}. Approvals so far are void.")
trail.register("change.submitted", "{actor} submitted it: {effect}. It needs {needed}.")
trail.register("change.approved", "{actor} approved it ({given} of {needed}).{said}")
trail.register("change.approval_refused", "{actor} wanted to approve it, and it is out of date: {why}")
trail.register("change.commented", "{actor} commented{on}.{said}")
trail.register("change.asked_again", "{actor} asked {author} to submit it again.{said}")
trail.register("change.split", "{actor} left out {rest}, now {other}: {effect}. It needs {needed}.")
trail.register("change.split_off", "{actor} left {rules} out of {of}, now this draft of {author}.")
trail.register("change.rejected", "{actor} rejected it.{said}")
trail.register("change.withdrawn", "{actor} withdrew it.")
trail.register("change.queued", "It waits for a worker.")
trail.register("change.rerun", "{actor} asked a worker to go on with it.")
trail.register("change.exported", "It is approved; its commands can be copied. {why}")
trail.register("change.undo_drafted", "{actor} drafted {undo} to undo it.")


LONGEST_TICKET = 500
LONGEST_COMMENT = 5_000
MOST_COMMENTS = 500
"""Of one change: its page lists all of them."""

_NO_SUCH_ACL = "{} has no such ACL any more; look at it again."

# How often an effect is worked out anew because the cluster moved meanwhile.
MOST_TRIES = 4

_T = TypeVar("_T")
_Plan = tuple[tuple[int, str, AclBinding], ...]
_ITEM_COLUMNS = ("change", "position", "phase", "op", *BINDING_COLUMNS, "state", "sentence", "evidence")


class _Moved(Exception):
    """What the effect was worked out from moved before it could be stored; the transaction is undone."""


def request(
    *,
    cluster: Cluster,
    author: User,
    title: str,
    reason: str = "",
    ticket: str = "",
    delta: Delta,
    computed_on: ClusterView | None = None,
) -> Change:
    """Store a change and hand it in for review, together or not at all: a refused one leaves no draft.

    computed_on: the cluster as of the revision for which a worker has computed the impact; as it is now if left out.
    """
    words = _Words.of(title, reason, ticket)
    plan = _plan(delta)
    _may_request(cluster, author, plan)

    def once() -> Change:
        seen, gates_say = _seen(cluster, delta, author.pk, computed_on)
        with transaction.atomic():
            change = _drafted(cluster, author, words, plan)
            return _fix(_locked(change), author, seen, gates_say, is_of_now=computed_on is None)

    return _until_still(once)


def draft(
    *,
    cluster: Cluster,
    author: User,
    title: str,
    reason: str = "",
    ticket: str = "",
    delta: Delta,
    undo_of: Change | None = None,
) -> Change:
    """Store a new draft and return it."""
    words = _Words.of(title, reason, ticket)
    plan = _plan(delta)
    _may_request(cluster, author, plan)
    with transaction.atomic():
        return _drafted(cluster, author, words, plan, undo_of)


@dataclass(frozen=True)
class _Words:
    """What its author says of a change."""

    title: str
    reason: str
    ticket: str

    @classmethod
    def of(cls, title: str, reason: str, ticket: str) -> _Words:
        """Return what a person wrote as it is stored; raises ChangeError with a sentence."""
        return cls(_title(title), _words("reason", reason), _ticket(ticket))


def _drafted(
    cluster: Cluster, author: User, words: _Words, plan: _Plan, undo_of: Change | None = None
) -> Change:
    """Store a draft whose words, plan and right have been looked at: that takes time, and this holds a lock."""
    change = _created(cluster, author, words, plan, undo_of)
    trail.record(
        actor=author,
        verb="change.drafted",
        target=change.key,
        rules=_acls_in_words(plan),
        cluster=cluster.slug,
        title=words.title,
    )
    return change


def _created(
    cluster: Cluster, author: User, words: _Words, plan: _Plan, undo_of: Change | None = None
) -> Change:
    """Store a draft; whoever calls this records who made it."""
    change = Change.objects.create(
        cluster=cluster,
        title=words.title,
        reason=words.reason,
        ticket=words.ticket,
        author=author,
        undo_of=undo_of,
    )
    _store_items(change, plan)
    return change


def edit(
    *,
    change: Change,
    actor: User,
    title: str | None = None,
    reason: str | None = None,
    delta: Delta | None = None,
) -> Change:
    """Change what is asked for; the change is a draft again and its approvals are void."""
    with transaction.atomic():
        change = _locked(change)
        _require("edit", change, actor)
        plan = _plan(delta if delta is not None else change.delta)
        _may_request(change.cluster, actor, plan)
        change.approvals.all().delete()
        change.items.all().delete()
        _store_items(change, plan)
        _move(
            change,
            to=Change.State.DRAFT,
            epoch=change.epoch + 1,
            title=_title(title if title is not None else change.title),
            reason=_words("reason", reason if reason is not None else change.reason),
            revision=None,
            plan_hash="",
            impact_hash="",
            sentence="",
            **stored(None),
        )
        trail.record(actor=actor, verb="change.edited", target=change.key, rules=_acls_in_words(plan))
    return change


def submit(
    *, change: Change, actor: User, computed_on: ClusterView | None = None, shown: Delta | None = None
) -> Change:
    """Fix what is asked for and what it means now, and wait for review; earlier approvals are void.

    computed_on: as in `request`. shown: the edit whose impact the page showed. A change that asks for
    another by now is refused; so is one edited before it is locked, because that begins anew.
    """

    def once() -> Change:
        asked = _read(change)
        _require("submit", asked, actor)
        if shown is not None and not is_same_edit(asked.delta, shown):
            raise ChangeError(edited_since(asked))
        seen, gates_say = _seen(asked.cluster, asked.delta, asked.author_id, computed_on)
        with transaction.atomic():
            return _fix(_locked(change), actor, seen, gates_say, is_of_now=computed_on is None)

    return _until_still(once)


@dataclass(frozen=True)
class _GatesSay:
    """What the gates of a cluster say of an edit, and who must approve it therefore."""

    verdicts: tuple[gates.Verdict, ...]
    required: policy.Required

    @classmethod
    def of(cls, view: ClusterView, delta: Delta, impact: Impact | None) -> _GatesSay:
        found = gates.verdicts(view, delta, impact)
        return cls(found, gates.required(view, found))

    @property
    def stored(self) -> list[dict[str, str]]:
        return [verdict.as_dict() for verdict in self.verdicts]


def _seen(
    cluster: Cluster, delta: Delta, requester: int, computed_on: ClusterView | None = None
) -> tuple[Preview, _GatesSay]:
    """Return the effect that a submission fixes and what gates say; raises ChangeError where there is none to fix."""
    if computed_on is not None and computed_on.settings != settings_of(Cluster.objects.get(pk=cluster.pk)):
        raise ChangeError(
            f"What is declared of {cluster.name} has changed since this impact was computed; compute it again."
        )
    view = computed_on or in_force(cluster)
    seen = preview(cluster, delta, requester=requester, view=view)
    if seen.revision is None:
        raise ChangeError(
            f"{cluster.name} has not been synced yet, so what this change would do is unknown. "
            "Wait for the first sync."
        )
    if seen.changes_nothing:
        raise ChangeError(f"There is nothing to do: {cluster.name} is already as this change asks.")
    gates_say = _GatesSay.of(view, delta, seen.impact)
    if refused := gates.refusals(gates_say.verdicts):
        raise ChangeError(" ".join(refused))
    return seen.with_hashes(), gates_say


def _fix(
    change: Change, actor: User, seen: Preview, gates_say: _GatesSay, *, is_of_now: bool = True
) -> Change:
    """Store the effect with the locked change and hand it in; raises _Moved where it is another's by now.

    is_of_now: whether it must be that of the cluster as it is now; reviewers are told what has changed since.
    """
    _require("submit", change, actor)
    _hand_in(change, seen, gates_say, is_of_now=is_of_now)
    trail.record(actor=actor, verb="change.submitted", target=change.key, **_recorded(seen, gates_say))
    return change


def _recorded(seen: Preview, gates_say: _GatesSay) -> dict[str, Any]:
    """Return what the trail keeps of an impact that is handed in."""
    counts = seen.impact.counts
    return {
        "effect": effect_words(gains=counts["gains"], loses=counts["loses"], depends=counts["depends"]),
        "needed": gates_say.required.words,
        "revision": seen.revision.number if seen.revision is not None else None,
        "plan_hash": seen.plan_hash,
        "impact_hash": seen.impact_hash,
    }


def _hand_in(change: Change, seen: Preview, gates_say: _GatesSay, *, is_of_now: bool) -> None:
    """Have the locked change wait for review with this effect; earlier approvals are void."""
    items = [(item.phase, item.op, item.binding) for item in change.items.all()]
    if plan_hash(change.cluster, change.author_id, items) != seen.plan_hash:
        raise _Moved
    if is_of_now:
        _require_still(change.cluster, seen.revision, seen.settings)
    change.approvals.all().delete()
    _move(
        change,
        to=Change.State.IN_REVIEW,
        epoch=change.epoch + 1,
        revision=seen.revision,
        plan_hash=seen.plan_hash,
        impact_hash=seen.impact_hash,
        approvals_needed=gates_say.required.approvals,
        gates=gates_say.stored,
        attempts=0,
        waits=0,
        submitted_at=Now(),
        decided_at=None,
        sentence="",
        **stored(seen.impact),
    )


def approve(*, change: Change, reviewer: User, comment: str = "", plan_hash: str | None = None) -> Change:
    """Record one approval; the last one needed queues the change for a worker.

    plan_hash: what the reviewer's page showed, so that an edit made meanwhile is not
    approved unseen. On a cluster that aclweb does not write to, the change stays
    approved and its commands are to be copied.
    """

    def once() -> Change:
        asked = _read(change)
        _require_shown(asked, reviewer, plan_hash)
        view = in_force(asked.cluster)
        moved = drift_since_sync(asked, view)
        gates_say = _GatesSay.of(view, asked.delta, asked.impact) if moved.lets_approve else None
        with transaction.atomic():
            locked = _locked(change)
            _require_shown(locked, reviewer, plan_hash)
            if (locked.epoch, locked.impact_hash) != (asked.epoch, asked.impact_hash):
                raise _Moved
            _require_still(locked.cluster, view.revision, view.settings)
            if gates_say is not None:
                return _approved(locked, reviewer, comment, gates_say)
            why = " ".join(moved.sentences)
            trail.record(actor=reviewer, verb="change.approval_refused", target=locked.key, why=why)
        raise StaleError(
            f"{locked.key} is out of date: its impact is no longer the one that was submitted. "
            f"Ask {locked.author.get_username()} to submit it again."
        )

    return _until_still(once)


class StaleError(ChangeError):
    """An approval of a change whose effect is no longer the one that was submitted."""


def _require_shown(change: Change, reviewer: User, plan_hash: str | None) -> None:
    _require("approve", change, reviewer)
    if plan_hash is not None and plan_hash != change.plan_hash:
        raise ChangeError("This change was edited after your page was made; look at it again.")


def _approved(change: Change, reviewer: User, comment: str, gates_say: _GatesSay) -> Change:
    """Record the approval of the locked change, whose effect was found to be the same, and of which gates say so."""
    change.approvals.filter(reviewer=reviewer).delete()  # one that has expired
    change.approvals.create(
        reviewer=reviewer,
        plan_hash=change.plan_hash,
        impact_hash=change.impact_hash,
        comment=_words("comment", comment),
    )
    required = gates_say.required | policy.Required(change.approvals_needed)
    counted = policy.counted_approvals(change).counted
    given, needed = len(counted), required.approvals
    lacking = policy.lacking(change.cluster, counted, required)
    trail.record(
        actor=reviewer,
        verb="change.approved",
        target=change.key,
        given=given,
        needed=needed,
        said=_said(comment),
        plan_hash=change.plan_hash,
        impact_hash=change.impact_hash,
    )
    if lacking:
        _move(change, to=Change.State.IN_REVIEW, gates=gates_say.stored, approvals_needed=needed)
    else:
        _move(change, to=Change.State.APPROVED, gates=gates_say.stored, decided_at=Now(), sentence="")
        _hand_over(change)
    return change


def approve_some(
    *,
    change: Change,
    reviewer: User,
    positions: Collection[int],
    impact_hash: str,
    comment: str = "",
    plan_hash: str | None = None,
) -> Change:
    """Approve some of the ACLs of a change, by their places in its plan; the others become a draft of its author.

    The change waits with the ACLs that are approved, and this is the first approval of it: earlier ones are void.
    impact_hash: of `preview_of_some`, which the reviewer's page showed.
    """

    def once() -> Change:
        asked = _read(change)
        _require_shown(asked, reviewer, plan_hash)
        kept, rest = _parted(asked, positions)
        plan, plan_of_rest = _plan(kept), _plan(rest)
        seen, gates_say = _seen(asked.cluster, kept, asked.author_id)
        if seen.impact_hash != impact_hash:
            raise StaleError(
                "What these ACLs would change is no longer what your page showed; look at it again."
            )
        with transaction.atomic():
            locked = _locked(change)
            _require_shown(locked, reviewer, plan_hash)
            if locked.epoch != asked.epoch:
                raise _Moved
            words = _Words(f"The rest of {locked.key}: {locked.title}"[:200], locked.reason, locked.ticket)
            other = _created(locked.cluster, locked.author, words, plan_of_rest)
            trail.record(
                actor=reviewer,
                verb="change.split_off",
                target=other.key,
                rules=_acls_in_words(plan_of_rest),
                of=locked.key,
                author=locked.author.get_username(),
            )
            locked.items.all().delete()
            _store_items(locked, plan)
            narrowed = _locked(locked)
            _hand_in(narrowed, seen, gates_say, is_of_now=True)
            trail.record(
                actor=reviewer,
                verb="change.split",
                target=narrowed.key,
                rest=_acls_in_words(plan_of_rest),
                other=other.key,
                **_recorded(seen, gates_say),
            )
            return _approved(narrowed, reviewer, comment, gates_say)

    return _until_still(once)


def preview_of_some(change: Change, positions: Collection[int]) -> Preview:
    """Return what the ACLs at these places of the plan would do alone; raises ChangeError for no ACL, or all."""
    kept, _ = _parted(change, positions)
    return preview(change.cluster, kept, requester=change.author_id)


def _parted(change: Change, positions: Collection[int]) -> tuple[Delta, Delta]:
    """Return the ACLs at these places, and the others; raises ChangeError where either are none."""
    if change.undo_of_id is not None:
        raise ChangeError(f"{change.key} is an undo, which is approved or rejected whole.")
    items = list(change.items.all())
    chosen = {item.position for item in items} & set(positions)
    kept, rest = (
        _delta_of(item for item in items if (item.position in chosen) is is_kept) for is_kept in (True, False)
    )
    if not kept:
        raise ChangeError("Choose the ACLs to approve; none is chosen.")
    if not rest:
        raise ChangeError("All its ACLs are chosen; approve the whole change instead.")
    return kept, rest


def _delta_of(items: Iterable[ChangeItem]) -> Delta:
    by_op: dict[str, list[AclBinding]] = {ChangeItem.Op.ADD: [], ChangeItem.Op.REMOVE: []}
    for item in items:
        by_op[item.op].append(item.binding)
    return Delta(add=tuple(by_op[ChangeItem.Op.ADD]), remove=tuple(by_op[ChangeItem.Op.REMOVE]))


def comment(*, change: Change, actor: User, text: str, acl_key: str = "") -> Comment:
    """Say something of a change, or of the one of its ACLs with a key (`binding_key`), and decide nothing."""
    said = "\n".join(_words("comment", text).splitlines())
    if not said:
        raise ChangeError("A comment needs some words; type them.")
    binding = _with_key(change, acl_key) if acl_key else None
    with transaction.atomic():
        change = _locked(change)
        if binding is not None:
            _check_asked_for(change, binding)
        found = _commented(change, actor, said, acl_key)
        trail.record(
            actor=actor,
            verb="change.commented",
            target=change.key,
            on="" if binding is None else f" on {acl_text(binding)}",
            said=_said(said),
        )
        return found


def ask_again(*, change: Change, reviewer: User, text: str = "") -> Comment:
    """Ask the author to submit a change again whose impact is another one now; once for each submission.

    text: what else the reviewer says. It is a comment, and decides nothing.
    """
    asked = _read(change)
    _require("reject", asked, reviewer)
    if drift_since_sync(asked, in_force(asked.cluster)).lets_approve:
        raise ChangeError(
            f"The impact of {asked.key} is still the one that was submitted, so it need not be submitted again."
        )
    said = "\n".join(filter(None, (_ASK_AGAIN, *_words("comment", text).splitlines())))
    with transaction.atomic():
        locked = _locked(asked)
        _require("reject", locked, reviewer)
        if reviewer.get_username() in asked_again_by(trail.trail(locked.key).order_by("-sequence")):
            author = locked.author.get_username()
            raise ChangeError(f"You have asked {author} already to submit {locked.key} again.")
        found = _commented(locked, reviewer, said)
        trail.record(
            actor=reviewer,
            verb="change.asked_again",
            target=locked.key,
            author=locked.author.get_username(),
            said=_said(text),
        )
        return found


_ASK_AGAIN = "Please submit this again, so that the impact of now is the one that is reviewed."


# After either, the impact that is reviewed is the one of then.
_WORKED_OUT = ("change.submitted", "change.split")


def asked_again_by(newest_first: Iterable[_Told]) -> tuple[str, ...]:
    """Return who asked that a change be submitted again since its impact was last worked out, by its events."""
    since = takewhile(lambda event: event.verb not in _WORKED_OUT, newest_first)
    return tuple(event.actor for event in since if event.verb == "change.asked_again")


class _Told(Protocol):
    """What was done, and who did it."""

    @property
    def verb(self) -> str: ...

    @property
    def actor(self) -> str: ...


def _commented(locked: Change, actor: User, said: str, acl_key: str = "") -> Comment:
    """Store what somebody says of a locked change; raises ChangeError for too much of it."""
    if len(said) > LONGEST_COMMENT:
        raise ChangeError(
            f"The comment has {len(said):,} characters, and at most {LONGEST_COMMENT:,} are kept; shorten it."
        )
    if locked.comments.count() >= MOST_COMMENTS:
        raise ChangeError(f"{locked.key} has {MOST_COMMENTS} comments, and no more are kept.")
    return locked.comments.create(author=actor, text=said, acl_key=acl_key)


def _with_key(change: Change, key: str) -> AclBinding:
    """Return the ACL of a change with this key, or raise ChangeError."""
    for item in change.items.all():
        if binding_key(item.binding) == key:
            return item.binding
    raise ChangeError(_NO_SUCH_ACL.format(change.key))


def _check_asked_for(change: Change, binding: AclBinding) -> None:
    """Raise ChangeError unless a locked change still has this ACL."""
    if not change.items.filter(**dict(zip(BINDING_COLUMNS, _columns(binding), strict=True))).exists():
        raise ChangeError(_NO_SUCH_ACL.format(change.key))


def reject(*, change: Change, reviewer: User, comment: str) -> Change:
    """Refuse the change, with a reason that its author can use."""
    if not _words("comment", comment):
        raise ChangeError("Say why you reject this change; its author has to know what would be right.")
    with transaction.atomic():
        change = _locked(change)
        _require("reject", change, reviewer)
        _move(
            change,
            to=Change.State.REJECTED,
            epoch=change.epoch + 1,
            decided_at=Now(),
            finished_at=Now(),
            sentence=f"Rejected by {reviewer.get_username()}: {comment.strip()}",
        )
        trail.record(actor=reviewer, verb="change.rejected", target=change.key, said=_said(comment))
    return change


def withdraw(*, change: Change, actor: User) -> Change:
    """Give the change up before anything of it is written."""
    with transaction.atomic():
        change = _locked(change)
        _require("withdraw", change, actor)
        _move(
            change,
            to=Change.State.CANCELLED,
            epoch=change.epoch + 1,
            finished_at=Now(),
            sentence=f"Withdrawn by {actor.get_username()}.",
        )
        trail.record(actor=actor, verb="change.withdrawn", target=change.key)
    return change


def queue(*, change: Change, actor: User) -> Change:
    """Hand an approved change, or one that ended half-way, to a worker.

    What was approved still holds: the worker checks plan, approvals and impact again.
    """
    with transaction.atomic():
        change = _locked(change)
        _require("queue", change, actor)
        trail.record(actor=actor, verb="change.rerun", target=change.key)
        _to_worker(change)
    return change


def draft_undo(*, change: Change, actor: User) -> Change:
    """Draft the inverse of what this change has written, and of nothing that was in place already."""
    with transaction.atomic():
        change = _locked(change)
        _require("undo", change, actor)
        written = change.items.filter(state=ChangeItem.State.APPLIED)
        inverse = Delta(
            add=tuple(item.binding for item in written if item.op == ChangeItem.Op.REMOVE),
            remove=tuple(item.binding for item in written if item.op == ChangeItem.Op.ADD),
        )
        undo = draft(
            cluster=change.cluster,
            author=actor,
            title=f"Undo {change.key}: {change.title}"[:200],
            reason=f"Takes back what {change.key} wrote.",
            delta=inverse,
            undo_of=change,
        )
        trail.record(actor=actor, verb="change.undo_drafted", target=change.key, undo=undo.key)
    return undo


def effect_words(*, gains: int, loses: int, depends: int) -> str:
    """Return the numbers of an impact in words: `5 gained, 0 lost`."""
    counts = f"{gains:,} gained, {loses:,} lost"
    return f"{counts}, {depends:,} depending" if depends else counts


def _hand_over(change: Change) -> None:
    """Queue an approved change, or leave it approved where aclweb does not write."""
    can_write, why_not = policy.writable(change.cluster)
    if can_write:
        _to_worker(change)
        return
    _move(change, to=Change.State.APPROVED, sentence=why_not)
    trail.record(actor="aclweb", verb="change.exported", target=change.key, why=why_not)


def _to_worker(change: Change) -> None:
    _move(
        change,
        to=Change.State.QUEUED,
        attempts=0,
        waits=0,
        not_before=None,
        finished_at=None,
        sentence="Waits for a worker.",
    )
    trail.record(actor="aclweb", verb="change.queued", target=change.key)
    # After the commit, or a worker could read the old state. A queue that is down only
    # delays the change: the sweep rings again.
    transaction.on_commit(partial(tasks.apply_change.delay, change.pk), robust=True)


def _read(change: Change) -> Change:
    """Return the row as it is now, with what an effect is worked out from."""
    return Change.objects.select_related("cluster", "author", "revision").get(pk=change.pk)


def _until_still(once: Callable[[], _T]) -> _T:
    """Return the answer of the first try during which nothing moved."""
    for _ in range(MOST_TRIES):
        try:
            return once()
        except _Moved:
            continue
    raise ChangeError("The cluster or the change changed each time its impact was computed; try again.")


def _require_still(cluster: Cluster, revision: Revision | None, settings: AuthorizerSettings) -> None:
    """Raise _Moved unless this is still what is in force there, by one small query."""
    fresh = Cluster.objects.get(pk=cluster.pk)
    if fresh.revision_id != (revision.pk if revision is not None else None) or settings_of(fresh) != settings:
        raise _Moved


def _may_request(cluster: Cluster, person: User, plan: _Plan) -> None:
    names = policy.names_reached(binding for *_, binding in plan)
    allowed, why_not = policy.may_request(cluster, person, names)
    if not allowed:
        raise ChangeError(why_not)


def _locked(change: Change) -> Change:
    """Return the row as it is now, held until the transaction ends."""
    return (
        Change.objects.select_for_update(of=("self",)).select_related("cluster", "author").get(pk=change.pk)
    )


def _require(step: policy.Step, change: Change, user: User) -> None:
    allowed, why_not = policy.may(step, change, user)
    if not allowed:
        raise ChangeError(why_not)


def _move(change: Change, *, to: Change.State, **values: Any) -> None:
    if not change.move(to=to, **values):
        raise ChangeError(f"Somebody else moved {change.key} at the same moment; look at it again.")


def _plan(delta: Delta) -> _Plan:
    """Return the rows of this delta in the order of writing, or raise ChangeError if it cannot be asked for."""
    if not (delta.add or delta.remove):
        raise ChangeError("This change has no ACL; name at least one to add or to remove.")
    check(delta)
    return steps_of(delta.steps())


def _store_items(change: Change, plan: _Plan) -> None:
    insert(
        ChangeItem,
        _ITEM_COLUMNS,
        (
            (change.pk, position, phase, op, *_columns(binding), ChangeItem.State.PENDING.value, "", {})
            for position, (phase, op, binding) in enumerate(plan)
        ),
    )


def _columns(binding: AclBinding) -> tuple[str, ...]:
    values = binding.as_dict()
    return tuple(values[column] for column in BINDING_COLUMNS)


def _title(text: str) -> str:
    title = " ".join(_words("title", text).split())
    if not title:
        raise ChangeError("A change needs a title: a few words that say what it is for.")
    if len(title) > 200:
        raise ChangeError(f"A title has at most 200 characters, and this one has {len(title)}; shorten it.")
    return title


def _ticket(text: str) -> str:
    ticket = " ".join(_words("ticket", text).split())
    if len(ticket) > LONGEST_TICKET:
        raise ChangeError(
            f"The ticket has {len(ticket):,} characters, and at most {LONGEST_TICKET} are kept; give its address."
        )
    return ticket


def _acls_in_words(plan: _Plan) -> str:
    adds = sum(op == ChangeItem.Op.ADD for _, op, _ in plan)
    parts = [
        f"{number} to {word}" for number, word in ((adds, "add"), (len(plan) - adds, "remove")) if number
    ]
    return ", ".join(parts)


def _said(comment: str) -> str:
    said = " ".join(_words("comment", comment).split())
    return f" “{said}”" if said else ""


def _words(what: str, text: str) -> str:
    """Return what a person wrote, without spaces around it; raises ChangeError for what no database keeps."""
    if "\x00" in text:
        raise ChangeError(f"The {what} holds a NUL character (\\u0000), which cannot be stored; take it out.")
    return text.strip()
