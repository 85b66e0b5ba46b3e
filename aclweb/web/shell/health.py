"""Is this process alive, can it serve, which version is it, and what do its numbers say?

/healthz asks nothing of anybody: a process that answers is alive. /readyz/site says whether
pages can be shown and forms stored. /readyz says whether the whole installation works: the
workers and the beat too, by when each last finished a heartbeat. It names a silent watcher, without
which edits show later; that is no reason for 503. A site whose workers are
silent still shows everything, so whoever routes people routes by /readyz/site, and whoever
is woken at night is woken by /readyz.

Whoever probes calls the process by the address it happens to have and speaks plain http,
so these are answered before the name of the host and the scheme are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import prometheus_client
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from aclweb.changes.models import Change
from aclweb.inventory.lists import watched_clusters
from aclweb.inventory.models import Cluster
from aclweb.inventory.work import pulses
from aclweb.web.shell import liveness


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer: that is all."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """Tell what the installation needs and has; status 503 while a part of it does not work."""
    state = liveness.state()
    return JsonResponse({"ready": state.is_whole, **state.as_dict()}, status=200 if state.is_whole else 503)


@never_cache
@require_safe
def readyz_site(_request: HttpRequest) -> HttpResponse:
    """Tell the same, with status 503 only while this process cannot show pages or store forms."""
    state = liveness.state()
    return JsonResponse({"ready": state.can_serve, **state.as_dict()}, status=200 if state.can_serve else 503)


@never_cache
@require_safe
def version(_request: HttpRequest) -> HttpResponse:
    """Tell the version of aclweb."""
    return JsonResponse({"version": settings.ACLWEB_VERSION})


@never_cache
@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
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


_PROBES = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/readyz/site": readyz_site,
    "/version": version,
    "/metrics": metrics,
}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer the probes, and leave every other request to the rest of the site."""

    def answer(request: HttpRequest) -> HttpResponse:
        probe = _PROBES.get(request.path)
        return get_response(request) if probe is None else probe(request)

    return answer


class _Rooms(Collector):
    """How old snapshots are, which clusters are watched, who has given a heartbeat, and how many changes there are."""

    def collect(self) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "aclweb_reading_age_seconds", "Seconds since the cluster was last read whole.", labels=["cluster"]
        )
        for slug, read_at in Cluster.objects.values_list("slug", "read_at"):
            if read_at is not None:
                age.add_metric([slug], (timezone.now() - read_at).total_seconds())
        yield age

        watched = GaugeMetricFamily(
            "aclweb_cluster_watched",
            "Whether a worker watches the cluster, so that an edit made elsewhere shows within seconds.",
            labels=["cluster"],
        )
        for slug, is_watched in watched_clusters():
            watched.add_metric([slug], int(is_watched))
        yield watched

        heartbeats = GaugeMetricFamily(
            "aclweb_heartbeat_age_seconds",
            "Seconds since the last heartbeat of the beat, of the watcher, and of the workers of each queue.",
            labels=["of"],
        )
        for name, old in pulses.life().age.items():
            if name == pulses.WATCHER and not settings.ACLWEB_WATCH:
                continue  # of a time when it was switched on
            heartbeats.add_metric([name], old.total_seconds())
        yield heartbeats

        changes = GaugeMetricFamily("aclweb_changes", "Changes by state.", labels=["state"])
        for state in Change.State:
            changes.add_metric([state.value], Change.objects.filter(state=state).count())
        yield changes
