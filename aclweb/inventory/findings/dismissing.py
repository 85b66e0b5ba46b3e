"""Which findings has somebody answered for, so that they are not counted, until when, and why?

A dismissal is of one lint rule and one ACL, and counts for every later run. Each stored finding says through which day
it is left out, so that every number of findings leaves out the same with one condition.
"""

from __future__ import annotations

import json
from datetime import date

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from aclweb.acl.model import AclError, acl_text
from aclweb.acl.notation import binding_from_dict, binding_key
from aclweb.audit import trail
from aclweb.inventory.models import Cluster
from aclweb.inventory.stored_findings import DismissedFinding, LintRun, StoredFinding

LONGEST_REASON = 500
MOST_DISMISSED = 2_000
"""Of one cluster: more are no answers but a lint rule that nobody wants."""
FOR_GOOD = date.max

for _verb, _sentence in {
    "finding.dismissed": "{actor} dismissed the finding {rule} of the ACL {acl} on {cluster} {until}: {reason}",
    "finding.undismissed": "{actor} took back the dismissal of the finding {rule} of the ACL {acl} on {cluster}.",
}.items():
    trail.register(_verb, _sentence)


class DismissalError(AclError):
    """Why a finding was not dismissed, in a sentence. field: which one it is about."""

    def __init__(self, sentence: str, field: str = "reason") -> None:
        super().__init__(sentence)
        self.field = field


def today() -> date:
    """Return the day of now, in UTC as all times here."""
    return timezone.now().date()


def is_open(prefix: str = "") -> Q:
    """Return the condition on stored findings that nobody has dismissed, or no longer."""
    until = f"{prefix}dismissed_until"
    return Q(**{f"{until}__isnull": True}) | Q(**{f"{until}__lt": today()})


def dismissals(cluster: Cluster) -> QuerySet[DismissedFinding]:
    """Return the dismissals in force on a cluster, the newest first."""
    in_force = Q(until__isnull=True) | Q(until__gte=today())
    return DismissedFinding.objects.filter(in_force, cluster=cluster).order_by("-at", "-pk")


def dismiss(
    found: StoredFinding, *, actor: trail.Named, reason: str, until: str = "", cluster: Cluster
) -> DismissedFinding:
    """Leave a finding out of every count, through the day `until` or for good; raises DismissalError."""
    reason, last = _reason(reason), _day(until)
    if dismissals(cluster).count() >= MOST_DISMISSED:
        raise DismissalError(
            f"{MOST_DISMISSED:,} findings of {cluster.name} are dismissed, which is the most."
        )
    binding = binding_from_dict(json.loads(found.acl))
    with transaction.atomic():
        dismissal, _ = DismissedFinding.objects.update_or_create(
            cluster=cluster,
            rule=found.rule,
            acl_key=binding_key(binding),
            defaults={
                "acl": found.acl,
                "sentence": found.sentence,
                "reason": reason,
                "until": last,
                "by": actor.get_username(),
                "at": timezone.now(),
            },
        )
        _same(dismissal).update(dismissed_until=last or FOR_GOOD)
        trail.record(
            actor=actor,
            verb="finding.dismissed",
            target=f"cluster:{cluster.slug}",
            cluster=cluster.name,
            rule=found.rule,
            acl=acl_text(binding),
            reason=reason,
            until=f"until {last:%Y-%m-%d}" if last else "for good",
        )
    return dismissal


def undo(dismissal: DismissedFinding, *, actor: trail.Named) -> None:
    """Count the finding again."""
    with transaction.atomic():
        if not DismissedFinding.objects.filter(pk=dismissal.pk).delete()[0]:
            return
        _same(dismissal).update(dismissed_until=None)
        trail.record(
            actor=actor,
            verb="finding.undismissed",
            target=f"cluster:{dismissal.cluster.slug}",
            cluster=dismissal.cluster.name,
            rule=dismissal.rule,
            acl=acl_text(binding_from_dict(json.loads(dismissal.acl))),
        )


def leave_out(run: LintRun) -> None:
    """Mark what a run has just stored and somebody has dismissed.

    The rows are there, so a dismissal that comes meanwhile marks them itself.
    """
    for dismissal in DismissedFinding.objects.filter(cluster=run.cluster_id):
        _same(dismissal).filter(search=run).update(dismissed_until=dismissal.until or FOR_GOOD)


def _same(dismissal: DismissedFinding) -> QuerySet[StoredFinding]:
    """Return the stored findings that a dismissal is about."""
    return StoredFinding.objects.filter(
        search__cluster=dismissal.cluster_id, is_proposal=False, rule=dismissal.rule, acl=dismissal.acl
    )


def _reason(typed: str) -> str:
    reason = typed.strip()
    if not reason:
        raise DismissalError("Say why the finding may stay; whoever comes later reads it.")
    if len(reason) > LONGEST_REASON:
        raise DismissalError(
            f"The reason has {len(reason):,} characters, and at most {LONGEST_REASON} are kept."
        )
    return reason


def _day(typed: str) -> date | None:
    text = typed.strip()
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise DismissalError(f"{text[:20]!r} is no day; write it as 2027-01-31.", "until") from error
    if day < today():
        raise DismissalError(f"{day:%Y-%m-%d} is past; choose today or a later day.", "until")
    return day
