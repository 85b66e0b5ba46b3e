"""How does every recording take place at the same moments?

Python's clock stands still until it is moved, and SQLite's with it, which answers `strftime('…', 'now')` for Django's
`Now()`.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Any

import time_machine
from django.db.backends.signals import connection_created

# After the newest record of the logs that the world of tests has (2026-11-20).
DAY = datetime(2026, 11, 22, tzinfo=UTC)


class Clock:
    """The clock of this process, from its making on."""

    def __init__(self) -> None:
        self._travel = time_machine.travel(DAY, tick=False)
        self._machine = self._travel.start()
        connection_created.connect(_stop_database)

    def set(self, hour: int, minute: int = 0) -> None:
        """Let it be this time of DAY."""
        self._machine.move_to(DAY.replace(hour=hour, minute=minute))


def _stop_database(connection: Any, **_: object) -> None:
    if connection.vendor != "sqlite":
        return
    true_one = sqlite3.connect(":memory:", check_same_thread=False)

    def strftime(form: str, what: object) -> Any:
        if isinstance(what, str) and what.lower() == "now":
            what = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        return true_one.execute("SELECT strftime(?, ?)", (form, what)).fetchone()[0]

    connection.connection.create_function("strftime", 2, strftime)
