"""How does Spark start, quietly, with the core on board?

The JVM's own messages go into a file, whose end is shown only when a start or a job
fails. The core and this room travel to the executors as one zip.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

_PACKAGE = Path(__file__).resolve().parent.parent
_SHIPPED = ("__init__.py", "acl/*.py", "pipeline/*.py")
# Every file of the zip gets this time, so that the same code always makes the same zip.
_SOME_DAY = (2000, 1, 1, 0, 0, 0)

_LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


class SessionError(Exception):
    """Spark that did not start; the message says what is missing."""


@contextmanager
def spark_session(master: str, *, brief: bool = False) -> Iterator[SparkSession]:
    """Start Spark on `master` and stop it at the end; raise SessionError where it cannot start.

    brief: the work is so small that a JVM which optimises less is done sooner.
    """
    java_home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (java_home and (Path(java_home) / "bin" / "java").is_file()):
        raise SessionError(
            "Spark needs Java 17 or newer and none was found; install one or set JAVA_HOME to it."
        )
    with tempfile.TemporaryDirectory(prefix="aclweb-spark-") as directory:
        words = Path(directory) / "spark.log"
        try:
            with _errors_into(words):
                spark = _start(master, Path(directory), brief=brief)
        except Exception as error:
            raise SessionError(f"Spark did not start on {master}. {_last_words(words, error)}") from error
        try:
            spark.sparkContext.addPyFile(str(make_zip(Path(directory))))
            yield spark
        finally:
            spark.stop()


def make_zip(directory: Path) -> Path:
    """Write what the executors need into a zip: the core and this room, and nothing of the site."""
    path = directory / "aclweb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for pattern in _SHIPPED:
            for file in sorted(_PACKAGE.glob(pattern)):
                name = f"{_PACKAGE.name}/{file.relative_to(_PACKAGE).as_posix()}"
                packed.writestr(zipfile.ZipInfo(name, _SOME_DAY), file.read_bytes())
    return path


def _start(master: str, directory: Path, *, brief: bool) -> SparkSession:
    logging = directory / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="utf-8")
    # Executors run the Python of this program; the system's may lack pyarrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    java = f"-Dlog4j2.configurationFile={logging.as_uri()}"
    builder = (
        SparkSession.builder.master(master)
        .appName("aclweb")
        .config("spark.driver.extraJavaOptions", f"{java} -XX:TieredStopAtLevel=1" if brief else java)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .config("spark.local.dir", str(directory))
    )
    if master.startswith("local"):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        builder = (
            builder.config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", os.environ.get("ACLWEB_SPARK_MEMORY", "1g"))
            .config("spark.sql.shuffle.partitions", str(2 if brief else max(4, os.cpu_count() or 1)))
            # Planning again after every step pays only where the data is much larger than the plan.
            .config("spark.sql.adaptive.enabled", str(not brief).lower())
        )
    return builder.getOrCreate()


@contextmanager
def _errors_into(file: Path) -> Iterator[None]:
    """Let a process started meanwhile write its errors into `file`; it keeps doing so afterwards."""
    sys.stderr.flush()
    before = os.dup(2)
    with file.open("wb") as target:
        os.dup2(target.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)


def _last_words(file: Path, error: Exception) -> str:
    lines = [line for line in file.read_text(errors="replace").splitlines() if line.strip()]
    return f"Its last words: {lines[-1]}" if lines else f"The cause given is: {error}"
