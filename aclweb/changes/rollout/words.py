"""How is a rollout worded: in the audit trail, and as evidence of each ACL?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from aclweb.acl.model import ResourcePattern
from aclweb.audit import trail
from aclweb.changes.models import ChangeItem
from aclweb.changes.rollout.hold import Item
from aclweb.clusters import Outcome
from aclweb.inventory.fields import storable_json

trail.register("change.claimed", "A worker claimed it (attempt {attempt}).")


trail.register("change.quarantined", "Stopped after {attempts} attempts; somebody has to look at it.")


trail.register("change.waiting", "The cluster could not be read, so it waits: {why}")


trail.register("change.returned", "It needs review again: {why}")


trail.register("change.refused", "The worker refused it: {why}")


trail.register("change.stale", "Nothing was written, because the impact is not what was approved: {why}")


trail.register("change.checked", "The cluster was read again; {todo} to write. {note}")


trail.register("change.writing", "About to {op} {count}.")


trail.register("change.wrote", "The cluster answered for {count}: {told}.")


trail.register("change.unanswered", "The cluster gave no answer for {count}; reading back.")


trail.register("change.settled", "Read back: {told}.")


trail.register("change.verifying", "Reading back every pattern of this change.")


trail.register("change.in_force", "In force: {why}")


trail.register("change.ended_partly", "Partly written: {why}")


trail.register("change.failed", "Failed: {why}")


def items_in_words(items: Sequence[ChangeItem]) -> list[dict[str, Any]]:
    """Return what became of each item, for the audit event: its position names it within the change."""
    return [{"position": item.position, "state": str(item.state), "said": item.sentence} for item in items]


def evidence(outcome: Outcome) -> dict[str, Any]:
    kept: dict[str, Any] = {"answer": outcome.kind.value}
    if outcome.error_code is not None:
        kept["error_code"] = outcome.error_code
    return {**kept, **{key: storable_json(value) for key, value in outcome.evidence.items()}}


def states_in_words(items: Sequence[ChangeItem]) -> str:
    """Return how many items are in which state, in words: `3 written, 1 was in place already`."""
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


def acls(number: int) -> str:
    return f"{number} ACL{'' if number == 1 else 's'}"


def patterns_in_words(patterns: Iterable[ResourcePattern]) -> str:
    return ", ".join(
        sorted(
            f"{pattern.resource_type.name} {pattern.name!r} ({pattern.pattern_type.name})"
            for pattern in patterns
        )
    )
