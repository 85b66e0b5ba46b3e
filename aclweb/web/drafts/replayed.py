"""What does a page show of a replay?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aclweb.insights.replay import Replay
from aclweb.insights.replay_totals import MOST_REQUESTS, by_day, by_principal, by_resource, days_are_whole
from aclweb.inventory.models import Cluster
from aclweb.web.shell.paging import page_asked, page_of

FLIPS_A_PAGE = 10

# What `?by=` names: the word of the button, and its rows.
_VIEWS: Mapping[str, tuple[str, Callable[[Replay], Sequence[Any]]]] = {
    "": ("Requests", lambda found: found.flips),
    "principal": ("By principal", by_principal),
    "resource": ("By resource", by_resource),
    "day": ("By day", by_day),
}


def shown(found: Replay | None, cluster: Cluster, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the replay of this cluster's log, and the page of its rows that `?by=` and `?flips=` ask for."""
    by = asked.get("by", "")
    if by not in _VIEWS:
        by = ""
    rows = _VIEWS[by][1](found) if found is not None else ()
    return {
        "replay": found,
        "replay_cluster": cluster,
        "replay_by": by,
        "replay_views": [(name, word) for name, (word, _) in _VIEWS.items()],
        "replay_days_of": 0 if found is None or days_are_whole(found) else MOST_REQUESTS,
        "flips": page_of(rows, page_asked(asked, "flips"), FLIPS_A_PAGE),
    }
