"""How does a person use the site over HTTP: sign in, read a page, send a form, ask the API?"""

from __future__ import annotations

import http.cookiejar
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from devstack.product import StoryError


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    address: str
    text: str


class Browser:
    """One person at the site: signs in, follows redirects, sends forms with their tokens."""

    def __init__(self, address: str, username: str) -> None:
        self.address = address.rstrip("/")
        self.username = username
        self._cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))

    def get(self, path: str, **query: str) -> Answer:
        return self._open(path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def send(self, path: str, *, page: str, **fields: str) -> Answer:
        """Send a form that is on `page`, with the token and the hidden plan that the page carries."""
        shown = self.get(page)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', shown.text)
        if token is None:
            raise StoryError(f"{self.username} finds no form at {page} (status {shown.status}).")
        plan = re.search(r'name="plan_hash" value="([^"]*)"', shown.text)
        hidden = {"csrfmiddlewaretoken": token[1]} | ({"plan_hash": plan[1]} if plan else {})
        return self._open(path, urllib.parse.urlencode(hidden | fields).encode())

    def api(self, path: str, asked: Mapping[str, object] | None = None) -> dict[str, object]:
        """Ask the API and return its answer; with `asked`, by POST."""
        headers = {"Accept": "application/json"}
        data = None
        if asked is not None:
            token = next((cookie.value for cookie in self._cookies if cookie.name.endswith("csrf")), None)
            headers |= {"Content-Type": "application/json", "X-CSRFToken": token or ""}
            data = json.dumps(asked).encode()
        answer = self._open(f"/api/v1{path}", data, headers)
        if answer.status != 200:
            raise StoryError(f"/api/v1{path} answers {answer.status}: {answer.text[:300]}")
        found: dict[str, object] = json.loads(answer.text)
        return found

    def sign_in(self, password: str) -> None:
        answer = self.send("/sign-in/", page="/sign-in/", username=self.username, password=password)
        if answer.status != 200 or "/sign-in/" in answer.address:
            raise StoryError(f"{self.username} cannot sign in (status {answer.status} at {answer.address}).")

    def _open(self, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        request = urllib.request.Request(self.address + path, data, dict(headers or {}))  # noqa: S310
        try:
            with self._opener.open(request, timeout=60) as answer:
                return Answer(answer.status, answer.url, answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.url or "", error.read().decode("utf-8", errors="replace"))
        except OSError as error:
            raise StoryError(f"{self.address}{path} does not answer: {error}") from error
