"""What does a page answer that finds its cluster removed between two of its own questions? A sentence and 404."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from aclweb.inventory.admin.removing import MEANWHILE
from aclweb.inventory.models import Cluster
from aclweb.web.shell.refused import not_found


class AnswerRemoved:
    """A view may ask for a cluster again, under a lock; where it is gone by then, nothing was stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page for a removed cluster; None for any other exception."""
        if isinstance(exception, Cluster.DoesNotExist):
            return not_found(request, Http404(MEANWHILE))
        return None
