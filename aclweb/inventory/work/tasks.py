"""Celery tasks: the heartbeats of workers."""

from __future__ import annotations

from typing import Any

from celery.signals import worker_ready

from aclweb.celery import app
from aclweb.inventory.work import pulses


@app.task(name="inventory.pulse", ignore_result=True)
def pulse(queue: str) -> None:
    """Store the heartbeat of the workers of one queue."""
    pulses.note(queue)


@worker_ready.connect
def _greet(sender: Any, **_: object) -> None:
    """Have a worker that has just started store its first heartbeat, before the beat asks for one."""
    for queue in sender.app.amqp.queues.consume_from:
        pulse.apply_async((queue,), queue=queue)
