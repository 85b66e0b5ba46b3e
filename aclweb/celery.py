"""How do tasks reach a worker?

`app` is the one Celery application: every room's tasks.py registers with it. Celery only
rings; the database holds the state, so a lost message delays work and a doubled one is
harmless. Importing this module makes the embedded transport (acfs://) known to kombu.
"""

from __future__ import annotations

import os

from celery import Celery
from django_structlog.celery.steps import DjangoStructLogInitStep

from aclweb import datadir, filebroker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")

datadir.make_private(datadir.data_directory())
filebroker.register()

app = Celery("aclweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Carries the id of the request that enqueued a task into the task's own log lines.
app.steps["worker"].add(DjangoStructLogInitStep)
