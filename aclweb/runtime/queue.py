"""How do tasks wait on one machine, without a message broker, and survive a killed process?

`acfs://` is kombu's filesystem transport with three things changed. A message appears in
the queue folder whole or not at all, by a rename. Whoever takes it moves it into an
in-flight folder of its own process, and it is deleted when it is acknowledged. A process
holds a lock on its in-flight folder, which the kernel releases when the process dies in
whatever way; the next look by any consumer then puts the dead one's messages back.

What always holds: on one local file system no message is lost while files are not, and
each is delivered at least once. Order is not kept.

    queue/                        messages that wait
    queue/in-flight/<owner>/      messages that one living process works on, and its lock
    queue/unreadable/             files that hold no message; kept for whoever runs the site
    queue/control/                which queues are bound to which exchange
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import IO, Any

from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

# Seconds between two looks for messages of consumers that died.
RECOVER_EVERY_SECONDS = 5.0
# Questions to workers (`celery inspect`) and their answers are worth nothing after this many seconds.
CONTROL_MESSAGE_LIFE_SECONDS = 3600
CONTROL_QUEUE_SUFFIX = ".pidbox.msg"
LOCK_NAME = ".lock"

_Bindings = list[filesystem.exchange_queue_t]


def register() -> None:
    """Make `acfs://` known to kombu."""
    TRANSPORT_ALIASES["acfs"] = f"{__name__}:Transport"


class InFlight:
    """The messages that this process has taken from one queue folder and not finished."""

    def __init__(self, queue_folder: Path) -> None:
        parent = queue_folder / "in-flight"
        name = uuid.uuid4().hex
        # Locked under a hidden name first: a folder that others can see and lock has a dead owner.
        hidden = parent / f".{name}"
        hidden.mkdir(parents=True)
        # A POSIX record lock: a forked child does not inherit it, and it goes with the process.
        self._lock: IO[bytes] = open(hidden / LOCK_NAME, "wb")  # noqa: SIM115
        fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.folder = parent / name
        hidden.rename(self.folder)


class _Held:
    """What this process holds of each queue folder; a forked child begins with nothing, the rest is its parent's."""

    def __init__(self) -> None:
        self.begin()
        os.register_at_fork(after_in_child=self.begin)

    def begin(self) -> None:
        self._guard = threading.Lock()
        self._of: dict[Path, InFlight] = {}

    def of(self, queue_folder: Path) -> InFlight:
        with self._guard:
            if queue_folder not in self._of:
                self._of[queue_folder] = InFlight(queue_folder)
            return self._of[queue_folder]


_held = _Held()


class QoS(virtual.QoS):  # type: ignore[misc]
    """Deletes the file of a message when the message is done with."""

    def ack(self, delivery_tag: str) -> None:
        self.channel.forget(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().reject(delivery_tag, requeue=requeue)
        self.channel.forget(delivery_tag)


class Channel(filesystem.Channel):  # type: ignore[misc]
    QoS = QoS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._taken: dict[str, Path] = {}  # delivery tag -> in-flight file
        self._queues_without_ack: set[str] = set()
        self._recovered_at = time.monotonic()
        super().__init__(*args, **kwargs)

    @property
    def queue_folder(self) -> Path:
        return Path(self.data_folder_in)

    def _own_folder(self) -> Path:
        return _held.of(self.queue_folder).folder

    # --- Publishing and consuming ---

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        if no_ack:
            self._queues_without_ack.add(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if no_ack and message is not None:
            self.forget(message.delivery_tag)
        return message

    def forget(self, delivery_tag: str) -> None:
        """Delete the in-flight file of this delivery, if there is one."""
        if path := self._taken.pop(delivery_tag, None):
            path.unlink(missing_ok=True)

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:
        """Add a message to a queue: it is written under a hidden name and then renamed."""
        name = f"{time.time_ns():020d}_{uuid.uuid4().hex}.{queue}.msg"
        partial = self.queue_folder / f".{name}.tmp"
        with open(partial, "wb") as handle:
            handle.write(dumps(payload).encode("utf-8"))
            handle.flush()
            os.fsync(handle.fileno())
        partial.rename(self.queue_folder / name)

    def _get(self, queue: str) -> dict[str, Any]:
        """Take the oldest message of a queue; raises Empty where none waits."""
        if time.monotonic() - self._recovered_at > RECOVER_EVERY_SECONDS:
            self.recover()
        mine = self._own_folder()
        for name in sorted(os.listdir(self.queue_folder)):
            if name.startswith(".") or name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = mine / name
            try:
                (self.queue_folder / name).rename(taken)
            except FileNotFoundError:
                continue  # another consumer was faster
            payload = self._read(taken)
            if payload is None:
                continue
            if queue in self._queues_without_ack:
                taken.unlink()
            else:
                self._taken[payload["properties"]["delivery_tag"]] = taken
            return payload
        raise Empty

    def _read(self, path: Path) -> dict[str, Any] | None:
        """Return the message in a file that is ours, or put the file aside where it holds none."""
        try:
            payload: dict[str, Any] = loads(path.read_text(encoding="utf-8"))
            payload["properties"]["delivery_tag"]
        except (ValueError, KeyError, TypeError) as error:
            aside = self.queue_folder / "unreadable"
            aside.mkdir(exist_ok=True)
            path.rename(aside / path.name)
            logger.error(
                "The queue file %s holds no message (%s); it was moved to %s.", path.name, error, aside
            )
            return None
        return payload

    def _restore(self, message: Any) -> None:
        """Put a message back into its queue, marked as delivered before; only then delete our copy."""
        super()._restore(message)
        self.forget(message.delivery_tag)

    # --- After a crash ---

    def recover(self) -> int:
        """Put back what dead consumers had taken, drop stale control messages; return how many came back."""
        self._recovered_at = time.monotonic()
        own = self._own_folder()
        returned = 0
        for folder in (self.queue_folder / "in-flight").iterdir():
            # Our own lock would not stop us: a process never waits for itself.
            if folder != own and not folder.name.startswith("."):
                returned += self._recover_from(folder)
        if returned:
            logger.warning("Put back %d queued messages that a stopped process had not finished.", returned)
        self._drop_stale_files()
        return returned

    def _recover_from(self, folder: Path) -> int:
        returned = 0
        try:
            with open(folder / LOCK_NAME, "r+b") as lock:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in sorted(folder.glob("*.msg")):
                    if path.name.endswith(CONTROL_QUEUE_SUFFIX):
                        path.unlink()
                    else:
                        path.rename(self.queue_folder / path.name)
                        returned += 1
                (folder / LOCK_NAME).unlink()
            folder.rmdir()
        except OSError:
            # Its owner lives, or another process is recovering it right now.
            return returned
        return returned

    def _drop_stale_files(self) -> None:
        oldest = time.time() - CONTROL_MESSAGE_LIFE_SECONDS
        for path in self.queue_folder.iterdir():
            if path.name.endswith((CONTROL_QUEUE_SUFFIX, ".tmp")):
                try:
                    if path.stat().st_mtime < oldest:
                        path.unlink()
                except FileNotFoundError:
                    continue  # taken or renamed meanwhile

    # --- Which queues are bound to which exchange ---
    # The parent class truncates these files before it locks them, so a reader may find one empty.

    def get_table(self, exchange: str) -> _Bindings:
        try:
            text = self._exchange_file(exchange).read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return [filesystem.exchange_queue_t(*row) for row in loads(text)]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        self._rewrite(exchange, lambda rows: rows if row in rows else [row, *rows])

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *_: Any, **__: Any) -> None:
        # The file broker keeps messages of a queue that is deleted until somebody purges it: a
        # worker deletes only the queues of its own answers.
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        self._rewrite(exchange, lambda rows: [other for other in rows if other != row])

    def _rewrite(self, exchange: str, change: Callable[[_Bindings], _Bindings]) -> None:
        file = self._exchange_file(exchange)
        with self._control_lock():
            before = self.get_table(exchange)
            after = change(before)
            if after != before or not file.exists():
                partial = file.with_name(f".{file.name}.tmp")
                partial.write_text(dumps(after), encoding="utf-8")
                partial.rename(file)

    @contextmanager
    def _control_lock(self) -> Iterator[None]:
        with open(self.control_folder / LOCK_NAME, "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):  # type: ignore[misc]
    """The transport behind `acfs://`; transport options are those of kombu's filesystem transport."""

    Channel = Channel
    driver_type = driver_name = "acfs"
    global_state = virtual.BrokerState()

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """Return nothing to fill in: the folders come from the transport options, and there is no host."""
        return {}

    def establish_connection(self) -> Any:
        connection = super().establish_connection()
        options = self.client.transport_options
        for folder in (options["data_folder_in"], options["control_folder"]):
            Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        channel = self.create_channel(connection)
        try:
            channel.recover()
        finally:
            channel.close()
        return connection
