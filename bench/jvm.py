"""Kafka's released StandardAuthorizer in a JVM of its own, asked and timed from here.

ACLs and questions go over as files; the program of bench/java prepares everything before a
round, so that the JVM pays for decisions only, in CPU time of its one thread.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from aclweb.acl.model import AccessRequest, AclBinding
from devstack.jars import kafka_jars
from devstack.java import find_java
from tests.oracle.jvm import compiled

SOURCE = Path(__file__).parent / "java" / "Speed.java"
VERSION = "4.4.0"


@dataclass(frozen=True)
class Load:
    """What loading cost: CPU seconds of the loading thread and of the whole process, and heap bytes."""

    thread_seconds: float
    process_seconds: float
    heap_bytes: int
    acls: int


class Jvm:
    """One JVM with one authorizer in it; a context manager that ends it."""

    def __init__(self, *, heap: str = "6g") -> None:
        libraries = kafka_jars(VERSION)
        if libraries is None:
            raise SystemExit(
                f"The jars of Kafka {VERSION} are not here; run python -m devstack.jars {VERSION}."
            )
        classes = compiled(SOURCE, VERSION)
        self._folder = tempfile.TemporaryDirectory(prefix="aclweb-bench-")
        self._process = subprocess.Popen(
            [
                str(find_java()),
                f"-Xmx{heap}",
                "-XX:+UseSerialGC",
                "-Dfile.encoding=UTF-8",
                "-Dorg.apache.logging.log4j.level=OFF",
                "-cp",
                os.pathsep.join([str(classes), f"{libraries}{os.sep}*"]),
                SOURCE.stem,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def load(self, bindings: Iterable[AclBinding]) -> Load:
        """Make an authorizer of these ACLs, in place of the one before."""
        rows = (
            (
                b.resource_type.value,
                b.resource_name,
                b.pattern_type.value,
                b.principal,
                b.host,
                b.operation.value,
                b.permission_type.value,
            )
            for b in bindings
        )
        thread, process, heap, acls = map(int, self._say("load", self._write("acls", rows)).split("\t"))
        return Load(thread / 1e9, process / 1e9, heap, acls)

    def ask(self, requests: Sequence[AccessRequest]) -> str:
        """Prepare questions and return the answer to each as `+` or `-`."""
        rows = (
            (r.principal, r.host, r.operation.value, r.resource_type.value, r.resource_name) for r in requests
        )
        self._say("ask", self._write("questions", rows))
        return self._say("answers")

    def round(self, times: int = 1) -> float:
        """Return the CPU seconds for asking all prepared questions so many times."""
        return int(self._say("round", str(times))) / 1e9

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def _say(self, *words: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"The JVM ended with status {self._process.wait()} at {words[0]!r}.")
        return answer.rstrip("\n")

    def _write(self, name: str, rows: Iterable[tuple[object, ...]]) -> str:
        path = Path(self._folder.name) / name
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write("\t".join(map(str, row)) + "\n")
        return str(path)
