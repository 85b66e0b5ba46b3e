"""The heavy pages stay within their budgets of work: queries, effects worked out, rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.thorough(
    instead="tests/web/test_frame.py::test_a_page_costs_few_queries_and_runs_nothing_inline"
)
@pytest.mark.long
def test_the_heavy_states_ask_and_work_out_no_more_than_they_may(tables: Path) -> None:
    small = ("--acls", "1000", "--topics", "500", "--requests", "2", "--changes", "60")

    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.pages", *small, "--tables", tables],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    assert "what-if of 2,000 ACLs" in ended.stdout or "heavy state" in ended.stdout, ended.stderr[-2000:]
    assert ended.returncode == 0, ended.stdout[-1500:]
