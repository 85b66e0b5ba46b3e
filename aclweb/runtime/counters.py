"""Counters of limits in files of the data directory, shared by the processes of one machine.

Where the disk is full or read-only nothing is counted: what only reads must go on then, and
nothing can be signed in or stored anyway.
"""

from __future__ import annotations

import logging
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

logger = logging.getLogger(__name__)


class CountersInFiles(FileBasedCache):
    """Django's cache in files, which does without what cannot be written."""

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Store a value, if the disk takes it."""
        try:
            super().set(key, value, timeout, version)
        except OSError as error:
            logger.error("A counter of a limit could not be stored: %s.", error)
