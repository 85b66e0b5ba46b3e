"""Which points does a change of the access table pass at which a test may make its process die?

Tests of crashes put a function of their own in the place of `hit`. Nothing in aclweb acts at a point.
"""

from __future__ import annotations

# Each point in the order in which one change passes it.
POINTS = (
    "written",  # rows are in the unfinished folder; passed once for each set of data
    "part",  # a part has its place and name; passed once for each
    "parts",  # all have
    "version-written",  # the version is whole under a temporary name
    "committed",  # the version has its number
    "swept",  # what no version names any more is gone
)


def hit(name: str) -> None:
    """Do nothing at this point."""
