"""How much CPU do the jobs on logs take, beside plain Python, DuckDB, and bare scans of the same bytes?

    python -m bench.pipeline [--quick] [--lines N] [--more N] [PART ...]

Each command is a process of its own whose CPU time counts with that of all processes below it: the JVM and
Python's workers too. Rows are compared with those of the baseline, and a row that differs ends the run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path

import pyarrow.parquet as pq

from bench import topics
from bench.logs import DAYS, Logs, make_distinct_log, make_logs
from bench.process_tree import Cost, cost_of
from bench.report import Figure, write
from devstack.java import java_home
from tests.pipeline.spark_cluster import spark_cluster

PART = "The pipeline"
# So many lines an hour of a log that grows, of the days that are there before.
_LONG_DAYS = 90
_MASTER = "local[2]"
# What the workers of `spark_cluster` have to spare.
_SMALL_EXECUTOR = "spark.executor.memory=512m"
# So often is measured what others are compared with; the run with least CPU time counts.
_RUNS = 2


@dataclass(frozen=True)
class Sizes:
    """How many lines each part reads.

    few, many: of the whole job. more: beside `many`, 0 where it is left out. shared: by one worker and by two, 0 where
    it is left out. distinct: each with a request of its own. streamed: from a topic.
    """

    few: int
    many: int
    more: int
    shared: int
    distinct: int
    streamed: int


QUICK = Sizes(few=20_000, many=60_000, more=0, shared=0, distinct=20_000, streamed=20_000)
USUAL = Sizes(few=1_000_000, many=5_000_000, more=0, shared=0, distinct=2_000_000, streamed=1_200_000)


@dataclass(frozen=True)
class Run:
    """One run: its sizes, and a folder for what it makes. What is measured for two parts is measured once."""

    sizes: Sizes
    folder: Path
    costs: dict[tuple[str, int], Cost] = field(default_factory=dict)
    made: dict[str, Logs] = field(default_factory=dict)

    @cached_property
    def env(self) -> dict[str, str]:
        return {"JAVA_HOME": str(java_home())}

    def logs(self, lines: int, days: int = DAYS) -> Logs:
        name = f"{lines}-{days}"
        if name not in self.made:
            self.made[name] = make_logs(self.folder / name, lines, days=days)
        return self.made[name]

    def job(self, name: str, *words: object, master: str = _MASTER, core: int | None = None) -> Cost:
        """Run a job; core: the only one that this process, and Spark's driver, may use."""
        return self._python("aclweb.pipeline", name, "--master", master, *words, core=core)

    def usage(self, logs: Logs) -> Cost:
        """Return what the whole job costs on logs; its result is in the folder that `result` names."""
        return self._once("usage", logs, lambda: self.job("usage", *_usage_words(logs, self.result(logs))))

    def plain(self, logs: Logs) -> Cost:
        """Return what plain Python costs for the same."""
        words = (logs.snapshot, self.result(logs, "plain"), *logs.files)
        return self._once("plain", logs, lambda: self._python("bench.plain_usage", *words))

    def duckdb(self, logs: Logs) -> Cost:
        """Return what DuckDB costs for counting alone."""
        return self._once("duckdb", logs, lambda: self._python("bench.duckdb_count", *logs.files))

    def rounds(self, step: str, logs: Logs, table: Path) -> dict[str, float]:
        """Return the CPU seconds of single steps."""
        cost = self._python("bench.spark_rounds", step, logs.snapshot, table, *logs.files)
        found: dict[str, float] = json.loads(cost.output.splitlines()[-1])
        return found

    def page_replay(self, logs: Logs) -> dict[str, float]:
        """Return the CPU seconds of a replay on a page of the site, and how many lines it finds denied."""
        cost = self._python("bench.page_replay", logs.snapshot, self.result(logs))
        found: dict[str, float] = json.loads(cost.output.splitlines()[-1])
        return found

    def result(self, logs: Logs, name: str = "usage") -> Path:
        return self.folder / f"{name}-{logs.lines}"

    def _once(self, name: str, logs: Logs, measure: Callable[[], Cost]) -> Cost:
        if (name, logs.lines) not in self.costs:
            # What else the machine does makes a run dearer, and never cheaper.
            runs = (measure() for _ in range(_RUNS))
            self.costs[name, logs.lines] = min(runs, key=attrgetter("cpu_seconds"))
        return self.costs[name, logs.lines]

    def _python(self, module: str, *words: object, core: int | None = None) -> Cost:
        on = [] if core is None else ["taskset", "--cpu-list", str(core)]
        return cost_of([*on, sys.executable, "-m", module, *map(str, words)], env=self.env)


def whole_job(run: Run) -> Iterator[Figure]:
    """Yield the whole job beside plain Python, with all requests and uses compared."""
    for lines in (run.sizes.few, run.sizes.many):
        logs = run.logs(lines)
        plain, spark = run.plain(logs), run.usage(logs)
        compared = _compared(run.result(logs), run.result(logs, "plain"))
        yield Figure(
            PART,
            f"usage of {lines:,} lines ({logs.bytes / 1e6:,.0f} MB) on {_MASTER}, of plain Python's CPU time",
            spark.cpu_seconds / plain.cpu_seconds,
            goal=3 if lines >= USUAL.many else None,
            at_most=True,
            detail=f"{_words(spark)}; plain {_words(plain)}; {compared:,} requests and all uses equal",
        )


def further_lines(run: Run) -> Iterator[Figure]:
    """Yield what a further million lines costs, beside DuckDB's count of the same."""
    if importlib.util.find_spec("duckdb") is None:
        print("SKIPPED: duckdb is not installed (pip install duckdb), so no line is compared with it.")
        return
    few, many = run.logs(run.sizes.few), run.logs(run.sizes.many)
    millions = (many.lines - few.lines) / 1e6
    spark = (run.usage(many).cpu_seconds - run.usage(few).cpu_seconds) / millions
    duck = (run.duckdb(many).cpu_seconds - run.duckdb(few).cpu_seconds) / millions
    counted = int(run.duckdb(many).output.split()[0])
    if counted != many.lines:
        raise SystemExit(f"DuckDB counts {counted:,} lines and not {many.lines:,}.")
    yield Figure(
        PART,
        "each further 1,000,000 lines, of DuckDB's CPU time for counting them",
        spark / duck,
        goal=3 if many.lines >= USUAL.many else None,
        at_most=True,
        detail=f"{spark:.1f} CPU s; DuckDB on two threads {duck:.1f} CPU s, by day and text, nothing parsed",
    )


def counting(run: Run) -> Iterator[Figure]:
    """Yield the counting stage beside a bare scan, both in a Spark that runs already."""
    logs = run.logs(run.sizes.few)
    found = run.rounds("counting", logs, run.folder)
    yield Figure(
        PART,
        f"counting {logs.lines:,} lines by file, day and text, of a bare scan's CPU time",
        found["count"] / found["scan"],
        goal=4 if logs.lines >= USUAL.few else None,
        at_most=True,
        detail=f"{found['count']:.2f} CPU s; scan {found['scan']:.2f} CPU s; the fewest of three rounds",
    )


def replays(run: Run) -> Iterator[Figure]:
    """Yield a replay from the access table beside one from the logs, both in a Spark that runs already."""
    logs, table = run.logs(run.sizes.many), run.folder / "table"
    run.job("access", "--cluster", "bench", "--out", table, "--log", *logs.files)
    found = run.rounds("replay", logs, table)
    yield Figure(
        PART,
        f"replay of {logs.lines:,} lines from the access table, against from the logs",
        found["logs"] / found["table"],
        goal=50 if logs.lines >= USUAL.many else None,
        detail=f"{found['table']:.2f} CPU s; from logs {found['logs']:.2f} CPU s; the same files, byte by byte",
    )
    run.usage(logs)
    on_a_page = run.page_replay(logs)
    if on_a_page["denied"] != found["denied"]:
        raise SystemExit(
            f"A page finds {on_a_page['denied']:,} lines denied, and the job {found['denied']:,}."
        )
    yield Figure(
        PART,
        "the same replay on a page, of the log that is loaded, against from the logs",
        found["logs"] / on_a_page["page"],
        goal=50 if logs.lines >= USUAL.many else None,
        detail=f"{on_a_page['page']:.3f} CPU s; {on_a_page['denied']:,} lines denied, as the job says",
    )


def one_more_hour(run: Run) -> Iterator[Figure]:
    """Yield what one more hour of logs costs, and no new byte, beside the 90 days before, of the largest logs."""
    lines = run.sizes.more or run.sizes.many
    logs = run.logs(lines, _LONG_DAYS)
    an_hour = max(lines // (_LONG_DAYS * 24), 1)
    table, last = run.folder / "hours", logs.files[-1]
    whole = last.read_bytes()
    kept = whole.splitlines(keepends=True)
    words = ("--cluster", "bench", "--keep-days", 40_000, "--out", table, "--log", *logs.files)
    last.write_bytes(b"".join(kept[:-an_hour]))
    first = run.job("access", *words)
    last.write_bytes(whole)
    hour = run.job("access", *words)
    nothing = run.job("access", *words)
    if "Nothing new" not in nothing.output or f"{an_hour:,} record" not in hour.output:
        raise SystemExit(f"The table was not extended as it should be: {hour.output}{nothing.output}")
    yield Figure(
        PART,
        f"one more hour ({an_hour:,} lines) after {_LONG_DAYS} days of {lines:,} lines, of their CPU time",
        100 * hour.cpu_seconds / first.cpu_seconds,
        unit="%",
        goal=1 if lines >= USUAL.many else None,
        at_most=True,
        detail=f"{_words(hour)}, most of it to start Spark; the days before {_words(first)}",
    )
    running = run.rounds("hour", logs, run.folder / "hours-running")
    yield Figure(
        PART,
        f"the cheapest of eight hours ({lines // _LONG_DAYS // 24:,} lines) in a Spark that runs, as with --every",
        100 * running["hour"] / running["before"],
        unit="%",
        goal=1 if lines >= USUAL.many else None,
        at_most=True,
        detail=f"{running['hour']:.2f} CPU s; the days before {running['before']:.1f} CPU s",
    )
    yield Figure(
        PART,
        "nothing new: no Spark is started",
        nothing.cpu_seconds,
        unit="CPU s",
        goal=1,
        at_most=True,
        detail=f"{nothing.wall_seconds:.1f} s of wall time at load average {os.getloadavg()[0]:.1f}",
    )


def start(run: Run) -> Iterator[Figure]:
    """Yield what the whole job costs on next to nothing."""
    log = run.folder / "seven.log"
    few = run.logs(run.sizes.few)
    with few.files[0].open("rb") as opened:
        log.write_bytes(b"".join(opened.readline() for _ in range(7)))
    words = _usage_words(Logs(few.snapshot, (log,), 7), run.folder / "seven")
    run.job("usage", *words)
    cost = run.job("usage", *words)
    yield Figure(
        PART,
        "start-up: usage of 7 lines",
        cost.cpu_seconds,
        unit="CPU s",
        goal=12,
        at_most=True,
        detail=f"{cost.wall_seconds:.0f} s of wall time; Spark's classes were archived by a run before",
    )


def distinct(run: Run) -> Iterator[Figure]:
    """Yield what logs take in which no request comes twice, with the least driver that is documented."""
    lines = run.sizes.distinct
    logs = make_distinct_log(run.folder / "distinct", lines)
    words = _usage_words(logs, run.folder / "distinct-result")
    cost = run.job("usage", "--conf", "spark.driver.memory=1g", *words)
    rows = pq.ParquetFile(run.folder / "distinct-result" / "requests.parquet").metadata.num_rows
    if rows != lines:
        raise SystemExit(f"{rows:,} requests were found, and {lines:,} made.")
    yield Figure(
        PART,
        f"{lines:,} lines with as many different requests, spark.driver.memory=1g: the largest process",
        cost.peak_bytes / 1e9,
        unit="GB",
        goal=2 if lines >= USUAL.distinct else None,
        at_most=True,
        detail=f"{cost.cpu_seconds:.1f} CPU s; all requests in the result",
    )


def more_lines(run: Run) -> Iterator[Figure]:
    """Yield the CPU time of a line of large logs beside that of smaller ones."""
    if not run.sizes.more:
        print("SKIPPED: a line of large logs beside one of smaller ones; give --more 50000000.")
        return
    many, more = run.logs(run.sizes.many), run.logs(run.sizes.more)
    each = run.usage(many).cpu_seconds / many.lines
    yield Figure(
        PART,
        f"a line of {more.lines:,} lines, of the CPU time of one of {many.lines:,}",
        run.usage(more).cpu_seconds / more.lines / each,
        goal=1.1,
        at_most=True,
        detail=_words(run.usage(more)),
    )


def workers(run: Run) -> Iterator[Figure]:
    """Yield how much faster two machines of one core are than one, on a real standalone cluster.

    Each worker is held to a core of its own. Without that, one worker takes both: Python's workers run beside its JVM.
    Master and driver are held to the core of the first worker, as if they ran on that machine; beside one worker they
    would have the second machine for themselves. The files are in memory when a run begins: both workers share the one
    disk of this computer, and two machines would not.
    """
    if not run.sizes.shared:
        print("SKIPPED: two workers beside one; give --shared 20000000.")
        return
    logs = run.logs(run.sizes.shared)
    cluster = partial(spark_cluster, java_home=java_home(), pinned=True)
    seconds = []
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), workers=number) as url:
            _read_into_memory(logs)
            begun = time.perf_counter()
            words = _usage_words(logs, run.folder / f"workers-{number}")
            run.job("usage", "--conf", _SMALL_EXECUTOR, *words, master=url, core=0)
            seconds.append(time.perf_counter() - begun)
    apart = _apart(run)
    yield Figure(
        PART,
        f"usage of {logs.lines:,} lines on two machines of a core each, against one, in wall time",
        seconds[0] / seconds[1],
        goal=1.6,
        detail=f"{seconds[1]:.0f} s; one machine {seconds[0]:.0f} s; load average {os.getloadavg()[0]:.1f}; "
        f"two programs of plain Python that share nothing but this computer: {apart:.2f} x",
    )


def _read_into_memory(logs: Logs) -> None:
    for file in logs.files:
        with file.open("rb", buffering=0) as opened:
            while opened.read(1 << 24):
                pass


def _apart(run: Run) -> float:
    """Return how much more two programs on a core each read than one does alone: what this computer gives."""
    logs = run.logs(run.sizes.many)

    def seconds(programs: int) -> float:
        begun = time.perf_counter()
        words = [sys.executable, "-m", "bench.plain_usage", str(logs.snapshot)]
        files = [str(file) for file in logs.files]
        started = [
            subprocess.Popen(
                ["taskset", "--cpu-list", str(core), *words, str(run.folder / f"apart-{core}"), *files],
                stdout=subprocess.DEVNULL,
            )
            for core in range(programs)
        ]
        ended = [process.wait() for process in started]
        if any(ended):
            raise SystemExit("Plain Python failed.")
        return time.perf_counter() - begun

    return 2 * seconds(1) / seconds(2)


def streaming(run: Run) -> Iterator[Figure]:
    """Yield how many records of a topic are counted in a second, on a real broker; the start is taken off."""
    # Who goes on reading a topic gets what was just logged, all of one day.
    logs = run.logs(run.sizes.streamed, days=1)
    found = topics.streamed(logs, run.folder, _MASTER, run.env)
    yield Figure(
        PART,
        f"{found.records:,} records of a topic of a real broker: counted in a second",
        found.records / found.seconds,
        unit="records/s",
        goal=20_000 if logs.lines >= USUAL.streamed else None,
        detail=f"{found.seconds:.1f} s at load average {os.getloadavg()[0]:.1f}; the job {found.job_cpu_seconds:.1f} "
        f"CPU s, the broker {found.broker_cpu_seconds:.1f}",
    )


PARTS: dict[str, Callable[[Run], Iterator[Figure]]] = {
    "start": start,
    "whole": whole_job,
    "lines": further_lines,
    "counting": counting,
    "replay": replays,
    "hour": one_more_hour,
    "distinct": distinct,
    "more": more_lines,
    "workers": workers,
    "streaming": streaming,
}


def against_plain_python(quick: bool) -> Iterator[Figure]:
    """Yield the figures of all parts that take some minutes."""
    with _run(QUICK if quick else USUAL) as run:
        for part in PARTS.values():
            yield from part(run)


@contextmanager
def _run(sizes: Sizes) -> Iterator[Run]:
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as folder:
        yield Run(sizes, Path(folder))


def _usage_words(logs: Logs, out: Path) -> Sequence[object]:
    return ("--snapshot", logs.snapshot, "--out", out, "--log", *logs.files)


def _compared(found: Path, expected: Path) -> int:
    """Return how many requests are equal in both results; ends the program where one differs, or one use."""
    for name in ("requests", "usage"):
        wanted = pq.read_table(expected / f"{name}.parquet")
        # The job's own table has more columns, and in `usage` ACLs that only settle what others do, too.
        told = pq.read_table(found / f"{name}.parquet").select(wanted.column_names)
        if told.to_pylist() != wanted.to_pylist():
            raise SystemExit(f"Spark and plain Python differ in {name}.")
    return int(pq.ParquetFile(expected / "requests.parquet").metadata.num_rows)


def _words(cost: Cost) -> str:
    return f"{cost.cpu_seconds:.1f} CPU s, at most {cost.peak_bytes / 1e9:.1f} GB in a process"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; else all"
    )
    parser.add_argument("--quick", action="store_true", help="small data, about two minutes")
    parser.add_argument("--few", type=int, metavar="N", help="lines of the smaller logs")
    parser.add_argument("--lines", type=int, metavar="N", help="lines of the larger logs")
    parser.add_argument("--more", type=int, metavar="N", help="lines for the part more")
    parser.add_argument("--shared", type=int, metavar="N", help="lines for the part workers")
    parser.add_argument("--streamed", type=int, metavar="N", help="records for the part streaming")
    parser.add_argument("--print-only", action="store_true", help="leave bench/results as it is")
    asked = parser.parse_args(arguments)
    for part in asked.parts:
        if part not in PARTS:
            parser.error(f"{part!r} is no part; use one or more of {', '.join(PARTS)}.")
    usual = QUICK if asked.quick else USUAL
    given = {"few": asked.few, "many": asked.lines, "more": asked.more, "shared": asked.shared}
    given["streamed"] = asked.streamed
    sizes = replace(usual, **{name: number for name, number in given.items() if number})
    begun = time.perf_counter()
    figures = []
    with _run(sizes) as run:
        for part in asked.parts or PARTS:
            for figure in PARTS[part](run):
                figures.append(figure)
                print(figure.line(), flush=True)
    if not asked.print_only:
        seconds = time.perf_counter() - begun
        print(f"Kept in {write(figures, quick=asked.quick, seconds=seconds, module='bench.pipeline')}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
