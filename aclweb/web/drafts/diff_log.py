"""What does the log hold of the rows of an access diff: when was each last permitted, and how often denied?

The same for a page of rows and for a file of all of them, on every page with a diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from aclweb.acl.model import PermissionType
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.insights.seen_in_groups import SeenInGroup, seen_in_groups
from aclweb.insights.unused import evidence_of
from aclweb.inventory.models import Cluster
from aclweb.web.drafts.impact_rows import ImpactRow, ImpactRows

PERMITTED, NOT_LOGGED, UNKNOWN = "permitted", "not in the log", "cannot tell"


@dataclass(frozen=True)
class InLog:
    """What the log says of one row.

    says: PERMITTED at `last_permitted`, on the brokers' clocks; NOT_LOGGED, or UNKNOWN. denied: None where nobody can
    tell, and at least so many where it is not whole.
    """

    says: str
    last_permitted: datetime | None
    denied: int | None
    is_whole: bool

    @property
    def is_seen(self) -> bool:
        return self.says == PERMITTED

    @property
    def is_unknown(self) -> bool:
        return self.says == UNKNOWN


NO_LOG = InLog(UNKNOWN, None, None, is_whole=False)


@dataclass(frozen=True)
class DiffLog:
    """The log beside the rows of a diff. rows: by the numbers of those that were asked for. load: None for no log.

    why_not: why the log may lack permits; empty where it does not.
    """

    cluster: Cluster
    load: Load | None
    why_not: str = ""
    rows: Mapping[int, InLog] = field(default_factory=dict)


def beside(
    cluster: Cluster,
    load: Load | None,
    rows: ImpactRows,
    shown: Sequence[ImpactRow],
    *,
    replay: Replay | None = None,
) -> DiffLog:
    """Return what a cluster's log holds of these of the rows; at most two queries.

    load: its newest. replay: one on the same page; that of the whole log says why it may lack permits.
    """
    if load is None or not shown:
        return DiffLog(cluster, load)
    groups = [rows.groups[row.number] for row in shown]
    found = zip(shown, seen_in_groups(load, rows.impact, groups), strict=True)
    return DiffLog(
        cluster=cluster,
        load=load,
        why_not=replay.why_not
        if replay is not None and replay.load == load.pk and replay.days is None
        else evidence_of(load).why_not[PermissionType.ALLOW],
        rows={row.number: _in_log(load, seen) for row, seen in found},
    )


def of_every_row(cluster: Cluster, rows: ImpactRows) -> Iterator[InLog]:
    """Yield what the log of a cluster holds of each row, in their order; two queries, at the first."""
    load = current_load(cluster)
    if load is None:
        yield from (NO_LOG for _ in rows.groups)
        return
    yield from (_in_log(load, seen) for seen in seen_in_groups(load, rows.impact, rows.groups))


def _in_log(load: Load, seen: SeenInGroup) -> InLog:
    if seen.last_permitted is not None:
        says = PERMITTED
    else:
        says = NOT_LOGGED if seen.is_whole and load.permits_seen else UNKNOWN
    denied = seen.denied if seen.denied or seen.is_whole else None
    return InLog(says, seen.last_permitted, denied, seen.is_whole)
