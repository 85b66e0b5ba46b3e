"""A page that takes long is refused by its budget or answered; the web server's timeout ends neither."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench import effects
from tests.servers_data import free_port

ROOT = Path(__file__).resolve().parents[1]
STARTERS = ("Dockerfile", "docs/running.md", "devstack/parts.py")

# Its page computes, and never waits, for as many seconds as its address says.
SLOW_SITE = """
import os, time

def application(environ, start_response):
    until = time.monotonic() + float(environ["PATH_INFO"].strip("/") or 0)
    while time.monotonic() < until:
        sum(range(1_000))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""


@pytest.mark.parametrize("starter", STARTERS)
def test_the_timeout_is_ten_times_what_the_largest_budget_may_cost(starter):
    timeouts = re.findall(r"--timeout\W{1,6}(\d+)", (ROOT / starter).read_text())

    # bench.effects and its test hold the worst what-ifs within these seconds, or they are refused.
    assert [int(seconds) >= 10 * effects.CPU_SECONDS for seconds in timeouts] == [True]


@contextmanager
def slow_site(folder: Path, timeout_seconds: int) -> Iterator[int]:
    """Run gunicorn as the site is run, and give its port."""
    (folder / "slow_site.py").write_text(SLOW_SITE)
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "slow_site", "--bind", f"127.0.0.1:{port}"),
        *("--worker-class", "aclweb.site_worker.SiteWorker", "--workers", "1", "--threads", "8"),
        *("--timeout", f"{timeout_seconds}", "--chdir", f"{folder}", "--pythonpath", f"{ROOT}"),
    ]
    log = (folder / "log").open("w")
    site = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        yield port
    finally:
        site.terminate()
        site.wait(30)
        log.close()


def page(port: int, seconds: float, *, patience_seconds: float = 60) -> tuple[int, bytes]:
    deadline = time.monotonic() + patience_seconds
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience_seconds)
        try:
            connection.request("GET", f"/{seconds}")
            answer = connection.getresponse()
            return answer.status, answer.read()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        finally:
            connection.close()


@pytest.mark.long
def test_a_page_that_computes_longer_than_the_timeout_is_answered(tmp_path):
    with slow_site(tmp_path, timeout_seconds=2) as port:
        _status, before = page(port, 0)
        slow = page(port, 5)
        after = page(port, 0)

    assert slow == after == (200, before), (tmp_path / "log").read_text()
