"""The pages for 403 and 404: a sentence within the frame of the site.

The navigation, the search and the cluster stay, so that a wrong address is no dead end. Where
even the frame cannot be made (no database), the sentence is the whole page.
"""

from __future__ import annotations

import logging

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from aclweb.web.shell import frame

logger = logging.getLogger(__name__)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404. Which pages there are is nobody's business, so only our own sentences are shown."""
    reason = exception.args[0] if exception.args else ""
    return _page(request, "shell/404.html", 404, reason if isinstance(reason, str) else "")


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 with the reason."""
    return _page(request, "shell/403.html", 403, str(exception))


def form_out_of_date(request: HttpRequest, **_: str) -> HttpResponse:
    """Answer 403 to a form without its token."""
    return _page(request, "shell/403_csrf.html", 403, "")


def _page(request: HttpRequest, template: str, status: int, sentence: str) -> HttpResponse:
    try:
        around = frame.around(request, cluster=None, section="")
    except DatabaseError:
        logger.exception("The frame of an error page could not be made.")
        around = None
    page = render_to_string(template, {"exception": sentence, "frame": around}, request)
    return HttpResponse(page, status=status)
