"""How is an address asked so that one answer tells nothing of the one before?

Every request is made with the cookies of somebody who has just signed in, and what it wrote is rolled back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.cache import cache
from django.db import transaction

from tools.facts.site import Site

HEADERS = (
    "Content-Type", "Location", "Content-Disposition", "Cache-Control", "Content-Security-Policy", "Allow", "Link",
    "Retry-After", "WWW-Authenticate", "HX-Redirect", "HX-Push-Url", "HX-Location", "HX-Trigger", "Vary",
)  # fmt: skip


class Asker:
    """Asks as one person."""

    def __init__(self, site: Site, person: str) -> None:
        self.person = person
        self._browser = site.browser(person)
        self._cookies = {name: morsel.value for name, morsel in self._browser.cookies.items()}

    def __call__(
        self,
        path: str,
        *,
        form: Mapping[str, Any] | None = None,
        body: Any = None,
        htmx: bool = False,
    ) -> tuple[int, str, str]:
        """Return the status, the headers that matter, and the body. form: of a POST; body: JSON of a POST."""
        cache.clear()
        self._browser.cookies.clear()
        self._browser.cookies.load(self._cookies)
        headers = {"HX-Request": "true"} if htmx else {}
        scene = transaction.atomic()
        scene._from_testcase = True  # type: ignore[attr-defined]
        with scene:
            if form is not None:
                answer = self._browser.post(path, form, headers=headers)
            elif body is not None:
                text = body if isinstance(body, str) else json.dumps(body)
                answer = self._browser.post(path, text, content_type="application/json", headers=headers)
            else:
                answer = self._browser.get(path, headers=headers)
            parts = getattr(answer, "streaming_content", None) or [answer.content]
            content = b"".join(parts).decode("utf-8", "surrogateescape")
            transaction.set_rollback(True)
        shown = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
        if policy := shown.get("Content-Security-Policy"):
            # Its parts come out of a set.
            shown["Content-Security-Policy"] = "; ".join(sorted(policy.split("; ")))
        return answer.status_code, "\n".join(f"{name}: {value}" for name, value in shown.items()), content
