"""How does a person at a terminal see that a command is still at work?

One line on standard error tells what it is at and for how long. It is written anew each second,
so quick work shows nothing, and it is wiped before anything else is printed. Where standard error
is no terminal, nobody watches and nothing is shown.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from time import monotonic

SECONDS_BETWEEN = 1.0


class Progress:
    """The line that tells what a command is at."""

    def __init__(self) -> None:
        self._what = ""
        self._since = 0.0
        self._width = 0
        self._lock = Lock()
        self._is_done: Event | None = None
        self._is_hushed = False

    def at(self, what: str) -> None:
        """Tell from now on that the command is at this."""
        self._what = what
        if self._is_done is None and not self._is_hushed:
            self._is_hushed = not _is_watched()
            if not self._is_hushed:
                self._since = monotonic()
                self._is_done = Event()
                Thread(target=self._tick, args=(self._is_done,), daemon=True).start()

    def wipe(self) -> None:
        """Take the line away, so that something else can be written in its place."""
        with self._lock:
            if self._width:
                _write("\r" + " " * self._width + "\r")
                self._width = 0

    def hush(self) -> None:
        """Show nothing more, because the answers themselves go to the terminal now."""
        self.end()
        self._is_hushed = True

    def end(self) -> None:
        """Take the line away; the next command begins anew."""
        if self._is_done is not None:
            self._is_done.set()
        self.wipe()
        self._is_done, self._is_hushed = None, False

    def _tick(self, is_done: Event) -> None:
        while not is_done.wait(SECONDS_BETWEEN):
            with self._lock:
                if is_done.is_set():
                    return
                text = f"{self._what} ({monotonic() - self._since:,.0f} s)"
                # A longer line would go on in the next one, where no carriage return reaches it.
                text = text[: get_terminal_size().columns - 1]
                _write("\r" + text.ljust(self._width))
                self._width = len(text)


PROGRESS = Progress()
"""Of the command that runs; a process runs one at a time."""


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
