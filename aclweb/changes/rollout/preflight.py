"""Is the change still what was approved, and may it still be written? Asked before anything is."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from django.db import transaction

from aclweb.acl.model import number_of
from aclweb.acl.simulate import ON_A_WORKER
from aclweb.audit import trail
from aclweb.changes import failpoints, gates, policy
from aclweb.changes.drift import drift
from aclweb.changes.impact import Content
from aclweb.changes.models import Change, ChangeItem
from aclweb.changes.preview import plan_hash
from aclweb.changes.rollout.hold import Item, Run, State, blocked, step
from aclweb.changes.rollout.settle import settle
from aclweb.changes.rollout.words import acls, items_in_words, patterns_in_words
from aclweb.clusters import AclSnapshot, ClusterClient
from aclweb.inventory.current import in_force, settings_of

# Nobody waits for a page here, and what a reviewer could not be told is computed now at the latest.
BUDGET = ON_A_WORKER

LONG_CHECK_SECONDS = 10.0
"""A check that took longer is followed by a second reading of the cluster, which must be the same."""

MOST_CHECKS = 3


def check_paper(run: Run) -> None:
    """Refuse unless stored plan, approvals and rights are those that were agreed on."""
    change = run.change
    allowed, why_not = policy.writable(change.cluster)
    if not allowed:
        raise blocked(run, State.APPROVED, "change.returned", why_not)

    items = list(change.items.all())
    steps = [(item.phase, item.op, item.binding) for item in items]
    recomputed = plan_hash(change.cluster, change.author_id, steps)
    recorded = {
        (event.actor, event.facts.get("plan_hash"))
        for event in trail.trail(change.key).filter(verb="change.approved")
    }
    approvals = change.approvals.select_related("reviewer")
    if recomputed != change.plan_hash or any(
        approval.plan_hash != recomputed or (approval.reviewer.get_username(), recomputed) not in recorded
        for approval in approvals
    ):
        why = "What is stored is not what was approved: ACLs, author or cluster were altered since."
        raise blocked(run, State.FAILED, "change.refused", why)

    current = policy.counted_approvals(change)
    required, because, refused = _required(change)
    if refused:
        raise blocked(run, State.FAILED, "change.refused", " ".join([*refused, "Nothing was written."]))
    if lacking := policy.lacking(change.cluster, current.counted, required):
        counted = f"{len(current.counted)} of {number_of(required.approvals, 'approval')} count now"
        why = " ".join([*current.sentences, *because, f"{counted}, so it needs {lacking}."])
        with transaction.atomic():
            stop = blocked(run, State.IN_REVIEW, "change.returned", why)
            if change.state == State.IN_REVIEW:
                change.approvals.filter(pk__in=[approval.pk for approval in current.lost]).delete()
        raise stop


def _required(change: Change) -> tuple[policy.Required, list[str], list[str]]:
    """Return who must approve by the gates as they are now, what those say that are not met, and why it is refused.

    What has been begun is finished under the approvals that it began with.
    """
    required = policy.Required(change.approvals_needed)
    if change.has_effects:
        return required, [], []
    view = in_force(change.cluster)
    found = gates.verdicts(view, change.delta, change.impact)
    because = [each.sentence for each in found if not each.is_open]
    return required | gates.required(view, found), because, gates.refusals(found)


def preflight(run: Run, client: ClusterClient) -> None:
    """Read the cluster afresh and go on only if the change still means what was approved."""
    change = run.change
    facts = client.describe()
    reading = client.read_acls()
    topics = tuple(topic.name for topic in client.read_topics())
    groups = client.read_groups()
    failpoints.hit("read")

    if facts.migrating:
        why = "A migration to KRaft is under way on this cluster, and edits in ZooKeeper could be lost."
        raise blocked(run, State.FAILED, "change.refused", why)
    if facts.cluster_id and change.cluster.cluster_id and facts.cluster_id != change.cluster.cluster_id:
        why = (
            f"Another cluster answers at this address: {facts.cluster_id!r} instead of "
            f"{change.cluster.cluster_id!r}. Nothing was written."
        )
        raise blocked(run, State.FAILED, "change.refused", why)
    items = list(change.items.all())
    now = Content(reading.bindings, topics, groups or ())
    for _ in range(MOST_CHECKS):
        _refuse_unreadable(run, items, reading)
        begun = monotonic()
        moved = drift(change, now, settings_of(change.cluster), budget=BUDGET)
        if not moved.same_effect:
            raise blocked(run, State.BLOCKED_STALE, "change.stale", " ".join(moved.sentences))
        if monotonic() - begun < LONG_CHECK_SECONDS:
            break
        # Others may have written meanwhile.
        reading = client.read_acls()
        topics = tuple(topic.name for topic in client.read_topics())
        before, now = now, Content(reading.bindings, topics, client.read_groups() or ())
        if _holds_the_same(before, now):
            break
    else:
        why = f"The cluster has changed during each of {MOST_CHECKS} checks of the impact, so nothing was written."
        raise blocked(run, State.FAILED, "change.refused", why)

    run.base = frozenset(reading.bindings)
    with transaction.atomic():
        settled = settle(run, items, run.base)
        todo = sum(item.state == Item.PENDING for item in items)
        note = " ".join(moved.sentences)
        step(
            run,
            to=State.APPLYING,
            verb="change.checked",
            values={"sentence": note},
            todo=acls(todo),
            note=note,
            bindings=len(reading.bindings),
            items=items_in_words(settled),
        )


def _holds_the_same(one: Content, other: Content) -> bool:
    """Whether two snapshots differ in nothing but order."""
    return all(
        set(getattr(one, name)) == set(getattr(other, name)) for name in ("bindings", "topics", "groups")
    )


def _refuse_unreadable(run: Run, items: Sequence[ChangeItem], reading: AclSnapshot) -> None:
    unreadable = {item.binding.pattern for item in items} & set(reading.unreadable)
    if unreadable:
        why = (
            f"What the cluster has for {patterns_in_words(unreadable)} cannot be read, "
            "and writing would overwrite it."
        )
        raise blocked(run, State.FAILED, "change.refused", why)
