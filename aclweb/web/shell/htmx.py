"""Whole page or only the part that changes? One address serves both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from aclweb.inventory.models import Cluster
from aclweb.web.shell import frame


def wants_part(request: HttpRequest) -> bool:
    """Return whether htmx asks for the part it will swap in, and not for a page to show whole.

    A boosted link asks for a part where it names the one that it swaps.
    """
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and (headers.get("HX-Boosted") != "true" or "HX-Target" in headers)
        and headers.get("HX-History-Restore-Request") != "true"
    )


def render_page(
    request: HttpRequest,
    page: str,
    part: str | None,
    context: Mapping[str, Any],
    *,
    section: str = "",
    cluster: Cluster | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render `page` within the frame or, for htmx, only `part` (None: the page has no part of its own).

    section: which entry of the navigation is lit: home, topics, principals, acls, changes, compare, insights.
    cluster: taken from the context's "cluster" where not given. A "frame" in the context is that of this page.
    """
    here = cluster or context.get("cluster")
    if part is not None and wants_part(request):
        response = render(request, part, dict(context), status=status)
    else:
        around = context.get("frame") or frame.around(request, cluster=here, section=section)
        response = render(request, page, {**context, "frame": around}, status=status)
    if here is not None and request.COOKIES.get(frame.LAST) != here.slug:
        response.set_cookie(
            frame.LAST, here.slug, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    patch_vary_headers(response, ["HX-Request"])
    return response
