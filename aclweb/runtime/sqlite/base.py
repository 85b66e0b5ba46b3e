"""Opens SQLite when several processes do so at once.

A restored copy keeps no write-ahead log, and the first connection turns it on. SQLite refuses that at
once, whatever its timeout, to a process that finds another one turning it on.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from django.db.backends.sqlite3 import base

_PAUSE_SECONDS = 0.02


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, whose opening waits for other processes as long as its transactions do."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        """Open the file; raise sqlite3.OperationalError where it is still locked after `timeout` seconds."""
        end = time.monotonic() + conn_params.get("timeout", 5.0)
        while True:
            try:
                opened: sqlite3.Connection = super().get_new_connection(conn_params)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                    raise
            else:
                return opened
            time.sleep(_PAUSE_SECONDS)
