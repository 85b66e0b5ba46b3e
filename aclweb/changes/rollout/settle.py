"""What became of what was sent? Where the cluster gave no answer, it is read back."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from aclweb.acl.model import AclBinding
from aclweb.changes import failpoints
from aclweb.changes.models import ChangeItem
from aclweb.changes.rollout.hold import (
    BARRIER_TRIES,
    Item,
    Run,
    State,
    pause,
    require_time,
    step,
    store,
    wait,
)
from aclweb.changes.rollout.words import items_in_words, patterns_in_words, states_in_words
from aclweb.clusters import ClusterClient, ClusterError, ClusterState


def settle(run: Run, items: Sequence[ChangeItem], bindings: frozenset[AclBinding]) -> list[ChangeItem]:
    """Store for each item what the cluster shows of it; what is not in place is to be written.

    What was sent and is in place counts as written by us; what was never sent and is in
    place was in place already. Returns the items whose state changed.
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
    store(run, changed)
    return changed


def _settled_sentence(item: ChangeItem, state: str) -> str:
    if state == Item.APPLIED:
        return "No answer came; reading back shows that it is written."
    return "It was there already." if item.op == ChangeItem.Op.ADD else "It was gone already."


def read_back(run: Run, client: ClusterClient, todo: list[ChangeItem], *, last: bool) -> None:
    """Settle items without an answer by reading the cluster; at the `last` try what is missing has failed."""
    bindings = seen(client, todo)
    open_items = [item for item in todo if item.state == Item.UNKNOWN]
    with transaction.atomic():
        settle(run, open_items, bindings)
        if last:
            for item in open_items:
                if item.state == Item.PENDING:
                    item.state = Item.FAILED
                    item.sentence = (
                        "The cluster gave no answer several times, and reading back does not show it."
                    )
            store(run, open_items)
        step(
            run,
            to=State.APPLYING,
            verb="change.settled",
            told=states_in_words(open_items),
            items=items_in_words(open_items),
        )


def barrier(run: Run, client: ClusterClient, phase: list[ChangeItem]) -> None:
    """Wait until the cluster shows this phase, so that the next cannot be seen before it."""
    failpoints.hit("barrier")
    for _ in range(BARRIER_TRIES):
        require_time(run)
        bindings = seen(client, phase)
        if all(item.in_place(bindings) for item in phase if item.state != Item.FAILED):
            failpoints.hit("between-phases")
            return
        pause(run)
    raise wait(run, "The cluster does not show yet what was written, so the next step must not begin.")


def seen(client: ClusterClient, items: Sequence[ChangeItem]) -> frozenset[AclBinding]:
    """Return what the cluster holds now.

    Raises ClusterError where a pattern of these items cannot be understood any more: a
    rule that is to go must not seem gone because nothing could be read.
    """
    reading = client.read_acls()
    unreadable = {item.binding.pattern for item in items} & set(reading.unreadable)
    if unreadable:
        raise ClusterError(
            f"What the cluster has for {patterns_in_words(unreadable)} cannot be read.",
            state=ClusterState.UNREADABLE,
        )
    return frozenset(reading.bindings)
