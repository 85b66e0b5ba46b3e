"""What does a program inherit that this process starts?"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process with `more` over it."""
    return {**os.environ, **more}
