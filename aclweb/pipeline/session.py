"""Start Spark, quietly, with the core shipped to executors.

Where it runs is said by `--master`, else by spark-submit, spark-defaults.conf or MASTER, else it
is this machine. What a person set anywhere wins over what is set here. The JVM's own messages
go into a file, whose end is shown only when a start or a job fails.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from logging import CRITICAL, getLogger
from math import inf
from pathlib import Path
from subprocess import TimeoutExpired

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from aclweb.pipeline import class_archive, environment
from aclweb.pipeline.environment import Environment
from aclweb.pipeline.failures import SPARK_ERRORS, JobError, cause_of, secrets_in
from aclweb.pipeline.shipping import make_zip

THIS_MACHINE = "local[*]"

# Where workers read the logs themselves, whose size is known then, no optimising compiler pays for itself. Logs smaller
# than _SMALL_BYTES are read before planning again after each step has, and those smaller than _TINY_BYTES before
# Spark's own generated code, and a second of Python's workers, have.
_SMALL_BYTES = 512 * 1024 * 1024
_TINY_BYTES = 32 * 1024 * 1024
_MOST_BYTES_AT_ONCE = 1024 * 1024 * 1024
_BRIEF_JVM = "-XX:TieredStopAtLevel=1"
# A long job too runs most of its code too seldom for the optimising compiler; ten times what it has by default.
_LONG_JVM = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000"
)
_BRIEF_COLLECTOR = "-XX:+UseSerialGC"
# A JVM that is given two collectors does not start.
_COLLECTOR = re.compile(r"-XX:[+]Use\w*GC\b")

# A JVM that leaves an archive of its classes writes for some seconds before it ends.
_LONGEST_EXIT_SECONDS = 120.0

_CALL_SECONDS = 10.0

# What workers exchange is parted for each of their cores twice, and once for so much text at least: of texts that
# hardly ever come twice, so much still fits into the memory of a worker.
_PARTS_A_CORE = 2
_TEXT_A_PART = 2 * 1024 * 1024 * 1024

_PARTS = "spark.sql.shuffle.partitions"
_MASTER = "spark.master"
_STANDALONE = "spark://"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions"
_PYTHON = "spark.pyspark.python"
# A line of spark-defaults.conf: a key, then blanks, "=" or ":", then the value.
_DEFAULT = re.compile(r"\s*(spark\.[^\s=:]+)\s*[=:\s]\s*(.*?)\s*")

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
def spark_session(
    master: str | None = None,
    *,
    conf: Mapping[str, str] | None = None,
    log_bytes: float | None = None,
    archive: bool = False,
) -> Iterator[SparkSession]:
    """Start Spark and stop it at the end.

    master: where; None is what Spark's own settings say. conf: Spark's settings, handed on as
    they are. log_bytes: how much text the job reads, or the table holds; None is very much. Where it is
    little, compilers are left out that would take longer than they save. archive: whether the JVM is to end with
    the session and leave an archive of its classes for the next, where there is none.

    Raises SessionError where Spark cannot start, and JobError with the cause where a call into it
    failed meanwhile.
    """
    with _running(master, conf or {}, log_bytes, archive=archive) as running, running.told() as spark:
        yield spark


class WarmSpark:
    """One Spark for several jobs that run one after another, each of which would start and stop its own."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._running: _Running | None = None
        self._started_for: tuple[object, float] = (None, 0.0)

    @contextmanager
    def session(
        self,
        master: str | None = None,
        *,
        conf: Mapping[str, str] | None = None,
        log_bytes: float | None = None,
        archive: bool = False,
    ) -> Iterator[SparkSession]:
        """Give the Spark that runs, or start one as `spark_session` does: the first, and where that one does not fit.

        One that was started for little text fits no job with much; one in which a call failed is not used again.
        """
        size = inf if log_bytes is None else log_bytes
        where = (master, tuple(sorted((conf or {}).items())))
        if self._running is None or self._started_for[0] != where or self._started_for[1] < size:
            self.close()
            # Who comes next is not known, so compilers are left out only up to the size that most logs have.
            room = inf if size >= _SMALL_BYTES else _SMALL_BYTES - 1
            running = _running(master, conf or {}, room, archive=archive)
            self._running = self._stack.enter_context(running)
            self._started_for = (where, room)
        try:
            with self._running.told() as spark:
                yield spark
        except JobError as error:
            if isinstance(error.__cause__, SPARK_ERRORS):
                self.close()
            raise

    def close(self) -> None:
        """Stop the Spark that runs, and its JVM."""
        if self._running is not None:
            self._running = None
            self._stack.close()
            end_jvm()


@dataclass(frozen=True)
class _Running:
    """A Spark that was started. words: what its JVM says. secrets: what no message may repeat."""

    spark: SparkSession
    words: Path
    secrets: Collection[str]

    @contextmanager
    def told(self) -> Iterator[SparkSession]:
        """Yield the session; raises JobError with the cause where a call into it fails meanwhile."""
        try:
            yield self.spark
        except SPARK_ERRORS as error:
            raise JobError(cause_of(error, _text_of(self.words), self.secrets)) from error


@contextmanager
def _running(
    master: str | None, conf: Mapping[str, str], log_bytes: float | None, *, archive: bool
) -> Iterator[_Running]:
    """Start Spark and stop it at the end, as `spark_session` has it."""
    here = environment.of_this_process()
    java = _java(here)
    if java is None:
        raise SessionError(
            "Spark needs Java 17 or newer and none was found; install one or set JAVA_HOME to it."
        )
    given = _given(master, conf, here)
    where = given.get(_MASTER, THIS_MACHINE)
    _check_answers(where)
    secrets = secrets_in(given)
    classes = class_archive.archive_of(here.cache, java)
    making = class_archive.to_make(classes) if archive and not here.submitted else ()
    with tempfile.TemporaryDirectory(prefix="aclweb-spark-", ignore_cleanup_errors=True) as directory:
        words = Path(directory) / "spark.log"
        try:
            with _errors_into(words):
                options = class_archive.to_use(classes) or making
                spark = _start(
                    given, Path(directory), memory=here.memory, log_bytes=log_bytes, options=options
                )
        except Exception as error:
            cause = cause_of(error, _text_of(words), secrets)
            raise SessionError(f"Spark did not start on {where}. {cause}") from error
        try:
            # Not the name that spark-submit's own --py-files has: Spark refuses a second file of one name.
            running = _Running(spark, words, secrets)
            if not runs_here(spark):
                with running.told():
                    spark.sparkContext.addPyFile(str(make_zip(Path(directory), "aclweb-code.zip")))
            yield running
        finally:
            _stop(spark)
        if making:
            class_archive.made(classes, ended_well=end_jvm() == 0)


def _check_answers(master: str) -> None:
    """Raise SessionError where nobody takes calls at the addresses of a standalone master, as Spark finds out later."""
    addresses = master.removeprefix(_STANDALONE).split(",") if master.startswith(_STANDALONE) else []
    failed = ""
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CALL_SECONDS).close()
        except (OSError, OverflowError) as error:
            failed = failed or f"Nobody answers at {address}: {getattr(error, 'strerror', None) or error}"
        except ValueError:
            return
        else:
            return
    if failed:
        raise SessionError(
            f"Spark did not start on {master}. {failed}; start that master, or name another one with --master."
        )


def _java(here: Environment) -> Path | None:
    """Return the program that Spark's own scripts start; None where there is no Java."""
    if here.java_home and (own := Path(here.java_home) / "bin" / "java").is_file():
        return own
    found = shutil.which("java")
    return Path(found) if found else _java_from_pypi(here)


def _java_from_pypi(here: Environment) -> Path | None:
    """Have Spark's scripts start the Java that the project's setup installs where there is no other, and return it."""
    if here.submitted:
        return None  # by a Spark that has a Java, and runs this room alone
    from aclweb.runtime import java  # noqa: PLC0415 - does not travel with this room

    try:
        home = java.java_home("", cache=str(here.cache.parent))
    except java.JavaError:
        return None
    environment.set_java_home(home)
    return home / "bin" / "java"


def end_jvm() -> int | None:
    """End the JVM that this process started, and return its status; None where it has none, or it does not end.

    Otherwise it stays for the next session, which then starts in a fraction of the time.
    """
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None:
        return None
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(*SPARK_ERRORS):
        gateway.shutdown()
    with suppress(OSError):
        process.stdin.close()
    with suppress(TimeoutExpired):
        return int(process.wait(_LONGEST_EXIT_SECONDS))
    process.kill()
    return None


def runs_here(spark: SparkSession) -> bool:
    """Return whether the executors are this machine and this Python."""
    return bool(re.fullmatch(r"local(\[.*\])?", spark.sparkContext.master))


def part_for_cores(spark: SparkSession, log_bytes: float | None) -> None:
    """Have what executors exchange parted for the cores that they have, unless somebody set in how many parts.

    Spark has 200 parts on any cluster, each of which takes longer to begin than a small part takes. log_bytes: as
    `spark_session` has it.
    """
    conf = spark.sparkContext.getConf()
    # Executors that are still to come are not known.
    is_open = conf.get("spark.dynamicAllocation.enabled", "false") == "true"
    if log_bytes is None or is_open or conf.contains(_PARTS):
        return
    cores = spark.sparkContext.defaultParallelism
    spark.conf.set(_PARTS, max(_PARTS_A_CORE * cores, int(log_bytes // _TEXT_A_PART)))


def _given(master: str | None, conf: Mapping[str, str], here: Environment) -> dict[str, str]:
    """Return what was set by a person: Spark's own settings, over them `conf`, over them `master`."""
    given = dict(_of_submit() if here.submitted else _of_spark(here))
    given |= conf
    if master:
        given[_MASTER] = master
    return given


def _of_submit() -> Mapping[str, str]:
    """What spark-submit was given, or read; it has started the JVM already."""
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _of_spark(here: Environment) -> Mapping[str, str]:
    """What spark-defaults.conf and MASTER say, for a JVM that is to start and reads them too."""
    folder = here.conf_dir or Path(_find_spark_home()) / "conf"
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = {match[1]: match[2] for match in map(_DEFAULT.fullmatch, lines) if match}
    if _MASTER not in found and here.master:
        found[_MASTER] = here.master
    return found


def _start(
    given: Mapping[str, str],
    directory: Path,
    *,
    memory: str,
    log_bytes: float | None,
    options: Sequence[str],
) -> SparkSession:
    short, small, tiny = (
        log_bytes is not None and log_bytes < size for size in (inf, _SMALL_BYTES, _TINY_BYTES)
    )
    logging = directory / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="utf-8")
    # PySpark tells errors as JSON beside raising them.
    getLogger("DataFrameQueryContextLogger").setLevel(CRITICAL)
    # Executors run the Python of this program unless somebody named one; the system's may lack pyarrow.
    environment.tell_spark("PYSPARK_PYTHON", given.get(_PYTHON, sys.executable))
    environment.tell_spark("PYSPARK_DRIVER_PYTHON", sys.executable)
    settings = {
        _MASTER: THIS_MACHINE,
        "spark.app.name": "aclweb",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        # What is together by its request is together by request and answer.
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
        # What is kept is read a few times only; packing it takes longer than reading it unpacked.
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        # What does not fit into memory is written with all that was written before held until this many pieces, and a
        # piece is 10,000 rows.
        "spark.serializer.objectStreamReset": "1",
        # A worker sends on each text once, whatever it reads of it, so it reads much.
        "spark.sql.files.maxPartitionBytes": str(_MOST_BYTES_AT_ONCE),
        # Lists of so many requests are made in a hash table, and those of more by sorting them.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "30000",
    }
    if given.get(_MASTER, THIS_MACHINE).startswith("local"):
        environment.tell_spark("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": memory,
            "spark.local.dir": str(directory),
            # Python's workers here take the code where it is, compiled already, and need no copy of it.
            "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[2]),
            _PARTS: str(1 if tiny else 2 if small else max(4, os.cpu_count() or 1)),
            # Planning again after every step pays only where the data is much larger than the plan.
            "spark.sql.adaptive.enabled": str(not small).lower(),
        }
        if tiny:
            settings |= {
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            }
    if given.get(_MASTER, "").startswith(_STANDALONE):
        # A minute passes until Spark gives a master up; what waits for its answer should not wait longer.
        settings["spark.rpc.lookupTimeout"] = "30s"
    settings |= given
    if not given.get(_MASTER, THIS_MACHINE).startswith("local"):
        settings[_EXECUTOR_OPTIONS] = _executor_options(given.get(_EXECUTOR_OPTIONS, ""), brief=short)
    ours = " ".join((f"-Dlog4j2.configurationFile={logging.as_uri()}", *options))
    settings[_JAVA_OPTIONS] = f"{ours} {_java_options(given.get(_JAVA_OPTIONS, ''), brief=short)}".rstrip()
    # The results depend on these, so nobody else sets them.
    settings |= {"spark.sql.session.timeZone": "UTC", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    secrets = secrets_in(settings)
    if SparkContext._gateway is None:
        # The JVM's command line, which every user of this machine may read, names no secret.
        public = SparkConf(loadDefaults=False)
        public.setAll([(key, value) for key, value in settings.items() if value not in secrets])
        SparkContext._ensure_initialized(conf=public)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _java_options(given: str, *, brief: bool) -> str:
    """Return the JVM's options; given: those that a person wants, which win."""
    if not brief:
        return f"{_LONG_JVM} {given}".rstrip()
    collector = () if _COLLECTOR.search(given) else (_BRIEF_COLLECTOR,)
    return " ".join(filter(None, (_BRIEF_JVM, *collector, given)))


def _executor_options(given: str, *, brief: bool) -> str:
    """Return the options of an executor's JVM, which compiles as the driver's does; given: as `_java_options` has it.

    Where an executor has few cores, an optimising compiler takes them from Python's workers.
    """
    return f"{_BRIEF_JVM if brief else _LONG_JVM} {given}".rstrip()


def _stop(spark: SparkSession) -> None:
    # Where it ended by itself, the error that is on its way says so.
    with suppress(*SPARK_ERRORS):
        spark.stop()


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


def _text_of(file: Path) -> str:
    return file.read_text(errors="replace") if file.is_file() else ""
