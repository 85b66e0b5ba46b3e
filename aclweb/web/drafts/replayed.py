"""What does a page show of a replay?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclweb.insights.replay import Replay
from aclweb.inventory.models import Cluster
from aclweb.web.shell.paging import page_asked, page_of

FLIPS_A_PAGE = 10


def shown(found: Replay | None, cluster: Cluster, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the replay of this cluster's log and the page of its rows that `?flips=` asks for."""
    return {
        "replay": found,
        "replay_cluster": cluster,
        "flips": page_of(found.flips if found is not None else (), page_asked(asked, "flips"), FLIPS_A_PAGE),
    }
