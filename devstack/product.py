"""How is the product started as a newcomer starts it, asked by command, and ended?"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from aclweb.runtime import datadir

STOP_SECONDS = 90


class StoryError(Exception):
    """A step of the story that did not hold; the message says what was seen."""


class Product:
    """`manage.py up` as a process: what it says, and how it ends."""

    def __init__(self, directory: Path, *, lite: bool) -> None:
        self.directory = directory
        self._lite = lite
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.said: list[str] = []
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "ACLWEB_STATIC_DIR", "ACLWEB_HTTPS")
        }
        environment |= {"ACLWEB_DATA_DIR": str(self.directory), "DJANGO_SETTINGS_MODULE": "aclweb.settings"}
        self.said = []
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", "0", *(["--lite"] if self._lite else [])],
            cwd=datadir.PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def wait_for(self, pattern: str, *, seconds: float) -> re.Match[str]:
        """Return the first thing it says that fits, of what it has said or is going to say."""
        for line in self.said:
            if found := re.search(pattern, line):
                return found
        deadline = time.monotonic() + seconds
        while True:
            try:
                line_or_end = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise StoryError(
                    f"It did not say {pattern!r} within {seconds:.0f} s; {self._last_words()}"
                ) from None
            if line_or_end is None:
                raise StoryError(f"It ended before it said {pattern!r}; {self._last_words()}")
            self.said.append(line_or_end)
            if found := re.search(pattern, line_or_end):
                return found

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it as Ctrl-C does and return its exit status."""
        process = self._process
        if process is None:
            return 0
        process.send_signal(number)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise StoryError(f"It was still there {STOP_SECONDS} s after it was asked to stop.") from None

    def kill(self) -> None:
        """End whatever is left, for a story that failed on the way."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
            process.wait()

    def manage(self, *arguments: str) -> str:
        """Run one of the operator's commands on the same data and return what it printed."""
        answer = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=datadir.PROJECT,
            env=dict(os.environ) | {"ACLWEB_DATA_DIR": str(self.directory), "ACLWEB_LOG_LEVEL": "error"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if answer.returncode != 0:
            raise StoryError(
                f"manage.py {' '.join(arguments)} ended with {answer.returncode}: {answer.stderr.strip()}"
            )
        return answer.stdout.strip()

    def _last_words(self) -> str:
        return "its last output: " + (" | ".join(self.said[-3:]) or "none")
