"""The gunicorn worker of the site: threads, and a page instead of a bare line where an address is too long."""

from __future__ import annotations

import socket
import sys
from typing import Any

from gunicorn.http.errors import LimitRequestLine
from gunicorn.workers.gthread import ThreadWorker

_PAGE = (
    b"<!doctype html><html lang=en><meta charset=utf-8><title>Address too long</title>"
    b"<h1>This address is too long</h1>"
    b"<p>The site takes addresses of up to 8,190 bytes. What was asked is fine, but not as a link: "
    b"type or paste it into the page's form instead, or name fewer ACLs.</p>"
    b'<p><a href="/">Home</a></p></html>'
)
_ANSWER = (
    b"HTTP/1.1 414 URI Too Long\r\nConnection: close\r\nContent-Type: text/html; charset=utf-8\r\n"
    b"Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_PAGE), _PAGE)
)


# Seconds after which a thread that computes lets another one go on. A page makes some sixty short statements,
# and gives way at each; behind one long what-if, Python's own 5 ms a time would make it wait a third of a second.
_SWITCH_SECONDS = 0.0005


class SiteWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's threads, which give way to one another soon, and an answer to an address that is too long."""

    def init_process(self) -> None:
        """Start answering."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        super().init_process()

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that cannot be read."""
        if not isinstance(exc, LimitRequestLine):
            super().handle_error(req, client, addr, exc)
            return
        client.sendall(_ANSWER)
