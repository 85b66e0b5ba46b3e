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
from celery.loaders.app import AppLoader
from django.conf import settings
from django.db import OperationalError

from aclweb.runtime import datadir, loading
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


class Loader(AppLoader):
    """Sets up Django and loads the tasks of a worker or the beat."""

    def import_default_modules(self) -> Any:
        """Return what the modules that it loads answer, as Celery's own loader does."""
        with loading.without_garbage_collection():
            return super().import_default_modules()


app = celery.Celery("aclweb", loader="aclweb.celery:Loader", task_cls=Task)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Carries the id of the request that enqueued a task into the task's own log lines.
app.steps["worker"].add("django_structlog.celery.steps:DjangoStructLogInitStep")
