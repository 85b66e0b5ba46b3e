"""How does a test ask Kafka's own released classes?

A Java file of tests/oracle/java is compiled against the locked jars of one Kafka version and
runs in a JVM of its own that answers one line with one line. What is compiled is kept, filed
by the digest of the source and of the lock. A JVM that gives no answer in time is ended and
the next question goes to a fresh one; whoever closes a program ends its JVM.

The Java side reads UTF-8 lines from its standard input, and writes exactly one line for each,
flushed when no further line waits. Whatever else Kafka prints belongs on the standard error.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from aclweb.clusters import ClusterError
from aclweb.runtime.java import OLDEST_JAVA, JavaError
from devstack.jars import COMPILER, kafka_jars, read_lock
from devstack.java import find_java
from tests.servers import missing

SOURCES = Path(__file__).parent / "java"
_CHUNK = 1 << 16
# What a JVM is asked in one run is over before an optimising compiler has paid for itself.
_SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_OPTIONS = (
    "-Xmx768m",
    *_SHORT_LIVED,
    "-Dfile.encoding=UTF-8",
    # Without a configuration log4j would write errors to the standard output.
    "-Dorg.apache.logging.log4j.level=OFF",
)


class OracleError(Exception):
    """A program that cannot be compiled or started, or that ended; the message is a sentence."""


class Hung(OracleError):
    """A question that got no answer in time; `line` is the question."""

    def __init__(self, line: str, seconds: float) -> None:
        super().__init__(f"No answer came within {seconds:g} s to {line[:300]!r}; the JVM was ended.")
        self.line = line


class JavaProgram:
    """A program of tests/oracle/java on the class path of one version's jars, with its JVM.

    `arguments` are the program's own; `seconds` is how long one answer may take. Raises
    OracleError where there are no jars, no Java or no compiler, or the source is wrong.
    """

    def __init__(
        self, name: str, version: str, *, arguments: Sequence[str] = (), seconds: float = 60
    ) -> None:
        self.name = name
        self.version = version
        self.seconds = seconds
        self.digests = {jar.file_name: jar.sha256 for jar in read_lock(version)}
        libraries = _libraries(version)
        self._classes = compiled(SOURCES / f"{name}.java", version)
        self._command = [str(find_java()), *_OPTIONS, "-cp"]
        self._command += [os.pathsep.join([str(self._classes), f"{libraries}{os.sep}*"]), name, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115

    @property
    def pid(self) -> int | None:
        """The number of the JVM's process, None while there is none."""
        return self._process.pid if self._process else None

    def ask(self, line: str) -> str:
        """Return the answer to one question; raises Hung, or OracleError where the JVM ended."""
        (answer,) = self.ask_many([line])
        return answer

    def ask_many(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the answers in the order of the questions, while further questions are on their way."""
        process = self._running()
        source = iter(lines)
        waiting: deque[str] = deque()
        unsent, received = bytearray(), bytearray()
        finished = False
        try:
            while True:
                while len(unsent) < _CHUNK and (line := next(source, None)) is not None:
                    unsent += _encoded(line)
                    waiting.append(line)
                if not waiting:
                    break
                self._exchange(process, unsent, received, waiting[0])
                *complete, rest = received.split(b"\n")
                received[:] = rest
                for answer in complete:
                    waiting.popleft()
                    yield answer.decode()
            finished = True
        finally:
            if not finished:
                # Late answers would be taken for those of the next questions.
                self.end()

    def end(self) -> None:
        """End the JVM; the next question goes to a fresh one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.communicate()
        self._said.seek(0)
        self._said.truncate()

    def close(self) -> None:
        """End the JVM for good."""
        self.end()
        self._said.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            environment = {
                name: value
                for name, value in os.environ.items()
                if name not in ("JAVA_TOOL_OPTIONS", "CLASSPATH")
            }
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                env=environment,
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], unsent: bytearray, received: bytearray, oldest: str
    ) -> None:
        """Send and receive what is possible now, until something came or there is room for more questions."""
        assert process.stdin is not None
        assert process.stdout is not None
        deadline = time.monotonic() + self.seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if unsent:
                selector.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                    if key.fileobj is process.stdout:
                        came = os.read(process.stdout.fileno(), _CHUNK)
                        if not came:
                            raise OracleError(self._how_it_ended(process, oldest))
                        received += came
                        return
                    try:
                        del unsent[: os.write(process.stdin.fileno(), unsent[:_CHUNK])]
                    except BrokenPipeError:
                        raise OracleError(self._how_it_ended(process, oldest)) from None
                    if len(unsent) < _CHUNK // 2:
                        return
                if time.monotonic() >= deadline:
                    raise Hung(oldest, self.seconds)

    def _how_it_ended(self, process: subprocess.Popen[bytes], oldest: str) -> str:
        status = process.wait()
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()[-2000:]
        return f"{self.name} on {self.version} ended with status {status} at {oldest[:300]!r}: {words}"


def need_program(
    name: str, version: str, *, arguments: Sequence[str] = (), seconds: float = 60
) -> JavaProgram:
    """Return the program, or skip the test loudly where the machine lacks what it needs."""
    try:
        find_java()
        _libraries(version)
        _compiler()
    except (ClusterError, JavaError, OracleError) as error:
        missing(str(error))
    return JavaProgram(name, version, arguments=arguments, seconds=seconds)


def compiled(source: Path, version: str) -> Path:
    """Return the folder of this source's classes, compiled now if nobody has done so before."""
    text = source.read_bytes()
    locked = "".join(jar.sha256 for jar in read_lock(version))
    digest = hashlib.sha256(text + locked.encode()).hexdigest()[:20]
    folder = _cache_folder() / f"{source.stem}-{version}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{source.stem}-", dir=folder.parent) as scratch:
            classes = Path(scratch) / "classes"
            compile_java(source, _libraries(version), classes, _compiler())
            try:
                classes.rename(folder)
            except OSError:
                # Another process was faster, with the same classes.
                if not folder.is_dir():
                    raise
    return folder


def compile_java(source: Path, libraries: Path, classes: Path, compiler: Sequence[str]) -> None:
    """Compile one file into the folder `classes`; raises OracleError with the compiler's words."""
    command = [*compiler, "-source", str(OLDEST_JAVA), "-target", str(OLDEST_JAVA), "-encoding", "UTF-8"]
    command += ["-nowarn", "-proc:none", "-d", str(classes)]
    # The Eclipse compiler does not know `*` for all jars of a folder.
    command += ["-cp", os.pathsep.join(sorted(map(str, libraries.glob("*.jar")))), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise OracleError(f"{source.name} cannot be compiled: {(done.stdout + done.stderr).strip()[-3000:]}")


def _eclipse_compiler() -> list[str]:
    """Return the command of the compiler that runs on a Java without one; raises OracleError without its jar."""
    folder = kafka_jars(COMPILER)
    if folder is None:
        raise OracleError(
            "This Java has no compiler and the Eclipse compiler is not here; "
            f"run python -m devstack.jars {COMPILER}."
        )
    (jar,) = read_lock(COMPILER)
    return [str(find_java()), *_SHORT_LIVED, "-jar", str(folder / jar.file_name)]


def _compiler() -> list[str]:
    own = find_java().resolve().parent / "javac"
    return [str(own), *(f"-J{option}" for option in _SHORT_LIVED)] if own.is_file() else _eclipse_compiler()


def _libraries(version: str) -> Path:
    folder = kafka_jars(version)
    if folder is None:
        raise OracleError(f"The jars of Kafka {version} are not here; run python -m devstack.jars {version}.")
    return folder


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aclweb" / "oracle"


def _encoded(line: str) -> bytes:
    if "\n" in line or "\r" in line:
        raise ValueError(f"A question is one line, and {line[:80]!r} has a line break.")
    return f"{line}\n".encode()
