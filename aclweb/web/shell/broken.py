"""The page after an error: the reason in words, and what was typed, to send it again.

Django calls these while the exception is being handled, whichever layer it came from: a view, or
the middleware that stores a session. The sentence has the site's frame around it; where
that cannot be made (no database), it is the whole page.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import UnreadablePostError
from django.shortcuts import render
from django.template.loader import render_to_string

from aclweb.runtime import storage
from aclweb.web.shell import frame
from aclweb.web.shell.put_back import why_not

logger = logging.getLogger(__name__)

BROKEN = "Something went wrong. The reason is in the site's log, which the people who run this site can read."
NOT_UNDERSTOOD = "This request cannot be understood."
_NOTHING_CHANGED = "This page changed nothing on any cluster."
_IN_PARTS = "Send it in smaller parts, or use python -m aclweb.acl, which takes files of any size."
_GO_BACK = "What was sent cannot be put back here. Your browser may still have it: go back one page."

# Forms that hold work of a person and no password; sending them again changes nothing that it should not.
_DRAFTS = frozenset({"what-if", "what-if-change", "compare-drafts", "explain-line", "mapping"})
# A browser reads no answer before it has sent all, so what is refused is read to its end, if it has one.
_MOST_READ = 64 * 2**20


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 with the reason where the database or the disk is one, else 500."""
    reason = storage.sentence_of(sys.exception())
    status = 503 if reason else 500
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": reason or BROKEN}, status=status)
    again, lost = _to_send_again(request)
    context = {
        "heading": "This cannot be done now" if reason else "Something went wrong",
        "sentence": reason or "The reason is in the site's log, which the people who run this site can read.",
        "advice": _NOTHING_CHANGED,
        "again": again,
        "lost": lost,
        "address": request.get_full_path() if request.method == "GET" else "",
    }
    framed = _in_frame(request, context, status)
    return framed or render(
        request, "shell/503.html" if reason else "shell/500.html", {"reason": reason}, status=status
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 413 with the limit to what is too large, and 400 to what cannot be understood."""
    too_large = _too_large(request, exception)
    status, sentence = (413, too_large) if too_large else (400, NOT_UNDERSTOOD)
    if too_large:
        _read_to_its_end(request)
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": sentence}, status=status)
    context = {
        "heading": "Too large" if too_large else "Not understood",
        "sentence": sentence,
        "advice": f"{_NOTHING_CHANGED} {_IN_PARTS if too_large else ''}".strip(),
        "lost": _GO_BACK if too_large else "",
    }
    framed = _in_frame(request, context, status)
    return framed or HttpResponse(sentence, content_type="text/plain; charset=utf-8", status=status)


def _in_frame(request: HttpRequest, context: Mapping[str, object], status: int) -> HttpResponse | None:
    """Return the page within the frame; None where that cannot be made either."""
    try:
        around = frame.around(request, cluster=None, section="")
        return HttpResponse(
            render_to_string("shell/broken.html", {**context, "frame": around}, request), status=status
        )
    except Exception:  # whatever it is, an error page must not end in another error
        logger.exception("The frame of an error page could not be made.")
        return None


def _to_send_again(request: HttpRequest) -> tuple[list[tuple[str, str]], str]:
    """Return what was typed into a draft, field by field, or why it is not put back."""
    match = request.resolver_match
    if request.method != "POST" or match is None or match.url_name not in _DRAFTS:
        return [], ""
    try:
        sent = [(name, value) for name, values in request.POST.lists() for value in map(str, values)]
    except (UnreadablePostError, RequestDataTooBig, TooManyFieldsSent):
        return [], _GO_BACK
    kept = [(name, value) for name, value in sent if name != "csrfmiddlewaretoken"]
    # Half of what was typed, sent again, would be another draft.
    return ([], _GO_BACK) if any(why_not(value) for _, value in kept) else (kept, "")


def _too_large(request: HttpRequest, exception: Exception) -> str:
    if isinstance(exception, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return f"What was sent has too many parts: at most {most:,} fields are taken."
    if not isinstance(exception, RequestDataTooBig):
        return ""
    size, most = int(request.META.get("CONTENT_LENGTH") or 0), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    sizes = f": {size / 1e6:,.1f} MB, and at most" if size else ": at most"
    return f"What was sent is too large{sizes} {most / 2**20:,.0f} MB are taken."


def _read_to_its_end(request: HttpRequest) -> None:
    left = _MOST_READ
    try:
        while left > 0 and (some := request.read(65536)):
            left -= len(some)
    except (OSError, UnreadablePostError):
        return
