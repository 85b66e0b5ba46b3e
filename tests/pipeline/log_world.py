"""The logs of a few brokers that are written, rotated, compressed, copied and cut at random, and looked at meanwhile.

What a look finds is counted and held against the whole logs, read by the core. A crash is a look whose result is
not stored.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.pipeline.contents import WINDOW, LogContent
from tests.pipeline.log_folder import NOW, Reader, decision, packed

DAY = 24 * 60 * 60 * 1_000_000_000
NAMES = ("orders", "two\nlines", "a\n[b", "t" * 900, "caf\N{LATIN SMALL LETTER E WITH ACUTE}" * 3)
FOREIGN = "java.io.IOException: number {}\n\tat kafka.Foo.bar(Foo.java:{})\n"
OTHER = "[2026-11-20 10:00:00,000] WARN Note {} of the disk (kafka.log.Log)\n"


def readable(path: Path) -> bytes:
    with open(path, "rb") as opened:
        content = LogContent(str(path), opened)
        return content.read(0, content.length)


class World:
    """The logs of a few brokers in folders of their own. Each step sets the times of the files that it writes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.now_ns = NOW
        self.number = 0
        self.logs = [
            folder / f"broker-{number}" / "kafka-authorizer.log" for number in range(self.rng.randint(1, 3))
        ]
        self.unwritten: dict[Path, bytes] = {}
        self.written_to = {log: log for log in self.logs}
        for log in self.logs:
            log.parent.mkdir()
            self._put(log, b"")
        (folder / "other").mkdir()
        self._put(folder / "other" / "empty.log", b"")
        self.reader = Reader(folder / "*" / "*")
        self.done: list[str] = []
        self.required: set[str] = set()
        self.possible: set[str] = set()

    # --- What happens to logs ---

    def write(self, log: Path) -> None:
        """Some records; the last one may be written in part only."""
        text = "".join(self._record() for _ in range(self.rng.choice((1, 1, 3, 10, 40))))
        data = self.unwritten.pop(log, b"") + text.encode()
        if self.rng.random() < 0.3:
            cut = len(data) - self.rng.randint(1, min(300, len(data)))
            data, self.unwritten[log] = data[:cut], data[cut:]
        target = self.written_to[log]
        self._put(target, (target.read_bytes() if target.exists() else b"") + data, append=data)

    def rotate(self, log: Path) -> None:
        """Rename the files one after the other, as logrotate and log4j do."""
        self._reopen(log)
        for number in range(9, 0, -1):
            for ending in ("", ".gz", ".bz2", ".zst"):
                old = log.with_name(f"{log.name}.{number}{ending}")
                if old.exists():
                    old.rename(log.with_name(f"{log.name}.{number + 1}{ending}"))
        log.rename(log.with_name(f"{log.name}.1"))
        if self.rng.random() < 0.5:
            # The broker goes on writing the renamed file until it is told to open the new one.
            self.written_to[log] = log.with_name(f"{log.name}.1")
        if self.rng.random() < 0.7:
            self._put(log, b"")

    def rotate_by_date(self, log: Path) -> None:
        self._reopen(log)
        dated = log.with_name(f"{log.name}-202611{self.rng.randint(10, 30)}")
        if not dated.exists():
            log.rename(dated)

    def copytruncate(self, log: Path) -> None:
        self._reopen(log)
        copy = log.with_name(f"{log.name}.{self.rng.randint(20, 99)}")
        data = log.read_bytes()
        if self.rng.random() < 0.5:
            self._put(copy, data[: self.rng.randint(0, len(data))])
            self.look(log)
        self._put(copy, data)
        if self.rng.random() < 0.3:
            self.look(log)
        if self.rng.random() < 0.2:
            self.write(log)
        self._put(log, b"")

    def compress(self, log: Path) -> None:
        plain = self._one_of(
            log, lambda file: file != self.written_to[log] and _is_plain(file) and file != log
        )
        if plain is None:
            return
        target = plain.with_name(plain.name + self.rng.choice((".gz", ".bz2", ".zst")))
        data = packed(target.name, plain.read_bytes())
        if self.rng.random() < 0.5:
            self._put(target, data[: self.rng.randint(0, len(data))])
            self.look(log)
        self._put(target, data)
        if self.rng.random() < 0.3:
            self.look(log)
        # Something may have happened to it during a look.
        plain.unlink(missing_ok=True)

    def remove(self, log: Path) -> None:
        file = self._one_of(log, lambda file: file not in (log, self.written_to[log]))
        if file is not None:
            file.unlink()

    def copy(self, log: Path) -> None:
        """A copy beside the log, or in a folder of its own if it is long enough to be known there."""
        file = self._one_of(log, lambda _: True)
        if file is None:
            return
        ending = "".join(file.suffixes[-1:]) if not _is_plain(file) else ""
        copy = log.with_name(f"{log.name}.{self.rng.randint(100, 999)}{ending}")
        if len(readable(file)) >= WINDOW and self.rng.random() < 0.5:
            (self.folder / "backup").mkdir(exist_ok=True)
            copy = self.folder / "backup" / copy.name
        if not copy.exists():
            shutil.copy(file, copy)
            self._time(copy)

    def cut(self, log: Path) -> None:
        """Lose the end of a log, which is seen before it goes on."""
        target = self.written_to[log]
        if target.exists():
            os.truncate(target, self.rng.randint(0, target.stat().st_size))
            self._time(target)
            # On one line with the rest of a record, another one would be a part of it.
            self.unwritten[log] = b"\n"
            self.look(log, is_stored=True)

    def look(self, _: Path, *, is_stored: bool = False) -> None:
        """Count what is new, or lose the result, or a part of it. is_stored: neither happens."""
        crash = not is_stored and self.rng.random() < 0.3
        before = self.reader.known, list(self.reader.counted)
        failing = not is_stored and self.rng.random() < 0.2
        self.reader.read(self.now_ns, counts=lambda _: not failing or self.rng.random() < 0.5)
        if crash:
            self.reader.known, self.reader.counted = before
        else:
            self.check(is_all_counted=not failing)

    def check(self, *, is_all_counted: bool) -> None:
        """Hold what is counted against the files. Bytes that are not counted now may be lost before they are."""
        for file in self.folder.glob("*/*"):
            text = readable(file).decode("utf-8", "replace")
            self.possible.update(decisions_in(text))
            if is_all_counted:
                self.required.update(decisions_in(text[: text.rfind("\n") + 1]))
        counted = Counter(record for record in self.reader.counted if is_decision(record))
        assert [record for record, times in counted.items() if times > 1] == [], self.done
        assert sorted(self.required - counted.keys()) == [], self.done
        assert sorted(counted.keys() - self.possible) == [], self.done

    def step(self) -> None:
        happenings: list[tuple[Callable[[Path], None], int]] = [
            (self.write, 8),
            (self.look, 6),
            (self.rotate, 2),
            (self.rotate_by_date, 1),
            (self.copytruncate, 2),
            (self.compress, 3),
            (self.remove, 1),
            (self.copy, 1),
            (self.cut, 1),
        ]
        happening = self.rng.choices(*zip(*happenings, strict=True))[0]
        log = self.rng.choice(self.logs)
        self.now_ns += self.rng.randint(1, 5_000_000_000)
        self.done.append(f"{happening.__name__} {log.parent.name}")
        if happening not in (self.rotate, self.rotate_by_date, self.copytruncate) or log.exists():
            happening(log)

    # --- How ---

    def _record(self) -> str:
        self.number += 1
        kind = self.rng.random()
        if kind < 0.1:
            return FOREIGN.format(self.number, self.number)
        if kind < 0.2:
            return OTHER.format(self.number)
        return decision(self.number, self.rng.choice(NAMES) if kind < 0.4 else "orders")

    def _reopen(self, log: Path) -> None:
        self.written_to[log] = log

    def _put(self, file: Path, data: bytes, append: bytes | None = None) -> None:
        with open(file, "wb" if append is None else "ab") as opened:
            opened.write(data if append is None else append)
        self._time(file)

    def _time(self, file: Path) -> None:
        self.now_ns += self.rng.randint(1, 1_000_000_000)
        os.utime(file, ns=(self.now_ns, self.now_ns))

    def _one_of(self, log: Path, fits: Callable[[Path], bool]) -> Path | None:
        files = [file for file in sorted(log.parent.iterdir()) if fits(file)]
        return self.rng.choice(files) if files else None


def _is_plain(file: Path) -> bool:
    return file.suffix not in (".gz", ".bz2", ".zst")


def is_decision(record: str) -> bool:
    return isinstance(parse_record(record), AccessEvent)


def decisions_in(text: str) -> list[str]:
    return [record for record in records(text.split("\n")) if is_decision(record)]
