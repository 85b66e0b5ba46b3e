"""How soon does a browser show the first rows of a page on a cluster with 100,000 ACLs and 50,000 topics?

Makes the tables of `bench.pages`, runs the site as `./run` does (one worker), and opens pages and states of
`bench.page_list` in a real Chromium, as a signed-in person. Prints for each the milliseconds on the clock from the
first byte that is asked for until the first row of its table (or, where it has none, its heading) is painted, and until
all of it is there: the median and the most. A time over the goal is marked, and
decides nothing: it depends on the machine.

    python -m bench.first_rows [--keep DIRECTORY] [--only TEXT] [--visits 5] [--goal 1000]
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import page_list, pages, site
from bench.page_list import State

# Runs before anything of a page: notes when its first row, or else its heading, has been painted.
_NOTE = """
addEventListener("DOMContentLoaded", () => {
  const shown = document.querySelector("main tbody tr, main li, main h1");
  requestAnimationFrame(() => requestAnimationFrame(() => { window.shownAt = shown ? performance.now() : NaN; }));
});
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visits", type=int, default=5, help="how often each state is opened")
    parser.add_argument("--goal", type=float, default=1000, help="milliseconds until the first row")
    return pages.run_on_tables(parser, _run)


def _run(directory: Path, asked: argparse.Namespace) -> int:
    made = pages.tables(directory, asked)
    from django.conf import settings

    cookie = {
        "name": settings.SESSION_COOKIE_NAME,
        "value": pages.signed_in(made).cookies[settings.SESSION_COOKIE_NAME].value,
    }
    os.environ["ACLWEB_ALLOWED_HOSTS"] = "127.0.0.1"
    print(
        f"{asked.acls:,} ACLs, {asked.topics:,} topics; {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}\n"
    )
    print(
        "| state | first row, median ms | most | all there, median | most |\n| --- | --- | --- | --- | --- |"
    )
    missed = 0
    with site.running(directory) as (port, _), _window(port, cookie) as window:
        # The index, static files and fonts, which every session has.
        window.goto(f"http://127.0.0.1:{port}/c/big/")
        window.wait_for_timeout(5_000)
        for state in page_list.states(made):
            is_asked = any(text in state.title for text in asked.only.split("|"))
            if is_asked and state.posted is None and not state.anew:
                missed += _told(window, port, state, asked)
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}. Over {asked.goal:.0f} ms in the median: {missed}.")
    return 0


def _told(window: Any, port: int, state: State, asked: argparse.Namespace) -> bool:
    """Print the line of a state, and return whether its median is over the goal."""
    shown, whole = [], []
    for _ in range(asked.visits):
        answer = window.goto(f"http://127.0.0.1:{port}{state.address()}")
        if answer is None or not answer.ok or "text/html" not in answer.headers.get("content-type", ""):
            print(f"| {state.title} | no page: {answer and answer.status} | | | |", flush=True)
            return False
        # Not by `wait_for_function`, which the site's policy for scripts forbids.
        while (moment := window.evaluate("window.shownAt")) is None:
            window.wait_for_timeout(10)
        shown.append(moment)
        whole.append(window.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    is_over = statistics.median(shown) > asked.goal
    print(
        f"| {state.title} | {statistics.median(shown):,.0f}{' **' if is_over else ''} | {max(shown):,.0f} "
        f"| {statistics.median(whole):,.0f} | {max(whole):,.0f} |",
        flush=True,
    )
    return is_over


@contextmanager
def _window(port: int, cookie: dict[str, str]) -> Iterator[Any]:
    from tests import browsing

    with browsing.browser() as chromium:
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{**cookie, "url": f"http://127.0.0.1:{port}"}])
        context.add_init_script(_NOTE)
        yield context.new_page()


if __name__ == "__main__":
    raise SystemExit(main())
