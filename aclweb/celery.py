"""How do tasks reach a worker?

`app` is the one Celery application: every room's tasks.py registers with it. Celery only
rings; the database holds the state, so a lost message delays work and a doubled one is
harmless. Importing this module makes the embedded transport (acfs://) known to kombu.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import celery
from django.conf import settings
from django.db import OperationalError
from django_structlog.celery.steps import DjangoStructLogInitStep

from aclweb.runtime import datadir
from aclweb.runtime import queue as filebroker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")

datadir.make_private(settings.ACLWEB_DATA_DIR)
filebroker.register()

logger = logging.getLogger(__name__)


class Task(celery.Task):  # type: ignore[type-arg]
    """A task that is tried again where the database was locked or gone for a moment."""

    autoretry_for = (OperationalError,)
    max_retries = 6
    retry_backoff = 1  # seconds, doubled each time
    retry_backoff_max = 30
    retry_jitter = True

    def on_retry(self, exc: Exception, *_: Any, **__: Any) -> None:
        logger.warning("The database could not be used (%s), so %s is tried again soon.", exc, self.name)


app = celery.Celery("aclweb", task_cls=Task)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Carries the id of the request that enqueued a task into the task's own log lines.
app.steps["worker"].add(DjangoStructLogInitStep)
