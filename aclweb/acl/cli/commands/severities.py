"""Do findings make a command fail? `--fail-on S` says from which severity on."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

SEVERITIES = ("error", "warning", "info")
"""The worst first."""


def add_fail_on_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        metavar="S",
        choices=SEVERITIES,
        help="exit 1 if a finding is of this severity or worse: error, warning or info",
    )


def fails(fail_on: str | None, found: Iterable[str]) -> bool:
    """Whether one of these severities is `fail_on` or worse."""
    if fail_on is None:
        return False
    bad = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return any(severity in bad for severity in found)
