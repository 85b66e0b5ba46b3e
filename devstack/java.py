"""Which Java runs the servers of the stack on one machine, and everything that compares with Kafka's own code?"""

from __future__ import annotations

import os
from pathlib import Path

from aclweb.runtime import java


def find_java() -> Path:
    """Return a `java` that will do; raises JavaError naming what was found instead."""
    return java.find_java(os.environ.get("JAVA_HOME", ""))


def java_home() -> Path:
    """Return a directory that Spark and Maven accept as JAVA_HOME; raises JavaError as `find_java` does."""
    return java.java_home(os.environ.get("JAVA_HOME", ""), cache=os.environ.get("XDG_CACHE_HOME", ""))
