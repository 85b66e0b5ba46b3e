"""Does an access table hold each decision that could be read exactly once, whatever happens to logs and to the job?

Logs are written, rotated, compressed, copied, cut and removed at random, also between the look at them and the change
of the table, and the job crashes between any two of its steps. ACLWEB_TEST_SCALE=full tries 200 worlds.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record
from aclweb.pipeline import access, writing
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.increments import look_for_new
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.table import Table, Window, changing, failpoints
from tests.pipeline.log_world import DAY, World, decisions_in, readable
from tests.pipeline.table_rows import Asked, denied_by_day, denied_by_hour, lines_in_table

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
SEEDS, STEPS = (200, 70) if FULL else (1, 12)
CLUSTER = "eu"
TODAY = date(2026, 12, 1)
# A change passes so many points, or some more where it folds days.
MOST_POINTS = 14


class Crash(Exception):
    """The end of a job at a point of its work."""


class TableWorld(World):
    """Logs of which a real table is made."""

    def __init__(self, folder: Path, seed: int, spark: Any) -> None:
        super().__init__(folder / "logs", seed)
        self.spark = spark
        self.table = folder / "table"
        self.asked: set[Asked] = set()
        self.wanted: set[Asked] = set()
        self.happened: Counter[str] = Counter()

    def look(self, log: Path, *, is_stored: bool = False) -> None:
        """Extend the table, and perhaps crash, or have something happen to a log meanwhile."""
        crash_at = self.rng.randint(0, MOST_POINTS) if not is_stored and self.rng.random() < 0.4 else None
        meanwhile = not is_stored and self.rng.random() < 0.2
        self._note_what_is_there()
        is_done = self._extend(log if meanwhile else None, crash_at)
        self._note_what_is_there()
        self.hold(is_all_counted=is_done and not meanwhile)

    def _extend(self, log: Path | None, crash_at: int | None) -> bool:
        """Do what the command does; return whether it came to its end. log: to which something happens meanwhile."""
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(access, "look_for_new", partial(look_for_new, now_ns=self.now_ns))
                looked = access.look(self.table, CLUSTER, [LogSource(str(self.folder / "*" / "*"))])
                if log is not None:
                    self._happen(log)
                if crash_at is not None:
                    patch.setattr(failpoints, "hit", self._crashing(crash_at))
                if looked.found.fresh:
                    access.extend(self.spark, looked, today=TODAY)
                else:
                    access.note_sources(looked)
        except Crash:
            self.happened["crash"] += 1
            return False
        except JobError:
            # Nothing can be read yet, or everything was replaced meanwhile.
            self.happened["nothing to read"] += 1
            return False
        self.happened["change" if looked.found.fresh else "nothing new"] += 1
        return True

    def _crashing(self, at: int) -> Any:
        passed = 0

        def hit(_: str) -> None:
            nonlocal passed
            passed += 1
            if passed >= at:
                raise Crash

        return hit

    def _happen(self, log: Path) -> None:
        happening = self.rng.choice((self.write, self.write, self.rotate, self.remove, self.copy))
        self.done.append(f"meanwhile {happening.__name__} {log.parent.name}")
        if happening != self.rotate or log.exists():
            happening(log)

    def _note_what_is_there(self) -> None:
        for file in self.folder.glob("*/*"):
            text = readable(file).decode("utf-8", "replace")
            self.asked.update(map(asked_in, decisions_in(text)))

    def hold(self, *, is_all_counted: bool) -> None:
        """Hold the table against the files. Bytes that are not counted now may be lost before they are."""
        if is_all_counted:
            for file in self.folder.glob("*/*"):
                text = readable(file).decode("utf-8", "replace")
                self.wanted.update(map(asked_in, decisions_in(text[: text.rfind("\n") + 1])))
        rows = self.rows()
        assert [asked for asked, lines in rows.items() if lines > 1] == [], self.done
        assert sorted(self.wanted - rows.keys()) == [], self.done
        assert sorted(rows.keys() - self.asked) == [], self.done
        if rows:
            self._hold_hours()

    def _hold_hours(self) -> None:
        by_day: Counter[tuple[str, str]] = Counter()
        for (day, principal, _), lines in denied_by_hour(self.table, CLUSTER).items():
            by_day[day, principal] += lines
        assert by_day == denied_by_day(self.table, CLUSTER), self.done
        days = {day for day in Table.open(self.table, CLUSTER).version.days if day}
        assert Table.open(self.table, CLUSTER).days_by_hour(Window()) == days, self.done

    def rows(self) -> Counter[Asked]:
        return lines_in_table(self.table, CLUSTER)


def asked_in(record: str) -> Asked:
    found = parse_record(record)
    assert isinstance(found, AccessEvent)
    return found.principal, found.resource_name


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_table_holds_each_decision_that_could_be_read_exactly_once(spark, tmp_path, monkeypatch, seed):
    monkeypatch.setattr(changing, "MOST_PARTS", 3)
    monkeypatch.setattr(writing, "MOST_SAMPLE_PARTS", 2)
    (tmp_path / "logs").mkdir()
    world = TableWorld(tmp_path, seed, spark)

    for _ in range(STEPS):
        world.step()
    world.write(world.logs[0])
    world.now_ns += 2 * DAY
    world.look(world.logs[0], is_stored=True)

    assert len(world.wanted) > 5
    assert world.happened["change"] > 0
