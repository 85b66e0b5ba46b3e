"""How does Spark's JVM start without reading its thousands of classes anew?

A JVM can leave an archive of the classes that it loaded, and the next maps it into memory: a quarter of what a
small job costs. The archive is in the cache and has some 190 MB. The JVM checks that it was made by the same Java
with the same jars, and reads its classes as usual where it was not. Each Java and each place of Spark has an archive
of its own; of those that are there, the ones used last are kept.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from contextlib import suppress
from pathlib import Path

import pyspark

_ABANDONED_SECONDS = 3600.0
_MOST_KEPT = 4
# What a JVM says about an archive that it cannot use, it would say on standard output.
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


def archive_of(cache: Path, java: Path) -> Path:
    """Return where the archive of this Java and this Spark is, or will be. cache: aclweb's folder for such files."""
    program = java.resolve()
    changed = program.stat().st_mtime_ns if program.exists() else 0
    which = f"{pyspark.__version__} {pyspark.__file__} {program} {changed}"
    return cache / "spark-classes" / f"{hashlib.sha256(which.encode()).hexdigest()[:16]}.jsa"


def to_use(archive: Path) -> tuple[str, ...]:
    """Return the JVM's options that map the archive; none where there is no archive."""
    with suppress(OSError):
        if archive.stat().st_size:
            with suppress(OSError):
                os.utime(archive)  # says when it was used last
            return (*_QUIET, shlex.quote(f"-XX:SharedArchiveFile={archive}"))
    return ()


def to_make(archive: Path) -> tuple[str, ...]:
    """Return the JVM's options that leave an archive when it ends; none where one is there, or cannot be.

    An empty file says that this Java cannot make one.
    """
    try:
        if archive.exists():
            return ()
        archive.parent.mkdir(parents=True, exist_ok=True)
        _sweep(archive.parent)
        unfinished = _unfinished(archive)
        unfinished.touch()
        unfinished.unlink()
    except OSError:
        return ()
    return (*_QUIET, shlex.quote(f"-XX:ArchiveClassesAtExit={unfinished}"))


def made(archive: Path, *, ended_well: bool) -> None:
    """Put in place what the JVM of this process left. ended_well: whether it ended with status 0."""
    unfinished = _unfinished(archive)
    with suppress(OSError):
        if not ended_well:
            unfinished.unlink(missing_ok=True)
        elif unfinished.is_file():
            unfinished.replace(archive)
            os.utime(archive)
            _forget_unused(archive.parent)
        else:
            archive.touch()


def _unfinished(archive: Path) -> Path:
    return archive.with_name(f"{archive.stem}.{os.getpid()}.unfinished")


def _forget_unused(folder: Path) -> None:
    """Remove the archives that were not used for the longest. A JVM that has one mapped keeps it."""
    by_use = sorted(folder.glob("*.jsa"), key=lambda archive: archive.stat().st_mtime, reverse=True)
    for archive in by_use[_MOST_KEPT:]:
        archive.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what processes left that were killed."""
    for left in folder.glob("*.unfinished"):
        if left.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
            left.unlink(missing_ok=True)
