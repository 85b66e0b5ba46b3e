"""What was declared of a cluster, and since when?

A cluster's own row says what holds today. Each change of it adds a Declaration, in the
transaction that makes it, so that a question about the past is answered by what was
declared then.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aclweb.audit import trail
from aclweb.inventory.models import Cluster, Declaration


def keep(row: Cluster, *, before: Mapping[str, Any], actor: trail.Named | str, since: datetime) -> None:
    """Add what the row says now, if that is not what it said `before`. Call it with the row locked."""
    values = Declaration.values_of(row)
    if values != before:
        who = actor if isinstance(actor, str) else actor.get_username()
        Declaration.objects.create(cluster=row, since=since, who=who, **values)


def declared_at(cluster: Cluster, moment: datetime, *, before: bool = False) -> Declaration | None:
    """Return what was declared at the moment, or just `before` it; the first that is known for earlier ones."""
    kept = Declaration.objects.filter(cluster=cluster)
    until = kept.filter(since__lt=moment) if before else kept.filter(since__lte=moment)
    return until.order_by("-since", "-pk").first() or kept.order_by("since", "pk").first()
