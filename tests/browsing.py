"""A real Chromium for tests: where it is, how it is started, and what a page must never do in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Literal

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from aclweb.accounts.models import User
from tests.sessions import new_session

# Playwright's loop makes Django take the test itself for asynchronous code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# The first is the same browser without its windows and takes a quarter less.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
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
    """A real Chromium, whose windows tests take from `window`. Where there is none the test is skipped loudly, or
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
        yield started
        started.close()


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    return Windows(chromium)


@pytest.fixture
def window(windows: Windows, live_server: LiveServer) -> Iterator[Callable[..., Page]]:
    """Return a function that shows a page in a window of its own, for a person who has signed in or for nobody.

    path: what it shows; None for nothing yet. scripts: False for a browser that runs none. The page has the
    site's address as `site` and what it complains of as `watch`.
    """
    lent: list[tuple[Any, bool]] = []

    def opened(
        person: User | None,
        path: str | None = None,
        *,
        size: tuple[int, int] = (1440, 900),
        theme: Literal["light", "dark"] = "light",
        motion: Literal["no-preference", "reduce"] = "no-preference",
        scripts: bool = True,
    ) -> Page:
        page: Any = windows.take(scripts)
        lent.append((page, scripts))
        if person is not None:
            sign_in(page.context, person, live_server.url)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(media="screen", color_scheme=theme, reduced_motion=motion)
        page.site = live_server.url
        page.watch = Watch(page, live_server.url)
        if path is not None:
            page.goto(page.site + path)
        return page

    yield opened
    for page, scripts in lent:
        windows.give_back(page, scripts)


class Windows:
    """Windows of one Chromium, each with cookies of its own, which tests use in turn.

    A new one costs as much as five pages. One that comes back shows nothing, listens to nothing, and has neither
    cookies nor anything that a page stored; it keeps the site's static files.
    """

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._free: dict[bool, list[Page]] = {True: [], False: []}

    def take(self, scripts: bool) -> Page:
        if self._free[scripts]:
            return self._free[scripts].pop()
        context = self._chromium.new_context(java_script_enabled=scripts)
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        return context.new_page()

    def give_back(self, page: Any, scripts: bool) -> None:
        page.watch.end()
        page.unroute_all()
        page.mouse.move(0, 0)  # what the pointer rests on may look otherwise
        if scripts and page.url.startswith(page.site):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_cookies()
        self._free[scripts].append(page)


def sign_in(context: BrowserContext, person: User, address: str) -> None:
    """Give the browser a session of this person, as if they had signed in."""
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": new_session(person), "url": address}]
    )


class Watch:
    """What a page complained of, fetched from elsewhere, said on its console and posted while it was watched."""

    def __init__(self, page: Page, address: str) -> None:
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.said: list[str] = []
        self.posts: list[str] = []
        self._page, self._address = page, address
        page.on("console", self._heard)
        page.on("pageerror", self._failed)
        page.on("request", self._asked)

    def forget(self) -> None:
        """Begin anew, for the next page of the same window."""
        for noted in (self.complaints, self.elsewhere, self.said, self.posts):
            noted.clear()

    def end(self) -> None:
        self._page.remove_listener("console", self._heard)
        self._page.remove_listener("pageerror", self._failed)
        self._page.remove_listener("request", self._asked)

    def _heard(self, message: Any) -> None:
        self.said.append(message.text)
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _failed(self, error: Any) -> None:
        self.complaints.append(f"error: {error}")

    def _asked(self, request: Any) -> None:
        if request.method == "POST":
            self.posts.append(request.url)
        if not request.url.startswith((self._address, "data:", "blob:")):
            self.elsewhere.append(request.url)


def axe_violations(page: Page) -> list[str]:
    """Return what axe finds, one line each; its own fetching of sheets is off, as the policy forbids it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate(
        "async () => (await axe.run({preload: false, resultTypes: ['violations']})).violations"
    )
    return [
        f"{violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for violation in found
        for node in violation["nodes"]
    ]
