"""How are the parts of one machine started, watched, replaced and stopped together?

A part is a program or an embedded server. While everything starts, all run or none does. A
part that ends later, or that runs and does nothing, is replaced, each time after a longer
pause; one that does not stay up is given up with a sentence, and the others go on unless they
cannot without it. Parts stop from the top layer down, so nothing loses what it needs: the
site before the workers, the workers before the clusters that they write to.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from types import FrameType
from typing import Protocol

from aclweb.clusters import ClusterError

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.1

# Pauses before a part is started again. One more failure, and it is given up.
BACKOFF_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
# A part that has run for so long did start: its next end is counted from one again. Long enough for a
# program that cannot work to find that out; short enough that a few kills in a row are survived.
SETTLED_SECONDS = 20.0
LISTEN_EVERY_SECONDS = 2.0


class PartError(Exception):
    """A part that did not start, did not get ready or ended by itself; the message says which and where to look."""


class Stopping(Exception):
    """Somebody asked for the end while something was being started."""


class Layer(enum.IntEnum):
    """What needs what: a part may need those of lower layers."""

    STORE = 0
    CLUSTER = 1
    WORKER = 2
    SITE = 3


class Part(Protocol):
    name: str
    layer: Layer

    def start(self) -> None: ...

    def is_ready(self) -> bool:
        """Return whether it does its work by now; asked again and again after a start."""
        ...

    def ended(self) -> str | None:
        """Return a sentence if it ended by itself, None while it runs."""
        ...

    def listen(self) -> str | None:
        """Return a sentence if it runs and does nothing, so that it must be replaced; may take some seconds."""
        ...

    def ask_to_end(self) -> None:
        """Ask it to end without waiting until it has."""
        ...

    def stop(self, timeout_seconds: float) -> None: ...


@dataclass
class _Watched:
    """A part with what happened to it: started_at and again_at are on the monotonic clock."""

    part: Part
    replaced: bool
    needed: bool
    given_up: Callable[[str], None]
    started_at: float
    failures: int = 0
    again_at: float | None = None
    silent: str | None = None
    is_given_up: bool = False


class Supervisor:
    """Starts parts, waits for them, watches and replaces them, and stops all of them."""

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        stop_timeout_seconds: float = 10.0,
        backoff_seconds: Sequence[float] = BACKOFF_SECONDS,
    ) -> None:
        self._say = say
        self.stop_timeout_seconds = stop_timeout_seconds
        self._backoff_seconds = tuple(backoff_seconds)
        self._watched: list[_Watched] = []
        self._watching = False
        self._threads: list[threading.Thread] = []
        self._guard = threading.RLock()
        self._asked = threading.Event()

    @property
    def stopping(self) -> bool:
        return self._asked.is_set()

    def say(self, sentence: str) -> None:
        """Tell people; a terminal that is gone must not keep anything running."""
        with contextlib.suppress(OSError):
            self._say(sentence)

    def listen_to_signals(self) -> None:
        """Let Ctrl-C and SIGTERM ask for the end; call it in the main thread."""
        # A handler runs between two steps of the main thread, which may have the event's lock: it would wait for
        # itself for ever. What it may always do is put something into this queue, where a thread waits for it.
        received: SimpleQueue[int] = SimpleQueue()

        def ask() -> None:
            received.get()
            self.ask_to_stop()

        threading.Thread(target=ask, name="aclweb-signals", daemon=True).start()

        def note(number: int, _frame: FrameType | None) -> None:
            received.put(number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, note)

    def ask_to_stop(self) -> None:
        self._asked.set()

    def pause(self, seconds: float) -> bool:
        """Wait, but not once the end is asked for; return whether it is."""
        return self._asked.wait(seconds)

    def start(
        self,
        part: Part,
        *,
        replaced: bool = False,
        needed: bool = True,
        given_up: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """Start one part; raises Stopping if the end was asked for, PartError if it cannot start.

        replaced: while watched, it is started again when it ends or does nothing. Where that
        does not help, `given_up` gets a sentence; and `watch` ends if the part is needed.
        """
        with self._guard:
            if self.stopping:
                raise Stopping
            self._start(part)
            self._watched.append(_Watched(part, replaced, needed, given_up, time.monotonic()))

    def _start(self, part: Part) -> None:
        try:
            part.start()
        except (OSError, ClusterError) as error:
            raise PartError(f"The {part.name} cannot be started: {error}.") from error

    def wait_ready(self, *parts: Part, timeout_seconds: float = 60.0) -> None:
        """Return when these parts are ready, or all if none is given.

        Raises PartError if one of them ends and nobody replaces it, or if it takes too long.
        """
        deadline = time.monotonic() + timeout_seconds
        if self.stopping:
            raise Stopping
        with self._guard:
            awaited = list(parts) or [watched.part for watched in self._watched]
        waiting = awaited
        while waiting:
            if self._asked.wait(POLL_SECONDS):
                raise Stopping
            for part in awaited:
                if not self._replaces(part) and (sentence := part.ended()):
                    raise PartError(sentence)
            waiting = [part for part in waiting if not part.is_ready()]
            if waiting and time.monotonic() > deadline:
                names = " and the ".join(part.name for part in waiting)
                raise PartError(f"The {names} did not get ready within {timeout_seconds:.0f} seconds.")

    def _replaces(self, part: Part) -> bool:
        """Return whether the watch is on and will start this part again if it ends."""
        with self._guard:
            return self._watching and any(
                watched.part is part and watched.replaced and not watched.is_given_up
                for watched in self._watched
            )

    def watch(self) -> None:
        """Replace parts that end or do nothing until somebody asks for the end.

        Raises PartError when a part ends that is not replaced, or a needed one is given up.
        """
        self._watching = True
        threading.Thread(target=self._listen, daemon=True).start()
        while not self._asked.wait(POLL_SECONDS):
            with self._guard:
                parts = list(self._watched)
            for watched in parts:
                self._look_after(watched)

    def _listen(self) -> None:
        """Ask each part whether it lives; beside the watch, because an answer may take seconds."""
        while not self._asked.wait(LISTEN_EVERY_SECONDS):
            with self._guard:
                parts = [
                    watched for watched in self._watched if watched.again_at is None and watched.replaced
                ]
            for watched in parts:
                asked_of = watched.started_at
                try:
                    sentence = watched.part.listen()
                except Exception as error:  # nobody is ended because a question failed
                    logger.warning("Whether the %s runs could not be checked: %s", watched.part.name, error)
                    continue
                with self._guard:
                    if watched.started_at == asked_of and watched.again_at is None:
                        watched.silent = sentence

    def _look_after(self, watched: _Watched) -> None:
        now = time.monotonic()
        if watched.is_given_up:
            return
        if watched.again_at is not None:
            if now >= watched.again_at:
                self._replace(watched)
            return
        sentence = watched.part.ended() or watched.silent
        if not sentence:
            return
        if not watched.replaced:
            raise PartError(sentence)
        self._ended(watched, sentence)

    def _ended(self, watched: _Watched, sentence: str) -> None:
        """Have a part that ended started again after a pause, or give it up."""
        now = time.monotonic()
        watched.silent = None
        # At once and with all that it started: nothing of it may work beside the next one.
        watched.part.stop(0)
        watched.failures = 1 if now - watched.started_at > SETTLED_SECONDS else watched.failures + 1
        if watched.failures > len(self._backoff_seconds):
            watched.is_given_up = True
            message = f"{sentence} It was started {watched.failures} times and did not stay; it is given up."
            watched.given_up(message)
            if watched.needed:
                raise PartError(message)
            self.say(message)
            return
        pause = self._backoff_seconds[watched.failures - 1]
        watched.again_at = now + pause
        self.say(f"{sentence} It is started again in {pause:g} s.")

    def _replace(self, watched: _Watched) -> None:
        with self._guard:
            if self.stopping:
                return
            watched.again_at = None
            watched.started_at = time.monotonic()
            try:
                self._start(watched.part)
            except PartError as error:
                self._ended(watched, str(error))

    def stop(self) -> None:
        """Stop every part, top layer first, and within a layer the youngest first.

        Programs of one layer are asked together, so that they end side by side.
        """
        self._asked.set()
        for thread in self._threads:
            thread.join(self.stop_timeout_seconds)
        with self._guard:
            parts, self._watched = [watched.part for watched in self._watched], []
        numbered = sorted(enumerate(parts), key=lambda pair: (pair[1].layer, pair[0]), reverse=True)
        asked: set[Layer] = set()
        for _, part in numbered:
            if part.layer not in asked:
                asked.add(part.layer)
                for each in parts:
                    if each.layer == part.layer:
                        each.ask_to_end()
            self.say(f"Stopping the {part.name}.")
            try:
                part.stop(self.stop_timeout_seconds)
            except Exception as error:  # one that cannot be stopped must not keep the others running
                self.say(f"The {part.name} could not be stopped: {error}")

    def in_background(self, work: Callable[[], None], *, failed: Callable[[str], None]) -> None:
        """Do slow work beside the rest; `failed` gets a sentence, and nothing else stops for it."""

        def run() -> None:
            try:
                work()
            except Stopping:
                return
            except Exception as error:
                if not self.stopping:
                    failed(str(error) or type(error).__name__)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()
