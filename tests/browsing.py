"""A real Chromium for tests: where it is, how it is started, and what a page must never do in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from aclweb.accounts.models import User

# Playwright's loop makes Django take the test itself for asynchronous code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
# Without these Chromium looks for the internet by itself.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
# Of what appears at once on a quiet machine. Playwright's own 5 and 30 s are not enough on a busy one.
PATIENCE_MILLISECONDS = 180_000
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def _program() -> str | None:
    """Return the path of the system's Chromium; None leaves the search to Playwright."""
    return os.environ.get("ACLWEB_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A real Chromium. Every test opens a window of its own. Where there is none the test is skipped loudly, or
    fails where CI=true."""
    with browser() as started:
        yield started


@contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium, or tell why none could be started."""
    arguments = [*_QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=_program(), args=arguments)
        except Error as error:
            reason = f"No Chromium could be started ({str(error).splitlines()[0]}); install it or set ACLWEB_CHROMIUM."
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        expect.set_options(timeout=PATIENCE_MILLISECONDS)
        opened = started.new_context

        def patient(**options: Any) -> BrowserContext:
            context = opened(**options)
            context.set_default_timeout(PATIENCE_MILLISECONDS)
            return context

        started.new_context = patient  # type: ignore[method-assign]
        yield started
        started.close()


def sign_in(context: BrowserContext, person: User, address: str) -> None:
    """Give the browser a session of this person, as if they had signed in."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": str(session.session_key), "url": address}]
    )


class Watch:
    """Everything a page complained of or fetched from elsewhere while it was watched."""

    def __init__(self, page: Page, address: str) -> None:
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url, address))

    def forget(self) -> None:
        """Begin anew, for the next page of the same window."""
        self.complaints.clear()
        self.elsewhere.clear()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.elsewhere.append(url)


def axe_violations(page: Page) -> list[str]:
    """Return what axe finds, one line each; its own fetching of sheets is off, as the policy forbids it."""
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run({preload: false})).violations")
    return [
        f"{violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for violation in found
        for node in violation["nodes"]
    ]
