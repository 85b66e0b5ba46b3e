"""The gunicorn worker of the site: threads, and a page instead of a bare line where an address is too long."""

from __future__ import annotations

import socket
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


class SiteWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's threads; only the answer to an address that is too long is ours."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that cannot be read."""
        if not isinstance(exc, LimitRequestLine):
            super().handle_error(req, client, addr, exc)
            return
        client.sendall(_ANSWER)
