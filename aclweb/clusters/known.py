"""How complete is a list that a cluster gave?"""

from __future__ import annotations

import enum


class Known(enum.StrEnum):
    """Which of the existing names of one kind a list holds."""

    ALL = "all"
    VISIBLE = "visible"  # those that this login may describe, or that a file lists; there may be others
    UNKNOWN = "unknown"  # names of this kind cannot be listed here
