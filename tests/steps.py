"""How many steps does the interpreter take in a module, whatever else the machine does meanwhile?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_in(module: str, call: Callable[[], object]) -> int:
    """Return how many of its instructions a call runs, counted in the functions of that module alone."""
    taken = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal taken
        if frame.f_globals.get("__name__") != module:
            return None
        frame.f_trace_opcodes = True
        taken += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return taken
