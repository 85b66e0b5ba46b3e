"""Read back every matched pattern; only then is the change in force."""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction
from django.db.models.functions import Now

from aclweb.acl.model import AclBinding, Delta
from aclweb.changes import failpoints
from aclweb.changes.models import ChangeItem
from aclweb.changes.rollout.hold import Item, Run, State, end, step, store
from aclweb.changes.rollout.settle import seen
from aclweb.changes.rollout.words import acls, items_in_words, states_in_words
from aclweb.clusters import ClusterClient
from aclweb.inventory.findings import tasks as lint_tasks
from aclweb.inventory.models import Revision
from aclweb.inventory.sync import sync

logger = logging.getLogger(__name__)


def verify(run: Run, client: ClusterClient) -> None:
    """Read back every matched pattern; in force means as approved on each of them."""
    change = run.change
    step(run, to=State.VERIFYING, verb="change.verifying")
    failpoints.hit("before-verify")
    items = list(change.items.all())
    found = seen(client, items)
    failpoints.hit("verified")

    for item in items:
        if not item.in_place(found) and item.state in (Item.APPLIED, Item.NOOP_ALREADY):
            item.state, item.sentence = (
                Item.FAILED,
                "It was in place, and reading back shows that it is not any more.",
            )
        elif item.in_place(found) and item.state in (Item.SKIPPED, Item.FAILED):
            item.state = Item.APPLIED if item.sent else Item.NOOP_ALREADY
            item.sentence = "Reading back shows that it is in place."
    others = _others(items, run.base, found)
    result = sync(change.cluster, cause=Revision.Cause.OURS, client=client, expected=_written(items))
    state, verb, why = _judged(items, others)
    with transaction.atomic():
        store(run, items)
        # A reading that failed or is held proves nothing; what it left is older than the write.
        revision = result.revision if state == State.APPLIED and result.read else None
        facts = {
            "revision": revision.number if revision is not None else None,
            "items": items_in_words(items),
        }
        end(run, to=state, verb=verb, why=why, facts=facts, finished_at=Now(), applied_revision=revision)
        # Where no queue can be reached, the next reading by the clock asks.
        transaction.on_commit(partial(lint_tasks.ask_for_findings, change.cluster), robust=True)
    logger.info("%s: %s", change.key, why)


def _written(items: list[ChangeItem]) -> Delta:
    """Return what aclweb itself wrote, so that the sync records only the rest as made elsewhere."""
    ours = [item for item in items if item.state == Item.APPLIED]
    return Delta(
        add=tuple(item.binding for item in ours if item.op == ChangeItem.Op.ADD),
        remove=tuple(item.binding for item in ours if item.op == ChangeItem.Op.REMOVE),
    )


def _others(items: list[ChangeItem], base: frozenset[AclBinding], found: frozenset[AclBinding]) -> int:
    """Return how many bindings of the matched patterns somebody else added or removed meanwhile."""
    ours = {item.binding for item in items}
    touched = {binding.pattern for binding in ours}
    return sum(binding.pattern in touched for binding in (base ^ found) - ours)


def _judged(items: list[ChangeItem], others: int) -> tuple[str, str, str]:
    """Return the end state, its verb and its sentence."""
    failed = [item for item in items if item.state in (Item.FAILED, Item.SKIPPED, Item.PENDING)]
    states = states_in_words(items)
    if not failed and not others:
        return State.APPLIED, "change.in_force", f"{states}. Read back and found as approved."
    if not failed:
        why = (
            f"{states}. But somebody else changed {acls(others)} of the same resources meanwhile, "
            "so they are not as approved. Look at both and run the change again."
        )
        return State.PARTIAL, "change.ended_partly", why
    reason = next((item.sentence for item in failed if item.state == Item.FAILED and item.sentence), "")
    if any(item.has_effect for item in items):
        why = f"{states}. {reason} Run it again, or undo what was written.".replace("  ", " ")
        return State.PARTIAL, "change.ended_partly", why
    return State.FAILED, "change.failed", f"{states}. {reason} Nothing was written.".replace("  ", " ")
