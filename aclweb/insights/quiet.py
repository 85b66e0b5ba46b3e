"""May a group of denials without one in the last seven days be called fixed?

Only where every broker wrote its denials on each of these days. It is worked out when a load is stored, and again when
a broker is called gone or not, so that no list and no badge has to.
"""

from __future__ import annotations

from aclweb.insights.coverage_days import coverage_days
from aclweb.insights.models import Load

QUIET_DAYS = 7
"""A group is called fixed that has no denial on so many last days of the log; they are those of `lines_7`."""


def settle_quiet(load: Load) -> None:
    """Store whether a load can tell that a group has been quiet; two queries."""
    found = coverage_days(load, days=QUIET_DAYS)
    load.tells_quiet = found.denials_whole == len(found.days) == QUIET_DAYS
    load.save(update_fields=["tells_quiet"])
