"""The Celery beat, which writes its heartbeat into the database.

What is due and how often is in the settings (CELERY_BEAT_SCHEDULE); Celery's beat is
started with this scheduler by CELERY_BEAT_SCHEDULER.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import DatabaseError
from django_celery_beat.schedulers import DatabaseScheduler

from aclweb.inventory.work import pulses

logger = logging.getLogger(__name__)


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """Celery's scheduler on the database, which notes that it lives."""

    _noted_at = float("-inf")

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        wait = super().tick(*args, **kwargs)
        now = time.monotonic()
        if now - self._noted_at >= pulses.EVERY_SECONDS:
            try:
                pulses.note(pulses.BEAT)
                self._noted_at = now
            except DatabaseError:  # tried again at the next tick; until then the beat counts as silent
                logger.warning("The beat could not record its heartbeat.", exc_info=True)
        return min(wait, pulses.EVERY_SECONDS)
