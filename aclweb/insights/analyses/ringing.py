"""How does a worker hear that an analysis waits?"""

from __future__ import annotations

from aclweb.celery import app
from aclweb.inventory.work import pulses

TASK = "insights.analyse_next"


def enqueue() -> None:
    """Have a worker run what waits. A message that no worker takes before the sweep sends another is not needed."""
    app.send_task(TASK, expires=4 * pulses.EVERY_SECONDS)
