"""A real standalone Spark cluster from PySpark's own jars: a master and workers on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark

from aclweb.pipeline import class_archive
from aclweb.pipeline.environment import of_this_process
from devstack.java import find_java

HOME = Path(pyspark.__file__).resolve().parent
_READY_SECONDS = 120.0


def quick_jvm() -> tuple[str, ...]:
    """Options of a JVM that ends before an optimising compiler has paid for itself, and reads no class anew."""
    archive = class_archive.archive_of(of_this_process().cache, find_java())
    return ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *class_archive.to_use(archive))


@contextlib.contextmanager
def spark_cluster(
    directory: Path, java_home: Path, workers: int = 2, *, pinned: bool = False
) -> Iterator[str]:
    """Yield the address of a master that has `workers` workers of one core and 600 MB each.

    Each has a folder in `directory`, such as worker-0, with its process group in `pid` and its executors in `work`.
    pinned: whether each runs on a core of its own and on no other, with its executors and their Python, as on a machine
    with one core; the master is on that of the first. Spark alone only counts cores: what it starts takes all that it
    gets.
    """
    env = {"JAVA_HOME": str(java_home), "PATH": os.environ["PATH"], "HOME": str(directory)}
    core = next((HOME / "jars").glob("spark-core_*.jar")).name
    env |= {
        "SPARK_HOME": str(HOME),
        "SPARK_SCALA_VERSION": core.removeprefix("spark-core_").partition("-")[0],
    }
    # As spark-class would start them, without the JVM in which it works its command out: with the class path of all
    # JVMs of Spark, which is the one that an archive of classes is for.
    (first,) = (HOME / "jars").glob("slf4j-api-*.jar")
    path = os.pathsep.join([f"{HOME}/conf", str(first), f"{HOME}/jars/*"])
    java = [str(java_home / "bin" / "java"), "-Xmx128m", *quick_jvm(), "-cp", path]
    java += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch")]
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str, core: int | None = None) -> Path:
        folder = directory / name
        folder.mkdir()
        log = folder / "log"
        with log.open("wb") as target:
            on = [] if core is None else ["taskset", "--cpu-list", str(core)]
            command = [*on, *java, *arguments, "--host", "127.0.0.1"]
            started.append(
                subprocess.Popen(
                    [*command, "--port", "0", "--webui-port", "0"],
                    cwd=folder, env=env, stdout=target, stderr=target, process_group=0,
                )
            )  # fmt: skip
        (folder / "pid").write_text(str(started[-1].pid))
        return log

    try:
        master = start("master", "org.apache.spark.deploy.master.Master", core=0 if pinned else None)
        address = _wait(master, r"Starting Spark master at (spark://\S+)")[0]
        for number in range(workers):
            work = directory / f"worker-{number}" / "work"
            start(
                f"worker-{number}",
                "org.apache.spark.deploy.worker.Worker", address,
                "--cores", "1", "--memory", "600m", "--work-dir", str(work),
                core=number if pinned else None,
            )  # fmt: skip
        _wait(master, r"Registering worker", workers)
        yield address
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(log: Path, pattern: str, times: int = 1) -> list[str]:
    until = time.monotonic() + _READY_SECONDS
    while time.monotonic() < until:
        found = re.findall(pattern, log.read_text(errors="replace"))
        if len(found) >= times:
            return found
        time.sleep(0.2)
    raise AssertionError(f"Spark's cluster did not come up: {log.read_text(errors='replace')[-2000:]}")
