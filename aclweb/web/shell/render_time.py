"""How long has this page taken so far? The footer says it."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import Any

_started: ContextVar[float | None] = ContextVar("started", default=None)


def start(**_: Any) -> None:
    """Note that a request has begun; connected to Django's signal `request_started`."""
    _started.set(time.perf_counter())


def milliseconds() -> int | None:
    """Return the milliseconds since this request began, or None outside a request."""
    began = _started.get()
    return None if began is None else round((time.perf_counter() - began) * 1000)
