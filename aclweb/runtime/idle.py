"""What does a process that serves pages do while it answers nobody? It leaves what it keeps out of looks for garbage.

Else one request in some hundreds looks through all of it, for a tenth of a second or more.
"""

from __future__ import annotations

import threading
import time

from django.core import signals

from aclweb.runtime import loading

_EVERY_SECONDS = 1.0


class _Answering:
    """How many requests this process is answering, and whether it answered one since somebody asked."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._requests = 0
        self._has_news = False

    def begin(self, **_: object) -> None:
        with self._guard:
            self._requests += 1

    def end(self, **_: object) -> None:
        with self._guard:
            self._requests -= 1
            self._has_news = True

    def nobody(self) -> bool:
        """Whether this process is answering nobody."""
        return self._requests <= 0

    def take_news(self) -> bool:
        """Whether a request was answered since this was asked last."""
        with self._guard:
            news, self._has_news = self._has_news, False
        return news


_answering = _Answering()


def watch() -> None:
    """Count the requests from now on, and have a thread of this process use its idle moments; it ends with it."""
    signals.request_started.connect(_answering.begin, dispatch_uid="aclweb.runtime.idle")
    signals.request_finished.connect(_answering.end, dispatch_uid="aclweb.runtime.idle")
    threading.Thread(target=_keep_using, name="aclweb-idle", daemon=True).start()


def use() -> None:
    """Do what there is to be done, if this process answered somebody since and answers nobody just now."""
    if _answering.nobody() and _answering.take_news():
        loading.leave_out_what_lasts(_answering.nobody)


def _keep_using() -> None:
    while True:
        time.sleep(_EVERY_SECONDS)
        use()
