"""The pages of a cluster with a log, drafts and changes stay within their budgets of work: queries and bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.thorough(
    instead="tests/web/test_frame.py::test_a_page_costs_few_queries_and_runs_nothing_inline"
)
@pytest.mark.long
def test_pages_and_heavy_states_ask_and_send_no_more_than_they_may(tables: Path) -> None:
    small = ("--acls", "1000", "--topics", "500", "--logged", "500", "--requests", "1", "--changes", "60")
    some = (
        "--only",
        "topics by|topic: |what-if of 2,000 ACLs: |changes: |denials: new|findings: can-go|graph of",
    )

    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.pages", *small, *some, "--tables", tables],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    assert "| what-if of 2,000 ACLs: of nobody yet |" in ended.stdout, ended.stderr[-2000:]
    assert ended.returncode == 0, ended.stdout[-1500:]
