"""Log which address was asked for, without its query: a query may contain a token or a private name."""

from __future__ import annotations

from django.http import HttpRequest
from django_structlog.middlewares import RequestMiddleware


class LogRequests(RequestMiddleware):  # type: ignore[misc]
    """One line for each request that failed: method and path."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return what the log says of a request."""
        return f"{request.method} {request.path}"
