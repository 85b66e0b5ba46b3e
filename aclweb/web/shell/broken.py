"""What does somebody see where a page could not be made? The reason in words, if the database or the disk is it.

Django calls `server_error` while the exception is being handled, whichever layer it came
from: a view, or the middleware that stores a session. No query is made here.
"""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from aclweb.runtime import storage

BROKEN = "Something broke here. What happened is in the site's log; whoever runs the site can read it there."


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 with the reason where the database or the disk is one, else 500."""
    reason = storage.sentence_of(sys.exception())
    status = 503 if reason else 500
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": reason or BROKEN}, status=status)
    return render(request, "503.html" if reason else "500.html", {"reason": reason}, status=status)
