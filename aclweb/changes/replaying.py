"""Would anything that really happened be answered otherwise by this edit?

A replay is asked again for every page of a draft, a change or a comparison, so it is kept as impacts are.
"""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import Delta
from aclweb.acl.simulate import Impact
from aclweb.changes.impact import TooMuch, on_which_impact_depends
from aclweb.changes.kept import Kept
from aclweb.insights.broker_days import retired_stamp
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay, replay
from aclweb.inventory.current import ClusterView

_DENYING = ("loses", "depends")

_replayed: Kept[Replay] = Kept(lambda found: found.weight, TooMuch)


def replay_of(
    view: ClusterView, delta: Delta, impact: Impact | None, *, days: int | None = None
) -> Replay | None:
    """Return the replay of a cluster's log with this edit; None where no log was read. For the rest see `replay_in`."""
    return replay_in(current_load(view.cluster), view, delta, impact, days=days)


def replay_in(
    load: Load | None, view: ClusterView, delta: Delta, impact: Impact | None, *, days: int | None = None
) -> Replay | None:
    """Return the replay of one load, the cluster's newest, with this edit; None where there is none.

    impact: that of the edit, where it is known; one that takes nothing away needs no permits in the log. days: the
    last ones of the log, of WINDOWS; None for all of it.
    """
    if load is None or view.revision is None:
        return None
    takes_away = _takes_away(impact)
    return _replayed.remember(
        (*_of_load(load), *on_which_impact_depends(view), delta, takes_away, days),
        lambda: replay(load, delta, view.index, view.settings, takes_away=takes_away, days=days),
    )


def replay_between(
    load: Load | None,
    left: ClusterView,
    right: ClusterView,
    delta: Delta,
    indexes: tuple[Callable[[], AclIndex], Callable[[], AclIndex | None]],
    impact: Impact | None,
    key: tuple[object, ...],
    *,
    days: int | None = None,
) -> Replay | None:
    """Return the replay of the first side's log with the second side's ACLs and settings; None where none was read.

    load: the newest of the first side's log. delta, indexes: the ACLs that differ, and those of each side;
    of the second None where they are not filed.
    key: what these depend on. days: as of `replay_of`.
    """
    if load is None or left.revision is None or right.revision is None:
        return None
    takes_away = _takes_away(impact)

    def work_out() -> Replay:
        before, after = indexes
        return replay(
            load,
            delta,
            before(),
            left.settings,
            right.settings,
            index_after=after(),
            takes_away=takes_away,
            days=days,
        )

    return _replayed.remember((*_of_load(load), key, takes_away, days), work_out)


def _of_load(load: Load) -> tuple[object, ...]:
    """Return what a replay depends on at a log: its doubts name brokers that nobody has called gone."""
    return (load.pk, load.loaded_at, retired_stamp(load))


def _takes_away(impact: Impact | None) -> bool:
    return impact is None or any(impact.counts[kind] for kind in _DENYING)
