"""Write an approved change to its cluster: exactly what was approved, once, whatever dies on the way.

    claim      the row, with a new epoch and a lease on the database's clock
    preflight  read the cluster afresh; plan, approvals, rights and effect must still hold
    write      phase by phase in the safe order; INTENT is committed before each call
    settle     where the cluster gave no answer, read back what became of it
    verify     read back every touched pattern; only then is the change in force

The leases are renewed all the while, so they are short. A worker may die between any two
lines. The sweep rings again when its lease ran out, and
the next worker starts over: items found written are not written twice, so running again
is always safe. A worker that lost its lease sends nothing more and stores nothing more.

The transaction that stores INTENT also writes the audit event of what is about to be
sent; if that event cannot be written, nothing is sent.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from aclweb.acl.model import AclBinding, Delta, ResourcePattern
from aclweb.audit import trail
from aclweb.changes import failpoints, policy
from aclweb.changes.models import EFFECTS, UNDER_WAY, Change, ChangeItem
from aclweb.changes.preview import Content, drift, plan_hash, storable
from aclweb.clusters import ClusterClient, ClusterError, ClusterState, Outcome, OutcomeKind, Verb, connect
from aclweb.inventory.current import connection_of, rules_of
from aclweb.inventory.findings import tasks as search_tasks
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.sync import Written, register_writer, sync
from aclweb.inventory.work import leases

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
MOST_A_CALL = 50  # bindings in one call: few enough for one request of the Admin API
MOST_UNANSWERED = 3  # calls without an answer that one run settles by reading back
BACKOFF_SECONDS = (5, 10, 20, 40, 60)  # between two tries while a cluster cannot be read
_REQUEST_TIMEOUT = "request.timeout.ms"  # an option of the Admin API's client
BARRIER_TRIES = 20
BARRIER_SECONDS = 0.5

State = Change.State
Item = ChangeItem.State

trail.register("change.claimed", "A worker took it up (attempt {attempt}).")
trail.register("change.quarantined", "Stopped after {attempts} attempts; somebody has to look at it.")
trail.register("change.waiting", "The cluster could not be read, so it waits: {why}")
trail.register("change.returned", "It needs review again: {why}")
trail.register("change.refused", "The worker refused it: {why}")
trail.register("change.stale", "Nothing was written, because the effect is not what was approved: {why}")
trail.register("change.checked", "The cluster was read afresh; {todo} to write. {note}")
trail.register("change.writing", "About to {op} {count}.")
trail.register("change.wrote", "The cluster answered for {count}: {told}.")
trail.register("change.unanswered", "The cluster gave no answer for {count}; reading back.")
trail.register("change.settled", "Read back: {told}.")
trail.register("change.verifying", "Reading back every touched pattern.")
trail.register("change.in_force", "In force: {why}")
trail.register("change.ended_partly", "Partly written: {why}")
trail.register("change.failed", "Failed: {why}")


def written_since_reading(cluster: Cluster) -> Written:
    """Return what workers wrote to the cluster, or may have, and no stored reading can have told.

    A worker that was lost between its call and the reading after it leaves such items.
    """
    unread = Q(change__state__in=UNDER_WAY)
    if cluster.read_at is not None:
        unread |= Q(change__finished_at__gte=cluster.read_at)
    sent = Q(state__in=EFFECTS) | Q(evidence__sent__gt=0)
    items = list(ChangeItem.objects.filter(unread, sent, change__cluster=cluster))
    return Written(
        added=frozenset(item.binding for item in items if item.op == ChangeItem.Op.ADD),
        removed=frozenset(item.binding for item in items if item.op == ChangeItem.Op.REMOVE),
    )


register_writer(written_since_reading)


class LeaseLost(Exception):
    """Another worker may hold the change by now, so this one must not send or store anything more."""


class _Stop(Exception):
    """The run is over: the row has been moved to where it belongs."""


@dataclass
class _Run:
    """One worker's hold on one change."""

    change: Change
    worker: str
    deadline: float  # on this machine's monotonic clock: when the lease certainly still held
    base: frozenset[AclBinding] = field(default_factory=frozenset)  # as read at preflight


def waiting() -> list[int]:
    """Return the ids of changes that a worker could take up now, oldest first."""
    return list(Change.objects.filter(_claimable()).order_by("pk").values_list("pk", flat=True))


def waiting_behind(change_id: int) -> list[int]:
    """Return the next change of the same cluster that waits for a worker, as a list of at most one id."""
    done = Change.objects.filter(pk=change_id).exclude(state__in=(State.QUEUED, *UNDER_WAY)).first()
    if done is None:
        return []
    same = Change.objects.filter(_claimable(), cluster=done.cluster_id)
    return list(same.order_by("pk").values_list("pk", flat=True)[:1])


def apply(change_id: int, *, worker: str = "") -> str:
    """Take the change up if it waits for a worker, and return its state afterwards.

    Does nothing if another worker holds it, if it waits for its time, or if another
    change is under way on the same cluster. Raises only for errors of this program or
    its database; the lease then runs out and the sweep rings again.
    """
    worker = worker or f"{socket.gethostname()}:{os.getpid()}"
    run = _claim(change_id, worker)
    if run is not None:
        failpoints.hit("claimed")
        try:
            _carry_out(run)
        except LeaseLost:
            logger.warning("%s lost its lease on %s and stopped.", worker, run.change.key)
        except _Stop:
            logger.info("%s: %s", run.change.key, run.change.sentence)
    state: str = Change.objects.values_list("state", flat=True).get(pk=change_id)
    return state


# --- The claim --------------------------------------------------------------------------------------


def _claimable() -> Q:
    """Waiting for a worker, or held by one whose lease ran out; by the database's clock."""
    free = Q(state=State.QUEUED) | Q(state__in=UNDER_WAY, lease_until__lte=Now())
    return free & (Q(not_before__isnull=True) | Q(not_before__lte=Now()))


def _claim(change_id: int, worker: str) -> _Run | None:
    started = time.monotonic()
    with transaction.atomic():
        change = (
            Change.objects.select_for_update(of=("self",))
            .select_related("cluster", "author", "revision")
            .filter(_claimable(), pk=change_id)
            .first()
        )
        if change is None:
            return None
        if change.attempts >= MOST_ATTEMPTS:
            _quarantine(change)
            return None
        try:
            # The database itself allows one change under way a cluster.
            with transaction.atomic():
                claimed = change.move(
                    to=State.PREFLIGHT,
                    where=_claimable(),
                    epoch=F("epoch") + 1,
                    attempts=F("attempts") + 1,
                    lease_owner=worker[:200],
                    lease_until=_lease(),
                    not_before=None,
                )
        except IntegrityError:
            return None
        if not claimed:
            return None
        trail.record(
            actor=_actor(worker),
            verb="change.claimed",
            target=change.key,
            attempt=change.attempts,
            epoch=change.epoch,
        )
    return _Run(change, worker, started + settings.ACLWEB_LEASE_SECONDS)


def _quarantine(change: Change) -> None:
    sentence = f"Stopped after {change.attempts} tries: each worker that took it up was lost."
    if change.move(
        to=State.QUARANTINED, where=_claimable(), epoch=F("epoch") + 1, sentence=sentence, finished_at=Now()
    ):
        trail.record(actor="aclweb", verb="change.quarantined", target=change.key, attempts=change.attempts)


def _lease() -> Any:
    return Now() + timedelta(seconds=settings.ACLWEB_LEASE_SECONDS)


def _actor(worker: str) -> str:
    return f"worker {worker}"[:254]


def _held() -> Q:
    return Q(lease_until__gt=Now())


def _step(run: _Run, *, to: str, verb: str, values: dict[str, Any] | None = None, **facts: Any) -> None:
    """Move the held row and record why, both or neither; renews the lease unless `values` says otherwise.

    Raises LeaseLost if another worker may hold the row by now.
    """
    started = time.monotonic()
    with transaction.atomic():
        given: dict[str, Any] = {"lease_until": _lease(), **(values or {})}
        if not run.change.move(to=to, where=_held(), **given):
            raise LeaseLost(run.change.key)
        trail.record(actor=_actor(run.worker), verb=verb, target=run.change.key, **facts)
    run.deadline = started + settings.ACLWEB_LEASE_SECONDS


def _end(
    run: _Run, *, to: str, verb: str, why: str, facts: dict[str, Any] | None = None, **values: Any
) -> _Stop:
    """Store an end of this run and return the exception that unwinds it."""
    released = {"lease_until": Now(), "lease_owner": "", "sentence": why, **values}
    _step(run, to=to, verb=verb, values=released, why=why, **(facts or {}))
    return _Stop()


# --- One run ----------------------------------------------------------------------------------------


def _carry_out(run: _Run) -> None:
    _check_paper(run)
    try:
        with _no_scheduled_reading(run), _kept(run), _open(run) as client:
            _preflight(run, client)
            _write(run, client)
            _verify(run, client)
    except ClusterError as error:
        raise _wait(run, str(error)) from error
    failpoints.hit("finished")


@contextmanager
def _no_scheduled_reading(run: _Run) -> Iterator[None]:
    """Keep readings by the clock away, which would tell half of this edit as made elsewhere.

    One that is under way is waited for, though not for long: all it can spoil is the
    record of who made the edit.
    """
    for _ in range(BARRIER_TRIES):
        if _take_readings(run):
            break
        time.sleep(BARRIER_SECONDS)
        _renew(run)
    try:
        yield
    finally:
        leases.release(run.change.cluster_id, owner=_reading_owner(run))


def _kept(run: _Run) -> AbstractContextManager[None]:
    """Renew both leases while the block works: one step on a large cluster can outlast them."""

    def renew() -> bool:
        started = time.monotonic()
        mine = Change.objects.filter(_held(), pk=run.change.pk, epoch=run.change.epoch)
        if not mine.update(lease_until=_lease()):
            return False
        run.deadline = started + settings.ACLWEB_LEASE_SECONDS
        _take_readings(run)
        return True

    return leases.renewed(renew, every_seconds=settings.ACLWEB_LEASE_SECONDS / 3)


def _take_readings(run: _Run) -> bool:
    seconds = settings.ACLWEB_LEASE_SECONDS
    return leases.take(run.change.cluster_id, owner=_reading_owner(run), seconds=seconds)


def _reading_owner(run: _Run) -> str:
    # Without the worker's name, so that whoever goes on after a lost worker need not wait.
    return f"rollout {run.change.key}"


def _open(run: _Run) -> ClusterClient:
    connection = connection_of(run.change.cluster)
    # A call must end well before the lease does, or another worker could be sending too.
    most = settings.ACLWEB_LEASE_SECONDS / 3
    options = dict(connection.options)
    if _REQUEST_TIMEOUT in options:
        options[_REQUEST_TIMEOUT] = str(min(int(options[_REQUEST_TIMEOUT]), int(most * 1000)))
    seconds = min(connection.timeout_seconds, most)
    return connect(replace(connection, options=options, timeout_seconds=seconds))


def _wait(run: _Run, why: str) -> _Stop:
    """Give the change back until the cluster can be read again; that is no attempt."""
    seconds = BACKOFF_SECONDS[min(run.change.waits, len(BACKOFF_SECONDS) - 1)]
    written = run.change.has_effects
    return _end(
        run,
        to=State.UNKNOWN if written else State.QUEUED,
        verb="change.waiting",
        why=f"{why} Tried again in {seconds} s.",
        attempts=F("attempts") - 1,
        waits=F("waits") + 1,
        not_before=Now() + timedelta(seconds=seconds),
    )


def _check_paper(run: _Run) -> None:
    """Refuse unless stored plan, approvals and rights are those that were agreed on."""
    change = run.change
    allowed, why_not = policy.writable(change.cluster)
    if not allowed:
        raise _blocked(run, State.APPROVED, "change.returned", why_not)

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
        raise _blocked(run, State.FAILED, "change.refused", why)

    standing = policy.standing(change)
    needed = max(change.approvals_needed, policy.approvals_needed(change.cluster))
    if len(standing.counted) < needed:
        told = " ".join(standing.sentences)
        why = f"{told} {len(standing.counted)} of {needed} approvals count now.".strip()
        with transaction.atomic():
            stop = _blocked(run, State.IN_REVIEW, "change.returned", why)
            if change.state == State.IN_REVIEW:
                change.approvals.filter(pk__in=[approval.pk for approval in standing.lost]).delete()
        raise stop


def _blocked(run: _Run, state: str, verb: str, why: str) -> _Stop:
    """Stop before writing: in `state`, or as partly written if an earlier run wrote something."""
    if run.change.has_effects:
        why = f"{why} What an earlier run wrote is still there."
        return _end(run, to=State.PARTIAL, verb=verb, why=why, finished_at=Now())
    values: dict[str, Any] = {"finished_at": Now()} if state == State.FAILED else {}
    return _end(run, to=state, verb=verb, why=why, **values)


def _preflight(run: _Run, client: ClusterClient) -> None:
    """Read the cluster afresh and go on only if the change still means what was approved."""
    change = run.change
    facts = client.describe()
    reading = client.read_acls()
    topics = tuple(topic.name for topic in client.read_topics())
    groups = client.read_groups()
    failpoints.hit("read")

    if facts.migrating:
        why = "A migration to KRaft is under way on this cluster, and edits in ZooKeeper could be lost."
        raise _blocked(run, State.FAILED, "change.refused", why)
    if facts.cluster_id and change.cluster.cluster_id and facts.cluster_id != change.cluster.cluster_id:
        why = (
            f"Another cluster answers at this address: {facts.cluster_id!r} instead of "
            f"{change.cluster.cluster_id!r}. Nothing was written."
        )
        raise _blocked(run, State.FAILED, "change.refused", why)
    items = list(change.items.all())
    unreadable = {item.binding.pattern for item in items} & set(reading.unreadable)
    if unreadable:
        why = (
            f"What the cluster holds for {_patterns_told(unreadable)} cannot be read, "
            "and writing would overwrite it."
        )
        raise _blocked(run, State.FAILED, "change.refused", why)

    moved = drift(change, Content(reading.bindings, topics, groups or ()), rules_of(change.cluster))
    if not moved.same_effect:
        raise _blocked(run, State.BLOCKED_STALE, "change.stale", " ".join(moved.sentences))

    run.base = frozenset(reading.bindings)
    with transaction.atomic():
        settled = _settle(run, items, run.base)
        todo = sum(item.state == Item.PENDING for item in items)
        note = " ".join(moved.sentences)
        _step(
            run,
            to=State.APPLYING,
            verb="change.checked",
            values={"sentence": note},
            todo=_rules(todo),
            note=note,
            bindings=len(reading.bindings),
            items=_told_items(settled),
        )


def _settle(run: _Run, items: Sequence[ChangeItem], bindings: frozenset[AclBinding]) -> list[ChangeItem]:
    """Store for each item what the cluster shows of it; what is not in place is to be written.

    What was sent and is in place counts as written by us; what was never sent and is in
    place was so already. Returns the items whose state changed.
    """
    changed = []
    for item in items:
        if item.in_place(bindings):
            state = Item.APPLIED if item.has_effect else Item.NOOP_ALREADY
            sentence = "" if state == item.state else _settled_sentence(item, state)
        else:
            state, sentence = Item.PENDING, ""
        if state != item.state:
            item.state, item.sentence = state, sentence
            changed.append(item)
    _store(run, changed)
    return changed


def _settled_sentence(item: ChangeItem, state: str) -> str:
    if state == Item.APPLIED:
        return "No answer came; reading back shows that it is written."
    return "It was there already." if item.op == ChangeItem.Op.ADD else "It was gone already."


def _write(run: _Run, client: ClusterClient) -> None:
    """Write what is not in place yet, phase by phase; stops at the first definite refusal."""
    unanswered = 0
    items = list(run.change.items.all())
    phases = [list(group) for _, group in groupby(items, key=lambda item: item.phase)]
    for number, phase in enumerate(phases):
        while todo := [item for item in phase if item.state == Item.PENDING][:MOST_A_CALL]:
            _call(run, client, todo)
            if any(item.state == Item.UNKNOWN for item in todo):
                unanswered += 1
                _read_back(run, client, todo, last=unanswered >= MOST_UNANSWERED)
            if any(item.state == Item.FAILED for item in todo):
                _skip(run, items)
                return
        if number + 1 < len(phases) and any(item.sent for item in phase):
            _barrier(run, client, phase)


def _call(run: _Run, client: ClusterClient, todo: list[ChangeItem]) -> None:
    """Send one call, with its INTENT committed before and its answers stored after."""
    verb = Verb(todo[0].op)
    _take_readings(run)  # prolongs it
    with transaction.atomic():
        for item in todo:
            item.state = Item.INTENT
            item.evidence = {**item.evidence, "sent": item.sent + 1}
        _store(run, todo)
        _step(
            run,
            to=State.APPLYING,
            verb="change.writing",
            op=verb.value,
            count=_rules(len(todo)),
            items=[item.position for item in todo],
            rules=[item.binding.as_dict() for item in todo],
        )
    failpoints.hit("intent")
    _require_time(run)
    failpoints.hit("before-call")
    try:
        outcomes = client.write(verb, [item.binding for item in todo])
    except ClusterError as error:
        outcomes = tuple(Outcome(item.binding, OutcomeKind.UNKNOWN, str(error)) for item in todo)
    failpoints.hit("replied")
    by_binding = {outcome.binding: outcome for outcome in outcomes}
    with transaction.atomic():
        for item in todo:
            _take(item, by_binding.get(item.binding))
        _store(run, todo)
        unknown = sum(item.state == Item.UNKNOWN for item in todo)
        _step(
            run,
            to=State.UNKNOWN if unknown else State.APPLYING,
            verb="change.unanswered" if unknown else "change.wrote",
            count=_rules(unknown or len(todo)),
            told=_states_told(todo),
            items=_told_items(todo),
        )
    failpoints.hit("recorded")


def _take(item: ChangeItem, outcome: Outcome | None) -> None:
    """Put the cluster's answer into the item; a missing answer is no answer."""
    if outcome is None or outcome.kind is OutcomeKind.UNKNOWN:
        item.state = Item.UNKNOWN
    elif outcome.kind is OutcomeKind.REFUSED:
        item.state = Item.FAILED
        item.evidence = {**item.evidence, "sent": item.sent - 1}
    elif outcome.kind is OutcomeKind.ALREADY and item.sent <= 1:
        item.state = Item.NOOP_ALREADY
        item.evidence = {**item.evidence, "sent": 0}
    else:
        # "Already" after a call of ours that stayed without an answer: that call did it.
        item.state = Item.APPLIED
    if outcome is not None:
        item.sentence = str(storable(outcome.sentence))
        item.evidence = {**item.evidence, **_evidence(outcome)}


def _read_back(run: _Run, client: ClusterClient, todo: list[ChangeItem], *, last: bool) -> None:
    """Settle items without an answer by reading the cluster; at the `last` try what is missing has failed."""
    bindings = _seen(client, todo)
    open_items = [item for item in todo if item.state == Item.UNKNOWN]
    with transaction.atomic():
        _settle(run, open_items, bindings)
        if last:
            for item in open_items:
                if item.state == Item.PENDING:
                    item.state = Item.FAILED
                    item.sentence = (
                        "The cluster gave no answer several times, and reading back does not show it."
                    )
            _store(run, open_items)
        _step(
            run,
            to=State.APPLYING,
            verb="change.settled",
            told=_states_told(open_items),
            items=_told_items(open_items),
        )


def _barrier(run: _Run, client: ClusterClient, phase: list[ChangeItem]) -> None:
    """Wait until the cluster shows this phase, so that the next cannot be seen before it."""
    failpoints.hit("barrier")
    for _ in range(BARRIER_TRIES):
        _require_time(run)
        bindings = _seen(client, phase)
        if all(item.in_place(bindings) for item in phase if item.state != Item.FAILED):
            failpoints.hit("between-phases")
            return
        time.sleep(BARRIER_SECONDS)
        _renew(run)
    raise _wait(run, "The cluster does not show yet what was written, so the next step must not begin.")


def _seen(client: ClusterClient, items: Sequence[ChangeItem]) -> frozenset[AclBinding]:
    """Return what the cluster holds now.

    Raises ClusterError where a pattern of these items cannot be understood any more: a
    rule that is to go must not seem gone because nothing could be read.
    """
    reading = client.read_acls()
    unreadable = {item.binding.pattern for item in items} & set(reading.unreadable)
    if unreadable:
        raise ClusterError(
            f"What the cluster holds for {_patterns_told(unreadable)} cannot be read.",
            state=ClusterState.UNREADABLE,
        )
    return frozenset(reading.bindings)


def _skip(run: _Run, items: list[ChangeItem]) -> None:
    left = [item for item in items if item.state == Item.PENDING]
    for item in left:
        item.state, item.sentence = (
            Item.SKIPPED,
            "Not tried, because the cluster refused another ACL before.",
        )
    with transaction.atomic():
        _store(run, left)
        _renew(run)


def _verify(run: _Run, client: ClusterClient) -> None:
    """Read back every touched pattern; in force means as approved on each of them."""
    change = run.change
    _step(run, to=State.VERIFYING, verb="change.verifying")
    failpoints.hit("before-verify")
    items = list(change.items.all())
    found = _seen(client, items)
    failpoints.hit("verified")

    for item in items:
        if not item.in_place(found) and item.state in (Item.APPLIED, Item.NOOP_ALREADY):
            item.state, item.sentence = (
                Item.FAILED,
                "It was so, and reading back shows that it is not any more.",
            )
        elif item.in_place(found) and item.state in (Item.SKIPPED, Item.FAILED):
            item.state = Item.APPLIED if item.sent else Item.NOOP_ALREADY
            item.sentence = "Reading back shows that it is so."
    others = _others(items, run.base, found)
    result = sync(change.cluster, cause=Revision.Cause.OURS, client=client, expected=_written(items))
    state, verb, why = _judged(items, others)
    with transaction.atomic():
        _store(run, items)
        # A reading that failed or is held proves nothing; what it left is older than the write.
        revision = result.revision if state == State.APPLIED and result.read else None
        facts = {"revision": revision.number if revision is not None else None, "items": _told_items(items)}
        _end(run, to=state, verb=verb, why=why, facts=facts, finished_at=Now(), applied_revision=revision)
        # Where no queue can be reached, the next reading by the clock asks.
        transaction.on_commit(partial(search_tasks.ask_for_findings, change.cluster), robust=True)
    logger.info("%s: %s", change.key, why)


def _written(items: list[ChangeItem]) -> Delta:
    """Return what aclweb itself wrote, so that the reading tells only the rest as made elsewhere."""
    ours = [item for item in items if item.state == Item.APPLIED]
    return Delta(
        add=tuple(item.binding for item in ours if item.op == ChangeItem.Op.ADD),
        remove=tuple(item.binding for item in ours if item.op == ChangeItem.Op.REMOVE),
    )


def _others(items: list[ChangeItem], base: frozenset[AclBinding], found: frozenset[AclBinding]) -> int:
    """Return how many bindings of the touched patterns somebody else added or removed meanwhile."""
    ours = {item.binding for item in items}
    touched = {binding.pattern for binding in ours}
    return sum(binding.pattern in touched for binding in (base ^ found) - ours)


def _judged(items: list[ChangeItem], others: int) -> tuple[str, str, str]:
    """Return the end state, its verb and its sentence."""
    failed = [item for item in items if item.state in (Item.FAILED, Item.SKIPPED, Item.PENDING)]
    told = _states_told(items)
    if not failed and not others:
        return State.APPLIED, "change.in_force", f"{told}. Read back and found as approved."
    if not failed:
        why = (
            f"{told}. But somebody else changed {_rules(others)} of the same resources meanwhile, "
            "so they are not as approved. Look at both and run the change again."
        )
        return State.PARTIAL, "change.ended_partly", why
    reason = next((item.sentence for item in failed if item.state == Item.FAILED and item.sentence), "")
    if any(item.has_effect for item in items):
        why = f"{told}. {reason} Run it again, or undo what was written.".replace("  ", " ")
        return State.PARTIAL, "change.ended_partly", why
    return State.FAILED, "change.failed", f"{told}. {reason} Nothing was written.".replace("  ", " ")


# --- Small parts ------------------------------------------------------------------------------------


def _store(run: _Run, items: Sequence[ChangeItem]) -> None:
    """Store the items of a change that this worker holds."""
    for item in items:
        values: dict[str, Any] = {"state": item.state, "sentence": item.sentence, "evidence": item.evidence}
        if item.state == Item.APPLIED and item.written_at is None:
            values["written_at"] = Now()
        ChangeItem.objects.filter(pk=item.pk, change__epoch=run.change.epoch).update(**values)


def _renew(run: _Run) -> None:
    started = time.monotonic()
    if not run.change.move(to=run.change.state, where=_held(), lease_until=_lease()):
        raise LeaseLost(run.change.key)
    run.deadline = started + settings.ACLWEB_LEASE_SECONDS


def _require_time(run: _Run) -> None:
    """Raise LeaseLost unless a whole call fits into what is left of the lease."""
    if time.monotonic() + settings.ACLWEB_LEASE_SECONDS / 3 >= run.deadline:
        raise LeaseLost(run.change.key)


def _told_items(items: Sequence[ChangeItem]) -> list[dict[str, Any]]:
    """Return what became of each item, for the audit event: its position names it within the change."""
    return [{"position": item.position, "state": str(item.state), "said": item.sentence} for item in items]


def _evidence(outcome: Outcome) -> dict[str, Any]:
    kept: dict[str, Any] = {"answer": outcome.kind.value}
    if outcome.error_code is not None:
        kept["error_code"] = outcome.error_code
    return {**kept, **{key: storable(value) for key, value in outcome.evidence.items()}}


def _states_told(items: Sequence[ChangeItem]) -> str:
    """Return how many items are in which state, in words: `3 written, 1 was so already`."""
    words = {
        Item.APPLIED: "written",
        Item.NOOP_ALREADY: "so already",
        Item.FAILED: "refused",
        Item.SKIPPED: "not tried",
        Item.UNKNOWN: "without an answer",
        Item.PENDING: "not written yet",
        Item.INTENT: "being written",
    }
    counts = [(sum(item.state == state for item in items), word) for state, word in words.items()]
    return ", ".join(f"{number} {word}" for number, word in counts if number) or "nothing to do"


def _rules(number: int) -> str:
    return f"{number} ACL{'' if number == 1 else 's'}"


def _patterns_told(patterns: Iterable[ResourcePattern]) -> str:
    return ", ".join(
        sorted(
            f"{pattern.resource_type.name} {pattern.name!r} ({pattern.pattern_type.name})"
            for pattern in patterns
        )
    )
