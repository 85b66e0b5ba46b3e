"""Which snapshots wait for a person before they are stored, and who accepts them?

A snapshot that lost a great part of what was known, all of it, or that comes from another
cluster behind the same address, is kept in `Cluster.held` and stores nothing. Accepting
it stores nothing either: the next sync stores its snapshot, if that one loses no more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from aclweb.audit import trail
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# A snapshot that loses more than both of these waits for a person to accept it.
TRUSTED_LOSS = 100
TRUSTED_SHARE = 0.20
# So does one that empties a cluster of this many ACLs or more: a test's handful may go at once.
EMPTIED_FROM = 10

_ITSELF = "aclweb"

trail.register("cluster.reading-held", "A snapshot of {cluster} was quarantined: {reason}")
trail.register("cluster.reading-accepted", "{actor} accepted a quarantined snapshot of {cluster}: {reason}")


class QuarantineError(Exception):
    """A quarantined snapshot that cannot be accepted now; the message is for whoever wanted to."""


@dataclass(frozen=True)
class Loss:
    """How many of the `stored` ACLs or topics a snapshot misses, and how many it has in all."""

    what: str
    missing: int
    stored: int
    left: int

    @property
    def looks_wrong(self) -> bool:
        is_great = self.missing > TRUSTED_LOSS and self.missing > TRUSTED_SHARE * self.stored
        return is_great or (self.what == "ACLs" and self.left == 0 and self.missing >= EMPTIED_FROM)

    @property
    def words(self) -> str:
        if self.missing < self.stored:
            return f"{self.missing:,} of the {self.stored:,} {self.what}"
        return f"all {self.stored:,} {self.what}" if self.stored > 1 else f"the only one of the {self.what}"


def why_quarantined(
    row: Cluster, *, answered: str | None, losses: Sequence[Loss]
) -> dict[str, object] | None:
    """Return why a snapshot must wait for a person, as `Cluster.held` keeps it.

    answered: what the cluster calls itself, if it said so. The sentence names every such loss, so
    that nobody accepts one because of another.
    """
    if answered and row.cluster_id and answered != row.cluster_id:
        lost = [loss for loss in losses if loss.missing]
        lacks = f" Of what was known before, it lacks {_listed(lost)}." if lost else ""
        sentence = (
            f"Another cluster answers at {row.address}: it calls itself {answered}, and what is stored "
            f"here was read from {row.cluster_id}.{lacks} Correct the address, or accept the snapshot if the "
            f"cluster was really replaced."
        )
        return _reason("other-cluster", answered, lost, sentence)
    lost = [loss for loss in losses if loss.looks_wrong]
    if not lost:
        return None
    words = _listed(lost)
    sentence = (
        f"{words[0].upper()}{words[1:]} known before are missing from one snapshot. A broken sync can cause "
        f"that as well as a deletion. Look at the cluster, then accept the snapshot or wait for a better one."
    )
    return _reason("drop", answered, lost, sentence)


def _listed(losses: Sequence[Loss]) -> str:
    return " and ".join(loss.words for loss in losses)


def _reason(reason: str, answered: str | None, losses: Sequence[Loss], sentence: str) -> dict[str, object]:
    return {
        "reason": reason,
        "cluster_id": answered,
        "losses": {loss.what: {"missing": loss.missing, "stored": loss.stored} for loss in losses},
        "at": timezone.now().isoformat(timespec="seconds"),
        "sentence": sentence,
    }


def accepted_by(row: Cluster, found: Mapping[str, object], shell: str | None) -> str | None:
    """Return who accepts this snapshot, having been shown one that was at least as bad.

    shell: who accepts it with the command that reads it; else whoever accepted it before.
    """
    shown = row.held
    if shown is None:
        return None
    is_as_shown = (
        shown.get("reason") == found["reason"]
        and shown.get("cluster_id") == found["cluster_id"]
        and all(missing <= _missing(shown).get(what, 0) for what, missing in _missing(found).items())
    )
    return (shell or shown.get("accepted_by")) if is_as_shown else None


def _missing(held: Mapping[str, Any]) -> dict[str, int]:
    """Return how much of what a quarantined snapshot misses; nothing for one that says nothing of it."""
    return {what: int(loss["missing"]) for what, loss in held.get("losses", {}).items()}


def keep(row: Cluster, found: Mapping[str, object]) -> None:
    """Keep the snapshot for a person to look at; recorded once, however often the same is read."""
    sentence = str(found["sentence"])
    is_known = row.held is not None and row.held.get("sentence") == sentence
    row.held = dict(found)
    row.tried_at = timezone.now()
    row.save(update_fields=["held", "tried_at"])
    logger.error("A snapshot of cluster %s is quarantined: %s", row.slug, sentence)
    if not is_known:
        trail.record(
            actor=_ITSELF,
            verb="cluster.reading-held",
            target=f"cluster:{row.slug}",
            cluster=row.name,
            reason=sentence,
        )


def accept(*, cluster: Cluster, actor: trail.Named, shown: str) -> None:
    """Have the next sync of the cluster stored, if it loses no more than the quarantined one.

    shown: the sentence that the actor was shown. Raises QuarantineError where that is not
    what is quarantined any more, so that nobody accepts a loss that they have not seen.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if row.held is None:
            raise QuarantineError("No snapshot is quarantined any more: a better one was stored meanwhile.")
        if row.held.get("sentence") != shown:
            raise QuarantineError(
                "Another snapshot is quarantined meanwhile; look at what it says and accept that."
            )
        if row.held.get("accepted_by"):
            raise QuarantineError(f"{row.held['accepted_by']} has accepted it already.")
        row.held = {**row.held, "accepted_by": actor.get_username()}
        row.save(update_fields=["held"])
        record_acceptance(row, actor=actor.get_username(), reason=shown)


def record_acceptance(row: Cluster, *, actor: str, reason: str) -> None:
    trail.record(
        actor=actor,
        verb="cluster.reading-accepted",
        target=f"cluster:{row.slug}",
        cluster=row.name,
        reason=reason,
    )
