"""A real `access` command that is killed with its JVM at random moments, for test_killed_access.py.

python -m tests.pipeline.killed_access [KILLS [SEED]]     30 unless KILLS says otherwise; fails where a claim does
                                                          not hold

After each kill the table is the one before or the one after, and the next run goes on from there. Logs grow, rotate and
are compressed in between. At the end the table has the totals of a plain count of all lines ever written.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from devstack.java import java_home
from tests.pipeline.log_folder import decision, packed
from tests.pipeline.table_rows import lines_in_table

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = "eu"
BROKERS = 3

Rows = Counter[tuple[str, str]]


@dataclass
class Killed:
    """The logs of some brokers, what they hold, and the table that a command makes of them.

    written: lines by principal and name. counted: those at the last run that ended well, or the last kill. seconds: how
    long a run takes that nobody kills.
    """

    folder: Path
    rng: random.Random
    number: int = 0
    written: Rows = field(default_factory=Counter)
    counted: Rows = field(default_factory=Counter)
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def table(self) -> Path:
        return self.folder / "table"

    def write(self) -> None:
        """Let each broker log some more, and perhaps rotate its log and compress the one before."""
        for broker in range(BROKERS):
            log = self.folder / f"broker-{broker}" / "kafka-authorizer.log"
            log.parent.mkdir(exist_ok=True)
            if log.exists() and self.rng.random() < 0.3:
                self._rotate(log)
            with log.open("a") as opened:
                for _ in range(self.rng.randint(1, 200)):
                    self.number += 1
                    opened.write(decision(self.number))
                    self.written[f"User:u{self.number}", "orders"] += 1

    def _rotate(self, log: Path) -> None:
        old = log.with_name(f"{log.name}.{self.number}")
        log.rename(old)
        if self.rng.random() < 0.5:
            Path(f"{old}.gz").write_bytes(packed(".gz", old.read_bytes()))
            old.unlink()

    def start(self) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "aclweb.pipeline",
            "access",
            "--cluster",
            CLUSTER,
            "--master",
            "local[2]",
        ]
        command += [
            "--recursive",
            "--log",
            *map(str, sorted(self.folder.glob("broker-*"))),
            "--out",
            str(self.table),
        ]
        with (self.folder / "told").open("wb") as told:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "JAVA_HOME": str(java_home())},
                stdout=told,
                stderr=told,
                process_group=0,
            )

    def run(self) -> None:
        """Run the command to its end, which has to be a good one."""
        before = time.monotonic()
        with self.start() as process:
            status = process.wait(timeout=900)
        self.seconds = time.monotonic() - before
        told = (self.folder / "told").read_text(errors="replace")
        assert status == 0, told
        assert self.rows() == self.written, told
        self.counted = self.written.copy()

    def kill(self) -> None:
        """Start the command and kill it, with its JVM, at some moment: more often when it works than when it starts."""
        begun = time.monotonic()
        moment = begun + self.seconds * self.rng.uniform(0.0 if self.rng.random() < 0.3 else 0.5, 1.05)
        with self.start() as process:
            while time.monotonic() < moment and process.poll() is None:
                time.sleep(0.01)
            is_over = process.poll() is not None
            if not is_over:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=60)
        if is_over:
            # The machine is faster now than when the time was taken.
            self.seconds = time.monotonic() - begun
        rows = self.rows()
        assert rows in (self.counted, self.written), (rows - self.written, self.counted - rows)
        self.outcomes["ended before" if is_over else "new" if rows == self.written else "old"] += 1
        self.counted = rows

    @property
    def kills(self) -> int:
        return self.outcomes["old"] + self.outcomes["new"]

    def rows(self) -> Rows:
        return lines_in_table(self.table, CLUSTER)


def try_out(folder: Path, kills: int, seed: int, tell: Callable[[str], None] = lambda _: None) -> Killed:
    """Kill so many runs; raises AssertionError where a table is neither the old nor the new one.

    tell: hears what became of the kills so far.
    """
    killed = Killed(folder, random.Random(seed))
    killed.write()
    killed.run()
    while killed.kills < kills:
        killed.write()
        killed.kill()
        tell(f"{killed.kills} kills: {dict(killed.outcomes)}")
        if killed.outcomes.total() % 10 == 9:
            killed.run()
    killed.write()
    killed.run()
    return killed


def main(words: list[str]) -> int:
    kills = int(words[0]) if words else 30
    seed = int(words[1]) if len(words) > 1 else 14
    with tempfile.TemporaryDirectory() as folder:
        killed = try_out(Path(folder), kills, seed, lambda words: print(words, flush=True))
    print(
        f"{kills} kills: {dict(killed.outcomes)}. The table has all {killed.written.total():,} lines, each once."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
