"""Is this process alive, can it serve, which version is it, and what do its numbers say?

/healthz asks nothing of anybody: a process that answers is alive. /readyz asks the
database and the task queue, and says whether a worker answers; a site without a worker
still shows everything, so that alone does not make it unready.

Whoever probes calls the process by the address it happens to have and speaks plain http,
so these four are answered before the name of the host and the scheme are looked at.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator

import prometheus_client
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from aclweb import storage
from aclweb.celery import app
from aclweb.changes.models import Change
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

WORKER_TIMEOUT_SECONDS = 2.0
# Probes come every few seconds from several sides; a worker is asked at most this often.
WORKER_ANSWER_LIFE_SECONDS = 5.0

_worker_asked_at = float("-inf")
_worker_answered = False


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer: that is all."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Tell what this process needs and has; status 503 while it cannot serve."""
    checks = {"database": _state(_database), "queue": _state(_queue)}
    ready = all(state == "ok" for state in checks.values())
    worker = "ok" if checks["queue"] == "ok" and _worker() else "no answer"
    return JsonResponse({"ready": ready, **checks, "worker": worker}, status=200 if ready else 503)


@never_cache
@require_safe
def version(request: HttpRequest) -> HttpResponse:
    """Tell the version of aclweb."""
    return JsonResponse({"version": settings.ACLWEB_VERSION})


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Tell the numbers that Prometheus collects, where the setting ACLWEB_METRICS allows it."""
    if not settings.ACLWEB_METRICS:
        return HttpResponse(
            "Set ACLWEB_METRICS=true to serve metrics here.\n", status=404, content_type="text/plain"
        )
    registry = prometheus_client.CollectorRegistry()
    registry.register(_Rooms())
    text = prometheus_client.generate_latest(prometheus_client.REGISTRY)
    text += prometheus_client.generate_latest(registry)
    return HttpResponse(text, content_type=prometheus_client.CONTENT_TYPE_LATEST)


_PROBES = {"/healthz": healthz, "/readyz": readyz, "/version": version, "/metrics": metrics}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer the four probes, and leave every other request to the rest of the site."""

    def answer(request: HttpRequest) -> HttpResponse:
        probe = _PROBES.get(request.path)
        return get_response(request) if probe is None else probe(request)

    return answer


class _Rooms(Collector):
    """How old each cluster's reading is, and how many changes are in each state."""

    def collect(self) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "aclweb_reading_age_seconds", "Seconds since the cluster was last read whole.", labels=["cluster"]
        )
        for slug, read_at in Cluster.objects.values_list("slug", "read_at"):
            if read_at is not None:
                age.add_metric([slug], (timezone.now() - read_at).total_seconds())
        yield age

        changes = GaugeMetricFamily("aclweb_changes", "Changes by state.", labels=["state"])
        for state in Change.State:
            changes.add_metric([state.value], Change.objects.filter(state=state).count())
        yield changes


def _state(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception:  # whatever is wrong, the answer is that it does not work; the log says why
        logger.exception("A readiness check failed.")
        return "failed"


def _database() -> str:
    """Return "ok", or in a sentence why nothing can be read or written there now."""
    return storage.database_problem() or "ok"


def _queue() -> str:
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=WORKER_TIMEOUT_SECONDS)
    return "ok"


def _worker() -> bool:
    """Return whether any worker answered a ping lately; the answer is kept for some seconds."""
    global _worker_asked_at, _worker_answered
    if time.monotonic() - _worker_asked_at > WORKER_ANSWER_LIFE_SECONDS:
        try:
            answers = app.control.broadcast("ping", reply=True, limit=1, timeout=WORKER_TIMEOUT_SECONDS)
        except OSError:
            answers = []
        _worker_answered = bool(answers)
        # "No" is asked again at once, so that a site is ready as soon as its worker is.
        _worker_asked_at = time.monotonic() if _worker_answered else float("-inf")
    return _worker_answered
