"""Sign-ins and workers go on while the largest allowed change is submitted and approved on SQLite.

At the full count, and with the seconds: `python -m bench.contention`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.random_cases import SCALE


@pytest.mark.thorough(
    instead="tests/inventory/test_staging.py::test_others_write_in_between_while_very_many_acls_are_stored"
)
@pytest.mark.long
def test_nobody_is_kept_waiting_by_the_largest_change(tables: Path) -> None:
    counts = ("--sign-ins", "200", "--rollouts", "5") if SCALE > 1 else ("--sign-ins", "8", "--rollouts", "2")

    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.contention", *counts, "--tables", tables],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    told = json.loads(ended.stdout)
    assert told["failed"] == []
    assert told["sign-in"]["count"] == int(counts[1])
    assert len(told["rollouts"]) == int(counts[3])
    assert told["requested and approved"] >= 1
    held = told["lock held"]
    assert held["request"]["statements"] >= 5_000, "each ACL of the largest change is a row"
    assert max(held[step]["CPU s"] for step in ("request", "approval")) < 1
