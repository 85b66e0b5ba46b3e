"""What does the log hold of the rows of an access diff: when was each last permitted, and how often denied?

The same for a page of rows, for the heads of rows that share a fold, and for a file of all rows, on every page with a
diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from aclweb.acl.model import PermissionType
from aclweb.changes.kept import Kept
from aclweb.changes.models import ChangeError
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.insights.seen_in_groups import SeenInGroup, seen_in_any, seen_in_groups
from aclweb.insights.unused import evidence_of
from aclweb.inventory.models import Cluster
from aclweb.web.drafts.impact_rows import ImpactRow, ImpactRows

# Rows that the heads of one page sum up, the first folds first, and requests of all of them that are looked at, the
# newest first. A head of more rows says nothing of the log, and one of more requests "at least".
MOST_SUMMED, MOST_REQUESTS_SUMMED = 300, 2_000

# Pages of one diff of which it is kept what the log holds of their rows: one that is looked at is turned to and fro.
MOST_KEPT = 24

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

    heads: of folds that have one, by their numbers, as far as their rows are few. why_not: why the log may lack
    permits; empty where it does not.
    """

    cluster: Cluster
    load: Load | None
    why_not: str = ""
    rows: Mapping[int, InLog] = field(default_factory=dict)
    heads: Mapping[int, InLog] = field(default_factory=dict)


def beside(
    cluster: Cluster,
    load: Load | None,
    rows: ImpactRows,
    shown: Sequence[ImpactRow],
    *,
    heads: Mapping[int, range] | None = None,
    replay: Replay | None = None,
) -> DiffLog:
    """Return what a cluster's log holds of these of the rows; at most three queries, and one where it was asked before.

    load: its newest. heads: the places of the rows below each head, by the number of its fold. replay: one on the same
    page; that of the whole log says why it may lack permits.
    """
    if load is None or not (shown or heads):
        return DiffLog(cluster, load)
    found = zip(shown, _seen(load, rows, [row.number for row in shown]), strict=True)
    return DiffLog(
        cluster=cluster,
        load=load,
        why_not=replay.why_not
        if replay is not None and replay.load == load.pk and replay.days is None
        else evidence_of(load).why_not[PermissionType.ALLOW],
        rows={row.number: _in_log(load, seen) for row, seen in found},
        heads=_of_heads(load, rows, _few(heads or {})),
    )


def _of_heads(load: Load, rows: ImpactRows, heads: Mapping[int, range]) -> dict[int, InLog]:
    """Return what a log holds of all rows below each head; one query."""
    below = [place for places in heads.values() for place in places]
    seen = iter(_seen(load, rows, below, most=MOST_REQUESTS_SUMMED))
    return {number: _in_log(load, seen_in_any(islice(seen, len(places)))) for number, places in heads.items()}


def _seen(
    load: Load, rows: ImpactRows, places: Sequence[int], *, most: int | None = None
) -> list[SeenInGroup]:
    """Return what a load, which never changes, holds of the rows at some places; kept as long as the rows are."""
    kept: Kept[list[SeenInGroup]] | None = rows.memo.get(_seen)
    if kept is None:
        kept = Kept(lambda seen: 200 * (1 + len(seen)), ChangeError, most_answers=2 * MOST_KEPT)
        kept = rows.memo.setdefault(_seen, kept)
    return kept.remember(
        # The time is part of it: a database that was put back gives numbers out again.
        (load.pk, load.loaded_at, tuple(places), most),
        lambda: seen_in_groups(load, rows.impact, [rows.groups[place] for place in places], most=most),
    )


def _few(heads: Mapping[int, range]) -> dict[int, range]:
    """Return the heads that are summed up, in their order: each that has no more rows than are left of MOST_SUMMED."""
    few: dict[int, range] = {}
    left = MOST_SUMMED
    for number, places in heads.items():
        if len(places) <= left:
            few[number] = places
            left -= len(places)
    return few


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
