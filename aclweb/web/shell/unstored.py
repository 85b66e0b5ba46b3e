"""No page is cached: a shared computer shows nothing after its user has signed out."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase


def not_stored(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Forbid browsers and proxies to store any answer that does not say itself how long it lasts."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "no-store, private"
        return response

    return answer
