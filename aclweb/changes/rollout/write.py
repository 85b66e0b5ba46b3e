"""Write phase by phase in the safe order; INTENT is committed before each call."""

from __future__ import annotations

from itertools import groupby

from django.db import transaction

from aclweb.changes import failpoints
from aclweb.changes.models import ChangeItem
from aclweb.changes.rollout.hold import Item, Run, State, renew, require_time, step, store, take_sync_leases
from aclweb.changes.rollout.settle import barrier, read_back
from aclweb.changes.rollout.words import acls, evidence, items_in_words, states_in_words
from aclweb.clusters import ClusterClient, ClusterError, Outcome, OutcomeKind, Verb
from aclweb.inventory.fields import storable

MOST_A_CALL = 50  # bindings in one call: few enough for one request of the Admin API


MOST_UNANSWERED = 3  # calls without an answer that one run settles by reading back


def write(run: Run, client: ClusterClient) -> None:
    """Write what is not in place yet, phase by phase; stops at the first definite refusal."""
    unanswered = 0
    items = list(run.change.items.all())
    phases = [list(group) for _, group in groupby(items, key=lambda item: item.phase)]
    for number, phase in enumerate(phases):
        while todo := [item for item in phase if item.state == Item.PENDING][:MOST_A_CALL]:
            _call(run, client, todo)
            if any(item.state == Item.UNKNOWN for item in todo):
                unanswered += 1
                read_back(run, client, todo, last=unanswered >= MOST_UNANSWERED)
            if any(item.state == Item.FAILED for item in todo):
                _skip(run, items)
                return
        if number + 1 < len(phases) and any(item.sent for item in phase):
            barrier(run, client, phase)


def _call(run: Run, client: ClusterClient, todo: list[ChangeItem]) -> None:
    """Send one call, with its INTENT committed before and its answers stored after."""
    verb = Verb(todo[0].op)
    take_sync_leases(run)  # prolongs it
    with transaction.atomic():
        for item in todo:
            item.state = Item.INTENT
            item.evidence = {**item.evidence, "sent": item.sent + 1}
        store(run, todo)
        step(
            run,
            to=State.APPLYING,
            verb="change.writing",
            op=verb.value,
            count=acls(len(todo)),
            items=[item.position for item in todo],
            rules=[item.binding.as_dict() for item in todo],
        )
    failpoints.hit("intent")
    require_time(run)
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
        store(run, todo)
        unknown = sum(item.state == Item.UNKNOWN for item in todo)
        step(
            run,
            to=State.UNKNOWN if unknown else State.APPLYING,
            verb="change.unanswered" if unknown else "change.wrote",
            count=acls(unknown or len(todo)),
            told=states_in_words(todo),
            items=items_in_words(todo),
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
        item.sentence = storable(outcome.sentence)
        item.evidence = {**item.evidence, **evidence(outcome)}


def _skip(run: Run, items: list[ChangeItem]) -> None:
    left = [item for item in items if item.state == Item.PENDING]
    for item in left:
        item.state, item.sentence = (
            Item.SKIPPED,
            "Not tried, because the cluster refused another ACL before.",
        )
    with transaction.atomic():
        store(run, left)
        renew(run)
