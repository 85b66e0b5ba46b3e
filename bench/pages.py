"""How long do the pages take on a cluster with 100,000 ACLs and 50,000 topics, and what do they ask and send?

Loads the cluster through the same `sync` as any other into a throw-away SQLite file, with a log, findings, drafts and
changes (`bench.page_world`), then asks every page and every heavy state (`bench.page_list`) through the whole of Django
(no network) as a signed-in person. Prints for each the CPU milliseconds of the first time, the median, the 95th
percentile, the most queries and the most KiB of HTML. The index is prepared beforehand, as in every process of the
site; the first page of a process, which builds it, is told apart.

Queries and bytes are budgets of work, which do not depend on the machine: ends with 1 where one is exceeded. A time
over its goal is marked, and decides nothing. The garbage collector runs as on the site, and between two requests the
process has an idle moment, as there.

    python -m bench.pages [--acls 100000] [--topics 50000] [--requests 30] [--goal 100] [--write]
    python -m bench.pages --keep DIRECTORY --only review     make the tables once; ask some of the pages
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import page_list, page_world, site
from bench.page_list import State

MOST_QUERIES, MOST_BYTES = 12, 50 * 1024
_FIRST_PAGE_SECONDS = 2.0


@dataclass(frozen=True)
class Measured:
    """What one state took. times: CPU seconds of each request but the first; size: bytes of HTML at most.

    wrong: the addresses that were answered with no page.
    """

    state: State
    first: float
    times: list[float]
    queries: int
    size: int
    wrong: list[str]

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1] if len(self.times) > 1 else self.times[0]

    def exceeded(self) -> Iterator[str]:
        """Yield a sentence for each budget of work that is exceeded, and for a page that is none."""
        if self.wrong:
            yield f"{self.state.title}: {len(self.wrong)} requests were answered with no page: {self.wrong[0]}"
        if self.queries > self.state.queries:
            yield f"{self.state.title}: {self.queries} queries, and at most {self.state.queries} are due."
        if self.size > self.state.kib * 1024:
            yield f"{self.state.title}: {self.size / 1024:.1f} KiB, and at most {self.state.kib} are due."


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=30, help="requests for each state")
    parser.add_argument("--goal", type=float, default=100, help="CPU ms that the 95th percentile may take")
    parser.add_argument("--write", action="store_true", help="also write bench/results/pages.md")
    return run_on_tables(parser, _run)


def run_on_tables(parser: argparse.ArgumentParser, run: Callable[[Path, argparse.Namespace], int]) -> int:
    """Read the command line, with what says on which tables, and run with the directory in which they are, or go."""
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--logged", type=int, default=20_000, help="distinct requests in the log")
    parser.add_argument("--changes", type=int, default=500, help="changes in the list")
    parser.add_argument(
        "--only", default="", help="ask only the states that hold this text, or one of several between |"
    )
    parser.add_argument(
        "--keep", type=Path, help="a directory in which the tables are made, or found from before"
    )
    parser.add_argument("--tables", type=Path, help="an SQLite file with the tables, to save making them")
    asked = parser.parse_args()
    if asked.keep:
        asked.keep.mkdir(exist_ok=True)
        return run(asked.keep, asked)
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        return run(Path(directory), asked)


def tables(directory: Path, asked: argparse.Namespace) -> page_world.Subjects:
    """Set Django up on the tables in the directory, which are made where it has none yet."""
    site.set_up_django(directory, encryption_key=_key_in(directory))
    from django.core.management import call_command

    if (directory / "subjects.json").exists():
        call_command("migrate", verbosity=0)  # what an earlier version made
    else:
        site.make_tables(directory, asked.tables)
        page_world.make(directory, asked)
    return page_world.made(directory)


def _run(directory: Path, asked: argparse.Namespace) -> int:
    begun = time.process_time()
    made = tables(directory, asked)
    lines = [
        f"{asked.acls:,} ACLs, {asked.topics:,} topics, {asked.logged:,} requests logged; "
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, SQLite; "
        f"load {os.getloadavg()[0]:.1f}; made in {time.process_time() - begun:.0f} CPU s.",
        "",
        *_told(_first_page(made), asked),
    ]
    print("\n".join(lines), flush=True)
    exceeded: list[str] = []
    browser = signed_in(made)
    for state in page_list.states(made):
        if not any(text in state.title for text in asked.only.split("|")):
            continue
        found = _measured(browser, state, asked.requests)
        exceeded += found.exceeded()
        over = " **" if found.p95 * 1000 > asked.goal else ""
        lines.append(
            f"| {state.title} | {found.first * 1000:,.0f} | {statistics.median(found.times) * 1000:,.0f} "
            f"| {found.p95 * 1000:,.0f}{over} | {found.queries}{' **' if found.queries > MOST_QUERIES else ''} "
            f"| {found.size / 1024:.1f}{' **' if found.size > MOST_BYTES else ''} |"
        )
        print(lines[-1], flush=True)
    ending = ["", f"Load at the end: {os.getloadavg()[0]:.1f}.", "", *exceeded]
    print("\n".join(ending))
    if asked.write:
        report = Path(__file__).parent / "results" / "pages.md"
        report.parent.mkdir(exist_ok=True)
        report.write_text("# Pages\n\n" + "\n".join([*lines, *ending]) + "\n", encoding="utf-8")
    return 1 if exceeded else 0


def _key_in(directory: Path) -> str:
    """Return the key of this directory, made where it has none: what is kept there is read by the next run."""
    from cryptography.fernet import Fernet

    kept = directory / "measurement.key"
    if not kept.exists():
        kept.write_bytes(Fernet.generate_key())
    return kept.read_text(encoding="ascii")


def _told(first_page: tuple[float, float], asked: argparse.Namespace) -> list[str]:
    cold, warming = first_page
    over = " **" if cold > _FIRST_PAGE_SECONDS else ""
    return [
        f"- first page of a process, which builds the index: {cold * 1000:,.0f} CPU ms{over}",
        f"- preparing the rest of it for pages, in a thread of its own: {warming:.1f} CPU s",
        "",
        f"CPU milliseconds; ** marks a p95 over {asked.goal:.0f}, more than 12 queries, and more than 50 KiB.",
        "",
        "| state | first | median | p95 | queries | KiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]


def _first_page(made: page_world.Subjects) -> tuple[float, float]:
    """Return the CPU seconds of the first page of a process, and of what its warming thread then prepares."""
    from aclweb.inventory.access import prepare
    from aclweb.inventory.current import view, warming

    browser = signed_in(made)
    browser.get("/words/")  # modules and templates, which every process has before
    view.forget()
    cold = _asked(browser, State("first", lambda: f"/c/big/topics/{made.topics[0]}"), [])[0]
    begun = time.process_time()
    warming.warm({}, prepare)
    return cold, time.process_time() - begun


def signed_in(made: page_world.Subjects) -> Any:
    from django.test import Client

    from aclweb.accounts.models import User

    browser = Client()
    person = User.objects.get(pk=made.person)
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return browser


def _measured(browser: Any, state: State, count: int) -> Measured:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    wrong: list[str] = []
    browser.cookies.pop("aclweb-rows", None)  # how many rows the last list had
    with CaptureQueriesContext(connection) as of_the_first:
        first, size = _asked(browser, state, wrong)
    times, most = [], len(of_the_first)
    for _ in range(count):  # without counting queries, which takes time itself
        seconds, sent = _asked(browser, state, wrong)
        times.append(seconds)
        size = max(size, sent)
    with CaptureQueriesContext(connection) as found:
        _asked(browser, state, wrong)
    return Measured(state, first, times, max(most, len(found)), size, wrong)


def _asked(browser: Any, state: State, wrong: list[str]) -> tuple[float, int]:
    """Return the CPU seconds of one request, and the bytes that it was answered with."""
    from aclweb.changes import kept
    from aclweb.runtime import loading

    if state.anew:
        kept.forget()
    address, form = state.address(), state.posted
    loading.leave_out_what_lasts(lambda: True)
    begun = time.process_time()
    part = {"HX-Request": "true"} if state.is_part else {}
    answer = browser.get(address, headers=part) if form is None else browser.post(address, form, follow=True)
    seconds = time.process_time() - begun
    if answer.status_code != 200:
        wrong.append(f"{address} answered {answer.status_code}.")
    return seconds, len(answer.content)


if __name__ == "__main__":
    raise SystemExit(main())
