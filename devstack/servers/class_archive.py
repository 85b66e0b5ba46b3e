"""How does a server's JVM start without reading its thousands of classes anew?

A JVM can leave an archive of the classes that it loaded, and the next one with the same class path maps it into
memory: a third of what the start of a broker costs. `python -m devstack.server_classes` makes them. A JVM looks
whether an archive was made by the same Java with the same jars, and reads its classes as usual where it was not.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from aclweb.runtime.java import cache_folder


def archive_of(java: Path, class_path: str) -> Path:
    """Return where the archive of a JVM is, or will be. class_path: as its command line has it."""
    program = java.resolve()
    which = f"{program} {program.stat().st_mtime_ns} {class_path}"
    name = hashlib.sha256(which.encode()).hexdigest()[:16]
    return cache_folder(os.environ.get("XDG_CACHE_HOME", "")) / "server-classes" / f"{name}.jsa"


def to_use(archive: Path) -> tuple[str, ...]:
    """Return the JVM's options that map the archive; none where there is no archive."""
    return (f"-XX:SharedArchiveFile={archive}",) if archive.is_file() else ()


def to_make(archive: Path) -> tuple[str, ...]:
    """Return the JVM's options that leave an archive when it ends."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    return (f"-XX:ArchiveClassesAtExit={_unfinished(archive)}",)


def made(archive: Path) -> bool:
    """Put in place what a JVM of this process left; returns whether it left anything."""
    unfinished = _unfinished(archive)
    if not unfinished.is_file():
        return False
    unfinished.replace(archive)
    return True


def _unfinished(archive: Path) -> Path:
    return archive.with_name(f"{archive.stem}.{os.getpid()}.unfinished")
